//! Names that a user writes: what they stand for, and the nearest name if one is unknown.
//!
//! A method, a classifier or a batch rule declares its name and one line about it in its own file ([`Named`]). The tables
//! of `strategy/spec/table.rs` collect them; parsing, printing, listing and error messages all read these tables.

use crate::error::Error;

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

/// The name with the fewest [`edits`] from `given`; of equally near ones, the first.
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    names.into_iter().min_by_key(|name| edits(given, name))
}

/// Letters to insert, delete, replace or swap with their neighbour until one word is the other. Capitals do not count, and
/// `-` and `_` are alike.
pub fn edits(a: &str, b: &str) -> usize {
    let letters = |word: &str| -> Vec<char> {
        word.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let (a, b) = (letters(a), letters(b));
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("BORE_X", "bore-x"), 0);
        assert_eq!(edits("boer", "bore"), 1);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_legal_ones_and_the_nearest() {
        let error = unknown("method", "boer++", ["auto", "bore", "bore++"].into_iter()).to_string();
        assert_eq!(
            error,
            "method is `boer++`, but must be one of auto, bore, bore++; the nearest is `bore++`"
        );
    }
}
