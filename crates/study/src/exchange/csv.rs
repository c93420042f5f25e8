//! A table with a header: the fields of a row, a column `param.NAME` for each parameter, and a column `attribute.NAME` for each
//! attribute that a row has.
//!
//! A cell has no type: the dimension of a parameter decides what its text means, so that `1` stays a text in a
//! categorical dimension. An empty cell of a parameter means that it is inactive. An attribute is written as JSON,
//! except texts that nobody could mistake for JSON. An empty cell means that there is none.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context as _, anyhow, bail};
use serde_json::Value as Json;
use wimble::space::{Configuration, Dimension, Kind, SearchSpace, Value};

use super::row::Row;
use crate::error::{Error, Result};

/// What the columns of attributes begin with.
const ATTRIBUTE: &str = "attribute.";
const FIELDS: [&str; 8] =
    ["trial", "state", "value", "deviation", "reason", "worker", "started", "finished"];

/// Writes rows.
pub fn write(space: &SearchSpace, rows: &[Row], out: &mut dyn Write) -> Result<()> {
    write_all(space, rows, out).map_err(|error| Error::exchange(&error))
}

fn write_all(space: &SearchSpace, rows: &[Row], out: &mut dyn Write) -> anyhow::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let parameters = space.dimensions().iter().map(|dimension| format!("param.{}", dimension.name));
    let names: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.attributes.iter().map(|(name, _)| name)).collect();
    let attributes = names.iter().map(|name| format!("{ATTRIBUTE}{name}"));
    let fields = FIELDS.iter().map(|field| (*field).to_owned());
    writer.write_record(fields.chain(parameters).chain(attributes))?;
    for row in rows {
        let fields = [
            row.trial.map(|trial| trial.to_string()),
            Some(row.state.clone()),
            row.value.map(|value| format!("{value:?}")),
            row.deviation.map(|deviation| format!("{deviation:?}")),
            row.reason.clone(),
            row.worker.clone(),
            row.started.clone(),
            row.finished.clone(),
        ];
        let parameters = space
            .dimensions()
            .iter()
            .map(|dimension| row.params.get(&dimension.name).map(ToString::to_string));
        let attributes = names.iter().map(|name| row.attributes.get(name).map(attribute_cell));
        let cells = fields.into_iter().chain(parameters).chain(attributes);
        writer.write_record(cells.map(Option::unwrap_or_default))?;
    }
    writer.flush()?;
    Ok(())
}

/// Reads rows of a study with this space. Only `state` or `value` and the parameters are needed.
pub fn read(space: &SearchSpace, text: &str) -> Result<Vec<Row>> {
    read_all(space, text).map_err(|error| Error::exchange(&error))
}

fn read_all(space: &SearchSpace, text: &str) -> anyhow::Result<Vec<Row>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    for column in &header {
        let parameter = column.strip_prefix("param.");
        let known = parameter.map_or(FIELDS.contains(&column), |name| {
            space.dimensions().iter().any(|d| d.name == name)
        });
        if !known && !column.starts_with(ATTRIBUTE) {
            let names: Vec<String> = space
                .dimensions()
                .iter()
                .map(|dimension| format!("param.{}", dimension.name))
                .collect();
            bail!(
                "column `{column}` is unknown; there are {}, {}, and {ATTRIBUTE}NAME with any name",
                FIELDS.join(", "),
                names.join(", ")
            );
        }
    }
    let mut rows = Vec::new();
    for (number, record) in reader.records().enumerate() {
        let record = record?;
        let place = || format!("row {}", number + 2);
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
        let mut params = Configuration::new();
        for dimension in space.dimensions() {
            if let Some(text) = cell(&format!("param.{}", dimension.name)) {
                params.insert(dimension.name.clone(), value(dimension, &text).with_context(place)?);
            }
        }
        let value = number("value")?;
        rows.push(Row {
            trial: number("trial")?.map(|trial| trial as u64),
            state: cell("state")
                .unwrap_or_else(|| if value.is_some() { "complete" } else { "queued" }.to_owned()),
            value,
            deviation: number("deviation")?,
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
        });
    }
    Ok(rows)
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

/// A text as a value of its dimension.
pub fn value(dimension: &Dimension, text: &str) -> Result<Value> {
    let found = match &dimension.kind {
        Kind::Real { .. } => text.parse().ok().map(Value::Real),
        Kind::Integer { .. } => text.parse().ok().map(Value::Integer),
        Kind::Boolean => text.to_ascii_lowercase().parse().ok().map(Value::Boolean),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            values.iter().find(|value| value.to_string() == text).cloned()
        }
    };
    found.ok_or_else(|| {
        let allowed = match &dimension.kind {
            Kind::Real { .. } => "a number".to_owned(),
            Kind::Integer { .. } => "a whole number".to_owned(),
            Kind::Boolean => "true or false".to_owned(),
            Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                format!("one of {}", values.join(", "))
            }
        };
        Error::exchange(&anyhow!("`{}` is {text:?}, but must be {allowed}", dimension.name))
    })
}
