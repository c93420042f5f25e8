//! The laboratory: experiments as a pipeline of plain records: run -> record -> summarise -> plot.
//!
//! ```text
//! paper::Plan, compare::Settings ──▶ run ──▶ DIR/records/<figure>/<problem>__<method>__<trial>.jsonl
//! paper::summarise, paper::draw, compare::report ──▶ tables, pages and figures
//! ```
//!
//! The paper's figures and the comparison with other tools are two sets of settings over one runner ([`run()`]). Each stage
//! reads files and writes files, so that any of them can be done again alone. A run that was stopped goes on where it was;
//! the same seed gives the same records on any number of threads, except where a time limit ends a trial.

mod benchmark;
mod choice;
pub mod compare;
pub mod data;
pub mod error;
pub mod mnist;
pub mod objective;
pub mod oracle;
pub mod paper;
mod parallel;
mod plot;
pub mod racing;
pub mod record;
pub mod run;
mod search;
pub mod summary;

pub use error::{Error, Result};
pub use run::{Done, Experiment, Place, run};
