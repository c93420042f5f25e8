//! Strategies: from all the evidence to the points of the next batch.
//!
//! A strategy is settings only. Proposing is a pure function of evidence and seed: the same seed, space,
//! history and pending points give the same batch, in any process and on any number of threads.

mod auto;
mod axis;
mod bore;
mod cma_es;
mod expected_improvement;
mod gp_ei;
mod gp_ucb;
mod guarantee;
mod halton;
mod joint_improvement;
mod lp_ei;
mod placement;
mod q_ei;
mod random;
mod sobol;
pub mod spec;
mod tpe;

pub use auto::Auto;
#[doc(hidden)]
pub use auto::{Part, Parts};
pub use bore::{Bore, BorePlusPlus};
pub use cma_es::CmaEs;
pub use gp_ei::GpEi;
pub use gp_ucb::{GpUcb, Optimism};
pub use lp_ei::LpEi;
pub use q_ei::QEi;
pub use random::Random;
pub use sobol::Sobol;
pub use spec::Spec;
pub use tpe::{Bandwidth, GoodCount, Tpe};

use std::any::Any;
use std::fmt;

use crate::error::Result;
use crate::history::History;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::SearchSpace;

/// All that a strategy may look at.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Where to search.
    pub space: &'a SearchSpace,
    /// What was tried, and what came of it.
    pub history: &'a History,
    /// What was asked for and not yet told.
    pub pending: &'a Points,
}

/// Proposes batches.
pub trait Strategy: Send + Sync {
    /// Its name, as in `bore++`.
    fn name(&self) -> &'static str;

    /// Refuses settings that do not fit each other or the space.
    fn check(&self, space: &SearchSpace) -> Result<()>;

    /// `batch_size` legal points, distinct from each other, from history and from the pending points (unless
    /// the space allows repeats).
    ///
    /// `memory` belongs to this strategy, seed and history, and saves work only: an empty one gives the same
    /// points.
    fn propose(
        &self,
        evidence: Evidence<'_>,
        batch_size: usize,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Points>;

    /// The place in history of the trial to keep: that of the lowest value, unless the strategy has a model of the noise
    /// and knows better. Pure, like proposing.
    fn recommend(
        &self,
        evidence: Evidence<'_>,
        _seed: Seed,
        _memory: &mut Memory,
    ) -> Result<Option<usize>> {
        Ok(evidence.history.leaders().first().copied())
    }
}

impl Strategy for Box<dyn Strategy> {
    fn name(&self) -> &'static str {
        self.as_ref().name()
    }

    fn check(&self, space: &SearchSpace) -> Result<()> {
        self.as_ref().check(space)
    }

    fn propose(
        &self,
        evidence: Evidence<'_>,
        batch_size: usize,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Points> {
        self.as_ref().propose(evidence, batch_size, seed, memory)
    }

    fn recommend(
        &self,
        evidence: Evidence<'_>,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Option<usize>> {
        self.as_ref().recommend(evidence, seed, memory)
    }
}

/// What a strategy keeps from one ask to the next so as not to compute it again. It can always be computed
/// from seed and history, so it is never saved.
#[derive(Default)]
pub struct Memory(Option<Box<dyn Any + Send>>);

impl Memory {
    /// What was kept, if it is of this type.
    pub fn take<T: Any + Send>(&mut self) -> Option<T> {
        self.0.take().and_then(|kept| kept.downcast().ok()).map(|kept| *kept)
    }

    /// Keeps something for the next ask.
    pub fn keep<T: Any + Send>(&mut self, kept: T) {
        self.0 = Some(Box::new(kept));
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Memory(kept)" } else { "Memory(empty)" })
    }
}
