//! Random search: legal configurations drawn uniformly, none twice.

use super::{Evidence, Memory, Strategy};
use crate::domain::Domain;
use crate::error::Result;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::SearchSpace;

/// Random search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Random;

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn check(&self, _: &SearchSpace) -> Result<()> {
        Ok(())
    }

    fn propose(
        &self,
        evidence: Evidence<'_>,
        batch_size: usize,
        seed: Seed,
        _: &mut Memory,
    ) -> Result<Points> {
        let Evidence { space, history, pending } = evidence;
        let domain = Domain {
            space,
            taken: history.taken(),
            pending,
            incumbents: &Points::new(space.dim()),
        };
        domain
            .sample(batch_size, &mut seed.stream("random", (history.len() + pending.len()) as u64))
    }
}
