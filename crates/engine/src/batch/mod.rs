//! Batch rules: from an acquisition to the points of one ask.
//!
//! | rule | needs | for |
//! |---|---|---|
//! | [`Svgd`] | a gradient | batches: a sample from the target that spreads over its modes |
//! | [`SteinNewton`] | a gradient | the same, where the target is much steeper in some directions than in others |
//! | [`Ascent`] | a gradient | single points: the maximum |
//! | [`Candidates`] | values only | models or spaces without gradients |
//! | [`Softmax`] | values only | a sample from the target over candidates |
//! | [`Independent`] | values only | independent draws from the target: the batches of Theorem 4 |
//! | [`Thompson`] | draws from a posterior | the maximum of a draw of its own for each point |
//!
//! A rule returns points of the relaxed cube; [`Domain::settle`] makes them legal and distinct.

mod ascent;
mod candidates;
#[cfg(test)]
mod fixtures;
mod independent;
mod shortlist;
mod softmax;
mod stein_kernel;
mod stein_newton;
mod svgd;
mod thompson;

pub use ascent::Ascent;
pub use candidates::Candidates;
pub use independent::Independent;
pub use softmax::Softmax;
use stein_kernel::SteinKernel;
pub use stein_newton::SteinNewton;
pub use svgd::Svgd;
pub use thompson::Thompson;

use crate::acquisition::Acquisition;
use crate::classifier::Target;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Chooses the points of a batch.
pub trait BatchRule<A: Acquisition + ?Sized>: Send + Sync {
    /// `batch_size` points, at least 1, promising under `acquisition` and clear of the pending ones.
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points>;

    /// Refuses settings that no search could use.
    fn check(&self) -> Result<()>;

    /// Whether it draws from the posterior of the model ([`Acquisition::draw`]). Default: no.
    fn needs_posterior(&self) -> bool {
        false
    }

    /// What the points of a batch in `space` are to the theory: the maximiser, draws from p̂, or neither. Default: a search
    /// that may miss the maximiser.
    fn choice(&self, _space: &SearchSpace, _target: Target, _plan: Plan) -> Choice {
        Choice::ApproximateMaximum
    }
}

/// The maximiser for one point of a countable space that is searched whole.
fn maximum(space: &SearchSpace, exact_up_to: usize, plan: Plan) -> Choice {
    let searched_whole = space.cardinality().is_some_and(|total| total <= exact_up_to as u128);
    match (searched_whole && plan.batch_size == 1, space.repeats()) {
        (true, true) => Choice::Maximum,
        (true, false) => Choice::UntriedMaximum,
        (false, _) => Choice::ApproximateMaximum,
    }
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
