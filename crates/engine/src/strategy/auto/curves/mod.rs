//! `auto` with learning curves: one decision at a time, whether to begin a trial or to continue a paused one.
//!
//! A Gaussian process over parameters and fidelity (model.rs) expects how each candidate ends. A candidate is worth its expected
//! improvement over the lowest value so far, at the highest fidelity, for each unit of fidelity up to its next stop (stops.rs):
//!
//! ```text
//! a(c) = E[(0 - z_c)₊] / cost,    cost = first stop for a new point, next stop - reached for a paused trial
//! ```
//! - The first trials are a Sobol sequence up to the first stop; later, a share of [`RANDOM`] is drawn at random: the process cannot
//!   know what it has never seen.
//! - Of every [`WHOLE`] trainings' worth of fidelity, one trial should come to the end: as long as it is missing, the paused trial that is
//!   expected to end best goes on to its next stop, and no new one begins.
//! - Length scales are improved whenever the number of trials has grown by [`GROWTH`] (scales.rs). Between, a step costs one row of
//!   the factor.
//! - Once no trial may begin any more, a paused one goes on only while the upper bound of the probability that it ends best is at least
//!   [`DISMISSED`]: Φ(1 - mean / deviation). Until one has come to the end, the one that is expected to end best goes on in any case.
//! - Work that is under way counts with what is expected of it.
//! - New points come from a pool: all of a finite set, or random points and neighbours of the best trials, drawn anew with each refit.
//! - Where a history is long, the process learns from the best trials and a random sample of the others, at most [`LARGEST`]
//!   observations after a refit: the cost of an ask is bounded.
//!
//! All of it follows the events of the curves in their order, so that it is a function of history and seed; `Memory` keeps it.

mod model;
mod scales;
mod stops;

use std::collections::{BTreeMap, BTreeSet};

use crate::curves::{Curve, Curves, Event};
use crate::domain::{Domain, Occupied};
use crate::error::Result;
use crate::history::{End, History};
use crate::points::Points;
use crate::seed::Seed;
use crate::seed::draw::{below, uniform};
use crate::space::SearchSpace;
use crate::strategy::sobol::Sobol;
use crate::strategy::{Evidence, FreeWorkers, Memory, Run, Strategy as _, Work};
use crate::theory::normal;
use model::{Model, Observation, Target};
use stops::Stops;

/// Trials of the first design.
const INITIAL: usize = 12;
/// The share of random new trials.
const RANDOM: f64 = 0.15;
/// One trial should come to the end for so many times the highest fidelity.
const WHOLE: f64 = 8.0;
/// A paused trial below this upper bound is left where it is, once no trial may begin: in a prototype on TaskSet, one or two of sixty searches
/// would lose their best trial by it.
const DISMISSED: f64 = 0.01;
/// Scales are improved when there are so many times more trials.
const GROWTH: f64 = 1.2;
/// Observations that a refit begins with, at most.
const LARGEST: usize = 1200;
/// New points that are compared, at most.
const POOL: usize = 1000;
/// Trials whose neighbours are candidates.
const PARENTS: usize = 10;
/// How far neighbours are.
const RADIUS: f64 = 0.1;

/// What is known of the curves of a search.
struct State {
    stops: Stops,
    high: f64,
    /// Events that were read, and steps that had been dropped by then.
    arrived: usize,
    dropped: usize,
    /// The lowest value of each trial that was observed; infinite if it failed before it had one.
    lowest: BTreeMap<u64, f64>,
    observations: Vec<Observation>,
    /// Fidelity in sum, and how many trials came to the end.
    spent: f64,
    whole: usize,
    scales: Vec<f64>,
    /// Refits so far, and the number of trials at which the next is due.
    refits: u64,
    due: usize,
    model: Option<Model>,
}

/// What free workers do next.
pub(super) fn plan(
    evidence: Evidence<'_>,
    free: &FreeWorkers<'_>,
    memory: &mut Memory,
) -> Result<Vec<Run>> {
    let Evidence { space, history, seed, .. } = evidence;
    let Some(range) = history.goal().partial() else { return Ok(Vec::new()) };
    let curves = history.curves();
    let current =
        |state: &State| state.arrived <= curves.arrived() && state.dropped == curves.dropped();
    let kept = memory.take::<State>().filter(current);
    let mut state = kept.unwrap_or_else(|| State {
        stops: Stops::of(range),
        high: range.high,
        arrived: 0,
        dropped: curves.dropped(),
        lowest: BTreeMap::new(),
        observations: Vec::new(),
        spent: 0.0,
        whole: 0,
        scales: vec![scales::START; space.dim()],
        refits: 0,
        due: INITIAL,
        model: None,
    });
    state.advance(space, history, seed)?;
    let mark = state.model.as_ref().map(Model::mark);
    let runs = state.decide(evidence, free)?;
    if let (Some(model), Some(mark)) = (&mut state.model, mark) {
        model.restore(&mark);
    }
    memory.keep(state);
    Ok(runs)
}

/// New points only.
pub(super) fn propose(evidence: Evidence<'_>, count: usize, memory: &mut Memory) -> Result<Points> {
    let free = FreeWorkers { count, paused: &[], room: usize::MAX };
    let runs = plan(evidence, &free, memory)?;
    let new = runs.into_iter().filter_map(|run| match run.work {
        Work::New(x) => Some(x),
        Work::Continue(_) => None,
    });
    Ok(Points::from_rows(evidence.space.dim(), new))
}

impl State {
    /// Reads the events since the last time.
    fn advance(&mut self, space: &SearchSpace, history: &History, seed: Seed) -> Result<()> {
        let curves = history.curves();
        for event in curves.since(self.arrived) {
            let (Event::Step(trial, _) | Event::End(trial)) = event;
            let Some(curve) = curves.get(trial) else { continue };
            let observation = |fidelity: f64, value: f64| {
                let x = curve.point().to_vec();
                Observation { trial, x, fidelity, value }
            };
            match event {
                Event::Step(_, step) => {
                    let value = curve.row(step)[0];
                    let known = self.lowest.get(&trial).copied().unwrap_or(f64::INFINITY);
                    let lowest = known.min(value);
                    if known.is_finite() {
                        self.lowest.insert(trial, lowest);
                    }
                    let at = curve.fidelities()[step];
                    let before = step.checked_sub(1).map_or(0.0, |step| curve.fidelities()[step]);
                    self.spent += at - before;
                    self.whole += usize::from(at >= self.high);
                    if self.stops.between(before, at) {
                        let lowest = curve.rows_to(step).map(|row| row[0]).fold(lowest, f64::min);
                        self.lowest.insert(trial, lowest);
                        self.observe(observation(at, lowest), space, seed)?;
                    }
                }
                Event::End(_) => {
                    let end = curve.place().map(|place| history.ends()[place]);
                    if end.is_some_and(|end| end != End::Measured) {
                        self.lowest.entry(trial).or_insert(f64::INFINITY);
                        let at = self.stops.next(curve.reached());
                        self.observe(observation(at, f64::INFINITY), space, seed)?;
                    }
                    if let Some(model) = &mut self.model {
                        model.dismiss(trial);
                    }
                }
            }
        }
        self.arrived = curves.arrived();
        Ok(())
    }

    fn observe(&mut self, seen: Observation, space: &SearchSpace, seed: Seed) -> Result<()> {
        self.observations.push(seen.clone());
        // The factor grows by a row for each observation, and begins anew before it is much larger than a refit leaves it.
        let is_large = self.model.as_ref().is_some_and(|model| model.len() >= 2 * LARGEST);
        if self.lowest.len() >= self.due || is_large {
            return self.refit(space, seed);
        }
        let Some(model) = &mut self.model else { return Ok(()) };
        let (trial, x, ends) = (seen.trial, seen.x.clone(), seen.fidelity >= self.high);
        model.observe(seen)?;
        let known = model.candidates().iter().any(|candidate| candidate.trial == Some(trial));
        if !known && !ends {
            if !space.repeats() {
                model.begin(&x);
            }
            model.consider(x, Some(trial));
        }
        Ok(())
    }

    fn target(&self) -> Target {
        let mut values: Vec<f64> =
            self.lowest.values().copied().filter(|value| value.is_finite()).collect();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        if values.is_empty() {
            return Target { lowest: 0.0, median: 0.0 };
        }
        let middle = values.len() / 2;
        let (_, median, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
        Target { lowest, median: *median }
    }

    /// Improves the scales and begins the model anew with them.
    fn refit(&mut self, space: &SearchSpace, seed: Seed) -> Result<()> {
        let mut rng = seed.stream("curves-refit", self.refits);
        self.refits += 1;
        self.due = ((self.lowest.len() as f64 * GROWTH).ceil() as usize).max(self.due + 1);
        let target = self.target();
        let mut last: BTreeMap<u64, usize> = BTreeMap::new();
        for (i, one) in self.observations.iter().enumerate() {
            last.insert(one.trial, i);
        }
        // Best first; those that failed come last.
        let mut trials: Vec<u64> = last.keys().copied().collect();
        let value = |trial: &u64| self.observations[last[trial]].value;
        trials.sort_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
        // The best half of a sample, and the rest of it in random order.
        let mut sample = |most: usize| -> Vec<u64> {
            let mut chosen = trials.clone();
            if chosen.len() > most {
                for place in most / 2..most {
                    let other = place + below(&mut rng, chosen.len() - place);
                    chosen.swap(place, other);
                }
                chosen.truncate(most);
            }
            chosen
        };
        let seen: Vec<&Observation> =
            sample(scales::LARGEST).iter().map(|trial| &self.observations[last[trial]]).collect();
        self.scales = scales::improved(self.scales.clone(), &seen, target, self.stops)?;
        let per_trial = self.observations.len().div_ceil(trials.len().max(1));
        let kept: BTreeSet<u64> =
            sample((LARGEST / per_trial.max(1)).max(INITIAL)).into_iter().collect();
        let mut model = Model::new(self.stops, self.high, self.scales.clone());
        for seen in self.observations.iter().filter(|seen| kept.contains(&seen.trial)) {
            model.observe(seen.clone())?;
        }
        let parents: Vec<&[f64]> = trials
            .iter()
            .take(PARENTS)
            .map(|trial| &self.observations[last[trial]].x[..])
            .collect();
        let begun: BTreeSet<Vec<u64>> =
            last.values().map(|place| bits(&self.observations[*place].x)).collect();
        for x in pool(space, &parents, seed, self.refits) {
            if space.repeats() || !begun.contains(&bits(&x)) {
                model.consider(x, None);
            }
        }
        for trial in kept {
            let one = &self.observations[last[&trial]];
            if one.value.is_finite() && one.fidelity < self.high {
                model.consider(one.x.clone(), Some(trial));
            }
        }
        self.model = Some(model);
        Ok(())
    }

    fn decide(&mut self, evidence: Evidence<'_>, free: &FreeWorkers<'_>) -> Result<Vec<Run>> {
        let Evidence { space, history, seed, pending } = evidence;
        let &FreeWorkers { count, paused, room } = free;
        let curves = history.curves();
        let (stops, target) = (self.stops, self.target());
        let mut weights =
            self.model.as_ref().map(|model| model.weights(target)).unwrap_or_default();
        // What is under way: pending, and not paused.
        let resting: BTreeSet<Vec<u64>> = paused
            .iter()
            .filter_map(|trial| curves.get(*trial))
            .map(|curve| bits(curve.point()))
            .collect();
        if let Some(model) = &mut self.model {
            let running: BTreeMap<Vec<u64>, (u64, f64)> = curves
                .iter()
                .filter(|(_, curve)| curve.place().is_none())
                .map(|(trial, curve)| (bits(curve.point()), (trial, curve.reached())))
                .collect();
            let under_way = pending.rows().filter(|x| !resting.contains(&bits(x)));
            for (place, x) in under_way.enumerate() {
                let unseen = (u64::MAX - place as u64, 0.0);
                let (trial, reached) = running.get(&bits(x)).copied().unwrap_or(unseen);
                weights = model.expect(trial, x.to_vec(), stops.next(reached), weights)?;
            }
        }
        let waiting: BTreeSet<u64> = paused.iter().copied().collect();
        let mut ahead = pending.clone();
        let mut continued: BTreeSet<u64> = BTreeSet::new();
        let mut runs: Vec<Run> = Vec::with_capacity(count);
        let incumbents = Points::new(space.dim());
        for place in 0..count {
            let domain =
                Domain { space, taken: history.taken(), pending: &ahead, incumbents: &incumbents };
            // Steps that were dropped are not kept everywhere, so that they do not count.
            let turn = (curves.arrived() - curves.dropped() + pending.len() + place) as u64;
            let mut rng = seed.stream("curves", turn);
            let is_due = self.is_due() && continued.len() < waiting.len();
            let may_begin = runs.len() - continued.len() < room;
            let may_draw = !is_due && may_begin && domain.check_room(1).is_ok();
            let at_random = uniform(&mut rng) < RANDOM && may_draw;
            let by_model = match &self.model {
                Some(model) if !at_random => {
                    let resting =
                        |trial: &u64| waiting.contains(trial) && !continued.contains(trial);
                    let occupied = may_begin.then(|| domain.occupied());
                    self.best(model, &weights, occupied.as_ref(), curves, resting)
                }
                _ => None,
            };
            let left = || waiting.iter().copied().find(|trial| !continued.contains(trial));
            let run = match by_model {
                Some(run) => run,
                // No trial may begin, and none that is paused is worth going on.
                None if !may_begin && self.model.is_some() => break,
                None if !may_begin => match left() {
                    Some(trial) => self.onwards(trial, curves),
                    None => break,
                },
                // Nothing is left to begin: what is paused goes on.
                None if domain.check_room(1).is_err() => match left() {
                    Some(trial) => self.onwards(trial, curves),
                    None if runs.is_empty() => {
                        domain.check_room(1)?;
                        break;
                    }
                    None => break,
                },
                None => {
                    let until = stops.first();
                    let evidence = Evidence { pending: &ahead, ..evidence };
                    let drawn = match self.model {
                        Some(_) => domain.sample(1, &mut rng)?,
                        None => Sobol {}.propose(evidence, 1, &mut Memory::default())?,
                    };
                    Run { work: Work::New(drawn.row(0).to_vec()), until }
                }
            };
            let (trial, x) = match &run.work {
                Work::New(x) => {
                    let settled = domain
                        .settle(&Points::from_rows(space.dim(), [x]), &mut rng)?
                        .row(0)
                        .to_vec();
                    (u64::MAX / 2 - place as u64, settled)
                }
                Work::Continue(trial) => {
                    continued.insert(*trial);
                    let point = curves.get(*trial).map(|curve| curve.point().to_vec());
                    (*trial, point.unwrap_or_default())
                }
            };
            let until = run.until;
            if let Work::New(_) = run.work {
                ahead.push(&x);
                runs.push(Run { work: Work::New(x.clone()), until });
            } else {
                runs.push(run);
            }
            if let Some(model) = self.model.as_mut().filter(|_| place + 1 < count) {
                weights = model.expect(trial, x, until, weights)?;
            }
        }
        Ok(runs)
    }

    /// A paused trial up to its next stop.
    fn onwards(&self, trial: u64, curves: &Curves) -> Run {
        let reached = curves.get(trial).map_or(0.0, Curve::reached);
        Run { work: Work::Continue(trial), until: self.stops.next(reached) }
    }

    /// Whether a trial has to come to the end.
    fn is_due(&self) -> bool {
        self.spent >= WHOLE * self.high * (self.whole + 1) as f64
    }

    /// The candidate with the most expected improvement for its cost; where a trial has to come to the end, the paused one that is
    /// expected to end best. `free` says which points a new trial may have; none may begin without it.
    fn best(
        &self,
        model: &Model,
        weights: &[f64],
        free: Option<&Occupied<'_>>,
        curves: &Curves,
        resting: impl Fn(&u64) -> bool,
    ) -> Option<Run> {
        let is_due = self.is_due() || (free.is_none() && self.whole == 0);
        let mut best: Option<((bool, f64), Run)> = None;
        for candidate in model.candidates() {
            let reached = match candidate.trial {
                Some(trial) if !resting(&trial) => continue,
                Some(trial) => curves.get(trial)?.reached(),
                None if free.is_none_or(|free| !free.is_free(&candidate.x)) => continue,
                None => 0.0,
            };
            let (mean, deviation) = model.predict(candidate, weights);
            if free.is_none() && !is_due && normal::cumulative(1.0 - mean / deviation) < DISMISSED {
                continue;
            }
            let until = self.stops.next(reached);
            // Where one is due, paused trials come before new ones.
            let worth = match is_due && candidate.trial.is_some() {
                true => (true, -mean),
                false => {
                    let cost = (until - reached).max(f64::MIN_POSITIVE);
                    (false, improvement(mean, deviation) / cost)
                }
            };
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                let work = match candidate.trial {
                    Some(trial) => Work::Continue(trial),
                    None => Work::New(candidate.x.clone()),
                };
                best = Some((worth, Run { work, until }));
            }
        }
        best.map(|(_, run)| run)
    }
}

/// E[(0 - z)₊] of a normal z.
fn improvement(mean: f64, deviation: f64) -> f64 {
    let u = -mean / deviation;
    (deviation * (u * normal::cumulative(u) + normal::density(u))).max(0.0)
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|value| value.to_bits()).collect()
}

/// The new points that are compared until the next refit.
fn pool(space: &SearchSpace, parents: &[&[f64]], seed: Seed, refits: u64) -> Vec<Vec<f64>> {
    let mut rng = seed.stream("curves-pool", refits);
    if let Some(all) = space.candidates() {
        let mut places: Vec<usize> = (0..all.len()).collect();
        if places.len() > POOL {
            for place in 0..POOL {
                let other = place + below(&mut rng, places.len() - place);
                places.swap(place, other);
            }
            places.truncate(POOL);
        }
        return places.into_iter().map(|place| all.row(place).to_vec()).collect();
    }
    let near = parents.len().min(PARENTS) * (POOL / 2 / PARENTS);
    let mut drawn: Vec<Vec<f64>> = (near..POOL).map(|_| space.sample(&mut rng)).collect();
    for place in 0..near {
        // Of every radius: the nearest is a hundredth of the widest.
        let radius = RADIUS * 10.0_f64.powf(1.0 - 2.0 * uniform(&mut rng)).min(2.0);
        let mut x = space.neighbour(parents[place % parents.len()], &mut rng, radius);
        space.settle(&mut x);
        drawn.push(x);
    }
    drawn
}
