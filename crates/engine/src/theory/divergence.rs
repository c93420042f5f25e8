//! Divergences between p̂ ∝ u and ℓ ∝ π on a finite set, and their bounds: the proof of Theorem 4 (A.12 to A.25).
//!
//! ```text
//! KL(p̂ ‖ ℓ) = E_p̂[ln u - ln π] + ln(Z_π/Z_u) ≤ E_p̂[ln u - ln π]         (A.13), because u ≥ π
//!           ≤ 2 L_π β E_p̂[σ]                                              (A.14), by the mean value theorem
//! min over t ≤ T of KL ≤ (1/T) Σ KL                                        (A.15)
//! Σ KL ≤ 2 L_π β_T Σ E_p̂[σ] ≤ 4 L_π β_T √((T+2) ξ_T)                       (A.16 to A.22)
//! TV(p̂, ℓ) ≤ √(KL/2)                                                       Pinsker, the last line of (A.12)
//! ```
//!
//! The first two hold on the event of Theorem 1. The last step of (A.16) to (A.22) bounds the *expectation* of the sum
//! over all batches; [`Setting::divergence_cumulative`] has the sum of the run at hand (see `regret.rs`).
//!
//! Cost: O(n) for n points.

use crate::error::{Error, Result};

use super::certificate::Certificate;
use super::confidence::check_not_negative;
use super::regret::supplied_gain;
use super::run::Run;
use super::setting::Setting;

impl Certificate {
    /// TV(p, q) = ½ Σ |p - q|, the total variation between two distributions on the same points.
    ///
    /// `p` and `q` are given up to a factor: one finite number for each point, none negative.
    ///
    /// ```
    /// use wimble::theory::Certificate;
    ///
    /// assert_eq!(Certificate::distance(&[1.0, 3.0], &[2.0, 2.0])?, 0.25);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the lengths differ, or one of the two is no distribution.
    pub fn distance(p: &[f64], q: &[f64]) -> Result<f64> {
        let (p_mass, q_mass) = masses(p, q)?;
        let gaps = p.iter().zip(q).map(|(p, q)| (p / p_mass - q / q_mass).abs());
        Ok((0.5 * gaps.sum::<f64>()).min(1.0))
    }

    /// KL(p ‖ q) = Σ p ln(p/q) of two distributions on the same points, given up to a factor; ∞ where p is positive and q is not.
    ///
    /// ```
    /// use wimble::theory::Certificate;
    ///
    /// let divergence = Certificate::divergence(&[1.0, 3.0], &[2.0, 2.0])?;
    /// assert!((divergence - (0.25 * 0.5_f64.ln() + 0.75 * 1.5_f64.ln())).abs() < 1e-15);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`distance`](Self::distance).
    pub fn divergence(p: &[f64], q: &[f64]) -> Result<f64> {
        let (p_mass, q_mass) = masses(p, q)?;
        let term = |(p, q): (&f64, &f64)| {
            let (p, q) = (p / p_mass, q / q_mass);
            if p > 0.0 { p * (p / q).ln() } else { 0.0 }
        };
        Ok(p.iter().zip(q).map(term).sum::<f64>().max(0.0))
    }

    /// Pinsker's inequality: TV ≤ √(KL/2), at most 1.
    ///
    /// # Errors
    /// If the divergence is negative or not finite.
    pub fn pinsker(divergence: f64) -> Result<f64> {
        check_not_negative("divergence", divergence)?;
        Ok((0.5 * divergence).sqrt().min(1.0))
    }
}

impl Setting {
    /// The divergence of a batch (A.14): KL(p̂ ‖ ℓ) ≤ 2 L_π β_{t-1} E_p̂[σ_{t-1}].
    ///
    /// - `information_gain`: γ_{t-1}, before the round.
    /// - `expected_deviation`: E_p̂[σ_{t-1}].
    ///
    /// ```
    /// use wimble::theory::{Confidence, Setting};
    ///
    /// let known = Setting { confidence: Confidence::Width(3.0), inverse_probability: Some(4.0), ..Setting::default() };
    /// assert!((known.divergence_instant(1.5, 0.01)? - 2.0 * 4.0 * 3.0 * 0.01).abs() < 1e-12);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_π was not given.
    pub fn divergence_instant(
        &self,
        information_gain: f64,
        expected_deviation: f64,
    ) -> Result<f64> {
        check_not_negative("expected deviation", expected_deviation)?;
        Ok(2.0 * self.inverse()? * self.width(information_gain)? * expected_deviation)
    }

    /// The sum of the divergences of a run (A.16) to (A.22): with probability at least 1 - δ - δ', at all T at once,
    ///
    /// ```text
    /// Σ KL(p̂_t ‖ ℓ) ≤ 2 L_π β_T (√(2 T s ξ_T / ln(1 + s/λ)) + W(T s/(4M))).
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_π or ξ_T was not given.
    pub fn divergence_cumulative(&self, run: &Run) -> Result<f64> {
        let gain = supplied_gain(run.max_information_gain)?;
        let failure = run.sampling_failure_probability;
        let sum = self.expected_deviation_sum(run.rounds, gain, failure)?;
        self.divergence_instant(run.information_gain, sum)
    }
}

fn masses(p: &[f64], q: &[f64]) -> Result<(f64, f64)> {
    if p.len() != q.len() || p.is_empty() {
        let allowed = format!("{}, and at least 1", p.len());
        return Err(Error::invalid("number of probabilities", q.len(), allowed));
    }
    let mass = |values: &[f64]| {
        let bad = values.iter().find(|value| !(**value >= 0.0 && value.is_finite()));
        match (bad, values.iter().sum::<f64>()) {
            (Some(bad), _) => Err(Error::invalid("probability", bad, "finite and not negative")),
            (None, 0.0) => Err(Error::invalid("sum of the probabilities", 0, "positive")),
            (None, sum) => Ok(sum),
        }
    };
    Ok((mass(p)?, mass(q)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergences_of_two_coins_are_those_of_the_textbook() {
        let (p, q) = ([1.0, 3.0], [2.0, 2.0]);
        let expected = 0.25 * 0.5_f64.ln() + 0.75 * 1.5_f64.ln();
        assert!((Certificate::divergence(&p, &q).unwrap() - expected).abs() < 1e-15);
        assert!((Certificate::distance(&p, &q).unwrap() - 0.25).abs() < 1e-15);
        assert_eq!(Certificate::divergence(&[0.0, 1.0], &[0.5, 0.5]).unwrap(), 2.0_f64.ln());
        assert_eq!(Certificate::divergence(&[0.5, 0.5], &[0.0, 1.0]).unwrap(), f64::INFINITY);
        assert_eq!(Certificate::pinsker(8.0).unwrap(), 1.0);
        for bad in [&[][..], &[1.0][..], &[-1.0, 1.0][..], &[0.0, 0.0][..]] {
            assert!(
                Certificate::divergence(bad, &q).is_err()
                    && Certificate::distance(bad, &q).is_err()
            );
        }
    }
}
