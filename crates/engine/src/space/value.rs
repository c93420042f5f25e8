//! A value: what a configuration gives one dimension.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A boolean, a number or a text. Equality is that of Rust: `Integer(1)` and `Real(1.0)` differ, two reals
/// are equal when `==` says so. Where a search space reads a value it is more lenient: see
/// [`Value::as_real`] and [`Value::as_integer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a boolean, a number or a text")]
pub enum Value {
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text.
    Text(String),
}

/// Up to here every whole number is a real number of its own.
const EXACT: f64 = (1_u64 << 53) as f64;

impl Value {
    /// The boolean, if it is one.
    pub fn as_boolean(&self) -> Option<bool> {
        match *self {
            Self::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// The number as a whole one. `3.0` counts as 3, because writers of JSON make no difference.
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Self::Integer(value) => Some(value),
            Self::Real(value) if value.fract() == 0.0 && value.abs() <= EXACT => Some(value as i64),
            _ => None,
        }
    }

    /// The number as a real one. `3` counts as 3.0.
    pub fn as_real(&self) -> Option<f64> {
        match *self {
            Self::Integer(value) => Some(value as f64),
            Self::Real(value) => Some(value),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What makes two choices the same: numbers by their value, everything else by kind and value.
    pub(super) fn key(&self) -> Key<'_> {
        match self {
            Self::Boolean(value) => Key::Boolean(*value),
            Self::Text(text) => Key::Text(text),
            Self::Integer(value) => Key::Integer(*value),
            Self::Real(value) => self.as_integer().map_or(Key::Real(value.to_bits()), Key::Integer),
        }
    }

    /// As an error message shows it: texts in quotes, so that `"1"` is seen not to be 1.
    pub(super) fn quoted(&self) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            other => other.to_string(),
        }
    }
}

/// See [`Value::key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key<'v> {
    Boolean(bool),
    Integer(i64),
    Real(u64),
    Text(&'v str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            // The form of `Debug` is the shortest that reads back exactly: 1e-300 without 300 zeros.
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Several values, as an error message shows them. Long lists are cut.
pub(super) fn list(values: &[Value]) -> String {
    const SHOWN: usize = 12;
    let mut shown: Vec<String> = values.iter().take(SHOWN).map(Value::quoted).collect();
    if values.len() > SHOWN {
        shown.push(format!("and {} more", values.len() - SHOWN));
    }
    format!("[{}]", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_kinds_apart_and_values_exact() {
        let values = [
            Value::Boolean(true),
            Value::Integer(-3),
            Value::Integer(i64::MAX),
            Value::Real(1.0),
            Value::Real(0.1 + 0.2),
            Value::Real(1e-300),
            Value::from("1"),
            Value::from("true"),
        ];
        let text = serde_json::to_string(&values).unwrap();
        assert_eq!(
            text,
            r#"[true,-3,9223372036854775807,1.0,0.30000000000000004,1e-300,"1","true"]"#
        );
        assert_eq!(serde_json::from_str::<Vec<Value>>(&text).unwrap(), values);
        let error = serde_json::from_str::<Value>("[1]").unwrap_err().to_string();
        assert!(error.contains("a boolean, a number or a text"), "{error}");
    }

    #[test]
    fn numbers_cross_over_only_where_nothing_is_lost() {
        assert_eq!(Value::Real(3.0).as_integer(), Some(3));
        assert_eq!(Value::Real(-0.0).as_integer(), Some(0));
        for value in [3.5, 1e17, f64::NAN, f64::INFINITY] {
            assert_eq!(Value::Real(value).as_integer(), None);
        }
        assert_eq!(Value::Integer(3).as_real(), Some(3.0));
        assert_eq!(Value::from("3").as_real(), None);
        assert_eq!(Value::Boolean(true).as_integer(), None);
        assert_eq!(Value::Real(3.0).key(), Value::Integer(3).key());
        assert_ne!(Value::from("3").key(), Value::Integer(3).key());
    }

    #[test]
    fn values_print_short_and_long_lists_are_cut() {
        assert_eq!(Value::Real(1e-300).to_string(), "1e-300");
        assert_eq!(Value::Integer(1).to_string(), "1");
        assert_eq!(Value::from("x").to_string(), "x");
        let many: Vec<Value> = (0..20).map(Value::from).collect();
        assert!(list(&many).ends_with("11, and 8 more]"));
    }
}
