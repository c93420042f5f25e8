//! The crate's one error. Every variant names the study, trial or worker, and what to do next.

use std::time::Duration;

use crate::trial::Token;

/// A result with the crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, with the facts needed to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refused a space, a method or a proposal.
    #[error(transparent)]
    Engine(#[from] wimble::Error),
    /// The method could not propose.
    #[error("study `{study}`: the method could not propose {count} points: {source}")]
    Proposal {
        /// The study.
        study: String,
        /// How many points were wanted.
        count: usize,
        /// Why.
        source: Box<wimble::Error>,
    },
    /// The method could not recommend a trial.
    #[error(
        "study `{study}`: the method could not recommend a trial: {source}; `best` still has the best value"
    )]
    Recommendation {
        /// The study.
        study: String,
        /// Why.
        source: Box<wimble::Error>,
    },
    /// The method could not say what it expects.
    #[error("study `{study}`: the method could not say what it expects: {source}")]
    Prediction {
        /// The study.
        study: String,
        /// Why.
        source: Box<wimble::Error>,
    },
    /// It cannot be said which parameter matters.
    #[error("study `{study}`: {source}")]
    Importance {
        /// The study.
        study: String,
        /// Why.
        source: Box<wimble::Error>,
    },
    /// A setting or an argument has a value that is not allowed.
    #[error("study `{study}`: {field} is {value}, but must be {allowed}")]
    Invalid {
        /// The study.
        study: String,
        /// The setting or argument.
        field: &'static str,
        /// The value given.
        value: String,
        /// What would have been accepted.
        allowed: String,
    },
    /// There is no study of this name.
    #[error("there is no study `{study}` in this store; create it first, or check the name")]
    UnknownStudy {
        /// The name asked for.
        study: String,
    },
    /// A study was deleted under an open one, and there is another of its name.
    #[error(
        "study `{study}` was deleted and created anew while it was open here; \
         stop what was begun for the old one, and open it again"
    )]
    Replaced {
        /// The study.
        study: String,
    },
    /// A study begins no trial for now.
    #[error("study `{study}` is paused: no trial begins until `wimble resume {study}`")]
    Paused {
        /// The study.
        study: String,
    },
    /// There is no trial of this number.
    #[error("study `{study}` has no trial {trial}: it has {issued}, numbered from 0")]
    UnknownTrial {
        /// The study.
        study: String,
        /// The number asked for.
        trial: u64,
        /// How many trials exist.
        issued: u64,
    },
    /// The address of a store cannot be understood.
    #[error("the storage address `{address}` {reason}")]
    Address {
        /// The address, without its password.
        address: String,
        /// What is wrong, and what to write instead.
        reason: String,
    },
    /// A study exists with other settings.
    #[error(
        "study `{study}` exists with other settings: {differences}; \
         open it with its own settings, or choose another name"
    )]
    Differs {
        /// The study.
        study: String,
        /// Each setting that differs, with both values.
        differences: String,
    },
    /// A study is stored in a later form than this version can read.
    #[error(
        "study `{study}` is stored in format {found}, this program reads formats up to {known}; \
         use a later version of wimble"
    )]
    LaterFormat {
        /// The study.
        study: String,
        /// Its format.
        found: u32,
        /// The last format known.
        known: u32,
    },
    /// A file was written by a later version.
    #[error(
        "{place} has schema version {found}, this program knows versions up to {known}; \
         use a later version of wimble"
    )]
    LaterSchema {
        /// The file or database.
        place: String,
        /// Its schema version.
        found: i64,
        /// The last version known.
        known: i64,
    },
    /// A file is not one of ours.
    #[error("{place} is {what}")]
    NotAStorage {
        /// The file.
        place: String,
        /// What it is, and what to do.
        what: String,
    },
    /// A lease ended before what was to be done under it.
    #[error(
        "study `{study}`: token {token} no longer holds trial {}: {reason}; \
         drop this evaluation and ask again", token.trial
    )]
    LeaseLost {
        /// The study.
        study: String,
        /// The token presented.
        token: Token,
        /// What became of the trial.
        reason: String,
    },
    /// A trial was told a second time.
    #[error(
        "study `{study}`: trial {trial} is finished already, with the outcome {outcome}; \
         finished trials never change"
    )]
    AlreadyTold {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The outcome that stands.
        outcome: String,
    },
    /// A token was presented that the study never gave.
    #[error(
        "study `{study}` never gave the token {token}: {issued} trials were issued, numbered from 0; \
         use the token of a claim of this study"
    )]
    UnknownToken {
        /// The study.
        study: String,
        /// The token presented.
        token: Token,
        /// How many trials exist.
        issued: u64,
    },
    /// A client key was used for two different things.
    #[error(
        "study `{study}`: the client key `{key}` was used before, {before}; \
         use a new key for every new ask, tell or addition"
    )]
    KeyReused {
        /// The study.
        study: String,
        /// The key.
        key: String,
        /// What it was used for.
        before: String,
    },
    /// A study is no copy of another any more.
    #[error(
        "study `{study}` is no copy any more: trial {trial} {reason}; what was worked on is a study of its own. \
         Copy under another name or to another storage, or delete this one first"
    )]
    Diverged {
        /// The study that trials were to be taken over into.
        study: String,
        /// The first trial that differs.
        trial: u64,
        /// How it differs.
        reason: String,
    },
    /// A value told for a trial is NaN or infinite.
    #[error(
        "study `{study}`: trial {trial} was told the value {value}, which is not finite; \
         tell a failed or an infeasible outcome instead"
    )]
    NonFinite {
        /// The study.
        study: String,
        /// The trial.
        trial: u64,
        /// The value.
        value: f64,
    },
    /// Other workers kept the store busy for too long.
    #[error(
        "{place} was busy for {waited:?}: other processes hold it; \
         look for one that is stuck, or use fewer workers on one file"
    )]
    Busy {
        /// The file or database.
        place: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The back end failed. Whether the call was done is unknown: it may be made again with the same keys.
    #[error("{place}: {doing} failed: {source}; fix this, then retry")]
    Backend {
        /// The file or database.
        place: String,
        /// What was being done.
        doing: &'static str,
        /// The error of the back end.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A server said no, in its own words.
    #[error("{message}")]
    Remote {
        /// What it said.
        message: String,
    },
    /// Trials cannot be read from a file, or written to it.
    #[error("{reason}")]
    Exchange {
        /// Where in the file, and why.
        reason: String,
    },
    /// What is stored cannot be read back.
    #[error("study `{study}`: the stored {what} cannot be read: {reason}; restore it from a copy")]
    Corrupt {
        /// The study.
        study: String,
        /// What was being read.
        what: String,
        /// Why it is refused.
        reason: String,
    },
}

impl Error {
    /// Whether the store answered and said no, so that asking the same again gives the same answer.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Busy { .. } | Self::Backend { .. } | Self::Corrupt { .. })
    }

    /// What went wrong with a file, each cause after what it caused.
    pub(crate) fn exchange(error: &anyhow::Error) -> Self {
        Self::Exchange { reason: format!("{error:#}") }
    }

    pub(crate) fn corrupt(
        study: &str,
        what: impl Into<String>,
        reason: impl std::fmt::Display,
    ) -> Self {
        Self::Corrupt { study: study.to_owned(), what: what.into(), reason: reason.to_string() }
    }
}
