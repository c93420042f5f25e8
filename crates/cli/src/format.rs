//! The format of what is printed, and of a file, as an argument or by the ending of the file's name.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use wimble_study::exchange::Format;

use crate::exit::usage;

/// How a command prints its one answer.
#[derive(Args)]
pub struct Print {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Reads the name of a format.
pub fn parser() -> impl TypedValueParser<Value = Format> {
    let known = |format: Format| PossibleValue::new(format.name()).help(format.description());
    PossibleValuesParser::new(Format::ALL.map(known)).try_map(|name| name.parse::<Format>())
}

/// As given, or by the ending of the file's name.
pub fn of(given: Option<Format>, path: Option<&Path>) -> Result<Format> {
    let by_name = || path.and_then(Format::of);
    given.or_else(by_name).ok_or_else(|| {
        usage("the format cannot be told from the file's name; add --format csv, jsonl or optuna")
    })
}
