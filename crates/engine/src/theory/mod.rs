//! The paper's theory as computable numbers: Theorems 1 to 5, the lemmas they rest on, and a certificate.
//!
//! A program asks for what is guaranteed of a method with [`Spec::guarantee`](crate::strategy::Spec::guarantee), which needs
//! the [`Plan`] of the search. The numbers behind it are methods of a [`Setting`], which says what a run looks like and has the constants
//! that only the user can know. docs/guide/theory.md has the proofs.
//!
//! | paper | here |
//! |---|---|
//! | Theorem 1, β_t(δ), for labels and for all thresholds at once | [`Confidence::width`], [`Setting::width`] |
//! | Theorem 2, BORE | [`Setting::bore_instant`], [`Setting::bore_cumulative`] |
//! | Theorem 3, BORE++ | [`Setting::bore_plus_instant`], [`Setting::bore_plus_cumulative`] |
//! | the same with a kernel chosen from the data among some | [`Setting::kernels_cumulative`] |
//! | the same while points are pending | [`Setting::overlapping_cumulative`], [`InformationGain::overlap_factor`] |
//! | Theorem 4, batch BORE++ | [`Setting::batch_instant`], [`Setting::batch_cumulative`] |
//! | the same for any sampler | [`Setting::sampler_instant`] |
//! | how far a batch is from a sample of its target | [`Certificate::stein_discrepancy`] |
//! | a bound for batches from lower and upper bounds alone | [`Certificate`] |
//! | several objectives (Theorem 5 of the guide) | [`Setting::hypervolume`], [`Setting::hypervolume_by_gain`] |
//! | Thompson sampling (Appendix B; Russo and Van Roy 2014) | [`Setting::thompson_cumulative`] |
//! | objectives without noise | [`Setting::integrated_instant`], [`Setting::integrated_cumulative`] |
//! | Lemma A.1, ½ log det(I + λ⁻¹K) as a sum | [`InformationGain`] |
//! | (16, `eq:mig`), ξ_N | [`InformationGain::maximum`] |
//! | Lemma A.2, Σ σ_{i-1}(xᵢ) | [`Setting::deviation_sum`], [`Setting::printed_deviation_sum`] |
//! | L_ε of (11, `eq:optimal-classifier-regret`) | [`Setting::gaussian_lipschitz`] |
//! | divergences (A.13 to A.25) | [`Certificate::divergence`], [`Setting::divergence_instant`], [`Setting::divergence_cumulative`] |
//! | the density ratio (4), (5) | [`Labels::relative_density_ratio`](crate::labels::Labels::relative_density_ratio), [`Labels::density_ratio`](crate::labels::Labels::density_ratio) |
//!
//! # Design
//! A bound without its conditions misleads. Every [`Bound`] therefore says whether it is proven for the run that the `Setting` describes,
//! and what it assumes. Constants that only the user can know are never guessed: without them there is an
//! [`Error::MissingAssumption`](crate::Error::MissingAssumption), not a number.

mod bound;
mod certificate;
pub(crate) mod confidence;
mod density_ratio;
mod deviation_sum;
mod divergence;
mod hypervolume;
mod information_gain;
mod integrated;
mod kernel_grid;
mod max_information_gain;
mod noise;
pub(crate) mod normal;
mod overlap;
mod regret;
mod run;
mod setting;
mod standing;
mod stein_discrepancy;
mod thompson;
pub(crate) mod uniform_boundary;

pub use bound::Bound;
pub use certificate::Certificate;
pub use confidence::Confidence;
pub use information_gain::InformationGain;
pub use run::Run;
pub use setting::{Plan, Setting};

// Choices of a setting and parts of a bound, hidden as lib.rs has it.
#[doc(hidden)]
pub use bound::{Assumption, Subject};
#[doc(hidden)]
pub use max_information_gain::MaxInformationGain;
#[doc(hidden)]
pub use setting::{Choice, Form};
#[doc(hidden)]
pub use standing::{Reason, Standing};
#[doc(hidden)]
pub use stein_discrepancy::SteinDiscrepancy;
