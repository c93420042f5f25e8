//! `wimble export`: trials for other programs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use wimble_study::exchange::{Format, Row, csv, json_lines, optuna};
use wimble_study::{Filter, Settings};

use crate::format;
use crate::storage::Which;

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
    let study = arguments.which.open()?;
    let format = match (&arguments.out, arguments.format) {
        (None, None) if arguments.json => Format::Jsonl,
        (None, None) => Format::Csv,
        (path, given) => format::of(given, path.as_deref())?,
    };
    let trials = study.trials(&Filter::default())?;
    if format == Format::Optuna {
        let Some(path) = &arguments.out else {
            bail!("Optuna's storage is a file: name it with --out FILE.db")
        };
        let count = optuna::write(path, study.settings(), &trials)
            .with_context(|| path.display().to_string())?;
        let hint = format!(
            "Wrote {count} finished trials. In Python: optuna.load_study(study_name={:?}, storage=\"sqlite:///{}\")",
            study.settings().name,
            path.display()
        );
        return acknowledge(arguments, path, count, Some(&hint));
    }
    let Settings { space, goal, .. } = study.settings();
    let rows: Vec<Row> = trials.iter().map(|trial| Row::new(trial, goal)).collect();
    let mut out: Box<dyn std::io::Write> = match &arguments.out {
        None => Box::new(std::io::stdout().lock()),
        Some(path) => Box::new(BufWriter::new(
            File::create(path).with_context(|| path.display().to_string())?,
        )),
    };
    match format {
        Format::Csv => csv::write(space, goal, &rows, &mut out)?,
        Format::Jsonl | Format::Optuna => json_lines::write(&rows, &mut out)?,
    }
    out.flush()?;
    match &arguments.out {
        Some(path) => acknowledge(arguments, path, rows.len(), None),
        None => Ok(()),
    }
}

/// Says what was written: to a program if it asked, to a user if there is something to know.
fn acknowledge(
    arguments: &Arguments,
    path: &Path,
    trials: usize,
    hint: Option<&str>,
) -> Result<()> {
    let mut out = std::io::stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::json!({ "written": path, "trials": trials }))?;
    } else if let Some(hint) = hint {
        writeln!(out, "{hint}")?;
    }
    Ok(())
}
