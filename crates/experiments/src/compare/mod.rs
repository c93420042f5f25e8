//! The comparison with other tools: the same problems, initial points, noise and batch size for all.
//!
//! ```text
//! Settings (an Experiment) ── run ──▶ DIR/records/compare-<batch size>/*.jsonl, DIR/times/    (ours)
//! benches/peers/run ──▶ the same files                                                       (others)
//! report ──▶ DIR/compare.md, DIR/compare-*.svg
//! ```
//!
//! Others optimise exactly our functions: they send points to `wimble-lab compare evaluate` and read values back
//! ([`Domain`]). Several objectives and constraints have settings, records and pages of their own ([`tasks`]), and so have the
//! functions of COCO ([`coco`]). The report merges whatever records there are, and says what is missing.

pub mod board;
pub mod coco;
pub mod domain;
mod figure;
pub mod group;
pub mod latency;
pub mod objective;
mod page;
pub mod rank;
mod report;
pub mod settings;
pub mod tasks;

pub use board::Board;
pub use domain::{Answer, Domain};
pub use group::Group;
pub use latency::Latency;
pub use report::report;
pub use settings::{Changes, Settings};
