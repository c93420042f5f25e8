//! Batch rules: from an acquisition to the points of one ask.
//!
//! | rule | needs | for |
//! |---|---|---|
//! | [`Svgd`] | a gradient | batches: a sample from the target that spreads over its modes |
//! | [`SteinNewton`] | a gradient | the same, where the target is much steeper in some directions than in others |
//! | [`Ascent`] | a gradient | single points: the maximum |
//! | [`Candidates`] | values only | models or spaces without gradients |
//! | [`Softmax`] | values only | a sample from the target over candidates |
//!
//! A rule returns points of the relaxed cube; [`Domain::settle`] makes them legal and distinct.

mod ascent;
mod candidates;
#[cfg(test)]
mod fixtures;
mod shortlist;
mod softmax;
mod stein_kernel;
mod stein_newton;
mod svgd;

pub use ascent::Ascent;
pub use candidates::Candidates;
pub use softmax::Softmax;
use stein_kernel::SteinKernel;
pub use stein_newton::SteinNewton;
pub use svgd::Svgd;

use crate::acquisition::Acquisition;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::Rng;

/// Chooses the points of a batch.
pub trait BatchRule<A: Acquisition + ?Sized>: Send + Sync {
    /// `batch_size` points, at least 1, promising under `acquisition` and clear of the pending ones.
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points>;

    /// Refuses settings that no search could use.
    fn check(&self) -> Result<()>;
}

/// More points than any search can look at: a guard against a slip of the keyboard.
const LARGEST_SEARCH: usize = 10_000_000;

/// Refuses a number of points that is 0 or beyond memory.
fn check_count(field: &str, count: usize) -> Result<()> {
    if (1..=LARGEST_SEARCH).contains(&count) {
        return Ok(());
    }
    Err(Error::invalid(field, count, format!("from 1 to {LARGEST_SEARCH}")))
}
