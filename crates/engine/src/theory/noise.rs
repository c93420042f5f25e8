//! L_ε, a Lipschitz constant of the inverse noise distribution Φ_ε⁻¹ (11, `eq:optimal-classifier-regret`).
//!
//! It turns a gap in class probability into a gap in value: f = τ - Φ_ε⁻¹(π), so that
//! f(x) - f(x*) ≤ L_ε (π(x*) - π(x)). For Gaussian noise of deviation σ_ε the slope of Φ_ε⁻¹ at p is
//! σ_ε / φ(Φ⁻¹(p)), which falls up to p = ½ and rises beyond: over an interval it is largest at one end.
//!
//! At p → 0 and p → 1 the slope has no bound. A finite L_ε therefore exists only while π stays away from
//! both, and it grows about as 1/p: with π down to 10⁻⁶ it exceeds 10⁵ σ_ε. Without noise there is none.

use crate::error::{Error, Result};

use super::confidence::check_positive;
use super::normal;
use super::setting::Setting;

impl Setting {
    /// L_ε for Gaussian noise, where π takes its values in [`lowest`, `highest`].
    ///
    /// - `noise_deviation`: σ_ε, the standard deviation of the noise, positive.
    /// - `lowest`, `highest`: the range of π, strictly between 0 and 1. The closer to either, the larger L_ε.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// // At π = ½ the slope of Φ_ε⁻¹ is σ_ε √(2π).
    /// let constant = Setting::gaussian_lipschitz(0.1, 0.5, 0.5)?;
    /// assert!((constant - 0.1 * std::f64::consts::TAU.sqrt()).abs() < 1e-12);
    /// assert!(Setting::gaussian_lipschitz(0.1, 0.0, 0.9).is_err());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// For a noise deviation of zero and an interval that touches 0 or 1: no constant exists then.
    pub fn gaussian_lipschitz(noise_deviation: f64, lowest: f64, highest: f64) -> Result<f64> {
        check_positive("noise deviation", noise_deviation)?;
        let inside = |p: f64| p > 0.0 && p < 1.0;
        for (field, p) in
            [("lowest class probability", lowest), ("highest class probability", highest)]
        {
            if !inside(p) {
                let allowed =
                    "strictly between 0 and 1, where the inverse noise distribution is Lipschitz";
                return Err(Error::invalid(field, p, allowed));
            }
        }
        if lowest > highest {
            let allowed = format!("at most the highest, {highest}");
            return Err(Error::invalid("lowest class probability", lowest, allowed));
        }
        let slope = |p: f64| noise_deviation / normal::density(normal::quantile(p));
        let steepest = slope(lowest).max(slope(highest));
        if !steepest.is_finite() {
            let allowed = "far enough from 0 for a finite Lipschitz constant";
            return Err(Error::invalid("lowest class probability", lowest, allowed));
        }
        Ok(steepest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_chord_is_steeper_and_one_is_nearly_as_steep() {
        for (lowest, highest) in [(0.01, 0.6), (0.3, 0.999), (0.2, 0.3), (1e-6, 0.5)] {
            let constant = Setting::gaussian_lipschitz(0.1, lowest, highest).unwrap();
            let n = 20_000;
            let value = |i: i32| {
                0.1 * normal::quantile(lowest + (highest - lowest) * f64::from(i) / f64::from(n))
            };
            let gap = (highest - lowest) / f64::from(n);
            let steepest = (0..n).map(|i| (value(i + 1) - value(i)) / gap).fold(0.0, f64::max);
            assert!(steepest <= constant * (1.0 + 1e-9), "{steepest} {constant}");
            if lowest > 1e-3 {
                assert!(steepest > 0.95 * constant, "{steepest} {constant}");
            }
        }
    }

    #[test]
    fn certainty_and_absent_noise_are_refused() {
        let refused = |constant: Result<f64>| constant.unwrap_err().to_string();
        assert!(
            refused(Setting::gaussian_lipschitz(0.0, 0.1, 0.9)).contains("noise deviation is 0")
        );
        assert!(
            refused(Setting::gaussian_lipschitz(0.1, 0.0, 0.9))
                .contains("lowest class probability is 0")
        );
        assert!(
            refused(Setting::gaussian_lipschitz(0.1, 0.1, 1.0))
                .contains("highest class probability is 1")
        );
        assert!(
            refused(Setting::gaussian_lipschitz(0.1, 0.5, 0.4)).contains("at most the highest")
        );
    }
}
