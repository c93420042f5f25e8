//! Functions with known minima as objectives: Figures 2 and E.1 (paper, appendices D.2 and E).
//!
//! The regret is that of the function itself, without noise.

use wimble::seed::{Rng, uniform};
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble::theory::normal;
use wimble_problems::Problem;

use crate::error::Result;
use crate::objective::{Objective, Observation};

/// A function with Gaussian noise.
pub struct Benchmark {
    problem: Box<dyn Problem>,
    names: Vec<String>,
    noise_variance: f64,
}

impl Benchmark {
    /// The function of this name.
    pub fn new(name: &str, noise_variance: f64) -> Result<Self> {
        let problem = wimble_problems::problem(name)?;
        let names = (1..=problem.dim()).map(|k| format!("x{k}")).collect();
        Ok(Self { problem, names, noise_variance })
    }
}

impl Objective for Benchmark {
    fn space(&self) -> Result<SearchSpace> {
        let sides = self.names.iter().zip(self.problem.domain());
        let sides = sides.map(|(name, &(low, high))| Dimension::real(name, low, high));
        Ok(SearchSpace::new(sides)?)
    }

    fn observe(&self, configuration: &Configuration, rng: &mut Rng) -> Result<Observation> {
        let coordinate = |name: &String| match configuration.get(name) {
            Some(&Value::Real(x)) => x,
            other => unreachable!("the space has real dimensions only, not {other:?}"),
        };
        let x: Vec<f64> = self.names.iter().map(coordinate).collect();
        let value = self.problem.evaluate(&x);
        // Rounding may put a value an ulp below the known minimum.
        let regret = (value - self.problem.minimum()).max(0.0);
        let told = value + gaussian(self.noise_variance, rng);
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
