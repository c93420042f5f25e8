//! Ask and tell, in memory.
//!
//! A session owns a search space, a strategy and all that was asked and told. It keeps no clock, and no
//! thread outlives a call. Same seed, same strategy, and the same asks and tells in the same order give the same suggestions;
//! so do a session that was saved and loaded in between.
//!
//! Values are turned once, here: a session that maximises tells its strategy the negated values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::history::{History, Outcome};
use crate::points::Points;
use crate::seed::Seed;
use crate::space::{Configuration, SearchSpace};
use crate::strategy::{Evidence, Memory, Strategy};

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
    /// From the user's value to the minimised one, and back.
    fn turn(self, outcome: Outcome) -> Outcome {
        match (self, outcome) {
            (Self::Maximise, Outcome::Value(value)) => Outcome::Value(-value),
            _ => outcome,
        }
    }
}

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
    /// The trial.
    pub trial: Trial,
    /// Its value, as told.
    pub value: f64,
}

/// More points than any ask can mean: a guard against a slip of the keyboard.
const LARGEST_BATCH: usize = 100_000;

/// A search in progress.
pub struct Session {
    space: SearchSpace,
    strategy: Box<dyn Strategy>,
    direction: Direction,
    seed: Seed,
    history: History,
    /// The trial behind each entry of history.
    told: Vec<u64>,
    /// The entry of history of each trial, if it was told.
    places: Vec<Option<usize>>,
    pending: BTreeMap<u64, Vec<f64>>,
    memory: Memory,
}

impl Session {
    /// A session over `space`; fails if the strategy's settings do not fit each other or the space.
    pub fn new(
        space: SearchSpace,
        strategy: impl Strategy + 'static,
        direction: Direction,
        seed: Seed,
    ) -> Result<Self> {
        strategy.check(&space)?;
        Ok(Self {
            history: History::new(space.dim()),
            space,
            strategy: Box::new(strategy),
            direction,
            seed,
            told: Vec::new(),
            places: Vec::new(),
            pending: BTreeMap::new(),
            memory: Memory::default(),
        })
    }

    /// `batch_size` trials to evaluate, in any order and at the same time.
    ///
    /// They stay pending until told; later asks keep clear of them.
    pub fn ask(&mut self, batch_size: usize) -> Result<Vec<Trial>> {
        if !(1..=LARGEST_BATCH).contains(&batch_size) {
            return Err(Error::invalid(
                "batch size",
                batch_size,
                format!("from 1 to {LARGEST_BATCH}"),
            ));
        }
        let pending = Points::from_rows(self.space.dim(), self.pending.values());
        let evidence = Evidence { space: &self.space, history: &self.history, pending: &pending };
        let points = self.strategy.propose(evidence, batch_size, self.seed, &mut self.memory)?;
        let mut trials = Vec::with_capacity(batch_size);
        for x in points.rows() {
            trials.push(Trial { id: self.issue(x.to_vec()), configuration: self.space.decode(x) });
        }
        Ok(trials)
    }

    /// What came of a trial that was asked for. Nothing changes if this fails.
    pub fn tell(&mut self, trial: u64, outcome: Outcome) -> Result<()> {
        check_finite(trial, outcome)?;
        let Some(x) = self.pending.get(&trial) else {
            return Err(match self.outcome(trial) {
                Some(outcome) => Error::AlreadyTold { trial, outcome: outcome.to_string() },
                None => Error::UnknownTrial { trial, issued: self.issued() },
            });
        };
        self.history.push(x, self.direction.turn(outcome))?;
        self.pending.remove(&trial);
        self.places[trial as usize] = Some(self.told.len());
        self.told.push(trial);
        Ok(())
    }

    /// Evidence from elsewhere: a configuration that was never asked for, with its outcome.
    pub fn observe(&mut self, configuration: &Configuration, outcome: Outcome) -> Result<u64> {
        check_finite(self.issued(), outcome)?;
        let trial = self.issue(self.space.encode(configuration)?);
        self.tell(trial, outcome)?;
        Ok(trial)
    }

    /// Where the search takes place.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// What the strategy has seen: encoded points, and minimised values.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The seed.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Whether low or high values are good.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// How many trials exist, told or pending.
    pub fn issued(&self) -> u64 {
        self.places.len() as u64
    }

    /// The trials asked for and not yet told.
    pub fn pending(&self) -> impl Iterator<Item = Trial> + '_ {
        let trial = |(&id, x): (&u64, &Vec<f64>)| Trial { id, configuration: self.space.decode(x) };
        self.pending.iter().map(trial)
    }

    /// What a trial was told, if it was.
    pub fn outcome(&self, trial: u64) -> Option<Outcome> {
        let place = usize::try_from(trial)
            .ok()
            .and_then(|trial| self.places.get(trial).copied().flatten())?;
        Some(self.direction.turn(self.history.outcomes()[place]))
    }

    /// The best trials, best first, ten at most.
    pub fn leaders(&self) -> impl Iterator<Item = Best> + '_ {
        self.history.leaders().iter().filter_map(|&place| {
            let value = self.direction.turn(self.history.outcomes()[place]).value()?;
            Some(Best { trial: self.trial_at(place), value })
        })
    }

    /// The trial of the best value so far, the earliest told of equals.
    ///
    /// Where values are noisy, the best of many is the luckiest: keep what [`Self::recommend`] says.
    pub fn best(&self) -> Option<Best> {
        self.leaders().next()
    }

    /// The trial to keep, with the value that it was told: the best by the strategy's model where that finds noise in the
    /// values, the one of the best value otherwise.
    pub fn recommend(&mut self) -> Result<Option<Best>> {
        let pending = Points::new(self.space.dim());
        let evidence = Evidence { space: &self.space, history: &self.history, pending: &pending };
        let place = self.strategy.recommend(evidence, self.seed, &mut self.memory)?;
        Ok(place.and_then(|place| {
            let value = self.direction.turn(self.history.outcomes()[place]).value()?;
            Some(Best { trial: self.trial_at(place), value })
        }))
    }

    /// Numbers a new pending trial.
    fn issue(&mut self, x: Vec<f64>) -> u64 {
        let trial = self.issued();
        self.places.push(None);
        self.pending.insert(trial, x);
        trial
    }

    fn trial_at(&self, place: usize) -> Trial {
        Trial {
            id: self.told[place],
            configuration: self.space.decode(self.history.points().row(place)),
        }
    }

    /// The session as JSON text, all but its strategy.
    pub fn save(&self) -> Result<String> {
        let told = self.told.iter().zip(self.history.outcomes()).enumerate().map(
            |(place, (_, &outcome))| {
                let Trial { id, configuration } = self.trial_at(place);
                Told { id, configuration, outcome: self.direction.turn(outcome) }
            },
        );
        let saved = Saved {
            version: VERSION,
            space: self.space.clone(),
            direction: self.direction,
            seed: self.seed,
            told: told.collect(),
            pending: self.pending().collect(),
        };
        serde_json::to_string(&saved).map_err(|error| corrupt(&error))
    }

    /// The session that [`Self::save`] wrote, with the same strategy as before.
    pub fn load(text: &str, strategy: impl Strategy + 'static) -> Result<Self> {
        let saved: Saved = serde_json::from_str(text).map_err(|error| corrupt(&error))?;
        if saved.version != VERSION {
            let reason = format!("its version is {}, this is for version {VERSION}", saved.version);
            return Err(corrupt(&reason));
        }
        let mut session = Self::new(saved.space, strategy, saved.direction, saved.seed)?;
        session.places = vec![None; saved.told.len() + saved.pending.len()];
        for Trial { id, configuration } in saved.pending {
            session.restore(id, &configuration)?;
        }
        for Told { id, configuration, outcome } in saved.told {
            session.restore(id, &configuration)?;
            session.tell(id, outcome)?;
        }
        Ok(session)
    }

    /// Makes a saved trial pending under its own number.
    fn restore(&mut self, id: u64, configuration: &Configuration) -> Result<()> {
        if id >= self.issued() {
            return Err(corrupt(&format!(
                "it has {} trials, but one is numbered {id}",
                self.issued()
            )));
        }
        if self.pending.contains_key(&id) || self.outcome(id).is_some() {
            return Err(corrupt(&format!("trial {id} is there twice")));
        }
        self.pending.insert(id, self.space.encode(configuration)?);
        Ok(())
    }
}

fn check_finite(trial: u64, outcome: Outcome) -> Result<()> {
    match outcome {
        Outcome::Value(value) if !value.is_finite() => Err(Error::NonFinite { trial, value }),
        _ => Ok(()),
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
    space: SearchSpace,
    direction: Direction,
    seed: Seed,
    /// In the order of telling.
    told: Vec<Told>,
    pending: Vec<Trial>,
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
        session.tell(1, Outcome::Value(3.0)).unwrap();
        let told =
            |session: &mut Session, trial, outcome| session.tell(trial, outcome).unwrap_err();
        let twice = told(&mut session, 1, Outcome::Failed);
        assert_eq!(twice, Error::AlreadyTold { trial: 1, outcome: "3".into() });
        let unknown = told(&mut session, 7, Outcome::Failed);
        assert_eq!(unknown, Error::UnknownTrial { trial: 7, issued: 2 });
        assert!(matches!(
            told(&mut session, 0, Outcome::Value(f64::NAN)),
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
            session.tell(trial.id, Outcome::Value(value)).unwrap();
        }
        let best = session.best().unwrap();
        assert_eq!((best.trial, best.value), (trials[1].clone(), 5.0));
        assert_eq!(session.history().best_value(), Some(-5.0));
        assert_eq!(session.outcome(0), Some(Outcome::Value(1.0)));
    }

    #[test]
    fn a_saved_session_loads_as_it_was() {
        let mut session = session(Direction::Maximise);
        session.ask(5).unwrap();
        session.tell(3, Outcome::Value(0.1)).unwrap();
        session.tell(0, Outcome::Infeasible).unwrap();
        let values: [(&str, Value); 2] = [("rate", 0.1.into()), ("layers", 3_i64.into())];
        let elsewhere: Configuration = values.into_iter().collect();
        assert_eq!(session.observe(&elsewhere, Outcome::Value(0.3)).unwrap(), 5);
        let text = session.save().unwrap();
        let mut loaded = Session::load(&text, Random).unwrap();
        assert_eq!(loaded.save().unwrap(), text);
        assert_eq!(loaded.ask(4).unwrap(), session.ask(4).unwrap());
        assert_eq!(loaded.best(), session.best());
    }

    #[test]
    fn broken_saves_are_refused_with_the_reason() {
        let mut session = session(Direction::Minimise);
        session.ask(2).unwrap();
        session.tell(0, Outcome::Value(1.0)).unwrap();
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
