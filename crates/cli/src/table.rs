//! Tables of trials that fit a terminal of 80 columns, without colour.

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use wimble_study::exchange::row::state;
use wimble_study::{NamedValues, Outcome, Settings, Trial};

use crate::fidelity;
use crate::progress::short;

/// The widest table.
const WIDTH: usize = 80;
/// The widest cell; longer ones are cut.
const CELL: usize = 24;

/// Arguments of a command that lists what there is.
#[derive(Args)]
pub struct Listing {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// A table that fits, and the titles of the columns that did not.
pub struct Fitted {
    pub text: String,
    pub hidden: Vec<String>,
}

/// A table without lines.
pub fn plain(header: impl IntoIterator<Item = impl Into<Cell>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.into_iter().map(Into::into).collect::<Vec<Cell>>());
    table
}

/// A table as text, without spaces at the ends of lines.
pub fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Trials with their states, values and as many parameters as fit; the rest is in `wimble show` and `--json`.
pub fn trials(settings: &Settings, trials: &[Trial]) -> Fitted {
    let goal = &settings.goal;
    let states = column("state", trials, |trial| {
        let measurement = trial.outcome().and_then(Outcome::measurement);
        let part = measurement.map(|told| fidelity::part(goal, told)).unwrap_or_default();
        format!("{}{part}{}", state(trial, goal), fidelity::paused(goal, trial))
    });
    listed(settings, trials, Some(states))
}

/// Trials that all have values, without their states.
pub fn values(settings: &Settings, trials: &[Trial]) -> Fitted {
    listed(settings, trials, None)
}

fn listed(settings: &Settings, trials: &[Trial], states: Option<Vec<String>>) -> Fitted {
    let Settings { space, goal, .. } = settings;
    let text_at = states.as_ref().map(|_| 1);
    let mut columns = vec![column("trial", trials, |trial| trial.id.to_string())];
    columns.extend(states);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
    if goal.objectives().len() == 1 {
        let value = |trial: &Trial| number(trial.outcome().and_then(Outcome::value));
        columns.push(column("value", trials, value));
    } else {
        for (place, objective) in goal.objectives().iter().enumerate() {
            columns.push(column(&objective.name, trials, |trial| {
                let measurement = trial.outcome().and_then(Outcome::measurement);
                number(measurement.and_then(|all| Some(all.objectives.get(place)?.value)))
            }));
        }
    }
    for name in goal.other_quantities() {
        columns.push(column(name, trials, |trial| {
            let measurement = trial.outcome().and_then(Outcome::measurement);
            let constraints = measurement.map(|all| NamedValues::constraints(goal, all));
            number(constraints.and_then(|all| Some(all.get(name)?.value)))
        }));
    }
    let parameters = space.parameters().map(|parameter| {
        column(parameter.name, trials, |trial| match trial.configuration.get(parameter.name) {
            Some(wimble::space::Value::Real(value)) => short(*value),
            Some(value) => value.to_string(),
            None => "-".to_owned(),
        })
    });
    fitted(columns, parameters, text_at)
}

/// A table of columns, each with its title first: all of `columns`, and as many of `more` as fit. All are numbers but the one
/// at `text_at`.
pub fn fitted(
    mut columns: Vec<Vec<String>>,
    more: impl Iterator<Item = Vec<String>>,
    text_at: Option<usize>,
) -> Fitted {
    let width = |columns: &[Vec<String>]| -> usize {
        columns
            .iter()
            .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2)
            .sum()
    };
    let mut hidden = Vec::new();
    for cells in more {
        columns.push(cells);
        // Room for the mark of what is missing.
        if !hidden.is_empty() || width(&columns) > WIDTH - 3 {
            let title = columns.pop().and_then(|cells| cells.into_iter().next());
            hidden.extend(title);
        }
    }
    let rows = columns.first().map_or(0, Vec::len);
    if !hidden.is_empty() {
        let mut mark = vec![String::new(); rows];
        mark.iter_mut().take(1).for_each(|title| title.push('…'));
        columns.push(mark);
    }
    Fitted { text: of_columns(&columns, text_at), hidden }
}

/// A table of columns, each with its title first. All are numbers but the one at `text_at`.
pub fn of_columns(columns: &[Vec<String>], text_at: Option<usize>) -> String {
    let rows = columns.first().map_or(0, Vec::len);
    let row = |row: usize| columns.iter().map(move |cells| cut(&cells[row]));
    let mut table = plain(row(0));
    for number in 1..rows {
        table.add_row(row(number));
    }
    for (k, column) in table.column_iter_mut().enumerate() {
        if Some(k) != text_at {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    text(&table)
}

fn column(title: &str, trials: &[Trial], cell: impl Fn(&Trial) -> String) -> Vec<String> {
    std::iter::once(title.to_owned())
        .chain(trials.iter().map(cell))
        .map(|text| cut(&text))
        .collect()
}

/// On one line, and not too long.
fn cut(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.chars().count() <= CELL {
        return line;
    }
    line.chars().take(CELL - 1).chain(['…']).collect()
}
