//! Values between Python and Rust: those of configurations, and JSON.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value as Json};
use wimble::space::{Configuration, SearchSpace, Value};
use wimble_study::Attributes;

/// A value of a configuration. Scalars of NumPy are taken for what they hold.
pub fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(Value::Boolean(boolean.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        let whole = object.extract().map_err(|_| {
            PyValueError::new_err(format!("{object} is too large: an integer has at most 64 bits"))
        });
        return whole.map(Value::Integer);
    }
    if let Ok(real) = object.cast::<PyFloat>() {
        return Ok(Value::Real(real.value()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_owned()));
    }
    match scalar(object)? {
        Some(inner) => to_value(&inner),
        None => Err(PyTypeError::new_err(format!(
            "{} is a {}, but must be a bool, an int, a float or a str",
            object.repr()?,
            object.get_type().name()?
        ))),
    }
}

/// What a scalar of NumPy, or an array of no dimension, holds.
fn scalar<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_scalar = object
        .getattr_opt("shape")?
        .and_then(|shape| shape.cast_into::<PyTuple>().ok())
        .is_some_and(|shape| shape.is_empty());
    if !is_scalar || !object.hasattr("item")? {
        return Ok(None);
    }
    let inner = object.call_method0("item")?;
    Ok((!inner.is(object)).then_some(inner))
}

/// A value of a configuration for Python.
pub fn from_value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Real(value) => PyFloat::new(py, *value).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
    })
}

/// A configuration from a dictionary.
pub fn to_configuration(params: &Bound<'_, PyDict>) -> PyResult<Configuration> {
    let mut configuration = Configuration::new();
    for (name, value) in params {
        configuration.insert(name.extract::<String>()?, to_value(&value)?);
    }
    Ok(configuration)
}

/// A configuration as a dictionary, in the order of the space.
pub fn from_configuration<'py>(
    py: Python<'py>,
    space: &SearchSpace,
    configuration: &Configuration,
) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    for parameter in space.parameters() {
        if let Some(value) = configuration.get(parameter.name) {
            params.set_item(parameter.name, from_value(py, value)?)?;
        }
    }
    Ok(params)
}

/// JSON from what `json.dumps` accepts, and scalars of NumPy. Numbers that JSON cannot hold are refused.
pub fn to_json(object: &Bound<'_, PyAny>) -> PyResult<Json> {
    if object.is_none() {
        return Ok(Json::Null);
    }
    if let Ok(pairs) = object.cast::<PyDict>() {
        let mut map = Map::new();
        for (name, value) in pairs {
            map.insert(name.extract()?, to_json(&value)?);
        }
        return Ok(Json::Object(map));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let items: PyResult<Vec<Json>> = object.try_iter()?.map(|item| to_json(&item?)).collect();
        return Ok(Json::Array(items?));
    }
    Ok(match to_value(object)? {
        Value::Boolean(value) => Json::Bool(value),
        Value::Integer(value) => Json::Number(value.into()),
        Value::Real(value) => Json::Number(
            Number::from_f64(value)
                .ok_or_else(|| PyValueError::new_err(format!("{value} is not finite")))?,
        ),
        Value::Text(text) => Json::String(text),
    })
}

/// JSON for Python.
pub fn from_json<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_pyobject(py)?.into_any(),
            None => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(from_json(py, item)?)?;
            }
            list.into_any()
        }
        Json::Object(pairs) => {
            let dict = PyDict::new(py);
            for (name, value) in pairs {
                dict.set_item(name, from_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Attributes from a dictionary. One that JSON cannot hold is named.
pub fn to_attributes(given: Option<&Bound<'_, PyDict>>) -> PyResult<Attributes> {
    let Some(given) = given else { return Ok(Attributes::default()) };
    let attribute = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let json = to_json(&value).map_err(|error| {
            let (class, reason) = (error.get_type(value.py()), error.value(value.py()));
            PyErr::from_type(class, format!("the attribute `{name}` cannot be kept: {reason}"))
        });
        Ok((name, json?))
    };
    given.iter().map(attribute).collect()
}
