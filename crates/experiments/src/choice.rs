//! What a user chooses from an experiment: names from a list, and numbers.

use crate::error::{Error, Result};

/// A number that must not be zero.
pub(crate) fn positive(field: &'static str, value: usize) -> Result<usize> {
    if value > 0 {
        return Ok(value);
    }
    Err(Error::Invalid { field, value: value.to_string(), allowed: "at least 1" })
}

/// Leaves those of `all` that are named, in their own order.
pub(crate) fn keep<T>(
    what: &'static str,
    all: &mut Vec<T>,
    named: &[String],
    name: impl Fn(&T) -> &str,
) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let legal: Vec<&str> = all.iter().map(&name).collect();
    if let Some(unknown) = named.iter().find(|given| !legal.contains(&given.as_str())) {
        return Err(Error::unknown(what, unknown, &legal));
    }
    all.retain(|item| named.iter().any(|given| given == name(item)));
    Ok(())
}

/// The item of this name.
pub(crate) fn named<'a, T>(
    what: &'static str,
    all: &'a [T],
    wanted: &str,
    name: impl Fn(&T) -> &str,
) -> Result<&'a T> {
    let found = all.iter().find(|item| name(item) == wanted);
    found.ok_or_else(|| Error::unknown(what, wanted, &all.iter().map(&name).collect::<Vec<_>>()))
}
