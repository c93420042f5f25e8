//! The columns of a step.

use wimble::outcome::Measurement;

use super::{Cell, Cells, Read, columns, json, real, text, time, whole};
use crate::error::{Error, Result};
use crate::step::Step;

/// What the cells of a step are made of.
struct Parts<'t> {
    step: &'t Step,
    /// A measurement that is more than a number, without its fidelity.
    measurement: Option<String>,
}

columns! {
    /// The columns of a step, without the study that it belongs to.
    Column of it: Parts<'t>;
    Trial "trial" = it.step.trial;
    Fidelity "fidelity" = it.step.fidelity();
    Sequence "sequence" = it.step.sequence;
    At "at" = it.step.at;
    Value "value" = it.step.measurement.value();
    Measurement "measurement" = it.measurement;
}

/// The cells of a step, in the order of [`Column`].
pub(in crate::store) fn write(step: &Step) -> Vec<Cell<'_>> {
    let bare = Measurement { fidelity: None, ..step.measurement.clone() };
    let measurement = bare.as_number().is_none().then(|| serde_json::json!(bare).to_string());
    cells(Parts { step, measurement })
}

/// The step in a row whose columns are those of [`Column`], in their order.
pub(in crate::store) fn read(study: &str, row: &impl Cells) -> Result<Step> {
    let trial = whole(row, Column::Trial).map_err(|error| Error::corrupt(study, "step", error))?;
    let what = || format!("step of trial {trial}");
    step_of(row, trial).map_err(|error| Error::corrupt(study, what(), error))
}

fn step_of(row: &impl Cells, trial: u64) -> Read<Step> {
    let bare: Measurement = match text(row, Column::Measurement)? {
        Some(_) => json(row, Column::Measurement)?,
        None => real(row, Column::Value)?.into(),
    };
    let fidelity = Some(real(row, Column::Fidelity)?);
    Ok(Step {
        trial,
        measurement: Measurement { fidelity, ..bare },
        sequence: whole(row, Column::Sequence)?,
        at: time(row, Column::At)?,
    })
}
