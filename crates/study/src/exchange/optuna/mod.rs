//! The SQLite storage of Optuna, schema version 12 (Optuna 3.2 to 5), read and written.
//!
//! | Optuna | here |
//! |---|---|
//! | `FloatDistribution`, `log` | real, log scale |
//! | `FloatDistribution` with a `step` | ordinal: its values in order |
//! | `IntDistribution`, `log`, `step` | integer |
//! | `CategoricalDistribution` | categorical; `None` becomes the text `None` |
//! | `COMPLETE` | a value; failed where the value is infinite |
//! | `FAIL` | failed |
//! | `PRUNED` | stopped at its last step; failed where it has none: see `curves.rs` |
//! | `RUNNING`, `WAITING` | left out |
//!
//! Optuna has no search space: each trial tells which parameters it asked for. One that only some trials have becomes
//! conditional on a categorical parameter that explains when it is there; where none does, the import is refused and a
//! study file must say what the space is. Infeasible trials are written as `FAIL`, with the user attribute
//! `wimble:infeasible`, and read back as what they are; the reason of a failure is the user attribute `wimble:reason`.
//! Other user attributes are the attributes of the trial, both ways. Objectives and constraints: see `goal.rs`.

mod curves;
mod goal;
mod parameters;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value as Json;
use wimble::goal::Goal;
use wimble::outcome::Measurement;
use wimble::space::{Configuration, SearchSpace};

pub use write::write;

use self::curves::Curves;
use self::parameters::{Census, Kinds};
use super::row::{Row, RowStep};
use crate::clock::Timestamp;
use crate::error::Error;
use crate::named_values::NamedValues;

/// The schema that is understood.
const SCHEMA: i64 = 12;
/// User attributes for what Optuna has no word for.
const INFEASIBLE: &str = "wimble:infeasible";
const REASON: &str = "wimble:reason";
const MEASUREMENT: &str = "wimble:measurement";
const TRIAL: &str = "wimble:trial";
const STEPS: &str = "wimble:steps";
const OURS: [&str; 5] = [INFEASIBLE, REASON, MEASUREMENT, TRIAL, STEPS];

/// A study of Optuna. Its trials are read one after the other, as often as they are needed.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Its objectives and constraints.
    pub goal: Goal,
    /// The space of its distributions, or why there is none.
    pub space: crate::Result<SearchSpace>,
    connection: Connection,
    study: i64,
    kinds: Kinds,
    curves: Curves,
}

/// How many trials were left out, and why.
#[derive(Default)]
struct LeftOut {
    unfinished: usize,
    unconstrained: usize,
    incomplete: usize,
}

/// Reads a study; the only one if none is named.
pub fn read(path: &Path, name: Option<&str>) -> crate::Result<Found> {
    read_study(path, name).map_err(|error| Error::exchange(&error))
}

fn read_study(path: &Path, name: Option<&str>) -> Result<Found> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let version: i64 = connection
        .query_row("SELECT schema_version FROM version_info", [], |row| row.get(0))
        .map_err(|error| match error.to_string().contains("no such table") {
            true => anyhow!(
                "this is no storage of Optuna: it has no table `version_info`. `wimble copy` copies studies of wimble"
            ),
            false => anyhow::Error::new(error).context("this is no storage of Optuna"),
        })?;
    if version != SCHEMA {
        bail!(
            "its schema has version {version}, but must be {SCHEMA}; `optuna storage upgrade` brings it up to date"
        );
    }
    let (study, name) = study(&connection, name)?;
    let (kinds, mut census, mut limited) = (Kinds::default(), Census::default(), Vec::new());
    let mut statement =
        connection.prepare("SELECT trial_id FROM trials WHERE study_id = ?1 ORDER BY trial_id")?;
    let mut trials = statement.query([study])?;
    while let Some(row) = trials.next()? {
        let trial = row.get(0)?;
        census.count(&kinds.of(&connection, trial)?);
        for (name, _) in goal::constraints(&connection, trial)? {
            if !limited.contains(&name) {
                limited.push(name);
            }
        }
    }
    drop(trials);
    drop(statement);
    let mut goal = goal::read(&connection, study, &limited)?;
    let mut curves = Curves::read(&connection, study)?;
    let pruned: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM trials WHERE study_id = ?1 AND state = 'PRUNED')",
        [study],
        |row| row.get(0),
    )?;
    if pruned || goal.partial().is_some() {
        goal = curves.goal(goal);
    }
    let space = census.space().map_err(|error| Error::exchange(&error));
    Ok(Found { name, goal, space, connection, study, kinds, curves })
}

impl Found {
    /// Gives its finished trials to `each`, in order. Returns what a user should know: which trials were left out.
    pub fn each<E: From<Error>>(
        &self,
        each: &mut dyn FnMut(Row) -> Result<(), E>,
    ) -> Result<Vec<String>, E> {
        let failed = |error: anyhow::Error| E::from(Error::exchange(&error));
        let sqlite = |error: rusqlite::Error| failed(error.into());
        let mut statement = self
            .connection
            .prepare(
                "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials
                 WHERE study_id = ?1 ORDER BY number",
            )
            .map_err(sqlite)?;
        let mut trials = statement.query([self.study]).map_err(sqlite)?;
        let mut left_out = LeftOut::default();
        while let Some(trial) = trials.next().map_err(sqlite)? {
            if let Some(row) = self.row(trial, &mut left_out).map_err(failed)? {
                each(row)?;
            }
        }
        Ok(self.notes(&left_out))
    }

    /// All of its finished trials.
    pub fn rows(&self) -> crate::Result<Vec<Row>> {
        let mut rows = Vec::new();
        self.each::<Error>(&mut |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn notes(&self, left_out: &LeftOut) -> Vec<String> {
        let LeftOut { unfinished, unconstrained, incomplete } = left_out;
        let mut notes = Vec::new();
        if *unfinished > 0 {
            notes.push(format!("{unfinished} running or waiting trials were left out"));
        }
        if *unconstrained > 0 {
            notes.push(format!(
                "{unconstrained} complete trials without values of all constraints were left out"
            ));
        }
        if !self.curves.is_empty() && self.goal.partial().is_none() {
            notes.push("intermediate values were left out: no trial was pruned".to_owned());
        }
        if *incomplete > 0 {
            notes.push(format!("{incomplete} failed trials without all parameters were left out"));
        }
        notes
    }

    /// A finished trial; `None` if it is left out.
    fn row(&self, row: &rusqlite::Row<'_>, left_out: &mut LeftOut) -> Result<Option<Row>> {
        let (connection, goal) = (&self.connection, &self.goal);
        let (trial, number): (i64, i64) = (row.get(0)?, row.get(1)?);
        let failed = |reason: &str| ("failed", None, Some(reason.to_owned()));
        let ours = ours(connection, trial)?;
        let values = goal::values(connection, trial)?;
        let constraints = goal::constraints(connection, trial)?;
        let steps = match &ours.steps {
            Some(steps) => steps.clone(),
            None => self.curves.of(connection, trial, goal)?,
        };
        let (state, measurement, reason) = match row.get::<_, String>(2)?.as_str() {
            "COMPLETE" if values.iter().any(|value| !value.is_finite()) => {
                failed("its value is not finite")
            }
            "COMPLETE" if values.len() != goal.objectives().len() => failed("it has no value"),
            "COMPLETE" => match goal::measurement(goal, &values, constraints, ours.measurement) {
                Some(measurement) => ("complete", Some(measurement), None),
                None => {
                    left_out.unconstrained += 1;
                    return Ok(None);
                }
            },
            "PRUNED" => match (ours.measurement, steps.last()) {
                // Our own, of which Optuna has only a part.
                (Some(told), _) if goal.check(0, &told).is_ok() => stopped(goal, told),
                (_, Some(last)) if goal.check(0, last).is_ok() => stopped(goal, last.clone()),
                _ => failed("pruned by Optuna"),
            },
            "FAIL" if ours.infeasible => ("infeasible", None, None),
            "FAIL" => failed(ours.reason.as_deref().unwrap_or("failed under Optuna")),
            _ => {
                left_out.unfinished += 1;
                return Ok(None);
            }
        };
        let parameters = self.kinds.of(connection, trial)?;
        let params: Configuration =
            parameters.into_iter().map(|(name, given)| (name, given.value)).collect();
        // A trial that failed before it asked for all parameters is no point of the space.
        if state == "failed"
            && self.space.as_ref().is_ok_and(|space| space.encode(&params).is_err())
        {
            left_out.incomplete += 1;
            return Ok(None);
        }
        let time = |text: Option<String>| {
            text.and_then(|text| Timestamp::from_utc(&text)).map(Timestamp::to_utc)
        };
        let single = measurement.as_ref().and_then(|all| match &all.objectives[..] {
            [only] => Some(*only),
            _ => None,
        });
        let several = measurement.as_ref().filter(|_| single.is_none());
        let several = several.map(|all| NamedValues::objectives(goal, all));
        let constraints = measurement.as_ref().map(|all| NamedValues::constraints(goal, all));
        let is_violating = measurement.as_ref().is_some_and(|all| goal.is_violated_by(all));
        Ok(Some(Row {
            trial: u64::try_from(number).ok(),
            state: if is_violating && state == "complete" { "violating" } else { state }.to_owned(),
            value: single.map(|measured| measured.value),
            deviation: single.and_then(|measured| measured.deviation),
            objectives: several.unwrap_or_default(),
            constraints: constraints.unwrap_or_default(),
            fidelity: measurement.as_ref().and_then(|all| all.fidelity),
            steps: steps.iter().map(|step| RowStep::new(step, goal)).collect(),
            reason,
            worker: Some("optuna".to_owned()),
            started: time(row.get(3)?),
            finished: time(row.get(4)?),
            params,
            attributes: ours.attributes.into_iter().collect(),
        }))
    }
}

/// A trial that was stopped; complete, if it had come to the highest fidelity.
fn stopped(goal: &Goal, last: Measurement) -> (&'static str, Option<Measurement>, Option<String>) {
    let fidelity = goal.part(&last);
    let state = if fidelity.is_some() { "stopped" } else { "complete" };
    (state, Some(Measurement { fidelity, ..last }), None)
}

fn study(connection: &Connection, name: Option<&str>) -> Result<(i64, String)> {
    let studies: Vec<(i64, String)> = connection
        .prepare("SELECT study_id, study_name FROM studies ORDER BY study_name")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let names = || studies.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
    match (name, &studies[..]) {
        (Some(name), _) => match studies.iter().find(|(_, known)| known == name) {
            Some(found) => Ok(found.clone()),
            None => bail!("it has no study `{name}`; there are {}", names()),
        },
        (None, [only]) => Ok(only.clone()),
        (None, []) => bail!("it has no study"),
        (None, _) => bail!("which study? It has {}: name one with --from", names()),
    }
}

/// The user attributes of a trial: those that we wrote for what Optuna has no word for, and the user's own.
#[derive(Debug, Clone, Default)]
struct Ours {
    infeasible: bool,
    reason: Option<String>,
    measurement: Option<Measurement>,
    steps: Option<Vec<Measurement>>,
    attributes: BTreeMap<String, Json>,
}

fn ours(connection: &Connection, trial: i64) -> Result<Ours> {
    let mut statement = connection.prepare_cached(
        "SELECT \"key\", value_json FROM trial_user_attributes WHERE trial_id = ?1",
    )?;
    let mut rows = statement.query([trial])?;
    let mut ours = Ours::default();
    while let Some(row) = rows.next()? {
        let (key, text): (String, String) = (row.get(0)?, row.get(1)?);
        // Python writes NaN and Infinity, which are not JSON.
        let json = serde_json::from_str(&text).unwrap_or(Json::String(text));
        match key.as_str() {
            INFEASIBLE => ours.infeasible = json == true,
            REASON => ours.reason = json.as_str().map(str::to_owned),
            MEASUREMENT => ours.measurement = serde_json::from_value(json).ok(),
            STEPS => ours.steps = serde_json::from_value(json).ok(),
            TRIAL => {}
            _ => drop(ours.attributes.insert(key, json)),
        }
    }
    Ok(ours)
}
