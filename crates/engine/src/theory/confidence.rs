//! The confidence width β_t(δ) of Theorem 1.
//!
//! ```text
//! β_t(δ) = b + R √(2 λ⁻¹ ln(|I + λ⁻¹K_t|^½ / δ)) = b + R √(2 λ⁻¹ (γ_t + ln 1/δ))
//! ```
//!
//! With it, |π(x) - π̂_t(x)| ≤ β_t(δ) σ_t(x) at all points and in all rounds with probability at least 1 - δ,
//! provided that π lies in the kernel's function space with ‖π‖ₖ ≤ b, that τ is fixed, and that π̂ is the
//! kernel least-squares estimate with kernel and ridge fixed beforehand. γ_t is the information gain of the
//! points seen so far; R is the sub-Gaussian parameter of the label noise ν = z - π(x): E exp(sν) ≤ exp(R²s²/2) given the past. The
//! width holds for any λ > 0 and any k(x, x), and also before the first observation (γ₀ = 0).
//!
//! # R
//! | what is fitted | R | why |
//! |---|---|---|
//! | labels, as in the paper | 1 | \|ν\| ≤ 1 |
//! | labels | ½ | ν takes its values in [-π(x), 1 - π(x)], an interval of length 1 (Hoeffding's lemma) |
//! | the integrated target z = min(max(τ - y, 0), B) | B/2 | z takes its values in [0, B] |
//!
//! The proof is the same for real targets: |m(x) - m̂_t(x)| ≤ β_t(δ) σ_t(x), where m(x) = E[z | x] and ‖m‖ₖ ≤ b.
//!
//! Cost: O(1). Fails with `Error::Invalid` for values outside the ranges above.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How sure the upper bound of BORE++ is to lie above the true class probability, and with it the width β of Theorem 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A fixed β: mean + β · deviation.
    Width(f64),
    /// β_t(δ) of Theorem 1: the bound holds at all points and rounds with probability at least 1 - δ.
    Level {
        /// δ, strictly between 0 and 1. A smaller one makes the bound surer and wider.
        failure_probability: f64,
        /// b ≥ ‖π‖ₖ, the assumed bound on the norm of the true class probability in the kernel's function space.
        norm_bound: f64,
    },
}

impl Default for Confidence {
    /// β = 3, as in the paper's experiments on real data.
    fn default() -> Self {
        Self::Width(3.0)
    }
}

impl Confidence {
    /// Theorem 1: the width β_t(δ) = b + R √(2 λ⁻¹ (γ_t + ln 1/δ)) for which |π(x) - π̂_t(x)| ≤ β_t(δ) σ_t(x) at all x and t
    /// with probability at least 1 - δ (14). A fixed width is returned as it is, and has no probability.
    ///
    /// - `sub_gaussian`: R of the noise of what is fitted, not negative. 1 is the paper's, ½ holds for labels as well, B/2 for targets
    ///   in an interval of length B.
    /// - `ridge`: λ of least squares, positive.
    /// - `information_gain`: γ_t = ½ ln det(I + K_t/λ) of the points seen so far ([`InformationGain`](super::InformationGain)),
    ///   not negative.
    ///
    /// ```
    /// use wimble::theory::Confidence;
    ///
    /// let level = Confidence::Level { failure_probability: 0.1, norm_bound: 1.0 };
    /// let paper = level.width(1.0, 0.025, 2.0)?;
    /// assert!((paper - (1.0 + (2.0 / 0.025 * (2.0 + 10.0_f64.ln())).sqrt())).abs() < 1e-12);
    /// // Labels lie in an interval of length 1, which halves the second term.
    /// let bounded = level.width(0.5, 0.025, 2.0)?;
    /// assert!((bounded - 1.0 - 0.5 * (paper - 1.0)).abs() < 1e-12);
    /// assert_eq!(Confidence::Width(3.0).width(1.0, 0.025, 2.0)?, 3.0);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    pub fn width(self, sub_gaussian: f64, ridge: f64, information_gain: f64) -> Result<f64> {
        self.check()?;
        match self {
            Self::Width(width) => Ok(width),
            Self::Level { failure_probability, norm_bound } => {
                check_not_negative("sub-Gaussian parameter", sub_gaussian)?;
                check_positive("ridge", ridge)?;
                check_not_negative("information gain", information_gain)?;
                // -ln δ, never ln(e^γ / δ): e^γ overflows for γ > 709.
                let exponent = information_gain - failure_probability.ln();
                Ok(norm_bound + sub_gaussian * (2.0 / ridge * exponent).sqrt())
            }
        }
    }

    /// The same confidence for each of `count` statements, so that all hold at once: δ is shared among them.
    #[must_use]
    pub fn shared_by(self, count: usize) -> Self {
        match self {
            Self::Width(_) => self,
            Self::Level { failure_probability, norm_bound } => {
                let failure_probability = failure_probability / count.max(1) as f64;
                Self::Level { failure_probability, norm_bound }
            }
        }
    }

    /// δ, if there is one.
    pub fn failure_probability(self) -> Option<f64> {
        match self {
            Self::Width(_) => None,
            Self::Level { failure_probability, .. } => Some(failure_probability),
        }
    }

    /// Refuses negative widths and bounds, and probabilities outside (0, 1).
    pub fn check(self) -> Result<()> {
        match self {
            Self::Width(width) => check_not_negative("confidence width", width),
            Self::Level { failure_probability, norm_bound } => {
                check_probability("failure probability", failure_probability)?;
                check_not_negative("norm bound", norm_bound)
            }
        }
    }
}

/// Refuses all but positive finite values.
pub(super) fn check_positive(field: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::invalid(field, value, "positive and finite"))
}

/// Refuses all but finite values from zero on.
pub(super) fn check_not_negative(field: &str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::invalid(field, value, "finite and not negative"))
}

/// Refuses all but values strictly between 0 and 1.
pub(super) fn check_probability(field: &str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Error::invalid(field, value, "strictly between 0 and 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(failure_probability: f64, norm_bound: f64) -> Confidence {
        Confidence::Level { failure_probability, norm_bound }
    }

    #[test]
    fn the_width_is_that_of_the_printed_formula() {
        let (norm, ridge, delta) = (1.5, 0.025, 0.1);
        let determinant: f64 = 37.0; // |I + K/λ|
        let printed = norm + (2.0 / ridge * (determinant.sqrt() / delta).ln()).sqrt();
        let width = level(delta, norm).width(1.0, ridge, 0.5 * determinant.ln()).unwrap();
        assert!((width - printed).abs() < 1e-12 * printed, "{width} {printed}");
    }

    #[test]
    fn the_noise_scales_the_second_term_and_nothing_else() {
        let width = |noise| level(0.05, 2.0).width(noise, 0.1, 3.0).unwrap();
        for noise in [0.0, 0.5, 3.0] {
            assert!(((width(1.0) - 2.0) * noise - (width(noise) - 2.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_fixed_width_stays_and_a_level_is_shared() {
        assert_eq!(Confidence::Width(2.0).shared_by(5).width(1.0, 0.0, -1.0).unwrap(), 2.0);
        assert_eq!(Confidence::Width(2.0).failure_probability(), None);
        assert_eq!(level(0.2, 1.0).shared_by(4).failure_probability(), Some(0.05));
        assert_eq!(level(0.2, 1.0).shared_by(0), level(0.2, 1.0));
    }

    #[test]
    fn large_information_gains_do_not_overflow() {
        assert!(level(0.1, 1.0).width(1.0, 1.0, 5e4).unwrap().is_finite());
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let refused = |width: Result<f64>| width.unwrap_err().to_string();
        let width = |noise, norm, ridge, gain, delta| level(delta, norm).width(noise, ridge, gain);
        assert!(refused(width(1.0, -1.0, 1.0, 0.0, 0.1)).contains("norm bound is -1"));
        assert!(refused(width(1.0, 1.0, 0.0, 0.0, 0.1)).contains("ridge is 0"));
        assert!(refused(width(1.0, 1.0, 1.0, f64::NAN, 0.1)).contains("information gain"));
        assert!(refused(width(1.0, 1.0, 1.0, 0.0, 1.0)).contains("failure probability is 1"));
        assert!(refused(width(1.0, 1.0, 1.0, 0.0, 0.0)).contains("failure probability is 0"));
        assert!(refused(width(-1.0, 1.0, 1.0, 0.0, 0.1)).contains("sub-Gaussian parameter is -1"));
        assert!(refused(Confidence::Width(-1.0).width(1.0, 1.0, 0.0)).contains("width is -1"));
    }
}
