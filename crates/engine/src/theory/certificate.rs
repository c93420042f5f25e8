//! A bound on the distributional regret from lower and upper bounds of π alone, without L_π.
//!
//! ```text
//! r̄_t = E_p[f] - E_ℓ[f] ≤ L_ε E_p[1 - LCB/UCB],      p = p̂_t ∝ UCB = π_{t-1,δ},   ℓ ∝ π
//! ```
//!
//! # Why it holds, and Theorem 4 with it
//! Write u for the upper and v for the lower bound, both clipped to [0, 1]; Z_u, Z_π, Z_v for their sums (or
//! integrals) over the domain. On the event of Theorem 1, v ≤ π ≤ u everywhere.
//!
//! 1. Z_π ≤ Z_u, so p - ℓ = u/Z_u - π/Z_π ≤ (u - π)/Z_u, whose right side is nowhere negative. Summed over the
//!    points where p > ℓ, it bounds the total variation:
//!    TV(p, ℓ) ≤ (Z_u - Z_π)/Z_u = E_p[1 - π/u] ≤ (Z_u - Z_v)/Z_u = E_p[1 - v/u].
//! 2. For any f, E_p[f] - E_ℓ[f] ≤ osc(f) TV(p, ℓ), where osc is the greatest value less the smallest.
//! 3. f = τ - Φ_ε⁻¹(π), so osc(f) ≤ L_ε osc(π) ≤ L_ε (max u - min v) ≤ L_ε.
//!
//! Together: the certificate. From 1 - π/u = (u - π)/u ≤ 2βσ L_π (because u - π ≤ 2βσ and u ≥ π ≥ 1/L_π)
//! follows (27) of Theorem 4 with the printed constant. The printed proof starts from
//! E_p[f] - E_ℓ[f] ≤ L_ε (E_ℓ[π] - E_p[π]) instead, which is false in general: the Lipschitz constant bounds
//! differences of f, and p may move mass between points where f changes much and back where it changes little.
//!
//! On a finite domain the certificate is exact. On others it is estimated from samples, and says so.
//!
//! Cost: O(n) for n points or samples.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

use super::bound::{Assumption, Bound, Subject};
use super::setting::{Choice, Setting};
use super::standing::{Reason, Standing};
use super::stein_discrepancy::SteinDiscrepancy;

/// A certificate for a batch: a bound on the regret of the round whose points were drawn from p ∝ UCB, from lower and upper bounds of π
/// alone, L_ε E_p[1 - LCB/UCB]. It needs no L_π.
///
/// ```
/// use wimble::theory::{Certificate, Setting};
///
/// // π̂ - βσ and π̂ + βσ, clipped to [0, 1], at all four configurations of a space.
/// let (lower, upper) = ([0.1, 0.3, 0.6, 0.2], [0.2, 0.4, 0.7, 0.3]);
/// let known = Setting { noise_lipschitz: Some(0.5), ..Setting::default() };
/// let certificate = Certificate::exact(&known, &lower, &upper)?;
/// assert!((certificate.total_variation - 0.4 / 1.6).abs() < 1e-12);
/// assert!((certificate.bound.value - 0.5 * 0.6 * 0.25).abs() < 1e-12);
/// println!("{certificate}");
/// # Ok::<(), wimble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// E_p[1 - LCB/UCB] = (Z_u - Z_v)/Z_u, an upper bound of the total variation between p and ℓ.
    pub total_variation: f64,
    /// An upper bound of the spread of π: max UCB - min LCB on a finite domain, otherwise 1.
    pub spread: f64,
    /// The standard error of `total_variation`, where it is estimated.
    pub standard_error: Option<f64>,
    /// L_ε · spread · total variation, with what it rests on.
    pub bound: Bound,
    /// How far the batch is from a sample of p, if [`with_discrepancy`](Self::with_discrepancy) said so: for batches that are not made
    /// of independent draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discrepancy: Option<SteinDiscrepancy>,
}

impl Certificate {
    /// The certificate of a finite domain, from the bounds at *all* of its points.
    ///
    /// - `setting`: how the batch was drawn, and L_ε.
    /// - `lower`, `upper`: π̂ ∓ βσ clipped to [0, 1], at every configuration in the same order.
    ///
    /// # Errors
    /// If L_ε was not given, or the bounds are not 0 ≤ lower ≤ upper ≤ 1.
    pub fn exact(setting: &Setting, lower: &[f64], upper: &[f64]) -> Result<Self> {
        check_bounds(lower, upper)?;
        let mass: f64 = upper.iter().sum();
        if mass <= 0.0 {
            return Err(Error::invalid("sum of the upper bounds", mass, "positive"));
        }
        let gap: f64 = upper.iter().zip(lower).map(|(u, v)| u - v).sum();
        let highest = upper.iter().copied().fold(0.0, f64::max);
        let lowest = lower.iter().copied().fold(1.0, f64::min);
        Self::new(setting, gap / mass, highest - lowest, None)
    }

    /// The certificate estimated from weighted samples, with the bounds at each of them.
    ///
    /// A weight is the target density UCB over the density the sample was drawn from, up to a common factor:
    /// all equal for draws from p itself, the upper bound itself for uniform draws. The estimate is
    /// self-normalised, with a bias of order 1/n and a standard error by the delta method; it is no guarantee.
    ///
    /// # Errors
    /// As [`exact`](Self::exact), or if a weight is negative, or positive where the upper bound is zero.
    pub fn sampled(
        setting: &Setting,
        lower: &[f64],
        upper: &[f64],
        weights: &[f64],
    ) -> Result<Self> {
        check_bounds(lower, upper)?;
        if weights.len() != upper.len() {
            let allowed = format!("{}, one a sample", upper.len());
            return Err(Error::invalid("number of weights", weights.len(), allowed));
        }
        for (i, (&weight, &upper)) in weights.iter().zip(upper).enumerate() {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(Error::invalid(
                    format!("weight {i}"),
                    weight,
                    "finite and not negative",
                ));
            }
            if weight > 0.0 && upper == 0.0 {
                let allowed = "zero where the upper bound, and so the target, is zero";
                return Err(Error::invalid(format!("weight {i}"), weight, allowed));
            }
        }
        let mass: f64 = weights.iter().sum();
        if mass <= 0.0 {
            return Err(Error::invalid("sum of the weights", mass, "positive"));
        }
        let shortfall = |i: usize| if weights[i] > 0.0 { 1.0 - lower[i] / upper[i] } else { 0.0 };
        let mean = (0..weights.len()).map(|i| weights[i] * shortfall(i)).sum::<f64>() / mass;
        let squares: f64 =
            (0..weights.len()).map(|i| (weights[i] / mass * (shortfall(i) - mean)).powi(2)).sum();
        Self::new(setting, mean, 1.0, Some(squares.sqrt()))
    }

    /// The same certificate, which also says how far the batch is from a sample of its target; see
    /// [`stein_discrepancy`](Self::stein_discrepancy).
    #[must_use]
    pub fn with_discrepancy(self, discrepancy: SteinDiscrepancy) -> Self {
        Self { discrepancy: Some(discrepancy), ..self }
    }

    fn new(
        setting: &Setting,
        total_variation: f64,
        spread: f64,
        standard_error: Option<f64>,
    ) -> Result<Self> {
        setting.check()?;
        let lipschitz = setting.lipschitz()?;
        let subject = Subject::BatchInstant;
        let mut standing = setting.tight_standing(subject);
        if let Some(error) = standard_error {
            let mut reasons = standing.reasons().to_vec();
            reasons.push(Reason::Estimated { standard_error: lipschitz * spread * error });
            standing = Standing::Heuristic(reasons);
        }
        let mut assumptions = setting.common_assumptions()?;
        if setting.choice == Choice::EXACT_DRAWS {
            assumptions.push(Assumption::ExactSampling);
        }
        let bound = Bound {
            subject,
            value: lipschitz * spread * total_variation,
            trivial: lipschitz,
            failure_probability: setting.confidence.failure_probability(),
            standing,
            assumptions,
        };
        Ok(Self { total_variation, spread, standard_error, bound, discrepancy: None })
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "target and ideal distribution differ by at most {:.4}", self.total_variation)?;
        match self.standard_error {
            Some(error) => writeln!(f, " (estimated, standard error {error:.1e})")?,
            None => writeln!(f, " in total variation")?,
        }
        if let Some(discrepancy) = &self.discrepancy {
            writeln!(f, "the batch beside its target: {discrepancy}")?;
        }
        self.bound.fmt(f)
    }
}

/// Refuses unequal lengths, no points, and bounds that are not 0 ≤ lower ≤ upper ≤ 1.
fn check_bounds(lower: &[f64], upper: &[f64]) -> Result<()> {
    if upper.is_empty() {
        return Err(Error::invalid("number of upper bounds", 0, "at least 1"));
    }
    if lower.len() != upper.len() {
        let allowed = format!("{}, as there are upper bounds", upper.len());
        return Err(Error::invalid("number of lower bounds", lower.len(), allowed));
    }
    for (i, (&lower, &upper)) in lower.iter().zip(upper).enumerate() {
        if !(0.0..=1.0).contains(&upper) {
            return Err(Error::invalid(format!("upper bound {i}"), upper, "between 0 and 1"));
        }
        if !(0.0..=upper).contains(&lower) {
            let allowed = format!("between 0 and the upper bound, {upper}");
            return Err(Error::invalid(format!("lower bound {i}"), lower, allowed));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Rng, Seed, uniform};

    fn sampled() -> Setting {
        Setting { choice: Choice::EXACT_DRAWS, noise_lipschitz: Some(2.0), ..Setting::default() }
    }

    fn random_bounds(n: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
        (0..n)
            .map(|_| {
                let (a, b) = (uniform(rng), uniform(rng));
                (a.min(b), a.max(b))
            })
            .unzip()
    }

    #[test]
    fn the_exact_certificate_is_the_expectation_over_the_target() {
        let (lower, upper) = random_bounds(30, &mut Seed(1).stream("bounds", 0));
        let certificate = Certificate::exact(&sampled(), &lower, &upper).unwrap();
        let mass: f64 = upper.iter().sum();
        let naive: f64 = lower.iter().zip(&upper).map(|(v, u)| u / mass * (1.0 - v / u)).sum();
        assert!((certificate.total_variation - naive).abs() < 1e-12);
        assert!((certificate.bound.value - 2.0 * certificate.spread * naive).abs() < 1e-12);
        assert!(certificate.bound.standing.is_proven());
        // Weighting every point by its own upper bound is the same sum, but is not said to be exact.
        let sampled = Certificate::sampled(&sampled(), &lower, &upper, &upper).unwrap();
        assert!((sampled.total_variation - naive).abs() < 1e-12);
        assert!(!sampled.bound.standing.is_proven());
    }

    #[test]
    fn the_standard_error_covers_the_exact_value_in_95_of_100_samples() {
        let mut rng = Seed(2).stream("bounds", 0);
        let (lower, upper) = random_bounds(200, &mut rng);
        let exact = Certificate::exact(&sampled(), &lower, &upper).unwrap().total_variation;
        let runs = 1000;
        let mut covered = 0;
        for _ in 0..runs {
            let chosen: Vec<usize> = (0..100).map(|_| crate::seed::below(&mut rng, 200)).collect();
            let pick = |values: &[f64]| chosen.iter().map(|&i| values[i]).collect::<Vec<f64>>();
            let (lower, upper) = (pick(&lower), pick(&upper));
            let found = Certificate::sampled(&sampled(), &lower, &upper, &upper).unwrap();
            let error = found.standard_error.unwrap();
            covered += usize::from((found.total_variation - exact).abs() <= 1.96 * error);
        }
        // 95 % of 1000, five binomial standard errors (6.9 each) either way.
        assert!((915..=985).contains(&covered), "{covered}");
    }

    #[test]
    fn certain_bounds_certify_no_regret_and_empty_ones_nothing() {
        let pi = [0.2, 0.5, 0.9];
        let certificate = Certificate::exact(&sampled(), &pi, &pi).unwrap();
        assert_eq!(certificate.bound.value, 0.0);
        let vacuous = Certificate::exact(&sampled(), &[0.0; 3], &[1.0; 3]).unwrap();
        assert_eq!(vacuous.bound.value, vacuous.bound.trivial);
        assert!(!vacuous.bound.is_informative());
        assert!(vacuous.to_string().contains("no news"), "{vacuous}");
        let particles = SteinDiscrepancy { value: 0.5, of_draws: 0.25 };
        let text = vacuous.with_discrepancy(particles).to_string();
        assert!(
            text.contains("Stein discrepancy 0.5000, where as many independent draws"),
            "{text}"
        );
    }

    #[test]
    fn impossible_bounds_and_weights_are_refused() {
        let exact = |lower: &[f64], upper: &[f64]| Certificate::exact(&sampled(), lower, upper);
        assert!(exact(&[], &[]).is_err());
        assert!(exact(&[0.1], &[0.2, 0.3]).is_err());
        assert!(exact(&[0.3], &[0.2]).is_err());
        assert!(exact(&[0.3], &[1.2]).is_err());
        assert!(exact(&[0.0], &[0.0]).is_err());
        assert!(exact(&[f64::NAN], &[0.5]).is_err());
        let sampled =
            |weights: &[f64]| Certificate::sampled(&sampled(), &[0.1, 0.0], &[0.5, 0.0], weights);
        assert!(sampled(&[1.0]).is_err());
        assert!(sampled(&[-1.0, 0.0]).is_err());
        assert!(sampled(&[1.0, 1.0]).is_err());
        assert!(sampled(&[0.0, 0.0]).is_err());
        assert!(sampled(&[1.0, 0.0]).is_ok());
    }
}
