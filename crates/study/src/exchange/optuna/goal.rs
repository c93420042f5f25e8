//! Objectives and constraints as Optuna keeps them.
//!
//! | Optuna | here |
//! |---|---|
//! | `study_directions`, a row an objective | the directions of the objectives |
//! | study system attribute `study:metric_names` | the names of the objectives; else `value`, or `objective-1`, `objective-2`, … |
//! | `trial_values`, a row an objective | the values |
//! | trial system attribute `constraints`, a list; met if at most 0 | `constraint-1 <= 0`, `constraint-2 <= 0`, … |
//! | trial system attributes `constraints:KEY` (Optuna 5), each a number | `KEY <= 0` |
//!
//! Optuna knows by how much a limit is missed, and neither the limit nor the name. What it has no place for is kept in
//! user attributes: the whole goal with the study (`wimble:goal`), and with a trial that has constraints or deviations its
//! values as they were told (`wimble:measurement`).

use anyhow::{Context as _, Result};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde_json::Value as Json;
use wimble::goal::{Bound, Direction, Goal, Objective};
use wimble::outcome::Measurement;

const METRIC_NAMES: &str = "study:metric_names";
const CONSTRAINTS: &str = "constraints";
const GOAL: &str = "wimble:goal";

/// The values of a trial, one for each objective; infinite where Optuna has no finite one.
pub(super) fn values(connection: &Connection, trial: i64) -> Result<Vec<f64>> {
    let mut statement = connection.prepare_cached(
        "SELECT value, value_type FROM trial_values WHERE trial_id = ?1 ORDER BY objective",
    )?;
    let mut rows = statement.query([trial])?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        let (value, kind): (Option<f64>, String) = (row.get(0)?, row.get(1)?);
        values.push(value.filter(|_| kind == "FINITE").unwrap_or(f64::INFINITY));
    }
    Ok(values)
}

/// Constraints by their names, in order.
pub(super) type Named = Vec<(String, f64)>;

/// The constraints of a trial.
pub(super) fn constraints(connection: &Connection, trial: i64) -> Result<Named> {
    let mut statement = connection.prepare_cached(
        "SELECT \"key\", value_json FROM trial_system_attributes WHERE trial_id = ?1 ORDER BY \"key\"",
    )?;
    let mut rows = statement.query([trial])?;
    let mut constraints = Named::new();
    while let Some(row) = rows.next()? {
        let (key, text): (String, String) = (row.get(0)?, row.get(1)?);
        // `null`, and NaN and Infinity, which are not JSON, say nothing.
        match key.strip_prefix(CONSTRAINTS) {
            Some("") => {
                let values: Vec<f64> = serde_json::from_str(&text).unwrap_or_default();
                let named = (1..).zip(values).map(|(k, value)| (format!("constraint-{k}"), value));
                constraints.extend(named);
            }
            Some(key) if key.len() > 1 && key.starts_with(':') => {
                let value: Option<f64> = serde_json::from_str(&text).ok();
                constraints.extend(value.map(|value| (key[1..].to_owned(), value)));
            }
            _ => {}
        }
    }
    Ok(constraints)
}

/// The goal of a study. `limited` are the names of all constraints of its trials.
pub(super) fn read(connection: &Connection, study: i64, limited: &[String]) -> Result<Goal> {
    let directions: Vec<Direction> = connection
        .prepare("SELECT direction FROM study_directions WHERE study_id = ?1 ORDER BY objective")?
        .query_map([study], |row| row.get::<_, String>(0))?
        .map(|word| Ok(if word? == "MAXIMIZE" { Direction::Maximise } else { Direction::Minimise }))
        .collect::<Result<_, rusqlite::Error>>()?;
    let ours = attribute(connection, "study_user_attributes", study, GOAL)?;
    let ours = ours.and_then(|json| serde_json::from_value::<Goal>(json).ok());
    let fits = |goal: &Goal| {
        let theirs = goal.objectives().iter().map(|objective| objective.direction);
        theirs.eq(directions.iter().copied())
            && (goal.constraints().len() == limited.len() || limited.is_empty())
    };
    if let Some(goal) = ours.filter(fits) {
        return Ok(goal);
    }
    let names = attribute(connection, "study_system_attributes", study, METRIC_NAMES)?;
    let names: Option<Vec<String>> = names.and_then(|json| serde_json::from_value(json).ok());
    let names = names.filter(|names| names.len() == directions.len());
    let name = |place: usize| match (&names, directions.len()) {
        (Some(names), _) => names[place].clone(),
        (None, 1) => "value".to_owned(),
        (None, _) => format!("objective-{}", place + 1),
    };
    let objectives = directions.iter().enumerate();
    let mut goal = Goal::new(objectives.map(|(place, &direction)| Objective {
        name: name(place),
        direction,
        reference: None,
    }))
    .context("its objectives")?;
    for key in limited {
        // Of the same name as an objective, it is still a quantity of its own.
        let is_objective = goal.objectives().iter().any(|objective| objective.name == *key);
        let name = if is_objective { format!("constraint-{key}") } else { key.clone() };
        goal = goal.limit(name, Bound::AtMost(0.0)).context("its constraints")?;
    }
    Ok(goal)
}

fn attribute(connection: &Connection, table: &str, study: i64, key: &str) -> Result<Option<Json>> {
    let query = format!("SELECT value_json FROM {table} WHERE study_id = ?1 AND \"key\" = ?2");
    let text: Option<String> =
        connection.query_row(&query, params![study, key], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// The measurement of a complete trial: as we wrote it, if Optuna's values are still those; `None` if constraints are
/// missing.
pub(super) fn measurement(
    goal: &Goal,
    values: &[f64],
    constraints: Named,
    ours: Option<Measurement>,
) -> Option<Measurement> {
    let same = |told: &Measurement| {
        goal.check(0, told).is_ok()
            && told.objectives.iter().map(|measured| measured.value).eq(values.iter().copied())
    };
    if let Some(ours) = ours.filter(same) {
        return Some(ours);
    }
    if constraints.len() != goal.constraints().len() {
        return None;
    }
    let told = goal.constraints().iter().zip(constraints.into_iter().map(|(_, beyond)| beyond));
    Some(Measurement {
        objectives: values.iter().map(|&value| value.into()).collect(),
        constraints: told
            .map(|(constraint, beyond)| match constraint.bound {
                Bound::AtMost(bound) => (bound + beyond).into(),
                Bound::AtLeast(bound) => (bound - beyond).into(),
            })
            .collect(),
        fidelity: None,
    })
}

/// Writes the directions and names of a goal, and all of it where Optuna has no place for it.
pub(super) fn write(transaction: &Transaction<'_>, study: i64, goal: &Goal) -> Result<()> {
    for (place, objective) in goal.objectives().iter().enumerate() {
        let direction = match objective.direction {
            Direction::Minimise => "MINIMIZE",
            Direction::Maximise => "MAXIMIZE",
        };
        transaction.execute(
            "INSERT INTO study_directions (direction, study_id, objective) VALUES (?1, ?2, ?3)",
            params![direction, study, place as i64],
        )?;
    }
    if goal.as_direction().is_some() {
        return Ok(());
    }
    let names: Vec<&str> = goal.objectives().iter().map(|o| o.name.as_str()).collect();
    transaction.execute(
        "INSERT INTO study_system_attributes (study_id, \"key\", value_json) VALUES (?1, ?2, ?3)",
        params![study, METRIC_NAMES, serde_json::to_string(&names)?],
    )?;
    transaction.execute(
        "INSERT INTO study_user_attributes (study_id, \"key\", value_json) VALUES (?1, ?2, ?3)",
        params![study, GOAL, serde_json::to_string(goal)?],
    )?;
    Ok(())
}

/// Writes the values of a trial, and by how much it is beyond each limit.
pub(super) fn write_values(
    transaction: &Transaction<'_>,
    trial: i64,
    goal: &Goal,
    measurement: &Measurement,
) -> Result<()> {
    for (place, measured) in measurement.objectives.iter().enumerate() {
        transaction
            .prepare_cached("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?1, ?2, ?3, 'FINITE')")?
            .execute(params![trial, place as i64, measured.value])?;
    }
    if goal.constraints().is_empty() {
        return Ok(());
    }
    let told = goal.constraints().iter().zip(&measurement.constraints);
    let beyond: Vec<f64> = told
        .map(|(constraint, measured)| match constraint.bound {
            Bound::AtMost(bound) => measured.value - bound,
            Bound::AtLeast(bound) => bound - measured.value,
        })
        .collect();
    transaction
        .prepare_cached("INSERT INTO trial_system_attributes (trial_id, \"key\", value_json) VALUES (?1, ?2, ?3)")?
        .execute(params![trial, CONSTRAINTS, serde_json::to_string(&beyond)?])?;
    Ok(())
}
