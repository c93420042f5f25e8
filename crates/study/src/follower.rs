//! A study's evidence, kept up to date from its changes.
//!
//! A follower reads each change once, so that following costs what happened since it last looked, however long the
//! history is. Trials enter the history in the order in which they finished, which is the same for every reader: any
//! two followers at the same sequence number would propose the same.
//!
//! Values are turned once, here: where a study maximises, the history has the negated values.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wimble::history::{History, Outcome as Told};
use wimble::points::Points;
use wimble::strategy::{Evidence, Memory, Strategy};

use crate::error::{Error, Result};
use crate::settings::{ENGINE, Settings};
use crate::store::{Proposal, Reader};
use crate::trial::{Change, Outcome, State};

/// How many changes are read at a time.
const PAGE: usize = 1_000;

/// How far a study is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Trials waiting for a worker.
    pub queued: u64,
    /// Trials being evaluated.
    pub running: u64,
    /// Trials with an outcome.
    pub finished: u64,
}

/// What is known of a study up to a sequence number.
pub struct Follower {
    settings: Settings,
    sequence: u64,
    issued: u64,
    history: History,
    /// The trial behind each entry of history.
    told: Vec<u64>,
    /// Queued and running trials: what was proposed and has no outcome.
    pending: BTreeMap<u64, Vec<f64>>,
    running: BTreeSet<u64>,
    memory: Memory,
}

impl Follower {
    /// At the beginning of a study.
    pub fn new(settings: Settings) -> Self {
        Self {
            history: History::new(settings.space.dim()),
            settings,
            sequence: 0,
            issued: 0,
            told: Vec::new(),
            pending: BTreeMap::new(),
            running: BTreeSet::new(),
            memory: Memory::default(),
        }
    }

    /// Reads what changed since it last looked.
    pub fn catch_up(&mut self, store: &dyn Reader) -> Result<()> {
        loop {
            let changes = store.changes_since(&self.settings.name, self.sequence, PAGE)?;
            for change in &changes {
                self.apply(change)?;
            }
            if changes.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Takes in one change. Those up to the present sequence number are known, and have no effect.
    pub fn apply(&mut self, change: &Change) -> Result<()> {
        let trial = &change.trial;
        if change.sequence() <= self.sequence {
            return Ok(());
        }
        let corrupt = |error: wimble::Error| {
            Error::corrupt(&self.settings.name, format!("trial {}", trial.id), error)
        };
        if trial.id >= self.issued || !self.pending.contains_key(&trial.id) {
            let x = self.settings.space.encode(&trial.configuration).map_err(corrupt)?;
            self.pending.insert(trial.id, x);
        }
        match &trial.state {
            State::Queued(_) => {
                self.running.remove(&trial.id);
            }
            State::Running(_) => {
                self.running.insert(trial.id);
            }
            State::Finished(finish) => {
                let outcome = self.minimised(&finish.outcome);
                if let Some(x) = self.pending.get(&trial.id) {
                    self.history.push(x, outcome).map_err(corrupt)?;
                }
                self.told.push(trial.id);
                self.pending.remove(&trial.id);
                self.running.remove(&trial.id);
            }
        }
        self.issued = self.issued.max(trial.id + 1);
        self.sequence = change.sequence();
        Ok(())
    }

    /// `count` new points, in sight of all that is known.
    pub fn propose(&mut self, strategy: &dyn Strategy, count: usize) -> Result<Proposal> {
        let Settings { name, space, seed, .. } = &self.settings;
        let pending = Points::from_rows(space.dim(), self.pending.values());
        let evidence = Evidence { space, history: &self.history, pending: &pending };
        let mut propose = |count| strategy.propose(evidence, count, *seed, &mut self.memory);
        let mut exhausted = false;
        let points = match propose(count) {
            // A finite space, of which additions took a part: what is left.
            Err(wimble::Error::Exhausted { tried, total, .. }) if total < u128::MAX => {
                exhausted = true;
                match usize::try_from(total.saturating_sub(tried)).unwrap_or(count) {
                    0 => Ok(Points::new(space.dim())),
                    left => propose(left.min(count)),
                }
            }
            points => points,
        };
        let points =
            points.map_err(|source| Error::Proposal { study: name.clone(), count, source })?;
        let configurations = points.rows().map(|x| space.decode(x)).collect();
        Ok(Proposal { known: self.issued, configurations, exhausted, engine: ENGINE.to_owned() })
    }

    /// The number of the finished trial to keep: that of the best value, unless the strategy has a model of the noise and
    /// knows better.
    pub fn recommend(&mut self, strategy: &dyn Strategy) -> Result<Option<u64>> {
        let Settings { name, space, seed, .. } = &self.settings;
        let pending = Points::new(space.dim());
        let evidence = Evidence { space, history: &self.history, pending: &pending };
        let place = strategy.recommend(evidence, *seed, &mut self.memory).map_err(|source| {
            Error::Recommendation { study: name.clone(), source: source.into() }
        })?;
        Ok(place.map(|place| self.told[place]))
    }

    /// The number of the last change taken in.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How many trials exist.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// The finished trials, in the order in which they finished: encoded points, and minimised values.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The numbers of the finished trials, in the order of history.
    pub fn told(&self) -> &[u64] {
        &self.told
    }

    /// How far the study is.
    pub fn progress(&self) -> Progress {
        let running = self.running.len() as u64;
        Progress {
            queued: self.pending.len() as u64 - running,
            running,
            finished: self.told.len() as u64,
        }
    }

    fn minimised(&self, outcome: &Outcome) -> Told {
        match outcome {
            Outcome::Value(value) => Told::Value(self.settings.minimised(*value)),
            Outcome::Failed(_) => Told::Failed,
            Outcome::Infeasible => Told::Infeasible,
        }
    }
}
