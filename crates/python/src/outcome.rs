//! Outcomes between Python and Rust.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use wimble::goal::Goal;
use wimble::outcome::{Failure, Outcome};

use crate::goal::{MeasuredGiven, measurement};

/// An outcome as the Python layer gives it.
#[derive(FromPyObject)]
pub enum Given {
    /// Values by name.
    Measured(BTreeMap<String, MeasuredGiven>),
    /// The reason of a failure, and the end of what was printed.
    Failed((String, String)),
    /// `True`: the configuration cannot be evaluated.
    Infeasible(#[allow(dead_code, reason = "being there says it")] bool),
}

/// An outcome under a goal.
pub fn outcome(py: Python<'_>, goal: &Goal, given: Given) -> PyResult<Outcome> {
    Ok(match given {
        Given::Measured(values) => measurement(py, goal, values)?.into(),
        Given::Failed((reason, output)) => Failure { reason, output }.into(),
        Given::Infeasible(_) => Outcome::Infeasible,
    })
}
