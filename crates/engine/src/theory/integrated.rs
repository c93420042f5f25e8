//! Regret on the integrated target, with noise or without.
//!
//! BORE's L_ε grows without bound as the noise vanishes: π then jumps from 1 to 0 at τ. The integrated target
//! z = min(max(τ - y, 0), B) = ∫ 1[y ≤ s] ds over s in (τ - B, τ] does not jump. With m(x) = E[z | x] = M(f(x)),
//!
//! ```text
//! M(v) = ∫ Φ_ε(s - v) ds,      M'(v) = -P(τ - B < v + ε ≤ τ).
//! ```
//!
//! Let q be the least P(τ - B < v + ε ≤ τ) for v between the least and the greatest value of f. M falls by at least q for
//! each unit of v, so that f(x) - f(x*) ≤ (m(x*) - m(x))/q, and with the confidence band of
//! [`SubGaussian::of_range`] and x_t the maximiser of m̂ + βσ,
//!
//! ```text
//! r_t ≤ 2 β_{t-1} σ_{t-1}(x_t) / q,      R_T ≤ (2 β_T / q) √(2 T s γ_T / ln(1 + s/λ)).
//! ```
//!
//! As the noise vanishes q tends to 1 if all values lie in (τ - B, τ]: the bound stays. Without any noise z = m(x), nothing is
//! random, and β = b.
//!
//! Cost: O(1).

use crate::error::{Error, Result};

use super::bound::{Assumption, Bound, Subject};
use super::confidence::{SubGaussian, check_not_negative, check_positive, confidence_width_for};
use super::deviation_sum::deviation_sum;
use super::normal;
use super::regret::{Form, Run};
use super::setting::{Choice, Noise, Setting, Width};

/// What only the user can know of the integrated target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integrated {
    /// B, the length of the interval of thresholds.
    pub range: f64,
    /// b ≥ ‖m‖ₖ.
    pub norm_bound: f64,
    /// q, the least probability that a value lies among the thresholds; see [`least_mass`].
    pub least_mass: f64,
}

/// q for Gaussian noise, or none: the least P(τ - B < v + ε ≤ τ) for v in [`lowest`, `highest`]. The probability is
/// unimodal in v, so that the least is at one end.
pub fn least_mass(
    noise_deviation: f64,
    threshold: f64,
    range: f64,
    [lowest, highest]: [f64; 2],
) -> Result<f64> {
    check_not_negative("noise deviation", noise_deviation)?;
    check_positive("range", range)?;
    if lowest.is_nan() || highest.is_nan() || lowest > highest {
        let allowed = format!("at most the highest, {highest}");
        return Err(Error::invalid("lowest value", lowest, allowed));
    }
    let mass = |v: f64| {
        if noise_deviation == 0.0 {
            return f64::from(u8::from((threshold - range..=threshold).contains(&v)));
        }
        let below = |s: f64| normal::cumulative((s - v) / noise_deviation);
        below(threshold) - below(threshold - range)
    };
    let least = mass(lowest).min(mass(highest));
    if least > 0.0 {
        return Ok(least);
    }
    let allowed = "such that every value may lie among the thresholds";
    Err(Error::invalid("threshold", threshold, allowed))
}

/// Bounds for one setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegratedBounds {
    setting: Setting,
    target: Integrated,
}

impl IntegratedBounds {
    /// Checks setting and constants. The width must be that of a level.
    pub fn new(setting: Setting, target: Integrated) -> Result<Self> {
        setting.check()?;
        check_positive("range", target.range)?;
        check_not_negative("norm bound", target.norm_bound)?;
        if !(target.least_mass > 0.0 && target.least_mass <= 1.0) {
            let allowed = "positive and at most 1";
            return Err(Error::invalid("least mass", target.least_mass, allowed));
        }
        if let Width::Fixed(width) = setting.width {
            return Err(Error::invalid("confidence width", width, "that of a level"));
        }
        Ok(Self { setting, target })
    }

    /// β at an information gain; b where there is no noise.
    pub fn width(&self, information_gain: f64) -> Result<f64> {
        check_not_negative("information gain", information_gain)?;
        let Integrated { range, norm_bound, .. } = self.target;
        match (self.setting.noise, self.setting.width) {
            (Noise::Present, Width::Level { failure_probability, .. }) => {
                let ridge = self.setting.ridge;
                let delta = failure_probability / self.setting.thresholds() as f64;
                let noise = SubGaussian::of_range(range)?;
                confidence_width_for(noise, norm_bound, ridge, information_gain, delta)
            }
            _ => Ok(norm_bound),
        }
    }

    /// r_t: the information gain before round t, and σ_{t-1} at the chosen point.
    pub fn instant(&self, information_gain: f64, chosen_deviation: f64) -> Result<Bound> {
        check_not_negative("deviation at the chosen point", chosen_deviation)?;
        let gap = 2.0 * self.width(information_gain)? * chosen_deviation;
        Ok(self.bound(Subject::IntegratedInstant, gap, 1.0))
    }

    /// R_T.
    pub fn cumulative(&self, run: &Run) -> Result<Bound> {
        let Setting { ridge, output_scale, .. } = self.setting;
        let width = self.width(run.information_gain)?;
        let sum = deviation_sum(run.rounds, run.information_gain, ridge, output_scale);
        let subject = Subject::IntegratedCumulative { rounds: run.rounds };
        Ok(self.bound(subject, 2.0 * width * sum, run.rounds as f64))
    }

    fn bound(&self, subject: Subject, gap: f64, rounds: f64) -> Bound {
        let Integrated { range, norm_bound, least_mass } = self.target;
        let trivial = rounds * range / least_mass;
        let mut assumptions =
            vec![Assumption::TargetNorm(norm_bound), Assumption::LeastMass(least_mass)];
        if self.setting.choice == Choice::Maximum {
            assumptions.push(Assumption::ExactMaximum);
        }
        let failure = self.setting.failure_probability();
        Bound {
            subject,
            value: (gap / least_mass).min(trivial),
            trivial,
            // Without noise nothing is left to chance.
            failure_probability: failure.filter(|_| self.setting.noise == Noise::Present),
            standing: self.setting.standing(subject, Form::Tight),
            assumptions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::setting::tests::covered;

    #[test]
    fn the_slope_of_the_target_is_minus_the_mass() {
        // M by a sum over thresholds, its slope by differences.
        let (noise, threshold, range) = (0.3, 1.0, 1.5);
        let target = |v: f64| {
            let n = 20_000;
            let s = |i: i32| threshold - range + range * (f64::from(i) + 0.5) / f64::from(n);
            let sum: f64 = (0..n).map(|i| normal::cumulative((s(i) - v) / noise)).sum();
            sum * range / f64::from(n)
        };
        for v in [-0.8, -0.2, 0.4, 0.9, 1.4] {
            let slope = (target(v + 1e-4) - target(v - 1e-4)) / 2e-4;
            let mass = least_mass(noise, threshold, range, [v, v]).unwrap();
            assert!((slope + mass).abs() < 1e-5, "{v}: {slope} {mass}");
        }
    }

    #[test]
    fn the_least_mass_is_at_an_end_and_stays_as_noise_vanishes() {
        for noise in [0.0, 1e-6, 0.01, 0.2, 2.0] {
            let least = least_mass(noise, 1.0, 1.0, [0.1, 0.8]).unwrap();
            for v in (0..=70).map(|i| 0.1 + 0.01 * f64::from(i)) {
                assert!(least_mass(noise, 1.0, 1.0, [v, v]).unwrap() >= least - 1e-12, "{noise}");
            }
            assert!(noise > 0.05 || least > 0.999, "{noise}: {least}");
        }
        assert!(least_mass(0.0, 1.0, 1.0, [0.1, 1.2]).is_err());
        assert!(least_mass(0.1, 1.0, 1.0, [0.3, 0.2]).is_err());
    }

    #[test]
    fn without_noise_the_width_is_the_norm_and_nothing_is_left_to_chance() {
        let target = Integrated { range: 2.0, norm_bound: 1.5, least_mass: 0.5 };
        let bounds = IntegratedBounds::new(Setting { noise: Noise::Absent, ..covered() }, target);
        let bound = bounds.unwrap().instant(3.0, 0.1).unwrap();
        assert!((bound.value - 2.0 * 1.5 * 0.1 / 0.5).abs() < 1e-12);
        assert!(bound.standing.is_proven() && bound.failure_probability.is_none(), "{bound}");
        let noisy = IntegratedBounds::new(covered(), target).unwrap();
        let expected = 1.5 + (80.0 * (3.0 + 10.0_f64.ln())).sqrt();
        assert!((noisy.width(3.0).unwrap() - expected).abs() < 1e-9);
        assert_eq!(noisy.instant(3.0, 5.0).unwrap().value, 4.0, "no more than the range allows");
        let fixed = Setting { width: Width::Fixed(3.0), ..covered() };
        assert!(IntegratedBounds::new(fixed, target).is_err());
    }
}
