//! `wimble import`: trials that were evaluated elsewhere.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use wimble_study::exchange::{Format, Row, csv, json_lines, optuna};
use wimble_study::study_file::DEFAULT_METHOD;
use wimble_study::{Addition, Settings, Study};

use crate::format;
use crate::storage::{Storage, Which};

/// So many trials are added at a time.
const CHUNK: usize = 1_000;

/// Arguments of `wimble import`.
#[derive(Args)]
pub struct Arguments {
    /// The file to read
    file: PathBuf,
    /// The study to add to: its name or its study file [default: the only one of the storage]. When importing from Optuna, a study that does not exist is created
    /// with the search space of Optuna's distributions
    #[arg(long)]
    study: Option<String>,
    #[command(flatten)]
    storage: Storage,
    /// The format [default: by the ending of the file's name]
    #[arg(long, value_parser = format::parser())]
    format: Option<Format>,
    /// Which study of the Optuna storage [default: the only one]
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Adds the trials. Doing so again changes nothing.
pub fn run(arguments: &Arguments) -> Result<()> {
    let place = || arguments.file.display().to_string();
    let format = format::of(arguments.format, Some(&arguments.file))?;
    let (study, rows, notes) = if format == Format::Optuna {
        let found = optuna::read(&arguments.file, arguments.from.as_deref()).with_context(place)?;
        let rows = found.rows.clone();
        let notes = found.notes.clone();
        (open_for(arguments, Some(found))?, rows, notes)
    } else {
        let study = open_for(arguments, None)?;
        let text = std::fs::read_to_string(&arguments.file).with_context(place)?;
        let rows = match format {
            Format::Csv => csv::read(&study.settings().space, &study.settings().goal, &text),
            Format::Jsonl | Format::Optuna => json_lines::read(&text),
        };
        (study, rows.with_context(place)?, Vec::new())
    };
    let additions = additions(&study, &rows).with_context(place)?;
    let before = study.counts()?.total();
    for chunk in additions.chunks(CHUNK) {
        study.add(chunk)?;
    }
    let added = study.counts()?.total() - before;
    let known = additions.len() as u64 - added.min(additions.len() as u64);
    let name = &study.settings().name;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let report =
            serde_json::json!({ "study": name, "added": added, "known": known, "notes": notes });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    for note in notes {
        writeln!(out, "note: {note}")?;
    }
    let known = if known == 0 { String::new() } else { format!("; {known} were there already") };
    writeln!(out, "Added {added} trials to `{name}`{known}.")?;
    Ok(())
}

fn additions(study: &Study, rows: &[Row]) -> Result<Vec<Addition>> {
    rows.iter()
        .enumerate()
        .map(|(number, row)| {
            let addition = row.addition(&study.settings().goal).and_then(|addition| {
                study.settings().space.encode(&addition.configuration)?;
                study.settings().space.check_known(&addition.configuration)?;
                Ok(addition)
            });
            addition.with_context(|| {
                format!(
                    "trial {} of the file; nothing was added",
                    row.trial.unwrap_or(number as u64)
                )
            })
        })
        .collect()
}

/// The study to add to; one of Optuna's is created.
fn open_for(arguments: &Arguments, found: Option<optuna::Found>) -> Result<Study> {
    let which = Which::of(arguments.study.clone(), arguments.storage.clone());
    if which.path().is_some() {
        return which.open_or_create();
    }
    let Some(found) = found else { return which.open() };
    let store = arguments.storage.open()?;
    let name = arguments.study.clone().unwrap_or_else(|| found.name.clone());
    match Study::open(Arc::clone(&store), &name) {
        Err(wimble_study::Error::UnknownStudy { .. }) => {
            let mut settings =
                Settings::new(name, found.space?, DEFAULT_METHOD.parse()?).goal(found.goal);
            if let Some(all) = settings.space.cardinality() {
                settings.budget = settings.budget.min(u64::try_from(all).unwrap_or(u64::MAX));
            }
            Ok(Study::open_or_create(store, settings)?)
        }
        study => Ok(study?),
    }
}
