//! Intermediate values as Optuna keeps them, and steps.
//!
//! | Optuna | here |
//! |---|---|
//! | `trial_intermediate_values` of a study with pruned trials | steps, and a fidelity `step` from the lowest to the highest of them |
//! | `PRUNED`, with intermediate values | stopped at its last step |
//! | `PRUNED`, without any | failed |
//!
//! Optuna counts steps from 0 as often as from 1. A fidelity is above 0, so that where a step 0 is found, all are one
//! higher here. What Optuna has no place for is kept in the user attribute `wimble:steps` of the trial: steps of several
//! objectives, with constraints or deviations, and at fidelities that are no whole numbers.

use anyhow::Result;
use rusqlite::{Connection, Row, Transaction, params};
use wimble::goal::Goal;
use wimble::outcome::Measurement;

use crate::step::Step;

/// The name of the fidelity of a study of Optuna.
const NAME: &str = "step";

/// The intermediate values of a study's trials that are finite.
#[derive(Default)]
pub(super) struct Curves {
    /// The lowest and the highest step of all.
    ends: Option<(f64, f64)>,
    /// What is added to each step.
    shift: f64,
}

impl Curves {
    /// Looks at all of a study.
    pub fn read(connection: &Connection, study: i64) -> Result<Self> {
        let ends: (Option<i64>, Option<i64>) = connection.query_row(
            "SELECT min(v.step), max(v.step)
             FROM trials t JOIN trial_intermediate_values v ON v.trial_id = t.trial_id
             WHERE t.study_id = ?1 AND v.step >= 0 AND v.intermediate_value_type = 'FINITE'
             AND abs(v.intermediate_value) < 9e999",
            [study],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let ends = ends.0.zip(ends.1).map(|(low, high)| (low as f64, high as f64));
        let shift = if ends.is_some_and(|(low, _)| low == 0.0) { 1.0 } else { 0.0 };
        Ok(Self { ends, shift })
    }

    /// The goal with a fidelity of all steps; as it is where it has one, or where there are no two different steps.
    pub fn goal(&mut self, goal: Goal) -> Goal {
        if goal.partial().is_some() {
            // Our own study: its steps are fidelities.
            self.shift = 0.0;
            return goal;
        }
        let Some((low, high)) = self.ends else { return goal };
        goal.clone().fidelity(NAME, low + self.shift, high + self.shift).unwrap_or(goal)
    }

    /// The steps of a trial that fit the goal, in order.
    pub fn of(&self, connection: &Connection, trial: i64, goal: &Goal) -> Result<Vec<Measurement>> {
        if goal.partial().is_none() || self.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = connection.prepare_cached(
            "SELECT step, intermediate_value FROM trial_intermediate_values
             WHERE trial_id = ?1 AND step >= 0 AND intermediate_value_type = 'FINITE'
             AND abs(intermediate_value) < 9e999 ORDER BY step",
        )?;
        let read =
            |row: &Row<'_>| -> rusqlite::Result<(i64, f64)> { Ok((row.get(0)?, row.get(1)?)) };
        let found = statement.query_map([trial], read)?;
        let mut steps = Vec::new();
        for step in found {
            let (step, value) = step?;
            let step = Measurement { fidelity: Some(step as f64 + self.shift), ..value.into() };
            if goal.check(0, &step).is_ok() {
                steps.push(step);
            }
        }
        Ok(steps)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_none()
    }
}

/// Writes the steps of a trial; returns those that Optuna has no place for.
pub(super) fn write(
    transaction: &Transaction<'_>,
    trial: i64,
    steps: &[Step],
) -> Result<Vec<Measurement>> {
    let plain = |step: &Step| {
        let bare = Measurement { fidelity: None, ..step.measurement.clone() };
        bare.as_number().filter(|_| step.fidelity().fract() == 0.0)
    };
    if steps.iter().any(|step| plain(step).is_none()) {
        return Ok(steps.iter().map(|step| step.measurement.clone()).collect());
    }
    for step in steps {
        transaction
            .prepare_cached(
                "INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, \
                 intermediate_value_type) VALUES (?1, ?2, ?3, 'FINITE')",
            )?
            .execute(params![trial, step.fidelity() as i64, plain(step)])?;
    }
    Ok(Vec::new())
}
