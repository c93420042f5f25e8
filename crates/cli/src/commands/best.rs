//! `wimble best`: the best configurations, and the one to keep.
//!
//! Trials are listed by their values. Where values are noisy, the best of many may be luck, and the method may
//! recommend another trial; a line below the table says which. To find it the method reads the whole history. In a
//! study of more than [`SMALL`] trials it does so only with `--recommended`.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;
use wimble_study::exchange::Row;
use wimble_study::{Best, Study, Trial};

use crate::storage::{Which, quoted};
use crate::{best_trial, table};

/// The most trials for which `best` finds the recommended one without `--recommended`: it takes a fraction of a second.
const SMALL: u64 = 10_000;

/// Arguments of `wimble best`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Number of trials to show
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Show only the trial to keep. Where values are noisy the best value may be luck, and a method that models the noise
    /// (auto) may recommend another trial. Reads the whole history
    #[arg(long, conflicts_with = "count")]
    recommended: bool,
    /// Print JSON: one object, or a list with --count. `recommended` is the number of the trial to keep; in a study of more
    /// than 10000 trials it is there only with --recommended
    #[arg(long)]
    json: bool,
}

/// Prints the best trials.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    let mut trials = study.best_trials(arguments.count as usize)?;
    let Some(best) = trials.first().cloned().and_then(Trial::into_best) else {
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
    let recommended = match arguments.recommended || study.counts()?.finished() <= SMALL {
        true => study.recommend()?,
        false => None,
    };
    if let Some(kept) = recommended.as_ref().filter(|_| arguments.recommended) {
        trials = vec![study.trial(kept.trial)?];
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        let mut rows = Vec::with_capacity(trials.len());
        for trial in &trials {
            let mut row = serde_json::to_value(Row::new(trial))?;
            if let Some(kept) = &recommended {
                row["recommended"] = kept.trial.into();
            }
            rows.push(row);
        }
        match &rows[..] {
            [only] if arguments.count == 1 => writeln!(out, "{only}")?,
            rows => writeln!(out, "{}", serde_json::to_string(rows)?)?,
        }
        return Ok(());
    }
    if let Some(kept) = recommended.as_ref().filter(|_| arguments.recommended) {
        write!(out, "{}", best_trial::describe("Recommended", kept))?;
        writeln!(out, "{}", reason(&study, kept, &best))?;
        return Ok(());
    }
    if arguments.count == 1 {
        write!(out, "{}", best_trial::describe("Best", &best))?;
    } else {
        write!(out, "{}", table::trials(&study.settings().space, &trials))?;
    }
    if let Some(kept) = recommended.filter(|kept| kept.trial != best.trial) {
        let (name, words) = (quoted(&study.settings().name), arguments.which.storage.words());
        writeln!(out, "\n{}", best_trial::expected_best(&study, &kept))?;
        writeln!(out, "To see it: wimble best {name} --recommended{words}")?;
    }
    Ok(())
}

/// Why a trial is recommended.
fn reason(study: &Study, kept: &Best, best: &Best) -> String {
    let method = study.settings().method.name();
    if kept.trial == best.trial {
        return "It also has the best value found.".to_owned();
    }
    format!(
        "{method}'s model expects it to be best on average; the best value, {} (trial {}), is probably luck.",
        best.value, best.trial
    )
}
