//! Our trials in the storage of Optuna.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rusqlite::{Connection, Transaction, params};
use serde_json::{Value as Json, json};
use wimble::outcome::Outcome;
use wimble::space::{Configuration, Kind, Parameter, Scale, Value};

use super::{INFEASIBLE, MEASUREMENT, OURS, REASON, SCHEMA, STEPS, TRIAL, curves, goal};
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::error::Error;
use crate::settings::Settings;
use crate::step::Step;
use crate::trial::{State, Trial};

/// Writes the finished and the paused trials of a study into a new file, or beside other studies; says how many.
///
/// They are written as they come, and never all in memory. `steps` gives the steps of a trial.
pub fn write(
    path: &Path,
    settings: &Settings,
    trials: impl IntoIterator<Item = crate::Result<Trial>>,
    steps: &dyn Fn(u64) -> crate::Result<Vec<Step>>,
) -> crate::Result<usize> {
    write_study(path, settings, trials, steps).map_err(|error| Error::exchange(&error))
}

fn write_study(
    path: &Path,
    settings: &Settings,
    trials: impl IntoIterator<Item = crate::Result<Trial>>,
    steps: &dyn Fn(u64) -> crate::Result<Vec<Step>>,
) -> Result<usize> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(include_str!("schema.sql"))?;
    } else {
        let version: i64 = transaction
            .query_row("SELECT schema_version FROM version_info", [], |row| row.get(0))
            .context("the file exists and is no storage of Optuna")?;
        if version != SCHEMA {
            bail!("the file exists with schema version {version}, but must have {SCHEMA}");
        }
    }
    let taken: i64 = transaction.query_row(
        "SELECT count(*) FROM studies WHERE study_name = ?1",
        [&settings.name],
        |row| row.get(0),
    )?;
    if taken > 0 {
        bail!("it has a study `{}` already, which was left as it is", settings.name);
    }
    transaction.execute("INSERT INTO studies (study_name) VALUES (?1)", [&settings.name])?;
    let study = transaction.last_insert_rowid();
    goal::write(&transaction, study, &settings.goal)?;
    let mut count = 0;
    for trial in trials {
        let trial = trial?;
        let is_paused = matches!(trial.state, State::Paused(_));
        if trial.outcome().is_none() && !is_paused {
            continue;
        }
        let steps = match settings.goal.partial() {
            Some(_) => steps(trial.id)?,
            None => Vec::new(),
        };
        // Optuna continues no trial: a paused one was pruned where it is.
        let last = steps.last().map(|step| Outcome::Measured(step.measurement.clone()));
        let Some(outcome) = trial.outcome().cloned().or(last) else { continue };
        write_trial(&transaction, (study, count), settings, &trial, &outcome, &steps)?;
        count += 1;
    }
    transaction.commit()?;
    Ok(count)
}

fn write_trial(
    transaction: &Transaction<'_>,
    (study, number): (i64, usize),
    settings: &Settings,
    trial: &Trial,
    outcome: &Outcome,
    steps: &[Step],
) -> Result<()> {
    let state = match outcome {
        Outcome::Measured(told) if settings.goal.part(told).is_some() => "PRUNED",
        Outcome::Measured(_) => "COMPLETE",
        Outcome::Failed(_) | Outcome::Infeasible => "FAIL",
    };
    let time = |time: Option<Timestamp>| {
        time.map(|time| time.to_utc().replace('T', " ").replace('Z', "000"))
    };
    transaction.prepare_cached("INSERT INTO trials (number, study_id, state, datetime_start, datetime_complete) VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(
        params![number as i64, study, state, time(trial.started()), time(trial.finished())],
    )?;
    let id = transaction.last_insert_rowid();
    let attribute = |key: &str, value: Json| -> Result<()> {
        transaction
            .prepare_cached("INSERT INTO trial_user_attributes (trial_id, \"key\", value_json) VALUES (?1, ?2, ?3)")?
            .execute(params![id, key, value.to_string()])?;
        Ok(())
    };
    attribute(TRIAL, trial.id.into())?;
    let attributes = trial.attributes().into_iter().flat_map(Attributes::iter);
    for (name, value) in attributes.filter(|(name, _)| !OURS.contains(name)) {
        attribute(name, value.clone())?;
    }
    match outcome {
        Outcome::Measured(measurement) => {
            goal::write_values(transaction, id, &settings.goal, measurement)?;
            // Optuna has no place for deviations and fidelities, and only differences from limits for constraints.
            let values = measurement.objectives.iter();
            if values.chain(&measurement.constraints).any(|measured| measured.deviation.is_some())
                || !measurement.constraints.is_empty()
                || measurement.fidelity.is_some()
            {
                attribute(MEASUREMENT, serde_json::to_value(measurement)?)?;
            }
        }
        Outcome::Infeasible => attribute(INFEASIBLE, true.into())?,
        Outcome::Failed(failure) => attribute(REASON, failure.reason.clone().into())?,
    }
    let left = curves::write(transaction, id, steps)?;
    if !left.is_empty() {
        attribute(STEPS, serde_json::to_value(left)?)?;
    }
    for parameter in settings.space.parameters() {
        if let Some((number, distribution)) = written(parameter, &trial.configuration) {
            transaction
                .prepare_cached("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![id, parameter.name, number, distribution.to_string()])?;
        }
    }
    Ok(())
}

/// A parameter as Optuna keeps it: a number, and what it means.
fn written(parameter: Parameter<'_>, configuration: &Configuration) -> Option<(f64, Json)> {
    let value = configuration.get(parameter.name)?;
    let choice = |values: &[Value]| -> Option<(f64, Json)> {
        let place = values.iter().position(|known| known == value)?;
        Some((
            place as f64,
            json!({ "name": "CategoricalDistribution", "attributes": { "choices": values } }),
        ))
    };
    match parameter.kind {
        // No parameter is more than one share.
        Kind::Shares { .. } => None,
        Kind::Real { low, high, scale } => {
            let attributes =
                json!({ "step": null, "low": low, "high": high, "log": *scale == Scale::Log });
            Some((
                value.as_real()?,
                json!({ "name": "FloatDistribution", "attributes": attributes }),
            ))
        }
        Kind::Integer { low, high, scale, step } => {
            // Optuna wants the highest value, not a bound that no value reaches.
            let high = low + (high - low) / step * step;
            let attributes =
                json!({ "log": *scale == Scale::Log, "step": step, "low": low, "high": high });
            Some((value.as_real()?, json!({ "name": "IntDistribution", "attributes": attributes })))
        }
        Kind::Boolean => choice(&[Value::Boolean(false), Value::Boolean(true)]),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => choice(values),
    }
}
