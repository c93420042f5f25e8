//! <What the strategy is, in one sentence, with its reference.>

use super::{Evidence, Memory, Strategy};
use crate::domain::Domain;
use crate::error::Result;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::SearchSpace;

/// Settings of <the strategy>.
#[derive(Debug, Clone, PartialEq)]
pub struct Noun {}

impl Strategy for Noun {
    fn name(&self) -> &'static str {
        "noun"
    }

    fn check(&self, space: &SearchSpace) -> Result<()> {}

    fn propose(&self, evidence: Evidence<'_>, batch_size: usize, seed: Seed, memory: &mut Memory) -> Result<Points> {
        // Draw from seed.stream("noun", history.len() + pending.len()); end with Domain::settle.
    }
}
