//! The function as a tool meets it: initial points and noisy values, the same for every tool of a seed.

use serde::{Deserialize, Serialize};
use wimble::seed::Seed;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble_problems::Problem;

use crate::error::{Error, Result};

/// How far outside the domain a coordinate may be by a tool's rounding, as a part of the width.
const ROUNDING: f64 = 1e-9;

/// A problem under a seed.
#[derive(Debug)]
pub struct Oracle {
    problem: Box<dyn Problem>,
    seed: u64,
    evaluations: usize,
    best: Best,
}

#[derive(Debug)]
struct Best {
    /// Least regret of all points.
    regret: f64,
    /// Least value observed, and the regret of its point.
    value: f64,
    value_regret: f64,
}

/// What comes of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What the tool is told.
    pub value: f64,
    /// The true value above the minimum, which the tool is not told.
    pub regret: f64,
}

impl Oracle {
    /// The problem of this name under this seed.
    pub fn new(problem: &str, seed: u64) -> Result<Self> {
        let best =
            Best { regret: f64::INFINITY, value: f64::INFINITY, value_regret: f64::INFINITY };
        Ok(Self { problem: wimble_problems::problem(problem)?, seed, evaluations: 0, best })
    }

    /// The problem.
    pub fn problem(&self) -> &dyn Problem {
        self.problem.as_ref()
    }

    /// The search space: x1, x2, … in the problem's own units.
    pub fn space(&self) -> Result<SearchSpace> {
        let sides = self.problem.domain().iter().enumerate();
        let sides = sides.map(|(k, &(low, high))| Dimension::real(coordinate(k), low, high));
        Ok(SearchSpace::new(sides)?)
    }

    /// The first `count` initial points.
    pub fn initial(&self, count: usize) -> Result<Vec<Vec<f64>>> {
        let space = self.space()?;
        let mut rng = Seed(self.seed).stream("initial points", 0);
        Ok((0..count).map(|_| self.point(&space.decode(&space.sample(&mut rng)))).collect())
    }

    /// The coordinates of a configuration of [`space`](Self::space).
    pub fn point(&self, configuration: &Configuration) -> Vec<f64> {
        let value = |k| match configuration.get(&coordinate(k)) {
            Some(&Value::Real(x)) => x,
            other => unreachable!("the space has real dimensions only, not {other:?}"),
        };
        (0..self.problem.dim()).map(value).collect()
    }

    /// The configuration of [`space`](Self::space) with these coordinates.
    pub fn configuration(&self, x: &[f64]) -> Configuration {
        x.iter().enumerate().map(|(k, &x)| (coordinate(k), Value::Real(x))).collect()
    }

    /// Evaluates the next point.
    pub fn observe(&mut self, x: &[f64]) -> Result<Observation> {
        let x = self.inside(x)?;
        let value = self.problem.observe(&x, self.seed, self.evaluations as u64);
        // Rounding may put a value an ulp below the known minimum.
        let regret = (self.problem.evaluate(&x) - self.problem.minimum()).max(0.0);
        self.evaluations += 1;
        self.best.regret = self.best.regret.min(regret);
        if value < self.best.value {
            (self.best.value, self.best.value_regret) = (value, regret);
        }
        Ok(Observation { value, regret })
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The least regret of all points so far.
    pub fn simple_regret(&self) -> f64 {
        self.best.regret
    }

    /// The regret of the point with the least observed value.
    pub fn incumbent_regret(&self) -> f64 {
        self.best.value_regret
    }

    /// `x` in the domain, on its face where rounding left it.
    fn inside(&self, x: &[f64]) -> Result<Vec<f64>> {
        if x.len() != self.problem.dim() {
            return Err(Error::Point {
                problem: self.problem.name(),
                reason: format!("it has {} coordinates, not {}", x.len(), self.problem.dim()),
            });
        }
        let checked =
            x.iter().zip(self.problem.domain()).enumerate().map(|(k, (&x, &(low, high)))| {
                let slack = ROUNDING * (high - low);
                if (low - slack..=high + slack).contains(&x) {
                    return Ok(x.clamp(low, high));
                }
                Err(Error::Point {
                    problem: self.problem.name(),
                    reason: format!("{} is {x}, but must be from {low} to {high}", coordinate(k)),
                })
            });
        checked.collect()
    }
}

fn coordinate(k: usize) -> String {
    format!("x{}", k + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_points_and_noise_and_the_regret_is_true() {
        let run = |seed| {
            let mut oracle = Oracle::new("levy-3+shifted+noise-10", seed).unwrap();
            let points = oracle.initial(5).unwrap();
            let seen: Vec<Observation> =
                points.iter().map(|x| oracle.observe(x).unwrap()).collect();
            (points, seen, oracle)
        };
        let (points, seen, oracle) = run(3);
        assert_eq!((points.clone(), seen.clone()), (run(3).0, run(3).1));
        assert_ne!(points, run(4).0);
        for (x, seen) in points.iter().zip(&seen) {
            assert_eq!(seen.regret, oracle.problem().evaluate(x));
            assert_ne!(seen.regret, seen.value);
        }
        let least = seen.iter().map(|seen| seen.regret).fold(f64::INFINITY, f64::min);
        assert_eq!(oracle.simple_regret(), least);
        let incumbent = seen.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
        assert_eq!(oracle.incumbent_regret(), incumbent.regret);
        assert_eq!(oracle.evaluations(), 5);
    }

    #[test]
    fn points_outside_are_refused_and_rounding_is_not() {
        let mut oracle = Oracle::new("branin", 0).unwrap();
        let error = oracle.observe(&[0.0]).unwrap_err().to_string();
        assert!(error.contains("it has 1 coordinates, not 2"), "{error}");
        let error = oracle.observe(&[0.0, 15.1]).unwrap_err().to_string();
        assert!(error.contains("x2 is 15.1, but must be from 0 to 15"), "{error}");
        assert!(oracle.observe(&[f64::NAN, 1.0]).is_err());
        assert_eq!(oracle.evaluations(), 0);
        let face = oracle.observe(&[0.0, 15.0]).unwrap();
        assert_eq!(oracle.observe(&[0.0, 15.0 + 1e-12]).unwrap(), face);
    }
}
