//! `wimble importance`: which parameters matter, and how sure that is.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use comfy_table::CellAlignment;
use wimble::importance::{Estimate, Importance};

use crate::storage::Which;
use crate::table;

/// The longest bar, in characters.
const BAR: f64 = 20.0;
/// R² below which the model predicts too little for its shares to be believed.
const LITTLE: f64 = 0.3;

/// Arguments of `wimble importance`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The objective or constrained quantity to explain [default: every objective]
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
    /// Print JSON: one object a quantity, one a line
    #[arg(long)]
    json: bool,
}

/// Prints the share of each parameter.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    let quantities: Vec<String> = match &arguments.of {
        Some(name) => vec![name.clone()],
        None => study.settings().goal.objectives().iter().map(|one| one.name.clone()).collect(),
    };
    let mut out = crate::terminal::out();
    for (k, quantity) in quantities.iter().enumerate() {
        let found = study.importance(quantity)?;
        if arguments.json {
            let mut object = serde_json::to_value(&found)?;
            object["study"] = study.settings().name.clone().into();
            object["quantity"] = quantity.clone().into();
            writeln!(out, "{object}")?;
            continue;
        }
        if k > 0 {
            writeln!(out)?;
        }
        writeln!(out, "Share of the variance of `{quantity}` that each parameter causes")?;
        write!(out, "\n{}\n", shares(&found))?;
        writeln!(out, "{}", worth(&found))?;
    }
    Ok(())
}

/// A row a parameter, the most important first.
fn shares(found: &Importance) -> String {
    let mut rows = table::plain(["parameter", "total", "90 % of refits", "alone", ""]);
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    for share in found.ranked() {
        let Estimate { mean, low, high } = share.total;
        let bar = "█".repeat((BAR * mean).round() as usize);
        let range = format!("{} to {}", percent(low), percent(high));
        rows.add_row([share.name.clone(), percent(mean), range, percent(share.alone.mean), bar]);
    }
    for (k, column) in rows.column_iter_mut().enumerate() {
        if (1..4).contains(&k) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table::text(&rows)
}

/// How far the shares are to be believed.
fn worth(found: &Importance) -> String {
    let Importance { explained, trials, .. } = found;
    let predicted = format!(
        "A model of {trials} trials predicts those that it has not seen with R² = {explained:.2}."
    );
    if *explained < LITTLE {
        return format!("{predicted} That is little: do not rely on these shares yet.");
    }
    format!(
        "{predicted}\n`total` counts what a parameter does together with others, `alone` does not."
    )
}
