//! Goals and measurements, from names and numbers.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use wimble::goal::{Bound as Limit, Direction, Goal, Objective};
use wimble::outcome::{Measured, Measurement};

use crate::error::{of_engine, raise};

/// An objective: its name and whether it is maximised.
pub type ObjectiveGiven = (String, bool);
/// A constraint: its name, whether the bound is the largest value allowed (or the smallest), and the bound.
pub type ConstraintGiven = (String, bool, f64);
/// A value and, where it is known, the standard deviation of its noise.
pub type MeasuredGiven = (f64, Option<f64>);

/// A goal.
pub fn goal(
    py: Python<'_>,
    objectives: Vec<ObjectiveGiven>,
    constraints: Vec<ConstraintGiven>,
) -> PyResult<Goal> {
    let objectives = objectives.into_iter().map(|(name, maximised)| match maximised {
        true => Objective::maximise(name),
        false => Objective::minimise(name),
    });
    let refused = |error| of_engine(py, &error);
    let mut goal = Goal::new(objectives).map_err(refused)?;
    for (name, at_most, bound) in constraints {
        let limit = if at_most { Limit::AtMost(bound) } else { Limit::AtLeast(bound) };
        goal = goal.limit(name, limit).map_err(refused)?;
    }
    Ok(goal)
}

/// The objectives and constraints of a goal, as they are given.
pub fn describe(goal: &Goal) -> (Vec<ObjectiveGiven>, Vec<ConstraintGiven>) {
    let objective = |o: &Objective| (o.name.clone(), o.direction == Direction::Maximise);
    let constraints = goal.constraints().iter().map(|constraint| match constraint.bound {
        Limit::AtMost(bound) => (constraint.name.clone(), true, bound),
        Limit::AtLeast(bound) => (constraint.name.clone(), false, bound),
    });
    (goal.objectives().iter().map(objective).collect(), constraints.collect())
}

/// A measurement from values by name.
pub fn measurement(
    py: Python<'_>,
    goal: &Goal,
    values: BTreeMap<String, MeasuredGiven>,
) -> PyResult<Measurement> {
    let is_objective = |name: &str| goal.objectives().iter().any(|o| o.name == name);
    let is_constraint = |name: &str| goal.constraints().iter().any(|c| c.name == name);
    let (mut objectives, mut constraints) = (BTreeMap::new(), BTreeMap::new());
    for (name, (value, deviation)) in values {
        let measured = Measured { value, deviation };
        match is_objective(&name) || !is_constraint(&name) {
            true => objectives.insert(name, measured),
            false => constraints.insert(name, measured),
        };
    }
    let measured = goal.measurement(objectives, constraints);
    measured.map_err(|reason| raise(py, "MeasurementError", &reason))
}
