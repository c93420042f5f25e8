//! What a trial minimises: a search space and a value for each of its configurations.

use wimble::seed::{Rng, Seed};
use wimble::space::{Configuration, SearchSpace};

use crate::error::Result;

/// Something to be minimised.
pub trait Objective: Send + Sync {
    /// What may be chosen.
    fn space(&self) -> Result<SearchSpace>;

    /// What is seen at a configuration of the space. Where observations are random, `noise` decides.
    fn observe(&self, configuration: &Configuration, noise: Noise) -> Result<Observation>;
}

/// The random part of one observation: it depends on the seed and the observation's number alone, so that every method
/// meets the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    /// The seed of the trial.
    pub seed: Seed,
    /// The number of the observation.
    pub number: u64,
}

impl Noise {
    /// Random numbers of this observation.
    pub fn stream(self) -> Rng {
        self.seed.stream("observation noise", self.number)
    }
}

/// What is seen at a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The value that the method is told.
    pub told: f64,
    /// How far the configuration is from the best one; see the objective.
    pub regret: f64,
    /// Further quantities by name, of which the least so far is recorded.
    pub others: Vec<(&'static str, f64)>,
}
