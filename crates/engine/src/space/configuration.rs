//! A configuration: a name and a value for every active dimension.

use std::collections::{BTreeMap, btree_map};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::value::Value;
use crate::error::{Error, Result};

/// Values by name. Nothing is checked here: a [`SearchSpace`](super::SearchSpace) does so when it encodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Configuration(BTreeMap<String, Value>);

impl Configuration {
    /// No values yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a dimension.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The value of a real dimension, or of an integer one as a real number. Fails if the dimension has no value here, as an
    /// inactive one has none, or is of another kind.
    pub fn real(&self, name: &str) -> Result<f64> {
        self.value_as(name, "a number", Value::as_real)
    }

    /// The value of an integer dimension.
    pub fn integer(&self, name: &str) -> Result<i64> {
        self.value_as(name, "an integer", Value::as_integer)
    }

    /// The value of a boolean dimension.
    pub fn boolean(&self, name: &str) -> Result<bool> {
        self.value_as(name, "true or false", Value::as_boolean)
    }

    /// The value of a categorical or ordinal dimension of texts.
    pub fn text(&self, name: &str) -> Result<&str> {
        self.value_as(name, "a text", Value::as_text)
    }

    fn value_as<'c, T>(
        &'c self,
        name: &str,
        allowed: &str,
        read: impl Fn(&'c Value) -> Option<T>,
    ) -> Result<T> {
        let Some(value) = self.get(name) else {
            return Err(Error::MissingValue { dimension: name.into(), allowed: allowed.into() });
        };
        read(value).ok_or_else(|| Error::invalid(name, value, allowed))
    }

    /// Gives a dimension a value; returns the one it had.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(name.into(), value.into())
    }

    /// Names and values, ordered by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Value> {
        self.0.iter()
    }

    /// How many dimensions have a value.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Configuration {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl<'c> IntoIterator for &'c Configuration {
    type Item = (&'c String, &'c Value);
    type IntoIter = btree_map::Iter<'c, String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Configuration {
    type Item = (String, Value);
    type IntoIter = btree_map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            write!(f, "{gap}{name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_a_plain_object_in_json_and_one_line_in_print() {
        let mut configuration: Configuration = [("b", "x")].into_iter().collect();
        assert_eq!(configuration.insert("a", 1), None);
        assert_eq!(configuration.to_string(), "a=1 b=x");
        let text = serde_json::to_string(&configuration).unwrap();
        assert_eq!(text, r#"{"a":1,"b":"x"}"#);
        assert_eq!(serde_json::from_str::<Configuration>(&text).unwrap(), configuration);
        assert_eq!(configuration.len(), 2);
        assert_eq!(configuration.get("b"), Some(&Value::from("x")));
    }
    #[test]
    fn values_are_read_by_their_kind_and_a_wrong_kind_is_named() {
        let mut configuration: Configuration = [("r", 0.5)].into_iter().collect();
        configuration.insert("n", 3);
        configuration.insert("b", true);
        configuration.insert("t", "x");
        assert_eq!(configuration.real("r"), Ok(0.5));
        assert_eq!((configuration.real("n"), configuration.integer("n")), (Ok(3.0), Ok(3)));
        assert_eq!((configuration.boolean("b"), configuration.text("t")), (Ok(true), Ok("x")));
        let said = |result: Result<i64>| result.unwrap_err().to_string();
        assert_eq!(said(configuration.integer("r")), "r is 0.5, but must be an integer");
        assert_eq!(
            said(configuration.integer("m")),
            "the configuration has no value for `m`, which must be an integer"
        );
    }
}
