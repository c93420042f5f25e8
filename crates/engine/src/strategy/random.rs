//! Random search: legal configurations drawn uniformly, none twice.

use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::error::Result;
use crate::goal::Goal;
use crate::points::Points;
use crate::space::SearchSpace;

/// Random search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Random;

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn check(&self, _: &SearchSpace, _: &Goal) -> Result<()> {
        Ok(())
    }

    fn propose(&self, evidence: Evidence<'_>, batch_size: usize, _: &mut Memory) -> Result<Points> {
        place(evidence, batch_size, "random", Initial::All, |opening| {
            Ok(Points::new(opening.evidence.space.dim()))
        })
    }
}
