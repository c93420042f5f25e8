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
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value as Json;
use wimble::goal::Goal;
use wimble::outcome::Measurement;
use wimble::space::{Dimension, Kind, Scale, SearchSpace, Value};

pub use write::write;

use self::curves::Curves;
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
/// More steps of a float than this are read as a real.
const MOST_LEVELS: f64 = 1_000.0;

/// A study of Optuna.
pub struct Found {
    /// Its name.
    pub name: String,
    /// Its objectives and constraints.
    pub goal: Goal,
    /// The space of its distributions, or why there is none.
    pub space: crate::Result<SearchSpace>,
    /// Its finished trials.
    pub rows: Vec<Row>,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// Reads a study; the only one if none is named.
pub fn read(path: &Path, name: Option<&str>) -> crate::Result<Found> {
    read_study(path, name).map_err(|error| Error::exchange(&error))
}

fn read_study(path: &Path, name: Option<&str>) -> Result<Found> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let version: i64 = connection
        .query_row("SELECT schema_version FROM version_info", [], |row| row.get(0))
        .context("this is no storage of Optuna")?;
    if version != SCHEMA {
        bail!(
            "its schema has version {version}, but must be {SCHEMA}; `optuna storage upgrade` brings it up to date"
        );
    }
    let (id, name) = study(&connection, name)?;
    let parameters = parameters(&connection, id)?;
    let ours = ours(&connection, id)?;
    let mut values = goal::values(&connection, id)?;
    let mut constraints = goal::constraints(&connection, id)?;
    let mut goal = goal::read(&connection, id, &constraints)?;
    let mut curves = Curves::read(&connection, id)?;
    let pruned: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM trials WHERE study_id = ?1 AND state = 'PRUNED')",
        [id],
        |row| row.get(0),
    )?;
    if pruned || goal.partial().is_some() {
        goal = curves.goal(goal);
    }
    let mut rows = Vec::new();
    let (mut left_out, mut unconstrained) = (0, 0);
    let mut statement = connection.prepare(
        "SELECT trial_id, number, state, datetime_start, datetime_complete FROM trials
         WHERE study_id = ?1 ORDER BY number",
    )?;
    let mut found = statement.query([id])?;
    while let Some(row) = found.next()? {
        let (trial, number): (i64, i64) = (row.get(0)?, row.get(1)?);
        let failed = |reason: &str| ("failed", None, Some(reason.to_owned()));
        let ours = ours.get(&trial).cloned().unwrap_or_default();
        let values = values.remove(&trial).unwrap_or_default();
        let constraints = constraints.remove(&trial);
        let steps = match &ours.steps {
            Some(steps) => steps.clone(),
            None => curves.of(trial, &goal),
        };
        let (state, measurement, reason) = match row.get::<_, String>(2)?.as_str() {
            "COMPLETE" if values.iter().any(|value| !value.is_finite()) => {
                failed("its value is not finite")
            }
            "COMPLETE" if values.len() != goal.objectives().len() => failed("it has no value"),
            "COMPLETE" => match goal::measurement(&goal, &values, constraints, ours.measurement) {
                Some(measurement) => ("complete", Some(measurement), None),
                None => {
                    unconstrained += 1;
                    continue;
                }
            },
            "PRUNED" => match (ours.measurement, steps.last()) {
                // Our own, of which Optuna has only a part.
                (Some(told), _) if goal.check(0, &told).is_ok() => stopped(&goal, told),
                (_, Some(last)) if goal.check(0, last).is_ok() => stopped(&goal, last.clone()),
                _ => failed("pruned by Optuna"),
            },
            "FAIL" if ours.infeasible => ("infeasible", None, None),
            "FAIL" => failed(ours.reason.as_deref().unwrap_or("failed under Optuna")),
            _ => {
                left_out += 1;
                continue;
            }
        };
        let time = |text: Option<String>| {
            text.and_then(|text| Timestamp::from_utc(&text)).map(Timestamp::to_utc)
        };
        let single = measurement.as_ref().and_then(|all| match &all.objectives[..] {
            [only] => Some(*only),
            _ => None,
        });
        let several = measurement.as_ref().filter(|_| single.is_none());
        let several = several.map(|all| NamedValues::objectives(&goal, all));
        let constraints = measurement.as_ref().map(|all| NamedValues::constraints(&goal, all));
        let is_violating = measurement.as_ref().is_some_and(|all| goal.is_violated_by(all));
        rows.push(Row {
            trial: u64::try_from(number).ok(),
            state: if is_violating && state == "complete" { "violating" } else { state }.to_owned(),
            value: single.map(|measured| measured.value),
            deviation: single.and_then(|measured| measured.deviation),
            objectives: several.unwrap_or_default(),
            constraints: constraints.unwrap_or_default(),
            fidelity: measurement.as_ref().and_then(|all| all.fidelity),
            steps: steps.iter().map(|step| RowStep::new(step, &goal)).collect(),
            reason,
            worker: Some("optuna".to_owned()),
            started: time(row.get(3)?),
            finished: time(row.get(4)?),
            params: parameters
                .get(&trial)
                .map(|given| {
                    given.iter().map(|(name, given)| (name.clone(), given.value.clone())).collect()
                })
                .unwrap_or_default(),
            attributes: ours.attributes.into_iter().collect(),
        });
    }
    let all: Vec<&BTreeMap<String, Given>> = parameters.values().collect();
    let space = space(&all).map_err(|error| Error::exchange(&error));
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!("{left_out} running or waiting trials were left out"));
    }
    if unconstrained > 0 {
        notes.push(format!(
            "{unconstrained} complete trials without values of all constraints were left out"
        ));
    }
    if !curves.is_empty() && goal.partial().is_none() {
        notes.push("intermediate values were left out: no trial was pruned".to_owned());
    }
    // A trial that failed before it asked for all parameters is no point of the space.
    if let Ok(space) = &space {
        let before = rows.len();
        rows.retain(|row| row.state != "failed" || space.encode(&row.params).is_ok());
        if rows.len() < before {
            notes.push(format!(
                "{} failed trials without all parameters were left out",
                before - rows.len()
            ));
        }
    }
    Ok(Found { name, goal, space, rows, notes })
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

fn ours(connection: &Connection, study: i64) -> Result<BTreeMap<i64, Ours>> {
    let mut statement = connection.prepare(
        "SELECT a.trial_id, a.\"key\", a.value_json FROM trial_user_attributes a
         JOIN trials t ON t.trial_id = a.trial_id WHERE t.study_id = ?1",
    )?;
    let mut rows = statement.query([study])?;
    let mut ours: BTreeMap<i64, Ours> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (trial, key, text): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // Python writes NaN and Infinity, which are not JSON.
        let json = serde_json::from_str(&text).unwrap_or(Json::String(text));
        let ours = ours.entry(trial).or_default();
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

/// A parameter of one trial.
#[derive(Debug, Clone)]
struct Given {
    value: Value,
    kind: Kind,
    place: i64,
}

fn parameters(
    connection: &Connection,
    study: i64,
) -> Result<BTreeMap<i64, BTreeMap<String, Given>>> {
    let mut statement = connection.prepare(
        "SELECT p.trial_id, p.param_name, p.param_value, p.distribution_json, p.param_id FROM trial_params p
         JOIN trials t ON t.trial_id = p.trial_id WHERE t.study_id = ?1 ORDER BY p.param_id",
    )?;
    let mut rows = statement.query([study])?;
    let mut parameters: BTreeMap<i64, BTreeMap<String, Given>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (trial, name, number, text): (i64, String, f64, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let json: Json =
            serde_json::from_str(&text).with_context(|| format!("the distribution of `{name}`"))?;
        let kind = kind(&json).with_context(|| format!("the distribution of `{name}`, {text}"))?;
        let value = match &kind {
            Kind::Real { .. } | Kind::Shares { .. } => Value::Real(number),
            Kind::Integer { .. } => Value::Integer(number as i64),
            Kind::Boolean => Value::Boolean(number != 0.0),
            Kind::Categorical { choices } => match choice(choices, number) {
                Some(value) => value.clone(),
                None => bail!("`{name}` has choice {number} of {}", choices.len()),
            },
            Kind::Ordinal { levels } => nearest(levels, number),
        };
        parameters
            .entry(trial)
            .or_default()
            .insert(name, Given { value, kind, place: row.get(4)? });
    }
    Ok(parameters)
}

/// The choice at a place, which must be one: below zero, or between two, there is none.
fn choice(choices: &[Value], number: f64) -> Option<&Value> {
    let place = (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)?;
    choices.get(place)
}

/// The level at a number: Optuna rounds its multiples of a step in its own way.
fn nearest(levels: &[Value], number: f64) -> Value {
    let distance =
        |level: &&Value| level.as_real().map_or(f64::INFINITY, |level| (level - number).abs());
    levels
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .cloned()
        .unwrap_or(Value::Real(number))
}

fn kind(json: &Json) -> Result<Kind> {
    let attributes = &json["attributes"];
    let real = |name: &str| attributes[name].as_f64().with_context(|| format!("{name} is missing"));
    let integer =
        |name: &str| attributes[name].as_i64().with_context(|| format!("{name} is missing"));
    let scale = if attributes["log"] == true { Scale::Log } else { Scale::Linear };
    Ok(match json["name"].as_str() {
        Some("FloatDistribution") => {
            let (low, high) = (real("low")?, real("high")?);
            match attributes["step"].as_f64() {
                Some(step)
                    if step > 0.0
                        && (high - low) / step >= 1.0
                        && (high - low) / step < MOST_LEVELS =>
                {
                    let count = ((high - low) / step + 1e-9).floor() as u32;
                    Kind::Ordinal {
                        levels: (0..=count)
                            .map(|k| Value::Real(low + f64::from(k) * step))
                            .collect(),
                    }
                }
                _ => Kind::Real { low, high, scale },
            }
        }
        Some("IntDistribution") => Kind::Integer {
            low: integer("low")?,
            high: integer("high")?,
            scale,
            step: integer("step")?,
        },
        Some("CategoricalDistribution") => {
            let choices = attributes["choices"].as_array().context("choices are missing")?;
            let choice = |json: &Json| match json {
                Json::Null => Value::from("None"),
                other => serde_json::from_value(other.clone())
                    .unwrap_or_else(|_| Value::Text(other.to_string())),
            };
            Kind::Categorical { choices: choices.iter().map(choice).collect() }
        }
        other => bail!("its name is {other:?}, which is unknown"),
    })
}

/// The space that explains the parameters of all trials.
fn space(trials: &[&BTreeMap<String, Given>]) -> Result<SearchSpace> {
    let mut kinds: BTreeMap<&str, (&Kind, i64, usize)> = BTreeMap::new();
    for (name, given) in trials.iter().flat_map(|trial| trial.iter()) {
        let (kind, _, count) = kinds.entry(name).or_insert((&given.kind, given.place, 0));
        *count += 1;
        if **kind != given.kind {
            bail!(
                "`{name}` changed its distribution during the study; give a study file that has room for all of it"
            );
        }
    }
    // A trial that broke early lacks parameters for no reason of its own: the longest tell.
    let whole = |name: &str| kinds.get(name).is_some_and(|(_, _, count)| *count == trials.len());
    let mut names: Vec<(&str, &Kind, i64)> =
        kinds.iter().map(|(name, (kind, place, _))| (*name, *kind, *place)).collect();
    names.sort_by_key(|(name, _, place)| (!whole(name), *place));
    let mut dimensions = Vec::new();
    for (name, kind, _) in &names {
        // A choice of one is no choice; Optuna allows it.
        let mut dimension = Dimension::new(*name, (*kind).clone());
        if !whole(name) {
            let parents = names.iter().filter(|(parent, kind, _)| {
                whole(parent) && matches!(kind, Kind::Categorical { .. })
            });
            let condition =
                parents.clone().find_map(|(parent, _, _)| explain(trials, name, parent));
            let Some((parent, values)) = condition else {
                bail!(
                    "only some trials have `{name}`, and no categorical parameter explains which; \
                     write a study file with the space, and name it with --study"
                );
            };
            dimension = dimension.when(parent, values);
        }
        dimensions.push(dimension);
    }
    Ok(SearchSpace::new(dimensions)?)
}

/// The values of `parent` under which `child` is there, if they tell exactly.
fn explain(
    trials: &[&BTreeMap<String, Given>],
    child: &str,
    parent: &str,
) -> Option<(String, Vec<Value>)> {
    let (mut with, mut without) = (BTreeMap::new(), BTreeSet::new());
    for trial in trials {
        let value = &trial.get(parent)?.value;
        if trial.contains_key(child) {
            with.insert(value.to_string(), value.clone());
        } else {
            without.insert(value.to_string());
        }
    }
    let tells = !with.is_empty() && with.keys().all(|value| !without.contains(value));
    tells.then(|| (parent.to_owned(), with.into_values().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_is_none_is_no_choice() {
        let choices = ["a", "b"].map(Value::from);
        assert_eq!(choice(&choices, 1.0), Some(&choices[1]));
        for number in [-5.0, -0.5, 0.5, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(choice(&choices, number), None, "{number}");
        }
    }
}
