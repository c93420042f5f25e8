//! The kind of a dimension: which values it takes, and how they lie on a line.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::shares;
use super::value::{Value, list};
use crate::error::{Error, Result};

/// Most levels of an integer dimension: with more, the bins of the unit interval are too narrow for the
/// rounding of (i + ½)/n · n.
const MOST_LEVELS: u64 = 1 << 48;

/// Largest magnitude of an integer bound: beyond it f64 has no room for every integer.
const LARGEST_INTEGER: u64 = 1 << 53;

/// Largest bound of an integer on a log scale. There exp(ln v) is wrong by less than 4 units in the last
/// place of ln 2⁴⁰, or 2⁻⁴⁶ of v: never half an integer.
const LARGEST_LOG_INTEGER: i64 = 1 << 40;

/// How the values of a number lie on the unit interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart; bounds must be positive.
    Log,
}

/// The values of a dimension.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The real numbers from `low` to `high`, both included.
    Real {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
        /// How they lie on the unit interval.
        scale: Scale,
    },
    /// `low`, `low + step`, … up to and at most `high`.
    Integer {
        /// The lowest.
        low: i64,
        /// No value is higher.
        high: i64,
        /// How they lie on the unit interval.
        scale: Scale,
        /// From one to the next; 1 on a log scale.
        step: i64,
    },
    /// True or false.
    Boolean,
    /// Choices without order.
    Categorical {
        /// At least two, all different.
        choices: Vec<Value>,
    },
    /// Levels in order, such as small, medium, large.
    Ordinal {
        /// At least two, all different.
        levels: Vec<Value>,
    },
    /// Parts of a whole: real numbers from 0 to 1 that sum to one. Each part is a parameter with a name of its own.
    Shares {
        /// The names of the parts: two at least, 64 at most, all different.
        of: Vec<String>,
    },
}

impl Kind {
    /// Refuses what no dimension can be. `name` is that of the dimension, for the message.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        match self {
            Self::Real { low, high, scale } => check_real(name, *low, *high, *scale),
            Self::Integer { low, high, scale, step } => {
                check_integer(name, *low, *high, *scale, *step)
            }
            Self::Boolean => Ok(()),
            Self::Categorical { choices } => check_choices(&format!("{name}.choices"), choices),
            Self::Ordinal { levels } => check_choices(&format!("{name}.levels"), levels),
            Self::Shares { of } => check_shares(&format!("{name}.of"), of),
        }
    }

    /// How many values there are; `None` for real numbers and shares.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Real { .. } | Self::Shares { .. } => None,
            Self::Integer { low, high, step, .. } => {
                Some(high.abs_diff(*low) / step.unsigned_abs() + 1)
            }
            Self::Boolean => Some(2),
            Self::Categorical { choices: values } | Self::Ordinal { levels: values } => {
                Some(values.len() as u64)
            }
        }
    }

    /// The value at a level, counted from 0 and below [`Kind::count`]. Real numbers and shares have no levels.
    pub(super) fn value(&self, level: u64) -> Value {
        match self {
            Self::Real { low, .. } => Value::Real(*low),
            Self::Shares { .. } => Value::Real(0.0),
            Self::Integer { low, step, .. } => Value::Integer(low + step * level as i64),
            Self::Boolean => Value::Boolean(level == 1),
            Self::Categorical { choices: values } | Self::Ordinal { levels: values } => {
                values[level as usize].clone()
            }
        }
    }

    /// The level of a value; `None` if the value is none of this kind's.
    pub(super) fn level(&self, value: &Value) -> Option<u64> {
        match self {
            Self::Real { .. } | Self::Shares { .. } => None,
            Self::Integer { low, high, step, .. } => {
                let value = value.as_integer().filter(|value| (low..=high).contains(&value))?;
                let above = value.abs_diff(*low);
                let step = step.unsigned_abs();
                above.is_multiple_of(step).then(|| above / step)
            }
            Self::Boolean => value.as_boolean().map(u64::from),
            Self::Categorical { choices: values } | Self::Ordinal { levels: values } => {
                let key = value.key();
                let is_same = |level: &usize| values[*level].key() == key;
                // Where the levels are numbers in order, of which there may be thousands, the place is found by halving.
                let near = value.as_real().map_or(0, |number| {
                    values.partition_point(|level| level.as_real().is_some_and(|at| at < number))
                });
                let found = Some(near).filter(|level| *level < values.len()).filter(is_same);
                found.or_else(|| (0..values.len()).find(is_same)).map(|level| level as u64)
            }
        }
    }

    /// What is accepted, in the words of an error message.
    pub(super) fn allowed(&self) -> String {
        match self {
            Self::Real { low, high, .. } => format!("a real number from {low:?} to {high:?}"),
            Self::Integer { low, high, step: 1, .. } => format!("an integer from {low} to {high}"),
            Self::Integer { low, high, step, .. } => {
                format!("an integer from {low} to {high} in steps of {step}")
            }
            Self::Boolean => "true or false".to_owned(),
            Self::Categorical { choices: values } | Self::Ordinal { levels: values } => {
                format!("one of {}", list(values))
            }
            Self::Shares { of } => format!("shares of {}, which sum to 1", of.join(", ")),
        }
    }
}

fn check_real(name: &str, low: f64, high: f64, scale: Scale) -> Result<()> {
    for (bound, value) in [("low", low), ("high", high)] {
        if !value.is_finite() {
            return Err(Error::invalid(format!("{name}.{bound}"), value, "finite"));
        }
    }
    if low >= high {
        let allowed = format!("below {name}.high, which is {high:?}");
        return Err(Error::invalid(format!("{name}.low"), Value::Real(low), allowed));
    }
    // Below the smallest normal number f64 keeps no constant relative precision, which a log scale needs.
    if scale == Scale::Log && low < f64::MIN_POSITIVE {
        let allowed = match low <= 0.0 {
            true => "positive on a log scale".to_owned(),
            false => format!("at least {:e} on a log scale", f64::MIN_POSITIVE),
        };
        return Err(Error::invalid(format!("{name}.low"), Value::Real(low), allowed));
    }
    if !(high - low).is_finite() {
        let allowed =
            format!("so close to {name}.low, which is {low:?}, that high - low is finite");
        return Err(Error::invalid(format!("{name}.high"), Value::Real(high), allowed));
    }
    Ok(())
}

fn check_integer(name: &str, low: i64, high: i64, scale: Scale, step: i64) -> Result<()> {
    for (bound, value) in [("low", low), ("high", high)] {
        if value.unsigned_abs() > LARGEST_INTEGER {
            let allowed = "from -2^53 to 2^53, where f64 holds every integer";
            return Err(Error::invalid(format!("{name}.{bound}"), value, allowed));
        }
    }
    if low >= high {
        let allowed = format!("below {name}.high, which is {high}");
        return Err(Error::invalid(format!("{name}.low"), low, allowed));
    }
    if step < 1 || step > high - low {
        let allowed = format!("from 1 to high - low, which is {}", high - low);
        return Err(Error::invalid(format!("{name}.step"), step, allowed));
    }
    if scale == Scale::Log {
        if low < 1 {
            return Err(Error::invalid(format!("{name}.low"), low, "at least 1 on a log scale"));
        }
        if high > LARGEST_LOG_INTEGER {
            let allowed = format!("at most 2^40 = {LARGEST_LOG_INTEGER} on a log scale");
            return Err(Error::invalid(format!("{name}.high"), high, allowed));
        }
        if step != 1 {
            return Err(Error::invalid(format!("{name}.step"), step, "1 on a log scale"));
        }
    }
    if (high - low) as u64 / step as u64 >= MOST_LEVELS {
        let allowed = "such that there are at most 2^48 values; raise the step";
        return Err(Error::invalid(format!("{name}.high"), high, allowed));
    }
    Ok(())
}

fn check_shares(field: &str, names: &[String]) -> Result<()> {
    if !(2..=shares::MOST).contains(&names.len()) {
        let allowed = format!("two names at least and {} at most", shares::MOST);
        return Err(Error::invalid(field, format!("{names:?}"), allowed));
    }
    for (i, name) in names.iter().enumerate() {
        let field = || format!("{field}[{i}]");
        if name.trim().is_empty() {
            return Err(Error::invalid(field(), format!("{name:?}"), "not empty"));
        }
        if names[..i].contains(name) {
            let allowed = "different from the names before it";
            return Err(Error::invalid(field(), format!("{name:?}"), allowed));
        }
    }
    Ok(())
}

fn check_choices(field: &str, values: &[Value]) -> Result<()> {
    if values.len() < 2 {
        return Err(Error::invalid(field, list(values), "at least two different values"));
    }
    let mut seen = HashSet::new();
    for (i, value) in values.iter().enumerate() {
        if value.as_real().is_some_and(|number| !number.is_finite()) {
            return Err(Error::invalid(format!("{field}[{i}]"), value, "finite"));
        }
        if !seen.insert(value.key()) {
            let allowed = "different from the values before it";
            return Err(Error::invalid(format!("{field}[{i}]"), value.quoted(), allowed));
        }
    }
    Ok(())
}
