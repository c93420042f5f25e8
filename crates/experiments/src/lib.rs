//! The paper's experiments as a pipeline of plain records: run -> record -> summarise -> plot.
//!
//! ```text
//! Figure::settings ── Plan::run ──▶ DIR/records/<figure>/<problem>__<method>__<trial>.jsonl
//! summarise ──▶ DIR/summary.csv, DIR/<figure>.md        plot ──▶ DIR/<figure>.svg, DIR/<figure>.png
//! ```
//!
//! Each stage reads files and writes files, so that any of them can be done again alone. A run that was stopped goes on
//! where it was; the same seed gives the same records on any number of threads, except where a time limit ends a trial.

mod benchmark;
pub mod claim;
pub mod compare;
pub mod data;
pub mod error;
pub mod mnist;
pub mod objective;
pub mod page;
pub mod plot;
pub mod racing;
pub mod record;
pub mod run;
mod search;
pub mod settings;
pub mod summary;
mod theory;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::{Error, Result};
pub use run::{Done, Plan};
pub use settings::{Changes, Figure, Settings};

use record::Records;

/// What summarising found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summarised {
    /// Figures with records.
    pub figures: Vec<Figure>,
    /// Lines of records that could not be read.
    pub corrupt_lines: usize,
    /// Trials begun and not ended.
    pub open_trials: usize,
}

/// Writes `summary.csv` and one page a figure from the records under `dir`.
pub fn summarise(dir: &Path) -> Result<Summarised> {
    let mut summarised = Summarised::default();
    let mut table = Vec::new();
    for figure in Figure::ALL {
        let records = Records::read(dir, figure)?;
        summarised.corrupt_lines += records.corrupt_lines;
        summarised.open_trials += records.trials.len() - records.ended();
        if records.trials.is_empty() {
            continue;
        }
        summarised.figures.push(figure);
        let rows = summary::rows(figure, &records);
        let page = page::page(dir, figure, &figure.settings()?, &records, &rows);
        let path = dir.join(format!("{figure}.md"));
        fs::write(&path, page).map_err(Error::file(&path))?;
        table.extend(rows);
    }
    if summarised.figures.is_empty() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no records",
            remedy: "run a figure into it first, such as `wimble paper fig1 --quick --out` with this folder",
        });
    }
    summary::write(&dir.join("summary.csv"), &table)?;
    Ok(summarised)
}

/// Draws every figure of `summary.csv` in `dir`; the paths written.
pub fn plot(dir: &Path) -> Result<Vec<PathBuf>> {
    let path = dir.join("summary.csv");
    if !path.is_file() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no summary.csv",
            remedy: "make it first with `wimble paper summarise` and this folder",
        });
    }
    let rows = summary::read(&path)?;
    let mut written = Vec::new();
    for figure in Figure::ALL {
        if rows.iter().any(|row| row.figure == figure.name()) {
            written.extend(plot::draw(dir, figure, &figure.settings()?, &rows)?);
        }
    }
    Ok(written)
}
