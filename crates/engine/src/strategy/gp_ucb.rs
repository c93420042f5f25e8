//! GP-UCB: optimism under Gaussian-process regression (Srinivas, Krause, Kakade and Seeger 2010), a baseline of all
//! the paper's sequential experiments.
//!
//! Values are minimised, so that the next point has the lowest lower confidence bound:
//!
//! ```text
//! x_t ∈ argmin μ_{t-1}(x) - β_t σ_{t-1}(x)
//! ```
//!
//! β is a number, or that of Durand, Maillard and Pineau (2018, Theorem 1), as in the paper's Figure 1:
//!
//! ```text
//! β_t = b + (R / √λ) √(2 ln(|I + K_t/λ|^½ / δ))
//! ```
//!
//! for ‖f‖ₖ ≤ b, noise that is R-sub-Gaussian, and kernel and λ fixed beforehand. `rkhs_norm` of
//! [`crate::gaussian_process`] computes b for a function on a finite set.
//!
//! In batches, and with pending points, deviations shrink as if the earlier points had been told their means
//! (GP-BUCB; Desautels, Krause and Burdick 2014); β stays that of the values told, and its guarantee holds for
//! single points only.

use serde::{Deserialize, Serialize};

use super::placement::Placement;
use super::{Evidence, Memory, Strategy};
use crate::acquisition::LowerBound;
use crate::batch::{Ascent, BatchRule};
use crate::error::{Error, Result};
use crate::forecast::Forecasts;
use crate::gaussian_process::{Regression, Surrogate};
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;
use crate::space::SearchSpace;
use crate::theory::Confidence;

/// How far below the mean the bound lies, in deviations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimism {
    /// β itself, 0 or more.
    Width(f64),
    /// β from assumptions, for hyper-parameters that are fixed.
    #[serde(rename_all = "kebab-case")]
    Assumed {
        /// b, at least the norm of the objective in the kernel's function space.
        norm_bound: f64,
        /// R: the standard deviation of Gaussian noise, or a sub-Gaussian parameter.
        noise_deviation: f64,
        /// δ, the probability that the bound fails anywhere, strictly between 0 and 1. A smaller one widens the bound.
        failure_probability: f64,
    },
}

impl Default for Optimism {
    /// β = 3, as for BORE++ in the paper's experiments on real data.
    fn default() -> Self {
        Self::Width(3.0)
    }
}

impl Optimism {
    /// β for the values that the surrogate was fitted to.
    fn width(self, surrogate: &Surrogate) -> Result<f64> {
        match self {
            Self::Width(width) => Ok(width),
            Self::Assumed { norm_bound, noise_deviation, failure_probability } => {
                let posterior = surrogate.posterior();
                let gain = posterior.information_gain().max(0.0);
                let level = Confidence::Level { failure_probability, norm_bound };
                level.width(noise_deviation, posterior.ridge(), gain)
            }
        }
    }

    fn check(self, regression: &Regression) -> Result<()> {
        let not_negative = |field: &str, value: f64| {
            if value >= 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(Error::invalid(field, value, "finite and not negative"))
        };
        match self {
            Self::Width(width) => not_negative("optimism width", width),
            Self::Assumed { norm_bound, noise_deviation, failure_probability } => {
                not_negative("norm bound", norm_bound)?;
                not_negative("noise deviation", noise_deviation)?;
                if !(failure_probability > 0.0 && failure_probability < 1.0) {
                    let allowed = "strictly between 0 and 1";
                    return Err(Error::invalid(
                        "failure probability",
                        failure_probability,
                        allowed,
                    ));
                }
                match regression {
                    Regression::Fixed { .. } => Ok(()),
                    Regression::Fitted(_) => {
                        let allowed = "a width where hyper-parameters are fitted: the assumptions are \
                                       about a kernel and a noise fixed beforehand";
                        Err(Error::invalid("optimism", "assumed", allowed))
                    }
                }
            }
        }
    }
}

/// Settings of GP-UCB.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GpUcb {
    /// The Gaussian-process regression of the values: `Fitted`, the default, finds the hyper-parameters of largest marginal
    /// likelihood; `Fixed` takes a given kernel and variance of the noise, as the theory has it.
    pub regression: Regression,
    /// How far below the mean the bound lies, in deviations: β, as a `Width` of 0 or more, or as `Assumed`: computed from a norm,
    /// a noise and a probability of failure, for fixed hyper-parameters. A larger one explores more.
    pub optimism: Optimism,
    /// How the lowest lower bound is searched for.
    pub ascent: Ascent,
    /// How many trials are drawn at random first; 10 in the paper.
    pub initial: usize,
}

impl Named for GpUcb {
    const NAME: &'static str = "gp-ucb";
    const DESCRIPTION: &'static str = "Gaussian process, upper confidence bound";
}

impl Default for GpUcb {
    fn default() -> Self {
        Self {
            regression: Regression::default(),
            optimism: Optimism::default(),
            ascent: Ascent::default(),
            initial: 10,
        }
    }
}

impl Strategy for GpUcb {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        self.regression.check(space.dim())?;
        self.optimism.check(&self.regression)?;
        BatchRule::<LowerBound>::check(&self.ascent)
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        Placement::of(&self.regression, self.initial).place(evidence, size, memory, |choice| {
            let width = self.optimism.width(choice.surrogate)?;
            let acquisition = |surrogate| LowerBound { surrogate, width };
            choice.one_by_one(self.ascent, acquisition)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        Placement::of(&self.regression, self.initial).predict(evidence, at, memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Profile};

    fn fixed() -> Regression {
        let kernel = Kernel::new(Profile::SquaredExponential, vec![0.2, 0.5], 1.0).unwrap();
        Regression::Fixed { kernel, noise: 0.01 }
    }

    fn told() -> (Points, Vec<f64>) {
        let points = Points::from_rows(2, [[0.1, 0.2], [0.5, 0.9], [0.8, 0.4], [0.3, 0.7]]);
        let values = points.rows().map(|x| (4.0 * x[0]).sin() + x[1]).collect();
        (points, values)
    }

    #[test]
    fn the_assumed_width_is_that_of_the_printed_formula() {
        let (points, values) = told();
        let surrogate = fixed().fit(&points, &values, None).unwrap();
        let (norm_bound, noise_deviation, failure_probability) = (1.5, 0.1, 0.1);
        let optimism = Optimism::Assumed { norm_bound, noise_deviation, failure_probability };
        let gain = surrogate.posterior().information_gain();
        let determinant = (2.0 * gain).exp();
        let printed = norm_bound
            + noise_deviation / 0.1
                * (2.0 * (determinant.sqrt() / failure_probability).ln()).sqrt();
        let width = optimism.width(&surrogate).unwrap();
        assert!((width - printed).abs() < 1e-12, "{width} {printed}");
        assert_eq!(Optimism::default().width(&surrogate).unwrap(), 3.0);
    }

    #[test]
    fn assumptions_need_fixed_hyper_parameters_and_widths_must_be_numbers() {
        let space = SearchSpace::new([
            crate::space::Dimension::real("a", 0.0, 1.0),
            crate::space::Dimension::real("b", 0.0, 1.0),
        ])
        .unwrap();
        let optimism =
            Optimism::Assumed { norm_bound: 1.0, noise_deviation: 0.1, failure_probability: 0.1 };
        let refused =
            |strategy: GpUcb| strategy.check(&space, &Goal::default()).unwrap_err().to_string();
        assert!(refused(GpUcb { optimism, ..GpUcb::default() }).contains("fixed beforehand"));
        GpUcb { optimism, regression: fixed(), ..GpUcb::default() }
            .check(&space, &Goal::default())
            .unwrap();
        let optimism = Optimism::Width(-1.0);
        assert!(refused(GpUcb { optimism, ..GpUcb::default() }).contains("width is -1"));
    }
}
