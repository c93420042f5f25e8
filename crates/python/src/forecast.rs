//! What a model says of a study, for Python: predictions, and which parameters matter.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wimble::forecast::Forecast;
use wimble::importance::{Estimate, Importance, Share};

/// An estimate: mean, low and high.
type EstimateGiven = (f64, f64, f64);
/// For each parameter its name and two estimates, alone and in total; then how well the model predicts, and how many trials
/// it was fitted to.
pub type ImportanceGiven = (Vec<(String, EstimateGiven, EstimateGiven)>, f64, usize);

/// A forecast as a dictionary with the fields of `wimble.Forecast`.
pub fn describe<'py>(py: Python<'py>, forecast: &Forecast) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("mean", forecast.mean)?;
    fields.set_item("deviation", forecast.deviation)?;
    fields.set_item("success", forecast.success)?;
    if let Some(good) = &forecast.good {
        fields.set_item("threshold", good.threshold)?;
        fields.set_item("good", good.probability)?;
        fields.set_item("good_upper_bound", good.upper_bound)?;
    }
    Ok(fields)
}

/// What each parameter does.
pub fn importance(found: Importance) -> ImportanceGiven {
    let estimate = |estimate: Estimate| (estimate.mean, estimate.low, estimate.high);
    let share = |share: Share| (share.name, estimate(share.alone), estimate(share.total));
    (found.shares.into_iter().map(share).collect(), found.explained, found.trials)
}
