//! Tables of average ranks.

use std::fmt::Write as _;

use super::{Report, plain};
use crate::compare::board::Board;
use crate::compare::group::Group;
use crate::compare::rank::{AverageRank, average_ranks};
use crate::compare::settings::Tool;

/// The ranks of a group after some evaluations.
struct Ranks<'s> {
    tools: Vec<&'s Tool>,
    /// By tool.
    all: Vec<AverageRank>,
    /// By tool; empty if no problem is held out.
    held_out: Vec<AverageRank>,
    runs: usize,
    problems: usize,
    /// Problems that not all of the tools have a run of.
    missing: Vec<&'s str>,
}

impl<'s> Ranks<'s> {
    /// `None` if there are not two tools with a run in common.
    fn of(board: &Board, group: &Group<'s>, evaluations: usize) -> Option<Self> {
        let tools = board.ranked(group, evaluations);
        let cells = board.cells(&group.subjects, &tools, evaluations, "simple_regret");
        if tools.len() < 2 || cells.is_empty() {
            return None;
        }
        let is_there = |name: &str| cells.iter().any(|(subject, _)| subject.name == name);
        let names = group.subjects.iter().map(|subject| subject.name.as_str());
        let missing = names.filter(|name| !is_there(name)).collect();
        let held_out = cells.iter().filter(|(subject, _)| !subject.tuning);
        let held_out: Vec<_> = held_out.map(|(_, rows)| rows.clone()).collect();
        let all: Vec<_> = cells.into_iter().map(|(_, rows)| rows).collect();
        Some(Self {
            runs: all.iter().map(Vec::len).sum(),
            problems: all.len(),
            missing,
            held_out: average_ranks(&held_out),
            all: average_ranks(&all),
            tools,
        })
    }

    /// The places of the tools, the best first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tools.len()).collect();
        order.sort_by(|&a, &b| self.all[a].mean.total_cmp(&self.all[b].mean));
        order
    }
}

impl Report<'_> {
    /// The average ranks on a group, with what is missing for conclusions; `None` if no two tools have a run in common.
    pub(super) fn ranks(
        &self,
        board: &Board,
        group: &Group<'_>,
        evaluations: usize,
        title: &str,
    ) -> Option<String> {
        let ranks = Ranks::of(board, group, evaluations)?;
        let mut text = String::new();
        let _ = write!(
            text,
            "**{title}**, {} tools with {} runs on {} problems in common:\n\n\
             | tool | average rank | 95 % | behind the first, 95 % | held out only | 95 % |\n|---|---|---|---|---|---|\n",
            ranks.tools.len(),
            ranks.runs,
            ranks.problems
        );
        let interval = |rank: &AverageRank| format!("{:.2} to {:.2}", rank.lower95, rank.upper95);
        let behind = |rank: &AverageRank| match rank.behind95 {
            (0.0, 0.0) => "-".to_owned(),
            (lower, upper) => format!("{lower:.2} to {upper:.2}"),
        };
        for place in ranks.order() {
            let held_out = ranks.held_out.get(place);
            let _ = writeln!(
                text,
                "| {} | {:.2} | {} | {} | {} | {} |",
                ranks.tools[place].title,
                ranks.all[place].mean,
                interval(&ranks.all[place]),
                behind(&ranks.all[place]),
                held_out.map_or_else(|| "-".to_owned(), |rank| format!("{:.2}", rank.mean)),
                held_out.map_or_else(|| "-".to_owned(), interval)
            );
        }
        let meant = group.subjects.len() * self.settings.seeds;
        if ranks.runs < meant {
            let _ = write!(
                text,
                "\n**Not for conclusions:** {} of the {meant} runs that each of these tools is meant to have",
                ranks.runs
            );
            if !ranks.missing.is_empty() {
                let _ = write!(text, "; none on {}", ranks.missing.join(", "));
            }
            text.push_str(". What is missing is not a random part.\n");
        }
        let left: Vec<String> = board
            .tools(group, evaluations)
            .into_iter()
            .filter(|tool| group.meant(tool).len() == group.subjects.len())
            .filter(|tool| !ranks.tools.iter().any(|ranked| ranked.name == tool.name))
            .map(plain)
            .collect();
        if !left.is_empty() {
            let _ = write!(
                text,
                "\nNot ranked, for too few of their runs are there: {}.\n",
                left.join(", ")
            );
        }
        text.push('\n');
        Some(text)
    }

    /// The average ranks at all checkpoints in one table, over whatever problems there are.
    pub(super) fn ranks_in_brief(&self, text: &mut String, board: &Board, group: &Group<'_>) {
        let columns: Vec<(usize, Ranks<'_>)> = self
            .checkpoints(group)
            .filter_map(|evaluations| Some((evaluations, Ranks::of(board, group, evaluations)?)))
            .collect();
        if columns.is_empty() {
            return;
        }
        let heads: Vec<String> = columns
            .iter()
            .map(|(evaluations, ranks)| format!("{evaluations} ({} runs)", ranks.runs))
            .collect();
        let _ = write!(
            text,
            "Average rank (95 %) after N evaluations, over the runs that the tools of a column have in common:\n\n\
             | tool | {} |\n|---|{}\n",
            heads.join(" | "),
            "---|".repeat(columns.len())
        );
        for tool in &group.tools {
            let cell = |(_, ranks): &(usize, Ranks<'_>)| {
                let place = ranks.tools.iter().position(|ranked| ranked.name == tool.name)?;
                let rank = ranks.all[place];
                Some(format!("{:.2} ({:.2} to {:.2})", rank.mean, rank.lower95, rank.upper95))
            };
            let cells: Vec<Option<String>> = columns.iter().map(cell).collect();
            if cells.iter().any(Option::is_some) {
                let cells: Vec<String> =
                    cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned())).collect();
                let _ = writeln!(text, "| {} | {} |", tool.title, cells.join(" | "));
            }
        }
        text.push('\n');
    }
}
