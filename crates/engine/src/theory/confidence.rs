//! The confidence width β_t(δ) of Theorem 1.
//!
//! ```text
//! β_t(δ) = b + R √(2 λ⁻¹ ln(|I + λ⁻¹K_t|^½ / δ)) = b + R √(2 λ⁻¹ (γ_t + ln 1/δ))
//! ```
//!
//! With it, |π(x) - π̂_t(x)| ≤ β_t(δ) σ_t(x) at all points and in all rounds with probability at least 1 - δ,
//! provided that π lies in the kernel's function space with ‖π‖ₖ ≤ b, that τ is fixed, and that π̂ is the
//! kernel least-squares estimate with kernel and ridge fixed beforehand. γ_t is the information gain of the
//! points seen so far; R is the sub-Gaussian parameter of the label noise z - π(x). The width holds for any
//! λ > 0 and any k(x, x), and also before the first observation (γ₀ = 0).
//!
//! With real targets in place of labels the same proof gives the same width with another R: see
//! [`SubGaussian::of_range`].
//!
//! Cost: O(1). Fails with `Error::Invalid` for values outside the ranges above.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What is said of the label noise ν = z - π(x), given the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelNoise {
    /// R = 1, as in the paper, from |ν| ≤ 1.
    #[default]
    Paper,
    /// R = ½: ν takes its values in [-π(x), 1 - π(x)], an interval of length 1, so that Hoeffding's lemma
    /// gives E exp(sν) ≤ exp(s²/8). Half the second term of the width, under the same assumptions.
    Bounded,
}

/// R, for which the noise of what is fitted has E exp(sν) ≤ exp(R²s²/2).
#[derive(Debug, Clone, Copy)]
pub struct SubGaussian(f64);

impl From<LabelNoise> for SubGaussian {
    fn from(noise: LabelNoise) -> Self {
        Self(match noise {
            LabelNoise::Paper => 1.0,
            LabelNoise::Bounded => 0.5,
        })
    }
}

impl SubGaussian {
    /// R of the integrated target: least squares on z = ∫ 1[y ≤ s] ds over thresholds s in an interval of length B,
    /// `range`, that is on z = min(max(τ - y, 0), B) for the highest threshold τ.
    ///
    /// z lies in [0, B], so that by Hoeffding's lemma its noise is B/2-sub-Gaussian:
    ///
    /// ```text
    /// β_t(δ) = b + (B/2) √(2 λ⁻¹ (γ_t + ln 1/δ)),     |m(x) - m̂_t(x)| ≤ β_t(δ) σ_t(x) at all x and t
    /// ```
    ///
    /// with probability at least 1 - δ, where m(x) = E[z | x] = ∫ P(y ≤ s | x) ds is the expected improvement below τ, capped
    /// at B, and ‖m‖ₖ ≤ b. Proven in the guide (`auto`).
    pub fn of_range(range: f64) -> Result<Self> {
        check_positive("range", range)?;
        Ok(Self(0.5 * range))
    }
}

/// β_t(δ) as the paper has it (R = 1).
pub fn confidence_width(
    norm_bound: f64,
    ridge: f64,
    information_gain: f64,
    failure_probability: f64,
) -> Result<f64> {
    confidence_width_for(
        LabelNoise::Paper,
        norm_bound,
        ridge,
        information_gain,
        failure_probability,
    )
}

/// β_t(δ) for noise of this kind: b + R √(2 λ⁻¹ (γ + ln 1/δ)).
pub fn confidence_width_for(
    noise: impl Into<SubGaussian>,
    norm_bound: f64,
    ridge: f64,
    information_gain: f64,
    failure_probability: f64,
) -> Result<f64> {
    let SubGaussian(sub_gaussian) = noise.into();
    check_not_negative("norm bound", norm_bound)?;
    check_positive("ridge", ridge)?;
    check_not_negative("information gain", information_gain)?;
    check_probability("failure probability", failure_probability)?;
    // -ln δ, never ln(e^γ / δ): e^γ overflows for γ > 709.
    let exponent = information_gain - failure_probability.ln();
    Ok(norm_bound + sub_gaussian * (2.0 / ridge * exponent).sqrt())
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

    #[test]
    fn the_width_is_that_of_the_printed_formula() {
        let (norm, ridge, delta) = (1.5, 0.025, 0.1);
        let determinant: f64 = 37.0; // |I + K/λ|
        let printed = norm + (2.0 / ridge * (determinant.sqrt() / delta).ln()).sqrt();
        let width = confidence_width(norm, ridge, 0.5 * determinant.ln(), delta).unwrap();
        assert!((width - printed).abs() < 1e-12 * printed, "{width} {printed}");
    }

    #[test]
    fn bounded_labels_halve_the_second_term_and_nothing_else() {
        let paper = confidence_width(2.0, 0.1, 3.0, 0.05).unwrap();
        let bounded = confidence_width_for(LabelNoise::Bounded, 2.0, 0.1, 3.0, 0.05).unwrap();
        assert!(((paper - 2.0) - 2.0 * (bounded - 2.0)).abs() < 1e-12);
    }

    #[test]
    fn a_range_of_one_is_that_of_labels() {
        let width = |noise| confidence_width_for(noise, 2.0, 0.1, 3.0, 0.05).unwrap();
        let targets = width(SubGaussian::of_range(1.0).unwrap());
        assert_eq!(width(LabelNoise::Bounded.into()), targets);
        let wider = width(SubGaussian::of_range(3.0).unwrap());
        assert!(((wider - 2.0) - 3.0 * (targets - 2.0)).abs() < 1e-12);
        let error = SubGaussian::of_range(0.0).unwrap_err();
        assert!(error.to_string().contains("range is 0"), "{error}");
    }

    #[test]
    fn large_information_gains_do_not_overflow() {
        assert!(confidence_width(1.0, 1.0, 5e4, 0.1).unwrap().is_finite());
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let refused = |width: Result<f64>| width.unwrap_err().to_string();
        assert!(refused(confidence_width(-1.0, 1.0, 0.0, 0.1)).contains("norm bound is -1"));
        assert!(refused(confidence_width(1.0, 0.0, 0.0, 0.1)).contains("ridge is 0"));
        assert!(refused(confidence_width(1.0, 1.0, f64::NAN, 0.1)).contains("information gain"));
        assert!(refused(confidence_width(1.0, 1.0, 0.0, 1.0)).contains("failure probability is 1"));
    }
}
