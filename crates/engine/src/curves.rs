//! Learning curves: the measurements of a trial at growing fidelity, while it runs and after it has ended.
//!
//! A **step** is a measurement at a fidelity; the steps of a trial, in the order of fidelity, are its **curve**. The last
//! step of a finished trial is its outcome: a trial that was stopped has a curve that ends below the highest fidelity.
//! Values are turned so that low is good, like those of the [history](crate::history) that owns the curves.
//!
//! # Beginning anew
//! The same step again changes nothing, so that a report may be repeated. A step at or below the last one that is not the
//! same means that the trial began anew: the steps from there on are dropped first.
//!
//! # Order of arrival
//! Every step knows how many steps came before it, of any trial. Asynchronous rules compare a trial with those that were
//! there before it; with this order their verdict does not depend on when it is asked for. Models follow the [events](Event)
//! in this order too, so that an ask costs what is new, and not what is known.
//!
//! Memory: four numbers a step, and one for each objective and constraint; one more each once any has a known deviation.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::outcome::{Measured, Measurement};

/// The steps of one trial.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    point: Box<[f64]>,
    /// How many values a step has.
    columns: usize,
    /// Strictly ascending.
    fidelities: Vec<f64>,
    /// The rows of the steps, one after the other.
    values: Vec<f64>,
    /// Like `values`; NaN where the deviation is unknown, and empty until one is known.
    deviations: Vec<f64>,
    /// How many events came before each.
    arrivals: Vec<u64>,
    place: Option<usize>,
}

impl Curve {
    /// The encoded point of the trial.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.fidelities.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.fidelities.is_empty()
    }

    /// The fidelities of the steps, ascending.
    pub fn fidelities(&self) -> &[f64] {
        &self.fidelities
    }

    /// The fidelity of the last step; 0 without one.
    pub fn reached(&self) -> f64 {
        self.fidelities.last().copied().unwrap_or(0.0)
    }

    /// The values of a step: objectives, then constraints.
    pub fn row(&self, step: usize) -> &[f64] {
        &self.values[step * self.columns..(step + 1) * self.columns]
    }

    /// The rows of all steps up to one, and with it.
    pub fn rows_to(&self, step: usize) -> impl Iterator<Item = &[f64]> {
        self.values[..(step + 1) * self.columns].chunks_exact(self.columns)
    }

    /// How many steps and ends, of any trial, came before this step.
    pub fn arrival(&self, step: usize) -> u64 {
        self.arrivals[step]
    }

    /// The first step from a fidelity on, below another. A trial that made its first step later was never there.
    pub fn first_in(&self, fidelities: Range<f64>) -> Option<usize> {
        let step = self.fidelities.partition_point(|at| *at < fidelities.start);
        let at = self.fidelities.get(step)?;
        (*at < fidelities.end).then_some(step)
    }

    /// The last step at or below a fidelity, of a trial that has reached it.
    pub fn at(&self, fidelity: f64) -> Option<usize> {
        let beyond = self.fidelities.partition_point(|at| *at <= fidelity);
        beyond.checked_sub(1).filter(|_| self.reached() >= fidelity)
    }

    /// The trial's place in history, once it has ended.
    pub fn place(&self) -> Option<usize> {
        self.place
    }

    /// A step as a measurement with a fidelity, on the scale where low is good.
    pub(crate) fn step(&self, step: usize, objectives: usize) -> Measurement {
        let measured = |column: usize| {
            let place = step * self.columns + column;
            let deviation = self.deviations.get(place).copied().filter(|value| !value.is_nan());
            Measured { value: self.values[place], deviation }
        };
        Measurement {
            objectives: (0..objectives).map(measured).collect(),
            constraints: (objectives..self.columns).map(measured).collect(),
            fidelity: Some(self.fidelities[step]),
        }
    }

    fn truncate(&mut self, steps: usize) {
        self.fidelities.truncate(steps);
        self.arrivals.truncate(steps);
        self.values.truncate(steps * self.columns);
        self.deviations.truncate(steps * self.columns);
    }

    fn push(&mut self, fidelity: f64, measurement: &Measurement, arrival: u64) {
        let all = || measurement.objectives.iter().chain(&measurement.constraints);
        let known = all().any(|measured| measured.deviation.is_some());
        if known && self.deviations.is_empty() {
            self.deviations.resize(self.values.len(), f64::NAN);
        }
        if known || !self.deviations.is_empty() {
            self.deviations.extend(all().map(|measured| measured.deviation.unwrap_or(f64::NAN)));
        }
        self.values.extend(all().map(|measured| measured.value));
        self.fidelities.push(fidelity);
        self.arrivals.push(arrival);
    }
}

/// Something that happened to a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// It made this step of its curve.
    Step(u64, usize),
    /// It ended.
    End(u64),
}

/// The curves of all trials, by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Curves {
    columns: usize,
    curves: BTreeMap<u64, Curve>,
    steps: usize,
    /// All that ever happened: the trial, and whether it was a step. Steps that were dropped later are still here.
    log: Vec<(u64, bool)>,
    /// How many steps were dropped.
    dropped: usize,
}

impl Curves {
    /// No curves, of steps with so many values: objectives and constraints.
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// How many trials have a curve.
    pub fn len(&self) -> usize {
        self.curves.len()
    }

    /// Whether no trial has one.
    pub fn is_empty(&self) -> bool {
        self.curves.is_empty()
    }

    /// How many steps all curves have together.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The curve of a trial, if it has one.
    pub fn get(&self, trial: u64) -> Option<&Curve> {
        self.curves.get(&trial)
    }

    /// All curves, in the order of the trials' numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Curve)> {
        self.curves.iter().map(|(trial, curve)| (*trial, curve))
    }

    /// How many steps and ends there ever were.
    pub fn arrived(&self) -> usize {
        self.log.len()
    }

    /// How many steps were dropped, because their trials began anew.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// What happened after the first `from` events, in order, without the steps that were dropped.
    pub fn since(&self, from: usize) -> impl Iterator<Item = Event> + '_ {
        let news = self.log.iter().enumerate().skip(from);
        news.filter_map(|(arrival, &(trial, is_step))| match is_step {
            true => {
                let arrivals = &self.get(trial)?.arrivals;
                arrivals.binary_search(&(arrival as u64)).ok().map(|step| Event::Step(trial, step))
            }
            false => Some(Event::End(trial)),
        })
    }

    /// Adds a step, whose fidelity is `whole` if it has none.
    pub(crate) fn report(&mut self, trial: u64, x: &[f64], whole: f64, step: &Measurement) {
        let fidelity = step.fidelity.unwrap_or(whole);
        let curve = self.curves.entry(trial).or_insert_with(|| Curve::of(x, self.columns));
        let from = curve.fidelities.partition_point(|at| *at < fidelity);
        let mut fresh = Curve::of(&[], self.columns);
        fresh.push(fidelity, step, 0);
        if from < curve.len() && curve.fidelities[from] == fidelity && curve.same(from, &fresh) {
            return;
        }
        self.dropped += curve.len() - from;
        self.steps -= curve.len() - from;
        curve.truncate(from);
        curve.push(fidelity, step, self.log.len() as u64);
        self.steps += 1;
        self.log.push((trial, true));
    }

    /// Notes that a trial has ended, and its place in history.
    pub(crate) fn end(&mut self, trial: u64, x: &[f64], place: usize) {
        let curve = self.curves.entry(trial).or_insert_with(|| Curve::of(x, self.columns));
        curve.place = Some(place);
        self.log.push((trial, false));
    }
}

impl Curve {
    fn of(x: &[f64], columns: usize) -> Self {
        Self { point: x.into(), columns, ..Self::default() }
    }

    /// Whether a step has the values of the only one of another curve.
    fn same(&self, step: usize, other: &Self) -> bool {
        let objectives = self.columns;
        self.step(step, objectives).objectives == other.step(0, objectives).objectives
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn step(fidelity: f64, value: f64) -> Measurement {
        Measurement { fidelity: Some(fidelity), ..Measurement::from(value) }
    }

    fn values(curve: &Curve) -> Vec<(f64, f64)> {
        (0..curve.len()).map(|i| (curve.fidelities()[i], curve.row(i)[0])).collect()
    }

    #[test]
    fn a_repeated_step_changes_nothing_and_another_value_begins_anew() {
        let mut curves = Curves::new(1);
        for (at, value) in [(1.0, 5.0), (2.0, 4.0), (4.0, 3.0)] {
            curves.report(7, &[0.5], 8.0, &step(at, value));
        }
        curves.report(7, &[0.5], 8.0, &step(2.0, 4.0));
        assert_eq!(values(curves.get(7).unwrap()), [(1.0, 5.0), (2.0, 4.0), (4.0, 3.0)]);
        curves.report(7, &[0.5], 8.0, &step(2.0, 4.5));
        assert_eq!(values(curves.get(7).unwrap()), [(1.0, 5.0), (2.0, 4.5)]);
        // A fidelity between two steps is not the same as either.
        curves.report(7, &[0.5], 8.0, &step(1.5, 9.0));
        assert_eq!(values(curves.get(7).unwrap()), [(1.0, 5.0), (1.5, 9.0)]);
        curves.report(7, &[0.5], 8.0, &Measurement::from(1.0));
        let curve = curves.get(7).unwrap();
        assert_eq!((curve.reached(), curves.steps(), curves.len()), (8.0, 3, 1));
        assert_eq!(curve.point(), [0.5]);
        // What differs in the deviation only is another step.
        let noisy = Measured { value: 1.0, deviation: Some(0.1) };
        curves.report(7, &[0.5], 8.0, &noisy.into());
        assert_eq!(curves.get(7).unwrap().step(2, 1).objectives, [noisy]);
        assert_eq!(curves.get(7).unwrap().step(0, 1).objectives, [5.0.into()]);
    }

    #[test]
    fn steps_are_found_by_fidelity() {
        let mut curves = Curves::new(1);
        for at in [2.0, 4.0, 8.0] {
            curves.report(0, &[0.5], 16.0, &step(at, -at));
        }
        let curve = curves.get(0).unwrap();
        let found = |at: f64| (curve.first_in(at..2.0 * at), curve.at(at));
        assert_eq!(found(1.0), (None, None), "it was never there");
        assert_eq!(found(1.5), (Some(0), None));
        assert_eq!(found(4.0), (Some(1), Some(1)));
        assert_eq!(found(5.0), (Some(2), Some(1)));
        assert_eq!(found(9.0), (None, None));
        assert_eq!(curve.rows_to(1).map(|row| row[0]).collect::<Vec<_>>(), [-2.0, -4.0]);
    }

    proptest! {
        #[test]
        fn counts_and_the_order_of_arrival_are_those_of_the_steps_that_are_left(
            reports in prop::collection::vec((0..4_u64, 1..7_u32, 0..3_i32), 0..60),
        ) {
            let mut curves = Curves::new(1);
            let mut naive: Vec<(u64, f64, f64)> = Vec::new();
            for (trial, at, value) in reports {
                let (at, value) = (f64::from(at), f64::from(value));
                curves.report(trial, &[0.0], 9.0, &step(at, value));
                if !naive.contains(&(trial, at, value)) {
                    naive.retain(|kept| kept.0 != trial || kept.1 < at);
                    naive.push((trial, at, value));
                }
            }
            prop_assert_eq!(curves.steps(), naive.len());
            let found: Vec<(u64, f64, f64)> = curves
                .since(0)
                .map(|event| {
                    let Event::Step(trial, step) = event else { panic!("nothing ended") };
                    let curve = curves.get(trial).unwrap();
                    (trial, curve.fidelities()[step], curve.row(step)[0])
                })
                .collect();
            prop_assert_eq!(found, naive);
            prop_assert!(curves.iter().all(|(_, curve)| curve.fidelities().is_sorted_by(|a, b| a < b)));
        }
    }
}
