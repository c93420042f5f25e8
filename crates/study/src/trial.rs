//! A trial and its life: queued, running under a lease, finished.
//!
//! ```text
//! proposed ──▶ queued ──claim──▶ running ──tell──▶ finished
//!                ▲                │ │ ▲ │
//!                └────released────┘ └─┘ └──lost once too often──▶ finished: failed
//!                                lost: another worker takes it
//! running ──pause──▶ paused ──continue──▶ running
//! ```
//! A trial of a study with a fidelity may be paused below the highest one, and continued later from its checkpoint.

use std::fmt;

use serde::{Deserialize, Serialize};
use wimble::goal::Goal;
use wimble::outcome::Outcome;
use wimble::session::Best;
use wimble::space::Configuration;

use crate::attributes::Attributes;
use crate::clock::Timestamp;

/// Where a trial comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The method proposed it.
    Proposed,
    /// A user put it into the queue.
    Enqueued,
    /// It was evaluated elsewhere.
    Imported,
}

impl Origin {
    pub(crate) const ALL: [Self; 3] = [Self::Enqueued, Self::Imported, Self::Proposed];

    /// As it is stored. In alphabetical order, what users added comes first: the queue relies on it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Enqueued => "enqueued",
            Self::Imported => "imported",
            Self::Proposed => "proposed",
        }
    }
}

/// The right to tell one trial: a trial and a fencing number, which grows with every claim of the study.
///
/// Only the latest number given for a trial counts, whatever the clocks say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token {
    /// The trial.
    pub trial: u64,
    /// The fencing number, from 1.
    pub fence: u64,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.trial, self.fence)
    }
}

/// A trial given to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The trial's number, from 0 in the order of proposing.
    pub trial: u64,
    /// What to try.
    pub configuration: Configuration,
    /// The token to show when telling the outcome.
    pub token: Token,
    /// 1 at first, and one more each time that another worker took the trial over.
    pub attempt: u32,
    /// Up to which fidelity it is evaluated now; to the end if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// Where a trial is in its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It waits for a worker; if it was claimed before, why that ended.
    Queued(Option<Ended>),
    /// A worker evaluates it.
    Running(Lease),
    /// It was evaluated up to a fidelity below the highest, and may be continued.
    Paused(Pause),
    /// It has an outcome, which never changes.
    Finished(Finish),
}

/// Why a claim ended without an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// No heartbeat came in time. Only versions up to 0.1 returned such trials to the queue.
    RanOut,
    /// The worker gave it back.
    Released,
}

impl Ended {
    pub(crate) const ALL: [Self; 2] = [Self::RanOut, Self::Released];

    /// As it is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::RanOut => "ran-out",
            Self::Released => "released",
        }
    }
}

/// A worker's hold on a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The name of the worker that holds it.
    pub worker: String,
    /// Which process of that name holds it; `None` if whoever asked vouches for the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incarnation: Option<String>,
    /// The fencing number of its token.
    pub fence: u64,
    /// When it was claimed.
    pub since: Timestamp,
    /// From when on another worker may ask for the trial, unless a heartbeat comes first.
    pub due: Timestamp,
    /// From when on another worker may take the trial: set when one asks for it after `due`, cleared by a heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<Timestamp>,
}

impl Lease {
    /// Whether this worker holds it.
    pub(crate) fn is_of(&self, worker: &str, incarnation: Option<&str>) -> bool {
        self.worker == worker && self.incarnation.as_deref() == incarnation
    }

    /// A sign of life. A clock that was set back must not shorten what was promised.
    pub(crate) fn renew(&mut self, now: Timestamp, length: std::time::Duration) {
        self.due = self.due.max(now.after(length));
        self.notice = None;
    }
}

/// The end of a part of an evaluation that may go on later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When.
    pub at: Timestamp,
    /// The lease under which it was evaluated last.
    pub lease: Lease,
    /// The sequence number of the study's latest step at that time.
    #[serde(default)]
    pub after_step: u64,
}

/// The end of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// What came of it.
    pub outcome: Outcome,
    /// What was told beside it.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// When.
    pub at: Timestamp,
    /// The lease under which it was told or, where it was never told, lost for the last time. An imported trial
    /// has one of fencing number 0, which no token has.
    pub lease: Lease,
    /// The client key of the tell; `None` where no worker told it here.
    pub key: Option<String>,
    /// The sequence number of the study's latest step at that time. Whoever reads steps and ends later puts them into the
    /// order in which they came.
    #[serde(default)]
    pub after_step: u64,
}

/// A trial as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, from 0 in the order of proposing.
    pub id: u64,
    /// What to try.
    pub configuration: Configuration,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it is in its life.
    pub state: State,
    /// How many of its workers were lost.
    pub lost: u32,
    /// The study's sequence number at its latest change of state.
    pub sequence: u64,
    /// When it was proposed.
    pub proposed: Timestamp,
    /// Up to which fidelity it is to be evaluated, or was last; to the end if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

impl Trial {
    /// Its outcome, if it is finished.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            State::Finished(finish) => Some(&finish.outcome),
            State::Queued(_) | State::Running(_) | State::Paused(_) => None,
        }
    }

    /// The trial as one that may be kept, if it has a value.
    pub fn into_best(self, goal: &Goal) -> Option<Best> {
        let (value, violating) = (self.outcome()?.value()?, self.is_violating(goal));
        let fidelity = self.outcome()?.measurement().and_then(|told| goal.part(told));
        let (trial, configuration) = (self.id, self.configuration);
        Some(Best { trial, configuration, value, violating, fidelity })
    }

    /// Whether it was measured and misses a constraint of the goal.
    pub fn is_violating(&self, goal: &Goal) -> bool {
        let measurement = self.outcome().and_then(Outcome::measurement);
        measurement.is_some_and(|measurement| goal.is_violated_by(measurement))
    }

    /// What was told beside its outcome, if it is finished.
    pub fn attributes(&self) -> Option<&Attributes> {
        match &self.state {
            State::Finished(finish) => Some(&finish.attributes),
            State::Queued(_) | State::Running(_) | State::Paused(_) => None,
        }
    }

    /// When its latest evaluation began, if it has one.
    pub fn started(&self) -> Option<Timestamp> {
        self.latest_lease().map(|lease| lease.since)
    }

    /// When it finished, if it did.
    pub fn finished(&self) -> Option<Timestamp> {
        match &self.state {
            State::Finished(finish) => Some(finish.at),
            State::Queued(_) | State::Running(_) | State::Paused(_) => None,
        }
    }

    /// The worker that runs it or ran it last, if any.
    pub fn worker(&self) -> Option<&str> {
        self.latest_lease().map(|lease| lease.worker.as_str())
    }

    fn latest_lease(&self) -> Option<&Lease> {
        match &self.state {
            State::Queued(_) => None,
            State::Running(lease) => Some(lease),
            State::Paused(pause) => Some(&pause.lease),
            State::Finished(finish) => Some(&finish.lease),
        }
    }

    /// Its lease, if it is running.
    pub fn lease(&self) -> Option<&Lease> {
        match &self.state {
            State::Running(lease) => Some(lease),
            State::Queued(_) | State::Paused(_) | State::Finished(_) => None,
        }
    }
}

/// A trial that changed: its state after the change numbered `trial.sequence`.
///
/// A trial that changed several times since a reader last looked appears once, as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Change {
    /// The trial.
    pub trial: Trial,
}

impl Change {
    /// The number of the change, which grows by one with every change of the study.
    pub fn sequence(&self) -> u64 {
        self.trial.sequence
    }
}
