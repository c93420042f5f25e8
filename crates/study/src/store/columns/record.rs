//! The columns of a study's record: what it is, and which engines proposed its trials.

use std::time::Duration;

use wimble::goal::Direction;
use wimble::seed::Seed;
use wimble::stopping::Stopping;

use super::{Cell, Cells, Read, columns, json, small, text, whole, word};
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::settings::{EngineSpan, LARGEST_BATCH, Record, Settings, check_format};

/// What the cells of a record are made of.
struct Parts<'t> {
    record: &'t Record,
    space: String,
    method: String,
    /// A goal that is more than a direction.
    goal: Option<String>,
    /// How trials are stopped early, under a goal with a fidelity.
    stopping: Option<String>,
}

columns! {
    /// The columns of a record.
    Column of it: Parts<'t>;
    Name "name" = it.record.settings.name.as_str();
    Format "format" = it.record.format;
    Engine "engine" = it.record.engine.as_str();
    Space "space" = it.space;
    Direction "direction" = it.record.settings.goal.first_direction().word();
    Method "method" = it.method;
    BatchSize "batch_size" = it.record.settings.batch_size as u64;
    Seed "seed" = it.record.settings.seed.0.to_string();
    Budget "budget" = it.record.settings.budget;
    Retries "retries" = it.record.settings.retries;
    Lease "lease" = Timestamp(0).after(it.record.settings.lease);
    Goal "goal" = it.goal;
    Stopping "stopping" = it.stopping;
    Paused "paused" = u64::from(it.record.paused);
}

/// The cells of a record, in the order of [`Column`].
pub(in crate::store) fn write(record: &Record) -> Result<Vec<Cell<'_>>> {
    let Settings { name, space, method, goal, stopping, .. } = &record.settings;
    let corrupt = |what| move |error| Error::corrupt(name, what, error);
    Ok(cells(Parts {
        record,
        space: serde_json::to_string(space).map_err(corrupt("space"))?,
        // With every setting, so that it stays what it is when defaults change.
        method: serde_json::to_string(method).map_err(corrupt("method"))?,
        goal: match goal.as_direction() {
            Some(_) => None,
            None => Some(serde_json::to_string(goal).map_err(corrupt("goal"))?),
        },
        stopping: match goal.partial() {
            Some(_) => Some(serde_json::to_string(stopping).map_err(corrupt("stopping rule"))?),
            None => None,
        },
    }))
}

/// The record in a row whose columns are those of [`Column`].
pub(in crate::store) fn read(
    study: &str,
    row: &impl Cells,
    engines: Vec<EngineSpan>,
) -> Result<Record> {
    let corrupt = |error| Error::corrupt(study, "settings", error);
    // The format comes first: what a later one means need not be readable.
    let format = small(row, Column::Format).map_err(corrupt)?;
    check_format(study, format)?;
    let engine = word(row, Column::Engine).map_err(corrupt)?.to_owned();
    let settings = settings_of(row).map_err(corrupt)?;
    let paused = whole(row, Column::Paused).map_err(corrupt)? != 0;
    Ok(Record { settings, format, engine, engines, paused })
}

fn settings_of(row: &impl Cells) -> Read<Settings> {
    Ok(Settings {
        name: word(row, Column::Name)?.to_owned(),
        space: json(row, Column::Space)?,
        goal: match text(row, Column::Goal)? {
            Some(_) => json(row, Column::Goal)?,
            None => direction_of(word(row, Column::Direction)?)?.into(),
        },
        method: json(row, Column::Method)?,
        batch_size: match small(row, Column::BatchSize)? {
            size @ 1..=LARGEST_BATCH => size,
            size => return Err(format!("the batch size is {size}").into()),
        },
        seed: Seed(word(row, Column::Seed)?.parse()?),
        budget: whole(row, Column::Budget)?,
        retries: small(row, Column::Retries)?,
        lease: Duration::from_millis(whole(row, Column::Lease)?),
        stopping: match text(row, Column::Stopping)? {
            Some(_) => json(row, Column::Stopping)?,
            None => Stopping::default(),
        },
    })
}

/// An engine in a row of `version` and `first_trial`.
pub(in crate::store) fn engine(study: &str, row: &impl Cells) -> Result<EngineSpan> {
    let read = || -> Read<EngineSpan> {
        let version = row.text(0)?.ok_or("the version is missing")?.to_owned();
        let first_trial = u64::try_from(row.integer(1)?.ok_or("the first trial is missing")?)?;
        Ok(EngineSpan { version, first_trial })
    };
    read().map_err(|error| Error::corrupt(study, "list of engines", error))
}

pub(super) fn direction_of(word: &str) -> Read<Direction> {
    [Direction::Minimise, Direction::Maximise]
        .into_iter()
        .find(|direction| direction.word() == word)
        .ok_or_else(|| format!("the direction `{word}` is unknown").into())
}
