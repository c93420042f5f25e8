//! An objective as one trial meets it: initial points and noise of its seed, and what was seen so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};

use crate::error::Result;
use crate::objective::{Noise, Objective, Observation};

/// An objective under a seed.
pub struct Oracle {
    objective: Arc<dyn Objective>,
    space: SearchSpace,
    seed: Seed,
    /// The number of the first observation's noise.
    first: u64,
    evaluations: usize,
    /// Least value told, and the regret of its point.
    incumbent: (f64, f64),
    /// The least of each quantity, the regret among them.
    least: BTreeMap<&'static str, f64>,
}

impl Oracle {
    /// The objective under this seed, its observations numbered from `first`. The records of the paper's figures number
    /// them from 1, those of the comparison from 0; both numbers are kept, so that old records and new ones agree.
    pub fn new(objective: Arc<dyn Objective>, seed: Seed, first: u64) -> Result<Self> {
        Ok(Self {
            space: objective.space()?,
            objective,
            seed,
            first,
            evaluations: 0,
            incumbent: (f64::INFINITY, f64::INFINITY),
            least: BTreeMap::new(),
        })
    }

    /// The search space.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// The initial points, without end: the same for every method.
    pub fn initial(&self) -> impl Iterator<Item = Configuration> + use<> {
        let space = self.space.clone();
        let mut rng = self.seed.stream("initial points", 0);
        std::iter::repeat_with(move || space.decode(&space.sample(&mut rng)))
    }

    /// Evaluates the next point, a configuration of the space.
    pub fn observe(&mut self, configuration: &Configuration) -> Result<Observation> {
        let number = self.first + self.evaluations as u64;
        let seen = self.objective.observe(configuration, Noise { seed: self.seed, number })?;
        self.evaluations += 1;
        if seen.told < self.incumbent.0 {
            self.incumbent = (seen.told, seen.regret);
        }
        let all = [("simple_regret", seen.regret)].into_iter().chain(seen.others.iter().copied());
        for (name, value) in all {
            let least = self.least.entry(name).or_insert(value);
            *least = least.min(value);
        }
        Ok(seen)
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The least so far of the regret (`simple_regret`, D.6) and of whatever else the objective shows.
    pub fn least(&self) -> &BTreeMap<&'static str, f64> {
        &self.least
    }

    /// The regret of the point with the least value told.
    pub fn incumbent_regret(&self) -> f64 {
        self.incumbent.1
    }

    /// The regret of a configuration, which does not count as an evaluation.
    pub fn regret(&self, configuration: &Configuration) -> Result<f64> {
        let noise = Noise { seed: self.seed, number: self.first };
        Ok(self.objective.observe(configuration, noise)?.regret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Benchmark;

    #[test]
    fn the_seed_decides_points_and_noise() {
        let run = |seed, first| {
            let objective = Arc::new(Benchmark::new("levy-3+shifted+noise-10", 0.0).unwrap());
            let mut oracle = Oracle::new(objective, Seed(seed), first).unwrap();
            let points: Vec<Configuration> = oracle.initial().take(5).collect();
            let seen: Vec<Observation> =
                points.iter().map(|x| oracle.observe(x).unwrap()).collect();
            (points, seen, oracle)
        };
        let (points, seen, oracle) = run(3, 0);
        assert_eq!((points.clone(), seen.clone()), (run(3, 0).0, run(3, 0).1));
        assert_ne!(points, run(4, 0).0);
        assert_ne!(seen[0].told, run(3, 1).1[0].told);
        let least = seen.iter().map(|seen| seen.regret).fold(f64::INFINITY, f64::min);
        assert_eq!(oracle.least()["simple_regret"], least);
        let incumbent = seen.iter().min_by(|a, b| a.told.total_cmp(&b.told)).unwrap();
        assert_eq!(oracle.incumbent_regret(), incumbent.regret);
        assert_eq!(oracle.evaluations(), 5);
        assert_eq!(oracle.regret(&points[2]).unwrap(), seen[2].regret);
    }
}
