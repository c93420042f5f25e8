//! `wimble note`: what people note on a trial. `wimble show` and the page print it.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use crate::exit::Usage;
use crate::format::Print;
use crate::storage::{Storage, Which};

/// Arguments of `wimble note`.
#[derive(Args)]
pub struct Arguments {
    /// The study, if the storage has more than one, the trial, and the text: `wimble note bake 12 "crust too dark"`. An empty text
    /// removes the note. Without trial and text, all notes are listed
    #[arg(value_name = "[STUDY] [TRIAL TEXT]", num_args = 0..=3)]
    words: Vec<String>,
    #[command(flatten)]
    storage: Storage,
    #[command(flatten)]
    print: Print,
}

/// Writes the note, or lists all.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (study, note) = match &arguments.words[..] {
        [] => (None, None),
        [study] => (Some(study), None),
        [trial, text] => (None, Some((trial, text))),
        [study, trial, text, ..] => (Some(study), Some((trial, text))),
    };
    let which = Which::of(study.cloned(), arguments.storage.clone());
    let mut out = crate::terminal::out();
    let Some((trial, text)) = note else {
        let study = which.look()?;
        let notes = study.notes()?;
        if arguments.print.json {
            for note in &notes {
                let (trial, text, at) = (note.trial, &note.text, note.at.to_utc());
                writeln!(out, "{}", serde_json::json!({ "trial": trial, "note": text, "at": at }))?;
            }
        } else if notes.is_empty() {
            writeln!(out, "`{}` has no notes.", study.settings().name)?;
        } else {
            for note in &notes {
                writeln!(out, "trial {}: {}", note.trial, note.text)?;
            }
        }
        return Ok(());
    };
    let Ok(trial) = trial.parse::<u64>() else {
        let message = format!("{trial:?} is no number of a trial; give [STUDY] TRIAL TEXT");
        return Err(Usage(message).into());
    };
    let study = which.open()?;
    study.note(trial, text)?;
    let removed = text.trim().is_empty();
    if arguments.print.json {
        writeln!(out, "{}", serde_json::json!({ "trial": trial, "note": text.trim() }))?;
    } else if removed {
        writeln!(out, "Trial {trial} has no note.")?;
    } else {
        writeln!(out, "Noted on trial {trial}.")?;
    }
    Ok(())
}
