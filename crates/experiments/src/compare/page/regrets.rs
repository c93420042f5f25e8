//! Tables of median regrets: of the best point tried, and under noise of the one that a user would keep.

use std::fmt::Write as _;

use super::Report;
use crate::compare::board::Board;
use crate::compare::group::Group;
use crate::compare::rank::SOLVED;
use crate::compare::settings::{Suite, Tool};
use crate::summary::short;

impl Report<'_> {
    /// The median simple regrets at every checkpoint.
    pub(super) fn tables(&self, text: &mut String, board: &Board, group: &Group<'_>) {
        for evaluations in self.checkpoints(group) {
            self.medians(text, board, group, evaluations);
        }
    }

    /// The median simple regrets.
    pub(super) fn medians(
        &self,
        text: &mut String,
        board: &Board,
        group: &Group<'_>,
        evaluations: usize,
    ) {
        let tools = board.tools(group, evaluations);
        if tools.is_empty() {
            return;
        }
        let _ = write!(text, "### Median simple regret after {evaluations} evaluations\n\n");
        let median = |tool: &Tool, problem: &str| {
            board.median(&tool.name, problem, evaluations, "simple_regret")
        };
        table(text, group, &tools, median);
    }

    /// On noisy problems: the regret of the point that a user would keep.
    pub(super) fn incumbents(&self, text: &mut String, board: &Board, suite: Suite) {
        let group = Group::noisy(self.settings, suite);
        let shown: Vec<(usize, Vec<&Tool>)> = self
            .checkpoints(&group)
            .map(|evaluations| (evaluations, board.tools(&group, evaluations)))
            .filter(|(_, tools)| !tools.is_empty())
            .collect();
        if shown.is_empty() {
            return;
        }
        let _ = write!(
            text,
            "### Noisy problems: median regret of the point that a user would keep\n\nThe simple regret above is that of the \
             best point tried, which nobody knows under noise. Here it is the true regret of the point that the \
             method itself recommends where there is one (ours: the best by its model), and of the point with the lowest \
             observation otherwise.\n\n"
        );
        for (evaluations, tools) in shown {
            let _ = write!(text, "After {evaluations} evaluations:\n\n");
            let median = |tool: &Tool, problem: &str| {
                let of = |metric| board.median(&tool.name, problem, evaluations, metric);
                of("recommended_regret").or_else(|| of("incumbent_regret"))
            };
            table(text, &group, &tools, median);
        }
    }
}

/// A row a problem, a column a tool; the least in bold.
fn table(
    text: &mut String,
    group: &Group<'_>,
    tools: &[&Tool],
    median: impl Fn(&Tool, &str) -> Option<f64>,
) {
    let titles: Vec<&str> = tools.iter().map(|tool| tool.title.as_str()).collect();
    let _ = write!(
        text,
        "| problem | use | {} |\n|---|---|{}\n",
        titles.join(" | "),
        "---|".repeat(tools.len())
    );
    for subject in &group.subjects {
        let medians: Vec<Option<f64>> =
            tools.iter().map(|tool| median(tool, &subject.name)).collect();
        if medians.iter().all(Option::is_none) {
            continue;
        }
        let least = medians.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let cell = |median: &Option<f64>| match median {
            None => "-".to_owned(),
            Some(median) if median.max(SOLVED) <= least.max(SOLVED) => {
                format!("**{}**", short(*median))
            }
            Some(median) => short(*median),
        };
        let cells: Vec<String> = medians.iter().map(cell).collect();
        let role = if subject.tuning { "tuning" } else { "held out" };
        let _ = writeln!(text, "| {} | {role} | {} |", subject.name, cells.join(" | "));
    }
    text.push('\n');
}
