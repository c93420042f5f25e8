//! `wimble export`: trials for other programs.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use wimble_study::exchange::{Format, Row, csv, json_lines, optuna};
use wimble_study::{Address, Filter, Settings};

use crate::format;
use crate::storage::{Storage, Which};

/// Arguments of `wimble export`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format [default: by the ending of the file's name, or csv]
    #[arg(long, value_parser = format::parser())]
    format: Option<Format>,
    /// Print one JSON object that names the file; without --out the trials themselves are printed, as --format jsonl
    #[arg(long)]
    json: bool,
}

/// Writes all trials; to Optuna, the finished ones.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    let format = match (&arguments.out, arguments.format) {
        (None, None) if arguments.json => Format::Jsonl,
        (None, None) => Format::Csv,
        (path, given) => format::of(given, path.as_deref())?,
    };
    if let Some(path) = &arguments.out {
        refuse_storage(&arguments.which.storage, path)?;
    }
    if format == Format::Optuna {
        let Some(path) = &arguments.out else {
            bail!("Optuna's storage is a file: name it with --out FILE.db")
        };
        let trials = study.each_trial(&Filter::default());
        let steps = |trial| study.steps(trial);
        let count = optuna::write(path, study.settings(), trials, &steps)
            .with_context(|| path.display().to_string())?;
        let hint = format!(
            "Wrote {count} finished trials. In Python: optuna.load_study(study_name={:?}, storage=\"sqlite:///{}\")",
            study.settings().name,
            path.display()
        );
        return acknowledge(arguments, path, count, Some(&hint));
    }
    let Settings { space, goal, .. } = study.settings();
    let (all, count) = (&study, &Cell::new(0));
    let rows = move || -> csv::Rows<'_> {
        count.set(0);
        // What cannot be read does not keep the rest from being saved.
        let is_readable = |trial: &wimble_study::Result<_>| match trial {
            Err(error @ wimble_study::Error::Corrupt { .. }) => {
                crate::terminal::say(&format!("left out: {error}"));
                false
            }
            _ => true,
        };
        Box::new(all.each_trial(&Filter::default()).filter(is_readable).map(move |trial| {
            count.set(count.get() + 1);
            let trial = trial?;
            let row = Row::new(&trial, goal);
            // A table has no place for curves.
            match goal.partial() {
                Some(_) if format != Format::Csv => Ok(row.with_steps(&all.steps(trial.id)?, goal)),
                _ => Ok(row),
            }
        }))
    };
    let mut out: Box<dyn std::io::Write> = match &arguments.out {
        None => Box::new(crate::terminal::out()),
        Some(path) => Box::new(BufWriter::new(
            File::create(path).with_context(|| path.display().to_string())?,
        )),
    };
    match format {
        Format::Csv => csv::write(space, goal, &rows, &mut out)?,
        Format::Jsonl | Format::Optuna => json_lines::write(rows(), &mut out)?,
    }
    out.flush()?;
    match &arguments.out {
        Some(path) => acknowledge(arguments, path, count.get(), None),
        None => Ok(()),
    }
}

/// Says what was written; to a user with what to know of it.
fn acknowledge(
    arguments: &Arguments,
    path: &Path,
    trials: usize,
    hint: Option<&str>,
) -> Result<()> {
    let mut out = crate::terminal::out();
    if arguments.json {
        writeln!(out, "{}", serde_json::json!({ "written": path, "trials": trials }))?;
    } else {
        match hint {
            Some(hint) => writeln!(out, "{hint}")?,
            None => writeln!(out, "Wrote {trials} trials to {}.", path.display())?,
        }
    }
    Ok(())
}

/// Refuses to write over the storage that is read, by whatever name or link it is reached.
fn refuse_storage(storage: &Storage, out: &Path) -> Result<()> {
    let Address::Sqlite(path) = storage.address()? else { return Ok(()) };
    let file = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let of_storage = ["", "-wal", "-shm", "-journal"].map(|ending| {
        let mut name = path.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    });
    let same = of_storage
        .iter()
        .any(|part| part == out || file(part).is_some_and(|part| file(out) == Some(part)));
    if same {
        bail!(
            "{} is the storage itself, which the export would destroy; write to another file",
            out.display()
        );
    }
    Ok(())
}
