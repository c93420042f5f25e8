//! Random search: legal configurations drawn uniformly, none twice.

use serde::{Deserialize, Serialize};

use super::{Evidence, Memory, Strategy};
use crate::domain::Domain;
use crate::error::Result;
use crate::named::Named;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::SearchSpace;

/// Random search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "NoSettings", into = "NoSettings")]
pub struct Random;

/// How the absence of settings is written: as an empty table.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NoSettings {}

impl From<NoSettings> for Random {
    fn from(_: NoSettings) -> Self {
        Self
    }
}

impl From<Random> for NoSettings {
    fn from(_: Random) -> Self {
        Self {}
    }
}

impl Named for Random {
    const NAME: &'static str = "random";
    const DESCRIPTION: &'static str = "random search";
}

impl Strategy for Random {
    fn name(&self) -> &'static str {
        Self::NAME
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
