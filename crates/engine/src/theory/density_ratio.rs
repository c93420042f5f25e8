//! The relative density ratio (4): how much denser good points lie at x than all points.
//!
//! ```text
//! ρ_γ(x) = ℓ(x) / (γ ℓ(x) + (1 - γ) g(x)),      ℓ(x) = p(x | y ≤ τ),   g(x) = p(x | y > τ),   γ = p(y ≤ τ)
//! ```
//!
//! By Bayes' rule γ ℓ(x) = π(x) p(x) and (1 - γ) g(x) = (1 - π(x)) p(x), so that ρ_γ(x) = π(x)/γ (5), which is proportional
//! to expected improvement where p(x | y) is the same for all y ≤ τ. It lies between 0 and 1/γ.

use crate::error::{Error, Result};
use crate::labels::Labels;

use super::confidence::check_not_negative;

impl Labels<'_> {
    /// The relative density ratio ρ_γ(x) = π(x)/γ (5): how much denser good trials lie at x than all trials, where γ is the share of
    /// good ones among the labels.
    ///
    /// `probability` is π(x), between 0 and 1.
    ///
    /// ```
    /// use wimble::history::History;
    /// use wimble::labels::Threshold;
    ///
    /// let mut history = History::new(1);
    /// for (x, y) in [(0.1, 1.0), (0.2, 2.0), (0.6, 3.0), (0.9, 4.0)] {
    ///     history.push(&[x], wimble::outcome::Outcome::from(y))?;
    /// }
    /// let labels = Threshold::Fixed { value: 1.5 }.label(history.points(), history.objective());
    /// let labels = labels.expect("there are values");
    /// // A quarter is good: where π is 1, good trials are four times as dense as all.
    /// assert_eq!(labels.density_ratio(1.0)?, 4.0);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If π is no probability, or no trial is good.
    pub fn density_ratio(&self, probability: f64) -> Result<f64> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(Error::invalid("class probability", probability, "between 0 and 1"));
        }
        let fraction = self.good() as f64 / self.len().max(1) as f64;
        if fraction == 0.0 {
            return Err(Error::invalid("number of good trials", 0, "at least 1"));
        }
        Ok(probability / fraction)
    }

    /// ρ_γ = ℓ/(γℓ + (1 - γ)g) from the two densities at a point (4); γ = 0 gives the ordinary ratio ℓ/g.
    ///
    /// - `good`, `bad`: ℓ and g, the densities of good and of bad trials, not negative.
    /// - `fraction`: γ, the share of good trials, between 0 and 1.
    ///
    /// ```
    /// use wimble::labels::Labels;
    ///
    /// assert_eq!(Labels::relative_density_ratio(3.0, 2.0, 0.0)?, 1.5);
    /// assert_eq!(Labels::relative_density_ratio(3.0, 1.0, 0.5)?, 1.5);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a density is negative, γ is no share, or both densities are 0.
    pub fn relative_density_ratio(good: f64, bad: f64, fraction: f64) -> Result<f64> {
        check_not_negative("density of the good", good)?;
        check_not_negative("density of the bad", bad)?;
        if !(0.0..=1.0).contains(&fraction) {
            return Err(Error::invalid("fraction", fraction, "between 0 and 1"));
        }
        let mixture = fraction * good + (1.0 - fraction) * bad;
        if mixture == 0.0 {
            return Err(Error::invalid("density of all points", 0, "positive"));
        }
        Ok(good / mixture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::labels::Threshold;
    use crate::outcome::Outcome;
    use crate::seed::{Seed, below};

    #[test]
    fn both_forms_agree_on_random_finite_sets() {
        let mut rng = Seed(4).stream("density ratio", 0);
        for _ in 0..100 {
            // Seven places; in each some trials are good and some are bad.
            let places: Vec<[usize; 2]> =
                (0..7).map(|_| [1 + below(&mut rng, 5), 1 + below(&mut rng, 9)]).collect();
            let mut history = History::new(1);
            for (i, counts) in places.iter().enumerate() {
                for (value, count) in [0.0, 1.0].into_iter().zip(counts) {
                    for _ in 0..*count {
                        history.push(&[i as f64], Outcome::from(value)).unwrap();
                    }
                }
            }
            let threshold = Threshold::Fixed { value: 0.5 };
            let labels = threshold.label(history.points(), history.objective()).unwrap();
            let total = |class: usize| places.iter().map(|counts| counts[class]).sum::<usize>();
            let (good, bad) = (total(0) as f64, total(1) as f64);
            let fraction = good / (good + bad);
            for counts in places {
                let [l, g] = [counts[0] as f64 / good, counts[1] as f64 / bad];
                let class = counts[0] as f64 / (counts[0] + counts[1]) as f64;
                let by_densities = Labels::relative_density_ratio(l, g, fraction).unwrap();
                let by_class = labels.density_ratio(class).unwrap();
                assert!((by_densities - by_class).abs() < 1e-12 * (1.0 + by_class));
                assert!(by_class <= 1.0 / fraction + 1e-12);
            }
        }
        assert_eq!(Labels::relative_density_ratio(3.0, 2.0, 0.0).unwrap(), 1.5);
    }

    #[test]
    fn impossible_densities_are_refused() {
        assert!(Labels::relative_density_ratio(-1.0, 1.0, 0.5).is_err());
        assert!(Labels::relative_density_ratio(0.0, 0.0, 0.5).is_err());
        assert!(Labels::relative_density_ratio(1.0, 1.0, 1.5).is_err());
        let mut history = History::new(1);
        history.push(&[0.0], Outcome::from(1.0)).unwrap();
        let label = |value| {
            Threshold::Fixed { value }.label(history.points(), history.objective()).unwrap()
        };
        assert!(label(0.0).density_ratio(0.5).is_err(), "nothing is good");
        assert!(label(1.0).density_ratio(1.5).is_err() && label(1.0).density_ratio(0.5).is_ok());
    }
}
