//! q-EI: the batch of the largest expected improvement under Gaussian-process regression, all its points at once; a
//! baseline of the paper's batch experiments.
//!
//! Batches are drawn, half of their points from a pool of legal points and half from the best of the pool by their own
//! expected improvement; the most promising are improved by bounded L-BFGS in all their coordinates, in the relaxed
//! cube. They are compared after rounding to legal points: what counts is what would be evaluated.
//!
//! Plain q-EI is zero, without a gradient, where no sample improves. Where it is zero for every batch drawn, the first of
//! them is taken: its points are all of the best by the logarithm of their own improvement, which is never flat.

use serde::{Deserialize, Serialize};

use super::placement::Placement;
use super::{Evidence, Memory, Strategy};
use crate::acquisition::{Acquisition as _, JointImprovement, LogExpectedImprovement};
use crate::descent::lbfgs::{self, minimise_in_box};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::forecast::Forecasts;
use crate::gaussian_process::{Regression, Surrogate};
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, below};
use crate::space::SearchSpace;

/// Settings of q-EI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QEi {
    /// The Gaussian-process regression of the values: `Fitted`, the default, finds the hyper-parameters of largest marginal
    /// likelihood; `Fixed` takes a given kernel and variance of the noise, as the theory has it.
    pub regression: Regression,
    /// How many samples of the joint posterior estimate the improvement. More make the estimate smoother and slower.
    pub samples: usize,
    /// How many batches are drawn to begin with. More search more widely and take longer.
    pub batches: usize,
    /// How many of the best of them are improved by L-BFGS.
    pub restarts: usize,
    /// How many evaluations of value and gradient each L-BFGS run may use.
    pub evaluations: usize,
    /// How many trials are drawn at random first; 10 in the paper.
    pub initial: usize,
}

impl Named for QEi {
    const NAME: &'static str = "q-ei";
    const DESCRIPTION: &'static str =
        "Gaussian process, expected improvement of whole batches by Monte Carlo";
}

impl Default for QEi {
    fn default() -> Self {
        Self {
            regression: Regression::default(),
            samples: 256,
            batches: 128,
            restarts: 10,
            evaluations: 100,
            initial: 10,
        }
    }
}

/// Points in the pool that batches are drawn from, incumbents aside.
const POOL: usize = 1024;
/// Which part of the pool is its best.
const BEST_PART: usize = 16;

impl Strategy for QEi {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        for (field, value) in [
            ("q-ei samples", self.samples),
            ("q-ei batches", self.batches),
            ("q-ei restarts", self.restarts),
            ("q-ei evaluations", self.evaluations),
        ] {
            if value == 0 {
                return Err(Error::invalid(field, value, "at least 1"));
            }
        }
        self.regression.check(space.dim())
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        Placement::of(&self.regression, self.initial).place(evidence, size, memory, |choice| {
            self.choose(choice.surrogate, choice.domain, choice.count, choice.rng)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        Placement::of(&self.regression, self.initial).predict(evidence, at, memory)
    }
}

/// A batch and its expected improvement.
struct Valued {
    batch: Points,
    value: f64,
}

impl QEi {
    fn choose(
        &self,
        surrogate: &Surrogate,
        domain: &Domain<'_>,
        batch_size: usize,
        rng: &mut Rng,
    ) -> Result<Points> {
        let dim = domain.space.dim();
        let joint = JointImprovement::new(surrogate, domain.pending, batch_size, self.samples, rng);
        let mut drawn = Vec::with_capacity(self.batches);
        let pool = Pool::new(surrogate, domain, rng);
        for index in 0..self.batches {
            let batch = domain.settle(&pool.draw(batch_size, index == 0, rng), rng)?;
            let value = joint.value(&batch)?;
            drawn.push(Valued { batch, value });
        }
        // Stable: of equal batches, the one drawn first comes first.
        drawn.sort_by(|a, b| b.value.total_cmp(&a.value));

        let sides = (vec![0.0; batch_size * dim], vec![1.0; batch_size * dim]);
        let settings =
            lbfgs::Settings { max_evaluations: self.evaluations, ..lbfgs::Settings::default() };
        // In units of the best batch drawn: the search stops at tolerances that are not relative to the value.
        let unit = drawn.first().map_or(1.0, |best| best.value);
        let restarts = if unit > 0.0 { self.restarts.min(drawn.len()) } else { 0 };
        for restart in 0..restarts {
            let downhill = |x: &[f64], gradient: &mut [f64]| {
                // Where points coincide beyond any jitter the step is refused.
                let value = joint.value_and_gradient(x, gradient).unwrap_or(f64::NAN);
                gradient.iter_mut().for_each(|g| *g /= -unit);
                -value / unit
            };
            let start = drawn[restart].batch.as_slice();
            let found = minimise_in_box(downhill, start, &sides.0, &sides.1, settings)?;
            let batch = domain.settle(&Points::from_rows(dim, found.point.chunks(dim)), rng)?;
            let value = joint.value(&batch)?;
            drawn.push(Valued { batch, value });
        }
        let best = drawn.into_iter().reduce(
            |best, other| {
                if other.value > best.value { other } else { best }
            },
        );
        best.map(|best| best.batch)
            .ok_or(Error::Diverged { model: "q-EI", doing: "drawing batches" })
    }
}

/// Legal points to draw batches from, the most promising first.
struct Pool {
    points: Points,
    best: usize,
}

impl Pool {
    fn new(surrogate: &Surrogate, domain: &Domain<'_>, rng: &mut Rng) -> Self {
        let mut points = domain.incumbents.clone();
        for _ in 0..POOL {
            points.push(&domain.space.sample(rng));
        }
        let mut values = vec![0.0; points.len()];
        LogExpectedImprovement::new(surrogate.clone()).values(&points, &mut values);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let best = points.len() / BEST_PART;
        Self { points: Points::from_rows(points.dim(), order.iter().map(|&i| points.row(i))), best }
    }

    /// A batch of which every other point is among the best of the pool; of the first batch, all are.
    fn draw(&self, batch_size: usize, all_best: bool, rng: &mut Rng) -> Points {
        let rows = (0..batch_size).map(|j| {
            let among = if all_best || j % 2 == 0 { self.best } else { self.points.len() };
            self.points.row(below(rng, among))
        });
        Points::from_rows(self.points.dim(), rows)
    }
}
