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
//! over all batches; [`divergence_sum_bound`] has the sum of the run at hand (see `regret.rs`).
//!
//! Cost: O(n) for n points.

use crate::error::{Error, Result};

use super::confidence::{check_not_negative, check_probability};
use super::deviation_sum::deviation_sum;
use super::uniform_boundary::uniform_boundary;

/// KL(p ‖ q) of two distributions on the same points, given up to a factor; ∞ where p is positive and q is not.
pub fn kullback_leibler(p: &[f64], q: &[f64]) -> Result<f64> {
    let (p_mass, q_mass) = masses(p, q)?;
    let term = |(p, q): (&f64, &f64)| {
        let (p, q) = (p / p_mass, q / q_mass);
        if p > 0.0 { p * (p / q).ln() } else { 0.0 }
    };
    Ok(p.iter().zip(q).map(term).sum::<f64>().max(0.0))
}

/// TV(p, q) = ½ Σ |p - q| of two distributions on the same points, given up to a factor.
pub fn total_variation(p: &[f64], q: &[f64]) -> Result<f64> {
    let (p_mass, q_mass) = masses(p, q)?;
    let gaps = p.iter().zip(q).map(|(p, q)| (p / p_mass - q / q_mass).abs());
    Ok((0.5 * gaps.sum::<f64>()).min(1.0))
}

/// Pinsker's inequality: TV ≤ √(KL/2).
pub fn pinsker(divergence: f64) -> Result<f64> {
    check_not_negative("divergence", divergence)?;
    Ok((0.5 * divergence).sqrt().min(1.0))
}

/// (A.14): KL(p̂ ‖ ℓ) ≤ 2 L_π β E_p̂\[σ\].
pub fn divergence_bound(inverse_probability: f64, width: f64, expected_deviation: f64) -> f64 {
    2.0 * inverse_probability * width * expected_deviation
}

/// (A.16) to (A.22) for the run at hand: with probability at least 1 - δ - δ', at all T at once,
///
/// ```text
/// Σ KL(p̂_t ‖ ℓ) ≤ 2 L_π β_T (√(2 T s ξ_T / ln(1 + s/λ)) + W(T s/(4M))).
/// ```
pub fn divergence_sum_bound(
    batches: &Batches,
    inverse_probability: f64,
    width: f64,
) -> Result<f64> {
    let Batches { rounds, size, max_information_gain, ridge, output_scale, failure } = *batches;
    check_not_negative("maximum information gain", max_information_gain)?;
    check_probability("sampling failure probability", failure)?;
    if size == 0 {
        return Err(Error::invalid("batch size", 0, "at least 1"));
    }
    let drawn = uniform_boundary(output_scale / (4.0 * size as f64), rounds, failure);
    let sum = deviation_sum(rounds, max_information_gain, ridge, output_scale) + drawn;
    Ok(divergence_bound(inverse_probability, width, sum))
}

/// A run in batches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batches {
    /// T, the number of rounds.
    pub rounds: usize,
    /// M, the points of a batch.
    pub size: usize,
    /// An upper bound of ξ_T.
    pub max_information_gain: f64,
    /// λ.
    pub ridge: f64,
    /// s = k(x, x).
    pub output_scale: f64,
    /// δ', spent on the draw of the batches.
    pub failure: f64,
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
        assert!((kullback_leibler(&p, &q).unwrap() - expected).abs() < 1e-15);
        assert!((total_variation(&p, &q).unwrap() - 0.25).abs() < 1e-15);
        assert_eq!(kullback_leibler(&[0.0, 1.0], &[0.5, 0.5]).unwrap(), 2.0_f64.ln());
        assert_eq!(kullback_leibler(&[0.5, 0.5], &[0.0, 1.0]).unwrap(), f64::INFINITY);
        assert_eq!(pinsker(8.0).unwrap(), 1.0);
        for bad in [&[][..], &[1.0][..], &[-1.0, 1.0][..], &[0.0, 0.0][..]] {
            assert!(kullback_leibler(bad, &q).is_err() && total_variation(bad, &q).is_err());
        }
    }
}
