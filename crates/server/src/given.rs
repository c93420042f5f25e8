//! What workers and people send as JSON: tokens, results, and new studies.

use std::sync::Arc;

use serde::Deserialize;
use wimble::goal::{Direction, Goal};
use wimble::seed::Seed;
use wimble::space::SearchSpace;
use wimble_study::{Attributes, Measurement, Outcome, Result, Settings, Store, Study, Token};

/// A token as users see it, `12.40`, or as an object.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum GivenToken {
    Text(String),
    Whole(Token),
}

impl GivenToken {
    pub fn read(&self) -> std::result::Result<Token, String> {
        let parse = |text: &str| {
            let (trial, fence) = text.split_once('.')?;
            Some(Token { trial: trial.parse().ok()?, fence: fence.parse().ok()? })
        };
        match self {
            Self::Whole(token) => Ok(*token),
            Self::Text(text) => parse(text).ok_or_else(|| {
                format!(
                    "the token is {text:?}, but must be one that an ask gave, such as \"12.40\""
                )
            }),
        }
    }
}

/// A result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Told {
    token: GivenToken,
    key: Option<String>,
    value: Option<f64>,
    failed: Option<String>,
    #[serde(default)]
    infeasible: bool,
    /// Anything that is more than a number.
    outcome: Option<Outcome>,
    #[serde(default)]
    pub attributes: Attributes,
}

impl Told {
    pub fn token(&self) -> std::result::Result<Token, String> {
        self.token.read()
    }

    /// The key of this tell: by default one for the token, so that telling the same again is acknowledged.
    pub fn key(&self) -> String {
        let token = || self.token().map(|token| token.to_string()).unwrap_or_default();
        self.key.clone().unwrap_or_else(|| format!("tell-{}", token()))
    }

    pub fn outcome(&self) -> std::result::Result<Outcome, String> {
        match (self.value, &self.failed, self.infeasible, &self.outcome) {
            (Some(value), None, false, None) => Ok(Outcome::from(value)),
            (None, Some(reason), false, None) => Ok(Outcome::Failed(reason.clone().into())),
            (None, None, true, None) => Ok(Outcome::Infeasible),
            (None, None, false, Some(outcome)) => Ok(outcome.clone()),
            _ => Err("give exactly one of value, failed, infeasible and outcome".to_owned()),
        }
    }
}

/// A step of a running trial.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reported {
    token: GivenToken,
    /// How far the evaluation is, in the unit of the study's fidelity.
    step: f64,
    value: Option<f64>,
    /// Anything that is more than a number.
    measurement: Option<Measurement>,
}

impl Reported {
    pub fn token(&self) -> std::result::Result<Token, String> {
        self.token.read()
    }

    pub fn step(&self) -> std::result::Result<Measurement, String> {
        let measured = match (self.value, &self.measurement) {
            (Some(value), None) => value.into(),
            (None, Some(measurement)) => measurement.clone(),
            _ => return Err("give exactly one of value and measurement".to_owned()),
        };
        Ok(Measurement { fidelity: Some(self.step), ..measured })
    }
}

/// A study that is made over the network or by an agent. It has no command: whoever runs it brings their own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewStudy {
    name: String,
    space: SearchSpace,
    #[serde(default)]
    direction: Direction,
    goal: Option<Goal>,
    method: Option<String>,
    #[serde(default = "one")]
    batch_size: usize,
    #[serde(default)]
    seed: u64,
    #[serde(default = "hundred")]
    budget: u64,
}

fn one() -> usize {
    1
}

fn hundred() -> u64 {
    100
}

impl NewStudy {
    /// Creates it, or opens the one that has its name and its settings.
    pub fn create(self, store: &Arc<dyn Store>) -> Result<Study> {
        let method = self.method.as_deref().unwrap_or("auto").parse()?;
        let settings = Settings::new(self.name, self.space, method)
            .goal(self.goal.unwrap_or_else(|| self.direction.into()))
            .batch_size(self.batch_size)
            .seed(Seed(self.seed))
            .budget(self.budget);
        Study::open_or_create(Arc::clone(store), settings)
    }
}
