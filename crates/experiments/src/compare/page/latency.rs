//! The table of ask times.

use std::fmt::Write as _;

use super::{OURS, Report};
use crate::compare::latency::Latency;

/// Evaluations at which tools are set in ratio to ours.
const RATIO_AT: usize = 2000;

impl Report<'_> {
    /// How long one ask takes after N evaluations.
    pub(super) fn latency(&self, text: &mut String) {
        let Some(first) = self.latencies.first() else { return };
        let sizes = &self.settings.latency_sizes;
        let of = |latency: &Latency, size| {
            latency
                .at(size)
                .map_or_else(|| "-".to_owned(), |seconds| format!("{:.1}", 1e3 * seconds))
        };
        let header: Vec<String> = sizes.iter().map(|size| format!("N = {size}")).collect();
        let _ = write!(
            text,
            "## Time of one ask of {} points after N evaluations of {}, in milliseconds\n\nMedian CPU time of the \
             process over five asks, one thread for peers. A dash: too long, or not measured.\n\n\
             | tool | {} | ratio to {OURS} at {RATIO_AT} |\n|---|{}---|\n",
            first.batch_size,
            first.problem,
            header.join(" | "),
            "---|".repeat(sizes.len())
        );
        let ours = self.latencies.iter().find(|latency| latency.tool == OURS);
        let ours = ours.and_then(|latency| latency.at(RATIO_AT));
        for tool in &self.settings.tools {
            let Some(latency) = self.latencies.iter().find(|latency| latency.tool == tool.name)
            else {
                continue;
            };
            let cells: Vec<String> = sizes.iter().map(|&size| of(latency, size)).collect();
            let ratio = match (latency.at(RATIO_AT), ours) {
                (Some(theirs), Some(ours)) if ours > 0.0 => format!("{:.1}", theirs / ours),
                _ => "-".to_owned(),
            };
            let _ = writeln!(text, "| {} | {} | {ratio} |", tool.title, cells.join(" | "));
        }
        text.push('\n');
    }
}
