//! Search spaces, made of dictionaries that describe dimensions.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use wimble::space::{Dimension, Kind, Prior, Scale, SearchSpace, Value};

use crate::error::of_engine;
use crate::value::{from_value, to_configuration, to_value};

/// A search space.
#[pyclass(frozen, module = "wimble._wimble")]
pub struct Space(pub SearchSpace);

#[pymethods]
impl Space {
    /// From dimensions as dictionaries: `name`, `type` and what belongs to the type.
    #[new]
    #[pyo3(signature = (dimensions, *, known = vec![], repeats = false))]
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes the list from what Python gives")]
    fn new(
        py: Python<'_>,
        dimensions: Vec<Bound<'_, PyDict>>,
        known: Vec<String>,
        repeats: bool,
    ) -> PyResult<Self> {
        let dimensions: PyResult<Vec<Dimension>> = dimensions.iter().map(dimension).collect();
        let space = SearchSpace::new(dimensions?).and_then(|space| space.known(known));
        Ok(Self(space.map_err(|error| of_engine(py, &error))?.allow_repeats(repeats)))
    }

    /// The constraints known beforehand, as written.
    #[getter]
    fn known(&self) -> Vec<String> {
        self.0.known_constraints().to_vec()
    }

    /// The dimensions, as they were given.
    fn dimensions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for dimension in self.0.dimensions() {
            list.append(describe(py, dimension)?)?;
        }
        Ok(list)
    }

    /// Whether a configuration may be suggested again.
    #[getter]
    fn repeats(&self) -> bool {
        self.0.repeats()
    }

    /// How many configurations there are; None if there is a real dimension.
    #[getter]
    fn cardinality(&self) -> Option<u128> {
        self.0.cardinality()
    }

    /// Refuses a configuration that is none of this space.
    fn check(&self, py: Python<'_>, params: &Bound<'_, PyDict>) -> PyResult<()> {
        let configuration = to_configuration(params)?;
        let encoded = self.0.encode(&configuration);
        let checked = encoded.and_then(|_| self.0.check_known(&configuration));
        checked.map_err(|error| of_engine(py, &error))
    }
}

/// A dimension from its description.
fn dimension(given: &Bound<'_, PyDict>) -> PyResult<Dimension> {
    let field = |name: &str| -> PyResult<Bound<'_, PyAny>> {
        let missing = || PyKeyError::new_err(format!("a dimension needs `{name}`"));
        given.get_item(name)?.ok_or_else(missing)
    };
    let values = |object: &Bound<'_, PyAny>| -> PyResult<Vec<Value>> {
        object.try_iter()?.map(|value| to_value(&value?)).collect()
    };
    let name: String = field("name")?.extract()?;
    let scale = match given.get_item("log")? {
        Some(log) if log.extract()? => Scale::Log,
        _ => Scale::Linear,
    };
    let kind = match field("type")?.extract::<String>()?.as_str() {
        "real" => Kind::Real {
            low: number(&name, "low", &field("low")?)?,
            high: number(&name, "high", &field("high")?)?,
            scale,
        },
        "integer" => Kind::Integer {
            low: whole(&name, "low", &field("low")?)?,
            high: whole(&name, "high", &field("high")?)?,
            scale,
            step: match given.get_item("step")? {
                Some(step) => whole(&name, "step", &step)?,
                None => 1,
            },
        },
        "boolean" => Kind::Boolean,
        "categorical" => Kind::Categorical { choices: values(&field("choices")?)? },
        "ordinal" => Kind::Ordinal { levels: values(&field("levels")?)? },
        "shares" => Kind::Shares { of: field("of")?.extract()? },
        other => return Err(PyValueError::new_err(format!("there is no type `{other}`"))),
    };
    let is_real = matches!(kind, Kind::Real { .. });
    let mut dimension = Dimension::new(name, kind);
    if let Some(step) = given.get_item("step")?.filter(|step| is_real && !step.is_none()) {
        let step = number(&dimension.name, "step", &step)?;
        dimension = dimension.step(step);
    }
    if let Some(prior) = given.get_item("prior")?.filter(|prior| !prior.is_none()) {
        let (at, spread): (Bound<'_, PyAny>, Option<f64>) = prior.extract()?;
        let mut prior = Prior::at(to_value(&at)?);
        prior.spread = spread.unwrap_or(prior.spread);
        dimension = dimension.prior(prior);
    }
    Ok(match given.get_item("when")? {
        Some(when) if !when.is_none() => {
            let (parent, of): (String, Bound<'_, PyAny>) = when.extract()?;
            dimension.when(parent, values(&of)?)
        }
        _ => dimension,
    })
}

fn number(name: &str, field: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let refuse = || wrong(name, field, given, "a number");
    to_value(given).map_err(|_| refuse())?.as_real().ok_or_else(refuse)
}

fn whole(name: &str, field: &str, given: &Bound<'_, PyAny>) -> PyResult<i64> {
    let refuse = || wrong(name, field, given, "an integer");
    to_value(given).map_err(|_| refuse())?.as_integer().ok_or_else(refuse)
}

fn wrong(name: &str, field: &str, given: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let shown = given.repr().map_or_else(|_| "…".to_owned(), |text| text.to_string());
    PyTypeError::new_err(format!("{name}.{field} is {shown}, but must be {allowed}"))
}

/// The description of a dimension.
fn describe<'py>(py: Python<'py>, dimension: &Dimension) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let listed = |values: &[Value]| -> PyResult<Vec<Bound<'py, PyAny>>> {
        values.iter().map(|value| from_value(py, value)).collect()
    };
    fields.set_item("name", &dimension.name)?;
    let kind = match &dimension.kind {
        Kind::Real { low, high, scale } => {
            fields.set_item("low", low)?;
            fields.set_item("high", high)?;
            fields.set_item("log", *scale == Scale::Log)?;
            "real"
        }
        Kind::Integer { low, high, scale, step } => {
            fields.set_item("low", low)?;
            fields.set_item("high", high)?;
            fields.set_item("log", *scale == Scale::Log)?;
            fields.set_item("step", step)?;
            "integer"
        }
        Kind::Boolean => "boolean",
        Kind::Categorical { choices } => {
            fields.set_item("choices", listed(choices)?)?;
            "categorical"
        }
        Kind::Ordinal { levels } => {
            fields.set_item("levels", listed(levels)?)?;
            "ordinal"
        }
        Kind::Shares { of } => {
            fields.set_item("of", of)?;
            "shares"
        }
    };
    fields.set_item("type", kind)?;
    if let Some(prior) = &dimension.prior {
        fields.set_item("prior", (from_value(py, &prior.at)?, prior.spread))?;
    }
    if let Some(condition) = &dimension.condition {
        fields.set_item("when", (&condition.parent, listed(&condition.values)?))?;
    }
    Ok(fields)
}
