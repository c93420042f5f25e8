//! Ask and tell, in memory.
//!
//! A session owns a search space, a strategy and all that was asked and told. It reads no clock, and no thread outlives
//! a call. The same seed, the same strategy, and the same asks and tells in the same order give the same suggestions.
//! Saving and reloading a session does not change them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::goal::{Direction, Goal};
use crate::history::History;
use crate::importance::Importance;
use crate::ledger::Ledger;
use crate::outcome::{Measurement, Outcome};
use crate::seed::Seed;
use crate::space::{Configuration, SearchSpace};
use crate::stopping::{Stopping, Verdict};
use crate::strategy::{FreeWorkers, Run, Strategy, Work};

pub use crate::ledger::{Best, Front, Trial};
#[doc(hidden)]
pub use crate::standing::Standing;

/// More points than anybody asks for on purpose: a guard against a slip of the keyboard.
const LARGEST_BATCH: usize = 100_000;

/// A search in progress.
pub struct Session {
    strategy: Box<dyn Strategy>,
    ledger: Ledger,
}

impl Session {
    /// Begins a search over `space`. Fails if the strategy's settings do not fit each other or the space, or if the
    /// strategy does not serve the goal. A [`Direction`] is short for a goal with one
    /// objective.
    pub fn new(
        space: SearchSpace,
        strategy: impl Strategy + 'static,
        goal: impl Into<Goal>,
        seed: Seed,
    ) -> Result<Self> {
        let goal = goal.into();
        strategy.check(&space, &goal)?;
        Ok(Self { strategy: Box::new(strategy), ledger: Ledger::new(space, goal, seed) })
    }

    /// `batch_size` trials to evaluate, in any order and at the same time.
    ///
    /// They stay pending until told; later asks keep clear of them.
    pub fn ask(&mut self, batch_size: usize) -> Result<Vec<Trial>> {
        check_size(batch_size)?;
        let points = self.ledger.propose(&*self.strategy, batch_size)?;
        let mut trials = Vec::with_capacity(batch_size);
        for x in points.rows() {
            let id = self.issued();
            self.ledger.issue(id, x.to_vec());
            trials.push(Trial { id, configuration: self.space().decode(x) });
        }
        Ok(trials)
    }

    /// What `count` workers do next under a goal with a fidelity: begin new trials, or continue some of the `paused` ones,
    /// each up to a fidelity. A trial that has come there is paused, or told if that was the highest fidelity. In the end, tell each
    /// paused trial its last step: [`best`](Self::best) looks at trials that were told.
    pub fn plan(&mut self, paused: &[u64], count: usize) -> Result<Vec<(Trial, f64)>> {
        check_size(count)?;
        let free = FreeWorkers { count, paused, room: usize::MAX };
        let runs = self.ledger.plan(&*self.strategy, &free)?;
        let mut planned = Vec::with_capacity(count);
        for Run { work, until } in runs {
            let id = match work {
                Work::New(x) => {
                    let id = self.issued();
                    self.ledger.issue(id, x);
                    id
                }
                Work::Continue(trial) => trial,
            };
            let Some(x) = self.ledger.pending().get(&id) else { continue };
            planned.push((Trial { id, configuration: self.space().decode(x) }, until));
        }
        Ok(planned)
    }

    /// Tells the outcome of a trial that was asked for: a number, a [`Measurement`], or an
    /// [`Outcome`]. If this fails, nothing changes.
    pub fn tell(&mut self, trial: u64, outcome: impl Into<Outcome>) -> Result<()> {
        self.ledger.tell(trial, &outcome.into())
    }

    /// Reports a step of a trial that was asked for: a measurement at a fidelity. The same step again changes nothing; a
    /// step at or below the last one that is not the same means that the trial began anew, and drops the steps from
    /// there on. If this fails, nothing changes.
    pub fn report(&mut self, trial: u64, step: impl Into<Measurement>) -> Result<()> {
        self.ledger.report(trial, &step.into())
    }

    /// The steps of a trial as they were reported, in the order of their fidelity.
    pub fn curve(&self, trial: u64) -> Vec<Measurement> {
        self.ledger.curve(trial)
    }

    /// Whether a trial that runs should go on. Ask after each step that is reported. A trial is stopped by telling its
    /// last step as its outcome.
    pub fn verdict(&self, trial: u64, rule: &Stopping) -> Result<Verdict> {
        self.ledger.verdict(trial, rule)
    }

    /// Adds evidence from elsewhere: a configuration that was not asked for, with its outcome. Returns the number of
    /// its trial. If this fails, nothing changes.
    pub fn observe(
        &mut self,
        configuration: &Configuration,
        outcome: impl Into<Outcome>,
    ) -> Result<u64> {
        let (trial, outcome) = (self.issued(), outcome.into());
        if let Some(measurement) = outcome.measurement() {
            self.goal().check(trial, measurement)?;
        }
        let x = self.space().encode(configuration)?;
        self.space().check_known(configuration)?;
        self.ledger.issue(trial, x);
        self.ledger.tell(trial, &outcome)?;
        Ok(trial)
    }

    /// Adds a curve from elsewhere: a configuration that was not asked for, with its steps, the last of which is its outcome.
    /// Returns the number of its trial. If this fails, nothing changes.
    pub fn observe_curve(
        &mut self,
        configuration: &Configuration,
        steps: impl IntoIterator<Item = Measurement>,
    ) -> Result<u64> {
        let (trial, steps): (u64, Vec<Measurement>) = (self.issued(), steps.into_iter().collect());
        let refused = |reason: &str| Error::Measurement { trial, reason: reason.to_owned() };
        if self.goal().partial().is_none() {
            return Err(refused("it is a curve, but the goal has no fidelity"));
        }
        for step in &steps {
            self.goal().check(trial, step)?;
        }
        let last = steps.last().cloned().ok_or_else(|| refused("it is a curve without a step"))?;
        let x = self.space().encode(configuration)?;
        self.space().check_known(configuration)?;
        self.ledger.issue(trial, x);
        for step in &steps {
            self.ledger.report(trial, step)?;
        }
        self.ledger.tell(trial, &last.into())?;
        Ok(trial)
    }

    /// Where the search takes place.
    pub fn space(&self) -> &SearchSpace {
        self.ledger.space()
    }

    /// What the search is for.
    pub fn goal(&self) -> &Goal {
        self.ledger.goal()
    }

    /// What the strategy sees: encoded points, and values where low is good.
    pub fn history(&self) -> &History {
        self.ledger.history()
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        self.ledger.seed()
    }

    /// How many trials exist, told or pending.
    pub fn issued(&self) -> u64 {
        self.ledger.issued()
    }

    /// The trials asked for and not yet told.
    pub fn pending(&self) -> impl Iterator<Item = Trial> + '_ {
        let decode = |x: &Vec<f64>| self.space().decode(x);
        let trial = move |(&id, x)| Trial { id, configuration: decode(x) };
        self.ledger.pending().iter().map(trial)
    }

    /// The finished trials with their outcomes, in the order of telling. The reasons of failures are not kept.
    pub fn told(&self) -> impl Iterator<Item = (Trial, Outcome)> + '_ {
        self.ledger.told().iter().enumerate().map(|(place, &id)| {
            let configuration = self.ledger.configuration_at(place);
            (Trial { id, configuration }, self.ledger.outcome_at(place))
        })
    }

    /// The outcome that was told for a trial, if any. The reasons of failures are not kept.
    pub fn outcome(&self, trial: u64) -> Option<Outcome> {
        self.ledger.outcome(trial)
    }

    /// The best trials by the first objective, best first, ten at most; only trials that meet all constraints.
    pub fn leaders(&self) -> impl Iterator<Item = Best> + '_ {
        self.ledger.leaders()
    }

    /// The trial with the best value so far; of equal values, the one told first. With constraints, the best that meets
    /// them; as long as none does, the one with the smallest total violation, which is marked as violating. With several
    /// objectives, the best by the first; [`Self::front`] has the others.
    ///
    /// Where values are noisy, the best of many may just be lucky: [`Self::recommend`] says which trial to keep.
    pub fn best(&self) -> Option<Best> {
        self.ledger.best()
    }

    /// Which trials stand out, by their numbers.
    #[doc(hidden)]
    pub fn standing(&self) -> &Standing {
        self.ledger.standing()
    }

    /// The trials that no other dominates, among those that meet all constraints, with their hypervolume.
    pub fn front(&self) -> Result<Front> {
        self.ledger.front()
    }

    /// The trial to keep, with the value that was told for it. If the strategy has a model that finds noise in the
    /// values, this is the best trial by the model; otherwise it is the [`best`](Self::best).
    pub fn recommend(&mut self) -> Result<Option<Best>> {
        self.ledger.recommend(&*self.strategy)
    }

    /// The numbers of the trials to keep of several objectives, best first by the first objective as told: by the strategy's
    /// model where values are noisy and it has one, otherwise the [`front`](Self::front).
    pub fn recommend_front(&mut self) -> Result<Vec<u64>> {
        self.ledger.recommend_front(&*self.strategy)
    }

    /// What the strategy predicts for each configuration; `None` if it has no model, or nothing to learn from yet.
    pub fn predict(&mut self, configurations: &[Configuration]) -> Result<Option<Vec<Forecast>>> {
        self.ledger.predict(&*self.strategy, configurations)
    }

    /// What each parameter does to an objective or a constrained quantity, given by its name; the objective of a session
    /// that was given a direction only is called `value`.
    pub fn importance(&self, quantity: &str) -> Result<Importance> {
        self.ledger.importance(quantity)
    }

    /// The session as JSON text, without its strategy.
    pub fn save(&self) -> Result<String> {
        let told = self.told();
        let told =
            told.map(|(Trial { id, configuration }, outcome)| Told { id, configuration, outcome });
        let goal = self.goal();
        let direction = goal.as_direction();
        let saved = Saved {
            version: VERSION,
            method: Some(self.strategy.name().to_owned()),
            space: self.space().clone(),
            direction,
            goal: direction.is_none().then(|| goal.clone()),
            seed: self.seed(),
            told: told.collect(),
            pending: self.pending().collect(),
            events: self.ledger.events(),
        };
        serde_json::to_string(&saved).map_err(|error| corrupt(&error))
    }

    /// Loads what [`Self::save`] wrote. Give it the strategy that the session had: one of another name is refused, and one
    /// of the same name with other settings goes on in its own way.
    pub fn load(text: &str, strategy: impl Strategy + 'static) -> Result<Self> {
        let saved: Saved = serde_json::from_str(text).map_err(|error| corrupt(&error))?;
        if saved.version != VERSION {
            let reason = format!("its version is {}, this is for version {VERSION}", saved.version);
            return Err(corrupt(&reason));
        }
        if let Some(method) = saved.method.filter(|method| method != strategy.name()) {
            let allowed = format!("`{method}`, with which the session was saved");
            return Err(Error::invalid("the strategy", format!("`{}`", strategy.name()), allowed));
        }
        let goal = match (saved.goal, saved.direction) {
            (Some(goal), None) => goal,
            (None, Some(direction)) => direction.into(),
            _ => return Err(corrupt(&"it must have either a direction or a goal")),
        };
        let count = (saved.told.len() + saved.pending.len()) as u64;
        let mut session = Self::new(saved.space, strategy, goal, saved.seed)?;
        for Trial { id, configuration } in saved.pending {
            session.restore(id, &configuration, count)?;
        }
        for Told { id, configuration, .. } in &saved.told {
            session.restore(*id, configuration, count)?;
        }
        let mut outcomes: HashMap<u64, Outcome> = HashMap::new();
        if !saved.events.is_empty() {
            let told = saved.told.iter();
            outcomes = told.map(|told| (told.id, told.outcome.clone())).collect();
        }
        for (trial, step) in saved.events {
            match (step, outcomes.remove(&trial)) {
                (Some(step), outcome) => {
                    session.report(trial, step)?;
                    outcome.and_then(|outcome| outcomes.insert(trial, outcome));
                }
                (None, Some(outcome)) => session.tell(trial, outcome)?,
                (None, None) => return Err(corrupt(&format!("trial {trial} has no outcome"))),
            }
        }
        for Told { id, outcome, .. } in saved.told {
            if session.outcome(id).is_none() {
                session.tell(id, outcome)?;
            }
        }
        Ok(session)
    }

    /// Makes a saved trial pending under its own number, of `count` trials.
    fn restore(&mut self, id: u64, configuration: &Configuration, count: u64) -> Result<()> {
        if id >= count {
            return Err(corrupt(&format!("it has {count} trials, but one is numbered {id}")));
        }
        if self.ledger.knows(id) {
            return Err(corrupt(&format!("trial {id} is there twice")));
        }
        self.ledger.issue(id, self.space().encode(configuration)?);
        Ok(())
    }
}

fn check_size(batch_size: usize) -> Result<()> {
    match (1..=LARGEST_BATCH).contains(&batch_size) {
        true => Ok(()),
        false => {
            let allowed = format!("from 1 to {LARGEST_BATCH}");
            Err(Error::invalid("batch size", batch_size, allowed))
        }
    }
}

fn corrupt(reason: &dyn std::fmt::Display) -> Error {
    Error::Corrupt { what: "session", reason: reason.to_string() }
}

/// The version of the saved form.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    version: u32,
    /// The name of the strategy; sessions saved by 0.1 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    space: SearchSpace,
    /// The goal, if it is only a direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direction: Option<Direction>,
    /// The goal, if it is more than a direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    goal: Option<Goal>,
    seed: Seed,
    /// In the order of telling.
    told: Vec<Told>,
    pending: Vec<Trial>,
    /// Under a goal with a fidelity, what happened to trials, in order: a step, or null where one ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<(u64, Option<Measurement>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    id: u64,
    configuration: Configuration,
    outcome: Outcome,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Dimension, Value};
    use crate::strategy::Random;

    fn space() -> SearchSpace {
        SearchSpace::new([
            Dimension::log_real("rate", 1e-5, 1.0),
            Dimension::integer("layers", 1, 8),
        ])
        .unwrap()
    }

    fn session(direction: Direction) -> Session {
        Session::new(space(), Random, direction, Seed(1)).unwrap()
    }

    #[test]
    fn telling_twice_an_unknown_trial_or_no_number_is_refused_and_changes_nothing() {
        let mut session = session(Direction::Minimise);
        session.ask(2).unwrap();
        session.tell(1, Outcome::from(3.0)).unwrap();
        let told =
            |session: &mut Session, trial, outcome| session.tell(trial, outcome).unwrap_err();
        let twice = told(&mut session, 1, Outcome::failed());
        assert_eq!(twice, Error::AlreadyTold { trial: 1, outcome: "3".into() });
        let unknown = told(&mut session, 7, Outcome::failed());
        assert_eq!(unknown, Error::UnknownTrial { trial: 7, issued: 2 });
        assert!(matches!(
            told(&mut session, 0, Outcome::from(f64::NAN)),
            Error::NonFinite { trial: 0, .. }
        ));
        assert_eq!((session.history().len(), session.pending().count()), (1, 1));
        for size in [0, usize::MAX] {
            assert!(session.ask(size).unwrap_err().to_string().contains("batch size"));
        }
    }

    #[test]
    fn maximising_turns_values_once() {
        let mut session = session(Direction::Maximise);
        let trials = session.ask(3).unwrap();
        for (trial, value) in trials.iter().zip([1.0, 5.0, 2.0]) {
            session.tell(trial.id, Outcome::from(value)).unwrap();
        }
        let best = session.best().unwrap();
        assert_eq!(
            (best.trial, best.configuration, best.value),
            (1, trials[1].configuration.clone(), 5.0)
        );
        assert_eq!(session.history().objective().best_value(), Some(-5.0));
        assert_eq!(session.outcome(0), Some(Outcome::from(1.0)));
    }

    #[test]
    fn a_saved_session_loads_as_it_was() {
        let mut session = session(Direction::Maximise);
        session.ask(5).unwrap();
        session.tell(3, Outcome::from(0.1)).unwrap();
        session.tell(0, Outcome::Infeasible).unwrap();
        let values: [(&str, Value); 2] = [("rate", 0.1.into()), ("layers", 3_i64.into())];
        let elsewhere: Configuration = values.into_iter().collect();
        assert_eq!(session.observe(&elsewhere, Outcome::from(0.3)).unwrap(), 5);
        let text = session.save().unwrap();
        let mut loaded = Session::load(&text, Random).unwrap();
        assert_eq!(loaded.save().unwrap(), text);
        assert_eq!(loaded.ask(4).unwrap(), session.ask(4).unwrap());
        assert_eq!(loaded.best(), session.best());
        let told: Vec<(u64, Outcome)> =
            loaded.told().map(|(trial, outcome)| (trial.id, outcome)).collect();
        let order = [(3, Outcome::from(0.1)), (0, Outcome::Infeasible), (5, Outcome::from(0.3))];
        assert_eq!(told, order);
        let other = Session::load(&text, crate::strategy::Sobol {}).err().unwrap().to_string();
        assert_eq!(
            other,
            "the strategy is `sobol`, but must be `random`, with which the session was saved"
        );
        let nameless = text.replace(r#""method":"random","#, "");
        assert_ne!(nameless, text);
        assert!(Session::load(&nameless, Random).is_ok());
    }

    #[test]
    fn curves_are_saved_in_the_order_of_reporting() {
        let goal = Goal::from(Direction::Maximise).fidelity("epochs", 1.0, 9.0).unwrap();
        let mut session = Session::new(space(), Random, goal, Seed(1)).unwrap();
        session.ask(3).unwrap();
        let step = |at: f64, value: f64| Measurement { fidelity: Some(at), ..value.into() };
        for (trial, at, value) in [(1, 1.0, 0.5), (0, 1.0, 0.25), (1, 3.0, 0.75), (2, 1.0, 0.1)] {
            session.report(trial, step(at, value)).unwrap();
        }
        session.tell(1, step(3.0, 0.75)).unwrap();
        session.tell(2, Outcome::failed()).unwrap();
        let text = session.save().unwrap();
        let loaded = Session::load(&text, Random).unwrap();
        assert_eq!(loaded.save().unwrap(), text);
        assert_eq!(loaded.curve(1), [step(1.0, 0.5), step(3.0, 0.75)]);
        assert_eq!((loaded.curve(0).len(), loaded.curve(2).len()), (1, 1));
        let best = loaded.best().unwrap();
        assert_eq!((best.trial, best.fidelity), (1, Some(3.0)));
    }

    #[test]
    fn broken_saves_are_refused_with_the_reason() {
        let mut session = session(Direction::Minimise);
        session.ask(2).unwrap();
        session.tell(0, Outcome::from(1.0)).unwrap();
        let text = session.save().unwrap();
        let refused = |from: &str, to: &str| {
            let broken = text.replace(from, to);
            assert_ne!(broken, text);
            Session::load(&broken, Random).err().unwrap().to_string()
        };
        assert!(refused("\"version\":1", "\"version\":9").contains("its version is 9"));
        assert!(refused("\"id\":1", "\"id\":0").contains("trial 0 is there twice"));
        assert!(refused("\"id\":1", "\"id\":88").contains("one is numbered 88"));
        assert!(refused("minimise", "downhill").contains("downhill"));
        assert!(Session::load("", Random).is_err());
    }
}
