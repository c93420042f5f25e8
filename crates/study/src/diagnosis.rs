//! The condition of a store, for finding out what is wrong.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::counts::Counts;
use crate::error::Result;
use crate::store::{Filter, Reader, Stage};

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
    /// Whether it ended: its worker is dead or cut off, and the next call that writes takes the trial back.
    pub dead: bool,
}

impl Diagnosis {
    /// Examines every study of a store and changes nothing: leases that have expired are shown as dead.
    pub fn of(store: &dyn Reader) -> Result<Self> {
        let condition = store.condition()?;
        let running = Filter { stage: Some(Stage::Running), ..Filter::default() };
        let mut studies = Vec::new();
        for name in store.studies()? {
            let record = store.study(&name);
            let holding = |trial: &crate::Trial| {
                trial.lease().map(|lease| Holding {
                    trial: trial.id,
                    worker: lease.worker.clone(),
                    since: lease.since,
                    due: lease.due,
                    dead: lease.due <= condition.now,
                })
            };
            studies.push(StudyHealth {
                trouble: record.err().map(|error| error.to_string()),
                counts: store.counts(&name)?,
                leases: store.trials(&name, &running)?.iter().filter_map(holding).collect(),
                name,
            });
        }
        Ok(Self { condition, studies })
    }
}
