//! `wimble import`: trials that were evaluated elsewhere.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use wimble_study::attributes::LARGEST;
use wimble_study::exchange::{Format, Row, csv, json_lines, optuna};
use wimble_study::study_file::DEFAULT_METHOD;
use wimble_study::{Addition, Settings, Study};

use crate::format::{self, Print};
use crate::storage::{Storage, Which};

/// So many trials are added at a time.
const CHUNK: usize = 100;

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
    #[command(flatten)]
    print: Print,
}

/// Adds the trials. Doing so again changes nothing.
pub fn run(arguments: &Arguments) -> Result<()> {
    let place = || arguments.file.display().to_string();
    let format = format::of(arguments.format, Some(&arguments.file))?;
    let (study, source) = if format == Format::Optuna {
        let found = optuna::read(&arguments.file, arguments.from.as_deref()).with_context(place)?;
        (open_for(arguments, Some(&found))?, Source::Optuna(Box::new(found)))
    } else {
        (open_for(arguments, None)?, Source::open(&arguments.file, format).with_context(place)?)
    };
    let mut left_out = Vec::new();
    // All are checked before the first is added.
    let mut count = 0_u64;
    let mut notes = source
        .each(&study, &mut |row| {
            addition(&study, &row, count, &mut left_out)?;
            count += 1;
            Ok(())
        })
        .with_context(place)?;
    notes.append(&mut left_out);
    let before = study.counts()?.total();
    let mut chunk = Vec::with_capacity(CHUNK);
    source
        .each(&study, &mut |row| {
            chunk.push(addition(&study, &row, 0, &mut Vec::new())?);
            if chunk.len() == CHUNK {
                study.add(&chunk)?;
                chunk.clear();
            }
            Ok(())
        })
        .with_context(place)?;
    study.add(&chunk)?;
    let added = study.counts()?.total() - before;
    let known = count - added.min(count);
    let name = &study.settings().name;
    let mut out = crate::terminal::out();
    if arguments.print.json {
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

/// Where rows come from. They are gone through twice, and never all in memory.
enum Source {
    Optuna(Box<optuna::Found>),
    File(PathBuf, Format),
    /// What cannot be read twice, such as a pipe.
    Text(Vec<u8>, Format),
}

impl Source {
    fn open(path: &Path, format: Format) -> Result<Self> {
        if std::fs::metadata(path)?.is_file() {
            return Ok(Self::File(path.to_owned(), format));
        }
        Ok(Self::Text(std::fs::read(path)?, format))
    }

    /// Gives every row to `each`. Returns what a user should know.
    fn each(&self, study: &Study, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<Vec<String>> {
        let Settings { space, goal, .. } = study.settings();
        let mut read = |text: &mut dyn BufRead, format: Format| match format {
            Format::Csv => csv::read(space, goal, text, &mut *each),
            Format::Jsonl | Format::Optuna => json_lines::read(text, &mut *each),
        };
        match self {
            Self::File(path, format) => read(&mut BufReader::new(File::open(path)?), *format)?,
            Self::Text(text, format) => read(&mut text.as_slice(), *format)?,
            Self::Optuna(found) => return found.each(each),
        }
        Ok(Vec::new())
    }
}

/// A row as a trial to add. An attribute that is too large is left out, and named.
fn addition(study: &Study, row: &Row, number: u64, notes: &mut Vec<String>) -> Result<Addition> {
    let number = row.trial.unwrap_or(number);
    let addition = row.addition(&study.settings().goal).and_then(|mut addition| {
        study.settings().space.encode(&addition.configuration)?;
        study.settings().space.check_known(&addition.configuration)?;
        for (name, size) in addition.attributes.cut_to_size() {
            notes.push(format!(
                "trial {number}: the attribute `{name}` was left out, with {size} bytes of JSON; a trial keeps {LARGEST}"
            ));
        }
        Ok(addition)
    });
    addition.with_context(|| format!("trial {number} of the file; nothing was added"))
}

/// The study to add to; one of Optuna's is created.
fn open_for(arguments: &Arguments, found: Option<&optuna::Found>) -> Result<Study> {
    let which = Which::of(arguments.study.clone(), arguments.storage.clone());
    if which.path().is_some() {
        return which.open_or_create();
    }
    let Some(found) = found else { return which.open() };
    let store = arguments.storage.open()?;
    let name = arguments.study.clone().unwrap_or_else(|| found.name.clone());
    match Study::open(Arc::clone(&store), &name) {
        Err(wimble_study::Error::UnknownStudy { .. }) => {
            let space = match &found.space {
                Ok(space) => space.clone(),
                Err(reason) => bail!("{reason}"),
            };
            let mut settings =
                Settings::new(name, space, DEFAULT_METHOD.parse()?).goal(found.goal.clone());
            if let Some(all) = settings.space.cardinality() {
                settings.budget = settings.budget.min(u64::try_from(all).unwrap_or(u64::MAX));
            }
            Ok(Study::open_or_create(store, settings)?)
        }
        study => Ok(study?),
    }
}
