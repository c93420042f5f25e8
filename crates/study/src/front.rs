//! Which trials of a study stand out, kept up to date from its changes.
//!
//! A watch reads each change once, as a [`Follower`](crate::Follower) does, but keeps only what stands out: no points and no
//! model. Looking at the front of a study therefore waits for no proposal, and costs what happened since the last look.
//! The first look of a process reads the whole history.

use wimble::goal::Goal;
use wimble::outcome::Outcome;
use wimble::pareto::Hypervolume;
use wimble::standing::Standing;

use crate::error::{Error, Result};
use crate::follower::PAGE;
use crate::store::Reader;
use crate::trial::Trial;

/// The trials of a study that no other dominates, among those that meet all constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// The trials, best first by the first objective.
    pub trials: Vec<Trial>,
    /// The reference point of the hypervolume, as given with the objectives or else inferred from the front (see
    /// [`wimble::standing`]); empty if no trial is on the front.
    pub reference: Vec<f64>,
    /// The hypervolume between the front and the reference point.
    pub hypervolume: Hypervolume,
    /// The trials of the front that add nothing to it, because they are not better than the reference point in every
    /// objective: a given point may lie inside the front.
    pub beyond_reference: Vec<u64>,
}

/// What stands out up to a sequence number.
pub(crate) struct Watch {
    sequence: u64,
    standing: Standing,
}

impl Watch {
    /// At the beginning of a study.
    pub fn new(goal: Goal) -> Self {
        Self { sequence: 0, standing: Standing::new(goal) }
    }

    /// Reads what changed since it last looked.
    pub fn catch_up(&mut self, study: &str, store: &dyn Reader) -> Result<&Standing> {
        loop {
            let changes = store.changes_since(study, self.sequence, PAGE)?;
            for change in &changes {
                let trial = &change.trial;
                if let Some(Outcome::Measured(measurement)) = trial.outcome() {
                    self.standing.push(trial.id, measurement).map_err(|error| {
                        Error::corrupt(study, format!("trial {}", trial.id), error)
                    })?;
                }
                self.sequence = change.sequence();
            }
            if changes.len() < PAGE {
                return Ok(&self.standing);
            }
        }
    }
}
