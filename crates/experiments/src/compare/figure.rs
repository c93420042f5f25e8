//! The comparison as figures: the median regret against evaluations, one panel a problem.

use super::board::Board;
use super::group::Group;
use super::rank::SOLVED;
use super::settings::{Settings, Subject, Suite};
use crate::plot::{Chart, Panel, Series};

const COLUMNS: usize = 4;

/// Lowest drawn regret. In a table the best configuration has none, and the second best at least 5e-6.
fn floor(suite: Suite) -> f64 {
    match suite {
        Suite::Functions | Suite::Racing => SOLVED,
        Suite::Fcnet => 1e-6,
    }
}

/// The file's name without extension.
pub(super) fn name(suite: Suite, batch_size: usize) -> String {
    format!("compare-{batch_size}-{}", suite.name())
}

/// The regrets on the problems of a suite; `None` if there are none.
pub(super) fn chart(
    settings: &Settings,
    suite: Suite,
    batch_size: usize,
    board: &Board,
) -> Option<Chart> {
    let group = Group::suite(settings, suite);
    let panel = |subject: &&Subject| Panel {
        title: subject.name.clone(),
        floor: floor(suite),
        series: series(settings, subject, batch_size, board),
    };
    let mut panels: Vec<Panel> = group.subjects.iter().map(panel).collect();
    panels.retain(|panel| !panel.series.is_empty());
    (!panels.is_empty()).then(|| Chart {
        x_label: "evaluations".to_owned(),
        y_label: "median simple regret".to_owned(),
        log_y: true,
        log_x_from: Some(settings.initial as f64),
        columns: COLUMNS,
        panels,
    })
}

/// The tools that are drawn and have runs on a problem.
fn series(settings: &Settings, subject: &Subject, batch_size: usize, board: &Board) -> Vec<Series> {
    let drawn = settings.tools.iter().filter(|tool| tool.drawn).enumerate();
    let series = drawn.map(|(colour, tool)| {
        // A run that was stopped keeps its last value, but has no evaluations beyond those it was meant to have.
        let end = settings.evaluations_of(tool, subject);
        let steps = (settings.initial + batch_size..=end).step_by(batch_size);
        let (x, y) = steps
            .map_while(|n| {
                Some((n as f64, board.median(&tool.name, &subject.name, n, "simple_regret")?))
            })
            .unzip();
        Series { title: tool.title.replace('*', ""), colour, x, y, band: None }
    });
    series.filter(|series| !series.x.is_empty()).collect()
}
