//! What a trial minimises: a search space and a value for each of its configurations.

use wimble::seed::Rng;
use wimble::space::{Configuration, SearchSpace};

use crate::error::Result;

/// Something to be minimised.
pub trait Objective: Send + Sync {
    /// What may be chosen.
    fn space(&self) -> Result<SearchSpace>;

    /// What is seen at a configuration of the space. Where observations are random, `rng` decides.
    fn observe(&self, configuration: &Configuration, rng: &mut Rng) -> Result<Observation>;
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
