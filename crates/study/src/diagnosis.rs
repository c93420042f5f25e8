//! The condition of a store, for finding out what is wrong.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use wimble::outcome::Outcome;

use crate::clock::Timestamp;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::step::Step;
use crate::store::{Filter, Reader, Stage};
use crate::trial::{Origin, Trial};

/// What a back end reports about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The file or server, without its password.
    pub place: String,
    /// The software and its version.
    pub software: String,
    /// How it makes acknowledged calls durable: the journal and its settings.
    pub durability: String,
    /// The version of the schema.
    pub schema: i64,
    /// The time on the store's clock.
    pub now: Timestamp,
}

/// A store and its studies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The store.
    pub condition: Condition,
    /// What is damaged in the file as such; empty for a server, which looks after its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Its studies, in the order of their names.
    pub studies: Vec<StudyHealth>,
}

/// A study that a store has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyHealth {
    /// Its name.
    pub name: String,
    /// Why this program cannot open it, if it cannot.
    pub trouble: Option<String>,
    /// How many trials are queued, running and finished.
    pub counts: Counts,
    /// The leases of its running trials, in the order of the trials.
    pub leases: Vec<Holding>,
    /// What is wrong with its trials, [`MOST_FAULTS`] at most: those that cannot be read, that fit neither space nor goal,
    /// and counts that are not those of the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// A worker's hold on a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Holding {
    /// The trial.
    pub trial: u64,
    /// Who holds it.
    pub worker: String,
    /// When it was claimed.
    pub since: Timestamp,
    /// When the lease ends unless a heartbeat comes.
    pub due: Timestamp,
    /// Whether it is due: its worker is dead, frozen or cut off, and another that wants the trial may take it.
    pub dead: bool,
}

/// How many faults of a study are named.
pub const MOST_FAULTS: usize = 20;
/// How many trials are read at a time.
const PAGE: usize = 1_000;

impl Diagnosis {
    /// Examines every study of a store and changes nothing: leases that are due are shown as dead. Reads every trial.
    pub fn of(store: &dyn Reader) -> Result<Self> {
        let condition = store.condition()?;
        let running = Filter { stage: Some(Stage::Running), ..Filter::default() };
        let mut studies = Vec::new();
        for name in store.studies()? {
            let record = store.study(&name);
            let holding = |trial: &Trial| {
                trial.lease().map(|lease| Holding {
                    trial: trial.id,
                    worker: lease.worker.clone(),
                    since: lease.since,
                    due: lease.due,
                    dead: lease.due <= condition.now,
                })
            };
            let mut faults = Faults::default();
            let counts = store.counts(&name).unwrap_or_else(|error| {
                faults.add(error.to_string());
                Counts::default()
            });
            let trouble = match record {
                Ok(record) => {
                    faults.examine(store, &record.settings, counts)?;
                    None
                }
                Err(error) => Some(error.to_string()),
            };
            // A lease that cannot be read is among the faults.
            let leases = store.trials(&name, &running).unwrap_or_default();
            let leases = leases.iter().filter_map(holding).collect();
            studies.push(StudyHealth { name, trouble, counts, leases, faults: faults.0 });
        }
        Ok(Self { condition, faults: store.faults()?, studies })
    }

    /// Whether anything is damaged.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty() && self.studies.iter().all(|study| study.faults.is_empty())
    }
}

/// What is wrong, as far as it is named.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn add(&mut self, fault: String) {
        if self.0.len() < MOST_FAULTS {
            self.0.push(fault);
        }
    }

    /// Reads every trial, and compares what the study says of them.
    fn examine(&mut self, store: &dyn Reader, settings: &Settings, counts: Counts) -> Result<()> {
        let (name, issued) = (&settings.name, counts.total());
        let sequence = store.sequence(name)?;
        let (mut rows, mut sequences) = (Counts::default(), BTreeSet::new());
        let (mut best, mut next): (Option<f64>, u64) = (None, 0);
        loop {
            let filter = Filter { from: next, limit: Some(PAGE), ..Filter::default() };
            let mut is_whole = true;
            let trials = match store.trials(name, &filter) {
                Ok(trials) => trials,
                // One by one, so that those that can be read are.
                Err(Error::Corrupt { .. }) => {
                    is_whole = false;
                    let mut found = Vec::new();
                    for id in next..issued.min(next + PAGE as u64) {
                        match store.trial(name, id) {
                            Ok(trial) => found.push(trial),
                            Err(error) => self.add(error.to_string()),
                        }
                    }
                    found
                }
                Err(error) => return Err(error),
            };
            for trial in &trials {
                rows.enter(&trial.state);
                rows.imported += u64::from(trial.origin == Origin::Imported);
                if !sequences.insert(trial.sequence) {
                    self.add(format!("trial {}: its sequence number is that of another", trial.id));
                }
                self.examine_trial(settings, trial);
                let value = trial.outcome().and_then(Outcome::value);
                let score = value.map(|value| settings.goal.first_direction().turn(value));
                best = score.into_iter().chain(best).reduce(f64::min);
            }
            next = match trials.last() {
                Some(last) if trials.len() == PAGE => last.id + 1,
                // A page of which not all could be read.
                _ if !is_whole && next + (PAGE as u64) < issued => next + PAGE as u64,
                _ => break,
            };
        }
        self.examine_steps(store, settings, issued)?;
        let stored = store.best(name, 1)?.pop();
        // The counts and rows of a study that goes on are of different moments.
        if store.sequence(name)? != sequence {
            return Ok(());
        }
        if rows != counts && self.0.is_empty() {
            self.add(format!(
                "the study counts {}, but has {}; `wimble doctor --repair` counts anew",
                in_words(&counts),
                in_words(&rows)
            ));
        }
        if settings.goal.is_single() && self.0.is_empty() {
            let stored = stored.and_then(|trial| trial.outcome().and_then(Outcome::value));
            let stored = stored.map(|value| settings.goal.first_direction().turn(value));
            if stored != best {
                let message = "the index of the best trials does not have the best one first; \
                               `wimble doctor --repair` makes it anew";
                self.add(message.to_owned());
            }
        }
        Ok(())
    }

    /// Reads every step.
    fn examine_steps(
        &mut self,
        store: &dyn Reader,
        settings: &Settings,
        issued: u64,
    ) -> Result<()> {
        let mut sequence = 0;
        loop {
            let steps = match store.steps_since(&settings.name, sequence, PAGE) {
                Ok(steps) => steps,
                Err(error @ Error::Corrupt { .. }) => {
                    self.add(error.to_string());
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            for step in &steps {
                let Step { trial, measurement, .. } = step;
                sequence = step.sequence;
                // A study that goes on has trials that were not counted yet.
                if *trial >= issued && store.trial(&settings.name, *trial).is_err() {
                    self.add(format!("step {} belongs to no trial: {trial}", step.fidelity()));
                }
                if let Err(error) = settings.goal.check(*trial, measurement) {
                    self.add(format!("step {} of trial {trial}: {error}", step.fidelity()));
                }
            }
            if steps.len() < PAGE {
                return Ok(());
            }
        }
    }

    fn examine_trial(&mut self, settings: &Settings, trial: &Trial) {
        let id = trial.id;
        if let Err(error) = settings.space.encode(&trial.configuration) {
            self.add(format!("trial {id}: {error}"));
        }
        if let Some(measurement) = trial.outcome().and_then(Outcome::measurement)
            && let Err(error) = settings.goal.check(id, measurement)
        {
            self.add(format!("trial {id}: {error}"));
        }
    }
}

fn in_words(counts: &Counts) -> String {
    let Counts { queued, running, valued, failed, infeasible, imported, paused } = counts;
    let paused = if *paused > 0 { format!("{paused} paused, ") } else { String::new() };
    format!(
        "{queued} queued, {running} running, {paused}{valued} complete, {failed} failed and {infeasible} infeasible \
         trials, {imported} of them imported"
    )
}
