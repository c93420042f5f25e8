//! The format of a file, as an argument or by the ending of the file's name.

use std::path::Path;

use anyhow::{Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use wimble_study::exchange::Format;

/// Reads the name of a format.
pub fn parser() -> impl TypedValueParser<Value = Format> {
    let known = |format: Format| PossibleValue::new(format.name()).help(format.description());
    PossibleValuesParser::new(Format::ALL.map(known)).try_map(|name| name.parse::<Format>())
}

/// As given, or by the ending of the file's name.
pub fn of(given: Option<Format>, path: Option<&Path>) -> Result<Format> {
    match given.or_else(|| path.and_then(Format::of)) {
        Some(format) => Ok(format),
        None => bail!(
            "the format cannot be told from the file's name; add --format csv, jsonl or optuna"
        ),
    }
}
