//! What can go wrong, with the value and what is allowed.

use std::path::{Path, PathBuf};

use crate::data::Source;

/// Why an experiment could not be run, summarised or drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A figure, method or problem that does not exist.
    #[error("no {what} is called `{given}`{hint}. There are {legal}")]
    Unknown {
        /// Figure, method or problem.
        what: &'static str,
        /// The name given.
        given: String,
        /// The nearest name, if one is near.
        hint: String,
        /// All names.
        legal: String,
    },
    /// A file of data that is not in its folder.
    #[error(
        "{path} is not there. It holds {}; source: {}; licence: {}. \
         Put it there, or name the folder that has it with --data",
        expected.what, expected.origin, expected.licence
    )]
    MissingData {
        /// Where it was looked for.
        path: PathBuf,
        /// What it should be.
        expected: Box<Source>,
    },
    /// A file of data with another content.
    #[error(
        "{path} is not the file it should be: {reason}. It should hold {}; source: {}. \
         Put that file there, or name the folder that has it with --data",
        expected.what, expected.origin
    )]
    WrongData {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: Box<Source>,
        /// What is wrong with it.
        reason: String,
    },
    /// A number out of range.
    #[error("{field} is {value}, but must be {allowed}")]
    Invalid {
        /// Which one.
        field: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        allowed: &'static str,
    },
    /// Records of the same trial under other settings.
    #[error(
        "{path} holds a trial of other settings ({there}; asked for: {asked}); \
         give another folder with --out, or remove the old records"
    )]
    OtherSettings {
        /// The file.
        path: PathBuf,
        /// Its settings.
        there: String,
        /// Those asked for.
        asked: String,
    },
    /// No records, or no summary.
    #[error("{path} has {missing}; {remedy}")]
    Nothing {
        /// Where it was looked for.
        path: PathBuf,
        /// What is missing.
        missing: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A point that is not in a problem's domain.
    #[error("a point of {problem} was refused: {reason}")]
    Point {
        /// The problem's name.
        problem: String,
        /// Why.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A settings file or summary that cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A figure could not be drawn.
    #[error("the figure could not be drawn: {0}")]
    Drawing(String),
    /// A trial could not be run; the others keep their records.
    #[error("trial {trial} of {method} on {problem}")]
    Trial {
        /// The problem's name.
        problem: String,
        /// The method's name.
        method: String,
        /// Its number.
        trial: usize,
        /// Why.
        source: Box<Error>,
    },
    /// From the engine.
    #[error(transparent)]
    Engine(#[from] wimble::Error),
    /// From the problems.
    #[error(transparent)]
    Problem(#[from] wimble_problems::UnknownProblem),
}

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of the file system, with its path.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// The name that was not found, with the nearest of those there are.
    pub(crate) fn unknown(what: &'static str, given: &str, legal: &[&str]) -> Self {
        let nearest = wimble::internals::nearest(given, legal.iter().copied());
        Self::Unknown {
            what,
            given: given.to_owned(),
            hint: nearest.map_or_else(String::new, |name| format!("; the nearest is `{name}`")),
            legal: legal.join(", "),
        }
    }
}
