//! The relative density ratio (4): how much denser good points lie at x than all points.
//!
//! ```text
//! ρ_γ(x) = ℓ(x) / (γ ℓ(x) + (1 - γ) g(x)),      ℓ(x) = p(x | y ≤ τ),   g(x) = p(x | y > τ),   γ = p(y ≤ τ)
//! ```
//!
//! By Bayes' rule γ ℓ(x) = π(x) p(x) and (1 - γ) g(x) = (1 - π(x)) p(x), so that ρ_γ(x) = π(x)/γ (5), which is proportional
//! to expected improvement where p(x | y) is the same for all y ≤ τ. It lies between 0 and 1/γ.

use crate::error::{Error, Result};

use super::confidence::check_not_negative;

/// ρ_γ from the two densities at a point (4); γ = 0 gives the ordinary ratio ℓ/g.
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

/// ρ_γ = π/γ from a class probability (5).
pub fn density_ratio(probability: f64, fraction: f64) -> Result<f64> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(Error::invalid("class probability", probability, "between 0 and 1"));
    }
    if !(fraction > 0.0 && fraction <= 1.0) {
        return Err(Error::invalid("fraction", fraction, "positive and at most 1"));
    }
    Ok(probability / fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};

    #[test]
    fn both_forms_agree_on_random_finite_sets() {
        let mut rng = Seed(4).stream("density ratio", 0);
        for _ in 0..500 {
            let n = 7;
            let draw = |rng: &mut _| (0..n).map(|_| uniform(rng)).collect::<Vec<f64>>();
            let (prior, class) = (draw(&mut rng), draw(&mut rng));
            let mass: f64 = prior.iter().sum();
            let fraction: f64 = prior.iter().zip(&class).map(|(p, c)| p / mass * c).sum();
            for (p, class) in prior.iter().zip(&class) {
                let p = p / mass;
                let (good, bad) = (class * p / fraction, (1.0 - class) * p / (1.0 - fraction));
                let by_densities = relative_density_ratio(good, bad, fraction).unwrap();
                let by_class = density_ratio(*class, fraction).unwrap();
                assert!((by_densities - by_class).abs() < 1e-9 * (1.0 + by_class));
                assert!(by_class <= 1.0 / fraction + 1e-12);
            }
        }
        assert_eq!(relative_density_ratio(3.0, 2.0, 0.0).unwrap(), 1.5);
    }

    #[test]
    fn impossible_densities_are_refused() {
        assert!(relative_density_ratio(-1.0, 1.0, 0.5).is_err());
        assert!(relative_density_ratio(0.0, 0.0, 0.5).is_err());
        assert!(relative_density_ratio(1.0, 1.0, 1.5).is_err());
        assert!(density_ratio(0.5, 0.0).is_err() && density_ratio(1.5, 0.5).is_err());
    }
}
