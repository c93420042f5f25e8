//! Trials in other programs' files: CSV, JSON lines, and the SQLite storage of Optuna.

pub mod csv;
pub mod json_lines;
pub mod optuna;

use std::path::Path;

use anyhow::{Result, bail};
use clap::ValueEnum;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table with a header; parameters are columns `param.NAME`
    Csv,
    /// One JSON object a line, as `wimble trials --json`
    Jsonl,
    /// The SQLite storage of Optuna
    Optuna,
}

impl Format {
    /// As given, or by the ending of the file's name.
    pub fn of(given: Option<Self>, path: Option<&Path>) -> Result<Self> {
        if let Some(format) = given {
            return Ok(format);
        }
        match path.and_then(Path::extension).and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl" | "ndjson" | "json") => Ok(Self::Jsonl),
            Some("db" | "sqlite" | "sqlite3") => Ok(Self::Optuna),
            _ => bail!(
                "the format cannot be told from the file's name; add --format csv, jsonl or optuna"
            ),
        }
    }
}
