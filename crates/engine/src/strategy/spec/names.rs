//! The names that users choose from, with a line about each, in the order in which they are listed.

use super::row::Row;
use super::table;
pub use crate::named::Name;

/// The methods.
pub const METHODS: &[Name] = &names::<_, { table::METHODS.len() }>(table::METHODS);

/// The classifiers of `bore` and `bore++`.
pub const CLASSIFIERS: &[Name] = &names::<_, { table::CLASSIFIERS.len() }>(table::CLASSIFIERS);

/// The batch rules of `bore` and `bore++`.
pub const RULES: &[Name] = &names::<_, { table::RULES.len() }>(table::RULES);

const fn names<T: ?Sized, const N: usize>(rows: &[Row<T>]) -> [Name; N] {
    let mut names = [Name { name: "", description: "" }; N];
    let mut row = 0;
    while row < N {
        names[row] = rows[row].name;
        row += 1;
    }
    names
}
