//! The study file: what to tune, how, and the command that evaluates a configuration.
//!
//! ```toml
//! name = "mnist"
//! command = ["python3", "train.py", "--rate", "{rate}", "--layers", "{layers}"]
//! trials = 60
//! workers = 4
//!
//! [space]
//! rate   = { type = "real", low = 1e-5, high = 0.1, scale = "log" }
//! layers = { type = "integer", low = 1, high = 8 }
//! ```
//!
//! Parameters are written as in every other form of a [`SearchSpace`], with the name before the table; `repeats` and
//! `candidates` may stand beside them, and the list `dimensions` of the other forms is accepted as it is. JSON has the
//! same names. Reading checks the whole file and shows all mistakes together, each at its line and column. It runs
//! nothing.
//!
//! What a file leaves out is decided when the study is created, and stays: a study that exists keeps its method,
//! batch size and seed. See [`StudyFile::settings`].

mod command_line;
mod document;
pub mod duration;
mod mistake;
mod reader;

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use wimble::goal::Goal;
use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};
use wimble::stopping::{Rule, Stopping};
use wimble::strategy::{Grid, Spec};

pub use command_line::{Argument, CommandLine, FACTS, Facts, Template, Unreadable};
pub use document::Format;
pub use mistake::{Mistake, Mistakes};
pub use reader::SETTINGS;

use crate::advice::StopWhen;
use crate::notice::On;
use crate::settings::Settings;

/// The method of a study whose file names none.
pub const DEFAULT_METHOD: &str = "auto";
/// How many trials a study has whose file sets no limit.
pub const DEFAULT_TRIALS: u64 = 100;
/// The default exit code of an infeasible configuration; test drivers read it as "skipped".
pub const INFEASIBLE_EXIT: i32 = 77;
/// Default time between asking a command to end and killing it.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(5);

/// A study file, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFile {
    /// The study's name, unique in a storage.
    pub name: String,
    /// What the study is for.
    pub goal: Goal,
    /// Where to search.
    pub space: SearchSpace,
    /// The method.
    pub method: Option<Spec>,
    /// How many points are proposed together; as many as there are workers unless given.
    pub batch_size: Option<usize>,
    /// The seed.
    pub seed: Option<Seed>,
    /// How many trials there will be.
    pub trials: Option<u64>,
    /// How long a run begins new trials. Those that run then are finished.
    pub time: Option<Duration>,
    /// How much of all evaluations is carried out, in the unit of the fidelity, before no new trials begin.
    pub spend: Option<f64>,
    /// When the study has gained enough, so that no new trials begin.
    pub stop_when: Option<StopWhen>,
    /// How many commands run at a time.
    pub workers: usize,
    /// How long a worker keeps a trial without a heartbeat.
    pub lease: Option<Duration>,
    /// How many times a trial may lose its worker before it counts as failed.
    pub lost_retries: Option<u32>,
    /// The rule by which trials are stopped early.
    pub stopping: Option<Rule>,
    /// How often the best configuration may be stopped by mistake.
    pub wrong_stop: Option<f64>,
    /// Values that every proposal of this file has; the method chooses the rest. They may change from run to run.
    pub fixed: Configuration,
    /// Commands that are run at each result and at the end of a run.
    pub on: On,
    /// What evaluates a configuration. A file for `ask` and `tell` needs none.
    pub evaluation: Option<Evaluation>,
}

/// How a configuration is evaluated: the command and its surroundings.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The program and its arguments.
    pub command: CommandLine,
    /// Further environment variables.
    pub environment: BTreeMap<String, Template>,
    /// How long a command may run before it is ended and its trial fails.
    pub timeout: Option<Duration>,
    /// Time between asking a command to end and killing it.
    pub grace: Duration,
    /// How many times a command that failed is run again.
    pub retries: u32,
    /// The exit code of an infeasible configuration.
    pub infeasible_exit: i32,
    /// Where each trial has a folder with its parameters and logs.
    pub folders: Option<PathBuf>,
    /// Where commands start.
    pub start_in: StartIn,
}

/// Where a command starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartIn {
    /// In the folder of the study file, where relative paths of the command are at home.
    #[default]
    StudyFile,
    /// In the trial's own folder.
    Trial,
}

/// Why a study file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened.
    #[error("{path}: {source}{hint}")]
    Unreadable {
        /// The file.
        path: String,
        /// What to do.
        hint: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// It has mistakes.
    #[error("{0}")]
    Mistakes(Mistakes),
}

impl StudyFile {
    /// Reads a file; JSON if its name ends so, otherwise TOML.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = std::fs::read_to_string(path).map_err(|source| FileError::Unreadable {
            path: path.display().to_string(),
            hint: match source.kind() {
                ErrorKind::NotFound => "; `wimble init` writes a study file to begin with",
                ErrorKind::IsADirectory => "; name the study file in it",
                ErrorKind::InvalidData => "; a study file is TOML or JSON",
                _ => "",
            },
            source: match source.kind() {
                kind @ ErrorKind::NotFound => io::Error::new(kind, "there is no such file"),
                kind @ ErrorKind::IsADirectory => io::Error::new(kind, "this is a folder"),
                kind @ ErrorKind::InvalidData => io::Error::new(kind, "this is not text"),
                _ => source,
            },
        })?;
        let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let format = if json { Format::Json } else { Format::Toml };
        Self::parse(&path.display().to_string(), &text, format).map_err(FileError::Mistakes)
    }

    /// Reads a text. `file` is the name for messages.
    pub fn parse(file: &str, text: &str, format: Format) -> Result<Self, Mistakes> {
        document::parse(text, format)
            .map_err(|mistake| vec![mistake])
            .and_then(|table| reader::read(text, &table))
            .map_err(|mistakes| Mistakes::new(file, text, mistakes))
    }

    /// The settings of the study. What the file leaves open is as in the study that exists, `stored`, or else the
    /// default. The budget is the larger of both: it is raised by a file that wants more, and never lowered, for
    /// another worker may have raised it.
    pub fn settings(&self, stored: Option<&Settings>) -> Settings {
        let method = self.method.clone().or_else(|| stored.map(|stored| stored.method.clone()));
        let default = Settings::new(
            self.name.clone(),
            self.space.clone(),
            method.unwrap_or_else(default_method),
        );
        let default = stored.cloned().unwrap_or(Settings {
            batch_size: self.workers,
            budget: match (self.time, self.spend, self.stop_when) {
                // A grid is gone through to its end.
                _ if default.method.settings::<Grid>().is_some() => self.all_configurations(),
                (None, None, None) => DEFAULT_TRIALS.min(self.all_configurations()),
                _ => self.all_configurations(),
            },
            ..default
        });
        let method = self.method.clone().unwrap_or(default.method);
        Settings {
            name: self.name.clone(),
            space: self.space.clone(),
            goal: self.goal.clone(),
            method,
            batch_size: self.batch_size.unwrap_or(default.batch_size),
            seed: self.seed.unwrap_or(default.seed),
            budget: match (self.trials, stored) {
                (Some(trials), Some(stored)) => trials.max(stored.budget),
                (Some(trials), None) => trials,
                (None, _) => default.budget,
            },
            retries: self.lost_retries.unwrap_or(default.retries),
            lease: self.lease.unwrap_or(default.lease),
            stopping: Stopping {
                rule: self.stopping.unwrap_or(default.stopping.rule),
                wrong_stop: self.wrong_stop.unwrap_or(default.stopping.wrong_stop),
            },
        }
    }

    /// The most trials that the space has room for.
    fn all_configurations(&self) -> u64 {
        let limit = i64::MAX as u64;
        match self.space.cardinality() {
            Some(all) if !self.space.repeats() => u64::try_from(all).unwrap_or(limit).min(limit),
            _ => limit,
        }
    }
}

fn default_method() -> Spec {
    DEFAULT_METHOD.parse().unwrap_or_default()
}

/// The environment variable of a parameter: `WIMBLE_PARAM_` and its name in capitals, with `_` for what no name of a
/// variable has.
pub fn variable(parameter: &str) -> String {
    let letters = parameter.chars().map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => c.to_ascii_uppercase(),
        _ => '_',
    });
    "WIMBLE_PARAM_".chars().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINIMAL: &str = "name = \"m\"\nworkers = 4\ncommand = [\"true\", \"{x}\"]\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n";

    #[test]
    fn what_is_left_open_is_as_in_the_study_that_exists() {
        let file = StudyFile::parse("m.toml", MINIMAL, Format::Toml).unwrap();
        let new = file.settings(None);
        assert_eq!((new.batch_size, new.budget), (4, DEFAULT_TRIALS));
        assert_eq!(new.method, DEFAULT_METHOD.parse().unwrap());
        new.check().unwrap();
        let stored = Settings { method: "random".parse().unwrap(), ..new.clone() }
            .batch_size(7)
            .budget(500)
            .seed(Seed(9));
        let again =
            StudyFile { workers: 2, trials: Some(50), ..file.clone() }.settings(Some(&stored));
        assert_eq!(again, stored, "a resumed study keeps its own");
        let more =
            StudyFile { trials: Some(600), seed: Some(Seed(1)), ..file }.settings(Some(&stored));
        assert_eq!((more.budget, more.seed), (600, Seed(1)));
        assert!(more.check_same(&stored).is_err());
    }

    #[test]
    fn a_parameter_says_where_its_best_is_expected() {
        let with = |prior: &str| {
            let text = MINIMAL.replace("high = 1 }", &format!("high = 1, prior = {prior} }}"));
            StudyFile::parse("m.toml", &text, Format::Toml)
        };
        let space = with("{ at = 0.25, spread = 0.1 }").unwrap().space;
        assert!(space.has_prior() && space.expected()[0] == 0.25);
        for (prior, words) in [
            ("{ at = 3 }", "x.prior.at is 3, but must be"),
            ("{ at = 0.5, spread = 7 }", "x.prior.spread is 7, but must be from 0.01 to 1"),
            ("{ spread = 0.1 }", "`at` is missing"),
        ] {
            let refused = with(prior).unwrap_err().to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn variables_have_names_that_every_shell_reads() {
        assert_eq!(variable("learning rate-2"), "WIMBLE_PARAM_LEARNING_RATE_2");
    }

    proptest! {
        /// Any text, most of it near a study file: it is read, or its mistakes are at places of the text.
        #[test]
        fn no_text_makes_it_panic(
            at in 0..MINIMAL.len(),
            cut in 0..12_usize,
            put in "[-a-z0-9{}\\[\\]=\".,\n é\\\\]{0,8}",
            json: bool,
        ) {
            let (format, whole) = if json {
                (Format::Json, r#"{"name": "m", "command": ["true", "{x}"], "space": {"x": {"type": "boolean"}}}"#)
            } else {
                (Format::Toml, MINIMAL)
            };
            let at = at.min(whole.len());
            let text = format!("{}{put}{}", &whole[..at], &whole[(at + cut).min(whole.len())..]);
            match StudyFile::parse("m", &text, format) {
                Ok(file) => file.settings(None).check().unwrap(),
                Err(mistakes) => {
                    prop_assert!(mistakes.iter().count() > 0);
                    for (line, column, mistake) in mistakes.iter() {
                        prop_assert!(line >= 1 && column >= 1);
                        prop_assert!(mistake.span().end <= text.len());
                    }
                    prop_assert!(!mistakes.to_string().is_empty());
                }
            }
        }
    }
}
