//! GP-EI: expected improvement under Gaussian-process regression (Jones, Schonlau and Welch 1998), a baseline of
//! the paper's experiments on real data.
//!
//! In batches, and with pending points, each point is chosen as if the earlier ones had been told the mean that was
//! expected of them (the kriging believer).

use serde::{Deserialize, Serialize};

use super::placement::Placement;
use super::{Evidence, Memory, Strategy};
use crate::acquisition::LogExpectedImprovement;
use crate::batch::{Ascent, BatchRule};
use crate::error::Result;
use crate::forecast::Forecasts;
use crate::gaussian_process::Regression;
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;
use crate::space::SearchSpace;

/// Settings of GP-EI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GpEi {
    /// The Gaussian-process regression of the values: `Fitted`, the default, finds the hyper-parameters of largest marginal
    /// likelihood; `Fixed` takes a given kernel and variance of the noise, as the theory has it.
    pub regression: Regression,
    /// How the maximum of expected improvement is searched for.
    pub ascent: Ascent,
    /// How many trials are drawn at random first; 10 in the paper.
    pub initial: usize,
}

impl Named for GpEi {
    const NAME: &'static str = "gp-ei";
    const DESCRIPTION: &'static str = "Gaussian process, log expected improvement";
}

impl Default for GpEi {
    fn default() -> Self {
        Self { regression: Regression::default(), ascent: Ascent::default(), initial: 10 }
    }
}

impl Strategy for GpEi {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        self.regression.check(space.dim())?;
        BatchRule::<LogExpectedImprovement>::check(&self.ascent)
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        Placement::of(&self.regression, self.initial).place(evidence, size, memory, |choice| {
            choice.one_by_one(self.ascent, LogExpectedImprovement::new)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        Placement::of(&self.regression, self.initial).predict(evidence, at, memory)
    }
}
