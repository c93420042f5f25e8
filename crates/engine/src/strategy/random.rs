//! Random search: legal configurations drawn uniformly, none twice.

use serde::{Deserialize, Serialize};

use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::error::Result;
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;

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

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn propose(&self, evidence: Evidence, size: usize, _: &mut Memory) -> Result<Points> {
        place(evidence, size, "random", Initial::All, |opening| {
            Ok(Points::new(opening.evidence.space.dim()))
        })
    }
}
