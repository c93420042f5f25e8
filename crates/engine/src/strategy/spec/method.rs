//! A method by name: settings from which a strategy is built.

use std::sync::Arc;

use super::row::{Part, Row, Written};
use crate::error::Result;
use crate::named::Name;
use crate::strategy::Strategy;

/// The settings of a method, whichever it is.
pub(super) trait AnyMethod: Part {
    /// The strategy, for batches of `batch_size`.
    fn build(&self, batch_size: usize) -> Result<Box<dyn Strategy>>;
}

/// A row of the table of methods.
pub(super) const fn method<M: AnyMethod + Written>() -> Row<dyn AnyMethod> {
    Row { name: Name::of::<M>(), read: |settings| Ok(Arc::new(M::read(settings)?)) }
}

/// Most strategies are their own settings.
impl<S: Strategy + Written + Clone> AnyMethod for S {
    fn build(&self, _: usize) -> Result<Box<dyn Strategy>> {
        Ok(Box::new(self.clone()))
    }
}
