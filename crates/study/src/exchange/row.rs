//! A trial as it is printed and exchanged: flat, and the same in every format.

use anyhow::bail;
use serde::{Deserialize, Serialize};
use wimble::goal::Goal;
use wimble::outcome::{Measured, Measurement, Outcome};
use wimble::space::Configuration;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::fingerprint::fingerprint;
use crate::named_values::NamedValues;
use crate::step::{Step, fidelity};
use crate::trial::{State, Trial};

/// A trial in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u64>,
    /// `queued`, `running`, `paused` (it may be continued), `complete`, `violating` (it is complete and misses a constraint), `stopped` (before the highest
    /// fidelity), `failed` or `infeasible`.
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
    /// How much of its evaluation was carried out, if it was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<f64>,
    /// Its curve, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RowStep>,
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
            fidelity: measurement.and_then(|measurement| goal.part(measurement)),
            steps: Vec::new(),
            reason,
            worker: trial.worker().map(str::to_owned),
            started: trial.started().map(Timestamp::to_utc),
            finished: trial.finished().map(Timestamp::to_utc),
            params: trial.configuration.clone(),
            attributes: trial.attributes().cloned().unwrap_or_default(),
        }
    }

    /// With the steps of the trial.
    #[must_use]
    pub fn with_steps(mut self, steps: &[Step], goal: &Goal) -> Self {
        self.steps = steps.iter().map(|step| RowStep::new(&step.measurement, goal)).collect();
        self
    }

    /// As a trial to add to a study with this goal. The key is made of the row: adding it again changes nothing. Whether
    /// it is violating follows from its values, and not from its state.
    pub fn addition(&self, goal: &Goal) -> Result<Addition> {
        self.to_addition(goal).map_err(|error| Error::exchange(&error))
    }

    fn to_addition(&self, goal: &Goal) -> anyhow::Result<Addition> {
        let outcome = match self.state.as_str() {
            "complete" | "violating" => Some(Outcome::Measured(self.measured(goal)?)),
            "stopped" if self.fidelity.is_none() => bail!("a stopped trial needs a fidelity"),
            "stopped" => {
                let measured = self.measured(goal)?;
                Some(Outcome::Measured(Measurement { fidelity: self.fidelity, ..measured }))
            }
            "failed" => Some(Outcome::Failed(
                self.reason.clone().unwrap_or_else(|| "failed elsewhere".to_owned()).into(),
            )),
            "infeasible" => Some(Outcome::Infeasible),
            // Its checkpoint stayed where it was made: here it ends where it was paused.
            "paused" => match self.steps.last() {
                Some(last) => Some(Outcome::Measured(last.measurement(goal)?)),
                None => None,
            },
            "queued" | "running" => None,
            other => bail!(
                "state is {other:?}, but must be complete, violating, stopped, paused, failed, infeasible, queued or running"
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
            steps: match outcome {
                Some(_) => {
                    let steps = self.steps.iter().map(|step| step.measurement(goal));
                    steps.collect::<anyhow::Result<_>>()?
                }
                None => Vec::new(),
            },
            worker: self.worker.clone().filter(|_| outcome.is_some()),
            started: time("started", &self.started)?.filter(|_| outcome.is_some()),
            finished: time("finished", &self.finished)?.filter(|_| outcome.is_some()),
            outcome,
        })
    }

    /// The values of a complete trial.
    fn measured(&self, goal: &Goal) -> anyhow::Result<Measurement> {
        let only = self.value.map(|value| Measured { value, deviation: self.deviation });
        measurement(goal, only, &self.objectives, &self.constraints)
    }
}

/// A step of a trial in a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowStep {
    /// Its fidelity.
    pub step: f64,
    /// Its value, if the goal has one objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The standard deviation of the noise in its value, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Its values by name, if the goal has several objectives.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub objectives: NamedValues,
    /// The measured quantities that have limits, without those that are objectives.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub constraints: NamedValues,
}

impl RowStep {
    /// Of a step of a study with this goal.
    pub fn new(step: &Measurement, goal: &Goal) -> Self {
        let several = goal.objectives().len() > 1;
        let only = step.objectives.first().filter(|_| !several);
        Self {
            step: fidelity(step),
            value: only.map(|measured| measured.value),
            deviation: only.and_then(|measured| measured.deviation),
            objectives: match several {
                true => NamedValues::objectives(goal, step),
                false => NamedValues::default(),
            },
            constraints: NamedValues::constraints(goal, step),
        }
    }

    fn measurement(&self, goal: &Goal) -> anyhow::Result<Measurement> {
        let only = self.value.map(|value| Measured { value, deviation: self.deviation });
        let measured = measurement(goal, only, &self.objectives, &self.constraints)?;
        Ok(Measurement { fidelity: Some(self.step), ..measured })
    }
}

/// Values as a measurement under a goal: `only` where it has one objective, otherwise by name.
fn measurement(
    goal: &Goal,
    only: Option<Measured>,
    objectives: &NamedValues,
    constraints: &NamedValues,
) -> anyhow::Result<Measurement> {
    let mut objectives = objectives.clone().into_map();
    match (only, goal.objectives()) {
        (Some(measured), [objective]) if objectives.is_empty() => {
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
    let constraints = constraints.clone().into_map();
    goal.measurement(objectives, constraints).map_err(anyhow::Error::msg)
}

/// The state of a trial in a word.
pub fn state(trial: &Trial, goal: &Goal) -> &'static str {
    match &trial.state {
        State::Queued(_) => "queued",
        State::Running(_) => "running",
        State::Paused(_) => "paused",
        State::Finished(finish) => match finish.outcome {
            Outcome::Measured(ref told) if goal.part(told).is_some() => "stopped",
            Outcome::Measured(_) if trial.is_violating(goal) => "violating",
            Outcome::Measured(_) => "complete",
            Outcome::Failed(_) => "failed",
            Outcome::Infeasible => "infeasible",
        },
    }
}
