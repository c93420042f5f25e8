//! What a run looks like, and what only the user can know of it: all that the theorems need.
//!
//! The theorems speak of kernel least squares with a kernel, a ridge and a threshold fixed beforehand, of noisy values, of a width β_t(δ),
//! and of an exact choice of the next points. Real runs seldom meet all of this. A [`Setting`] says which parts are met, and its methods are the
//! theorems. Each returns a [`Bound`](super::Bound) that says whether it is proven for such a run or only a heuristic, and why.
//!
//! | file | methods |
//! |---|---|
//! | `regret.rs` | Theorems 2, 3 and 4, with pending points and for other samplers |
//! | `kernel_grid.rs` | Theorem 3 with a kernel chosen among some |
//! | `integrated.rs` | objectives without noise |
//! | `hypervolume.rs` | Theorem 5 |
//! | `thompson.rs` | the expected regret of Thompson sampling |
//! | `divergence.rs` | the divergences in the proof of Theorem 4 |
//! | `deviation_sum.rs` | Lemma A.2 |
//! | `noise.rs` | L_ε of Gaussian noise |
//! | `standing.rs` | whether a bound is proven |

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

use super::confidence::{Confidence, check_not_negative, check_positive};

/// A run as the theorems see it: what was fixed, how points are chosen, and the constants that only the user can know.
///
/// The default is the paper's theory experiment (appendix D.1), without the constants of the objective. A constant that a theorem needs and
/// that was not given is an error that names it, never a guess.
///
/// ```
/// use wimble::theory::{Confidence, Run, Setting};
///
/// let setting = Setting {
///     ridge: 0.1,
///     confidence: Confidence::Level { failure_probability: 0.05, norm_bound: 2.0 },
///     noise_lipschitz: Some(Setting::gaussian_lipschitz(0.1, 0.05, 0.95)?),
///     ..Setting::default()
/// };
/// // After 50 rounds of BORE++ whose points have an information gain of 6.5:
/// let bound = setting.bore_plus_cumulative(&Run::new(50, 6.5))?;
/// assert!(bound.is_proven());
/// println!("{bound}");
/// // A threshold that moves with the data is outside the theorems, and the bound says so.
/// let moving = Setting { thresholds: None, ..setting };
/// assert!(!moving.bore_plus_cumulative(&Run::new(50, 6.5))?.is_proven());
/// # Ok::<(), wimble::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// λ, the ridge of least squares, positive. More of it smooths the estimate and widens the deviations. Default: 0.025.
    pub ridge: f64,
    /// s = k(x, x), positive. The printed bounds need s ≤ 1; the tighter ones hold for any s. Default: 1.
    pub output_scale: f64,
    /// Where the width β comes from: Theorem 1 with δ and b, or a fixed number. Default: δ = 0.1 and b = 1.
    pub confidence: Confidence,
    /// R, the sub-Gaussian parameter of the label noise in β: 1 as in the paper (default), or ½, which holds for labels as well.
    pub label_noise: f64,
    /// J, how many thresholds were fixed before the run, among which τ is chosen in any way from the data: Theorem 1 holds for each of
    /// them with δ/J. Where kernels are chosen so as well, how many pairs of both there are. 1 for a fixed τ (default); `None` if τ moves freely with the data, so that past labels change.
    pub thresholds: Option<usize>,
    /// Whether π̂ is kernel least squares on unweighted labels (13), the only estimate that Theorem 1 covers. Default: yes.
    pub least_squares: bool,
    /// Whether kernel and ridge were given before the run, and not estimated from its values. Default: yes.
    pub fixed_kernel: bool,
    /// Whether values have independent noise with a strictly increasing distribution. Without noise π jumps between 0 and 1, and no L_ε exists.
    /// Default: yes.
    pub noisy: bool,
    /// How the next points are chosen: `Choice::Maximum` (default), `Choice::UntriedMaximum`, `Choice::ApproximateMaximum`,
    /// `Choice::EXACT_DRAWS`, `Choice::Draws { independent, of_bound }` or `Choice::Posterior { exact }`.
    pub choice: Choice,
    /// The size of batches, whether points are asked for while others are pending, and whether trials failed.
    pub plan: Plan,
    /// Which form of a bound is computed: `Form::Tight` (default), or `Form::Paper` as it is printed.
    pub form: Form,
    /// L_ε, a Lipschitz constant of the inverse noise distribution over the range of π ([`Setting::gaussian_lipschitz`]). All bounds
    /// on values but those of the integrated target need it.
    pub noise_lipschitz: Option<f64>,
    /// L_π ≥ 1/π(x) for all x, at least 1. Theorem 4 needs it; the [`Certificate`](super::Certificate) does not.
    pub inverse_probability: Option<f64>,
    /// B, the length of the interval of thresholds of the integrated target, for the bounds on it.
    pub range: Option<f64>,
    /// q, the least probability that a value lies among the thresholds of the integrated target ([`Setting::gaussian_least_mass`]).
    pub least_mass: Option<f64>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            ridge: 0.025,
            output_scale: 1.0,
            confidence: Confidence::Level { failure_probability: 0.1, norm_bound: 1.0 },
            label_noise: 1.0,
            thresholds: Some(1),
            least_squares: true,
            fixed_kernel: true,
            noisy: true,
            choice: Choice::Maximum,
            plan: Plan::default(),
            form: Form::Tight,
            noise_lipschitz: None,
            inverse_probability: None,
            range: None,
            least_mass: None,
        }
    }
}

/// How the next points are chosen.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The maximiser over all configurations, exactly: Theorems 2 and 3.
    Maximum,
    /// The maximiser over the configurations that were not tried yet, exactly.
    UntriedMaximum,
    /// A search that may miss the maximiser, or several maxima of one fit.
    ApproximateMaximum,
    /// A sample.
    Draws {
        /// Whether the points are independent draws; particles and draws without replacement are not.
        independent: bool,
        /// Whether the density is p̂ ∝ π_{t,δ}; that of the logit, or a power of it, is another.
        of_bound: bool,
    },
    /// The maximiser of a draw from the posterior, a new draw for each point.
    Posterior {
        /// Whether the draw is exact and its maximiser is found among all configurations.
        exact: bool,
    },
}

impl Choice {
    /// Independent draws from p̂: Theorem 4.
    pub const EXACT_DRAWS: Self = Self::Draws { independent: true, of_bound: true };
}

/// Which form of a bound is computed.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// As printed.
    Paper,
    /// Tighter, and free of the paper's conditions on ridge and output scale.
    #[default]
    Tight,
}

/// How a search is run, as far as the theorems ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// M, the points of one ask, at least 1.
    pub batch_size: usize,
    /// Whether points are asked for while others are pending. Otherwise a batch is told before the next is asked for.
    pub pending: bool,
    /// Whether trials failed or were infeasible. Their label is 0, whatever their value would have been, so that the classifier
    /// learns P(success and y ≤ τ | x), whose maximum need not be where f is least.
    pub failures: bool,
}

impl Default for Plan {
    /// One at a time, and none has failed.
    fn default() -> Self {
        Self { batch_size: 1, pending: false, failures: false }
    }
}

impl Setting {
    /// Refuses values that no run can have, and constants that nothing can have.
    ///
    /// # Errors
    /// If a number is out of the range that its field states.
    pub fn check(&self) -> Result<()> {
        check_positive("ridge", self.ridge)?;
        check_positive("output scale", self.output_scale)?;
        check_not_negative("label noise", self.label_noise)?;
        self.confidence.check()?;
        if let Some(constant) = self.noise_lipschitz {
            check_positive("noise Lipschitz constant", constant)?;
        }
        if let Some(bound) = self.inverse_probability
            && !(bound >= 1.0 && bound.is_finite())
        {
            let allowed = "finite and at least 1";
            return Err(Error::invalid("inverse probability bound", bound, allowed));
        }
        if let Some(range) = self.range {
            check_positive("range", range)?;
        }
        match self.least_mass {
            Some(mass) if !(mass > 0.0 && mass <= 1.0) => {
                Err(Error::invalid("least mass", mass, "positive and at most 1"))
            }
            _ => Ok(()),
        }
    }

    /// Theorem 1: β at an information gain γ_t, with δ shared among the thresholds; or the fixed width.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let setting = Setting { label_noise: 0.5, ..Setting::default() };
    /// let width = setting.width(2.0)?;
    /// assert!((width - (1.0 + 0.5 * (2.0 / 0.025 * (2.0 + 10.0_f64.ln())).sqrt())).abs() < 1e-12);
    /// // One of eight thresholds, whichever the data favour, costs ln 8 inside the root.
    /// let grid = Setting { thresholds: Some(8), ..setting };
    /// assert!(grid.width(2.0)? > width);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the setting or the gain is out of range.
    pub fn width(&self, information_gain: f64) -> Result<f64> {
        self.check()?;
        check_not_negative("information gain", information_gain)?;
        self.shared_confidence().width(self.label_noise, self.ridge, information_gain)
    }

    /// The confidence of each threshold.
    pub(super) fn shared_confidence(&self) -> Confidence {
        self.confidence.shared_by(self.thresholds.unwrap_or(1))
    }

    /// L_ε, the Lipschitz constant of Φ_ε⁻¹; an error if it was not given.
    pub(super) fn lipschitz(&self) -> Result<f64> {
        given(self.noise_lipschitz, "a Lipschitz constant of the inverse noise distribution")
    }

    /// L_π; an error if it was not given.
    pub(super) fn inverse(&self) -> Result<f64> {
        given(self.inverse_probability, "a bound on the inverse of the class probability")
    }
}

/// The constant; an error that names the assumption if it was not given.
pub(super) fn given(constant: Option<f64>, assumption: &'static str) -> Result<f64> {
    constant.ok_or(Error::MissingAssumption { quantity: "the regret bound", assumption })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_settings_are_refused() {
        let covered = Setting::default();
        assert_eq!(covered.plan, Plan { batch_size: 1, pending: false, failures: false });
        assert!(covered.check().is_ok());
        assert!(Setting { ridge: 0.0, ..covered }.check().is_err());
        assert!(Setting { output_scale: f64::NAN, ..covered }.check().is_err());
        assert!(Setting { label_noise: -1.0, ..covered }.check().is_err());
        assert!(Setting { confidence: Confidence::Width(-1.0), ..covered }.check().is_err());
        assert!(Setting { noise_lipschitz: Some(f64::INFINITY), ..covered }.check().is_err());
        for bound in [0.5, f64::INFINITY] {
            assert!(Setting { inverse_probability: Some(bound), ..covered }.check().is_err());
        }
        assert!(Setting { inverse_probability: Some(1.0), ..covered }.check().is_ok());
        assert!(Setting { range: Some(0.0), ..covered }.check().is_err());
        for mass in [0.0, 1.5] {
            assert!(Setting { least_mass: Some(mass), ..covered }.check().is_err());
        }
        assert!(Setting { least_mass: Some(1.0), ..covered }.check().is_ok());
    }

    #[test]
    fn bounded_labels_narrow_the_width_and_thresholds_share_the_level() {
        let width = |label_noise| Setting { label_noise, ..Setting::default() }.width(2.0).unwrap();
        assert!(((width(1.0) - 1.0) / (width(0.5) - 1.0) - 2.0).abs() < 1e-12);
        let grid = Setting { thresholds: Some(8), ..Setting::default() };
        let expected = 1.0 + (80.0 * (2.0 + 80.0_f64.ln())).sqrt();
        assert!((grid.width(2.0).unwrap() - expected).abs() < 1e-12 * expected);
        assert!(grid.width(-1.0).is_err());
    }
}
