//! Errors as exceptions: the class that fits, the message, and the facts as attributes.
//!
//! The classes are written in Python (`wimble/_errors.py`), where a reader finds them beside each other.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An exception of a class of `wimble._errors`.
struct Raised {
    class: &'static str,
    facts: Vec<(&'static str, Fact)>,
}

/// A fact about an error.
enum Fact {
    Text(String),
    Whole(u64),
    Real(f64),
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Fact {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<u64> for Fact {
    fn from(whole: u64) -> Self {
        Self::Whole(whole)
    }
}

impl Raised {
    fn new(class: &'static str) -> Self {
        Self { class, facts: Vec::new() }
    }

    fn with(mut self, name: &'static str, fact: impl Into<Fact>) -> Self {
        self.facts.push((name, fact.into()));
        self
    }

    fn into_err(self, py: Python<'_>, message: &str) -> PyErr {
        let raise = || -> PyResult<PyErr> {
            let facts = PyDict::new(py);
            for (name, fact) in &self.facts {
                match fact {
                    Fact::Text(text) => facts.set_item(name, text)?,
                    Fact::Whole(whole) => facts.set_item(name, whole)?,
                    Fact::Real(real) => facts.set_item(name, real)?,
                }
            }
            let class = py.import("wimble._errors")?.getattr(self.class)?;
            Ok(PyErr::from_value(class.call1((message, facts))?))
        };
        raise().unwrap_or_else(|error| error)
    }
}

/// An exception of a class without facts.
pub fn raise(py: Python<'_>, class: &'static str, message: &str) -> PyErr {
    Raised::new(class).into_err(py, message)
}

/// What the engine refused.
pub fn of_engine(py: Python<'_>, error: &wimble::Error) -> PyErr {
    engine(error).into_err(py, &error.to_string())
}

/// What a study or its storage refused.
pub fn of_study(py: Python<'_>, error: &wimble_study::Error) -> PyErr {
    study(error).into_err(py, &error.to_string())
}

fn engine(error: &wimble::Error) -> Raised {
    use wimble::Error::*;
    match error {
        Invalid { field, value, allowed } => Raised::new("InvalidError")
            .with("field", field)
            .with("value", value)
            .with("allowed", allowed),
        MissingValue { dimension, allowed } => {
            Raised::new("MissingValueError").with("dimension", dimension).with("allowed", allowed)
        }
        UnexpectedValue { dimension, reason } => {
            Raised::new("UnexpectedValueError").with("dimension", dimension).with("reason", reason)
        }
        Exhausted { requested, .. } => {
            Raised::new("ExhaustedError").with("requested", *requested as u64)
        }
        NonFinite { trial, value } => {
            Raised::new("NonFiniteError").with("trial", *trial).with("value", Fact::Real(*value))
        }
        Measurement { trial, reason } => {
            Raised::new("MeasurementError").with("trial", *trial).with("reason", reason)
        }
        Unserved { method, goal, serving, .. } => Raised::new("UnservedError")
            .with("method", *method)
            .with("goal", goal)
            .with("serving", serving),
        UnknownTrial { trial, issued } => {
            Raised::new("UnknownTrialError").with("trial", *trial).with("issued", *issued)
        }
        AlreadyTold { trial, outcome } => {
            Raised::new("AlreadyToldError").with("trial", *trial).with("outcome", outcome)
        }
        NotPositiveDefinite { .. } | Diverged { .. } | MissingAssumption { .. } => {
            Raised::new("ModelError")
        }
        Expression { constraint, .. } | Violates { constraint, .. } => {
            Raised::new("InvalidError").with("field", "known").with("value", constraint)
        }
        Contradiction { constraints } | NothingLegal { constraints, .. } => {
            let value = constraints.join("; ");
            Raised::new("InvalidError").with("field", "known").with("value", &value)
        }
        NothingFree { .. } => Raised::new("ExhaustedError"),
        Corrupt { .. } => Raised::new("CorruptError"),
        _ => Raised::new("Error"),
    }
}

fn study(error: &wimble_study::Error) -> Raised {
    use wimble_study::Error::*;
    match error {
        Engine(source) => engine(source),
        Proposal { study, source, .. } => engine(source).with("study", study),
        Recommendation { study, source }
        | Prediction { study, source }
        | Importance { study, source } => engine(source).with("study", study),
        Invalid { study, field, value, allowed } => Raised::new("InvalidError")
            .with("study", study)
            .with("field", *field)
            .with("value", value)
            .with("allowed", allowed),
        UnknownStudy { study } => Raised::new("UnknownStudyError").with("study", study),
        Paused { study } => Raised::new("PausedError").with("study", study),
        Replaced { study } => Raised::new("ReplacedError").with("study", study),
        UnknownTrial { study, trial, issued } => Raised::new("UnknownTrialError")
            .with("study", study)
            .with("trial", *trial)
            .with("issued", *issued),
        Address { address, reason } => {
            Raised::new("AddressError").with("address", address).with("reason", reason)
        }
        Differs { study, differences } => {
            Raised::new("DiffersError").with("study", study).with("differences", differences)
        }
        LaterFormat { .. } | LaterSchema { .. } => Raised::new("LaterVersionError"),
        LeaseLost { study, token, reason } => Raised::new("LeaseLostError")
            .with("study", study)
            .with("trial", token.trial)
            .with("reason", reason),
        AlreadyTold { study, trial, outcome } => Raised::new("AlreadyToldError")
            .with("study", study)
            .with("trial", *trial)
            .with("outcome", outcome),
        UnknownToken { study, token, issued } => Raised::new("UnknownTrialError")
            .with("study", study)
            .with("trial", token.trial)
            .with("issued", *issued),
        KeyReused { study, key, .. } => {
            Raised::new("KeyReusedError").with("study", study).with("key", key)
        }
        NonFinite { study, trial, value } => Raised::new("NonFiniteError")
            .with("study", study)
            .with("trial", *trial)
            .with("value", Fact::Real(*value)),
        Busy { place, .. } => Raised::new("BusyError").with("place", place),
        Backend { place, doing, .. } => {
            Raised::new("StorageError").with("place", place).with("doing", *doing)
        }
        Exchange { .. } => Raised::new("ExchangeError"),
        Corrupt { study, .. } => Raised::new("CorruptError").with("study", study),
        _ => Raised::new("Error"),
    }
}
