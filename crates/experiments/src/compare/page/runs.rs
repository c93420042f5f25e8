//! How it was run: commands, rules, and which runs of each tool there are.

use std::fmt::Write as _;

use super::Report;
use crate::compare::group::Group;
use crate::compare::rank::SOLVED;
use crate::compare::settings::{Subject, Suite};

impl Report<'_> {
    /// The rules and the table of runs, of the published batch size.
    pub(super) fn runs(&self, text: &mut String) {
        let _ = write!(
            text,
            "## How it was run\n\nMachine: {}. Ours: `wimble-lab compare run`, `wimble-lab compare latency`; peers: \
             `benches/peers/run`; this page: `wimble-lab compare report`. A run ends after its evaluations, or when asking \
             has taken {} s of processor time. One that was stopped before N counts with the last \
             value it had; a tool is shown at N if at least half of its runs reached N. A dash in a table of regrets: the \
             tool was not meant to run there, or not so far, or has not run yet. Ranks: 1 is best, mean over problems of \
             the mean over seeds, regrets below {SOLVED:e} are equal; intervals are percentile bootstraps over problems \
             and seeds; a tool is ranked if it has at least half as many runs as the one with most. Runs ended below are \
             of those that the tool is meant to have.\n\n\
             | tool | functions | racing lines | tables | stopped early | evaluations | what was run |\n\
             |---|---|---|---|---|---|---|\n",
            self.machine, self.settings.ask_seconds
        );
        let board = self.boards.iter().find(|(size, _)| *size == self.settings.batch_size);
        let groups = Suite::ALL.map(|suite| Group::suite(self.settings, suite));
        let all: Vec<&Subject> = self.settings.problems.iter().collect();
        let mut without = Vec::new();
        for tool in &self.settings.tools {
            let ended = |group: &Group<'_>| match &group.meant(tool)[..] {
                [] => "-".to_owned(),
                meant => {
                    let ended = board.map_or(0, |(_, board)| board.ended(&tool.name, meant).0);
                    format!("{ended} of {}", meant.len() * self.settings.seeds)
                }
            };
            let aborted = board.map_or(0, |(_, board)| board.ended(&tool.name, &all).1);
            let what = board.map_or_else(Vec::new, |(_, board)| board.settings(&tool.name, &all));
            if what.is_empty() {
                without.push(tool.title.as_str());
                continue;
            }
            let _ = writeln!(
                text,
                "| {} | {} | {aborted} | {} | {} |",
                tool.title,
                groups.each_ref().map(ended).join(" | "),
                tool.evaluations.unwrap_or(self.settings.evaluations),
                what.join("<br>")
            );
        }
        if !without.is_empty() {
            let _ = write!(text, "\nWithout records, and in no table: {}.\n", without.join(", "));
        }
        if !self.failures.is_empty() {
            let _ = write!(text, "\nFailures:\n\n");
            for line in self.failures {
                let _ = writeln!(text, "- {line}");
            }
        }
    }
}
