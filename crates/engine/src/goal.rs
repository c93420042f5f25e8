//! What a search is for: objectives, limits on other measured quantities, and perhaps a fidelity.
//!
//! A direction alone is a goal with one objective, called `value`:
//!
//! ```
//! use wimble::prelude::*;
//!
//! let short: Goal = Direction::Maximise.into();
//! assert!(short.is_single());
//! let whole = Goal::new([Objective::minimise("error"), Objective::minimise("latency")])?
//!     .limit("memory", Bound::AtMost(8.0))?;
//! assert_eq!(whole.to_string(), "2 objectives and 1 constraint");
//! # Ok::<(), wimble::Error>(())
//! ```
//!
//! # Design
//! Inside the engine, low is good in every column. Signs turn in this file and nowhere else: [`Goal::turn`] takes a
//! measurement from the user's scale to the engine's. The same function takes it back, because turning twice changes
//! nothing. It computes `0 - y` rather than `-y`, so that there is only one zero.
//!
//! A quarter of this file is tests; the rest is one noun with its parts, and stays together.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::outcome::{Measured, Measurement};

/// The name of the objective where a goal is given as a direction only.
pub(crate) const VALUE: &str = "value";

/// Whether low or high values are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Low values are good.
    #[default]
    Minimise,
    /// High values are good.
    Maximise,
}

impl Direction {
    /// Turns a value from the user's scale to the scale where low is good, and back.
    pub fn turn(self, value: f64) -> f64 {
        match self {
            Self::Minimise => value,
            Self::Maximise => 0.0 - value,
        }
    }

    /// The word in study files: `minimise` or `maximise`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minimise => "minimise",
            Self::Maximise => "maximise",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A quantity to minimise or to maximise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// Its name, as in the results that are told.
    pub name: String,
    /// Which values are good.
    pub direction: Direction,
    /// Where the hypervolume of several objectives ends: a value that is just not good enough any more, in the unit of
    /// the results. `None`: it is inferred from the front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
}

impl Objective {
    /// A quantity of which low values are good.
    pub fn minimise(name: impl Into<String>) -> Self {
        Self { name: name.into(), direction: Direction::Minimise, reference: None }
    }

    /// A quantity of which high values are good.
    pub fn maximise(name: impl Into<String>) -> Self {
        Self { name: name.into(), direction: Direction::Maximise, reference: None }
    }

    /// With a coordinate of the reference point.
    #[must_use]
    pub fn reference(mut self, reference: f64) -> Self {
        self.reference = Some(reference);
        self
    }
}

/// Which values of a constrained quantity are allowed. The bound itself is allowed.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// This value or less.
    AtMost(f64),
    /// This value or more.
    AtLeast(f64),
}

impl Bound {
    /// The direction in which values become allowed.
    fn direction(self) -> Direction {
        match self {
            Self::AtMost(_) => Direction::Minimise,
            Self::AtLeast(_) => Direction::Maximise,
        }
    }

    fn value(self) -> f64 {
        match self {
            Self::AtMost(bound) | Self::AtLeast(bound) => bound,
        }
    }

    /// By how much a value misses the bound; 0 if it meets it.
    pub fn violation(self, value: f64) -> f64 {
        match self {
            Self::AtMost(bound) => (value - bound).max(0.0),
            Self::AtLeast(bound) => (bound - value).max(0.0),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "<= {bound}"),
            Self::AtLeast(bound) => write!(f, ">= {bound}"),
        }
    }
}

/// A limit on a quantity that is measured with the trial, so that nobody knows it before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constraint {
    /// Its name, as in the results that are told. It may also be the name of an objective.
    pub name: String,
    /// Which values are allowed: `Bound::AtMost(limit)` or `Bound::AtLeast(limit)`, the limit itself included.
    pub bound: Bound,
}

impl Constraint {
    /// The largest allowed value on the scale of a history, where low is good.
    pub fn limit(&self) -> f64 {
        self.bound.direction().turn(self.bound.value())
    }
}

/// How much of an evaluation is carried out: epochs, the share of the data, the size of a mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fidelity {
    /// Its name, as in the results that are told.
    pub name: String,
    /// The smallest part that is worth evaluating; above 0.
    pub low: f64,
    /// The whole evaluation; above `low`.
    pub high: f64,
}

/// What a search is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Goal {
    objectives: Vec<Objective>,
    constraints: Vec<Constraint>,
    fidelity: Option<Fidelity>,
}

impl Goal {
    /// A goal with these objectives: one or more, each with a different name.
    pub fn new(objectives: impl IntoIterator<Item = Objective>) -> Result<Self> {
        let objectives: Vec<Objective> = objectives.into_iter().collect();
        if objectives.is_empty() {
            return Err(Error::invalid("objectives", "empty", "one or more"));
        }
        for (place, objective) in objectives.iter().enumerate() {
            check_name("objective", &objective.name)?;
            if objectives[..place].iter().any(|other| other.name == objective.name) {
                let allowed = "different from the other objectives";
                return Err(Error::invalid("the name of an objective", &objective.name, allowed));
            }
            if let Some(reference) = objective.reference.filter(|value| !value.is_finite()) {
                let field = format!("the reference of objective `{}`", objective.name);
                return Err(Error::invalid(field, reference, "finite"));
            }
        }
        Ok(Self { objectives, constraints: Vec::new(), fidelity: None })
    }

    /// Adds a limit on a measured quantity, which may also be an objective. A quantity may have one limit of each kind.
    pub fn limit(mut self, name: impl Into<String>, bound: Bound) -> Result<Self> {
        let name = name.into();
        check_name("constraint", &name)?;
        if !bound.value().is_finite() {
            let field = format!("the bound of constraint `{name}`");
            return Err(Error::invalid(field, bound.value(), "finite"));
        }
        let direction = bound.direction();
        let same = |other: &Constraint| other.name == name && other.bound.direction() == direction;
        if self.constraints.iter().any(same) {
            let allowed = "limited at most once from each side";
            return Err(Error::invalid("the name of a constraint", name, allowed));
        }
        self.check_room(&name, bound)?;
        self.constraints.push(Constraint { name, bound });
        Ok(self)
    }

    /// Refuses a bound that no value can meet: because of the quantity's other bound, or, of an objective, because all
    /// values that meet it are beyond the reference point.
    fn check_room(&self, name: &str, bound: Bound) -> Result<()> {
        let other = self.constraints.iter().find(|other| other.name == name);
        if let Some(other) = other.filter(|other| bound.violation(other.bound.value()) > 0.0) {
            let field = format!("the bound of constraint `{name}`");
            let allowed = format!("one that some value meets together with {}", other.bound);
            return Err(Error::invalid(field, bound, allowed));
        }
        let objective = self.objectives.iter().find(|objective| objective.name == name);
        let Some((direction, reference)) =
            objective.and_then(|objective| Some((objective.direction, objective.reference?)))
        else {
            return Ok(());
        };
        // A bound on the good side of the objective leaves only values that are as bad as it, or worse.
        if bound.direction() != direction
            && direction.turn(reference) <= direction.turn(bound.value())
        {
            let field = format!("the reference of objective `{name}`");
            let allowed = format!("worse than the best value that its constraint allows, {bound}");
            return Err(Error::invalid(field, reference, allowed));
        }
        Ok(())
    }

    /// Adds a fidelity: an evaluation may be carried out in part, from `low` up to `high`, which is the whole of it.
    pub fn fidelity(mut self, name: impl Into<String>, low: f64, high: f64) -> Result<Self> {
        let name = name.into();
        check_name("fidelity", &name)?;
        if !(low > 0.0 && low < high && high.is_finite()) {
            let allowed = "two finite numbers, the first positive and below the second";
            let field = format!("the range of fidelity `{name}`");
            return Err(Error::invalid(field, format!("{low} to {high}"), allowed));
        }
        self.fidelity = Some(Fidelity { name, low, high });
        Ok(self)
    }

    /// The objectives, one or more.
    pub fn objectives(&self) -> &[Objective] {
        &self.objectives
    }

    /// The limits on measured quantities.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The names of the quantities that have limits and are no objectives, each once: what is measured beside the
    /// objectives.
    pub fn other_quantities(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for Constraint { name, .. } in &self.constraints {
            let is_objective = self.objectives.iter().any(|objective| objective.name == *name);
            if !is_objective && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The fidelity, if evaluations may be carried out in part.
    pub fn partial(&self) -> Option<&Fidelity> {
        self.fidelity.as_ref()
    }

    /// The same goal for evaluations that are always carried out as a whole.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self { fidelity: None, ..self.clone() }
    }

    /// The fidelity of a measurement, if only a part of the evaluation was carried out: below the highest fidelity.
    pub fn part(&self, measurement: &Measurement) -> Option<f64> {
        let whole = self.fidelity.as_ref().map(|range| range.high);
        measurement.fidelity.filter(|at| Some(*at) != whole)
    }

    /// Whether there is one objective and nothing else.
    pub fn is_single(&self) -> bool {
        self.objectives.len() == 1 && self.constraints.is_empty() && self.fidelity.is_none()
    }

    /// The direction, if the goal is one objective called `value` and nothing else.
    pub fn as_direction(&self) -> Option<Direction> {
        match &self.objectives[..] {
            [Objective { name, direction, reference: None }]
                if name == VALUE && self.is_single() =>
            {
                Some(*direction)
            }
            _ => None,
        }
    }

    /// The direction of the first objective.
    pub fn first_direction(&self) -> Direction {
        self.objectives.first().map_or(Direction::Minimise, |objective| objective.direction)
    }

    /// By how much a measurement, as it was told, misses each constraint; 0 for those that it meets.
    pub fn violations<'m>(
        &'m self,
        measurement: &'m Measurement,
    ) -> impl Iterator<Item = f64> + 'm {
        let measured = self.constraints.iter().zip(&measurement.constraints);
        measured.map(|(constraint, measured)| constraint.bound.violation(measured.value))
    }

    /// By how much a measurement, as it was told, exceeds each limit; negative where it is within.
    pub(crate) fn gaps<'m>(
        &'m self,
        measurement: &'m Measurement,
    ) -> impl Iterator<Item = f64> + 'm {
        let measured = self.constraints.iter().zip(&measurement.constraints);
        measured.map(|(constraint, measured)| match constraint.bound {
            Bound::AtMost(limit) => measured.value - limit,
            Bound::AtLeast(limit) => limit - measured.value,
        })
    }

    /// Whether a measurement, as it was told, misses a constraint: its trial is *violating*.
    pub fn is_violated_by(&self, measurement: &Measurement) -> bool {
        self.violations(measurement).any(|violation| violation > 0.0)
    }

    /// Turns a measurement from the user's scale to the scale where low is good, and back. One at the highest fidelity
    /// becomes a whole one, without a fidelity.
    pub fn turn(&self, measurement: &Measurement) -> Measurement {
        let turn = |measured: &Measured, direction: Direction| Measured {
            value: direction.turn(measured.value),
            ..*measured
        };
        let objectives = measurement.objectives.iter().zip(&self.objectives);
        let constraints = measurement.constraints.iter().zip(&self.constraints);
        Measurement {
            objectives: objectives.map(|(m, objective)| turn(m, objective.direction)).collect(),
            constraints: constraints.map(|(m, limit)| turn(m, limit.bound.direction())).collect(),
            fidelity: self.part(measurement),
        }
    }

    /// Refuses a measurement that does not fit this goal: too few or too many values, values that are not finite, or a
    /// deviation that is negative. The error names `trial`.
    pub fn check(&self, trial: u64, measurement: &Measurement) -> Result<()> {
        let Measurement { objectives, constraints, fidelity } = measurement;
        if objectives.len() != self.objectives.len() || constraints.len() != self.constraints.len()
        {
            return Err(Error::Measurement {
                trial,
                reason: format!(
                    "it has {} and {}, but the goal has {}",
                    counted(objectives.len(), "objective"),
                    counted(constraints.len(), "constraint"),
                    self.described(),
                ),
            });
        }
        for measured in objectives.iter().chain(constraints) {
            if !measured.value.is_finite() {
                return Err(Error::NonFinite { trial, value: measured.value });
            }
            if let Some(deviation) = measured.deviation
                && !(deviation >= 0.0 && deviation.is_finite())
            {
                let reason =
                    format!("its deviation is {deviation}, but must be finite and not negative");
                return Err(Error::Measurement { trial, reason });
            }
        }
        match (fidelity, &self.fidelity) {
            (Some(at), None) => {
                let reason = format!("it has a fidelity of {at}, but the goal has none");
                Err(Error::Measurement { trial, reason })
            }
            (Some(at), Some(range)) if !(range.low..=range.high).contains(at) => {
                let Fidelity { name, low, high } = range;
                let reason = format!("its {name} is {at}, but must be from {low} to {high}");
                Err(Error::Measurement { trial, reason })
            }
            _ => Ok(()),
        }
    }

    /// Puts values that are given by name into the order of the goal. The error is a sentence that names the value that
    /// is unknown, missing or not finite.
    ///
    /// A constraint on an objective takes its value from that objective.
    pub fn measurement(
        &self,
        mut objectives: BTreeMap<String, Measured>,
        mut constraints: BTreeMap<String, Measured>,
    ) -> Result<Measurement, String> {
        for (kind, all) in [("objective", &objectives), ("constraint", &constraints)] {
            for (name, measured) in all {
                measured.check().map_err(|reason| format!("the {kind} `{name}` {reason}"))?;
            }
        }
        let shared = objectives.clone();
        let mut taken = Measurement { objectives: vec![], constraints: vec![], fidelity: None };
        for Objective { name, .. } in &self.objectives {
            let measured = objectives.remove(name);
            taken.objectives.push(measured.ok_or_else(|| missing("objective", name))?);
        }
        let mut used = Vec::new();
        for Constraint { name, .. } in &self.constraints {
            let measured = shared.get(name).or_else(|| constraints.get(name)).copied();
            taken.constraints.push(measured.ok_or_else(|| missing("constraint", name))?);
            used.push(name);
        }
        constraints.retain(|name, _| !used.contains(&name));
        let names = |all: Vec<&str>| match all.is_empty() {
            true => "none".to_owned(),
            false => format!("`{}`", all.join("`, `")),
        };
        if let Some(name) = objectives.keys().next() {
            let known = names(self.objectives.iter().map(|o| o.name.as_str()).collect());
            return Err(format!("there is no objective `{name}`; the objectives are {known}"));
        }
        if let Some(name) = constraints.keys().next() {
            let known = names(self.constraints.iter().map(|c| c.name.as_str()).collect());
            return Err(format!("there is no constraint `{name}`; the constraints are {known}"));
        }
        Ok(taken)
    }

    /// The goal in words: `2 objectives and 1 constraint`.
    fn described(&self) -> String {
        let mut parts = vec![counted(self.objectives.len(), "objective")];
        if !self.constraints.is_empty() {
            parts.push(counted(self.constraints.len(), "constraint"));
        }
        if self.fidelity.is_some() {
            parts.push("a fidelity".to_owned());
        }
        match parts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn missing(kind: &str, name: &str) -> String {
    format!("the {kind} `{name}` is missing")
}

fn check_name(kind: &str, name: &str) -> Result<()> {
    if name.trim().is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
        let value = format!("`{}`", name.escape_debug());
        let allowed = "text of 1 to 200 bytes without control characters";
        return Err(Error::invalid(format!("the name of a {kind}"), value, allowed));
    }
    Ok(())
}

impl Default for Goal {
    /// One objective called `value`, to minimise.
    fn default() -> Self {
        Direction::Minimise.into()
    }
}

impl From<Direction> for Goal {
    fn from(direction: Direction) -> Self {
        let objective = Objective { name: VALUE.to_owned(), direction, reference: None };
        Self { objectives: vec![objective], constraints: Vec::new(), fidelity: None }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.described())
    }
}

/// The stored form of a goal, before it is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    objectives: Vec<Objective>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<Constraint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fidelity: Option<Fidelity>,
}

impl TryFrom<Parts> for Goal {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let mut goal = Self::new(parts.objectives)?;
        for Constraint { name, bound } in parts.constraints {
            goal = goal.limit(name, bound)?;
        }
        match parts.fidelity {
            Some(Fidelity { name, low, high }) => goal.fidelity(name, low, high),
            None => Ok(goal),
        }
    }
}

impl From<Goal> for Parts {
    fn from(Goal { objectives, constraints, fidelity }: Goal) -> Self {
        Self { objectives, constraints, fidelity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn goal() -> Goal {
        Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
            .unwrap()
            .limit("memory", Bound::AtMost(8.0))
            .unwrap()
            .limit("speed", Bound::AtLeast(2.0))
            .unwrap()
    }

    fn named(pairs: &[(&str, f64)]) -> BTreeMap<String, Measured> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect()
    }

    #[test]
    fn names_become_places_and_a_constraint_on_an_objective_is_read_from_it() {
        let measurement =
            goal().measurement(named(&[("speed", 3.0), ("error", 0.5)]), named(&[("memory", 7.0)]));
        let measurement = measurement.unwrap();
        let values = |all: &[Measured]| all.iter().map(|m| m.value).collect::<Vec<_>>();
        assert_eq!(values(&measurement.objectives), [0.5, 3.0]);
        assert_eq!(values(&measurement.constraints), [7.0, 3.0]);
        let turned = goal().turn(&measurement);
        assert_eq!(values(&turned.objectives), [0.5, -3.0]);
        assert_eq!(values(&turned.constraints), [7.0, -3.0]);
        // Speed 3 is at least 2: on the turned scale -3 is at most -2.
        assert_eq!(goal().constraints()[1].limit(), -2.0);
    }

    #[test]
    fn what_is_unknown_missing_or_not_finite_is_named() {
        let refused = |objectives: &[(&str, f64)], constraints: &[(&str, f64)]| {
            goal().measurement(named(objectives), named(constraints)).unwrap_err()
        };
        let both = [("error", 0.5), ("speed", 3.0)];
        assert_eq!(refused(&both[..1], &[("memory", 1.0)]), "the objective `speed` is missing");
        assert_eq!(refused(&both, &[]), "the constraint `memory` is missing");
        let unknown = refused(&[("error", 0.5), ("speed", 3.0), ("sped", 1.0)], &[("memory", 1.0)]);
        assert_eq!(unknown, "there is no objective `sped`; the objectives are `error`, `speed`");
        let unknown = refused(&both, &[("memory", 1.0), ("disk", 2.0)]);
        assert!(unknown.starts_with("there is no constraint `disk`"), "{unknown}");
        let infinite = refused(&both, &[("memory", f64::INFINITY)]);
        assert_eq!(infinite, "the constraint `memory` is inf, but must be a finite number");
    }

    #[test]
    fn goals_that_contradict_themselves_are_refused() {
        let twice = Goal::new([Objective::minimise("a"), Objective::maximise("a")]);
        assert!(twice.unwrap_err().to_string().contains("different from the other objectives"));
        assert!(Goal::new([]).unwrap_err().to_string().contains("objectives is empty"));
        assert!(Goal::new([Objective::minimise(" ")]).is_err());
        assert!(goal().limit("memory", Bound::AtMost(9.0)).is_err());
        assert!(goal().limit("memory", Bound::AtLeast(1.0)).is_ok());
        assert!(goal().limit("disk", Bound::AtMost(f64::NAN)).is_err());
        for (low, high) in [(0.0, 1.0), (2.0, 1.0), (1.0, f64::INFINITY)] {
            assert!(goal().fidelity("epochs", low, high).is_err());
        }
    }

    #[test]
    fn bounds_that_no_value_meets_are_refused_with_the_other_number() {
        let refused =
            |goal: Goal, name: &str, bound| goal.limit(name, bound).unwrap_err().to_string();
        assert_eq!(
            refused(goal(), "memory", Bound::AtLeast(9.0)),
            "the bound of constraint `memory` is >= 9, but must be one that some value meets together with <= 8"
        );
        assert!(goal().limit("memory", Bound::AtLeast(8.0)).is_ok());
        let low = || Goal::new([Objective::minimise("latency").reference(10.0)]).unwrap();
        assert_eq!(
            refused(low(), "latency", Bound::AtLeast(10.0)),
            "the reference of objective `latency` is 10, but must be worse than the best value that its constraint allows, >= 10"
        );
        assert!(low().limit("latency", Bound::AtLeast(9.0)).is_ok());
        assert!(low().limit("latency", Bound::AtMost(1.0)).is_ok());
        let high = || Goal::new([Objective::maximise("speed").reference(2.0)]).unwrap();
        assert!(high().limit("speed", Bound::AtMost(2.0)).is_err());
        assert!(high().limit("speed", Bound::AtMost(3.0)).is_ok());
        let error = Goal::new([Objective::minimise("a").reference(f64::NAN)]).unwrap_err();
        assert_eq!(error.to_string(), "the reference of objective `a` is NaN, but must be finite");
    }

    #[test]
    fn a_trial_violates_what_it_misses_and_the_bound_itself_is_met() {
        let told = |memory: f64, speed: f64| Measurement {
            objectives: vec![0.5.into(), speed.into()],
            constraints: vec![memory.into(), speed.into()],
            fidelity: None,
        };
        let violations = |told: &Measurement| goal().violations(told).collect::<Vec<f64>>();
        assert_eq!(violations(&told(8.0, 2.0)), [0.0, 0.0]);
        assert!(!goal().is_violated_by(&told(8.0, 2.0)));
        assert_eq!(violations(&told(9.5, 0.5)), [1.5, 1.5]);
        assert!(goal().is_violated_by(&told(1.0, 0.5)));
    }

    #[test]
    fn a_measurement_must_fit_the_goal() {
        let refused =
            |measurement: Measurement| goal().check(3, &measurement).unwrap_err().to_string();
        let one = refused(Measurement::from(1.0));
        assert!(one.contains("1 objective and 0 constraints, but the goal has 2 objectives and 2"));
        let whole = |value: f64, deviation: Option<f64>| Measurement {
            objectives: vec![Measured { value, deviation }; 2],
            constraints: vec![1.0.into(); 2],
            fidelity: None,
        };
        goal().check(3, &whole(1.0, Some(0.0))).unwrap();
        assert!(refused(whole(f64::NAN, None)).contains("trial 3 was told the value NaN"));
        assert!(refused(whole(1.0, Some(-1.0))).contains("its deviation is -1"));
        let partial = Measurement { fidelity: Some(2.0), ..whole(1.0, None) };
        assert!(refused(partial.clone()).contains("a fidelity of 2, but the goal has none"));
        let epochs = goal().fidelity("epochs", 1.0, 81.0).unwrap();
        epochs.check(0, &partial).unwrap();
        let beyond = Measurement { fidelity: Some(100.0), ..partial };
        let error = epochs.check(0, &beyond).unwrap_err().to_string();
        assert!(error.contains("its epochs is 100, but must be from 1 to 81"), "{error}");
    }

    #[test]
    fn a_goal_comes_back_from_its_stored_form() {
        let goal = goal().fidelity("epochs", 1.0, 81.0).unwrap();
        let text = serde_json::to_string(&goal).unwrap();
        assert_eq!(serde_json::from_str::<Goal>(&text).unwrap(), goal);
        let broken = text.replace("speed", "error");
        assert!(serde_json::from_str::<Goal>(&broken).is_err());
        assert_eq!(Goal::from(Direction::Maximise).as_direction(), Some(Direction::Maximise));
        assert_eq!(Goal::new([Objective::minimise("loss")]).unwrap().as_direction(), None);
        let named = Objective::minimise(VALUE);
        assert!(Goal::new([named.clone()]).unwrap().as_direction().is_some());
        let referred = Goal::new([named.reference(3.0)]).unwrap();
        assert_eq!(referred.as_direction(), None, "the reference would be lost");
        let text = serde_json::to_string(&referred).unwrap();
        assert_eq!(serde_json::from_str::<Goal>(&text).unwrap(), referred);
    }

    proptest! {
        #[test]
        fn turning_twice_changes_nothing_and_there_is_one_zero(value in any::<f64>()) {
            prop_assume!(value.is_finite());
            for direction in [Direction::Minimise, Direction::Maximise] {
                prop_assert_eq!(direction.turn(direction.turn(value)), value);
            }
            prop_assert!(Direction::Maximise.turn(0.0).is_sign_positive());
        }
    }
}
