//! What a search knows: its finished trials, its pending trials, and what the method remembers between asks.
//!
//! A [`Session`](crate::session::Session) numbers its own trials; the follower of a stored study takes the numbers of
//! the store. The ledger does the rest for both.
//!
//! Values enter and leave on the user's scale; inside, low is good (see [`crate::goal`]).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::curves::{Curve, Event};
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::goal::Goal;
use crate::history::History;
use crate::importance::Importance;
use crate::levelled::levelled;
use crate::outcome::{Measurement, Outcome};
use crate::pareto::Hypervolume;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::{Configuration, Fingerprint, SearchSpace};
use crate::standing::Standing;
use crate::stopping::{Judge, Stopping, Verdict};
use crate::strategy::{Evidence, FreeWorkers, Memory, Run, Strategy, Work};

/// One evaluation: what to try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, from 0 in the order of asking.
    pub id: u64,
    /// What to try.
    pub configuration: Configuration,
}

/// A trial that has a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The trial's number.
    pub trial: u64,
    /// What was tried.
    pub configuration: Configuration,
    /// Its value as told; with several objectives, that of the first.
    pub value: f64,
    /// Whether it misses a constraint: so does every trial as long as the best one does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub violating: bool,
    /// How much of it was carried out, if no trial is whole yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<f64>,
}

/// The trials that no other dominates, among those that meet all constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// The trials with their values as told, best first by the first objective.
    pub trials: Vec<(Trial, Measurement)>,
    /// The reference point of the hypervolume, as given with the objectives or else a tenth of the front's extent
    /// beyond its worst value; empty if no trial is on the front.
    pub reference: Vec<f64>,
    /// The hypervolume between the front and the reference point: its `value`, and its `deviation`, which is the standard
    /// error of an estimate and 0 if the value is exact.
    pub hypervolume: Hypervolume,
    /// The trials of the front that add nothing to it, because they are not better than the reference point in every
    /// objective: a given point may lie inside the front.
    pub beyond_reference: Vec<u64>,
}

/// All that a search knows, by the numbers of its trials.
pub struct Ledger {
    space: SearchSpace,
    seed: Seed,
    history: History,
    /// The trial behind each entry of history.
    told: Vec<u64>,
    /// The entry of history of each trial that was told.
    places: HashMap<u64, usize>,
    /// One more than the largest number of a trial.
    issued: u64,
    pending: BTreeMap<u64, Vec<f64>>,
    standing: Standing,
    memory: Memory,
    /// What stopping rules remember. It only saves work, so that a verdict needs no other right than to read.
    judge: Mutex<Judge>,
}

impl Ledger {
    /// A search in which nothing was asked or told yet.
    pub fn new(space: SearchSpace, goal: Goal, seed: Seed) -> Self {
        Self {
            standing: Standing::new(goal.clone()),
            history: History::of(space.dim(), goal),
            space,
            seed,
            told: Vec::new(),
            places: HashMap::new(),
            issued: 0,
            pending: BTreeMap::new(),
            memory: Memory::default(),
            judge: Mutex::default(),
        }
    }

    /// `count` points to try next, given all finished and pending trials.
    pub fn propose(&mut self, strategy: &dyn Strategy, count: usize) -> Result<Points> {
        let pending = Points::from_rows(self.space.dim(), self.pending.values());
        self.show(strategy, &pending, |evidence, memory| strategy.propose(evidence, count, memory))
    }

    /// What free workers do next: begin new trials, or continue some of the paused ones, each up to a fidelity. Pending trials
    /// that are not paused are running. There are fewer runs than workers if no trial may begin and no paused one is worth
    /// going on.
    pub fn plan(&mut self, strategy: &dyn Strategy, free: &FreeWorkers<'_>) -> Result<Vec<Run>> {
        let &FreeWorkers { count, paused, room } = free;
        for trial in paused {
            self.running(*trial)?;
        }
        if strategy.reads_curves(self.goal()) {
            let pending = Points::from_rows(self.space.dim(), self.pending.values());
            let Self { space, history, seed, memory, .. } = self;
            let evidence = Evidence { space, history, pending: &pending, seed: *seed };
            return strategy.plan(evidence, free, memory);
        }
        let until = self.goal().partial().map_or(1.0, |range| range.high);
        // A method that does not look at curves never pauses a trial: those that are finish first.
        let continued = paused.iter().take(count).map(|trial| Work::Continue(*trial));
        let mut runs: Vec<Run> = continued.map(|work| Run { work, until }).collect();
        let begin = (count - runs.len()).min(room);
        if begin > 0 {
            let points = self.propose(strategy, begin)?;
            let started = points.rows().map(|x| Work::New(x.to_vec()));
            runs.extend(started.map(|work| Run { work, until }));
        }
        Ok(runs)
    }

    /// Shows a strategy the evidence. One that does not look at curves sees stopped trials with the values that they may
    /// be expected to end with ([`levelled`]); these change with every trial, so that nothing is remembered of them.
    fn show<T>(
        &mut self,
        strategy: &dyn Strategy,
        pending: &Points,
        look: impl FnOnce(Evidence<'_>, &mut Memory) -> Result<T>,
    ) -> Result<T> {
        let Self { space, history, seed, memory, .. } = self;
        if history.goal().partial().is_none() || strategy.reads_curves(history.goal()) {
            return look(Evidence { space, history, pending, seed: *seed }, memory);
        }
        let history = &levelled(history)?;
        look(Evidence { space, history, pending, seed: *seed }, &mut Memory::default())
    }

    /// Makes the trial of this number pending, at an encoded point. A trial that is known already stays as it is.
    pub fn issue(&mut self, trial: u64, x: Vec<f64>) {
        if !self.knows(trial) {
            self.issued = self.issued.max(trial.saturating_add(1));
            self.pending.insert(trial, x);
        }
    }

    /// The point of a pending trial; the error says why the trial is not pending.
    fn running(&self, trial: u64) -> Result<&Vec<f64>> {
        self.pending.get(&trial).ok_or_else(|| match self.outcome(trial) {
            Some(outcome) => Error::AlreadyTold { trial, outcome: outcome.to_string() },
            None => Error::UnknownTrial { trial, issued: self.issued() },
        })
    }

    /// Records a step of a pending trial: a measurement at a fidelity. The same step again changes nothing. A step at or
    /// below the last one that is not the same means that the trial began anew: the steps from there on are dropped. If
    /// this fails, nothing changes.
    pub fn report(&mut self, trial: u64, step: &Measurement) -> Result<()> {
        let x = self.running(trial)?.clone();
        self.goal().check(trial, step)?;
        let turned = self.goal().turn(step);
        self.history.report(trial, &x, &turned)
    }

    /// The steps of a trial as they were reported, in the order of their fidelity; a finished trial ends with its
    /// outcome. Empty for a trial without steps.
    pub fn curve(&self, trial: u64) -> Vec<Measurement> {
        let Some(curve) = self.history.curves().get(trial) else { return Vec::new() };
        (0..curve.len()).map(|place| self.step_of(curve, place)).collect()
    }

    /// What happened to all trials under a goal with a fidelity, in order: a step, or `None` for an end.
    pub fn events(&self) -> Vec<(u64, Option<Measurement>)> {
        let curves = self.history.curves();
        let event = |event| match event {
            Event::Step(trial, step) => {
                curves.get(trial).map(|curve| (trial, Some(self.step_of(curve, step))))
            }
            Event::End(trial) => Some((trial, None)),
        };
        curves.since(0).filter_map(event).collect()
    }

    fn step_of(&self, curve: &Curve, place: usize) -> Measurement {
        let step = curve.step(place, self.goal().objectives().len());
        Measurement { fidelity: step.fidelity, ..self.goal().turn(&step) }
    }

    /// Whether a pending trial should go on after the steps that were reported of it.
    pub fn verdict(&self, trial: u64, rule: &Stopping) -> Result<Verdict> {
        self.running(trial)?;
        let mut judge = self.judge.lock().unwrap_or_else(PoisonError::into_inner);
        judge.verdict(rule, &self.history, trial, self.seed)
    }

    /// Records the outcome of a pending trial. If this fails, nothing changes.
    pub fn tell(&mut self, trial: u64, outcome: &Outcome) -> Result<()> {
        let x = self.running(trial)?.clone();
        let turned = match outcome {
            Outcome::Measured(measurement) => {
                self.goal().check(trial, measurement)?;
                Outcome::Measured(self.goal().turn(measurement))
            }
            Outcome::Failed(_) => Outcome::failed(),
            Outcome::Infeasible => Outcome::Infeasible,
        };
        self.history.push_trial(trial, &x, turned)?;
        if let Outcome::Measured(measurement) = outcome {
            self.standing.push(trial, measurement)?;
        }
        self.pending.remove(&trial);
        self.places.insert(trial, self.told.len());
        self.told.push(trial);
        Ok(())
    }

    /// The trial to keep, with the value that was told for it. If the strategy has a model that finds noise in the
    /// values, this is the best trial by the model; otherwise it is the [`best`](Self::best).
    pub fn recommend(&mut self, strategy: &dyn Strategy) -> Result<Option<Best>> {
        let pending = Points::new(self.space.dim());
        let place =
            self.show(strategy, &pending, |evidence, memory| strategy.recommend(evidence, memory))?;
        let place = place.filter(|place| self.history.leads(*place));
        let kept = place.and_then(|place| self.best_at(place));
        // A method that looks at the objective alone may point at a trial that misses a constraint.
        Ok(if kept.as_ref().is_none_or(|kept| kept.violating) { self.best() } else { kept })
    }

    /// The trials to keep of several objectives, best first by the first objective as told: by the strategy's model where
    /// values are noisy and it has one, otherwise the front.
    pub fn recommend_front(&mut self, strategy: &dyn Strategy) -> Result<Vec<u64>> {
        if self.goal().partial().is_some() {
            return Ok(self.standing.front());
        }
        let pending = Points::new(self.space.dim());
        let Self { space, history, seed, .. } = self;
        let evidence = Evidence { space, history, pending: &pending, seed: *seed };
        let mut places = strategy.front(evidence, &mut self.memory)?;
        let value = |place: &usize| self.history.objective().value(*place).unwrap_or(f64::INFINITY);
        places.sort_by(|a, b| value(a).total_cmp(&value(b)));
        Ok(places.into_iter().map(|place| self.told[place]).collect())
    }

    /// What the strategy predicts for each configuration; `None` if it has no model, or nothing to learn from yet.
    pub fn predict(
        &mut self,
        strategy: &dyn Strategy,
        configurations: &[Configuration],
    ) -> Result<Option<Vec<Forecast>>> {
        let mut points = Points::with_capacity(self.space.dim(), configurations.len());
        for configuration in configurations {
            points.push(&self.space.encode(configuration)?);
        }
        let pending = Points::from_rows(self.space.dim(), self.pending.values());
        let forecasts = self.show(strategy, &pending, |evidence, memory| {
            strategy.predict(evidence, &points, memory)
        })?;
        let goal = self.goal();
        Ok(forecasts.map(|all| all.into_iter().map(|one| one.turned(goal)).collect()))
    }

    /// What each parameter does to an objective or a constrained quantity, given by its name.
    pub fn importance(&self, quantity: &str) -> Result<Importance> {
        let goal = self.goal();
        // Values at different fidelities are not to be compared.
        let history: Cow<'_, History> = match goal.partial() {
            Some(_) => Cow::Owned(levelled(&self.history)?),
            None => Cow::Borrowed(&self.history),
        };
        let objectives = goal.objectives().iter().map(|objective| objective.name.as_str());
        let constraints = goal.constraints().iter().map(|constraint| constraint.name.as_str());
        let names: Vec<&str> = objectives.chain(constraints).collect();
        let mut columns = history.objectives().iter().chain(history.constraints());
        let place = names.iter().position(|name| *name == quantity);
        let Some(column) = place.and_then(|place| columns.nth(place)) else {
            let allowed = format!("one of {}", names.join(", "));
            return Err(Error::invalid("the quantity", format!("`{quantity}`"), allowed));
        };
        Importance::of(&self.space, &history, column, self.seed)
    }

    /// Where the search takes place.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// What the search is for.
    pub fn goal(&self) -> &Goal {
        self.history.goal()
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// What strategies see: encoded points, and values where low is good.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The trial behind each entry of history.
    pub fn told(&self) -> &[u64] {
        &self.told
    }

    /// How many trials exist: one more than the largest number.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// Whether a trial is pending or told.
    pub fn knows(&self, trial: u64) -> bool {
        self.pending.contains_key(&trial) || self.places.contains_key(&trial)
    }

    /// Whether a trial, pending or told, is at an encoded point.
    pub fn is_taken(&self, x: &[f64]) -> bool {
        self.history.taken().contains(&Fingerprint::of(x))
            || self.pending.values().any(|pending| Fingerprint::of(pending) == Fingerprint::of(x))
    }

    /// The pending trials and their encoded points, in the order of their numbers.
    pub fn pending(&self) -> &BTreeMap<u64, Vec<f64>> {
        &self.pending
    }

    /// The outcome that was told for a trial, if any. The reasons of failures are not kept.
    pub fn outcome(&self, trial: u64) -> Option<Outcome> {
        self.places.get(&trial).map(|&place| self.outcome_at(place))
    }

    /// The outcome that was told for the trial at a place in history.
    pub fn outcome_at(&self, place: usize) -> Outcome {
        match self.history.outcome(place) {
            Outcome::Measured(measurement) => self.goal().turn(&measurement).into(),
            other => other,
        }
    }

    /// The configuration at a place in history.
    pub fn configuration_at(&self, place: usize) -> Configuration {
        self.space.decode(self.history.points().row(place))
    }

    /// Which trials stand out, by their numbers.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The trials that no other dominates, among those that meet all constraints, and their hypervolume. With one
    /// objective, the trials with the best value.
    ///
    /// Costs as much as the front is long, and not as the history.
    pub fn front(&self) -> Result<Front> {
        let on_front = |id: u64| {
            let place = *self.places.get(&id)?;
            let Outcome::Measured(measurement) = self.outcome_at(place) else { return None };
            Some((Trial { id, configuration: self.configuration_at(place) }, measurement))
        };
        Ok(Front {
            trials: self.standing.front().into_iter().filter_map(on_front).collect(),
            reference: self.standing.reference().unwrap_or_default(),
            hypervolume: self.standing.hypervolume()?,
            beyond_reference: self.standing.beyond_reference(),
        })
    }

    /// The best trials by the first objective, best first, ten at most; only trials that meet all constraints.
    pub fn leaders(&self) -> impl Iterator<Item = Best> + '_ {
        self.standing.leaders().filter_map(|trial| self.best_of(trial))
    }

    /// The best trial by the first objective among those that meet all constraints; of equal values, the one told
    /// first. Under a goal with a fidelity, among those of the highest fidelity; before there is one, of the highest reached. As long as no trial meets them, the one with the smallest total violation.
    pub fn best(&self) -> Option<Best> {
        let nearest = || self.standing.nearest().map(|nearest| nearest.trial);
        self.standing.leaders().next().or_else(nearest).and_then(|trial| self.best_of(trial))
    }

    fn best_of(&self, trial: u64) -> Option<Best> {
        self.places.get(&trial).and_then(|&place| self.best_at(place))
    }

    fn best_at(&self, place: usize) -> Option<Best> {
        let Outcome::Measured(measurement) = self.outcome_at(place) else { return None };
        let (trial, configuration) = (self.told[place], self.configuration_at(place));
        let violating = self.goal().is_violated_by(&measurement);
        let (value, fidelity) = (measurement.value()?, measurement.fidelity);
        Some(Best { trial, configuration, value, violating, fidelity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Direction, Objective};
    use crate::outcome::Measurement;
    use crate::space::Dimension;
    use crate::strategy::Random;

    fn ledger(goal: impl Into<Goal>) -> Ledger {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        Ledger::new(space, goal.into(), Seed(1))
    }

    #[test]
    fn numbers_may_come_in_any_order_and_each_is_told_once() {
        let mut ledger = ledger(Direction::Maximise);
        ledger.issue(4, vec![0.5]);
        ledger.issue(1, vec![0.25]);
        assert_eq!((ledger.issued(), ledger.pending().len()), (5, 2));
        assert!(ledger.knows(4) && !ledger.knows(2) && !ledger.knows(99));
        ledger.tell(4, &3.0.into()).unwrap();
        ledger.issue(4, vec![0.75]);
        assert_eq!(ledger.pending().len(), 1, "a told trial is not pending again");
        let twice = ledger.tell(4, &Outcome::Infeasible).unwrap_err();
        assert_eq!(twice, Error::AlreadyTold { trial: 4, outcome: "3".into() });
        let unknown = ledger.tell(2, &1.0.into()).unwrap_err();
        assert_eq!(unknown, Error::UnknownTrial { trial: 2, issued: 5 });
        ledger.tell(1, &Outcome::Failed("it diverged".into())).unwrap();
        assert_eq!(ledger.outcome(1), Some(Outcome::failed()));
        assert_eq!(ledger.told(), [4, 1]);
        assert_eq!(ledger.history().objective().best_value(), Some(-3.0));
        assert_eq!(ledger.leaders().next().unwrap().value, 3.0);
    }

    #[test]
    fn steps_come_back_as_reported_and_a_finished_trial_takes_no_more() {
        let goal = Goal::from(Direction::Maximise).fidelity("epochs", 1.0, 9.0).unwrap();
        let mut ledger = ledger(goal);
        let step =
            |at: f64, value: f64| Measurement { fidelity: Some(at), ..Measurement::from(value) };
        ledger.issue(3, vec![0.5]);
        ledger.issue(4, vec![0.25]);
        assert!(matches!(ledger.report(9, &step(1.0, 2.0)), Err(Error::UnknownTrial { .. })));
        assert!(
            ledger.report(3, &step(10.0, 2.0)).unwrap_err().to_string().contains("from 1 to 9")
        );
        for (at, value) in [(1.0, 2.0), (3.0, 4.0)] {
            ledger.report(3, &step(at, value)).unwrap();
        }
        ledger.report(4, &step(1.0, 7.0)).unwrap();
        ledger.report(3, &step(9.0, 5.0)).unwrap();
        let expected = [step(1.0, 2.0), step(3.0, 4.0), step(9.0, 5.0)];
        assert_eq!(ledger.curve(3), expected);
        assert_eq!(ledger.history().curves().get(3).unwrap().row(1), [-4.0]);
        let order: Vec<u64> = ledger.events().into_iter().map(|(trial, _)| trial).collect();
        assert_eq!(order, [3, 3, 4, 3]);
        // The highest fidelity is a whole evaluation.
        ledger.tell(3, &step(9.0, 5.0).into()).unwrap();
        assert_eq!(ledger.outcome(3), Some(5.0.into()));
        assert_eq!(ledger.curve(3), expected, "the outcome is the last step");
        assert!(matches!(ledger.report(3, &step(3.0, 1.0)), Err(Error::AlreadyTold { .. })));
        assert_eq!(ledger.verdict(4, &Stopping::default()).unwrap(), Verdict::GoOn);
        assert!(ledger.verdict(3, &Stopping::default()).is_err());
        ledger.tell(4, &step(3.0, 8.0).into()).unwrap();
        let best = ledger.best().unwrap();
        assert_eq!((best.trial, best.fidelity), (3, None), "a stopped trial is not the best");
        assert_eq!(ledger.curve(4), [step(1.0, 7.0), step(3.0, 8.0)]);
    }

    #[test]
    fn a_goal_without_a_fidelity_takes_no_steps() {
        let mut ledger = ledger(Direction::Minimise);
        ledger.issue(0, vec![0.5]);
        let error = ledger.report(0, &1.0.into()).unwrap_err().to_string();
        assert!(error.contains("the goal has no fidelity"), "{error}");
        assert_eq!(ledger.verdict(0, &Stopping::default()).unwrap(), Verdict::GoOn);
    }

    #[test]
    fn a_measurement_of_a_larger_goal_comes_back_as_it_was_told() {
        let goal = Goal::new([Objective::maximise("speed"), Objective::minimise("error")])
            .and_then(|goal| goal.limit("memory", Bound::AtLeast(1.0)))
            .unwrap();
        let mut ledger = ledger(goal);
        for x in ledger.propose(&Random, 2).unwrap().rows().zip(0..) {
            ledger.issue(x.1, x.0.to_vec());
        }
        let told = Measurement {
            objectives: vec![2.0.into(), 0.25.into()],
            constraints: vec![4.0.into()],
            fidelity: None,
        };
        ledger.tell(0, &told.clone().into()).unwrap();
        assert_eq!(ledger.outcome(0), Some(told.into()));
        assert_eq!(ledger.history().objectives()[0].value(0), Some(-2.0));
        assert_eq!(ledger.history().constraints()[0].value(0), Some(-4.0));
        let error = ledger.tell(1, &1.0.into()).unwrap_err().to_string();
        assert!(error.contains("1 objective and 0 constraints"), "{error}");
        assert_eq!(ledger.pending().len(), 1, "a refused measurement changes nothing");
    }

    #[test]
    fn the_best_meets_the_constraints_and_until_then_comes_nearest() {
        let goal = Goal::new([Objective::maximise("speed")])
            .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
            .unwrap();
        let mut ledger = ledger(goal);
        let mut tell = |trial: u64, speed: f64, memory: f64| {
            ledger.issue(trial, vec![trial as f64 / 8.0]);
            let (objectives, constraints) = (vec![speed.into()], vec![memory.into()]);
            let told = Measurement { objectives, constraints, fidelity: None };
            ledger.tell(trial, &told.into()).unwrap();
            let kept = ledger.recommend(&Random).unwrap().unwrap();
            let best = ledger.best().unwrap();
            assert_eq!(kept, best, "random has no model");
            (best.trial, best.value, best.violating, ledger.front().unwrap().trials.len())
        };
        assert_eq!(tell(0, 9.0, 12.0), (0, 9.0, true, 0));
        assert_eq!(tell(1, 1.0, 9.0), (1, 1.0, true, 0));
        assert_eq!(tell(2, 3.0, 8.0), (2, 3.0, false, 1));
        assert_eq!(tell(3, 4.0, 8.5), (2, 3.0, false, 1));
        assert_eq!(tell(4, 5.0, 1.0), (4, 5.0, false, 1));
        assert_eq!(ledger.leaders().map(|best| best.trial).collect::<Vec<_>>(), [4, 2]);
        let front = ledger.front().unwrap();
        assert_eq!(front.trials[0].1.constraints, [1.0.into()]);
        assert_eq!(front.trials[0].0.configuration.get("x"), Some(&0.5.into()));
    }
}
