//! What the Gaussian-process strategies have in common: random points first, then a surrogate fitted to all
//! values told, and places to start from.
//!
//! Trials that failed or were infeasible have no value: regression leaves them out, and the domain makes sure that they
//! are never suggested again.

use super::opening::{Initial, place};
use super::{Evidence, Memory};
use crate::acquisition::SmoothAcquisition;
use crate::batch::{Ascent, BatchRule as _};
use crate::domain::Domain;
use crate::error::Result;
use crate::forecast::{Forecast, Forecasts, Good};
use crate::gaussian_process::{Prediction, Regression, Surrogate};
use crate::history::History;
use crate::points::Points;
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::normal::probability_within;

/// Radii of the points drawn near the best trials, parts of the cube's side. The peaks of an acquisition near a
/// good trial become too narrow for points drawn uniformly.
const RADII: [f64; 4] = [0.2, 0.05, 0.01, 0.002];
/// Points drawn near a trial at each radius.
const NEAR_DRAWS: usize = 4;
/// How many of the best trials points are drawn near.
const LEADERS: usize = 3;

/// Regression, and how many trials are drawn at random before it is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement<'s> {
    regression: &'s Regression,
    initial: usize,
}

/// What points are chosen by.
pub(super) struct Choice<'c> {
    /// The surrogate of the values told.
    pub surrogate: &'c Surrogate,
    /// Where points may lie. Its pending points include what is already in the batch.
    pub domain: &'c Domain<'c>,
    /// How many to choose.
    pub count: usize,
    pub rng: &'c mut Rng,
}

impl<'s> Placement<'s> {
    pub fn of(regression: &'s Regression, initial: usize) -> Self {
        Self { regression, initial }
    }

    /// Random points while there are too few trials, then those that `choose` places by the surrogate.
    ///
    pub fn place(
        self,
        evidence: Evidence<'_>,
        batch_size: usize,
        memory: &mut Memory,
        choose: impl FnOnce(Choice<'_>) -> Result<Points>,
    ) -> Result<Points> {
        let initial = Initial::FirstAndUnvalued(self.initial);
        place(evidence, batch_size, "place", initial, |opening| {
            let Evidence { space, history, .. } = opening.evidence;
            let incumbents = starts(space, history, &mut opening.rng);
            let domain = opening.domain(&incumbents);
            let surrogate = self.surrogate(history, memory.take().as_ref())?;
            let chosen = choose(Choice {
                surrogate: &surrogate,
                domain: &domain,
                count: opening.count,
                rng: &mut opening.rng,
            })?;
            memory.keep(surrogate);
            Ok(chosen)
        })
    }

    /// What the surrogate predicts for each point; `None` while no value is told.
    pub fn predict(
        self,
        evidence: Evidence<'_>,
        points: &Points,
        memory: &mut Memory,
    ) -> Result<Forecasts> {
        let Some(best) = evidence.column().best_value() else { return Ok(None) };
        let surrogate = self.surrogate(evidence.history, memory.take().as_ref())?;
        let forecast = |x: &[f64]| {
            let Prediction { mean, deviation } = surrogate.predict(x);
            let probability = probability_within(best - mean, deviation);
            let good = Good { threshold: Some(best), probability, upper_bound: None };
            Forecast {
                mean: Some(mean),
                deviation: Some(deviation),
                good: Some(good),
                ..Forecast::default()
            }
        };
        let forecasts = points.rows().map(forecast).collect();
        memory.keep(surrogate);
        Ok(Some(forecasts))
    }

    /// The surrogate of all values told, of which there must be one.
    fn surrogate(self, history: &History, previous: Option<&Surrogate>) -> Result<Surrogate> {
        let mut points = Points::with_capacity(history.points().dim(), history.len());
        let mut values = Vec::with_capacity(history.len());
        for (x, value) in history.points().rows().zip(history.objective().values()) {
            if let Some(value) = value {
                points.push(x);
                values.push(value);
            }
        }
        self.regression.fit(&points, &values, previous)
    }
}

/// The best trials and legal points near the first of them.
fn starts(space: &SearchSpace, history: &History, rng: &mut Rng) -> Points {
    let leaders = history.objective().leaders().iter().map(|&i| history.points().row(i));
    let mut starts = Points::from_rows(space.dim(), leaders.clone());
    for leader in leaders.take(LEADERS) {
        for radius in RADII {
            for _ in 0..NEAR_DRAWS {
                starts.push(&space.neighbour(leader, rng, radius));
            }
        }
    }
    starts
}

impl Choice<'_> {
    /// The points one after another: each is the maximum of the acquisition of a surrogate that believes its own mean at
    /// the pending points and at those chosen before (see [`Surrogate::believing`]).
    pub fn one_by_one<A: SmoothAcquisition>(
        self,
        ascent: Ascent,
        acquisition: impl Fn(Surrogate) -> A,
    ) -> Result<Points> {
        let Self { surrogate, domain, count, rng } = self;
        let mut ahead = domain.pending.clone();
        let mut believing = surrogate.believing(ahead.rows())?;
        let mut chosen = Points::with_capacity(ahead.dim(), count);
        for _ in 0..count {
            let domain = Domain { pending: &ahead, ..*domain };
            let best = ascent.choose(&acquisition(believing.clone()), &domain, 1, rng)?;
            let settled = domain.settle(&best, rng)?;
            chosen.extend(&settled);
            believing = believing.believing(settled.rows())?;
            ahead.extend(&settled);
        }
        Ok(chosen)
    }
}
