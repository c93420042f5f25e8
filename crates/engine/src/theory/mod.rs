//! The paper's theory as computable numbers: Theorems 1 to 4, the lemmas they rest on, and a certificate.
//!
//! | paper | here |
//! |---|---|
//! | Theorem 1, β_t(δ) | [`confidence_width`] |
//! | the same for all thresholds at once | `integrated_confidence_width` |
//! | Lemma A.1, ½ log det(I + λ⁻¹K) as a sum | [`InformationGain`] |
//! | (16, `eq:mig`), ξ_N | `max_information_gain` |
//! | Lemma A.2, Σ σ_{i-1}(xᵢ) | `deviation_sum`, `paper_deviation_sum` |
//! | Theorems 2, 3 and 4 | [`RegretBounds`] |
//! | points chosen while others are pending | [`overlap_factor`] |
//! | objectives without noise | [`IntegratedBounds`] |
//! | the density ratio (4), (5) | [`relative_density_ratio`], [`density_ratio`] |
//! | divergences (A.13 to A.25) | [`kullback_leibler`], [`divergence_bound`], [`divergence_sum_bound`] |
//! | L_ε of (11, `eq:optimal-classifier-regret`) | `noise_lipschitz` |
//! | several objectives (Theorem 5 of the guide) | [`hypervolume_regret`], [`hypervolume_regret_by_gain`] |
//! | a bound from lower and upper bounds alone | [`Certificate`] |
//!
//! # Design
//! A bound without its conditions misleads. Every [`Bound`] therefore carries its [`Standing`], derived from
//! a [`Setting`] that says what the run looks like, and the [`Assumption`]s it rests on. Constants that only
//! the user can know are never guessed: without them there is an `Error::MissingAssumption`, not a number.

mod bound;
mod certificate;
pub(crate) mod confidence;
mod density_ratio;
pub(crate) mod deviation_sum;
mod divergence;
pub(crate) mod hypervolume;
mod information_gain;
mod integrated;
pub(crate) mod max_information_gain;
pub(crate) mod noise;
pub(crate) mod normal;
mod overlap;
mod regret;
mod setting;
pub(crate) mod uniform_boundary;

pub use bound::{Assumption, Bound, Subject};
pub use certificate::Certificate;
pub(crate) use confidence::LabelNoise;
pub use confidence::confidence_width;
pub use density_ratio::{density_ratio, relative_density_ratio};
pub use divergence::{
    Batches, divergence_bound, divergence_sum_bound, kullback_leibler, pinsker, total_variation,
};
pub use hypervolume::{ObjectiveRun, hypervolume_regret, hypervolume_regret_by_gain};
pub use information_gain::InformationGain;
pub use integrated::{Integrated, IntegratedBounds, least_mass};
pub use max_information_gain::max_information_gain;
pub use noise::noise_lipschitz;
pub use overlap::overlap_factor;
pub use regret::{Assumptions, BatchRun, Form, RegretBounds, Run};
pub use setting::{
    Choice, Estimator, Failures, HyperParameterRule, Noise, Plan, Reason, Rounds, Setting,
    Standing, ThresholdRule, Width,
};
