//! Trials and studies as rows of typed cells, for every back end that keeps tables.
//!
//! This module alone says which columns there are, what is in each, and what it means. A back end adds its SQL and its
//! driver: it binds [`Cell`]s to the parameters of a statement, and gives access to a row that it read as [`Cells`].
//! Statements are made of [`Columns::NAMES`], so that every cell goes to its own column.

pub(super) mod head;
pub(super) mod record;
pub(super) mod step;
pub(super) mod trial;

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::clock::Timestamp;

/// A value in a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'t> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'t, str>),
}

impl Cell<'_> {
    /// With text of its own.
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Null => Cell::Null,
            Self::Integer(number) => Cell::Integer(number),
            Self::Real(number) => Cell::Real(number),
            Self::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
        }
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for Cell<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(bounded(number))
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<Timestamp> for Cell<'_> {
    fn from(time: Timestamp) -> Self {
        Self::Integer(time.0)
    }
}

impl<'t> From<&'t str> for Cell<'t> {
    fn from(text: &'t str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'t, T: Into<Cell<'t>>> From<Option<T>> for Cell<'t> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// What a column can hold of a number: 63 bits. Rules and settings keep numbers below.
pub(super) fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A cell that was read, or why it cannot be.
pub(super) type Read<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A row that was read. Columns are known by their places in the statement, from 0.
pub(super) trait Cells {
    fn integer(&self, place: usize) -> Read<Option<i64>>;
    fn real(&self, place: usize) -> Read<Option<f64>>;
    fn text(&self, place: usize) -> Read<Option<&str>>;
}

/// The columns of a table, in the order in which statements name them.
pub(super) trait Columns: Copy {
    const NAMES: &'static [&'static str];
    fn place(self) -> usize;

    fn name(self) -> &'static str {
        Self::NAMES[self.place()]
    }

    /// All names, as a `SELECT` or an `INSERT` wants them.
    fn list() -> String {
        Self::NAMES.join(", ")
    }

    /// `name = PARAMETER` for all columns but the first `skipped`; `parameter` writes that of a place.
    fn assignments(skipped: usize, parameter: impl Fn(usize) -> String) -> String {
        let assignment = |(place, name)| format!("{name} = {}", parameter(place));
        let all: Vec<String> =
            Self::NAMES.iter().enumerate().skip(skipped).map(assignment).collect();
        all.join(", ")
    }
}

/// A column that may be empty, as text.
fn text<R: Cells>(row: &R, column: impl Columns) -> Read<Option<&str>> {
    row.text(column.place())
}

/// A column that is never empty, as text.
fn word<R: Cells>(row: &R, column: impl Columns) -> Read<&str> {
    text(row, column)?.ok_or_else(|| missing(column))
}

/// A whole number from 0.
fn whole(row: &impl Cells, column: impl Columns) -> Read<u64> {
    let number = row.integer(column.place())?.ok_or_else(|| missing(column))?;
    u64::try_from(number).map_err(|_| format!("{} is {number}", column.name()).into())
}

/// A whole number that fits a smaller type.
fn small<T: TryFrom<u64>>(row: &impl Cells, column: impl Columns) -> Read<T> {
    let number = whole(row, column)?;
    T::try_from(number).map_err(|_| format!("{} is {number}", column.name()).into())
}

fn time(row: &impl Cells, column: impl Columns) -> Read<Timestamp> {
    Ok(Timestamp(row.integer(column.place())?.ok_or_else(|| missing(column))?))
}

fn real(row: &impl Cells, column: impl Columns) -> Read<f64> {
    row.real(column.place())?.ok_or_else(|| missing(column))
}

fn json<T: DeserializeOwned>(row: &impl Cells, column: impl Columns) -> Read<T> {
    let name = column.name();
    serde_json::from_str(word(row, column)?).map_err(|error| format!("{name}: {error}").into())
}

fn missing(column: impl Columns) -> Box<dyn std::error::Error + Send + Sync> {
    format!("{} is missing", column.name()).into()
}

/// What a word in a column means, of those that it may have.
fn meant<T: Copy>(
    column: impl Columns,
    word: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Read<T> {
    let unknown = || format!("{} is `{word}`", column.name()).into();
    all.iter().copied().find(|value| name(*value) == word).ok_or_else(unknown)
}

/// Defines the columns of a table: for each a variant, its name in SQL, and its cell, made of what is written.
macro_rules! columns {
    (
        $(#[$doc:meta])*
        $Column:ident of $written:ident: $Written:ty;
        $($variant:ident $name:literal = $cell:expr;)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::store) enum $Column { $($variant),* }

        impl $crate::store::columns::Columns for $Column {
            const NAMES: &'static [&'static str] = &[$($name),*];

            fn place(self) -> usize {
                self as usize
            }
        }

        /// A cell for each column, in their order.
        fn cells<'t>($written: $Written) -> Vec<$crate::store::columns::Cell<'t>> {
            vec![$($cell.into()),*]
        }
    };
}
use columns;
