//! The search space: dimensions, conditions, and the one place that encodes to the unit cube and back.

mod fingerprint;

pub use fingerprint::{Fingerprint, Taken};
