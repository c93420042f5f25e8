//! Trials that the method did not propose: a user's own guess, or what was evaluated elsewhere.
//!
//! An addition without an outcome waits in the queue, before everything that was proposed. One with an outcome is
//! finished from the start, and is evidence like any other.

use serde::{Deserialize, Serialize};
use wimble::outcome::{Measurement, Outcome};
use wimble::space::Configuration;

use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::trial::Origin;

/// A trial to add.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    /// A name for it that no other addition to the study has: adding it again is acknowledged and changes nothing.
    pub key: String,
    /// What to try, or what was tried.
    pub configuration: Configuration,
    /// What came of it, if it was evaluated elsewhere.
    pub outcome: Option<Outcome>,
    /// Its attributes; empty where there is no outcome.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// The steps of its evaluation; empty where there is no outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Measurement>,
    /// Who evaluated it; default: `imported`.
    pub worker: Option<String>,
    /// When its evaluation began; default: `finished`.
    pub started: Option<Timestamp>,
    /// When it finished; default: now.
    pub finished: Option<Timestamp>,
}

impl Addition {
    /// A configuration to try before others.
    pub fn queued(key: impl Into<String>, configuration: Configuration) -> Self {
        Self {
            key: key.into(),
            configuration,
            outcome: None,
            attributes: Attributes::default(),
            steps: Vec::new(),
            worker: None,
            started: None,
            finished: None,
        }
    }

    /// What was evaluated elsewhere.
    pub fn finished(
        key: impl Into<String>,
        configuration: Configuration,
        outcome: Outcome,
    ) -> Self {
        Self { outcome: Some(outcome), ..Self::queued(key, configuration) }
    }

    /// Where the trial will come from.
    pub fn origin(&self) -> Origin {
        match self.outcome {
            None => Origin::Enqueued,
            Some(_) => Origin::Imported,
        }
    }
}
