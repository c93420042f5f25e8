//! Stored trials as dictionaries.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wimble::goal::Goal;
use wimble::outcome::Outcome;
use wimble::space::SearchSpace;
use wimble_study::store::OutcomeKind;
use wimble_study::{Counts, Filter, Origin, Stage, State, Token, Trial};

use crate::error::raise;
use crate::value::{from_configuration, from_json};

/// The state of a trial in a word.
pub fn state(goal: &Goal, trial: &Trial) -> &'static str {
    match (&trial.state, trial.outcome()) {
        (State::Queued(_), _) => "queued",
        (State::Running(_), _) => "running",
        (State::Paused(_), _) => "paused",
        (_, Some(Outcome::Measured(told))) if goal.part(told).is_some() => "stopped",
        (_, Some(Outcome::Measured(_))) => "complete",
        (_, Some(Outcome::Infeasible)) => "infeasible",
        (_, Some(Outcome::Failed(_)) | None) => "failed",
    }
}

/// How many trials are in which state, by name. Only studies with a fidelity have paused ones.
pub fn counts<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    for (name, count) in [
        ("queued", counts.queued),
        ("running", counts.running),
        ("complete", counts.valued),
        ("failed", counts.failed),
        ("infeasible", counts.infeasible),
    ] {
        fields.set_item(name, count)?;
    }
    if counts.paused > 0 {
        fields.set_item("paused", counts.paused)?;
    }
    Ok(fields)
}

/// Which trials a word for their state means; `None` if no trial of the study can be so. The error names the words.
pub fn filter(goal: &Goal, state: Option<&str>) -> Result<Option<Filter>, String> {
    let (stage, outcome) = match state {
        None => (None, None),
        Some("queued") => (Some(Stage::Queued), None),
        Some("running") => (Some(Stage::Running), None),
        Some("paused") => (Some(Stage::Paused), None),
        Some("finished") => (Some(Stage::Finished), None),
        Some("stopped") if goal.partial().is_none() => return Ok(None),
        Some("complete" | "stopped") => (None, Some(OutcomeKind::Value)),
        Some("failed") => (None, Some(OutcomeKind::Failed)),
        Some("infeasible") => (None, Some(OutcomeKind::Infeasible)),
        Some(other) => {
            let states = "queued, running, paused, finished, complete, stopped, failed, infeasible";
            return Err(format!("there is no state {other:?}; the states are {states}"));
        }
    };
    Ok(Some(Filter { stage, outcome, ..Filter::default() }))
}

/// A trial as a dictionary with the fields of `wimble.Trial`.
pub fn describe<'py>(
    py: Python<'py>,
    space: &SearchSpace,
    goal: &Goal,
    trial: &Trial,
) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("number", trial.id)?;
    fields.set_item("params", from_configuration(py, space, &trial.configuration)?)?;
    fields.set_item("state", state(goal, trial))?;
    let told = trial.outcome().and_then(Outcome::measurement);
    if let Some(fidelity) = told.and_then(|told| goal.part(told)) {
        fields.set_item("fidelity", fidelity)?;
    }
    fields.set_item(
        "origin",
        match trial.origin {
            Origin::Proposed => "proposed",
            Origin::Enqueued => "enqueued",
            Origin::Imported => "imported",
        },
    )?;
    fields.set_item("attempt", trial.lost + 1)?;
    if let Some(worker) = trial.worker() {
        fields.set_item("worker", worker)?;
    }
    if let Some(started) = trial.started() {
        fields.set_item("started", started.0 as f64 / 1e3)?;
    }
    if let Some(finished) = trial.finished() {
        fields.set_item("finished", finished.0 as f64 / 1e3)?;
    }
    match trial.outcome() {
        Some(Outcome::Measured(measurement)) => {
            let (values, deviations) = (PyDict::new(py), PyDict::new(py));
            let objectives = goal.objectives().iter().map(|o| &o.name);
            let constraints = goal.constraints().iter().map(|c| &c.name);
            let measured = measurement.objectives.iter().chain(&measurement.constraints);
            for (name, measured) in objectives.chain(constraints).zip(measured) {
                values.set_item(name, measured.value)?;
                if let Some(deviation) = measured.deviation {
                    deviations.set_item(name, deviation)?;
                }
            }
            fields.set_item("values", values)?;
            fields.set_item("deviations", deviations)?;
        }
        Some(Outcome::Failed(failure)) => {
            fields.set_item("reason", &failure.reason)?;
            fields.set_item("output", &failure.output)?;
        }
        Some(Outcome::Infeasible) | None => {}
    }
    if let Some(attributes) = trial.attributes() {
        let kept = PyDict::new(py);
        for (name, value) in attributes.iter() {
            kept.set_item(name, from_json(py, value)?)?;
        }
        fields.set_item("attributes", kept)?;
    }
    Ok(fields)
}

/// The right to tell a trial, from its text.
pub fn read_token(py: Python<'_>, text: &str) -> PyResult<Token> {
    let numbers = text.split_once('.').and_then(|(trial, fence)| {
        Some(Token { trial: trial.parse().ok()?, fence: fence.parse().ok()? })
    });
    numbers.ok_or_else(|| {
        let message =
            format!("the token is {text:?}, but must be one that `ask` gave, such as \"12.40\"");
        raise(py, "InvalidError", &message)
    })
}
