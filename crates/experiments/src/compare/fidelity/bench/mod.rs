//! Trainings that can be carried out in part, and what a search for the best of them has reached.

pub(super) mod lcbench;
pub(super) mod mnist;
pub(super) mod taskset;

use wimble::points::Points;
use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};

use crate::error::Result;

/// A task: configurations that can be trained.
pub(super) trait Bench: Send + Sync {
    /// The configurations.
    fn space(&self) -> &SearchSpace;

    /// Units of a whole training.
    fn high(&self) -> usize;

    /// What is measured after each unit; lower is better.
    fn objectives(&self) -> &'static [&'static str] {
        &["loss"]
    }

    /// A training from its beginning. Its randomness, if it has any, follows from the seed.
    fn begin<'b>(
        &'b self,
        configuration: &Configuration,
        seed: Seed,
    ) -> Result<Box<dyn Training + 'b>>;

    /// The score of what was seen; lower is better.
    fn score(&self, seen: &Seen) -> Result<f64>;

    /// What the training of a configuration ends with, where that is known and is one number. Infinite if it diverges.
    fn end(&self, configuration: &Configuration) -> Result<Option<f64>>;
}

/// A training that goes on unit by unit.
pub(super) trait Training {
    /// What is measured after one more unit; `None` if the training diverged.
    fn next(&mut self) -> Result<Option<Vec<f64>>>;
}

/// What a search has seen.
pub(super) struct Seen {
    /// The lowest value of the first objective, at any fidelity.
    pub(super) lowest: f64,
    /// The values of whole trainings.
    pub(super) whole: Points,
}
