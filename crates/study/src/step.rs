//! A step: a measurement of a running trial at a fidelity. The steps of a trial, in the order of their fidelities, are its
//! curve.

use serde::{Deserialize, Serialize};
use wimble::outcome::Measurement;

use crate::clock::Timestamp;
use crate::trial::Token;

/// Steps of a trial, as its worker reports them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The token of the trial, which gives the right to report.
    pub token: Token,
    /// Its steps, in the order in which they were measured, each with a fidelity.
    pub steps: Vec<Measurement>,
}

/// A step as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The trial.
    pub trial: u64,
    /// What was measured. Its fidelity is never missing.
    pub measurement: Measurement,
    /// The study's sequence number of this step: steps have numbers of their own, apart from those of changes.
    pub sequence: u64,
    /// When it was stored.
    pub at: Timestamp,
}

impl Step {
    /// How much of the evaluation was carried out.
    pub fn fidelity(&self) -> f64 {
        fidelity(&self.measurement)
    }
}

/// The fidelity of a step; 0, which no step has, where it is missing.
pub(crate) fn fidelity(step: &Measurement) -> f64 {
    step.fidelity.unwrap_or(0.0)
}

/// From which fidelity on the steps of each trial matter to reports.
#[cfg(feature = "postgres")]
pub(crate) fn lowest_by_trial(reports: &[Report]) -> std::collections::BTreeMap<u64, f64> {
    let mut wanted = std::collections::BTreeMap::new();
    for Report { token, steps } in reports {
        let lowest = steps.iter().map(fidelity).fold(f64::INFINITY, f64::min);
        let known = wanted.entry(token.trial).or_insert(lowest);
        *known = known.min(lowest);
    }
    wanted
}
