//! `wimble advise`: what a colleague would say who looks at the study.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use crate::storage::Which;

/// Arguments of `wimble advise`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Prints the advice.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    let advice = wimble_study::advise(&study)?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for piece in &advice {
            writeln!(out, "{}", serde_json::to_string(piece)?)?;
        }
        return Ok(());
    }
    if advice.is_empty() {
        let finished = study.counts()?.finished();
        writeln!(out, "Nothing stands out after {finished} finished trials.")?;
    }
    for piece in &advice {
        writeln!(out, "- {}", piece.message)?;
    }
    Ok(())
}
