//! Where studies are kept: the contract, and its back ends.
//!
//! # Contract
//! Every back end keeps every clause; `tests/contract/` holds each of them to it.
//!
//! **Studies.** A study has a unique name, and settings of which only the budget ever changes. It remembers the format
//! and the engine version that created it, and every engine version that proposed trials, with the first of them.
//! Deleting a study deletes its trials. If a study of the same name is created again, its fencing numbers continue where
//! the old ones ended, so that the new study honours no token of the old one.
//!
//! **Claims.** A running trial is held by exactly one worker, under a lease with a fencing token. Heartbeats renew the
//! lease. A lease that has expired ends at the next call that writes to the study, before that call does anything else: the
//! trial returns to the queue or, if it was lost more often than the retry limit allows, finishes as failed. From then on,
//! calls with the old token are refused, with the reason. A worker may also release a trial: it returns to the queue, and
//! that does not count as lost.
//!
//! **Time** comes from the store's own [`Clock`](crate::Clock), and decides only when a lease expires. Who holds a trial is
//! decided by its token: fencing numbers grow with every claim, and only the latest of a trial counts. If the clock jumps
//! back, leases last longer; if it jumps forwards, they end early. Neither gives a trial two holders.
//!
//! **Keys.** An ask that is repeated with the same client key gives the same claims and changes nothing. A tell that is
//! repeated with the same key, token, outcome and attributes is acknowledged again. A key that was used for something else
//! is refused. An ask that gave nothing leaves no trace. The answer to an ask is kept until all of its trials have been
//! finished for a day ([`ANSWERS_KEPT`]); a later ask then forgets it, and its key counts as new. `wanted` is how many
//! trials the worker wants to hold. Those that it holds already come first, under their tokens, so that a restarted worker
//! finds its own trials again. A worker key therefore belongs to one process at a time.
//!
//! **Additions** are trials that the method did not propose, each under a key that no other addition to the study has:
//! adding one again gives the number of its trial and changes nothing, and a key with something else is refused. One
//! call adds all or nothing. An addition without an outcome goes to the head of the queue. It counts against the budget,
//! but is run even if the budget is spent: the user asked for it. An addition with an outcome is finished from the start,
//! counts as imported, and does not count against the budget, which limits what is evaluated here.
//!
//! **Counts** and the best trials are kept, not computed: reading them costs the same at any size.
//!
//! **Durability.** What was acknowledged is not lost by killing any process (SQLite, PostgreSQL: nor by loss of power
//! or a crash of the server). Only heartbeats may be lost. A refused call changes nothing, except that expired leases
//! end. A call whose back end failed may be repeated with the same keys, whether or not it was done. Finished trials never
//! change.
//!
//! **Sequence.** Every change of a trial's state takes the study's next sequence number, in the order in which
//! changes become visible. [`Reader::changes_since`] gives each trial that changed after a number once, as it is now,
//! in order; who applies all of them in turn misses nothing. The order of the history is the order in which
//! trials finished, so that every reader arrives at the same one. Heartbeats are no changes.
//!
//! **Proposing** is optimistic. A model may run for seconds, and no transaction is open meanwhile: a store that runs
//! out of queued trials answers [`Reply::Propose`]; the asker reads the changes, proposes, and asks again with a
//! [`Proposal`] that says how many trials it knew of. If there are more by now, the proposal is dropped and the
//! answer is `Propose` again. Hence every proposal was made in sight of all pending points, and all points are
//! distinct. Whoever is refused lost to somebody who was served, and proposes again: there is no deadlock, and no
//! process that dies while it proposes holds up another. Points beyond those wanted wait in the queue, so that with a
//! batch size of M one asker in M proposes.

pub mod address;
mod checks;
mod columns;
pub mod memory;
pub mod postgres;
mod rows;
mod rules;
pub mod sqlite;

use std::time::Duration;

use wimble::outcome::Outcome;
use wimble::space::Configuration;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::counts::Counts;
use crate::diagnosis::Condition;
use crate::error::{Error, Result};
use crate::settings::Record;
use crate::trial::{Change, Claim, State, Token, Trial};

/// How long after the end of its last trial the answer to an ask is kept, at least.
pub const ANSWERS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// A worker's wish for trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The worker's own key.
    pub worker: &'a str,
    /// The key of this ask.
    pub key: &'a str,
    /// How many trials the worker wants to hold.
    pub wanted: usize,
}

/// The end of a trial, as its worker tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tell<'a> {
    /// The right to tell it.
    pub token: Token,
    /// What came of it.
    pub outcome: &'a Outcome,
    /// What is kept beside the outcome.
    pub attributes: &'a Attributes,
    /// The key of this tell.
    pub key: &'a str,
}

/// New points for a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// How many trials the proposer knew of.
    pub known: u64,
    /// What to try.
    pub configurations: Vec<Configuration>,
    /// Whether the space has no other points: fewer than are missing are then accepted.
    pub exhausted: bool,
    /// The version of the engine that proposed them.
    pub engine: String,
}

/// The answer to an ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// What the worker holds. Fewer than wanted where the budget is spent and the queue empty.
    Claims(Vec<Claim>),
    /// Nothing was claimed: a proposal of at least `count` points, made in sight of all trials, is needed.
    Propose {
        /// How many points are missing.
        count: usize,
        /// How many more trials the budget allows.
        room: u64,
        /// How many trials there are.
        issued: u64,
    },
}

/// A token that was not honoured.
#[derive(Debug)]
pub struct Refused {
    /// The token.
    pub token: Token,
    /// Why.
    pub error: Error,
}

/// Which trials to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those at this stage.
    pub stage: Option<Stage>,
    /// Only those that finished so.
    pub outcome: Option<OutcomeKind>,
    /// Only those that this worker runs or finished.
    pub worker: Option<String>,
    /// Only those numbered from here.
    pub from: u64,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A [`State`] without its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stage {
    Queued,
    Running,
    Finished,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Queued, Self::Running, Self::Finished];

    /// Of a state.
    pub fn of(state: &State) -> Self {
        match state {
            State::Queued(_) => Self::Queued,
            State::Running(_) => Self::Running,
            State::Finished(_) => Self::Finished,
        }
    }

    /// As it is stored.
    fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Finished => "finished",
        }
    }
}

/// An [`Outcome`] without its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum OutcomeKind {
    Value,
    Failed,
    Infeasible,
}

impl OutcomeKind {
    const ALL: [Self; 3] = [Self::Value, Self::Failed, Self::Infeasible];

    /// Of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Measured(_) => Self::Value,
            Outcome::Failed(_) => Self::Failed,
            Outcome::Infeasible => Self::Infeasible,
        }
    }

    /// As it is stored.
    fn word(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Failed => "failed",
            Self::Infeasible => "infeasible",
        }
    }
}

/// The reading half of the contract: what a dashboard or a report needs. Nothing is changed through it.
pub trait Reader: Send + Sync {
    /// The study of this name.
    fn study(&self, study: &str) -> Result<Record>;

    /// The names of all studies, in order.
    fn studies(&self) -> Result<Vec<String>>;

    /// The trials that changed after `sequence`, in the order of their changes, `limit` at most.
    fn changes_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Change>>;

    /// Trials in the order of their numbers.
    fn trials(&self, study: &str, filter: &Filter) -> Result<Vec<Trial>>;

    /// The trial of this number.
    fn trial(&self, study: &str, trial: u64) -> Result<Trial>;

    /// The trials with the best values, best first and the earliest told of equals, `count` at most.
    fn best(&self, study: &str, count: usize) -> Result<Vec<Trial>>;

    /// How many trials are queued, running and finished.
    fn counts(&self, study: &str) -> Result<Counts>;

    /// What the back end says of itself.
    fn condition(&self) -> Result<Condition>;
}

/// A place where studies are kept, by the contract above: what can be read, and the writing half.
pub trait Store: Reader {
    /// Keeps a new study, unless there is one of its name. Returns the one that stands.
    fn create(&self, record: &Record) -> Result<Record>;

    /// Forgets a study and all of its trials. Whoever works on it is told that there is none.
    fn delete(&self, study: &str) -> Result<()>;

    /// Allows another number of trials from now on. Those that exist stay.
    fn set_budget(&self, study: &str, budget: u64) -> Result<()>;

    /// Gives a worker the trials that it runs already, then queued ones, then proposed ones.
    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply>;

    /// Adds trials that were not proposed; gives their numbers, in order.
    fn add(&self, study: &str, additions: &[Addition]) -> Result<Vec<u64>>;

    /// Renews leases; gives those that could not be renewed.
    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>>;

    /// Renews a lease.
    fn heartbeat(&self, study: &str, token: Token) -> Result<()> {
        match self.heartbeats(study, &[token])?.pop() {
            Some(refused) => Err(refused.error),
            None => Ok(()),
        }
    }

    /// Finishes a trial.
    fn tell_with(&self, study: &str, tell: &Tell<'_>) -> Result<()>;

    /// Finishes a trial without attributes.
    fn tell(&self, study: &str, token: Token, outcome: &Outcome, key: &str) -> Result<()> {
        self.tell_with(study, &Tell { token, outcome, attributes: &Attributes::default(), key })
    }

    /// Gives a trial back to the queue.
    fn release(&self, study: &str, token: Token) -> Result<()>;

    /// Ends the leases that are due; says how many. All calls above that name a token or a worker do so too.
    fn expire_leases(&self, study: &str) -> Result<usize>;
}
