//! A boundary that a sum of centred, bounded numbers stays below for all lengths at once.
//!
//! Let S_T = d₁ + … + d_T, where d_t, given the past, has mean 0 and is sub-Gaussian with the variance proxy v:
//! E[exp(θ d_t) | past] ≤ exp(θ² v/2) for every θ. With V = v T and any ρ > 0, with probability at least 1 - δ,
//!
//! ```text
//! S_T ≤ W(V) = √((V + ρ)(2 ln(1/δ) + ln(1 + V/ρ)))      for all T ≥ 1.
//! ```
//!
//! Proof (Robbins 1970). exp(θ S_T - θ² V/2) is a supermartingale that starts at 1, for every θ; so is its mean over
//! θ ~ N(0, 1/ρ), which is √(ρ/(V + ρ)) exp(S_T² / (2(V + ρ))). By Ville's inequality it exceeds 1/δ at any T with
//! probability at most δ; solved for S_T, that is W.
//!
//! The Hoeffding-Azuma inequality has √(2 V ln(1/δ)), which holds for one T that was fixed beforehand: a run that is
//! watched at every T crosses it about twice as often as δ says.
//!
//! Cost: O(1).

/// The number of rounds whose variance is ρ: where the boundary is about tightest.
const TIGHT_AT: f64 = 16.0;

/// W(V) after `rounds` rounds, each with the variance proxy `one_round`, for a failure probability δ over all rounds.
pub fn uniform_boundary(one_round: f64, rounds: usize, failure_probability: f64) -> f64 {
    let (variance, rho) = (one_round * rounds as f64, one_round * TIGHT_AT);
    ((variance + rho) * ((variance / rho).ln_1p() - 2.0 * failure_probability.ln())).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};

    #[test]
    fn sums_stay_below_at_all_lengths_at_once_and_cross_azuma_s() {
        let (runs, rounds, delta) = (600, 1000, 0.1);
        let (mut crossed, mut crossed_azuma, mut used) = (0, 0, 0.0_f64);
        for run in 0..runs {
            let mut rng = Seed(28).stream("walk", run);
            let (mut sum, mut share, mut azuma) = (0.0, 0.0_f64, false);
            for t in 1..=rounds {
                // ±½: the widest that an interval of length 1 allows, with the proxy 1/4.
                sum += if uniform(&mut rng) < 0.5 { 0.5 } else { -0.5 };
                share = share.max(sum / uniform_boundary(0.25, t, delta));
                azuma |= sum > (0.5 * t as f64 * -delta.ln()).sqrt();
            }
            crossed += usize::from(share > 1.0);
            crossed_azuma += usize::from(azuma);
            used = used.max(share);
        }
        let share = |count: usize| count as f64 / runs as f64;
        println!(
            "crossed {:.3}, Azuma's {:.3}, at most {used:.3} used",
            share(crossed),
            share(crossed_azuma)
        );
        assert!(share(crossed) <= delta);
        assert!(used > 0.8, "the boundary is not loose: {used}");
        // Why it is needed: for all T at once, the boundary of one T fails more often than it says.
        assert!(share(crossed_azuma) > 1.5 * delta);
    }

    #[test]
    fn the_boundary_solves_ville_s_inequality_with_equality() {
        let (one, rounds, delta) = (0.3, 50, 0.05);
        let w = uniform_boundary(one, rounds, delta);
        let (v, rho) = (one * 50.0, one * 16.0);
        let mixture = (rho / (v + rho)).sqrt() * (w * w / (2.0 * (v + rho))).exp();
        assert!((mixture * delta - 1.0).abs() < 1e-9, "{mixture}");
    }
}
