//! Thompson sampling (paper, Appendix B): each point of a batch maximises a draw of its own from the posterior of the classifier.
//!
//! ```text
//! x_i = argmax over x of g_i(x),     g_i ~ posterior of π (or of its logit) given the labels,     i = 1 … M
//! ```
//!
//! Draws differ where the classifier is unsure, so that a batch spreads there by itself: no repulsion and no width. What is drawn:
//!
//! | classifier | draw |
//! |---|---|
//! | `least-squares` | a function of the Gaussian process: jointly at all configurations of a small space, elsewhere by random Fourier features with an exact update |
//! | `bayesian-logistic` | weights of its features |
//! | `ensemble` | one of its members |
//!
//! Other classifiers have no posterior, and are refused. With `bore++` the draw takes the place of the upper bound, whose width then has no effect.
//!
//! Cost for m configurations drawn jointly: O(m³) once a batch; elsewhere a search over candidates for each point.

use serde::{Deserialize, Serialize};

use super::{BatchRule, Candidates, check_count, shortlist};
use crate::acquisition::Acquisition;
use crate::classifier::Target;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::named::Named;
use crate::points::Points;
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Settings of Thompson sampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Thompson {
    /// Up to how many configurations a countable space is drawn jointly and searched whole; the cost grows with its cube. Default: 512.
    pub exact_up_to: usize,
    /// The search for the maximum of each draw elsewhere.
    pub candidates: Candidates,
}

impl Named for Thompson {
    const NAME: &'static str = "thompson";
    const DESCRIPTION: &'static str = "the maximum of a draw from the classifier's posterior, a new draw for each point; needs no gradients";
}

impl Default for Thompson {
    fn default() -> Self {
        Self { exact_up_to: 512, candidates: Candidates::default() }
    }
}

impl<A: Acquisition + ?Sized> BatchRule<A> for Thompson {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        domain.check_room(size)?;
        let mut occupied = domain.occupied();
        let mut chosen = Points::with_capacity(domain.space.dim(), size);
        let mut take = |pool: &Points, values: &[f64]| {
            let order = shortlist::highest(values, pool.len());
            let free = order.iter().find(|&&i| occupied.is_free(pool.row(i)));
            // Without a free one the best is taken again: `Domain::settle` moves it to the nearest free place.
            if let Some(&i) = free.or(order.first()) {
                occupied.insert(pool.row(i));
                chosen.push(pool.row(i));
            }
        };
        if let Some(all) = shortlist::all_free(domain, self.exact_up_to) {
            let draws = density.joint_draws(&all, size, rng)?.ok_or_else(without_posterior)?;
            draws.rows().for_each(|values| take(&all, values));
        } else {
            for _ in 0..size {
                let draw = density.draw(rng)?.ok_or_else(without_posterior)?;
                let samples = self.candidates.samples;
                let (pool, values) = self.candidates.climb(&*draw, domain, samples, 1, rng)?;
                take(&pool, &values);
            }
        }
        Ok(chosen)
    }

    fn check(&self) -> Result<()> {
        check_count("thompson exact-up-to", self.exact_up_to.max(1))?;
        BatchRule::<A>::check(&self.candidates)
    }

    fn needs_posterior(&self) -> bool {
        true
    }

    fn choice(&self, space: &SearchSpace, _target: Target, _plan: Plan) -> Choice {
        let whole = space.cardinality().is_some_and(|total| total <= self.exact_up_to as u128);
        Choice::Posterior { exact: whole && space.repeats() }
    }
}

fn without_posterior() -> Error {
    Error::invalid("rule", Thompson::NAME, "another: this classifier has no posterior to draw from")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::{Classifier as _, Learner as _, LeastSquares};
    use crate::history::History;
    use crate::labels::Threshold;
    use crate::outcome::Outcome;
    use crate::seed::Seed;
    use crate::space::{Dimension, Taken};

    struct Flat;

    impl Acquisition for Flat {
        fn dim(&self) -> usize {
            1
        }

        fn value(&self, _: &[f64]) -> f64 {
            0.0
        }
    }

    fn history() -> History {
        let mut history = History::new(1);
        for (x, y) in [(0.05, 0.9), (0.35, 0.3), (0.5, 0.1), (0.65, 0.35), (0.95, 0.8)] {
            history.push(&[x], Outcome::from(y)).unwrap();
        }
        history
    }

    fn choose(space: &SearchSpace, size: usize, seed: u64) -> Result<Points> {
        let history = history();
        let labels = Threshold::Fixed { value: 0.32 };
        let labels = labels.label(history.points(), history.objective()).unwrap();
        let kernel =
            crate::kernel::Kernel::isotropic(crate::kernel::Profile::Matern52, 1, 0.2, 1.0);
        let learner = LeastSquares {
            ridge: 0.025,
            hyper_parameters: crate::classifier::HyperParameters::Fixed { kernel: kernel.unwrap() },
        };
        let mut rng = Seed(seed).stream("thompson", 0);
        let fitted = learner.fit(&labels, None, &mut rng).unwrap();
        let (taken, none) = (Taken::default(), Points::new(1));
        let domain = Domain { space, taken: &taken, pending: &none, incumbents: &none };
        let rule = Thompson::default();
        rule.choose(&fitted.acquisition(Target::LogProbability), &domain, size, &mut rng)
    }

    fn spaces() -> [SearchSpace; 3] {
        let grid = || SearchSpace::new([Dimension::integer("n", 0, 30)]).unwrap();
        let real = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        [grid(), grid().allow_repeats(true), real]
    }

    #[test]
    fn a_seed_gives_its_batch_and_points_differ_where_repeats_are_not_allowed() {
        for space in spaces() {
            let batch = choose(&space, 6, 3).unwrap();
            assert_eq!(batch, choose(&space, 6, 3).unwrap());
            assert_ne!(batch, choose(&space, 6, 4).unwrap());
            assert_eq!(batch.len(), 6);
            if !space.repeats() {
                for i in 0..6 {
                    assert!((0..i).all(|j| batch.row(i) != batch.row(j)), "{batch:?}");
                }
            }
        }
    }

    /// The share of draws whose maximum is at a configuration is the posterior probability that it is the best: by joint normal
    /// numbers of the naive covariance, against the rule's own draws.
    #[test]
    fn points_follow_the_probability_of_being_the_best() {
        let space = SearchSpace::new([Dimension::integer("n", 0, 9)]).unwrap().allow_repeats(true);
        let count = 4_000;
        let batch = choose(&space, count, 5).unwrap();
        let history = history();
        let kernel =
            crate::kernel::Kernel::isotropic(crate::kernel::Profile::Matern52, 1, 0.2, 1.0)
                .unwrap();
        let all: Vec<Vec<f64>> = (0..10).map(|i| space.nth(i).unwrap()).collect();
        // Conditioning one observation after another: mean and covariance at the ten places and the five points.
        let places: Vec<&[f64]> =
            all.iter().map(Vec::as_slice).chain(history.points().rows()).collect();
        let mut mean = vec![0.0; places.len()];
        let mut covariance: Vec<Vec<f64>> =
            places.iter().map(|a| places.iter().map(|b| kernel.value(a, b)).collect()).collect();
        let labels = [0.0, 1.0, 1.0, 0.0, 0.0];
        for (k, label) in labels.iter().enumerate() {
            let at = 10 + k;
            let column: Vec<f64> = covariance.iter().map(|row| row[at]).collect();
            let total = column[at] + 0.025;
            let surprise = label - mean[at];
            for ((mean, row), entry) in mean.iter_mut().zip(&mut covariance).zip(&column) {
                *mean += entry * surprise / total;
                for (covariance, other) in row.iter_mut().zip(&column) {
                    *covariance -= entry * other / total;
                }
            }
        }
        // Its Cholesky factor, row by row.
        let mut lower: Vec<Vec<f64>> = Vec::new();
        for (i, covariances) in covariance[..10].iter().enumerate() {
            let mut row: Vec<f64> = Vec::new();
            for (j, entry) in covariances[..=i].iter().enumerate() {
                let above = lower.get(j).unwrap_or(&row);
                let rest = entry - (0..j).map(|k| row[k] * above[k]).sum::<f64>();
                let next = if i == j { (rest + 1e-10).sqrt() } else { rest / above[j] };
                row.push(next);
            }
            lower.push(row);
        }
        let mut rng = Seed(77).stream("naive", 0);
        let mut expected = [0.0; 10];
        let runs = 20_000;
        for _ in 0..runs {
            let noise: Vec<f64> = (0..10)
                .map(|_| {
                    crate::theory::normal::quantile(crate::seed::uniform(&mut rng).max(1e-300))
                })
                .collect();
            let value = |i: usize| mean[i] + crate::points::dot(&lower[i], &noise[..=i]);
            let best = (0..10).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap();
            expected[best] += 1.0 / f64::from(runs);
        }
        for (i, place) in all.iter().enumerate() {
            let found =
                batch.rows().filter(|x| *x == place.as_slice()).count() as f64 / count as f64;
            // Five binomial standard errors of the rule's draws and of the naive ones.
            let error = (expected[i] * (1.0 - expected[i])).sqrt();
            let error = error * (1.0 / count as f64 + 1.0 / f64::from(runs)).sqrt();
            assert!((found - expected[i]).abs() < 5.0 * error + 1e-3, "{i}: {found} {expected:?}");
        }
    }

    #[test]
    fn a_classifier_without_a_posterior_is_refused() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let (taken, none) = (Taken::default(), Points::new(1));
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let error = Thompson::default()
            .choose(&Flat, &domain, 2, &mut Seed(1).stream("test", 0))
            .unwrap_err()
            .to_string();
        assert!(error.contains("no posterior"), "{error}");
    }

    #[test]
    fn small_spaces_with_repeats_have_exact_draws() {
        let exact = |space: &SearchSpace| {
            BatchRule::<Flat>::choice(&Thompson::default(), space, Target::Logit, Plan::default())
        };
        let [grid, repeated, real] = spaces();
        assert_eq!(exact(&grid), Choice::Posterior { exact: false });
        assert_eq!(exact(&repeated), Choice::Posterior { exact: true });
        assert_eq!(exact(&real), Choice::Posterior { exact: false });
    }
}
