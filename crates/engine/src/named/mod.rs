//! Names that a user writes: what they stand for, and the nearest name if one is unknown.
//!
//! A method, a classifier or a batch rule declares its name and one line about it in its own file ([`Named`]). The tables
//! of `strategy/spec/table.rs` collect them; parsing, printing, listing and error messages all read these tables.

pub(crate) mod serde_words;
pub(crate) mod spelling;

use crate::error::Error;
use spelling::nearest;

/// Settings that a user chooses by name.
pub trait Named: 'static {
    /// The name as users write it: lower case, words joined by `-`.
    const NAME: &'static str;
    /// What it is, in one line, as `wimble methods` lists it.
    const DESCRIPTION: &'static str;
}

/// A name that a user writes, and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// As it is written.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
}

impl Name {
    /// The name that `T` declares.
    pub const fn of<T: Named>() -> Self {
        Self { name: T::NAME, description: T::DESCRIPTION }
    }
}

/// The error for a name that is none of `legal`: it lists them and points at the nearest.
pub(crate) fn unknown<'n>(field: &str, given: &str, legal: impl Iterator<Item = &'n str>) -> Error {
    let legal: Vec<&str> = legal.collect();
    let hint = nearest(given, legal.iter().copied())
        .map_or(String::new(), |name| format!("; the nearest is `{name}`"));
    Error::invalid(field, format!("`{given}`"), format!("one of {}{hint}", legal.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_legal_ones_and_the_nearest() {
        let error = unknown("method", "boer++", ["auto", "bore", "bore++"].into_iter()).to_string();
        assert_eq!(
            error,
            "method is `boer++`, but must be one of auto, bore, bore++; the nearest is `bore++`"
        );
    }
}
