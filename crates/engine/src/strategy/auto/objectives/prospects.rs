//! Whether a trial at some point will have a value and meet the constraints.
//!
//! ```text
//! chance(x) = P(value) Π_k Φ(-μ_k/σ_k)^w_k
//! ```
//! The weights w_k make a constraint that is given twice count once (violation.rs). A chance needs the deviations of every constraint, which
//! cost a hundred times as much as the means. Whoever has many points therefore asks for those only that could win: a chance is at most 1.

use super::surrogate::Surrogate;
use crate::gaussian_process::Prediction;
use crate::gaussian_process::tail::log_cumulative;
use crate::points::Points;
use crate::strategy::auto::feasibility::Feasibility;

/// The least chance, so that hopeless candidates can still be told apart by their gain.
const LEAST: f64 = 1e-12;

/// What chances are computed from.
#[derive(Clone, Copy)]
pub(super) struct Prospects<'m> {
    pub(super) constraints: &'m [Surrogate],
    /// w_k.
    pub(super) weights: &'m [f64],
    pub(super) feasibility: &'m Feasibility,
}

impl Prospects<'_> {
    /// Whether every chance is 1: there are neither constraints nor failures.
    pub(super) fn are_certain(&self) -> bool {
        self.constraints.is_empty() && self.feasibility.is_certain()
    }

    /// The probability of a value and of meeting all constraints at x.
    pub(super) fn chance(&self, x: &[f64]) -> f64 {
        self.feasibility.probability(x) * meeting(self.constraints, self.weights, x)
    }

    /// Whether the constraints are met at each point by the means of their models.
    pub(super) fn are_met(&self, at: &Points) -> Vec<bool> {
        let mut met = vec![true; at.len()];
        for model in self.constraints {
            for (met, mean) in met.iter_mut().zip(model.means(at)) {
                *met &= mean <= 0.0;
            }
        }
        met
    }
}

/// The probability of meeting all constraints at x: Π Φ(-μ_k/σ_k)^w_k.
pub(super) fn meeting(constraints: &[Surrogate], weights: &[f64], x: &[f64]) -> f64 {
    let met = |(model, weight): (&Surrogate, &f64)| {
        let Prediction { mean, deviation } = model.predict(x);
        weight * log_cumulative(-mean / deviation).value
    };
    constraints.iter().zip(weights).map(met).sum::<f64>().exp().max(LEAST)
}
