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
//! Theorem 1 (R = B/2, see `confidence.rs`) and x_t the maximiser of m̂ + βσ,
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
use super::confidence::{Confidence, check_not_negative, check_positive};
use super::normal;
use super::run::Run;
use super::setting::{Choice, Setting, given};

impl Setting {
    /// q for Gaussian noise, or none: the least P(τ - B < v + ε ≤ τ) for v in [`lowest`, `highest`]. The probability is
    /// unimodal in v, so that the least is at one end.
    ///
    /// - `noise_deviation`: the standard deviation of the noise; 0 for none.
    /// - `threshold`, `range`: τ, the highest threshold, and B > 0.
    /// - `[lowest, highest]`: the range of f.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// // Without noise every value lies among the thresholds, or some do not.
    /// assert_eq!(Setting::gaussian_least_mass(0.0, 1.0, 1.0, [0.1, 0.8])?, 1.0);
    /// assert!(Setting::gaussian_least_mass(0.0, 1.0, 1.0, [0.1, 1.2]).is_err());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or the least probability is 0.
    pub fn gaussian_least_mass(
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

    /// The width β of the integrated target at an information gain: R = B/2 in Theorem 1, and b where there is no noise.
    ///
    /// # Errors
    /// If a number is out of range, the confidence is no level, or B was not given.
    pub fn integrated_width(&self, information_gain: f64) -> Result<f64> {
        self.check()?;
        check_not_negative("information gain", information_gain)?;
        let noise = 0.5 * self.thresholds_range()?;
        match self.confidence {
            Confidence::Width(width) => {
                Err(Error::invalid("confidence width", width, "that of a level"))
            }
            Confidence::Level { norm_bound, .. } if !self.noisy => Ok(norm_bound),
            Confidence::Level { .. } => {
                self.shared_confidence().width(noise, self.ridge, information_gain)
            }
        }
    }

    /// One round of BORE++ on the integrated target, with noise or without: r_t ≤ 2 β_{t-1} σ_{t-1}(x_t) / q. The norm bound of
    /// [`confidence`](Self::confidence) is that of m.
    ///
    /// - `information_gain`: γ_{t-1}, before the round.
    /// - `chosen_deviation`: σ_{t-1}(x_t) at the chosen point.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let known = Setting { noisy: false, range: Some(2.0), least_mass: Some(0.5), ..Setting::default() };
    /// let bound = known.integrated_instant(3.0, 0.1)?;
    /// // β = b = 1 without noise, and nothing is left to chance.
    /// assert!((bound.value - 2.0 * 1.0 * 0.1 / 0.5).abs() < 1e-12);
    /// assert!(bound.is_proven() && bound.failure_probability.is_none());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`integrated_width`](Self::integrated_width), or if q was not given.
    pub fn integrated_instant(
        &self,
        information_gain: f64,
        chosen_deviation: f64,
    ) -> Result<Bound> {
        check_not_negative("deviation at the chosen point", chosen_deviation)?;
        let gap = 2.0 * self.integrated_width(information_gain)? * chosen_deviation;
        self.integrated(Subject::IntegratedInstant, gap, 1.0)
    }

    /// All rounds of BORE++ on the integrated target: R_T ≤ (2 β_T / q) √(2 T s γ_T / ln(1 + s/λ)).
    ///
    /// # Errors
    /// As [`integrated_instant`](Self::integrated_instant).
    pub fn integrated_cumulative(&self, run: &Run) -> Result<Bound> {
        let width = self.integrated_width(run.information_gain)?;
        let sum = self.deviation_sum(run.rounds, run.information_gain);
        let subject = Subject::IntegratedCumulative { rounds: run.rounds };
        self.integrated(subject, 2.0 * width * sum, run.rounds as f64)
    }

    fn integrated(&self, subject: Subject, gap: f64, rounds: f64) -> Result<Bound> {
        let least_mass =
            given(self.least_mass, "the least probability of a value among the thresholds")?;
        let trivial = rounds * self.thresholds_range()? / least_mass;
        let mut assumptions = Vec::new();
        if let Confidence::Level { norm_bound, .. } = self.confidence {
            assumptions.push(Assumption::TargetNorm(norm_bound));
        }
        assumptions.push(Assumption::LeastMass(least_mass));
        if self.choice == Choice::Maximum {
            assumptions.push(Assumption::ExactMaximum);
        }
        let failure = self.confidence.failure_probability();
        Ok(Bound {
            subject,
            value: (gap / least_mass).min(trivial),
            trivial,
            // Without noise nothing is left to chance.
            failure_probability: failure.filter(|_| self.noisy),
            standing: self.tight_standing(subject),
            assumptions,
        })
    }

    /// B; an error if it was not given.
    fn thresholds_range(&self) -> Result<f64> {
        given(self.range, "the length of the interval of thresholds")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mass = Setting::gaussian_least_mass(noise, threshold, range, [v, v]).unwrap();
            assert!((slope + mass).abs() < 1e-5, "{v}: {slope} {mass}");
        }
    }

    #[test]
    fn the_least_mass_is_at_an_end_and_stays_as_noise_vanishes() {
        for noise in [0.0, 1e-6, 0.01, 0.2, 2.0] {
            let least = Setting::gaussian_least_mass(noise, 1.0, 1.0, [0.1, 0.8]).unwrap();
            for v in (0..=70).map(|i| 0.1 + 0.01 * f64::from(i)) {
                assert!(
                    Setting::gaussian_least_mass(noise, 1.0, 1.0, [v, v]).unwrap() >= least - 1e-12,
                    "{noise}"
                );
            }
            assert!(noise > 0.05 || least > 0.999, "{noise}: {least}");
        }
        assert!(Setting::gaussian_least_mass(0.0, 1.0, 1.0, [0.1, 1.2]).is_err());
        assert!(Setting::gaussian_least_mass(0.1, 1.0, 1.0, [0.3, 0.2]).is_err());
        for range in [[f64::NAN, 0.2], [0.1, f64::NAN]] {
            assert!(Setting::gaussian_least_mass(0.1, 1.0, 1.0, range).is_err());
        }
    }

    #[test]
    fn without_noise_the_width_is_the_norm_and_nothing_is_left_to_chance() {
        let confidence = Confidence::Level { failure_probability: 0.1, norm_bound: 1.5 };
        let known =
            Setting { confidence, range: Some(2.0), least_mass: Some(0.5), ..Setting::default() };
        let bound = Setting { noisy: false, ..known }.integrated_instant(3.0, 0.1).unwrap();
        assert!((bound.value - 2.0 * 1.5 * 0.1 / 0.5).abs() < 1e-12);
        assert!(bound.standing.is_proven() && bound.failure_probability.is_none(), "{bound}");
        let expected = 1.5 + (80.0 * (3.0 + 10.0_f64.ln())).sqrt();
        assert!((known.integrated_width(3.0).unwrap() - expected).abs() < 1e-9);
        let most = known.integrated_instant(3.0, 5.0).unwrap();
        assert_eq!(most.value, 2.0 / 0.5, "no more than the range allows");
        assert_eq!(most.failure_probability, Some(0.1));
        let fixed = Setting { confidence: Confidence::Width(3.0), ..known };
        assert!(fixed.integrated_instant(3.0, 0.1).is_err());
        for missing in [Setting { range: None, ..known }, Setting { least_mass: None, ..known }] {
            let error = missing.integrated_cumulative(&Run::new(9, 2.0)).unwrap_err().to_string();
            assert!(error.contains("thresholds"), "{error}");
        }
        let expected =
            2.0 * known.integrated_width(2.0).unwrap() * known.deviation_sum(9, 2.0) / 0.5;
        let sum = known.integrated_cumulative(&Run::new(9, 2.0)).unwrap();
        assert_eq!(sum.value, expected.min(36.0));
        let quiet =
            Setting { noisy: false, ..known }.integrated_cumulative(&Run::new(9, 2.0)).unwrap();
        let expected = 2.0 * 1.5 * known.deviation_sum(9, 2.0) / 0.5;
        assert!((quiet.value - expected).abs() < 1e-12 && quiet.is_informative(), "{quiet}");
        assert!(quiet.assumptions.contains(&Assumption::ExactMaximum));
        let searched = Setting { choice: Choice::ApproximateMaximum, ..known };
        let searched = searched.integrated_instant(3.0, 0.1).unwrap();
        assert!(!searched.assumptions.contains(&Assumption::ExactMaximum));
    }
}
