//! How many trials are queued, running and finished. A store keeps the numbers with the study, so that reading them costs
//! the same at any size.

use serde::{Deserialize, Serialize};

use wimble::outcome::Outcome;

use crate::trial::State;

/// Trials by stage and outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Waiting for a worker.
    pub queued: u64,
    /// Being evaluated.
    pub running: u64,
    /// Evaluated in part, to be continued or left.
    #[serde(default)]
    pub paused: u64,
    /// Finished with a value.
    pub valued: u64,
    /// Finished as failed.
    pub failed: u64,
    /// Finished as infeasible: the configuration cannot be evaluated.
    pub infeasible: u64,
    /// How many of all these were evaluated elsewhere and imported.
    pub imported: u64,
}

impl Counts {
    /// Trials with an outcome.
    pub fn finished(&self) -> u64 {
        self.valued + self.failed + self.infeasible
    }

    /// All trials.
    pub fn total(&self) -> u64 {
        self.queued + self.running + self.paused + self.finished()
    }

    /// Counts a trial in this state.
    pub(crate) fn enter(&mut self, state: &State) {
        *self.place(state) += 1;
    }

    /// Counts a trial in this state no longer.
    pub(crate) fn leave(&mut self, state: &State) {
        let place = self.place(state);
        *place = place.saturating_sub(1);
    }

    fn place(&mut self, state: &State) -> &mut u64 {
        match state {
            State::Queued(_) => &mut self.queued,
            State::Running(_) => &mut self.running,
            State::Paused(_) => &mut self.paused,
            State::Finished(finish) => match finish.outcome {
                Outcome::Measured(_) => &mut self.valued,
                Outcome::Failed(_) => &mut self.failed,
                Outcome::Infeasible => &mut self.infeasible,
            },
        }
    }
}
