//! Importance of parameters: the share of the variance of a value that each parameter causes.
//!
//! For a function f of independent, uniform parameters with variance V (Sobol 1993; Jansen 1999 for the estimators),
//! ```text
//! alone_i = Var(E[f | x_i]) / V            what is known of f once x_i is known
//! total_i = E[Var(f | all but x_i)] / V    what is unknown of f while only x_i is unknown
//! ```
//! Both lie in [0, 1]; `total_i - alone_i` is what x_i does together with others. The values alone add up to at most 1,
//! the totals to at least 1.
//!
//! f is a model of the trials: sums of regression trees, fitted by gradient boosting to standardised values.
//! Twenty such sums are fitted, each to a resample of the trials. Their mean is the estimate, and their 5 % and
//! 95 % quantiles are its interval: it covers what other trials would have changed, not what trees cannot see. How well the
//! model predicts trials that it was not fitted to is [`Importance::explained`]; where that is low, so is the worth of
//! the shares.
//!
//! Shares are over the whole space on the encoded scale (a logarithmic parameter is uniform in its logarithm). A
//! conditional parameter counts where it is active. Among candidates the parameters are taken for independent.
//!
//! Cost for n trials (at most [`Importance::MOST_TRIALS`] are used) and d parameters: O(n d) to fit and O(d) reads of the model at
//! 2,048 pairs of points.

use crate::classifier::parallel::{in_parallel, workers_for};
use crate::classifier::tree::{Bins, Growth, MAX_BINS, Sums, Tree, resample};
use crate::column::Column;
use crate::error::{Error, Result};
use crate::history::History;
use crate::points::Points;
use crate::seed::{Seed, below, uniform};
use crate::space::SearchSpace;

/// Models fitted, each to a resample of the trials.
const MEMBERS: usize = 20;
/// Pairs of random points at which a model is read.
const PAIRS: usize = 2_048;
/// Trees a model adds up.
const ROUNDS: usize = 150;
/// The share of each tree that is added.
const LEARNING_RATE: f64 = 0.1;
/// Levels of a tree: as many parameters may act together.
const DEPTH: usize = 5;

/// An estimate and the interval that 90 % of refits to resampled trials fall into.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The mean over refits.
    pub mean: f64,
    /// 5 % of the refits lie below.
    pub low: f64,
    /// 5 % of the refits lie above.
    pub high: f64,
}

/// What one parameter does.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Share {
    /// The parameter.
    pub name: String,
    /// The share of the variance that the parameter causes by itself, 0 to 1: the `mean` over refits to resampled trials,
    /// and what 5 % of the refits lie below (`low`) and above (`high`).
    pub alone: Estimate,
    /// The share that it causes by itself and together with others, 0 to 1; as an estimate of the same kind.
    pub total: Estimate,
}

/// What each parameter does to a value.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Importance {
    /// The parameters in the order of their declaration.
    pub shares: Vec<Share>,
    /// R² of the model on trials that it was not fitted to: 1 predicts them exactly; at 0 or below it knows nothing, and
    /// the shares mean nothing.
    pub explained: f64,
    /// Trials that the model was fitted to.
    pub trials: usize,
}

impl Importance {
    /// The fewest trials with a value that say anything.
    pub const FEWEST_TRIALS: usize = 10;
    /// The most trials that are used; of more, a random sample.
    pub const MOST_TRIALS: usize = 4_000;

    /// The shares, largest total first.
    pub fn ranked(&self) -> Vec<&Share> {
        let mut ranked: Vec<&Share> = self.shares.iter().collect();
        ranked.sort_by(|a, b| b.total.mean.total_cmp(&a.total.mean));
        ranked
    }

    /// The importance of each parameter for one column of a history, such as
    /// [`history.objective()`](History::objective).
    ///
    /// Fails with fewer than [`Self::FEWEST_TRIALS`] values, and where all values are the same: no parameter is seen to do
    /// anything there, which is not the same as doing nothing.
    pub(crate) fn of(
        space: &SearchSpace,
        history: &History,
        column: &Column,
        seed: Seed,
    ) -> Result<Self> {
        let (points, values) = evidence(history, column, seed);
        if values.len() < Self::FEWEST_TRIALS {
            let allowed =
                format!("at least {} to tell which parameter matters", Self::FEWEST_TRIALS);
            return Err(Error::invalid("the number of trials with a value", values.len(), allowed));
        }
        let Some(values) = standardised(&values) else {
            let allowed = "different in some trials to tell which parameter matters";
            return Err(Error::invalid("the value of every trial", values[0], allowed));
        };
        let bins = Bins::new(&points, MAX_BINS);
        let questions = Questions::new(space, seed);
        let steps = MEMBERS * ROUNDS * DEPTH * points.len() * points.dim();
        let members = in_parallel(MEMBERS, workers_for(steps), |index| {
            let member = Member::fit(&bins, &values, seed, index);
            let shares = questions.ask(&member);
            let left_out = member.left_out(&points);
            (shares, left_out)
        });
        let shares = space.dimensions().iter().enumerate().map(|(i, dimension)| Share {
            name: dimension.name.clone(),
            alone: estimate(members.iter().map(|(shares, _)| shares[i].0).collect()),
            total: estimate(members.iter().map(|(shares, _)| shares[i].1).collect()),
        });
        Ok(Self {
            shares: shares.collect(),
            explained: explained(&values, members.iter().map(|(_, left_out)| left_out)),
            trials: values.len(),
        })
    }
}

/// The points and values to learn from.
fn evidence(history: &History, column: &Column, seed: Seed) -> (Points, Vec<f64>) {
    let mut rows: Vec<usize> =
        (0..column.len()).filter(|&row| column.value(row).is_some()).collect();
    if rows.len() > Importance::MOST_TRIALS {
        let rng = &mut seed.stream("importance trials", 0);
        for kept in 0..Importance::MOST_TRIALS {
            let other = kept + below(rng, rows.len() - kept);
            rows.swap(kept, other);
        }
        rows.truncate(Importance::MOST_TRIALS);
        rows.sort_unstable();
    }
    let points = history.points();
    let values = rows.iter().filter_map(|&row| column.value(row)).collect();
    (Points::from_rows(points.dim(), rows.iter().map(|&row| points.row(row))), values)
}

/// Values with mean 0 and variance 1; `None` if they are all the same.
fn standardised(values: &[f64]) -> Option<Vec<f64>> {
    // Scaled first, so that squares of huge values do not overflow.
    let scale = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let scaled: Vec<f64> = values.iter().map(|value| value / scale).collect();
    let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
    let square = scaled.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let deviation = (square / scaled.len() as f64).sqrt();
    let alike = values.iter().all(|value| *value == values[0]);
    (!alike && deviation > 0.0)
        .then(|| scaled.iter().map(|value| (value - mean) / deviation).collect())
}

/// A sum of trees, fitted to a resample of the trials.
struct Member {
    start: f64,
    trees: Vec<Tree>,
    /// Trials that the resample left out.
    absent: Vec<usize>,
}

impl Member {
    fn fit(bins: &Bins, values: &[f64], seed: Seed, index: usize) -> Self {
        let rng = &mut seed.stream("importance member", index as u64);
        let weights = resample(&vec![1.0; values.len()], rng);
        let total: f64 = weights.iter().sum();
        let start = weights.iter().zip(values).map(|(w, y)| w * y).sum::<f64>() / total;
        let drawn: Vec<u32> =
            (0..weights.len() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
        let growth = Growth {
            features: bins.dim(),
            min_leaf: 2,
            max_depth: DEPTH,
            ridge: 0.1,
            shrinkage: LEARNING_RATE,
        };
        let mut fitted = vec![start; values.len()];
        let mut sums = vec![Sums::default(); values.len()];
        let mut rows = drawn.clone();
        let trees = (0..ROUNDS).map(|_| {
            for &row in &drawn {
                let row = row as usize;
                sums[row] = Sums::one(weights[row] * (fitted[row] - values[row]), weights[row]);
            }
            rows.copy_from_slice(&drawn);
            growth.grow(bins, &sums, &mut rows, rng, |rows, value| {
                rows.iter().for_each(|&row| fitted[row as usize] += value);
            })
        });
        let trees = trees.collect();
        let absent = (0..weights.len()).filter(|&row| weights[row] == 0.0).collect();
        Self { start, trees, absent }
    }

    fn values(&self, points: &Points) -> Vec<f64> {
        let mut values = vec![self.start; points.len()];
        for tree in &self.trees {
            tree.values(points, 0..points.len(), |i, value| values[i] += value);
        }
        values
    }

    /// The trials that the model was not fitted to, and what it predicts for them.
    fn left_out(&self, points: &Points) -> Vec<(usize, f64)> {
        let rows = self.absent.iter().map(|&row| points.row(row));
        let predicted = self.values(&Points::from_rows(points.dim(), rows));
        self.absent.iter().copied().zip(predicted).collect()
    }
}

/// Pairs of points (a, b), and for each parameter the point a with that parameter taken from b.
struct Questions {
    a: Points,
    b: Points,
    exchanged: Vec<Points>,
}

impl Questions {
    fn new(space: &SearchSpace, seed: Seed) -> Self {
        let rng = &mut seed.stream("importance pairs", 0);
        // A conditional parameter has a value while it is inactive, which counts once it is active.
        let mut draw = || match space.candidates() {
            Some(candidates) => candidates.row(below(rng, candidates.len())).to_vec(),
            None => (0..space.dim()).map(|_| uniform(rng)).collect(),
        };
        let drawn: Vec<(Vec<f64>, Vec<f64>)> = (0..PAIRS).map(|_| (draw(), draw())).collect();
        let legal = |mut x: Vec<f64>| {
            if space.candidates().is_none() {
                space.snap(&mut x);
            }
            x
        };
        let points = |rows: Vec<Vec<f64>>| {
            Points::from_rows(space.dim(), rows.into_iter().map(legal).collect::<Vec<_>>())
        };
        let exchanged = (0..space.dimensions().len()).map(|i| {
            let coordinates = space.coordinates(i);
            let mixed = drawn.iter().map(|(a, b)| {
                let mut mixed = a.clone();
                mixed[coordinates.clone()].copy_from_slice(&b[coordinates.clone()]);
                mixed
            });
            points(mixed.collect())
        });
        let exchanged = exchanged.collect();
        let (a, b): (Vec<_>, Vec<_>) = drawn.into_iter().unzip();
        Self { a: points(a), b: points(b), exchanged }
    }

    /// The shares (alone, total) of each parameter by Jansen's estimators.
    fn ask(&self, member: &Member) -> Vec<(f64, f64)> {
        let (at_a, at_b) = (member.values(&self.a), member.values(&self.b));
        let half_square = |u: &[f64], v: &[f64]| {
            let squares = u.iter().zip(v).map(|(u, v)| (u - v).powi(2));
            squares.sum::<f64>() / (2.0 * u.len() as f64)
        };
        let all: Vec<f64> = at_a.iter().chain(&at_b).copied().collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let share =
            |part: f64| if variance > 0.0 { (part / variance).clamp(0.0, 1.0) } else { 0.0 };
        let of = |points: &Points| {
            let at_mixed = member.values(points);
            let alone = variance - half_square(&at_b, &at_mixed);
            (share(alone), share(half_square(&at_a, &at_mixed)))
        };
        self.exchanged.iter().map(of).collect()
    }
}

fn estimate(mut values: Vec<f64>) -> Estimate {
    values.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let at = |part: f64| values[(part * (values.len() - 1) as f64).round() as usize];
    Estimate { mean, low: at(0.05), high: at(0.95) }
}

/// R² of the mean prediction for each trial by the models that were not fitted to it.
fn explained<'a>(values: &[f64], left_out: impl Iterator<Item = &'a Vec<(usize, f64)>>) -> f64 {
    let mut sums = vec![(0.0, 0_u32); values.len()];
    for &(row, predicted) in left_out.flatten() {
        sums[row].0 += predicted;
        sums[row].1 += 1;
    }
    let seen = sums.iter().zip(values).filter(|((_, count), _)| *count > 0);
    let (mut missed, mut spread) = (0.0, 0.0);
    for ((sum, count), value) in seen {
        missed += (value - sum / f64::from(*count)).powi(2);
        spread += value.powi(2);
    }
    1.0 - missed / spread
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::outcome::Outcome;
    use crate::space::Dimension;

    fn history(space: &SearchSpace, trials: usize, value: impl Fn(&[f64]) -> f64) -> History {
        let mut history = History::new(space.dim());
        let rng = &mut Seed(3).stream("trials", 0);
        for _ in 0..trials {
            let x = space.sample(rng);
            history.push(&x, value(&x)).unwrap();
        }
        history
    }

    fn of(space: &SearchSpace, trials: usize, value: impl Fn(&[f64]) -> f64) -> Importance {
        let history = history(space, trials, value);
        Importance::of(space, &history, history.objective(), Seed(1)).unwrap()
    }

    fn cube(dim: usize) -> SearchSpace {
        SearchSpace::new((0..dim).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0))).unwrap()
    }

    /// Each estimate within `tolerance` of the known (alone, total).
    fn assert_near(found: &Importance, known: &[(f64, f64)], tolerance: f64) {
        assert_eq!(found.shares.len(), known.len());
        for (share, (alone, total)) in found.shares.iter().zip(known) {
            for (estimate, known) in [(share.alone, *alone), (share.total, *total)] {
                let Estimate { mean, low, high } = estimate;
                assert!((mean - known).abs() < tolerance, "{}: {mean}, not {known}", share.name);
                assert!(low <= mean && mean <= high && low >= 0.0 && high <= 1.0, "{share:?}");
            }
        }
    }

    #[test]
    fn a_linear_function_has_shares_in_proportion_to_squared_slopes() {
        let found = of(&cube(4), 400, |x| 3.0 * x[0] - 2.0 * x[1] + x[2]);
        let known = [9.0, 4.0, 1.0, 0.0].map(|square| (square / 14.0, square / 14.0));
        assert_near(&found, &known, 0.06);
        assert!(found.explained > 0.9, "{}", found.explained);
        let names: Vec<&str> = found.ranked().iter().map(|share| share.name.as_str()).collect();
        assert_eq!(names, ["x0", "x1", "x2", "x3"]);
    }

    /// sin a + 7 sin² b + c⁴ sin a / 10 on [-π, π]³: c acts through a only (Ishigami and Homma 1990).
    #[test]
    fn the_ishigami_function_has_its_known_shares() {
        let found = of(&cube(3), 1_500, |x| {
            let [a, b, c] = [0, 1, 2].map(|i| PI * (2.0 * x[i] - 1.0));
            a.sin() + 7.0 * b.sin().powi(2) + 0.1 * c.powi(4) * a.sin()
        });
        assert_near(&found, &[(0.314, 0.558), (0.442, 0.442), (0.0, 0.244)], 0.07);
    }

    #[test]
    fn parameters_that_act_only_together_have_no_share_alone() {
        let found = of(&cube(3), 1_000, |x| (x[0] - 0.5) * (x[1] - 0.5));
        assert_near(&found, &[(0.0, 1.0), (0.0, 1.0), (0.0, 0.0)], 0.1);
    }

    #[test]
    fn a_conditional_parameter_counts_where_it_is_active() {
        let space = SearchSpace::new([
            Dimension::categorical("model", ["a", "b"]),
            Dimension::real("rate", 0.0, 1.0).when("model", ["a"]),
        ])
        .unwrap();
        let rate = space.coordinates(1).start;
        let found = of(&space, 600, |x| if space.active(x)[1] { x[rate] } else { 0.5 });
        assert_near(&found, &[(0.0, 0.5), (0.5, 1.0)], 0.08);
    }

    #[test]
    fn candidates_and_categories_are_read_in_their_own_coordinates() {
        let space = SearchSpace::new([
            Dimension::categorical("c", ["x", "y", "z"]),
            Dimension::integer("n", 1, 8),
        ])
        .unwrap();
        let coordinate = space.coordinates(0).start;
        let found = of(&space, 300, |x| x[coordinate]);
        assert_near(&found, &[(1.0, 1.0), (0.0, 0.0)], 0.05);
        let all = (0..24).filter_map(|i| space.nth(i)).map(|x| space.decode(&x));
        let finite = SearchSpace::finite(space.dimensions().to_vec(), all).unwrap();
        let found = of(&finite, 300, |x| x[coordinate]);
        assert_near(&found, &[(1.0, 1.0), (0.0, 0.0)], 0.05);
    }

    #[test]
    fn noise_alone_explains_nothing_and_huge_values_are_numbers_still() {
        let rng = std::cell::RefCell::new(Seed(9).stream("noise", 0));
        let found = of(&cube(2), 300, |_| uniform(&mut rng.borrow_mut()));
        assert!(found.explained < 0.1, "{}", found.explained);
        let found = of(&cube(2), 200, |x| 1e300 * x[0]);
        assert_near(&found, &[(1.0, 1.0), (0.0, 0.0)], 0.05);
    }

    #[test]
    fn more_trials_narrow_the_interval() {
        let width = |trials| {
            let shares = of(&cube(4), trials, |x| (x[0] - 0.3).powi(2) + x[1] * x[2]).shares;
            shares.iter().map(|share| share.total.high - share.total.low).sum::<f64>()
        };
        let (few, many) = (width(60), width(2_000));
        assert!(many < 0.5 * few, "{many} after 2,000 trials, {few} after 60");
    }

    #[test]
    fn failures_are_left_out_and_too_little_evidence_is_refused() {
        let space = cube(2);
        let mut told = history(&space, 9, |x| x[0]);
        told.push(&[0.5, 0.5], Outcome::failed()).unwrap();
        let refused = Importance::of(&space, &told, told.objective(), Seed(1)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the number of trials with a value is 9, but must be at least 10 to tell which parameter matters"
        );
        let same = history(&space, 30, |_| 7.0);
        let refused = Importance::of(&space, &same, same.objective(), Seed(1)).unwrap_err();
        assert!(refused.to_string().starts_with("the value of every trial is 7"), "{refused}");
    }

    #[test]
    fn long_histories_are_sampled_and_the_result_depends_on_the_seed_alone() {
        let space = cube(2);
        let told = history(&space, Importance::MOST_TRIALS + 500, |x| x[0] + 0.5 * x[1]);
        let found = Importance::of(&space, &told, told.objective(), Seed(2)).unwrap();
        assert_eq!(found.trials, Importance::MOST_TRIALS);
        assert_eq!(found, Importance::of(&space, &told, told.objective(), Seed(2)).unwrap());
        assert_ne!(found, Importance::of(&space, &told, told.objective(), Seed(3)).unwrap());
    }
}
