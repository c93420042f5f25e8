//! A trial as it is printed and exchanged: flat, and the same in every format.

use anyhow::bail;
use serde::{Deserialize, Serialize};
use wimble::goal::Goal;
use wimble::outcome::{Measured, Outcome};
use wimble::space::Configuration;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::fingerprint::fingerprint;
use crate::named_values::NamedValues;
use crate::trial::{State, Trial};

/// A trial in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u64>,
    /// `queued`, `running`, `complete`, `violating` (it is complete and misses a constraint), `failed` or `infeasible`.
    pub state: String,
    /// Its value, if it is complete and the goal has one objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The standard deviation of the noise in its value, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Its values by name, if it is complete and the goal has several objectives.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub objectives: NamedValues,
    /// The measured quantities that have limits, without those that are objectives.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub constraints: NamedValues,
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
    /// Of a stored trial of a study with this goal.
    pub fn new(trial: &Trial, goal: &Goal) -> Self {
        let measurement = trial.outcome().and_then(Outcome::measurement);
        let several = goal.objectives().len() > 1;
        let first = measurement.and_then(|measurement| measurement.objectives.first());
        let measured = first.filter(|_| !several);
        let objectives = measurement.filter(|_| several);
        let objectives = objectives.map(|all| NamedValues::objectives(goal, all));
        let constraints = measurement.map(|all| NamedValues::constraints(goal, all));
        let reason = match trial.outcome() {
            Some(Outcome::Failed(failure)) => Some(failure.reason.clone()),
            _ => None,
        };
        Self {
            trial: Some(trial.id),
            state: state(trial, goal).to_owned(),
            value: measured.map(|measured| measured.value),
            deviation: measured.and_then(|measured| measured.deviation),
            objectives: objectives.unwrap_or_default(),
            constraints: constraints.unwrap_or_default(),
            reason,
            worker: trial.worker().map(str::to_owned),
            started: trial.started().map(Timestamp::to_utc),
            finished: trial.finished().map(Timestamp::to_utc),
            params: trial.configuration.clone(),
            attributes: trial.attributes().cloned().unwrap_or_default(),
        }
    }

    /// As a trial to add to a study with this goal. The key is made of the row: adding it again changes nothing. Whether
    /// it is violating follows from its values, and not from its state.
    pub fn addition(&self, goal: &Goal) -> Result<Addition> {
        self.to_addition(goal).map_err(|error| Error::exchange(&error))
    }

    fn to_addition(&self, goal: &Goal) -> anyhow::Result<Addition> {
        let outcome = match self.state.as_str() {
            "complete" | "violating" => Some(self.measured(goal)?),
            "failed" => Some(Outcome::Failed(
                self.reason.clone().unwrap_or_else(|| "failed elsewhere".to_owned()).into(),
            )),
            "infeasible" => Some(Outcome::Infeasible),
            "queued" | "running" => None,
            other => bail!(
                "state is {other:?}, but must be complete, violating, failed, infeasible, queued or running"
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
            steps: Vec::new(),
            worker: self.worker.clone().filter(|_| outcome.is_some()),
            started: time("started", &self.started)?.filter(|_| outcome.is_some()),
            finished: time("finished", &self.finished)?.filter(|_| outcome.is_some()),
            outcome,
        })
    }

    /// The values of a complete trial.
    fn measured(&self, goal: &Goal) -> anyhow::Result<Outcome> {
        let mut objectives = self.objectives.clone().into_map();
        match (self.value, goal.objectives()) {
            (Some(value), [objective]) if objectives.is_empty() => {
                let measured = Measured { value, deviation: self.deviation };
                if let Err(reason) = measured.check() {
                    bail!("the value of a complete trial {reason}");
                }
                objectives.insert(objective.name.clone(), measured);
            }
            (Some(_), [_]) => bail!("it has both a value and objectives; give one"),
            (Some(_), _) => bail!("it has one value, but the goal has {goal}"),
            (None, [_]) if objectives.is_empty() => {
                bail!("a complete trial needs a finite value, not None")
            }
            (None, _) => {}
        }
        let constraints = self.constraints.clone().into_map();
        goal.measurement(objectives, constraints).map(Outcome::Measured).map_err(anyhow::Error::msg)
    }
}

/// The state of a trial in a word.
pub fn state(trial: &Trial, goal: &Goal) -> &'static str {
    match &trial.state {
        State::Queued(_) => "queued",
        State::Running(_) => "running",
        State::Finished(finish) => match finish.outcome {
            Outcome::Measured(_) if trial.is_violating(goal) => "violating",
            Outcome::Measured(_) => "complete",
            Outcome::Failed(_) => "failed",
            Outcome::Infeasible => "infeasible",
        },
    }
}
