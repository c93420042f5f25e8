//! `wimble pause` and `wimble resume`: no worker anywhere begins a trial until the study goes on.

use std::io::Write as _;

use anyhow::Result;

use super::stop::Arguments;
use crate::storage::quoted;

/// Pauses the study.
pub fn pause(arguments: &Arguments) -> Result<()> {
    set(arguments, true)
}

/// Lets it go on.
pub fn resume(arguments: &Arguments) -> Result<()> {
    set(arguments, false)
}

fn set(arguments: &Arguments, paused: bool) -> Result<()> {
    let study = arguments.which.open()?;
    let before = study.is_paused()?;
    study.set_paused(paused)?;
    let (name, counts) = (&study.settings().name, study.counts()?);
    let mut out = crate::terminal::out();
    if arguments.print.json {
        let report = serde_json::json!({
            "study": name, "paused": paused, "before": before, "running": counts.running, "queued": counts.queued,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    match (paused, before) {
        (true, _) => {
            let left = match counts.running {
                0 => "nothing is running".to_owned(),
                1 => "1 running trial is finished".to_owned(),
                running => format!("{running} running trials are finished"),
            };
            writeln!(out, "`{name}` is paused: no worker begins a trial, {left}.")?;
            let words = arguments.which.storage.words();
            writeln!(out, "To go on: wimble resume {}{words}", quoted(name))?;
        }
        (false, true) => writeln!(out, "`{name}` goes on: workers that wait begin trials again.")?,
        (false, false) => writeln!(out, "`{name}` was not paused.")?,
    }
    Ok(())
}
