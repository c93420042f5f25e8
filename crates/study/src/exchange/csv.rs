//! A table with a header: the fields of a row, a column `param.NAME` for each parameter, and a column `attribute.NAME` for each
//! attribute that a row has.
//!
//! A study of one objective has the columns `value` and `deviation`; one of several has `objective.NAME` for each. Limits
//! add `constraint.NAME`, and known deviations of named values `deviation.NAME`.
//!
//! A study with a fidelity has the column `fidelity`, empty unless the trial was stopped. Steps have no columns: JSON lines
//! have them.
//!
//! A cell has no type: the dimension of a parameter decides what its text means, so that `1` stays a text in a
//! categorical dimension. An empty cell of a parameter means that it is inactive. An attribute is written as JSON,
//! except texts that nobody could mistake for JSON. An empty cell means that there is none.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value as Json;
use wimble::goal::Goal;
use wimble::outcome::Measured;
use wimble::space::{Configuration, Kind, Parameter, SearchSpace, Value};

use super::row::Row;
use crate::error::{Error, Result};
use crate::named_values::NamedValues;

/// What the columns of named things begin with.
const PARAMETER: &str = "param.";
const OBJECTIVE: &str = "objective.";
const CONSTRAINT: &str = "constraint.";
const DEVIATION: &str = "deviation.";
const ATTRIBUTE: &str = "attribute.";
/// The columns before those of the values, and after them.
const BEFORE: [&str; 2] = ["trial", "state"];
const SINGLE: [&str; 2] = ["value", "deviation"];
/// How much of an evaluation was carried out.
const FIDELITY: &str = "fidelity";
const AFTER: [&str; 4] = ["reason", "worker", "started", "finished"];

/// The names of values that have columns of their own.
struct Names<'g> {
    objectives: Vec<&'g str>,
    constraints: Vec<&'g str>,
    fidelity: Option<&'static str>,
}

impl<'g> Names<'g> {
    fn new(goal: &'g Goal) -> Self {
        let objectives: Vec<&str> = goal.objectives().iter().map(|o| o.name.as_str()).collect();
        let objectives = if objectives.len() > 1 { objectives } else { Vec::new() };
        let fidelity = goal.partial().map(|_| FIDELITY);
        Self { objectives, constraints: goal.other_quantities(), fidelity }
    }

    /// The columns of values, without those of deviations.
    fn columns(&self) -> impl Iterator<Item = String> {
        let objectives = self.objectives.iter().map(|name| format!("{OBJECTIVE}{name}"));
        let constraints = self.constraints.iter().map(|name| format!("{CONSTRAINT}{name}"));
        objectives.chain(constraints)
    }

    /// The columns of deviations that may be there.
    fn deviations(&self) -> impl Iterator<Item = &'g str> {
        self.objectives.iter().chain(&self.constraints).copied()
    }
}

/// Rows, one after the other.
pub type Rows<'r> = Box<dyn Iterator<Item = Result<Row>> + 'r>;

/// Writes rows of a study with this space and goal. They are gone through twice and never kept: first to learn which
/// columns there are, then to write them. Attributes that appear in between have no column.
pub fn write<'r>(
    space: &SearchSpace,
    goal: &Goal,
    rows: &dyn Fn() -> Rows<'r>,
    out: &mut dyn Write,
) -> Result<()> {
    write_all(space, goal, rows, out).map_err(|error| Error::exchange(&error))
}

fn write_all<'r>(
    space: &SearchSpace,
    goal: &Goal,
    rows: &dyn Fn() -> Rows<'r>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let names = Names::new(goal);
    let fidelity = names.fidelity;
    let single = &SINGLE[..if names.objectives.is_empty() { SINGLE.len() } else { 0 }];
    let measured = |row: &Row, name: &str| {
        row.objectives.get(name).or_else(|| row.constraints.get(name)).copied()
    };
    let (mut deviations, mut attributes) = (BTreeSet::new(), BTreeSet::new());
    for row in rows() {
        let row = row?;
        let has_deviation =
            |name: &&str| measured(&row, name).is_some_and(|m| m.deviation.is_some());
        deviations.extend(names.deviations().filter(has_deviation));
        for (name, _) in row.attributes.iter() {
            if !attributes.contains(name) {
                attributes.insert(name.to_owned());
            }
        }
    }
    let deviations: Vec<&str> =
        names.deviations().filter(|name| deviations.contains(name)).collect();
    let fields = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let parameters = space.parameters().map(|parameter| format!("{PARAMETER}{}", parameter.name));
    let header = fields(&BEFORE)
        .into_iter()
        .chain(fields(single))
        .chain(names.columns())
        .chain(fidelity.map(str::to_owned))
        .chain(deviations.iter().map(|name| format!("{DEVIATION}{name}")))
        .chain(fields(&AFTER))
        .chain(parameters)
        .chain(attributes.iter().map(|name| format!("{ATTRIBUTE}{name}")));
    writer.write_record(header)?;
    let number = |value: f64| format!("{value:?}");
    for row in rows() {
        let row = &row?;
        let before = [row.trial.map(|trial| trial.to_string()), Some(row.state.clone())];
        let single =
            [row.value.map(number), row.deviation.map(number)].into_iter().take(single.len());
        let values = names.deviations().map(|name| measured(row, name).map(|m| number(m.value)));
        let deviations = deviations.iter().map(|name| measured(row, name)?.deviation.map(number));
        let after =
            [row.reason.clone(), row.worker.clone(), row.started.clone(), row.finished.clone()];
        let parameters = space
            .parameters()
            .map(|parameter| row.params.get(parameter.name).map(ToString::to_string));
        let attributes = attributes.iter().map(|name| row.attributes.get(name).map(attribute_cell));
        let cells = before
            .into_iter()
            .chain(single)
            .chain(values)
            .chain(fidelity.map(|_| row.fidelity.map(number)))
            .chain(deviations)
            .chain(after)
            .chain(parameters)
            .chain(attributes);
        writer.write_record(cells.map(Option::unwrap_or_default))?;
    }
    writer.flush()?;
    Ok(())
}

/// Some columns of a table, in the order that they have there: those of a name for which `is_wanted` says yes.
pub fn columns(table: &[u8], is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<u8>> {
    columns_of(table, is_wanted).map_err(|error| Error::exchange(&error))
}

fn columns_of(table: &[u8], is_wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<Vec<u8>> {
    let mut reader = csv::Reader::from_reader(table);
    let header = reader.headers()?.clone();
    let places: Vec<usize> = (0..header.len()).filter(|&at| is_wanted(&header[at])).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(places.iter().map(|&at| &header[at]))?;
    for record in reader.records() {
        let record = record?;
        writer.write_record(places.iter().map(|&at| &record[at]))?;
    }
    Ok(writer.into_inner()?)
}

/// Reads rows of a study with this space and goal. Only `state` or the values and the parameters are needed.
/// Each is handed on as soon as it is read.
pub fn read(
    space: &SearchSpace,
    goal: &Goal,
    text: impl Read,
    mut each: impl FnMut(Row) -> anyhow::Result<()>,
) -> Result<()> {
    read_all(space, goal, text, &mut each).map_err(|error| Error::exchange(&error))
}

fn read_all(
    space: &SearchSpace,
    goal: &Goal,
    text: impl Read,
    each: &mut dyn FnMut(Row) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut reader = csv::Reader::from_reader(text);
    let header = reader.headers()?.clone();
    let names = Names::new(goal);
    check_header(space, &names, &header)?;
    for (number, record) in reader.records().enumerate() {
        let place = || format!("row {}", number + 2);
        let record = record.map_err(|error| match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => anyhow!(
                "{}: it has {len} cells, and the header has {expected_len}; write an inactive parameter as an empty cell",
                place()
            ),
            _ => error.into(),
        })?;
        let cell = |name: &str| {
            let at = header.iter().position(|column| column == name)?;
            record.get(at).filter(|cell| !cell.is_empty()).map(str::to_owned)
        };
        let number = |name: &str| -> anyhow::Result<Option<f64>> {
            cell(name)
                .map(|text| {
                    text.parse().with_context(|| {
                        format!("{}: {name} is {text:?}, but must be a number", place())
                    })
                })
                .transpose()
        };
        let named = |prefix: &str, all: &[&str]| -> anyhow::Result<NamedValues> {
            let mut values = Vec::new();
            for name in all {
                if let Some(value) = number(&format!("{prefix}{name}"))? {
                    let deviation = number(&format!("{DEVIATION}{name}"))?;
                    values.push(((*name).to_owned(), Measured { value, deviation }));
                }
            }
            Ok(values.into_iter().collect())
        };
        let mut params = Configuration::new();
        for parameter in space.parameters() {
            if let Some(text) = cell(&format!("{PARAMETER}{}", parameter.name)) {
                params.insert(parameter.name, value(parameter, &text).with_context(place)?);
            }
        }
        let value = number("value")?;
        let objectives = named(OBJECTIVE, &names.objectives)?;
        let is_measured = value.is_some() || !objectives.is_empty();
        each(Row {
            trial: number("trial")?.map(|trial| trial as u64),
            state: cell("state")
                .unwrap_or_else(|| if is_measured { "complete" } else { "queued" }.to_owned()),
            value,
            deviation: number("deviation")?,
            objectives,
            constraints: named(CONSTRAINT, &names.constraints)?,
            fidelity: number(FIDELITY)?,
            steps: Vec::new(),
            reason: cell("reason"),
            worker: cell("worker"),
            started: cell("started"),
            finished: cell("finished"),
            params,
            attributes: header
                .iter()
                .filter_map(|column| {
                    let text = cell(column)?;
                    let json = serde_json::from_str(&text).unwrap_or(Json::String(text));
                    Some((column.strip_prefix(ATTRIBUTE)?.to_owned(), json))
                })
                .collect(),
        })?;
    }
    Ok(())
}

/// Refuses a column that no row of the study has, and names those that there are.
fn check_header(
    space: &SearchSpace,
    names: &Names<'_>,
    header: &csv::StringRecord,
) -> anyhow::Result<()> {
    let known: Vec<String> = BEFORE
        .iter()
        .chain(&SINGLE)
        .chain(names.fidelity.iter())
        .chain(&AFTER)
        .map(|name| (*name).to_owned())
        .chain(names.columns())
        .chain(space.parameters().map(|parameter| format!("{PARAMETER}{}", parameter.name)))
        .collect();
    for column in header {
        let deviation = column.strip_prefix(DEVIATION);
        let is_known = known.iter().any(|name| name == column)
            || deviation.is_some_and(|name| names.deviations().any(|known| known == name));
        if !is_known && !column.starts_with(ATTRIBUTE) {
            bail!(
                "column `{column}` is unknown; there are {}, and {ATTRIBUTE}NAME with any name",
                known.join(", ")
            );
        }
    }
    Ok(())
}

/// An attribute as a cell that is read as the same.
fn attribute_cell(value: &Json) -> String {
    match value {
        Json::String(text) if !text.is_empty() && serde_json::from_str::<Json>(text).is_err() => {
            text.clone()
        }
        value => value.to_string(),
    }
}

/// How many values of a parameter a message names.
const SHOWN: usize = 20;

/// A text as a value of its parameter.
pub fn value(parameter: Parameter<'_>, text: &str) -> Result<Value> {
    let found = match parameter.kind {
        Kind::Real { .. } | Kind::Shares { .. } => text.parse().ok().map(Value::Real),
        Kind::Integer { .. } => text.parse().ok().map(Value::Integer),
        Kind::Boolean => text.to_ascii_lowercase().parse().ok().map(Value::Boolean),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            let same = |value: &&Value| value.to_string() == text;
            // Of numbers, any spelling will do.
            let number: Option<f64> = text.parse().ok();
            let equal = |value: &&Value| number.is_some() && value.as_real() == number;
            values.iter().find(same).or_else(|| values.iter().find(equal)).cloned()
        }
    };
    found.ok_or_else(|| {
        let allowed = match parameter.kind {
            Kind::Real { .. } | Kind::Shares { .. } => "a number".to_owned(),
            Kind::Integer { .. } => "a whole number".to_owned(),
            Kind::Boolean => "true or false".to_owned(),
            Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
                let shown: Vec<String> = values.iter().take(SHOWN).map(Value::to_string).collect();
                let more = if values.len() > SHOWN { ", …" } else { "" };
                format!("one of {}{more}", shown.join(", "))
            }
        };
        Error::exchange(&anyhow!("`{}` is {text:?}, but must be {allowed}", parameter.name))
    })
}
