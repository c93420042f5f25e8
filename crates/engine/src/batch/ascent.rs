//! Multi-start ascent: the maximum of an acquisition, x_t ∈ argmax π̂(x) (Algorithm 1, line 6).
//!
//! Many legal points are drawn, the best of them and the incumbents are improved by bounded L-BFGS in the
//! relaxed cube, and the results are compared after rounding to legal points: what counts is the value of
//! what would be evaluated.
//!
//! On a domain of at most `exact_up_to` configurations every free one is evaluated instead, so that the
//! maximum is exact. Equal values go to the lowest index of [`crate::space::SearchSpace::nth`].
//!
//! For more than one point, the best distinct local maxima are taken in order; they need not be spread. Pending
//! points are not chosen again, but do not repel.

use serde::{Deserialize, Serialize};

use super::{BatchRule, check_count, shortlist};
use crate::acquisition::SmoothAcquisition;
use crate::classifier::Target;
use crate::descent::lbfgs::{self, minimise_in_box};
use crate::domain::Domain;
use crate::error::Result;
use crate::named::Named;
use crate::points::Points;
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Settings of multi-start ascent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ascent {
    /// Points drawn at random.
    pub samples: usize,
    /// How many of the best are improved by L-BFGS.
    pub restarts: usize,
    /// Evaluations of value and gradient an L-BFGS run may use.
    pub evaluations: usize,
    /// Up to how many configurations a countable domain is searched exactly.
    pub exact_up_to: usize,
}

impl Named for Ascent {
    const NAME: &'static str = "ascent";
    const DESCRIPTION: &'static str = "multi-start ascent to the maximum";
}

impl Default for Ascent {
    /// Enough restarts that the best of them is seldom beaten by more; the paper has "multiple restarts" and
    /// 500 to 1000 iterations in all.
    fn default() -> Self {
        Self { samples: 1024, restarts: 10, evaluations: 100, exact_up_to: 16_384 }
    }
}

impl<A: SmoothAcquisition + ?Sized> BatchRule<A> for Ascent {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        domain.check_room(size)?;
        if let Some(all) = shortlist::all_free(domain, self.exact_up_to) {
            let values = shortlist::values(density, &all)?;
            let order = shortlist::highest(&values, size);
            return Ok(shortlist::first_free(&all, &order, domain, size));
        }
        let dim = domain.space.dim();
        let mut found = Points::with_capacity(dim, self.samples + domain.incumbents.len());
        for _ in 0..self.samples.max(size) {
            found.push(&domain.space.sample(rng));
        }
        found.extend(domain.incumbents);

        let values = shortlist::values(density, &found)?;
        let (low, high) = (vec![0.0; dim], vec![1.0; dim]);
        let settings =
            lbfgs::Settings { max_evaluations: self.evaluations, ..lbfgs::Settings::default() };
        let downhill = |x: &[f64], gradient: &mut [f64]| {
            let value = density.value_and_gradient(x, gradient);
            gradient.iter_mut().for_each(|g| *g = -*g);
            -value
        };
        for start in shortlist::highest(&values, self.restarts.max(size)) {
            let minimum = minimise_in_box(downhill, found.row(start), &low, &high, settings)?;
            let mut x = minimum.point;
            domain.space.settle(&mut x);
            found.push(&x);
        }
        let values = shortlist::values(density, &found)?;
        let order = shortlist::highest(&values, found.len());
        Ok(shortlist::first_free(&found, &order, domain, size))
    }

    fn check(&self) -> Result<()> {
        check_count("ascent samples", self.samples)?;
        check_count("ascent restarts", self.restarts)?;
        check_count("ascent evaluations", self.evaluations)
    }

    fn choice(&self, space: &SearchSpace, _target: Target, plan: Plan) -> Choice {
        super::maximum(space, self.exact_up_to, plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::Acquisition;
    use crate::error::Error;
    use crate::seed::Seed;
    use crate::space::{Dimension, Fingerprint, SearchSpace, Taken};

    /// -(x - peak)² summed, with a ripple that makes many local maxima.
    struct Rippled {
        peak: f64,
        ripple: f64,
        dim: usize,
    }

    impl Acquisition for Rippled {
        fn dim(&self) -> usize {
            self.dim
        }

        fn value(&self, x: &[f64]) -> f64 {
            x.iter()
                .map(|x| -(x - self.peak).powi(2) + self.ripple * (20.0 * (x - self.peak)).cos())
                .sum()
        }
    }

    impl SmoothAcquisition for Rippled {
        fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
            for (g, x) in gradient.iter_mut().zip(x) {
                let gap = x - self.peak;
                *g = -2.0 * gap - 20.0 * self.ripple * (20.0 * gap).sin();
            }
            self.value(x)
        }
    }

    #[test]
    fn the_global_maximum_is_found_among_local_ones() {
        let space =
            SearchSpace::new((0..3).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0))).unwrap();
        let (taken, none) = (Taken::default(), Points::new(3));
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let target = Rippled { peak: 0.37, ripple: 0.05, dim: 3 };
        for index in 0..10 {
            let mut rng = Seed(1).stream("test", index);
            let best = Ascent::default().choose(&target, &domain, 1, &mut rng).unwrap();
            for x in best.row(0) {
                assert!((x - 0.37).abs() < 1e-5, "{x}");
            }
        }
    }

    #[test]
    fn a_finite_domain_is_searched_exactly_and_ties_go_to_the_lowest_index() {
        let space = SearchSpace::new([Dimension::integer("a", 0, 9)]).unwrap();
        // The peak lies on the border of two bins whose centres are equally high.
        let target = Rippled { peak: 0.5, ripple: 0.0, dim: 1 };
        let (mut taken, none) = (Taken::default(), Points::new(1));
        let mut visited = Vec::new();
        for _ in 0..4 {
            let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
            let best = Ascent::default()
                .choose(&target, &domain, 1, &mut Seed(1).stream("test", 0))
                .unwrap();
            taken.insert(Fingerprint::of(best.row(0)));
            visited.push(space.decode(best.row(0)).to_string());
        }
        assert_eq!(visited, ["a=4", "a=5", "a=3", "a=6"]);
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let error = Ascent::default()
            .choose(&target, &domain, 7, &mut Seed(1).stream("test", 0))
            .unwrap_err();
        assert_eq!(error, Error::Exhausted { tried: 4, total: 10, requested: 7 });
    }

    #[test]
    fn what_counts_is_the_value_after_rounding() {
        // A mixed space too large to enumerate.
        let space = SearchSpace::new([
            Dimension::integer("a", 0, 2),
            Dimension::real("b", 0.0, 1.0),
            Dimension::categorical("c", ["x", "y"]),
        ])
        .unwrap();
        let target = Rippled { peak: 0.62, ripple: 0.0, dim: 4 };
        let (taken, none) = (Taken::default(), Points::new(4));
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let best =
            Ascent::default().choose(&target, &domain, 1, &mut Seed(1).stream("test", 0)).unwrap();
        let configuration = space.decode(best.row(0));
        assert_eq!(configuration.get("a"), Some(&1_i64.into()));
        assert!((best.row(0)[1] - 0.62).abs() < 1e-5);
    }

    #[test]
    fn searches_of_nothing_and_beyond_memory_are_refused_by_name() {
        let refused = |ascent: Ascent| BatchRule::<Rippled>::check(&ascent).unwrap_err();
        for count in [0, usize::MAX] {
            let error = refused(Ascent { samples: count, ..Ascent::default() });
            assert_eq!(error, Error::invalid("ascent samples", count, "from 1 to 10000000"));
            let error = refused(Ascent { restarts: count, ..Ascent::default() });
            assert!(error.to_string().contains("ascent restarts"), "{error}");
        }
    }
}
