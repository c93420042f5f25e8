//! Verdicts one after the other: the same as [`Stopping::verdict`], at a cost that does not grow with the number of steps.
//!
//! The rules themselves look at all curves for each verdict; they are the definition, and the test of what is kept here. A judge follows
//! the events of the curves in their order and keeps what the rule compares with:
//!
//! | rule | what is kept | a verdict costs |
//! |---|---|---|
//! | `halving`, `hyperband` | the values at each rung, sorted; who was not good enough when it came there | one look |
//! | `median` | the running averages of finished trials at each fidelity that was asked for, sorted | O(log n) |
//! | `auto` | for each trial that runs, what control trials did at each rung before it began, and the bound | O(rungs log n) |
//!
//! A step of `halving` inserts into a sorted list, which moves O(n) numbers; the first verdict of `auto` about a trial costs what the rule costs.
//! Steps that were dropped, and another rule, make the judge begin anew. With several objectives or constraints, values at a rung depend on each
//! other: the rule is asked itself. `tests/fidelity.rs` compares the two.

use std::collections::{HashMap, HashSet};

use super::schedule::Schedule;
use super::{Matter, Rule, Stopping, Verdict, auto, halving, hyperband, median};
use crate::curves::Event;
use crate::error::Result;
use crate::goal::Fidelity;
use crate::history::History;
use crate::seed::Seed;

/// Fidelities of which `median` keeps averages, at most.
const MOST_FIDELITIES: usize = 1_024;

/// What is kept between the verdicts of a search.
#[derive(Debug, Default)]
pub struct Judge {
    /// The rule and the seed that what is kept belongs to.
    of: Option<(Stopping, Seed)>,
    /// Events that were read, and steps that had been dropped by then.
    arrived: usize,
    dropped: usize,
    /// Values at a rung, by bracket and rung, ascending.
    values: HashMap<(usize, usize), Vec<f64>>,
    /// Trials that were not good enough at a rung.
    behind: HashSet<u64>,
    /// Running averages of finished trials, by fidelity, ascending.
    averages: HashMap<u64, Vec<f64>>,
    /// What running trials are held to by `auto`, and which trials it never stops.
    bars: HashMap<u64, auto::Bar>,
    schedule: Option<Schedule>,
}

impl Judge {
    /// The verdict of the rule about a trial: what [`Stopping::verdict`] says.
    pub fn verdict(
        &mut self,
        stopping: &Stopping,
        history: &History,
        trial: u64,
        seed: Seed,
    ) -> Result<Verdict> {
        let Some(range) = history.goal().partial() else { return Ok(Verdict::GoOn) };
        let goal = history.goal().whole();
        if stopping.rule == Rule::None || !goal.is_single() {
            return stopping.verdict(history, trial, seed);
        }
        stopping.check()?;
        self.catch_up(stopping, history, range, seed);
        let curve = history.curves().get(trial).filter(|curve| !curve.is_empty());
        let Some(curve) = curve.filter(|curve| curve.reached() < range.high) else {
            return Ok(Verdict::GoOn);
        };
        let matter = Matter { history, range, trial, curve };
        let stops = match stopping.rule {
            Rule::None => false,
            Rule::Halving | Rule::Hyperband => self.behind.contains(&trial),
            Rule::Median => {
                if self.averages.len() >= MOST_FIDELITIES {
                    self.averages.clear();
                }
                let known = self.averages.entry(curve.reached().to_bits());
                let others = known.or_insert_with(|| median::averages(history, curve.reached()));
                median::is_worse(curve, others)
            }
            Rule::Auto => {
                let Some(schedule) = &self.schedule else { return Ok(Verdict::GoOn) };
                let Some(level) = schedule.level(trial) else { return Ok(Verdict::GoOn) };
                let bar = match self.bars.remove(&trial) {
                    Some(bar) => bar,
                    None => auto::Bar::of(&matter, schedule, level),
                };
                let stops = bar.stops(&matter);
                self.bars.insert(trial, bar);
                stops
            }
        };
        Ok(if stops { Verdict::Stop } else { Verdict::GoOn })
    }

    /// Reads the events since the last verdict.
    fn catch_up(&mut self, stopping: &Stopping, history: &History, range: &Fidelity, seed: Seed) {
        let curves = history.curves();
        let same = self.of == Some((*stopping, seed));
        if !same || self.dropped != curves.dropped() || self.arrived > curves.arrived() {
            let (of, dropped) = (Some((*stopping, seed)), curves.dropped());
            *self = Self { of, dropped, ..Self::default() };
        }
        let brackets = hyperband::Brackets::of(range, seed);
        let known = self.schedule.take();
        let mut schedule = known.unwrap_or_else(|| Schedule::to(stopping.wrong_stop, 0));
        for event in curves.since(self.arrived) {
            let (Event::Step(trial, _) | Event::End(trial)) = event;
            schedule.extend(trial);
            match (event, stopping.rule) {
                (Event::Step(trial, step), Rule::Halving) => {
                    self.enter(history, range, trial, step, (0, range.low));
                }
                (Event::Step(trial, step), Rule::Hyperband) => {
                    let bracket = brackets.of_trial(trial);
                    self.enter(history, range, trial, step, (bracket, brackets.first(bracket)));
                }
                // A control trial that comes to its end may belong to those that others are compared with.
                (Event::Step(trial, step), Rule::Auto) => {
                    let is_whole = curves
                        .get(trial)
                        .is_some_and(|curve| curve.fidelities()[step] >= range.high);
                    if is_whole && schedule.is_control(trial) {
                        self.bars.clear();
                    }
                }
                (Event::End(trial), Rule::Auto) if schedule.is_control(trial) => {
                    self.bars.clear();
                }
                (Event::End(trial), rule) => {
                    self.bars.remove(&trial);
                    if rule == Rule::Median
                        && let Some(curve) = curves.get(trial)
                    {
                        for (fidelity, others) in &mut self.averages {
                            if let Some(average) = median::average(curve, f64::from_bits(*fidelity))
                            {
                                insert(others, average);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        self.schedule = Some(schedule);
        self.arrived = curves.arrived();
    }

    /// A trial made a step: where that is the first at a rung, it is compared with those that came there before it.
    fn enter(
        &mut self,
        history: &History,
        range: &Fidelity,
        trial: u64,
        step: usize,
        (bracket, first): (usize, f64),
    ) {
        let Some(curve) = history.curves().get(trial) else { return };
        let at = curve.fidelities()[step];
        let before = step.checked_sub(1).map_or(0.0, |step| curve.fidelities()[step]);
        for (place, rung) in super::rungs(first, halving::FACTOR as f64, range.high).enumerate() {
            let end = (rung * halving::FACTOR as f64).min(range.high);
            if before < rung && (rung..end).contains(&at) {
                let value = curve.row(step)[0];
                let others = self.values.entry((bracket, place)).or_default();
                let better = others.partition_point(|other| *other < value);
                if better >= halving::kept(others.len()) {
                    self.behind.insert(trial);
                }
                others.insert(better, value);
            }
        }
    }
}

/// Inserts a number into an ascending list.
fn insert(list: &mut Vec<f64>, value: f64) {
    let place = list.partition_point(|other| *other < value);
    list.insert(place, value);
}
