//! A batch under measured constraints: each pick solves a problem of its own.
//!
//! ```text
//! minimise   μ_f(x) - b σ_f(x)     subject to   μ_k(x) + a σ_k(x) <= 0   for every constraint k
//! ```
//! A batch goes through a ladder of pairs (a, b): a > 0 is cautious, a < 0 and b > 0 are optimistic. Constrained optima lie on the edge of what is
//! allowed, which random candidates hardly hit: the best candidate is where an augmented Lagrangian with exact
//! gradients starts (descent/augmented_lagrangian.rs). Two rungs explore instead: the candidate with the largest
//!
//! ```text
//! ln EI(x) + Σ_k w_k ln Φ(-μ_k/σ_k) + Σ over earlier picks p of ln(1 - k(x, p)²)
//! ```
//! Where no trial meets all constraints, EI is left out there, and the solver misses them as little as it can. The
//! weights w_k make a constraint that is given twice count once (violation.rs).
//!
//! Integers: solved as real numbers first; then each choice of the levels below and above is fixed, and the rest is solved.
//!
//! Cost: some hundred gradients of every model for each rung of the ladder.

use super::nursery::Nursery;
use super::surrogate::Surrogate;
use crate::descent::augmented_lagrangian::{Settings, Terms, minimise};
use crate::domain::Occupied;
use crate::error::Result;
use crate::gaussian_process::tail::{log_cumulative, log_improvement};
use crate::gaussian_process::{Posterior, Prediction};
use crate::points::Points;
use crate::seed::{Rng, Seed};
use crate::space::{Kind, SearchSpace};
use crate::strategy::auto::feasibility::Feasibility;

/// What a pick does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rung {
    /// Solves with these deviations: of the constraints, and of the objective.
    Solve { caution: f64, optimism: f64 },
    /// Takes the candidate that is most likely to be an improvement.
    Explore,
}

const fn solve(caution: f64, optimism: f64) -> Rung {
    Rung::Solve { caution, optimism }
}

const LADDER: [Rung; 10] = [
    solve(0.0, 0.0),
    solve(0.5, 0.0),
    solve(-0.5, 0.0),
    Rung::Explore,
    solve(1.0, 0.0),
    solve(-1.0, 0.5),
    solve(0.0, 0.5),
    solve(0.25, 0.0),
    solve(-2.0, 1.0),
    Rung::Explore,
];
/// Candidates all over the space, children of the best trials, and of each generation.
const SPREAD: usize = 400;
const LOCAL: usize = 400;
const CHILDREN: usize = 250;
const GENERATIONS: usize = 3;
/// Deviations of the steps of children: of the best trials, of the first generation, and of later ones.
const FIRST_STEPS: (f64, f64) = (3e-3, 0.3);
const STEPS: (f64, f64) = (1e-3, 0.2);
const LATER_STEPS: (f64, f64) = (1e-3, 0.05);
/// Parents by each of the pairs, and by the likelihood of an improvement.
const PARENT_PAIRS: [(f64, f64); 3] = [(0.0, 0.0), (0.5, 0.0), (-1.0, 0.5)];
const PARENTS: usize = 8;
const LIKELY_PARENTS: usize = 10;
/// A total violation below which a solution counts as meeting the constraints, and a candidate.
const MET: f64 = 1e-6;
const CANDIDATE_MET: f64 = 1e-9;
/// How far picks must be from known points, in the largest difference of a coordinate: solved ones and others.
const APART: f64 = 1e-6;
const FAR_APART: f64 = 1e-4;
/// Integers whose levels below and above are both tried.
const BOTH_LEVELS: usize = 3;
/// The probability of a value that a solution must have.
const LIKELY: f64 = 0.5;

/// All that picks are made from.
pub(super) struct Constrained<'a> {
    pub(super) space: &'a SearchSpace,
    /// Several objectives count with their mean.
    pub(super) objectives: &'a [Surrogate],
    pub(super) constraints: &'a [Surrogate],
    /// w_k.
    pub(super) weights: &'a [f64],
    pub(super) feasibility: &'a Feasibility,
    /// The target of the best trial that meets all constraints; `None` while there is none.
    pub(super) best: Option<f64>,
    /// The best trials: those that meet the constraints by value, then the others by violation.
    pub(super) parents: Points,
    /// Points with values or pending.
    pub(super) known: Points,
    /// Points that are pending.
    pub(super) pending: &'a Points,
}

/// What the models say of a candidate.
struct Candidate {
    x: Vec<f64>,
    objective: Prediction,
    constraints: Vec<Prediction>,
    /// ln of the probability of a value.
    chance: f64,
}

impl Constrained<'_> {
    /// `count` picks, of which the first is the `first`-th trial of the search.
    pub(super) fn choose(
        mut self,
        (first, count): (usize, usize),
        seed: Seed,
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let candidates = self.candidates(first, seed, rng)?;
        let likely: Vec<f64> =
            candidates.iter().map(|candidate| self.likelihood(candidate)).collect();
        let mut apart: Vec<f64> = vec![0.0; candidates.len()];
        let mut chosen = Points::with_capacity(self.space.dim(), count);
        for x in self.pending.rows() {
            self.keep_apart(&candidates, x, &mut apart);
        }
        for pick in 0..count {
            let rung = match pick < LADDER.len() {
                true => LADDER[(first + pick) % LADDER.len()],
                // A rung that comes again would solve the same problem again.
                false => Rung::Explore,
            };
            let solved = match rung {
                Rung::Solve { caution, optimism } => {
                    self.solved(&candidates, caution, optimism, occupied)?
                }
                Rung::Explore => None,
            };
            let explored = || {
                let mut order: Vec<usize> = (0..candidates.len()).collect();
                let value = |&i: &usize| likely[i] + apart[i];
                order.sort_by(|a, b| value(b).total_cmp(&value(a)).then(a.cmp(b)));
                let free = |x: &[f64]| occupied.is_free(x) && self.gap(x) > FAR_APART;
                let all = || order.iter().map(|&i| &candidates[i].x);
                let found = all().find(|x| free(x)).or_else(|| all().find(|x| occupied.is_free(x)));
                found.cloned()
            };
            // Where every candidate is taken, the caller finds a free place nearby.
            let x = solved.or_else(explored).unwrap_or_else(|| self.space.sample(rng));
            occupied.insert(&x);
            self.keep_apart(&candidates, &x, &mut apart);
            self.known.push(&x);
            chosen.push(&x);
        }
        Ok(chosen)
    }

    /// Lowers the score of candidates near x.
    fn keep_apart(&self, candidates: &[Candidate], x: &[f64], apart: &mut [f64]) {
        let kernel = self.objectives[0].posterior().kernel();
        for (candidate, apart) in candidates.iter().zip(apart) {
            let alike = kernel.value(&candidate.x, x);
            *apart += (1.0 - alike * alike).max(1e-12).ln();
        }
    }

    /// Candidates all over the space, and generations of children of the best.
    fn candidates(&self, first: usize, seed: Seed, rng: &mut Rng) -> Result<Vec<Candidate>> {
        let nursery = Nursery::new(self.space);
        let mut points = nursery.spread(SPREAD, first, seed, rng);
        if !nursery.breeds() {
            return Ok(self.predicted(&points));
        }
        points.extend(&nursery.children(&self.parents, LOCAL, FIRST_STEPS, rng));
        let mut candidates = self.predicted(&points);
        for generation in 0..GENERATIONS {
            let mut parents = Points::new(self.space.dim());
            for (caution, optimism) in PARENT_PAIRS {
                for i in self.ranked(&candidates, caution, optimism, PARENTS) {
                    parents.push(&candidates[i].x);
                }
            }
            let likely: Vec<f64> = candidates.iter().map(|one| self.likelihood(one)).collect();
            let best =
                lowest(candidates.len(), LIKELY_PARENTS, |i, j| likely[j].total_cmp(&likely[i]));
            best.into_iter().for_each(|i| parents.push(&candidates[i].x));
            let steps = if generation == 0 { STEPS } else { LATER_STEPS };
            candidates.extend(self.predicted(&nursery.children(&parents, CHILDREN, steps, rng)));
        }
        Ok(candidates)
    }

    fn predicted(&self, points: &Points) -> Vec<Candidate> {
        let all = |models: &[Surrogate]| -> Vec<Vec<Prediction>> {
            let own = |model: &Surrogate| -> Vec<Prediction> {
                let posterior: &Posterior = model.posterior();
                model.predict_all(posterior, points)
            };
            models.iter().map(own).collect()
        };
        let (objectives, constraints) = (all(self.objectives), all(self.constraints));
        let candidate = |(i, x): (usize, &[f64])| Candidate {
            x: x.to_vec(),
            objective: mean_of(objectives.iter().map(|column| column[i])),
            constraints: constraints.iter().map(|column| column[i]).collect(),
            chance: self.feasibility.probability(x).ln(),
        };
        points.rows().enumerate().map(candidate).collect()
    }

    /// ln of expected improvement times the probability of meeting all constraints and of a value.
    fn likelihood(&self, candidate: &Candidate) -> f64 {
        let met = candidate
            .constraints
            .iter()
            .zip(self.weights)
            .map(|(c, weight)| weight * log_cumulative(-c.mean / c.deviation).value);
        let improvement = self.best.map_or(0.0, |best| {
            let Prediction { mean, deviation } = candidate.objective;
            deviation.ln() + log_improvement((best - mean) / deviation).value
        });
        improvement + met.sum::<f64>() + candidate.chance
    }

    /// The value and the total violation of a candidate under a pair of widths.
    fn score(&self, candidate: &Candidate, caution: f64, optimism: f64) -> (f64, f64) {
        let missed = |((c, model), weight): ((&Prediction, &Surrogate), &f64)| {
            weight * ((c.mean + caution * c.deviation) / model.scale()).max(0.0)
        };
        let violation =
            candidate.constraints.iter().zip(self.constraints).zip(self.weights).map(missed);
        let unlikely = (LIKELY - candidate.chance.exp()).max(0.0);
        let value = candidate.objective.mean - optimism * candidate.objective.deviation;
        (violation.sum::<f64>() + unlikely, value)
    }

    /// The best candidates under a pair of widths: by violation, then by value.
    fn ranked(
        &self,
        candidates: &[Candidate],
        caution: f64,
        optimism: f64,
        count: usize,
    ) -> Vec<usize> {
        let scores: Vec<(f64, f64)> = candidates
            .iter()
            .map(|candidate| {
                let (violation, value) = self.score(candidate, caution, optimism);
                (if violation < CANDIDATE_MET { 0.0 } else { violation }, value)
            })
            .collect();
        lowest(candidates.len(), count, |i, j| {
            scores[i].0.total_cmp(&scores[j].0).then(scores[i].1.total_cmp(&scores[j].1))
        })
    }

    /// The free solution of a pair of widths; `None` if it is known already.
    fn solved(
        &self,
        candidates: &[Candidate],
        caution: f64,
        optimism: f64,
        occupied: &Occupied<'_>,
    ) -> Result<Option<Vec<f64>>> {
        let Some(&start) = self.ranked(candidates, caution, optimism, 1).first() else {
            return Ok(None);
        };
        let start = &candidates[start].x;
        let mut solutions = Points::from_rows(start.len(), [start]);
        if self.space.candidates().is_none() {
            let (real, integers) = self.movable(start);
            let descend = |x: &[f64], free: &[usize]| self.descend(x, free, caution, optimism);
            if !real.is_empty() {
                solutions.push(&descend(start, &real)?);
            }
            if !integers.is_empty() {
                let both: Vec<usize> = real.iter().chain(&integers).copied().collect();
                let relaxed = descend(start, &both)?;
                for levels in self.around(&relaxed, &integers) {
                    solutions.push(&if real.is_empty() {
                        levels
                    } else {
                        descend(&levels, &real)?
                    });
                }
            }
        }
        solutions.rows_mut().for_each(|x| self.space.settle(x));
        let mut scored: Vec<((f64, f64), Candidate)> = self
            .predicted(&solutions)
            .into_iter()
            .map(|candidate| {
                let (violation, value) = self.score(&candidate, caution, optimism);
                ((if violation < MET { 0.0 } else { violation }, value), candidate)
            })
            .collect();
        scored.sort_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let free = |x: &[f64]| occupied.is_free(x) && self.gap(x) > APART;
        Ok(scored.into_iter().map(|(_, candidate)| candidate.x).find(|x| free(x)))
    }

    /// The coordinates of active real dimensions at x, and those of active integers.
    fn movable(&self, x: &[f64]) -> (Vec<usize>, Vec<usize>) {
        let (mut real, mut integers) = (Vec::new(), Vec::new());
        for (i, active) in self.space.active(x).into_iter().enumerate() {
            let coordinates = self.space.coordinates(i);
            match self.space.dimensions()[i].kind {
                Kind::Real { .. } | Kind::Shares { .. } if active => real.extend(coordinates),
                Kind::Integer { .. } if active => integers.extend(coordinates),
                _ => {}
            }
        }
        (real, integers)
    }

    /// x with each choice of the levels below and above, of the first few integers; the others at their nearest.
    fn around(&self, x: &[f64], integers: &[usize]) -> Vec<Vec<f64>> {
        let snapped = |coordinate: usize, at: f64| {
            let mut moved = x.to_vec();
            moved[coordinate] = at.clamp(0.0, 1.0);
            self.space.snap(&mut moved);
            moved[coordinate]
        };
        // The nearest level on the wanted side: ever longer steps, until one is found.
        let level = |coordinate: usize, side: f64| {
            let from = x[coordinate];
            let steps = (0..16).map(|i| side * 3e-5 * f64::from(1 << i));
            let levels =
                std::iter::once(0.0).chain(steps).map(|step| snapped(coordinate, from + step));
            levels.into_iter().find(|at| (at - from) * side >= 0.0).unwrap_or(from)
        };
        let mut all = vec![x.to_vec()];
        for &coordinate in integers.iter().take(BOTH_LEVELS) {
            let (below, above) = (level(coordinate, -1.0), level(coordinate, 1.0));
            let sides: &[f64] = if below == above { &[below] } else { &[below, above] };
            all = all
                .iter()
                .flat_map(|x| {
                    sides.iter().map(move |&side| {
                        let mut x = x.clone();
                        x[coordinate] = side;
                        x
                    })
                })
                .collect();
        }
        for x in &mut all {
            for &coordinate in integers.iter().skip(BOTH_LEVELS) {
                x[coordinate] = snapped(coordinate, x[coordinate]);
            }
        }
        all
    }

    /// The solution from x in some of its coordinates.
    fn descend(&self, x: &[f64], free: &[usize], caution: f64, optimism: f64) -> Result<Vec<f64>> {
        let (mut low, mut high) = (x.to_vec(), x.to_vec());
        for &k in free {
            (low[k], high[k]) = (0.0, 1.0);
        }
        let mut weights = self.weights.to_vec();
        weights.push(1.0);
        let mut slope = vec![0.0; x.len()];
        let evaluate = |x: &[f64], terms: &mut Terms| {
            self.terms(x, caution, optimism, terms, &mut slope);
        };
        minimise(evaluate, &weights, x, (&low, &high), Settings::default())
    }

    /// The problem of a pair of widths at x. The last constraint is that a value is likely.
    fn terms(&self, x: &[f64], caution: f64, optimism: f64, terms: &mut Terms, slope: &mut [f64]) {
        terms.value = 0.0;
        terms.gradient.fill(0.0);
        let share = 1.0 / self.objectives.len() as f64;
        let mut gradient = vec![0.0; x.len()];
        for model in self.objectives {
            let value = lowered(model, x, -optimism, &mut gradient, slope);
            terms.value += share * value;
            terms.gradient.iter_mut().zip(&gradient).for_each(|(sum, g)| *sum += share * g);
        }
        for (k, model) in self.constraints.iter().enumerate() {
            let value = lowered(model, x, caution, &mut terms.slopes[k], slope);
            terms.constraints[k] = value / model.scale();
            terms.slopes[k].iter_mut().for_each(|g| *g /= model.scale());
        }
        let last = self.constraints.len();
        let chance = self.feasibility.probability_and_gradient(x, &mut terms.slopes[last]);
        terms.constraints[last] = LIKELY - chance;
        terms.slopes[last].iter_mut().for_each(|g| *g = -*g);
    }

    /// The distance to the nearest known point, in the largest difference of a coordinate.
    fn gap(&self, x: &[f64]) -> f64 {
        let gap =
            |known: &[f64]| known.iter().zip(x).fold(0.0_f64, |gap, (a, b)| gap.max((a - b).abs()));
        self.known.rows().map(gap).fold(f64::INFINITY, f64::min)
    }
}

/// The mean plus `width` deviations; the gradient goes to `gradient`.
fn lowered(
    model: &Surrogate,
    x: &[f64],
    width: f64,
    gradient: &mut [f64],
    slope: &mut [f64],
) -> f64 {
    if width == 0.0 {
        return model.mean_and_gradient(x, gradient);
    }
    let prediction = model.predict_with_gradients(x, gradient, slope);
    gradient.iter_mut().zip(slope).for_each(|(g, s)| *g += width * *s);
    prediction.mean + width * prediction.deviation
}

/// The prediction of the mean of some quantities, their deviations averaged as if they rose and fell together.
fn mean_of(predictions: impl ExactSizeIterator<Item = Prediction>) -> Prediction {
    let share = 1.0 / predictions.len().max(1) as f64;
    let zero = Prediction { mean: 0.0, deviation: 0.0 };
    predictions.fold(zero, |sum, one| Prediction {
        mean: sum.mean + share * one.mean,
        deviation: sum.deviation + share * one.deviation,
    })
}

/// The first `count` of `len` numbers in an order; the lower of equals first.
fn lowest(
    len: usize,
    count: usize,
    order: impl Fn(usize, usize) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut all: Vec<usize> = (0..len).collect();
    all.sort_by(|&i, &j| order(i, j).then(i.cmp(&j)));
    all.truncate(count);
    all
}
