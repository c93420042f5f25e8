//! `wimble export`: trials for other programs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use wimble_study::Filter;

use crate::exchange::{Format, csv, json_lines, optuna};
use crate::row::Row;
use crate::storage::{Storage, Which};

/// Arguments of `wimble export`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    storage: Storage,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format [default: by the ending of the file's name, or csv]
    #[arg(long)]
    format: Option<Format>,
}

/// Writes all trials; to Optuna, the finished ones.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open(&arguments.storage.existing()?)?;
    let format = match (&arguments.out, arguments.format) {
        (None, None) => Format::Csv,
        (path, given) => Format::of(given, path.as_deref())?,
    };
    let trials = study.trials(&Filter::default())?;
    if format == Format::Optuna {
        let Some(path) = &arguments.out else {
            bail!("Optuna's storage is a file: name it with --out FILE.db")
        };
        let count = optuna::write(path, study.settings(), &trials)
            .with_context(|| path.display().to_string())?;
        writeln!(
            std::io::stdout(),
            "Wrote {count} finished trials. In Python: optuna.load_study(study_name={:?}, storage=\"sqlite:///{}\")",
            study.settings().name,
            path.display()
        )?;
        return Ok(());
    }
    let rows: Vec<Row> = trials.iter().map(Row::new).collect();
    let mut out: Box<dyn std::io::Write> = match &arguments.out {
        None => Box::new(std::io::stdout().lock()),
        Some(path) => Box::new(BufWriter::new(
            File::create(path).with_context(|| path.display().to_string())?,
        )),
    };
    match format {
        Format::Csv => csv::write(&study.settings().space, &rows, &mut out)?,
        Format::Jsonl | Format::Optuna => json_lines::write(&rows, &mut out)?,
    }
    out.flush()?;
    Ok(())
}
