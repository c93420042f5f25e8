//! A trial of a figure whose method is another tool's: that tool asks, and this side evaluates.
//!
//! The tool meets the initial points and the noise of our methods in the trial of the same number, so that the two can
//! be compared trial by trial.

use std::collections::BTreeMap;

use serde::Serialize;
use wimble::space::{Configuration, SearchSpace};

use super::Plan;
use crate::choice::named;
use crate::data::Folder;
use crate::error::Result;
use crate::oracle::Oracle;
use crate::record::Start;

/// One trial, as another tool plays it.
pub struct PeerTrial {
    start: Start,
    trials: usize,
    initial: usize,
    oracle: Oracle,
}

/// What the tool reads before the first evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Introduction {
    /// The first line of the trial's record; the tool's name and version are to be added to its settings.
    pub start: Start,
    /// How many trials the figure has of this method on this problem.
    pub trials: usize,
    /// Where points may be.
    pub space: SearchSpace,
    /// The points to evaluate first.
    pub points: Vec<Configuration>,
}

/// What the tool reads for each point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// The value that its optimiser is told.
    pub value: f64,
    /// The score so far, for the record; its optimiser must not see it.
    pub metrics: BTreeMap<String, f64>,
}

impl PeerTrial {
    /// The trial of this number of a figure's method on a problem; reads the data of the problem.
    pub fn open(
        plan: &Plan,
        method: &str,
        problem: &str,
        number: usize,
        data: &Folder,
    ) -> Result<Self> {
        let peers = plan.settings.methods.iter().filter(|method| method.is_peer());
        let peers: Vec<_> = peers.cloned().collect();
        let method = named("method of another tool", &peers, method, |method| &method.name)?;
        let subject = plan.settings.problem(problem)?;
        let objective = subject.objective(plan.settings.noise_variance, data)?;
        Ok(Self {
            start: plan.start(method, subject, number)?,
            trials: plan.settings.trials_of(method, subject),
            initial: plan.settings.initial,
            oracle: Oracle::new(objective, plan.seed_of(number), super::FIRST_NOISE)?,
        })
    }

    /// What the tool must know.
    pub fn introduction(&self) -> Introduction {
        Introduction {
            start: self.start.clone(),
            trials: self.trials,
            space: self.oracle.space().clone(),
            points: self.oracle.initial().take(self.initial).collect(),
        }
    }

    /// Evaluates the next point.
    pub fn answer(&mut self, point: &Configuration) -> Result<Answered> {
        let value = self.oracle.observe(point)?.told;
        let least = self.oracle.least().iter();
        let mut metrics: BTreeMap<String, f64> =
            least.map(|(&name, &value)| (name.to_owned(), value)).collect();
        metrics.insert("incumbent_regret".to_owned(), self.oracle.incumbent_regret());
        Ok(Answered { value, metrics })
    }
}
