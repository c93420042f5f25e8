//! What a trial leaves behind: a file of JSON lines, written and flushed round by round.
//!
//! `DIR/records/<figure>/<problem>__<method>__<trial>.jsonl` has a line that says what was run, one line a round, and a
//! line that says how it ended. A file without its last line is half-written; its trial is run again from its start. Lines
//! that cannot be read are skipped and counted. Times are in `DIR/times/`, apart, so that the same seed gives the same
//! records byte for byte.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Which trial a file is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The figure's name.
    pub figure: String,
    /// The problem's name.
    pub problem: String,
    /// The method's name.
    pub method: String,
    /// From 0.
    pub trial: usize,
}

/// What was run, all that decides the records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The trial.
    pub key: Key,
    /// The seed of the whole run.
    pub seed: u64,
    /// Rounds asked for.
    pub rounds: usize,
    /// The method with all its settings.
    pub settings: String,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub round: usize,
    /// Evaluations so far, initial points included.
    pub evaluations: usize,
    /// By name.
    pub metrics: BTreeMap<String, f64>,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// After all its rounds.
    Finished,
    /// At its time limit.
    Aborted,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Start(Start),
    Round(Round),
    End { end: End, rounds: usize },
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// What was run.
    pub start: Start,
    /// Its rounds, in order.
    pub rounds: Vec<Round>,
    /// How it ended; `None` if it has not, or if a line is missing.
    pub end: Option<End>,
}

/// The records of a folder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Records {
    /// By key.
    pub trials: BTreeMap<Key, Trial>,
    /// Lines that could not be read.
    pub corrupt_lines: usize,
}

/// The file of a trial.
pub fn path(dir: &Path, key: &Key) -> PathBuf {
    dir.join("records").join(&key.figure).join(file_name(key, "jsonl"))
}

fn times_path(dir: &Path, key: &Key) -> PathBuf {
    dir.join("times").join(&key.figure).join(file_name(key, "json"))
}

fn file_name(key: &Key, extension: &str) -> String {
    format!("{}__{}__{}.{extension}", key.problem, key.method, key.trial)
}

/// Writes the file of a trial.
pub(crate) struct Writer {
    path: PathBuf,
    file: File,
    rounds: usize,
}

impl Writer {
    /// Begins a trial; what an earlier attempt left is replaced.
    pub fn begin(dir: &Path, start: Start) -> Result<Self> {
        let path = path(dir, &start.key);
        create_folder_of(&path)?;
        let file = File::create(&path).map_err(Error::file(&path))?;
        let mut writer = Self { path, file, rounds: 0 };
        writer.line(&Line::Start(start))?;
        Ok(writer)
    }

    pub fn round(&mut self, round: Round) -> Result<()> {
        self.rounds += 1;
        self.line(&Line::Round(round))
    }

    pub fn end(mut self, end: End) -> Result<()> {
        let rounds = self.rounds;
        self.line(&Line::End { end, rounds })
    }

    fn line(&mut self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_string(line).map_err(|error| Error::Unreadable {
            path: self.path.display().to_string(),
            reason: error.to_string(),
        })?;
        text.push('\n');
        // One write a line, straight to the file: a stop leaves at most one line cut.
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.flush())
            .map_err(Error::file(&self.path))
    }
}

/// How long a trial took, by the clock.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    /// Altogether.
    pub seconds: f64,
    /// Each ask, where it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<f64>,
}

/// Keeps how long a trial took.
pub(crate) fn write_times(dir: &Path, key: &Key, times: &Times) -> Result<()> {
    let path = times_path(dir, key);
    create_folder_of(&path)?;
    let text = serde_json::to_string(times).map_err(|error| Error::Unreadable {
        path: path.display().to_string(),
        reason: error.to_string(),
    })?;
    fs::write(&path, text + "\n").map_err(Error::file(&path))
}

/// How long a trial took, where it is known.
pub(crate) fn seconds(dir: &Path, key: &Key) -> Option<f64> {
    let text = fs::read_to_string(times_path(dir, key)).ok()?;
    serde_json::from_str::<Times>(&text).ok().map(|times| times.seconds)
}

fn create_folder_of(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(Error::file(folder))
}

/// Reads a trial's file: `None` if it is not there or does not say what it is of; and the lines that could not be read.
pub(crate) fn read(path: &Path) -> Result<(Option<Trial>, usize)> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((None, 0)),
        Err(error) => return Err(Error::file(path)(error)),
    };
    let (mut start, mut rounds, mut ended, mut corrupt) = (None, Vec::<Round>::new(), None, 0);
    for bytes in BufReader::new(file).split(b'\n') {
        let bytes = bytes.map_err(Error::file(path))?;
        match serde_json::from_slice(&bytes) {
            Ok(Line::Start(line)) => start = Some(line),
            Ok(Line::Round(round)) => rounds.push(round),
            Ok(Line::End { end, rounds }) => ended = Some((end, rounds)),
            Err(_) => corrupt += 1,
        }
    }
    let whole = rounds.iter().enumerate().all(|(i, round)| round.round == i + 1);
    let end = ended.filter(|(_, count)| whole && *count == rounds.len()).map(|(end, _)| end);
    Ok((start.map(|start| Trial { start, rounds, end }), corrupt))
}

impl Records {
    /// All records of a figure under `dir`; empty if there are none.
    pub fn read(dir: &Path, figure: &str) -> Result<Self> {
        let folder = dir.join("records").join(figure);
        let mut records = Self::default();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(records),
            Err(error) => return Err(Error::file(&folder)(error)),
        };
        for entry in entries {
            let path = entry.map_err(Error::file(&folder))?.path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let (trial, corrupt) = read(&path)?;
            records.corrupt_lines += corrupt;
            if let Some(trial) = trial {
                records.trials.insert(trial.start.key.clone(), trial);
            }
        }
        Ok(records)
    }

    /// Trials that have ended.
    pub fn ended(&self) -> usize {
        self.trials.values().filter(|trial| trial.end.is_some()).count()
    }
}
