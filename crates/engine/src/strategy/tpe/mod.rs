//! The tree-structured Parzen estimator: densities of good and of bad points, and where their ratio is high.
//!
//! The trials with the lowest values are good, all others bad. A Parzen estimator (see parzen.rs) is fitted
//! to each; candidates are drawn from the density ℓ of the good, and the one with the highest
//! ln ℓ(x) - ln g(x) is taken (Bergstra et al., *Algorithms for hyper-parameter optimization*, 2011). The
//! estimators are multivariate, as in Falkner, Klein and Hutter (*BOHB*, 2018) and in Optuna's TPE of today,
//! whose defaults these are.
//!
//! - Trials that failed or are infeasible are bad.
//! - Pending points, and those of the batch chosen so far, are bad as well: a constant liar that tells the
//!   worst value, so that no point is chosen twice for the same reason.
//! - Old trials fade: of n trials in a density the latest 25 have weight 1, the others from 1/n rising to 1.
//! - Dimensions that are inactive at a point say nothing there (see parzen.rs).
//! - Candidates that are taken are passed over; if all are, the best of them moves to a free point nearby.
//!
//! Cost: O(d n log n) a point, where n counts the bad trials used, at most `most_bad`: a longer list is
//! thinned evenly, each of those kept standing for the ones left out.

mod parzen;

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy, column_of};
use crate::column::Column;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::forecast::{Forecast, Forecasts, Good};
use crate::goal::Goal;
use crate::history::History;
use crate::named::Named;
use crate::points::Points;
use crate::space::SearchSpace;
use parzen::{Observation, Parzen};

/// How many of n trials with a value are good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoodCount {
    /// ⌈n/10⌉, at most 25: Optuna's.
    #[default]
    Tenth,
    /// ⌈√n/4⌉, at most 25: HyperOpt's.
    Root,
}

impl GoodCount {
    fn of(self, trials: usize) -> usize {
        let count = match self {
            Self::Tenth => trials.div_ceil(10),
            Self::Root => (0.25 * (trials as f64).sqrt()).ceil() as usize,
        };
        count.min(25)
    }
}

/// How wide the kernel around a number is, as a share of the interval. Never below 1/min(100, n + 2) for n
/// observations, so that a few of them leave no gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bandwidth {
    /// The distance to the farther of its two neighbours, at most 1: Bergstra's, and Optuna's from version 5.
    #[default]
    Neighbours,
    /// 0.2 n^(-1/(d + 4)), after Scott's rule: Optuna's multivariate one before version 5.
    Scott,
}

/// The tree-structured Parzen estimator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tpe {
    /// How many trials are drawn at random before the densities are used; 10, as in Optuna.
    pub initial: usize,
    /// How many candidates are drawn for each point; 24, as in HyperOpt and Optuna.
    pub candidates: usize,
    /// How many of n trials with a value count as good: a `Tenth` of them, as in Optuna, or a quarter of their `Root`, as in
    /// HyperOpt; at most 25.
    pub good: GoodCount,
    /// How wide the kernels are: as far as the farther of the two `Neighbours`, or by `Scott`'s rule. Wider ones explore more.
    pub bandwidth: Bandwidth,
    /// The most bad trials that are used, pending ones not counted; 1000.
    pub most_bad: usize,
}

impl Named for Tpe {
    const NAME: &'static str = "tpe";
    const DESCRIPTION: &'static str = "tree-structured Parzen estimator, multivariate";
}

impl Default for Tpe {
    fn default() -> Self {
        Self {
            initial: 10,
            candidates: 24,
            good: GoodCount::default(),
            bandwidth: Bandwidth::default(),
            most_bad: 1000,
        }
    }
}

impl Strategy for Tpe {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn scope(&self) -> &'static str {
        "it serves every goal"
    }

    fn check(&self, _: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        for (field, value) in [("candidates", self.candidates), ("most-bad", self.most_bad)] {
            if value == 0 {
                return Err(Error::invalid(field, value, "at least 1"));
            }
        }
        Ok(())
    }

    fn propose(&self, evidence: Evidence, size: usize, _: &mut Memory) -> Result<Points> {
        let initial = Initial::FirstAndUnvalued(self.initial);
        place(evidence, size, "tpe-initial", initial, |opening| {
            let Evidence { space, history, seed, .. } = opening.evidence;
            let axes = Axis::all(space);
            let column = column_of(history)?;
            let (good, bad) = self.split(history, &column);
            let good_density = Parzen::fit(space, &axes, &good, self.bandwidth);
            let incumbents = Points::new(space.dim());
            let mut ahead = opening.evidence.pending.clone();
            let mut chosen = Points::with_capacity(space.dim(), opening.count);
            for place in opening.first..opening.first + opening.count {
                let mut rng = seed.stream("tpe", place as u64);
                let domain = Domain { pending: &ahead, ..opening.domain(&incumbents) };
                let liars = ahead.rows().map(|x| Observation { x, weight: 1.0 });
                let bad: Vec<Observation<'_>> = bad.iter().copied().chain(liars).collect();
                let bad_density = Parzen::fit(space, &axes, &bad, self.bandwidth);
                let occupied = domain.occupied();
                let mut best: Option<(bool, f64, Vec<f64>)> = None;
                for _ in 0..self.candidates {
                    let x = good_density.sample(&mut rng);
                    let free = occupied.is_free(&x);
                    let score = good_density.log_density(&x) - bad_density.log_density(&x);
                    if best.as_ref().is_none_or(|best| (free, score) > (best.0, best.1)) {
                        best = Some((free, score, x));
                    }
                }
                let winner = Points::from_rows(space.dim(), best.map(|(_, _, x)| x));
                let settled = domain.settle(&winner, &mut rng)?;
                chosen.extend(&settled);
                ahead.extend(&settled);
            }
            Ok(chosen)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, _: &mut Memory) -> Result<Forecasts> {
        let Evidence { space, history, .. } = evidence;
        let column = column_of(history)?;
        let ranking = column.ranking();
        let count = self.good.of(ranking.len());
        let threshold = count.checked_sub(1).and_then(|rank| ranking.nth(rank));
        let Some(threshold) = threshold else { return Ok(None) };
        let threshold = Some(threshold).filter(|_| history.goal().is_single());
        let axes = Axis::all(space);
        let (good, bad) = self.split(history, &column);
        // Without a bad trial there is nothing to tell good ones from. Of equal values at the threshold, as many count as
        // good as the rule wants: the forecast is of the model that proposes.
        if bad.is_empty() {
            return Ok(None);
        }
        let density = |all: &[Observation<'_>]| Parzen::fit(space, &axes, all, self.bandwidth);
        let (good_density, bad_density) = (density(&good), density(&bad));
        // γ is the share of the good trials; by Bayes' rule, γℓ / (γℓ + (1 - γ)g).
        let share = good.len() as f64 / history.len() as f64;
        let prior = share.ln() - (1.0 - share).ln();
        let forecast = |x: &[f64]| {
            let logit = prior + good_density.log_density(x) - bad_density.log_density(x);
            let probability = 1.0 / (1.0 + (-logit).exp());
            let good = Good { threshold, probability, upper_bound: None };
            Forecast { good: Some(good), ..Forecast::default() }
        };
        Ok(Some(at.rows().map(forecast).collect()))
    }
}

impl Tpe {
    /// The good trials and the bad ones, each in the order in which they were told and with their weights.
    fn split<'h>(
        &self,
        history: &'h History,
        column: &Column,
    ) -> (Vec<Observation<'h>>, Vec<Observation<'h>>) {
        let count = self.good.of(column.ranking().len());
        let threshold = count.checked_sub(1).and_then(|rank| column.ranking().nth(rank));
        let lower = |value: f64| threshold.is_some_and(|threshold| value < threshold);
        let values = || column.values().flatten();
        // Of equal values at the threshold, the first told.
        let mut equal = count - values().filter(|&value| lower(value)).count().min(count);
        let (mut good, mut bad) = (Vec::with_capacity(count), Vec::new());
        for (i, value) in column.values().enumerate() {
            let is_good = value.is_some_and(|value| {
                let tied = Some(value) == threshold && equal > 0;
                equal -= usize::from(tied);
                lower(value) || tied
            });
            if is_good { good.push(i) } else { bad.push(i) }
        }
        let observe = |list: &[usize], place: usize, share: f64| Observation {
            x: history.points().row(list[place]),
            weight: share * fading_weight(place, list.len()),
        };
        let good = (0..good.len()).map(|place| observe(&good, place, 1.0)).collect();
        let kept = bad.len().min(self.most_bad);
        let share = bad.len() as f64 / kept.max(1) as f64;
        let bad =
            (0..kept).map(|k| observe(&bad, ((k as f64 + 0.5) * share) as usize, share)).collect();
        (good, bad)
    }
}

/// The weight of the trial told after `place` others, of `count`.
fn fading_weight(place: usize, count: usize) -> f64 {
    const FULL: usize = 25;
    if place + FULL >= count {
        return 1.0;
    }
    let least = 1.0 / count as f64;
    match count - FULL {
        1 => least,
        fading => least + (1.0 - least) * place as f64 / (fading - 1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::seed::Seed;
    use crate::space::Dimension;

    fn propose(tpe: &Tpe, evidence: Evidence<'_>, count: usize) -> Points {
        tpe.propose(evidence, count, &mut Memory::default()).unwrap()
    }

    fn mixed() -> SearchSpace {
        SearchSpace::new([
            Dimension::categorical("c", ["x", "y", "z"]),
            Dimension::boolean("b"),
            Dimension::log_real("r", 1e-4, 1.0).when("b", [true]),
            Dimension::integer("n", 1, 5),
            Dimension::log_integer("m", 1, 1000).when("c", ["x", "z"]),
        ])
        .unwrap()
    }

    fn told(
        space: &SearchSpace,
        count: usize,
        outcome: impl Fn(usize, &[f64]) -> Outcome,
    ) -> History {
        let mut rng = Seed(9).stream("test", 0);
        let mut history = History::new(space.dim());
        for i in 0..count {
            let x = space.sample(&mut rng);
            history.push(&x, outcome(i, &x)).unwrap();
        }
        history
    }

    #[test]
    fn good_counts_and_weights_are_the_published_ones() {
        let counts = |rule: GoodCount| [1, 10, 11, 100, 249, 1000].map(|n| rule.of(n));
        assert_eq!(counts(GoodCount::Tenth), [1, 1, 2, 10, 25, 25]);
        assert_eq!(counts(GoodCount::Root), [1, 1, 1, 3, 4, 8]);
        assert!((0..20).all(|place| fading_weight(place, 20) == 1.0));
        let weights: Vec<f64> = (0..30).map(|place| fading_weight(place, 30)).collect();
        assert!((weights[0] - 1.0 / 30.0).abs() < 1e-15 && weights[4..].iter().all(|w| *w == 1.0));
        assert!(weights[..5].windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(fading_weight(0, 26), 1.0 / 26.0);
    }

    #[test]
    fn failures_are_bad_and_of_equal_values_the_first_is_good() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let outcome = |i: usize, _: &[f64]| match i {
            0 => Outcome::failed(),
            1 => Outcome::Infeasible,
            _ => Outcome::from(7.0),
        };
        let history = told(&space, 22, outcome);
        let (good, bad) = Tpe::default().split(&history, history.objective());
        assert_eq!((good.len(), bad.len()), (2, 20));
        assert_eq!(good[0].x, history.points().row(2));
        assert_eq!(good[1].x, history.points().row(3));
        let thinned = Tpe { most_bad: 7, ..Tpe::default() };
        let (_, few) = thinned.split(&history, history.objective());
        assert_eq!(few.len(), 7);
        let sum = |all: &[Observation<'_>]| all.iter().map(|o| o.weight).sum::<f64>();
        assert!((sum(&few) - sum(&bad)).abs() < 1e-9);
    }

    #[test]
    fn proposals_are_legal_distinct_and_pure_on_a_mixed_space() {
        let space = mixed();
        let history = told(&space, 40, |i, x| match i % 7 {
            0 => Outcome::failed(),
            _ => Outcome::from(x.iter().sum::<f64>()),
        });
        let mut rng = Seed(4).stream("test", 0);
        let pending = Points::from_rows(space.dim(), (0..5).map(|_| space.sample(&mut rng)));
        for bandwidth in [Bandwidth::Neighbours, Bandwidth::Scott] {
            let tpe = Tpe { bandwidth, ..Tpe::default() };
            let evidence =
                Evidence { space: &space, history: &history, pending: &pending, seed: Seed(2) };
            for count in [1, 100] {
                let batch = propose(&tpe, evidence, count);
                assert_eq!(batch, propose(&tpe, evidence, count));
                assert_eq!(batch.len(), count);
                let mut all = pending.clone();
                for x in batch.rows() {
                    let mut snapped = x.to_vec();
                    space.snap(&mut snapped);
                    assert_eq!(snapped, x);
                    assert!(!all.rows().chain(history.points().rows()).any(|other| other == x));
                    all.push(x);
                }
            }
        }
    }

    #[test]
    fn a_batch_is_what_single_asks_give_and_pending_points_repel() {
        let space =
            SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)])
                .unwrap();
        let history = told(&space, 30, |_, x| Outcome::from((x[0] - 0.3).powi(2) + x[1]));
        let none = Points::new(2);
        let evidence = Evidence { space: &space, history: &history, pending: &none, seed: Seed(2) };
        let batch = propose(&Tpe::default(), evidence, 6);
        let mut pending = none.clone();
        for x in batch.rows() {
            let single = propose(&Tpe::default(), Evidence { pending: &pending, ..evidence }, 1);
            assert_eq!(single.row(0), x);
            pending.push(x);
        }
    }

    #[test]
    fn without_a_value_it_is_random_and_a_constant_objective_is_no_obstacle() {
        let space = mixed();
        let failed = told(&space, 15, |_, _| Outcome::failed());
        let none = Points::new(space.dim());
        let evidence = Evidence { space: &space, history: &failed, pending: &none, seed: Seed(2) };
        assert_eq!(propose(&Tpe::default(), evidence, 4).len(), 4);
        let constant = told(&space, 60, |_, _| Outcome::from(0.0));
        let evidence = Evidence { history: &constant, ..evidence };
        assert_eq!(propose(&Tpe::default(), evidence, 4).len(), 4);
    }

    #[test]
    fn a_finite_space_is_used_up_without_repeats() {
        let space =
            SearchSpace::new([Dimension::integer("a", 0, 9), Dimension::boolean("b")]).unwrap();
        let mut history = History::new(2);
        for _ in 0..5 {
            let none = Points::new(2);
            let evidence =
                Evidence { space: &space, history: &history, pending: &none, seed: Seed(2) };
            for x in propose(&Tpe::default(), evidence, 4).rows() {
                history.push(x, Outcome::from(x[0])).unwrap();
            }
        }
        assert_eq!(history.taken().len(), 20);
    }

    #[test]
    fn settings_are_checked_and_read() {
        let space = mixed();
        let error =
            Tpe { candidates: 0, ..Tpe::default() }.check(&space, &Goal::default()).unwrap_err();
        assert_eq!(error.to_string(), "candidates is 0, but must be at least 1");
        let tpe: Tpe = serde_json::from_str(r#"{"good": "root", "bandwidth": "scott"}"#).unwrap();
        assert_eq!((tpe.good, tpe.bandwidth, tpe.initial), (GoodCount::Root, Bandwidth::Scott, 10));
        assert!(serde_json::from_str::<Tpe>(r#"{"gamma": 1}"#).is_err());
    }
}
