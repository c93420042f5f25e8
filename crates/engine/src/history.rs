//! The evidence D_t: what was tried, and with which outcome. Append only.
//!
//! Points are legal encoded points of the search space. Values are turned so that low is good (see [`crate::goal`]),
//! and lie in columns: one for each objective and each constraint. A trial without a measurement is kept as failed or
//! infeasible, never as a number.
//!
//! Under a goal with a fidelity it also keeps the [`Curves`] of finished and of running trials.
//!
//! Memory: d numbers a trial for the point, two for each column, two for its fingerprint, and a byte for how it ended.

pub use crate::column::Column;

use crate::curves::Curves;
use crate::error::{Error, Result};
use crate::goal::{Constraint, Goal};
use crate::outcome::{Measured, Measurement, Outcome};
use crate::points::Points;
use crate::ranking::Ranking;
use crate::space::{Fingerprint, Taken};

/// How a trial ended; its values are in the columns.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a measurement.
    Measured,
    /// Without a value.
    Failed,
    /// Without a value, since the configuration cannot be evaluated.
    Infeasible,
}

/// All finished trials, in the order in which they were told.
#[derive(Debug, Clone)]
pub struct History {
    goal: Goal,
    points: Points,
    ends: Vec<End>,
    objectives: Vec<Column>,
    constraints: Vec<Column>,
    /// The fidelity of each trial; NaN for a whole evaluation. Empty until a trial is less than whole.
    fidelities: Vec<f64>,
    /// The highest fidelity of a measured trial; infinite for a whole evaluation, 0 without one.
    reached: f64,
    curves: Curves,
    /// Whether values of stopped trials were estimated, so that they change with further trials.
    estimated: bool,
    taken: Taken,
}

impl History {
    /// An empty history for points of `dim` coordinates and one objective to minimise.
    pub fn new(dim: usize) -> Self {
        Self::of(dim, Goal::default())
    }

    /// An empty history for points of `dim` coordinates and this goal.
    pub fn of(dim: usize, goal: Goal) -> Self {
        Self {
            points: Points::new(dim),
            ends: Vec::new(),
            objectives: vec![Column::default(); goal.objectives().len()],
            constraints: vec![Column::default(); goal.constraints().len()],
            fidelities: Vec::new(),
            reached: 0.0,
            estimated: false,
            curves: Curves::new(goal.objectives().len() + goal.constraints().len()),
            taken: Taken::default(),
            goal,
        }
    }

    /// Appends a finished trial at a legal encoded point. Its values must already be turned so that low is good.
    /// Refuses a measurement that does not fit the goal or is not finite. Its number is its place.
    pub fn push(&mut self, x: &[f64], outcome: impl Into<Outcome>) -> Result<()> {
        self.push_trial(self.len() as u64, x, outcome)
    }

    /// Appends a finished trial of this number, like [`Self::push`]. Its measurement becomes the last step of its curve.
    pub fn push_trial(&mut self, trial: u64, x: &[f64], outcome: impl Into<Outcome>) -> Result<()> {
        let outcome = outcome.into();
        let (mut fidelity, place) = (None, self.len());
        let end = match &outcome {
            Outcome::Measured(measurement) => {
                self.goal.check(place as u64, measurement)?;
                fidelity = self.goal.part(measurement);
                self.reached = self.reached.max(fidelity.unwrap_or(f64::INFINITY));
                if let Some(range) = self.goal.partial() {
                    self.curves.report(trial, x, range.high, measurement);
                }
                let columns = self.objectives.iter_mut().chain(&mut self.constraints);
                let all = measurement.objectives.iter().chain(&measurement.constraints);
                columns.zip(all).for_each(|(column, m)| column.push(Some(m.value), m.deviation));
                End::Measured
            }
            Outcome::Failed(_) => End::Failed,
            Outcome::Infeasible => End::Infeasible,
        };
        if end != End::Measured {
            let columns = self.objectives.iter_mut().chain(&mut self.constraints);
            columns.for_each(|column| column.push(None, None));
        }
        if fidelity.is_some() && self.fidelities.is_empty() {
            self.fidelities.resize(place, f64::NAN);
        }
        if fidelity.is_some() || !self.fidelities.is_empty() {
            self.fidelities.push(fidelity.unwrap_or(f64::NAN));
        }
        if self.goal.partial().is_some() {
            self.curves.end(trial, x, place);
        }
        self.points.push(x);
        self.ends.push(end);
        self.taken.insert(Fingerprint::of(x));
        Ok(())
    }

    /// Adds a step of a running trial at a legal encoded point, with values turned so that low is good (see
    /// [`Curves`]). Refuses a measurement that does not fit the goal, and any under a goal without a fidelity.
    pub fn report(&mut self, trial: u64, x: &[f64], step: &Measurement) -> Result<()> {
        self.goal.check(trial, step)?;
        let Some(range) = self.goal.partial() else {
            let reason = "it is a step of a curve, but the goal has no fidelity".to_owned();
            return Err(Error::Measurement { trial, reason });
        };
        self.curves.report(trial, x, range.high, step);
        Ok(())
    }

    /// How many trials are finished, with or without a value.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no trial is finished.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The goal that measurements belong to.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The points tried.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// How each trial ended.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// The first objective; in a goal of one objective, the only one.
    pub fn objective(&self) -> &Column {
        &self.objectives[0]
    }

    /// The objectives, in the order of the goal.
    pub fn objectives(&self) -> &[Column] {
        &self.objectives
    }

    /// The measured quantities that have limits, in the order of the goal.
    pub fn constraints(&self) -> &[Column] {
        &self.constraints
    }

    /// The values of all objectives of the `i`-th trial, in the order of the goal; empty if it has no measurement.
    pub fn row(&self, i: usize) -> Vec<f64> {
        self.objectives.iter().filter_map(|column| column.value(i)).collect()
    }

    /// Whether the `i`-th trial has a measurement that meets every constraint.
    pub fn meets(&self, i: usize) -> bool {
        let limits = self.goal.constraints().iter().map(Constraint::limit);
        let mut all = self.constraints.iter().zip(limits);
        self.ends[i] == End::Measured
            && all.all(|(column, limit)| column.value(i).is_some_and(|value| value <= limit))
    }

    /// The outcome of the `i`-th trial, on the scale where low is good. A history does not keep the reasons of
    /// failures.
    pub fn outcome(&self, i: usize) -> Outcome {
        let measured = |column: &Column| {
            let deviation = column.deviation(i);
            column.value(i).map(|value| Measured { value, deviation })
        };
        match self.ends[i] {
            End::Measured => Outcome::Measured(Measurement {
                objectives: self.objectives.iter().filter_map(measured).collect(),
                constraints: self.constraints.iter().filter_map(measured).collect(),
                fidelity: self.fidelity(i),
            }),
            End::Failed => Outcome::failed(),
            End::Infeasible => Outcome::Infeasible,
        }
    }

    /// The fidelity of the `i`-th trial; `None` for a whole evaluation, and for a trial without a measurement.
    pub fn fidelity(&self, i: usize) -> Option<f64> {
        self.fidelities.get(i).copied().filter(|fidelity| !fidelity.is_nan())
    }

    /// Whether the `i`-th trial has a measurement at the highest fidelity that any trial has reached, so that its values
    /// may be compared with those of the others that do. Without a fidelity in the goal: whether it has a measurement.
    pub fn leads(&self, i: usize) -> bool {
        self.ends[i] == End::Measured && self.fidelity(i).unwrap_or(f64::INFINITY) == self.reached
    }

    /// Notes that some values are estimates, which further trials change.
    pub(crate) fn mark_estimated(&mut self) {
        self.estimated = true;
    }

    /// Whether further trials leave the order of those that are here as it is: one objective, and no value that is an
    /// estimate.
    pub fn is_settled(&self) -> bool {
        self.goal.is_single() && !self.estimated
    }

    /// Whether some trial is less than whole.
    pub fn is_partial(&self) -> bool {
        !self.fidelities.is_empty()
    }

    /// The curves of finished and running trials; empty under a goal without a fidelity.
    pub fn curves(&self) -> &Curves {
        &self.curves
    }

    /// The values of the first objective, in order of size.
    pub fn ranking(&self) -> &Ranking {
        self.objective().ranking()
    }

    /// The configurations tried.
    pub fn taken(&self) -> &Taken {
        &self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Objective};

    #[test]
    fn failures_are_no_numbers_and_values_must_be_finite() {
        let mut history = History::new(1);
        history.push(&[0.5], Outcome::failed()).unwrap();
        history.push(&[0.25], 2.0).unwrap();
        history.push(&[0.75], Outcome::Infeasible).unwrap();
        history.push(&[0.1], 2.0).unwrap();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = history.push(&[0.2], value).unwrap_err();
            assert!(error.to_string().starts_with("trial 4 was told the value"), "{error}");
        }
        assert_eq!(history.len(), 4);
        assert_eq!(history.objective().len(), 4);
        assert_eq!(history.ranking().len(), 2);
        let column = history.objective();
        assert_eq!((column.best(), column.best_value()), (Some(1), Some(2.0)));
        assert_eq!(history.ends()[2], End::Infeasible);
        assert_eq!(history.taken().len(), 4);
    }

    #[test]
    fn every_outcome_comes_back_from_the_columns() {
        let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")])
            .and_then(|goal| goal.limit("c", Bound::AtMost(1.0)))
            .and_then(|goal| goal.fidelity("epochs", 1.0, 9.0))
            .unwrap();
        let mut history = History::of(1, goal);
        let whole = Measurement {
            objectives: vec![1.0.into(), Measured { value: 2.0, deviation: Some(0.1) }],
            constraints: vec![3.0.into()],
            fidelity: None,
        };
        let part = Measurement { fidelity: Some(3.0), ..whole.clone() };
        let told = [
            Outcome::failed(),
            whole.clone().into(),
            part.into(),
            Outcome::Infeasible,
            whole.into(),
        ];
        for (i, outcome) in told.iter().enumerate() {
            history.push(&[i as f64], outcome.clone()).unwrap();
        }
        for (i, outcome) in told.iter().enumerate() {
            assert_eq!(&history.outcome(i), outcome);
        }
        // The limit of c is 1, and its value 3.
        assert!((0..5).all(|i| !history.meets(i)));
        assert_eq!((history.row(1), history.row(0)), (vec![1.0, 2.0], vec![]));
        assert!(history.push(&[0.5], 1.0).is_err(), "one value for two objectives");
        assert_eq!((history.len(), history.constraints()[0].len()), (5, 5));
    }
}
