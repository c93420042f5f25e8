//! <What the rule does, in one sentence, with the equation it comes from.>
//!
//! Cost: <…>. Fails with <…>.

use serde::{Deserialize, Serialize};

use super::BatchRule;
use crate::acquisition::Acquisition; // or SmoothAcquisition, if the rule needs gradients
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::Rng;

/// Settings of <the rule>.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Noun {
    /// <What it is; where its default comes from.>
    pub steps: usize,
}

impl<A: Acquisition + ?Sized> BatchRule<A> for Noun {
    fn choose(&self, acquisition: &A, domain: &Domain<'_>, batch_size: usize, rng: &mut Rng) -> Result<Points> {
        // Points anywhere in the cube: Domain::settle makes them legal and distinct.
    }

    fn check(&self) -> Result<()> {
        if self.steps == 0 {
            return Err(Error::invalid("noun steps", self.steps, "at least 1"));
        }
        Ok(())
    }
}
