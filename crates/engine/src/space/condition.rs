//! A condition: when a dimension exists at all.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::value::{Value, list};

/// Active only where `parent`, itself active, has one of `values`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The name of a discrete dimension declared before.
    pub parent: String,
    /// The values of the parent that call for this dimension; at least one.
    pub values: Vec<Value>,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values[..] {
            [value] => write!(f, "`{}` is {}", self.parent, value.quoted()),
            values => write!(f, "`{}` is one of {}", self.parent, list(values)),
        }
    }
}
