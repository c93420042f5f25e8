//! What a back end offers to the rules: the rows of one study, inside a transaction.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Ask;
use super::checks::LARGEST_ASK;
use crate::addition::Addition;
use crate::clock::Timestamp;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::settings::Record;
use crate::step::{Report, Step};
use crate::trial::{Token, Trial};

/// How many old answers an ask looks at. More than the one that it adds, so that they become fewer.
pub(super) const REVIEWED: usize = 2;

/// How many due trials an ask looks at: as many as anybody asks for. There are more only if many workers died at once,
/// and a later ask finds those.
pub(super) const LOOKED_AT: usize = LARGEST_ASK;

/// What a study knows of itself as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub budget: u64,
    pub retries: u32,
    pub lease: Duration,
    /// How many trials exist.
    pub issued: u64,
    /// The latest sequence number.
    pub sequence: u64,
    /// The latest fencing number.
    pub fence: u64,
    /// The latest sequence number of a step.
    pub steps: u64,
    /// How many trials are queued, running and finished.
    pub counts: Counts,
    /// Whether no trial begins.
    pub paused: bool,
}

impl Head {
    /// The head of a new study.
    pub fn new(record: &Record, fence: u64) -> Self {
        let settings = &record.settings;
        Self {
            budget: settings.budget,
            retries: settings.retries,
            lease: settings.lease,
            issued: 0,
            sequence: 0,
            fence,
            steps: 0,
            counts: Counts::default(),
            paused: record.paused,
        }
    }
}

/// The answer to an ask, kept so that a repeated ask gets the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub worker: String,
    pub wanted: usize,
    pub claims: Vec<Granted>,
}

impl Answer {
    pub fn to_json(&self, study: &str, key: &str) -> Result<String> {
        serde_json::to_string(self).map_err(|error| unreadable(study, key, error))
    }

    pub fn from_json(study: &str, key: &str, text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| unreadable(study, key, error))
    }
}

fn unreadable(study: &str, key: &str, error: serde_json::Error) -> Error {
    Error::corrupt(study, format!("answer to ask `{key}`"), error)
}

/// A claim without its configuration, which the trial has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Granted {
    pub token: Token,
    pub attempt: u32,
}

/// What a call is going to read, for a back end that can fetch it together with the head.
#[derive(Clone, Copy)]
pub(super) enum Reads<'a> {
    Nothing,
    Trials(&'a [Token]),
    Ask(&'a Ask<'a>),
    Additions(&'a [Addition]),
    Reports(&'a [Report]),
}

/// Who holds trials: an incarnation of a worker.
#[derive(Clone, Copy)]
pub(super) struct Holder<'a> {
    pub worker: &'a str,
    pub incarnation: Option<&'a str>,
}

impl<'a> Ask<'a> {
    pub(super) fn holder(&self) -> Holder<'a> {
        Holder { worker: self.worker, incarnation: self.incarnation }
    }
}

/// The rows of one study, inside a transaction.
pub(super) trait Rows {
    /// The head, and the time.
    fn begin(&mut self, reads: Reads<'_>) -> Result<(Head, Timestamp)>;
    fn save_head(&mut self, head: &Head) -> Result<()>;
    fn trial(&mut self, id: u64) -> Result<Option<Trial>>;
    fn insert(&mut self, trial: &Trial) -> Result<()>;
    fn update(&mut self, trial: &Trial) -> Result<()>;
    /// The running trials whose leases are due at `now`, the longest due first, [`LOOKED_AT`] at most.
    fn due(&mut self, now: Timestamp) -> Result<Vec<Trial>>;
    /// The first running trials of a holder.
    fn held_by(&mut self, holder: Holder<'_>, limit: usize) -> Result<Vec<Trial>>;
    /// The first queued trials: those that users added, then the others, each in the order of their numbers.
    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>>;
    fn answer(&mut self, key: &str) -> Result<Option<Answer>>;
    /// Keeps an answer. At `review` a later ask checks whether it can be forgotten.
    fn keep_answer(&mut self, key: &str, answer: &Answer, review: Timestamp) -> Result<()>;
    /// The first answers whose review is due, with their keys.
    fn stale_answers(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(String, Answer)>>;
    fn postpone_answer(&mut self, key: &str, review: Timestamp) -> Result<()>;
    fn forget_answer(&mut self, key: &str) -> Result<()>;
    /// The trial that was added under a key.
    fn addition(&mut self, key: &str) -> Result<Option<u64>>;
    fn keep_addition(&mut self, key: &str, trial: u64) -> Result<()>;
    /// The steps of a trial at this fidelity and above, in order.
    fn steps_from(&mut self, trial: u64, fidelity: f64) -> Result<Vec<Step>>;
    fn insert_step(&mut self, step: &Step) -> Result<()>;
    /// Drops the steps of a trial at this fidelity and above.
    fn drop_steps(&mut self, trial: u64, fidelity: f64) -> Result<()>;
    /// Keeps a note on a trial in the place of the one that was there.
    fn keep_note(&mut self, note: &Note) -> Result<()>;
    fn drop_note(&mut self, trial: u64) -> Result<()>;
    /// Notes that an engine proposed the trials from `first_trial` on, unless it is the latest that was noted.
    fn note_engine(&mut self, version: &str, first_trial: u64) -> Result<()>;
}
