//! The paper's theory as computable numbers: Theorems 1 to 4, the lemmas they rest on, and a certificate.
//!
//! A program asks for what is guaranteed of a method with [`Spec::guarantee`](crate::strategy::Spec::guarantee), which needs
//! the [`Plan`] of the search. The numbers behind it are for the laboratory (`wimble-lab paper`), which draws them beside the regret
//! of runs; docs/guide/theory.md explains them:
//!
//! | paper | here |
//! |---|---|
//! | Theorem 1, β_t(δ) | `confidence_width` |
//! | the same for all thresholds at once | `SubGaussian::of_range` |
//! | Lemma A.1, ½ log det(I + λ⁻¹K) as a sum | `InformationGain` |
//! | (16, `eq:mig`), ξ_N | `max_information_gain` |
//! | Lemma A.2, Σ σ_{i-1}(xᵢ) | `deviation_sum`, `paper_deviation_sum` |
//! | Theorems 2, 3 and 4 | `RegretBounds` |
//! | points chosen while others are pending | `overlap_factor` |
//! | objectives without noise | `IntegratedBounds` |
//! | the density ratio (4), (5) | `relative_density_ratio`, `density_ratio` |
//! | divergences (A.13 to A.25) | `kullback_leibler`, `divergence_bound`, `divergence_sum_bound` |
//! | L_ε of (11, `eq:optimal-classifier-regret`) | `noise_lipschitz` |
//! | several objectives (Theorem 5 of the guide) | `hypervolume_regret`, `hypervolume_regret_by_gain` |
//! | a bound from lower and upper bounds alone | `Certificate` |
//!
//! # Design
//! A bound without its conditions misleads. Every `Bound` therefore carries its `Standing`, derived from
//! a `Setting` that says what the run looks like, and the `Assumption`s it rests on. Constants that only
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

pub use setting::Plan;

// The numbers behind the guarantees: what the laboratory and the tests evaluate, hidden as lib.rs has it.
#[doc(hidden)]
pub use bound::{Assumption, Bound, Subject};
#[doc(hidden)]
pub use certificate::Certificate;
pub(crate) use confidence::LabelNoise;
#[doc(hidden)]
pub use confidence::confidence_width;
#[doc(hidden)]
pub use density_ratio::{density_ratio, relative_density_ratio};
#[doc(hidden)]
pub use divergence::{
    Batches, divergence_bound, divergence_sum_bound, kullback_leibler, pinsker, total_variation,
};
#[doc(hidden)]
pub use hypervolume::{ObjectiveRun, hypervolume_regret, hypervolume_regret_by_gain};
#[doc(hidden)]
pub use information_gain::InformationGain;
#[doc(hidden)]
pub use integrated::{Integrated, IntegratedBounds, least_mass};
#[doc(hidden)]
pub use max_information_gain::max_information_gain;
#[doc(hidden)]
pub use noise::noise_lipschitz;
#[doc(hidden)]
pub use overlap::overlap_factor;
#[doc(hidden)]
pub use regret::{Assumptions, BatchRun, Form, RegretBounds, Run};
#[doc(hidden)]
pub use setting::{
    Choice, Estimator, Failures, HyperParameterRule, Noise, Reason, Rounds, Setting, Standing,
    ThresholdRule, Width,
};
