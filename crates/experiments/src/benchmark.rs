//! Functions with known minima as objectives: Figures 2 and E.1 (paper, appendices D.2 and E), and the comparison.
//!
//! The regret is that of the function itself, without noise.

use wimble::internals::{normal, uniform};
use wimble::seed::Rng;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble_problems::Problem;

use crate::error::{Error, Result};
use crate::objective::{Noise, Objective, Observation};

/// A function of `wimble-problems`, with Gaussian noise beside what its name asks for.
pub struct Benchmark {
    problem: Box<dyn Problem>,
    noise_variance: f64,
}

impl Benchmark {
    /// The function of this name.
    pub fn new(name: &str, noise_variance: f64) -> Result<Self> {
        Ok(Self { problem: wimble_problems::problem(name)?, noise_variance })
    }
}

/// The name of a coordinate: x1, x2, …
fn axis(k: usize) -> String {
    format!("x{}", k + 1)
}

impl Objective for Benchmark {
    fn space(&self) -> Result<SearchSpace> {
        let sides = self.problem.domain().iter().enumerate();
        let sides = sides.map(|(k, &(low, high))| Dimension::real(axis(k), low, high));
        Ok(SearchSpace::new(sides)?)
    }

    fn observe(&self, configuration: &Configuration, noise: Noise) -> Result<Observation> {
        let coordinate = |k| {
            configuration.get(&axis(k)).and_then(Value::as_real).ok_or_else(|| Error::Point {
                problem: self.problem.name(),
                reason: format!("{} is no number", axis(k)),
            })
        };
        let x = (0..self.problem.dim()).map(coordinate).collect::<Result<Vec<f64>>>()?;
        let seen = self.problem.observe(&x, noise.seed.0, noise.number);
        // Rounding may put a value an ulp below the known minimum.
        let regret = (self.problem.evaluate(&x) - self.problem.minimum()).max(0.0);
        let told = seen + gaussian(self.noise_variance, &mut noise.stream());
        Ok(Observation { told, regret, others: Vec::new() })
    }
}

/// Gaussian noise.
pub(crate) fn gaussian(variance: f64, rng: &mut Rng) -> f64 {
    if variance == 0.0 {
        return 0.0;
    }
    // Away from 0, where the quantile is infinite.
    variance.sqrt() * normal::quantile(uniform(rng).max(f64::EPSILON))
}

#[cfg(test)]
mod tests {
    use wimble::seed::Seed;

    use super::*;

    #[test]
    fn the_noise_is_told_and_the_regret_is_true() {
        let name = "levy-3+shifted+noise-10";
        let objective = Benchmark::new(name, 0.0).unwrap();
        let problem = wimble_problems::problem(name).unwrap();
        let x = [0.5, -1.0, 2.0];
        let configuration: Configuration =
            x.iter().enumerate().map(|(k, &x)| (axis(k), Value::Real(x))).collect();
        let noise = Noise { seed: Seed(3), number: 7 };
        let seen = objective.observe(&configuration, noise).unwrap();
        assert_eq!(seen.regret, problem.evaluate(&x) - problem.minimum());
        assert_eq!(seen.told, problem.observe(&x, 3, 7));
        assert_ne!(seen.told, problem.observe(&x, 3, 8));
        let noisier = Benchmark::new(name, 1.0).unwrap().observe(&configuration, noise).unwrap();
        assert_eq!(noisier.told, seen.told + gaussian(1.0, &mut noise.stream()));
        let missing = objective.observe(&Configuration::new(), noise).unwrap_err().to_string();
        assert!(missing.contains("x1 is no number"), "{missing}");
    }
}
