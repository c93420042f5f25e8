//! Goals of several objectives or with measured constraints: a model of each column, and picks that solve for all of them.
//!
//! ```text
//! trials seen (archive.rs) ──▶ a model for each column (surrogate.rs) ──▶ candidates and their children (nursery.rs, pool.rs)
//!   ──▶ several objectives: reference point from the predicted front ──▶ greedy picks by exact gain (picks.rs)
//!   ──▶ one objective: a ladder of constrained problems (constrained.rs)
//! ```
//! Several objectives under constraints: gains count as often as the constraints are met, over the front of the trials that meet them.
//! While no trial does, the ladder is for the mean of the objectives.
//!
//! # Design
//! The reference point is a tenth beyond the nadir of the front that the *models* predict, joined with the observed one. The
//! observed front alone often spans a corner of the true one, so that nothing beyond it would earn hypervolume: taken from it, the
//! reference point halves what is reached on problems with a concave front (docs/decisions/0013).
//!
//! Hyper-parameters are fitted further every [`EVERY`] trials, after [`SETTLED`] of them every fourth time, and begin anew every [`WINDOW`], as
//! those of the regions (replay.rs): a process that starts anew arrives at the same bits.
//!
//! Cost of an ask: that of at most 200 trials in each model, however long history is.

mod archive;
mod constrained;
mod nursery;
mod picks;
mod pool;
mod prospects;
mod spread;
mod surrogate;

use super::feasibility::Feasibility;
use super::local_model::{HyperParameters, Shape};
use super::picks::MOST_PENDING;
use super::replay::{EVERY, WINDOW};
use super::{Auto, FEWEST, Part};
use crate::domain::Occupied;
use crate::error::Result;
use crate::forecast::{Expected, Forecast, Good};
use crate::gaussian_process::Prediction;
use crate::history::History;
use crate::pareto;
use crate::points::Points;
use crate::seed::{Rng, Seed};
use crate::space::SearchSpace;
use crate::strategy::Evidence;
use crate::theory::normal::probability_within;
use archive::Archive;
use constrained::Constrained;
use nursery::Nursery;
use picks::{EXACT, Picks};
use pool::Pool;
use prospects::{Prospects, meeting};
use spread::spread;
use surrogate::{Softened, Surrogate, learn};

/// Candidates all over the space, and children of each generation.
const SPREAD: usize = 400;
const CHILDREN: usize = 350;
/// Generations after the first children, and those with wide steps.
const GENERATIONS: usize = 4;
const WIDE: usize = 2;
/// Deviations of the steps of children, and of those of later generations.
const STEPS: (f64, f64) = (3e-3, 0.3);
const LATER_STEPS: (f64, f64) = (3e-3, 0.1);
/// Parents of a generation.
const PARENTS: usize = 40;
/// How far beyond the nadir the reference point is, in units of the range.
const BEYOND: f64 = 0.1;
/// With many objectives, the share of a front that its nadir is taken from, and the least part of its extent that this leaves.
const MOST_OF_FRONT: f64 = 0.9;
const LEAST_RANGE: f64 = 0.05;
/// Share of noise in the variance of an objective above which its model, not its values, says where the front is.
const NOISY: f64 = 1e-2;
/// Trials up to which every tenth one has hyper-parameters fitted further: then models see all they ever will, and little changes.
const SETTLED: usize = 200;
/// Trials of the front that gains are counted over.
const FRONT: usize = 128;
/// The fewest and the most of the best trials that have children, under constraints.
const BEST_TRIALS: (usize, usize) = (5, 10);
/// The stream of the quasi-random candidates.
const SEQUENCE: u64 = 0x6f62_6a65_6374_6976;

/// The state of the search as a function of history.
#[derive(Debug, Clone)]
pub(super) struct Several {
    archive: Archive,
    /// One for each column: objectives first, then constraints.
    learnt: Vec<HyperParameters>,
    shape: Shape,
}

/// The trials that models see, with what they are fitted to.
struct Seen {
    trials: Vec<usize>,
    points: Points,
    /// The transformation of each objective.
    scales: Vec<Softened>,
    /// One list for each column.
    targets: Vec<Vec<f64>>,
    /// Whether each trial meets the constraints.
    meets: Vec<bool>,
}

impl Several {
    pub(super) fn new(space: &SearchSpace, history: &History) -> Self {
        let group = (0..space.dimensions().len())
            .flat_map(|i| space.coordinates(i).map(move |_| i))
            .collect();
        let shape = Shape { group, additive: 0.0 };
        Self { archive: Archive::new(history), learnt: Vec::new(), shape }
    }

    /// How many trials have been read.
    pub(super) fn trials(&self) -> usize {
        self.archive.trials()
    }

    /// Reads history to its end.
    pub(super) fn advance(&mut self, history: &History) -> Result<()> {
        if !self.archive.violation().is_settled() {
            // What trials are worth changes with the scales of the constraints.
            *self = Self {
                archive: Archive::new(history),
                learnt: Vec::new(),
                shape: self.shape.clone(),
            };
        }
        let window = history.len() / WINDOW * WINDOW;
        while self.archive.trials() < history.len() {
            self.archive.advance(history);
            let trials = self.archive.trials();
            if trials.is_multiple_of(WINDOW) {
                self.learnt.clear();
            }
            let every = if trials <= SETTLED { EVERY } else { 4 * EVERY };
            if trials.is_multiple_of(every) && trials >= window && self.archive.measured() > 0 {
                let seen = self.seen(history)?;
                self.learnt = self.learn(&seen);
            }
        }
        Ok(())
    }

    fn seen(&self, history: &History) -> Result<Seen> {
        let trials = self.archive.seen();
        let points = Points::from_rows(
            history.points().dim(),
            trials.iter().map(|&i| history.points().row(i)),
        );
        let violation = self.archive.violation();
        let meets: Vec<bool> =
            trials.iter().map(|&i| violation.total(history, i) == Some(0.0)).collect();
        let objectives = history.objectives();
        let rows = Points::from_rows(objectives.len(), trials.iter().map(|&i| history.row(i)));
        let counted = (0..trials.len()).filter(|&i| meets[i]);
        let counted = Points::from_rows(rows.dim(), counted.map(|i| rows.row(i)));
        let front = pareto::front(&counted)?;
        let (mut scales, mut targets) = (Vec::new(), Vec::new());
        for j in 0..objectives.len() {
            let values: Vec<f64> = rows.rows().map(|row| row[j]).collect();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = front.iter().map(|&i| counted.row(i)[j]).fold(low, f64::max);
            let scale = Softened::new(&values, (low, high));
            targets.push(values.iter().map(|&y| scale.target(y)).collect());
            scales.push(scale);
        }
        for k in 0..history.constraints().len() {
            targets.push(trials.iter().filter_map(|&i| violation.target(history, k, i)).collect());
        }
        Ok(Seen { trials, points, scales, targets, meets })
    }

    fn learn(&self, seen: &Seen) -> Vec<HyperParameters> {
        let column = |(j, targets): (usize, &Vec<f64>)| {
            learn(self.learnt.get(j), &self.shape, &seen.points, targets)
        };
        seen.targets.iter().enumerate().map(column).collect()
    }

    /// A model for each column.
    fn models(&self, seen: &Seen) -> Result<Vec<Surrogate>> {
        let learnt = match self.learnt.is_empty() {
            true => self.learn(seen),
            false => self.learnt.clone(),
        };
        let fit = |(learnt, targets): (&HyperParameters, &Vec<f64>)| {
            Surrogate::fit(learnt, &self.shape, &seen.points, targets)
        };
        learnt.iter().zip(&seen.targets).map(fit).collect()
    }

    fn feasibility(
        &self,
        history: &History,
        seen: &Seen,
        models: &[Surrogate],
        settings: &Auto,
    ) -> Result<Feasibility> {
        let heeds_failures = settings.uses(Part::Feasibility);
        let failed = Points::from_rows(
            history.points().dim(),
            self.archive.failed().filter(|_| heeds_failures).map(|i| history.points().row(i)),
        );
        Feasibility::fit(&failed, &seen.points, models[0].posterior().kernel())
    }

    /// The rows of the objectives that the front is made of, in units of the targets: where the values of one are noisy, what its model says.
    fn standing(seen: &Seen, models: &[Surrogate]) -> Points {
        let objectives = seen.scales.len();
        let mut rows = Points::zeros(objectives, seen.trials.len());
        for (j, model) in models[..objectives].iter().enumerate() {
            let noisy = model.noise_share() > NOISY;
            let values = if noisy { &model.means(&seen.points) } else { &seen.targets[j] };
            rows.rows_mut().zip(values).for_each(|(row, value)| row[j] = *value);
        }
        rows
    }

    /// Where values are noisy, the front of the trials seen by what the models say of them, in the order of history; `None` where they are
    /// not. A trial that meets a noisy constraint as told must also meet it by the model, unless no trial does.
    pub(super) fn front(&self, history: &History) -> Result<Option<Vec<usize>>> {
        if self.archive.measured() < FEWEST {
            return Ok(None);
        }
        let seen = self.seen(history)?;
        let models = self.models(&seen)?;
        let (objectives, constraints) = models.split_at(seen.scales.len());
        let noisy: Vec<&Surrogate> = constraints
            .iter()
            .zip(&seen.targets[objectives.len()..])
            .filter(|(model, targets)| model.noise_share() > NOISY * variance(targets))
            .map(|(model, _)| model)
            .collect();
        if noisy.is_empty() && !objectives.iter().any(|model| model.noise_share() > NOISY) {
            return Ok(None);
        }
        let mut by_model = seen.meets.clone();
        for model in noisy {
            let means = model.means(&seen.points);
            by_model.iter_mut().zip(means).for_each(|(meets, mean)| *meets &= mean <= 0.0);
        }
        let meets = if by_model.contains(&true) { &by_model } else { &seen.meets };
        let rows = Self::standing(&seen, &models);
        let meets: Vec<usize> = (0..seen.trials.len()).filter(|&i| meets[i]).collect();
        let rows = Points::from_rows(rows.dim(), meets.iter().map(|&i| rows.row(i)));
        let front = pareto::front(&rows)?;
        Ok(Some(front.into_iter().map(|place| seen.trials[meets[place]]).collect()))
    }

    /// What the models expect of each point.
    pub(super) fn forecasts(
        &self,
        history: &History,
        settings: &Auto,
        at: &Points,
    ) -> Result<Vec<Forecast>> {
        let seen = self.seen(history)?;
        let models = self.models(&seen)?;
        let feasibility = self.feasibility(history, &seen, &models, settings)?;
        let (objectives, constraints) = models.split_at(seen.scales.len());
        let weights = self.archive.violation().weights();
        let best = crate::strategy::best(history).and_then(|best| history.objective().value(best));
        let forecast = |x: &[f64]| {
            let expected: Vec<Expected> = objectives
                .iter()
                .zip(&seen.scales)
                .map(|(model, scale)| {
                    let Prediction { mean, deviation } = model.predict(x);
                    let deviation = (scale.slope(mean) * deviation).min(f64::MAX);
                    Expected { mean: scale.value(mean), deviation }
                })
                .collect();
            let good = best.filter(|_| objectives.len() == 1).map(|threshold| {
                let Prediction { mean, deviation } = objectives[0].predict(x);
                let gap = seen.scales[0].target(threshold) - mean;
                let probability = probability_within(gap, deviation);
                Good { threshold: Some(threshold), probability, upper_bound: None }
            });
            Forecast {
                mean: expected.first().map(|first| first.mean),
                deviation: expected.first().map(|first| first.deviation),
                good,
                success: Some(feasibility.probability(x)),
                meets: (!constraints.is_empty()).then(|| meeting(constraints, weights, x)),
                objectives: if objectives.len() > 1 { expected } else { Vec::new() },
            }
        };
        Ok(at.rows().map(forecast).collect())
    }

    /// Free configurations: `trials` are the number of trials before the first of them, and how many are wanted.
    pub(super) fn choose(
        &self,
        evidence: Evidence<'_>,
        trials: (usize, usize),
        settings: &Auto,
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let seen = self.seen(evidence.history)?;
        let models = self.models(&seen)?;
        let feasibility = self.feasibility(evidence.history, &seen, &models, settings)?;
        let known = Known { evidence, seen: &seen, models: &models, feasibility: &feasibility };
        let meets_all = seen.meets.iter().any(|meets| *meets);
        if seen.scales.len() > 1 && meets_all {
            self.by_gain(&known, trials, occupied, rng)
        } else {
            self.by_ladder(&known, trials, occupied, rng)
        }
    }

    /// A batch that solves for one objective, or for the mean of several, under constraints.
    fn by_ladder(
        &self,
        known: &Known<'_>,
        trials: (usize, usize),
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let &Known { evidence, seen, models, feasibility } = known;
        let Evidence { space, history, pending, seed } = evidence;
        let violation = self.archive.violation();
        let (objectives, constraints) = models.split_at(seen.scales.len());
        let rows = Self::standing(seen, models);
        let value = |i: usize| rows.row(i).iter().sum::<f64>() / rows.dim() as f64;
        let missed: Vec<f64> =
            seen.trials.iter().map(|&i| violation.total(history, i).unwrap_or(f64::MAX)).collect();
        let mut order: Vec<usize> = (0..seen.trials.len()).collect();
        order.sort_by(|&i, &j| missed[i].total_cmp(&missed[j]).then(value(i).total_cmp(&value(j))));
        let meeting = seen.meets.iter().filter(|meets| **meets).count();
        let best = order.first().filter(|&&i| seen.meets[i]).map(|&i| value(i));
        order.truncate(meeting.clamp(BEST_TRIALS.0, BEST_TRIALS.1));
        let row = |&i: &usize| seen.points.row(i);
        let mut all = seen.points.clone();
        all.extend(pending);
        let ahead = Points::from_rows(space.dim(), pending.rows().take(MOST_PENDING));
        let problem = Constrained {
            space,
            objectives,
            constraints,
            weights: violation.weights(),
            feasibility,
            best,
            parents: Points::from_rows(space.dim(), order.iter().map(row)),
            known: all,
            pending: &ahead,
        };
        problem.choose(trials, Seed(seed.0 ^ SEQUENCE), occupied, rng)
    }

    /// A batch by gain in hypervolume.
    fn by_gain(
        &self,
        known: &Known<'_>,
        (first, count): (usize, usize),
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let &Known { evidence, seen, models, feasibility } = known;
        let Evidence { space, history, pending, seed } = evidence;
        let (objectives, constraints) = models.split_at(seen.scales.len());
        let weights = self.archive.violation().weights();
        let prospects = Prospects { constraints, weights, feasibility };
        let all = Self::standing(seen, models);
        let meets: Vec<usize> = (0..seen.trials.len()).filter(|&i| seen.meets[i]).collect();
        let rows = Points::from_rows(all.dim(), meets.iter().map(|&i| all.row(i)));
        let on_front = pareto::front(&rows)?;
        let mut front = Points::from_rows(rows.dim(), on_front.iter().map(|&i| rows.row(i)));
        let kept = spread(&front, FRONT);
        let parents = spread(&front, PARENTS);
        let parents = Points::from_rows(
            space.dim(),
            parents.iter().map(|&place| seen.points.row(meets[on_front[place]])),
        );
        front = Points::from_rows(front.dim(), kept.iter().map(|&place| front.row(place)));

        let ahead = Points::from_rows(space.dim(), pending.rows().take(MOST_PENDING));
        let mut pool = Pool::new(objectives, prospects, &ahead);
        let nursery = Nursery::new(space);
        pool.add(&nursery.spread(SPREAD, first, Seed(seed.0 ^ SEQUENCE), rng));
        if nursery.breeds() {
            pool.add(&nursery.children(&parents, CHILDREN, STEPS, rng));
            for generation in 0..GENERATIONS {
                let (candidates, values) = pool.front()?;
                let promising = spread(&values, PARENTS);
                let promising = Points::from_rows(
                    space.dim(),
                    promising.iter().map(|&place| pool.point(candidates[place])),
                );
                let steps = if generation < WIDE { STEPS } else { LATER_STEPS };
                let parents = if promising.is_empty() { &parents } else { &promising };
                pool.add(&nursery.children(parents, CHILDREN, steps, rng));
            }
        }
        let (mut reference, ranges) = reference(&front, &pool.front()?.1)?;
        let given = history.goal().objectives().iter().zip(&seen.scales);
        for (r, (objective, scale)) in reference.iter_mut().zip(given) {
            if let Some(given) = objective.reference {
                *r = scale.target(objective.direction.turn(given));
            }
        }
        front.extend(&pool.means_at(&ahead));
        let mut known = seen.points.clone();
        known.extend(pending);
        Picks { nursery, pool, front, reference, ranges, known, occupied }.choose(first, count, rng)
    }
}

/// What a batch is chosen by.
struct Known<'a> {
    evidence: Evidence<'a>,
    seen: &'a Seen,
    models: &'a [Surrogate],
    feasibility: &'a Feasibility,
}

/// The variance of some numbers, of which there must be one.
fn variance(numbers: &[f64]) -> f64 {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / n
}

/// A tenth beyond the nadir of two fronts together, and the range of each objective on them. With more than [`EXACT`] objectives most rows
/// are on a front, and some are there for one low value with all others far too high: they would move the reference point so far out that gains are
/// made far from the front. There the nadir is the value that [`MOST_OF_FRONT`] of the rows stay below.
fn reference(observed: &Points, predicted: &Points) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut both = observed.clone();
    both.extend(predicted);
    let front = pareto::front(&both)?;
    let mut reference = Vec::with_capacity(both.dim());
    let mut ranges = Vec::with_capacity(both.dim());
    for j in 0..both.dim() {
        let mut values: Vec<f64> = front.iter().map(|&i| both.row(i)[j]).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let (low, highest) = (values[0], values[last]);
        let high = match both.dim() <= EXACT {
            true => highest,
            false => {
                let most = values[(last as f64 * MOST_OF_FRONT) as usize];
                most.max(low + LEAST_RANGE * (highest - low))
            }
        };
        let range = (high - low).max(1e-9);
        reference.push(high + BEYOND * range);
        ranges.push(range);
    }
    Ok((reference, ranges))
}
