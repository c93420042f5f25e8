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

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::{Connection, Transaction, params};
use wimble::goal::Goal;
use wimble::outcome::Measurement;

use crate::step::Step;

/// The name of the fidelity of a study of Optuna.
const NAME: &str = "step";

/// The intermediate values of a study's trials.
#[derive(Default)]
pub(super) struct Curves {
    /// By trial: steps and values, in order.
    values: BTreeMap<i64, Vec<(f64, f64)>>,
    /// What is added to each step.
    shift: f64,
}

impl Curves {
    /// Reads all of a study that are finite.
    pub fn read(connection: &Connection, study: i64) -> Result<Self> {
        let mut statement = connection.prepare(
            "SELECT v.trial_id, v.step, v.intermediate_value, v.intermediate_value_type
             FROM trial_intermediate_values v JOIN trials t ON t.trial_id = v.trial_id
             WHERE t.study_id = ?1 ORDER BY v.trial_id, v.step",
        )?;
        let mut rows = statement.query([study])?;
        let mut curves = Self::default();
        while let Some(row) = rows.next()? {
            let (trial, step): (i64, i64) = (row.get(0)?, row.get(1)?);
            let (value, kind): (Option<f64>, String) = (row.get(2)?, row.get(3)?);
            if let Some(value) = value.filter(|value| kind == "FINITE" && value.is_finite())
                && step >= 0
            {
                curves.values.entry(trial).or_default().push((step as f64, value));
                if step == 0 {
                    curves.shift = 1.0;
                }
            }
        }
        Ok(curves)
    }

    /// The goal with a fidelity of all steps; as it is where it has one, or where there are no two different steps.
    pub fn goal(&mut self, goal: Goal) -> Goal {
        if goal.partial().is_some() {
            // Our own study: its steps are fidelities.
            self.shift = 0.0;
            return goal;
        }
        let steps = self.values.values().flatten().map(|(step, _)| step + self.shift);
        let ends = steps
            .fold((f64::INFINITY, 0.0_f64), |(low, high), step| (low.min(step), high.max(step)));
        goal.clone().fidelity(NAME, ends.0, ends.1).unwrap_or(goal)
    }

    /// The steps of a trial that fit the goal.
    pub fn of(&self, trial: i64, goal: &Goal) -> Vec<Measurement> {
        let all = self.values.get(&trial).into_iter().flatten();
        let steps = all.map(|&(step, value)| Measurement {
            fidelity: Some(step + self.shift),
            ..value.into()
        });
        steps.filter(|step| goal.partial().is_some() && goal.check(0, step).is_ok()).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
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
