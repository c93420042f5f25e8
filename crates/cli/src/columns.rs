//! The columns that a user chose for a table of trials: `--columns trial,value,rate`.

use anyhow::Result;
use wimble::internals::nearest;
use wimble::space::Value;
use wimble_study::exchange::Row;
use wimble_study::{Origin, Settings, Timestamp, Trial};

use crate::exit::usage;
use crate::progress::short;

/// The columns that every study has.
const OWN: [&str; 9] =
    ["trial", "state", "value", "worker", "origin", "attempts", "seconds", "started", "finished"];

/// What a column shows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Own(&'static str),
    /// An objective or a constrained quantity.
    Quantity(String),
    Parameter(String),
    /// What a trial said beside its value.
    Attribute(String),
}

/// Chosen columns, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(Vec<(String, Column)>);

impl Columns {
    /// Reads names separated by commas. A name that is none of the study's may be that of an attribute of one of its trials.
    pub fn parse(text: &str, settings: &Settings, attributes: &[String]) -> Result<Self> {
        let Settings { space, goal, .. } = settings;
        let mut quantities: Vec<String> =
            goal.objectives().iter().map(|objective| objective.name.clone()).collect();
        quantities.extend(goal.other_quantities().into_iter().map(str::to_owned));
        let parameters: Vec<&str> = space.parameters().map(|parameter| parameter.name).collect();
        let column = |name: &str| -> Result<Column> {
            if parameters.contains(&name) {
                return Ok(Column::Parameter(name.to_owned()));
            }
            if quantities.iter().any(|known| known == name) && goal.objectives().len() > 1
                || goal.other_quantities().contains(&name)
            {
                return Ok(Column::Quantity(name.to_owned()));
            }
            if let Some(own) = OWN.iter().find(|own| **own == name) {
                return Ok(Column::Own(own));
            }
            if quantities.iter().any(|known| known == name) {
                return Ok(Column::Own("value"));
            }
            if attributes.iter().any(|known| known == name) {
                return Ok(Column::Attribute(name.to_owned()));
            }
            let known = OWN.iter().copied().chain(quantities.iter().map(String::as_str));
            let mut known: Vec<&str> = known
                .chain(parameters.iter().copied())
                .chain(attributes.iter().map(String::as_str))
                .collect();
            let mut seen = std::collections::BTreeSet::new();
            known.retain(|name| seen.insert(*name));
            let near = nearest(name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(" Did you mean `{near}`?"));
            Err(usage(format!("there is no column `{name}`.{near} There are {}", known.join(", "))))
        };
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let columns: Vec<(String, Column)> =
            names.map(|name| Ok((name.to_owned(), column(name)?))).collect::<Result<_>>()?;
        if columns.is_empty() {
            return Err(usage(
                "--columns names none; write them with commas: --columns trial,value",
            ));
        }
        Ok(Self(columns))
    }

    /// The cells of each column, its title first.
    pub fn cells(&self, settings: &Settings, trials: &[Trial]) -> Vec<Vec<String>> {
        let rows: Vec<(&Trial, Row)> =
            trials.iter().map(|trial| (trial, Row::new(trial, &settings.goal))).collect();
        let cells = |(name, column): &(String, Column)| -> Vec<String> {
            let title = std::iter::once(name.clone());
            title.chain(rows.iter().map(|(trial, row)| cell(column, trial, row))).collect()
        };
        self.0.iter().map(cells).collect()
    }
}

fn cell(column: &Column, trial: &Trial, row: &Row) -> String {
    let number = |value: Option<f64>| value.map(short);
    let text = match column {
        Column::Own("trial") => Some(trial.id.to_string()),
        Column::Own("state") => Some(row.state.clone()),
        Column::Own("value") => number(row.value),
        Column::Own("worker") => row.worker.clone(),
        Column::Own("origin") => Some(
            match trial.origin {
                Origin::Proposed => "proposed",
                Origin::Enqueued => "enqueued",
                Origin::Imported => "imported",
            }
            .to_owned(),
        ),
        Column::Own("attempts") => Some(attempts(trial).to_string()),
        Column::Own("seconds") => {
            let seconds = |(from, to): (Timestamp, Timestamp)| (to.0 - from.0) as f64 / 1_000.0;
            trial.started().zip(trial.finished()).map(seconds).map(short)
        }
        Column::Own("started") => row.started.clone(),
        Column::Own(_) => row.finished.clone(),
        Column::Quantity(name) => {
            let measured = row.objectives.get(name).or_else(|| row.constraints.get(name));
            number(measured.map(|measured| measured.value))
        }
        Column::Parameter(name) => trial.configuration.get(name).map(|value| match value {
            Value::Real(real) => short(*real),
            value => value.to_string(),
        }),
        Column::Attribute(name) => {
            let found = row.attributes.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| match value.as_str() {
                Some(text) => text.to_owned(),
                None => value.to_string(),
            })
        }
    };
    text.unwrap_or_else(|| "-".to_owned())
}

/// How many workers began the trial.
pub fn attempts(trial: &Trial) -> u32 {
    trial.lost + u32::from(trial.started().is_some())
}
