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
//! lease. A lease that is due ends nothing by itself: its holder may renew it, tell, release and go on for as long as
//! nobody else wants the trial. An ask that finds too few trials in the queue gives notice to the holders of trials that
//! are due, half a lease long ([`LONGEST_NOTICE`] at most). Any sign of life of the holder cancels the notice. Once it is
//! over, an ask takes the trial under a new token or, if it was lost more often than the retry limit allows, has it finish
//! as failed. From then on, calls with the old token are refused, with the reason. A worker may also release a trial: it
//! returns to the queue, and that does not count as lost.
//!
//! **Workers** have a name and an incarnation. An ask gives back the trials that the same incarnation of the same name
//! holds. An incarnation is a random word that a process makes when it starts, and keeps with its state. The next process
//! that finds that state shows the word, and [`Store::resume`] gives it the trials under new tokens, once: of two processes
//! with copies of one state, the second gets nothing. Whoever asks without an incarnation vouches that no other process
//! uses the name at the same time.
//!
//! **Time** comes from the store's own [`Clock`](crate::Clock), and decides only when a lease is due and a notice is over.
//! Who holds a trial is decided by its token: fencing numbers grow with every claim, and only the latest of a trial counts.
//! If the clock jumps back, leases last longer. If it jumps forwards, they are due early, and a worker that sends
//! heartbeats keeps its trials all the same: the notice begins after the jump.
//!
//! **Keys.** An ask that is repeated with the same client key gives the same claims and changes nothing. A tell that is
//! repeated with the same key, token, outcome and attributes is acknowledged again. A key that was used for something else
//! is refused. An ask that gave nothing leaves no trace. The answer to an ask is kept until all of its trials have been
//! finished for a day ([`ANSWERS_KEPT`]); a later ask then forgets it, and its key counts as new. `wanted` is how many
//! trials the worker wants to hold. Those that it holds already come first, under their tokens. A fresh ask leaves the queue, and
//! what others lost, to others: all else that it gives is proposed.
//!
//! **Additions** are trials that the method did not propose, each under a key that no other addition to the study has:
//! adding one again gives the number of its trial and changes nothing, and a key with something else is refused. One
//! call adds all or nothing. An addition without an outcome goes to the head of the queue. It counts against the budget,
//! but is run even if the budget is spent: the user asked for it. An addition with an outcome is finished from the start,
//! counts as imported, and does not count against the budget, which limits what is evaluated here.
//!
//! **Transfers** take trials of another storage over with their numbers, for a copy or a backup. They come in the order of
//! their changes there, none before those with smaller numbers, and take sequence numbers of this study: readers of the copy
//! find the same history. A trial that runs elsewhere waits in the queue here. A transfer that is repeated changes nothing, and
//! a later one brings queued trials up to date. Once somebody worked on the copy, so that a trial has another outcome, holder or
//! configuration than there, transfers are refused. The steps of finished trials come with them. Keys of asks and additions stay behind.
//!
//! **Pause.** A paused study begins no trial: an ask gives what its worker holds, and one that would otherwise give more is
//! refused ([`Error::Paused`]), so that nobody takes the pause for the end. What runs goes on, is renewed and
//! is told as ever.
//!
//! **Notes** are texts of people on trials, one a trial, kept beside them: whoever writes another replaces it, and an empty one
//! removes it. No method reads them, and they are no changes.
//!
//! **Counts** and the best trials are kept, not computed: reading them costs the same at any size.
//!
//! **Steps** are measurements of a running trial at growing fidelities. A report gives a trial some, under its token, and is a
//! sign of life. A step that is there already with the same values changes nothing, so that a report may be repeated. A step at
//! or below the last, with other values or at a fidelity that was not reported, says that the evaluation began anew: the steps
//! from there on are dropped first. Steps have sequence numbers of their own; [`Reader::steps_since`] gives them in order, and
//! whoever applies them by the same rule has the stored curves. All steps of a trial are stored before it finishes, and stay
//! with it. A trial whose outcome is a measurement below the highest fidelity was stopped; it is not among the best.
//!
//! **Pauses.** A worker that came to the fidelity of its claim may pause the trial: nobody holds it any more, it waits outside the
//! queue, and its steps stay. Pausing again with the same token changes nothing. Only an ask that plans gets it back: its proposal
//! says which paused trials to continue, and up to where, beside new configurations and how far each of those goes. A plan that
//! names a trial that is not paused any more is dropped, as a proposal is that did not know of all trials; of what it names, no
//! more is continued than the worker wants to hold. A plan may offer less than that: it was made for those who were free then. Continuing counts against no budget. A trial keeps how far it was to go
//! when it is released or lost.
//!
//! **Durability.** What was acknowledged is not lost by killing any process (SQLite, PostgreSQL: nor by loss of power
//! or a crash of the server). Only heartbeats may be lost. A refused call changes nothing. A call whose back end failed may be repeated with the same keys, whether or not it was done. Finished trials never
//! change.
//!
//! **Sequence.** Every change of a trial's state takes the study's next sequence number, in the order in which changes
//! become visible. [`Reader::changes_since`] gives each trial that changed after a number once, as it is now, in order;
//! a reader that applies all of them in turn misses nothing. The order of the history is the order in which trials
//! finished, so that every reader arrives at the same one. Heartbeats are no changes.
//!
//! **Proposing** is optimistic. A model may run for seconds, and no transaction is open meanwhile: a store that runs
//! out of queued trials answers [`Reply::Propose`]; the asker reads the changes, proposes, and asks again with a
//! [`Proposal`] that says how many trials it knew of. If there are more by now, the proposal is dropped and the answer
//! is `Propose` again. Hence whoever proposed knew all pending points, and all points are distinct. A proposal is
//! dropped only because trials were added meanwhile, so that somebody always gets on and there is no deadlock. A
//! process that dies while it proposes holds up nobody. Points beyond those wanted wait in the queue, so that with a
//! batch size of M one asker in M proposes. A [`Study`](crate::Study) whose proposals are dropped proposes more points at a
//! time than its batch size, for as long as that happens: many processes would otherwise drop nearly all that they propose.

pub mod address;
mod calls;
mod checks;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod columns;
pub mod http;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
mod rows;
mod rules;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod steps;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wimble::outcome::{Measurement, Outcome};
use wimble::space::Configuration;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::counts::Counts;
use crate::diagnosis::Condition;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::settings::{EngineSpan, Record};
use crate::step::{Report, Step};
use crate::trial::{Change, Claim, State, Token, Trial};

/// How long after the end of its last trial the answer to an ask is kept, at least.
pub const ANSWERS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest time between asking for a trial whose lease is due and taking it.
pub const LONGEST_NOTICE: Duration = Duration::from_secs(30);

/// A worker's request for trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask<'a> {
    /// The worker's name.
    pub worker: &'a str,
    /// Which process of that name asks; `None` if the caller vouches that there is no other.
    pub incarnation: Option<&'a str>,
    /// The key of this ask.
    pub key: &'a str,
    /// How many trials the worker wants to hold.
    pub wanted: usize,
    /// Whether it wants new trials only, beside those that it holds: what waits in the queue is left to others.
    pub fresh: bool,
    /// Whether it can continue paused trials: it then brings a plan where others bring a proposal.
    pub plans: bool,
}

/// A worker that starts again, and shows that it is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resume<'a> {
    /// The worker's name.
    pub worker: &'a str,
    /// Its new incarnation.
    pub incarnation: &'a str,
    /// Its earlier incarnations, which nobody else knows.
    pub formerly: &'a [String],
}

/// The end of a trial, as its worker reports it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tell<'a> {
    /// The token of the trial, which gives the right to finish it.
    pub token: Token,
    /// The outcome of the trial.
    pub outcome: &'a Outcome,
    /// What is kept beside the outcome.
    pub attributes: &'a Attributes,
    /// The key of this tell.
    pub key: &'a str,
}

/// Trials of another storage, as they are there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer<'a> {
    /// The engines that proposed the trials of the study there.
    pub engines: &'a [EngineSpan],
    /// The trials, in the order of their changes; each has the next number of the study, or is in it.
    pub trials: &'a [Trial],
    /// The steps of these trials, or of earlier ones.
    pub steps: &'a [Step],
}

/// New points for a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// How many trials the proposer knew of.
    pub known: u64,
    /// What to try.
    pub configurations: Vec<Configuration>,
    /// Up to which fidelity each of them is evaluated at first; empty if all are evaluated to the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untils: Vec<f64>,
    /// Which paused trials go on, the most promising first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continued: Vec<Continuation>,
    /// Whether the space has no other points: fewer than are missing are then accepted.
    pub exhausted: bool,
    /// The version of the engine that proposed them.
    pub engine: String,
}

/// A paused trial that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Continuation {
    /// The trial.
    pub trial: u64,
    /// Up to which fidelity.
    pub until: f64,
}

/// The answer to an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The trials that the worker holds. There are fewer than wanted if the budget is spent and the queue is empty.
    Claims(Vec<Claim>),
    /// Nothing was claimed. The store needs a proposal of at least `count` points by somebody who knows all trials.
    Propose {
        /// How many points are missing.
        count: usize,
        /// How many more trials the budget allows.
        room: u64,
        /// How many trials there are.
        issued: u64,
    },
}

/// A token that the store refused.
#[derive(Debug)]
pub struct Refused {
    /// The token.
    pub token: Token,
    /// Why.
    pub error: Error,
}

/// Which trials to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    /// Only those at this stage.
    pub stage: Option<Stage>,
    /// Only those with this kind of outcome.
    pub outcome: Option<OutcomeKind>,
    /// Only those that this worker runs or finished.
    pub worker: Option<String>,
    /// Only those with this number or a larger one.
    pub from: u64,
    /// At most this many.
    pub limit: Option<usize>,
}

/// The kind of a [`State`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stage {
    Queued,
    Running,
    Paused,
    Finished,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Queued, Self::Running, Self::Finished];

    /// Of a state.
    pub fn of(state: &State) -> Self {
        match state {
            State::Queued(_) => Self::Queued,
            State::Running(_) => Self::Running,
            State::Paused(_) => Self::Paused,
            State::Finished(_) => Self::Finished,
        }
    }

    /// As it is stored. A paused trial is stored like one that waits, with the time since when it is paused.
    fn word(self) -> &'static str {
        match self {
            Self::Queued | Self::Paused => "queued",
            Self::Running => "running",
            Self::Finished => "finished",
        }
    }
}

/// The kind of an [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// The value by which a trial is among the best: that of a whole evaluation.
fn ranked_value(outcome: &Outcome) -> Option<f64> {
    let measurement = outcome.measurement().filter(|whole| whole.fidelity.is_none());
    measurement.and_then(Measurement::value)
}

/// The reading half of the contract: what a dashboard or a report needs. It changes nothing.
pub trait Reader: Send + Sync {
    /// A random word that no other storage has, made with the storage and the same by whatever address it is reached.
    fn identity(&self) -> Result<String>;

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

    /// The steps of a trial, in the order of their fidelities: its curve.
    fn steps(&self, study: &str, trial: u64) -> Result<Vec<Step>>;

    /// The steps with larger sequence numbers than `sequence`, in their order, `limit` at most.
    fn steps_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Step>>;

    /// The trials with the best values, `count` at most: best first, and of equal values the one told first. Trials that
    /// were stopped early are not among them.
    fn best(&self, study: &str, count: usize) -> Result<Vec<Trial>>;

    /// The notes on trials, in the order of the trials.
    fn notes(&self, study: &str) -> Result<Vec<Note>>;

    /// How many trials are queued, running and finished.
    fn counts(&self, study: &str) -> Result<Counts>;

    /// The study's latest sequence number: whoever followed the changes up to it knows everything.
    fn sequence(&self, study: &str) -> Result<u64>;

    /// What the back end says of itself.
    fn condition(&self) -> Result<Condition>;

    /// What is damaged below the rows, as far as the back end can tell.
    fn faults(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// A place where studies are kept, by the contract above: the reading half, and the writing half.
pub trait Store: Reader {
    /// Stores a new study, unless there is one of its name. Returns the study that is stored.
    fn create(&self, record: &Record) -> Result<Record>;

    /// Deletes a study and all of its trials. Later calls by whoever works on it fail: there is no such study.
    fn delete(&self, study: &str) -> Result<()>;

    /// Changes how many trials the study may have. Trials that exist stay.
    fn set_budget(&self, study: &str, budget: u64) -> Result<()>;

    /// Pauses a study, or lets it go on.
    fn set_paused(&self, study: &str, paused: bool) -> Result<()>;

    /// Writes a note on a trial, in the place of the one that was there; an empty text removes it.
    fn note(&self, study: &str, trial: u64, text: &str) -> Result<()>;

    /// Gives a worker the trials that it runs already, then queued ones, then those that other workers lost, then proposed
    /// ones.
    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply>;

    /// Gives the trials that earlier incarnations of a worker hold to its new one, under new tokens. Returns how many.
    fn resume(&self, study: &str, resume: &Resume<'_>) -> Result<usize>;

    /// Adds trials that the method did not propose. Returns their numbers, in order.
    fn add(&self, study: &str, additions: &[Addition]) -> Result<Vec<u64>>;

    /// Takes over trials of another storage, with their numbers.
    fn transfer(&self, study: &str, transfer: &Transfer<'_>) -> Result<()>;

    /// Renews leases. Returns those that could not be renewed.
    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>>;

    /// Renews a lease.
    fn heartbeat(&self, study: &str, token: Token) -> Result<()> {
        match self.heartbeats(study, &[token])?.pop() {
            Some(refused) => Err(refused.error),
            None => Ok(()),
        }
    }

    /// Stores steps of running trials, and renews their leases. Returns the tokens that were refused, and why.
    fn reports(&self, study: &str, reports: &[Report]) -> Result<Vec<Refused>>;

    /// Stores steps of a running trial.
    fn report(&self, study: &str, token: Token, steps: &[Measurement]) -> Result<()> {
        match self.reports(study, &[Report { token, steps: steps.to_vec() }])?.pop() {
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

    /// Pauses a running trial: whoever plans may continue it.
    fn pause_trial(&self, study: &str, token: Token) -> Result<()>;

    /// Makes anew what is kept beside the rows of a study: its counts, its last numbers, the index of its best trials.
    fn recount(&self, study: &str) -> Result<()> {
        // Where nothing is kept beside them there is nothing to do.
        self.study(study).map(|_| ())
    }
}
