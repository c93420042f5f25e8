//! Spaces with choices, levels, conditions or a finite list: the same model without a region.
//!
//! Numbers lie on the unit interval, categories are one-hot blocks with a length scale for each block, so that two
//! points differ by the same amount whichever categories they have. The target is the half-rank of the value; the
//! acquisition is the expected improvement of the function over its best posterior mean at a trial, times the probability
//! of a value. Candidates are random configurations and mutations of the best; the winner climbs by single changes.
//! Nothing is ever suggested twice.
//!
//! Trust regions did not help on tuning tables: choices have no neighbourhood to shrink.
//!
//! Cost: O(n³) for n ≤ `BEST + LATEST` trials, however long history is.

use super::branches::Branch;
use super::cloud::Latest;
use super::expectation::{self, Scale};
use super::feasibility::Feasibility;
use super::local_model::{HyperParameters, LocalModel, Prior, Shape};
use super::picks::{MOST_PENDING, belief};
use super::replay::{EVERY, WINDOW};
use super::{Auto, Part, target};
use crate::domain::Occupied;
use crate::error::Result;
use crate::forecast::Forecast;
use crate::gaussian_process::tail::log_improvement;
use crate::gaussian_process::{Field, Posterior, Prediction};
use crate::history::History;
use crate::points::Points;
use crate::seed::{Rng, below};
use crate::space::SearchSpace;
use crate::strategy::Evidence;

/// Trials that the model sees: the best, and the latest.
const BEST: usize = 100;
const LATEST: usize = 60;
/// Trials without a value that the feasibility sees: the latest.
const FAILED: usize = 60;
/// Resilient steps of the first fit, and of those that follow.
const STEPS: (usize, usize) = (25, 4);
/// Random candidates, the best trials that are mutated, and the mutations of each.
const RANDOM: usize = 300;
const PARENTS: usize = 5;
const MUTATIONS: usize = 24;
/// Candidates of a finite list that are looked at.
const LISTED: usize = 1024;
/// The radii of the climb, and the neighbours tried at each.
const RADII: [f64; 4] = [0.2, 0.1, 0.05, 0.02];
const NEIGHBOURS: usize = 10;
/// ln ℓ ~ N(0, 1) in units of the interval, ln ρ ~ N(ln 0.05, 1.5).
const PRIOR: Prior = Prior { log_scale: (0.0, 1.0), log_noise: (-2.995_732_273_553_991, 1.5) };
/// Noise share ρ above which the best value is taken for luck: four times the mean of its prior. Three functions without
/// noise came to 0.15 at most.
const EVIDENT: f64 = 0.2;

/// The state of the search as a function of history.
#[derive(Debug, Clone)]
pub(super) struct Mixed {
    trials: usize,
    /// Values and trials, best first.
    best: Vec<(f64, usize)>,
    latest: Latest,
    failed: Latest,
    learnt: Option<HyperParameters>,
    shape: Shape,
    /// The branch whose trials alone are seen; all are, if there is none.
    branch: Option<Branch>,
    /// Trials seen.
    seen: usize,
}

impl Mixed {
    pub(super) fn new(space: &SearchSpace, branch: Option<Branch>) -> Self {
        let group = (0..space.dimensions().len())
            .flat_map(|i| space.coordinates(i).map(move |_| i))
            .collect();
        Self {
            trials: 0,
            best: Vec::new(),
            latest: Latest::new(LATEST),
            failed: Latest::new(FAILED),
            learnt: None,
            shape: Shape { group, additive: 0.0 },
            branch,
            seen: 0,
        }
    }

    pub(super) fn trials(&self) -> usize {
        self.trials
    }

    /// Reads history to its end.
    pub(super) fn advance(&mut self, history: &History, settings: &Auto) -> Result<()> {
        let window = history.len() / WINDOW * WINDOW;
        while self.trials < history.len() {
            let trial = self.trials;
            self.trials += 1;
            if self.trials.is_multiple_of(WINDOW) {
                self.learnt = None;
            }
            if !self.holds(history.points().row(trial)) {
                continue;
            }
            self.seen += 1;
            match history.objective().value(trial) {
                None => self.failed.push(trial),
                Some(value) => {
                    self.latest.push(trial);
                    let place = self.best.partition_point(|other| other.0 <= value);
                    if place < BEST {
                        self.best.insert(place, (value, trial));
                        self.best.truncate(BEST);
                    }
                }
            }
            if self.seen.is_multiple_of(EVERY) && self.trials >= window && !self.best.is_empty() {
                let seen = self.seen(history, settings);
                self.learnt = Some(self.learn(&seen)?);
            }
        }
        Ok(())
    }

    fn holds(&self, x: &[f64]) -> bool {
        self.branch.as_ref().is_none_or(|branch| branch.holds(x))
    }

    fn sample(&self, space: &SearchSpace, rng: &mut Rng) -> Vec<f64> {
        match &self.branch {
            Some(branch) => branch.sample(space, rng),
            None => space.sample(rng),
        }
    }

    /// The trials that the model sees, in the order of history.
    fn seen(&self, history: &History, settings: &Auto) -> Seen {
        let mut trials: Vec<usize> =
            self.best.iter().map(|best| best.1).chain(self.latest.iter()).collect();
        trials.sort_unstable();
        trials.dedup();
        let row = |&i: &usize| history.points().row(i);
        let points = Points::from_rows(history.points().dim(), trials.iter().map(row));
        let values: Vec<f64> =
            trials.iter().filter_map(|&i| history.objective().value(i)).collect();
        let targets = match settings.uses(Part::Thresholds) {
            true => target::half_rank(&values),
            false => target::labels(&values),
        };
        Seen { trials, points, targets }
    }

    fn learn(&self, seen: &Seen) -> Result<HyperParameters> {
        let groups = self.shape.group.last().map_or(0, |last| last + 1);
        let (mut learnt, steps) = match self.learnt.clone() {
            Some(learnt) => (learnt, STEPS.1),
            None => (HyperParameters::new(groups, PRIOR), STEPS.0),
        };
        learnt.improve(&self.shape, &seen.points, &seen.targets, PRIOR, steps)?;
        Ok(learnt)
    }

    /// The trial with the best posterior mean; `None` where noise is not evident.
    pub(super) fn recommend(&self, history: &History, settings: &Auto) -> Result<Option<usize>> {
        let seen = self.seen(history, settings);
        let learnt = self.learnt(&seen)?;
        let model = LocalModel::fit(&learnt, &self.shape, &seen.points, &seen.targets)?;
        let noisy = model.noise > EVIDENT;
        Ok(model.best_of(&seen.points).filter(|_| noisy).map(|place| seen.trials[place]))
    }

    /// What the model expects of each point, where `best` is the best value known: nothing while it has seen no value.
    pub(super) fn forecasts<'p>(
        &self,
        history: &History,
        settings: &Auto,
        best: f64,
        at: impl Iterator<Item = &'p [f64]>,
    ) -> Result<Vec<Forecast>> {
        let seen = self.seen(history, settings);
        if seen.trials.is_empty() {
            return Ok(at.map(|_| Forecast::default()).collect());
        }
        let model =
            LocalModel::fit(&self.learnt(&seen)?, &self.shape, &seen.points, &seen.targets)?;
        let feasibility = self.feasibility(history, &seen, &model, settings)?;
        let values: Vec<f64> =
            seen.trials.iter().filter_map(|&i| history.objective().value(i)).collect();
        let scale = Scale::new(&seen.targets, &values);
        let success = |x: &[f64]| feasibility.probability(x);
        Ok(at.map(|x| expectation::forecast(&model, &scale, x, best, success(x))).collect())
    }

    fn feasibility(
        &self,
        history: &History,
        seen: &Seen,
        model: &LocalModel,
        settings: &Auto,
    ) -> Result<Feasibility> {
        let heeds_failures = settings.uses(Part::Feasibility);
        let failed = Points::from_rows(
            history.points().dim(),
            self.failed.iter().filter(|_| heeds_failures).map(|i| history.points().row(i)),
        );
        Feasibility::fit(&failed, &seen.points, model.posterior.kernel())
    }

    fn learnt(&self, seen: &Seen) -> Result<HyperParameters> {
        match &self.learnt {
            Some(learnt) => Ok(learnt.clone()),
            None => self.learn(seen),
        }
    }

    /// `count` free configurations.
    pub(super) fn choose(
        &self,
        evidence: Evidence<'_>,
        count: usize,
        settings: &Auto,
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let Evidence { space, history, pending, .. } = evidence;
        let seen = self.seen(history, settings);
        let learnt = self.learnt(&seen)?;
        let model = LocalModel::fit(&learnt, &self.shape, &seen.points, &seen.targets)?;
        let feasibility = self.feasibility(history, &seen, &model, settings)?;
        let best = seen.points.rows().map(|x| model.posterior.mean(&model.weights, x));
        let incumbent = best.fold(f64::NEG_INFINITY, f64::max);
        let mut posterior =
            model.posterior.extend(pending.rows().filter(|x| self.holds(x)).take(MOST_PENDING))?;
        let mut weights = model.weights.clone();
        weights.resize(posterior.len(), 0.0);

        let candidates = self.candidates(space, history, occupied, rng);
        let belief = belief(evidence.issued());
        let chance = |x: &[f64]| feasibility.probability(x).ln() + belief * space.log_prior(x);
        let chances: Vec<f64> = candidates.rows().map(chance).collect();
        let mut field = Field::new(&posterior, &weights, candidates);
        let improvement = |prediction: Prediction| {
            let deviation = prediction.deviation * model.scale;
            deviation.ln() + log_improvement((prediction.mean - incumbent) / deviation).value
        };
        let mut chosen = Points::with_capacity(space.dim(), count);
        for _ in 0..count {
            let mut winner: Option<(f64, usize)> = None;
            for (i, chance) in chances.iter().enumerate() {
                let value = improvement(field.prediction(i, &posterior)) + chance;
                if winner.is_none_or(|winner| value > winner.0)
                    && occupied.is_free(field.points().row(i))
                {
                    winner = Some((value, i));
                }
            }
            let x = match winner {
                Some((value, i)) => {
                    let start = (value, field.points().row(i).to_vec());
                    let value = |posterior: &Posterior, at: &Points| -> Vec<f64> {
                        let all = posterior.predict_all(&weights, at);
                        all.into_iter()
                            .zip(at.rows())
                            .map(|(p, x)| improvement(p) + chance(x))
                            .collect()
                    };
                    self.climb(space, occupied, start, |at| value(&posterior, at), rng)
                }
                // All candidates are taken: the caller finds a free place nearby.
                None => self.sample(space, rng),
            };
            occupied.insert(&x);
            posterior = posterior.extend([x.as_slice()])?;
            weights.push(0.0);
            field.take_in(&posterior);
            chosen.push(&x);
        }
        Ok(chosen)
    }

    /// Free configurations to choose from.
    fn candidates(
        &self,
        space: &SearchSpace,
        history: &History,
        occupied: &Occupied<'_>,
        rng: &mut Rng,
    ) -> Points {
        let mut candidates = Points::new(space.dim());
        let mut add = |x: &[f64]| {
            if occupied.is_free(x) && self.holds(x) {
                candidates.push(x);
            }
        };
        if let Some(listed) = space.candidates() {
            let start = below(rng, listed.len());
            let step = listed.len().div_ceil(LISTED).max(1);
            for offset in (0..listed.len()).step_by(step) {
                add(listed.row((start + offset) % listed.len()));
            }
            for &(_, parent) in self.best.iter().take(PARENTS) {
                for _ in 0..MUTATIONS / 8 {
                    add(&space.neighbour(history.points().row(parent), rng, 0.1));
                }
            }
            return candidates;
        }
        for _ in 0..RANDOM {
            add(&self.sample(space, rng));
        }
        for &(_, parent) in self.best.iter().take(PARENTS) {
            for m in 0..MUTATIONS {
                // From a fifth of the range down to a thousandth.
                let radius = 0.2 * 5e-3_f64.powf(m as f64 / (MUTATIONS - 1) as f64);
                add(&space.neighbour(history.points().row(parent), rng, radius));
            }
        }
        candidates
    }

    /// The highest of the points met by single changes from `start`.
    fn climb(
        &self,
        space: &SearchSpace,
        occupied: &Occupied<'_>,
        start: (f64, Vec<f64>),
        values: impl Fn(&Points) -> Vec<f64>,
        rng: &mut Rng,
    ) -> Vec<f64> {
        let (mut highest, mut x) = start;
        // Neighbours in a list are found by reading it through.
        let radii = if space.candidates().is_some() { &[][..] } else { &RADII[..] };
        for &radius in radii {
            let mut near = Points::new(space.dim());
            for _ in 0..NEIGHBOURS {
                let neighbour = space.neighbour(&x, rng, radius);
                if occupied.is_free(&neighbour) && self.holds(&neighbour) {
                    near.push(&neighbour);
                }
            }
            for (value, neighbour) in values(&near).into_iter().zip(near.rows()) {
                if value > highest {
                    highest = value;
                    x = neighbour.to_vec();
                }
            }
        }
        x
    }
}

struct Seen {
    trials: Vec<usize>,
    points: Points,
    targets: Vec<f64>,
}
