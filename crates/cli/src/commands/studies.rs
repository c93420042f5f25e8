//! `wimble studies`: what a storage holds.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use comfy_table::CellAlignment;

use crate::storage::Storage;
use crate::{progress, table};

/// Arguments of `wimble studies`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    storage: Storage,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Prints the studies.
pub fn run(arguments: &Arguments) -> Result<()> {
    let store = arguments.storage.existing()?;
    let mut out = std::io::stdout().lock();
    let mut rows = table::plain([
        "study", "trials", "complete", "failed", "running", "queued", "best", "method",
    ]);
    for name in store.studies()? {
        let (settings, counts) = (store.study(&name)?.settings, store.counts(&name)?);
        let best = store
            .best(&name, 1)?
            .pop()
            .and_then(|trial| trial.outcome().and_then(wimble_study::Outcome::value));
        if arguments.json {
            let row = serde_json::json!({
                "study": name, "counts": counts, "budget": settings.budget, "best": best,
                "method": settings.method.to_string(), "direction": settings.direction,
            });
            writeln!(out, "{row}")?;
            continue;
        }
        rows.add_row([
            name,
            counts.total().to_string(),
            counts.valued.to_string(),
            (counts.failed + counts.infeasible).to_string(),
            counts.running.to_string(),
            counts.queued.to_string(),
            best.map_or_else(|| "-".to_owned(), progress::short),
            settings.method.name().to_owned(),
        ]);
    }
    if !arguments.json {
        for (k, column) in rows.column_iter_mut().enumerate() {
            if (1..7).contains(&k) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        write!(out, "{}", table::text(&rows))?;
    }
    Ok(())
}
