//! Tables of median regrets: of the best point tried, and under noise of the one that a user would keep.

use std::fmt::Write as _;

use super::Report;
use crate::compare::board::Board;
use crate::compare::group::Group;
use crate::compare::rank::SOLVED;
use crate::compare::settings::{Suite, Tool};
use crate::summary::{quantile, short};

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
            Median::of(&board.sorted(&tool.name, problem, evaluations, "simple_regret"))
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
                let of =
                    |metric| Median::of(&board.sorted(&tool.name, problem, evaluations, metric));
                of("recommended_regret").or_else(|| of("incumbent_regret"))
            };
            table(text, &group, &tools, median);
        }
    }
}

/// A median, and of how many runs.
#[derive(Clone, Copy)]
struct Median {
    value: f64,
    runs: usize,
}

impl Median {
    /// Of values in order; `None` if there are none.
    fn of(values: &[f64]) -> Option<Self> {
        (!values.is_empty()).then(|| Self { value: quantile(values, 0.5), runs: values.len() })
    }

    /// The value; that of a single run is marked.
    fn shown(self) -> String {
        format!("{}{}", short(self.value), if self.runs == 1 { "¹" } else { "" })
    }
}

/// A row a problem, a column a tool; the least in bold. A value of one run is no median, and is marked.
fn table(
    text: &mut String,
    group: &Group<'_>,
    tools: &[&Tool],
    median: impl Fn(&Tool, &str) -> Option<Median>,
) {
    let titles: Vec<&str> = tools.iter().map(|tool| tool.title.as_str()).collect();
    let _ = write!(
        text,
        "| problem | use | {} |\n|---|---|{}\n",
        titles.join(" | "),
        "---|".repeat(tools.len())
    );
    let mut is_single = false;
    for subject in &group.subjects {
        let medians: Vec<Option<Median>> =
            tools.iter().map(|tool| median(tool, &subject.name)).collect();
        if medians.iter().all(Option::is_none) {
            continue;
        }
        let values = medians.iter().flatten().map(|median| median.value);
        let least = values.fold(f64::INFINITY, f64::min);
        is_single |= medians.iter().flatten().any(|median| median.runs == 1);
        let cell = |median: &Option<Median>| match median {
            None => "-".to_owned(),
            Some(median) if median.value.max(SOLVED) <= least.max(SOLVED) => {
                format!("**{}**", median.shown())
            }
            Some(median) => median.shown(),
        };
        let cells: Vec<String> = medians.iter().map(cell).collect();
        let role = if subject.tuning { "tuning" } else { "held out" };
        let _ = writeln!(text, "| {} | {role} | {} |", subject.name, cells.join(" | "));
    }
    text.push('\n');
    if is_single {
        text.push_str("¹ one run\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::Median;

    #[test]
    fn the_value_of_one_run_is_marked() {
        let shown = |values: &[f64]| Median::of(values).map(Median::shown);
        assert_eq!(shown(&[]), None);
        assert_eq!(shown(&[0.5]).as_deref(), Some("0.500¹"));
        assert_eq!(shown(&[0.25, 0.5, 4.0]).as_deref(), Some("0.500"));
    }
}
