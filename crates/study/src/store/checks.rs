//! Checks of arguments that are the same for every back end, and the form in which outcomes are stored.

use super::{Ask, Resume, Tell};
use wimble::outcome::{Failure, Measured, Measurement, Outcome};

use crate::addition::Addition;
use crate::error::{Error, Result};
use crate::settings::check_name;

/// More trials than anybody asks for on purpose.
pub(super) const LARGEST_ASK: usize = 10_000;
/// What is kept of a reason and of output, in bytes.
const LONGEST_REASON: usize = 2 << 10;
const LONGEST_OUTPUT: usize = 16 << 10;

/// Refuses names and numbers that no ask can have.
pub(super) fn check_ask(study: &str, ask: &Ask<'_>) -> Result<()> {
    check_name(study, "worker", ask.worker)?;
    if let Some(incarnation) = ask.incarnation {
        check_name(study, "incarnation", incarnation)?;
    }
    check_name(study, "client key", ask.key)?;
    if !(1..=LARGEST_ASK).contains(&ask.wanted) {
        let most = LARGEST_ASK as u64;
        return Err(invalid(study, "number of trials asked for", ask.wanted, most));
    }
    Ok(())
}

/// Refuses names that no worker can have.
pub(super) fn check_resume(study: &str, resume: &Resume<'_>) -> Result<()> {
    check_name(study, "worker", resume.worker)?;
    check_name(study, "incarnation", resume.incarnation)?;
    resume.formerly.iter().try_for_each(|earlier| check_name(study, "incarnation", earlier))
}

/// Refuses names and attributes that no tell can have.
pub(super) fn check_tell(study: &str, tell: &Tell<'_>) -> Result<()> {
    check_name(study, "client key", tell.key)?;
    tell.attributes.check(study)
}

/// Refuses names that no addition can have.
pub(super) fn check_additions(study: &str, additions: &[Addition]) -> Result<()> {
    for addition in additions {
        check_name(study, "key of an addition", &addition.key)?;
        if let Some(worker) = &addition.worker {
            check_name(study, "worker of an addition", worker)?;
        }
        addition.attributes.check(study)?;
    }
    Ok(())
}

/// An outcome in the form that every back end can hold: finite values, no negative zero, no zero bytes, texts of
/// limited length.
pub(super) fn storable(study: &str, trial: u64, outcome: &Outcome) -> Result<Outcome> {
    Ok(match outcome {
        Outcome::Measured(measurement) => {
            Outcome::Measured(storable_measurement(study, trial, measurement)?)
        }
        // Replaced before they are cut, so that what is storable stays as it is.
        Outcome::Failed(Failure { reason, output }) => Outcome::Failed(Failure {
            reason: beginning(&reason.replace('\0', "\u{fffd}"), LONGEST_REASON).to_owned(),
            output: end(&output.replace('\0', "\u{fffd}"), LONGEST_OUTPUT).to_owned(),
        }),
        Outcome::Infeasible => Outcome::Infeasible,
    })
}

/// Refuses a fidelity up to which no trial can go.
pub(super) fn check_until(study: &str, until: f64) -> Result<()> {
    match until > 0.0 && until.is_finite() {
        true => Ok(()),
        false => Err(Error::Invalid {
            study: study.to_owned(),
            field: "fidelity of a plan",
            value: until.to_string(),
            allowed: "a finite number above 0".to_owned(),
        }),
    }
}

/// A step in the form that every back end can hold.
pub(super) fn storable_step(study: &str, trial: u64, step: &Measurement) -> Result<Measurement> {
    let refuse = |value: String| Error::Invalid {
        study: study.to_owned(),
        field: "fidelity of a step",
        value,
        allowed: "a finite number above 0".to_owned(),
    };
    match step.fidelity {
        Some(at) if at > 0.0 && at.is_finite() => {}
        Some(at) => return Err(refuse(at.to_string())),
        None => return Err(refuse("missing".to_owned())),
    }
    storable_measurement(study, trial, step)
}

/// A measurement of which all values are finite.
fn storable_measurement(study: &str, trial: u64, measurement: &Measurement) -> Result<Measurement> {
    let Measurement { objectives, constraints, fidelity } = measurement;
    let stored = |all: &[Measured]| -> Result<Vec<Measured>> {
        all.iter().map(|measured| storable_value(study, trial, measured)).collect()
    };
    Ok(Measurement {
        objectives: stored(objectives)?,
        constraints: stored(constraints)?,
        fidelity: *fidelity,
    })
}

/// A measured value that is finite. −0 + 0 is +0, and SQLite knows no other.
fn storable_value(study: &str, trial: u64, measured: &Measured) -> Result<Measured> {
    let Measured { value, deviation } = *measured;
    match deviation {
        _ if !value.is_finite() => Err(Error::NonFinite { study: study.to_owned(), trial, value }),
        Some(deviation) if !(deviation >= 0.0 && deviation.is_finite()) => Err(Error::Invalid {
            study: study.to_owned(),
            field: "deviation",
            value: deviation.to_string(),
            allowed: "finite and not negative".to_owned(),
        }),
        _ => Ok(Measured { value: value + 0.0, deviation }),
    }
}

/// That a number is not between 1 and `most`.
pub(super) fn invalid(
    study: &str,
    field: &'static str,
    value: impl std::fmt::Display,
    most: u64,
) -> Error {
    let (study, value) = (study.to_owned(), value.to_string());
    Error::Invalid { study, field, value, allowed: format!("from 1 to {most}") }
}

/// The first characters of a text, `most` bytes at most.
fn beginning(text: &str, most: usize) -> &str {
    let cut = (0..=most.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
    &text[..cut.unwrap_or(0)]
}

/// The last characters of a text, `most` bytes at most.
fn end(text: &str, most: usize) -> &str {
    let cut = (text.len().saturating_sub(most)..).find(|&at| text.is_char_boundary(at));
    &text[cut.unwrap_or(text.len())..]
}
