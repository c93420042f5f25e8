//! Where studies are kept: the contract, and its back ends.
//!
//! # Contract
//! Every back end keeps every clause; `tests/contract/` holds each of them to it.
//!
//! **Studies.** A study has a unique name and settings that never change, but for its budget. It remembers the
//! format and the engine version that created it.
//!
//! **Claims.** A running trial is held by exactly one worker, under a lease with a fencing token. Heartbeats renew
//! the lease. When it is due, it ends at the next call that writes to the study, before anything else is done there:
//! its trial returns to the queue or, once it was lost more often than the retry limit allows, finishes as failed.
//! Whatever is then shown the old token is refused and says why. A worker may also release a trial: it returns to the
//! queue, and that does not count as lost.
//!
//! **Time** comes from the store's own [`Clock`](crate::Clock) and decides only when a lease is due. Who holds a
//! trial is decided by its token: fencing numbers grow with every claim, and only the latest of a trial counts. A
//! clock that jumps back makes leases last longer, one that jumps forwards ends them early; neither gives a trial two
//! holders.
//!
//! **Keys.** A repeated ask with the same client key gives the claims of the first time and changes nothing; a
//! repeated tell with the same key, token and outcome is acknowledged again. A key used for something else is
//! refused. An ask that gave nothing leaves no trace. `wanted` is how many trials the worker wants to hold: those
//! that it runs already come first, under the token that they have, so that a restarted worker finds its own again. A
//! worker key therefore belongs to one process at a time.
//!
//! **Durability.** What was acknowledged is not lost by killing any process (SQLite: nor by loss of power). A call
//! that is refused has changed nothing, but that due leases may have ended; one whose back end failed may be made
//! again with the same keys, whether or not it was done. Finished trials never change.
//!
//! **Sequence.** Every change of a trial's state takes the study's next sequence number, in the order in which
//! changes become visible. [`Store::changes_since`] gives each trial that changed after a number once, as it is now,
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

pub mod memory;
mod rules;
pub mod sqlite;

use wimble::space::Configuration;

use crate::error::Result;
use crate::settings::Record;
use crate::trial::{Change, Claim, Outcome, Token, Trial};

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

/// New points for a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// How many trials the proposer knew of.
    pub known: u64,
    /// What to try.
    pub configurations: Vec<Configuration>,
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
    },
}

/// Which trials to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those at this stage.
    pub stage: Option<Stage>,
    /// Only those that this worker runs or finished.
    pub worker: Option<String>,
    /// Only those numbered from here.
    pub from: u64,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A [`State`](crate::State) without its facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Stage {
    Queued,
    Running,
    Finished,
}

/// A place where studies are kept, by the contract above.
pub trait Store: Send + Sync {
    /// Keeps a new study, unless there is one of its name. Returns the one that stands.
    fn create(&self, record: &Record) -> Result<Record>;

    /// The study of this name.
    fn study(&self, study: &str) -> Result<Record>;

    /// The names of all studies, in order.
    fn studies(&self) -> Result<Vec<String>>;

    /// Allows another number of trials from now on. Those that exist stay.
    fn set_budget(&self, study: &str, budget: u64) -> Result<()>;

    /// Gives a worker what it runs already, then what is queued, then what is proposed.
    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply>;

    /// Renews a lease.
    fn heartbeat(&self, study: &str, token: Token) -> Result<()>;

    /// Finishes a trial.
    fn tell(&self, study: &str, token: Token, outcome: &Outcome, key: &str) -> Result<()>;

    /// Gives a trial back to the queue.
    fn release(&self, study: &str, token: Token) -> Result<()>;

    /// Ends the leases that are due; says how many. All calls above that name a token or a worker do so too.
    fn expire_leases(&self, study: &str) -> Result<usize>;

    /// The trials that changed after `sequence`, in the order of their changes, `limit` at most.
    fn changes_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Change>>;

    /// Trials in the order of their numbers.
    fn trials(&self, study: &str, filter: &Filter) -> Result<Vec<Trial>>;
}
