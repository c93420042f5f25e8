//! `wimble stop`: ends a study that runs anywhere, without losing what runs.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;

use crate::format::Print;
use crate::storage::Which;

/// Arguments of `wimble stop`, `wimble pause` and `wimble resume`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub print: Print,
}

/// Lowers the budget to the trials that exist: workers finish what they run and what is queued, and then end.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    let counts = study.counts()?;
    // Imported trials are not part of the budget.
    let budget = (counts.total() - counts.imported).max(1);
    let before = study.settings().budget;
    if budget < before {
        study.set_budget(budget)?;
    }
    let mut out = crate::terminal::out();
    if arguments.print.json {
        let (running, queued) = (counts.running, counts.queued);
        let report = serde_json::json!({
            "study": study.settings().name, "budget": budget.min(before), "before": before,
            "running": running, "queued": queued,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    let name = &study.settings().name;
    let left = match counts.running + counts.queued {
        0 => "nothing is running or queued".to_owned(),
        _ => format!(
            "{} running and {} queued trials are still evaluated",
            counts.running, counts.queued
        ),
    };
    let (starts, trials) = match budget < before {
        true => ("starts", before.to_string()),
        // Its budget was spent, or an earlier `stop` lowered it: no number is known to go on with.
        false => ("already starts", format!("NUMBER, where NUMBER is above {before}")),
    };
    let storage = arguments.which.storage.words();
    writeln!(out, "`{name}` {starts} no new trial: {left}.")?;
    writeln!(out, "To go on: wimble run STUDY_FILE{storage} --trials {trials}")?;
    Ok(())
}
