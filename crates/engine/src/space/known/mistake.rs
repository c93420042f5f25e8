//! What is wrong with an expression, and where.

use std::ops::Range;

use crate::error::Error;

/// A mistake at a place of an expression, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mistake {
    pub span: Range<usize>,
    pub message: String,
}

impl Mistake {
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// The error of the crate, with the line and column of the place.
    pub fn of(self, constraint: &str) -> Error {
        let before = constraint.get(..self.span.start).unwrap_or(constraint);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Error::Expression {
            constraint: constraint.to_owned(),
            line,
            column,
            offset: self.span.start,
            length: self.span.len(),
            reason: self.message,
        }
    }
}
