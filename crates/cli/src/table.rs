//! Tables of trials that fit a terminal of 80 columns, without colour.

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use wimble::space::SearchSpace;
use wimble_study::exchange::row::state;
use wimble_study::{Outcome, Trial};

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

/// Trials with as many parameters as fit; the rest is in `wimble show` and `--json`.
pub fn trials(space: &SearchSpace, trials: &[Trial]) -> String {
    let mut columns: Vec<Vec<String>> = vec![
        column("trial", trials, |trial| trial.id.to_string()),
        column("state", trials, |trial| state(trial).to_owned()),
        column("value", trials, |trial| {
            trial.outcome().and_then(Outcome::value).map_or_else(|| "-".to_owned(), short)
        }),
    ];
    let width = |columns: &[Vec<String>]| -> usize {
        columns
            .iter()
            .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2)
            .sum()
    };
    let mut hidden = 0;
    for dimension in space.dimensions() {
        let cells = column(&dimension.name, trials, |trial| {
            match trial.configuration.get(&dimension.name) {
                Some(wimble::space::Value::Real(value)) => short(*value),
                Some(value) => value.to_string(),
                None => "-".to_owned(),
            }
        });
        columns.push(cells);
        // Room for the mark of what is missing.
        if hidden > 0 || width(&columns) > WIDTH - 3 {
            columns.pop();
            hidden += 1;
        }
    }
    if hidden > 0 {
        columns.push(column("…", trials, |_| String::new()));
    }
    let row = |row: usize| columns.iter().map(move |cells| cells[row].clone());
    let mut table = plain(row(0));
    for number in 1..=trials.len() {
        table.add_row(row(number));
    }
    for (k, column) in table.column_iter_mut().enumerate() {
        if k != 1 {
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
