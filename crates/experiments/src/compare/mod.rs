//! The comparison with other tools: the same problems, initial points, noise and batch size for all.
//!
//! ```text
//! Plan::run ──▶ DIR/records/compare-<batch size>/*.jsonl, DIR/times/    (ours)
//! benches/peers/run ──▶ the same files                                 (others)
//! report ──▶ DIR/compare.md, DIR/compare-*.svg, DIR/compare-*.png
//! ```
//!
//! Others optimise exactly our functions: they send points to `wimble compare evaluate` and read values back
//! ([`Oracle`]). The report merges whatever records there are, and says what is missing.

pub mod board;
mod figure;
pub mod function;
pub mod group;
pub mod latency;
pub mod oracle;
mod page;
pub mod rank;
mod report;
pub mod run;
pub mod settings;

pub use board::Board;
pub use function::{Function, Observation};
pub use group::Group;
pub use latency::Latency;
pub use oracle::Oracle;
pub use report::report;
pub use run::Plan;
pub use settings::{Changes, Settings};
