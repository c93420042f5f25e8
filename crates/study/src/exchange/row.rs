//! A trial as it is printed and exchanged: flat, and the same in every format.

use anyhow::bail;
use serde::{Deserialize, Serialize};
use wimble::outcome::{Measured, Outcome};
use wimble::space::Configuration;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::fingerprint::fingerprint;
use crate::trial::{State, Trial};

/// A trial in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u64>,
    /// `queued`, `running`, `complete`, `failed` or `infeasible`.
    pub state: String,
    /// Its value, if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The standard deviation of the noise in its value, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who runs it, or ran it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When its latest evaluation began, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// When it finished, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// What was tried.
    pub params: Configuration,
    /// What the trial said beside its value.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
}

impl Row {
    /// Of a stored trial.
    pub fn new(trial: &Trial) -> Self {
        let measurement = trial.outcome().and_then(Outcome::measurement);
        let measured = measurement.and_then(|measurement| measurement.objectives.first());
        let reason = match trial.outcome() {
            Some(Outcome::Failed(failure)) => Some(failure.reason.clone()),
            _ => None,
        };
        Self {
            trial: Some(trial.id),
            state: state(trial).to_owned(),
            value: measured.map(|measured| measured.value),
            deviation: measured.and_then(|measured| measured.deviation),
            reason,
            worker: trial.worker().map(str::to_owned),
            started: trial.started().map(Timestamp::to_utc),
            finished: trial.finished().map(Timestamp::to_utc),
            params: trial.configuration.clone(),
            attributes: trial.attributes().cloned().unwrap_or_default(),
        }
    }

    /// As a trial to add. The key is made of the row: adding it again changes nothing.
    pub fn addition(&self) -> Result<Addition> {
        self.to_addition().map_err(|error| Error::exchange(&error))
    }

    fn to_addition(&self) -> anyhow::Result<Addition> {
        let outcome = match (self.state.as_str(), self.value) {
            ("complete", Some(value)) => {
                let measured = Measured { value, deviation: self.deviation };
                if let Err(reason) = measured.check() {
                    bail!("the value of a complete trial {reason}");
                }
                Some(measured.into())
            }
            ("complete", value) => bail!("a complete trial needs a finite value, not {value:?}"),
            ("failed", _) => Some(Outcome::Failed(
                self.reason.clone().unwrap_or_else(|| "failed elsewhere".to_owned()).into(),
            )),
            ("infeasible", _) => Some(Outcome::Infeasible),
            ("queued" | "running", _) => None,
            (other, _) => bail!(
                "state is {other:?}, but must be complete, failed, infeasible, queued or running"
            ),
        };
        let time = |field: &str, text: &Option<String>| -> anyhow::Result<Option<Timestamp>> {
            match text {
                None => Ok(None),
                Some(text) => match Timestamp::from_utc(text) {
                    Some(time) => Ok(Some(time)),
                    None => bail!(
                        "{field} is {text:?}, but must be a time such as 2026-01-31T12:00:00Z"
                    ),
                },
            }
        };
        let key = format!("import-{}", fingerprint(serde_json::to_vec(self)?));
        Ok(Addition {
            key,
            configuration: self.params.clone(),
            attributes: match outcome {
                Some(_) => self.attributes.clone(),
                None => Attributes::default(),
            },
            worker: self.worker.clone().filter(|_| outcome.is_some()),
            started: time("started", &self.started)?.filter(|_| outcome.is_some()),
            finished: time("finished", &self.finished)?.filter(|_| outcome.is_some()),
            outcome,
        })
    }
}

/// The state of a trial in a word.
pub fn state(trial: &Trial) -> &'static str {
    match &trial.state {
        State::Queued(_) => "queued",
        State::Running(_) => "running",
        State::Finished(finish) => match finish.outcome {
            Outcome::Measured(_) => "complete",
            Outcome::Failed(_) => "failed",
            Outcome::Infeasible => "infeasible",
        },
    }
}
