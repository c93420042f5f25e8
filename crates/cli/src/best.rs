//! `wimble best`: the best configurations.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;

use crate::row::Row;
use crate::storage::{Storage, Which};
use crate::{run, table};

/// Arguments of `wimble best`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    storage: Storage,
    /// So many of them
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Print JSON: an object, or a list with --count
    #[arg(long)]
    json: bool,
}

/// Prints the best trials.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open(&arguments.storage.existing()?)?;
    let trials = study.best_trials(arguments.count as usize)?;
    let Some(best) = study.best()? else {
        let counts = study.counts()?;
        bail!(
            "study `{}` has no value yet: {} running, {} queued, {} failed, {} infeasible",
            study.settings().name,
            counts.running,
            counts.queued,
            counts.failed,
            counts.infeasible
        );
    };
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let rows: Vec<Row> = trials.iter().map(Row::new).collect();
        match &rows[..] {
            [only] if arguments.count == 1 => writeln!(out, "{}", serde_json::to_string(only)?)?,
            rows => writeln!(out, "{}", serde_json::to_string(rows)?)?,
        }
    } else if arguments.count == 1 {
        write!(out, "{}", run::describe(&best))?;
    } else {
        write!(out, "{}", table::trials(&study.settings().space, &trials))?;
    }
    Ok(())
}
