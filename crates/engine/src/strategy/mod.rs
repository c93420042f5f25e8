//! Strategies: from all the evidence to the points of the next batch.
//!
//! A strategy is settings only. Proposing is a pure function of evidence and seed: the same seed, space,
//! history and pending points give the same batch, in any process and on any number of threads.

mod auto;
mod axis;
mod bore;
mod cma_es;
mod ehvi;
mod gp_ei;
mod gp_ucb;
mod grid;
mod guarantee;
mod lp_ei;
mod nsga2;
mod opening;
mod placement;
mod q_ei;
mod random;
mod sobol;
pub(crate) mod spec;
mod tpe;

pub use auto::Auto;
pub use bore::{Bore, BorePlusPlus};
pub use cma_es::CmaEs;
pub use ehvi::Ehvi;
pub use gp_ei::GpEi;
pub use gp_ucb::GpUcb;
pub use grid::Grid;
pub use guarantee::{Guarantee, Promise};
pub use lp_ei::LpEi;
pub use nsga2::Nsga2;
pub use q_ei::QEi;
pub use random::Random;
pub use sobol::Sobol;
pub use spec::Spec;
pub use tpe::Tpe;

// Parts of settings and of plans, which no program has to name, hidden as lib.rs has it.
#[doc(hidden)]
pub use auto::{Part, Parts};
#[doc(hidden)]
pub use gp_ucb::Optimism;
#[doc(hidden)]
pub use tpe::{Bandwidth, GoodCount};

#[doc(hidden)]
pub use crate::gaussian_process::{Fitted, Regression};

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use opening::{Initial, place};

use crate::column::Column;
use crate::error::{Error, Result};
use crate::forecast::Forecast;
use crate::goal::Goal;
use crate::history::History;
use crate::merit::merit;
use crate::pareto;
use crate::points::Points;
use crate::seed::{Rng, Seed};
use crate::space::SearchSpace;

/// All that a strategy may look at.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// Where to search.
    pub space: &'a SearchSpace,
    /// What was tried, and with which outcome, under the goal of the search.
    pub history: &'a History,
    /// What was asked for and not yet told.
    pub pending: &'a Points,
    /// The seed of the search.
    pub seed: Seed,
}

impl<'a> Evidence<'a> {
    /// How many trials exist, told or pending.
    pub fn issued(&self) -> usize {
        self.history.len() + self.pending.len()
    }

    /// A batch of `size` legal points, distinct from each other and from all others: random ones until `initial` trials
    /// of the search exist, then those that `choose` returns, moved to the nearest free and legal places.
    ///
    /// `choose` is given the evidence, in which the random points of this batch are pending too, how many points it chooses,
    /// and the random stream of this ask, which is known by the name `stream` and differs from one ask to the next.
    pub fn place(
        self,
        size: usize,
        stream: &'static str,
        initial: usize,
        choose: impl FnOnce(Evidence<'_>, usize, &mut Rng) -> Result<Points>,
    ) -> Result<Points> {
        place(self, size, stream, Initial::First(initial), |opening| {
            choose(opening.evidence, opening.count, &mut opening.rng)
        })
    }

    /// The column to minimise: the first objective.
    pub fn column(&self) -> &'a Column {
        self.history.objective()
    }
}

/// What a worker does next: evaluates a new point, or continues a paused trial.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A new trial at this legal encoded point.
    New(Vec<f64>),
    /// The paused trial of this number.
    Continue(u64),
}

/// Workers that want work under a goal with a fidelity.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeWorkers<'a> {
    /// How many there are.
    pub count: usize,
    /// The trials that they may continue.
    pub paused: &'a [u64],
    /// How many new trials they may begin.
    pub room: usize,
}

/// Work, and the fidelity up to which it goes.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What is done.
    pub work: Work,
    /// Where it pauses, or ends if this is the highest fidelity.
    pub until: f64,
}

/// Proposes batches.
pub trait Strategy: Send + Sync {
    /// Its name, as in `bore++`.
    fn name(&self) -> &'static str;

    /// Whether the strategy can work towards a goal without a fidelity; it then serves the goal with one as well. Default:
    /// if the goal is one objective and nothing else.
    fn serves(&self, goal: &Goal) -> bool {
        goal.is_single()
    }

    /// Refuses settings that do not fit each other or the space, and a goal that the strategy does not serve. Default:
    /// checks the goal only.
    fn check(&self, _space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)
    }

    /// Which goals the strategy serves, as a sentence.
    fn scope(&self) -> &'static str {
        "it serves one objective, without constraints"
    }

    /// Refuses a goal that the strategy does not serve, and names the methods that do.
    fn check_served(&self, goal: &Goal) -> Result<()> {
        if self.serves(&goal.whole()) {
            return Ok(());
        }
        Err(Error::Unserved {
            method: self.name(),
            goal: goal.to_string(),
            reason: self.scope(),
            serving: serving(goal).join(", "),
        })
    }

    /// `batch_size` legal points, distinct from each other, from history and from the pending points (unless
    /// the space allows repeats).
    ///
    /// `memory` belongs to this strategy, seed and history. It only saves work: an empty one gives the same points.
    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points>;

    /// Whether the strategy itself looks at the learning curves of a goal with a fidelity. Default: no. It is then
    /// shown a history without a fidelity, in which stopped trials have the values that they may be expected to end with.
    #[doc(hidden)]
    fn reads_curves(&self, _goal: &Goal) -> bool {
        false
    }

    /// What free workers do next under a goal with a fidelity, for strategies that read curves: new points, and paused trials
    /// to continue. Pending points that are not paused are running. There are fewer runs than workers if no trial may begin and no
    /// paused one is worth going on. Default: new points, each to the end.
    #[doc(hidden)]
    fn plan(
        &self,
        evidence: Evidence<'_>,
        free: &FreeWorkers<'_>,
        memory: &mut Memory,
    ) -> Result<Vec<Run>> {
        let until = evidence.history.goal().partial().map_or(1.0, |range| range.high);
        let points = self.propose(evidence, free.count.min(free.room), memory)?;
        Ok(points.rows().map(|x| Run { work: Work::New(x.to_vec()), until }).collect())
    }

    /// The place in history of the trial to keep: of several objectives, by the first. Default: the trial with the lowest value among
    /// those that meet all constraints; a strategy that models the noise may choose another. Pure, like proposing.
    fn recommend(&self, evidence: Evidence<'_>, _: &mut Memory) -> Result<Option<usize>> {
        Ok(best(evidence.history))
    }

    /// The places in history of the trials to keep of several objectives: the front of those that meet all constraints, in the order of
    /// history. Default: by the values told; a strategy that models the noise may choose others. Pure, like proposing.
    fn front(&self, evidence: Evidence<'_>, _: &mut Memory) -> Result<Vec<usize>> {
        observed_front(evidence.history)
    }

    /// What the strategy predicts for each of the points `at`, on the scale where low is good; `None` if it has no
    /// model, or nothing to learn from yet. Pure, like proposing.
    fn predict(
        &self,
        _evidence: Evidence,
        _at: &Points,
        _memory: &mut Memory,
    ) -> Result<Option<Vec<Forecast>>> {
        Ok(None)
    }
}

/// The column that says which trials are good: the objective, or the merit under a larger goal.
fn column_of(history: &History) -> Result<Cow<'_, Column>> {
    Ok(match history.goal().is_single() {
        true => Cow::Borrowed(history.objective()),
        false => Cow::Owned(merit(history)?),
    })
}

/// The trial with the lowest value of the first objective among those that meet all constraints, at the highest fidelity
/// reached.
fn best(history: &History) -> Option<usize> {
    if history.goal().constraints().is_empty() && !history.is_partial() {
        return history.objective().best();
    }
    let value = |i: usize| history.objective().value(i).map(|value| (value, i));
    let standing = |i: &usize| history.leads(*i) && history.meets(*i);
    let meeting = (0..history.len()).filter(standing).filter_map(value);
    meeting.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1)
}

/// The trials at the highest fidelity reached that meet all constraints and that no other such trial dominates, in the
/// order of history.
fn observed_front(history: &History) -> Result<Vec<usize>> {
    let standing = |i: &usize| history.leads(*i) && history.meets(*i);
    let meeting: Vec<usize> = (0..history.len()).filter(standing).collect();
    let rows =
        Points::from_rows(history.objectives().len(), meeting.iter().map(|&i| history.row(i)));
    Ok(pareto::front(&rows)?.into_iter().map(|place| meeting[place]).collect())
}

/// The names of the methods that serve a goal.
fn serving(goal: &Goal) -> Vec<&'static str> {
    let built = |name: &str| name.parse::<Spec>().and_then(|spec| spec.build(1));
    let names = spec::names::METHODS.iter().map(|method| method.name);
    names.filter(|name| built(name).is_ok_and(|strategy| strategy.serves(&goal.whole()))).collect()
}

impl Strategy for Box<dyn Strategy> {
    fn name(&self) -> &'static str {
        self.as_ref().name()
    }

    fn serves(&self, goal: &Goal) -> bool {
        self.as_ref().serves(goal)
    }

    fn scope(&self) -> &'static str {
        self.as_ref().scope()
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.as_ref().check(space, goal)
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        self.as_ref().propose(evidence, size, memory)
    }

    fn reads_curves(&self, goal: &Goal) -> bool {
        self.as_ref().reads_curves(goal)
    }

    fn plan(
        &self,
        evidence: Evidence<'_>,
        free: &FreeWorkers<'_>,
        memory: &mut Memory,
    ) -> Result<Vec<Run>> {
        self.as_ref().plan(evidence, free, memory)
    }

    fn recommend(&self, evidence: Evidence<'_>, memory: &mut Memory) -> Result<Option<usize>> {
        self.as_ref().recommend(evidence, memory)
    }

    fn front(&self, evidence: Evidence<'_>, memory: &mut Memory) -> Result<Vec<usize>> {
        self.as_ref().front(evidence, memory)
    }

    fn predict(
        &self,
        evidence: Evidence,
        at: &Points,
        memory: &mut Memory,
    ) -> Result<Option<Vec<Forecast>>> {
        self.as_ref().predict(evidence, at, memory)
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
