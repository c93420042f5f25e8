//! Quasi-random search: a Sobol sequence, Owen-scrambled by the seed, that fills the space evenly.
//!
//! A trial's place in the sequence is the number of trials issued before it, told or pending, so that batches
//! of any size continue one sequence. Every dimension takes one coordinate of the sequence, whatever its
//! encoding (shares take as many as they have): u picks the ⌊ku⌋-th of k choices, so that categoricals are filled as evenly as numbers are. The
//! rest is the space's: a coordinate of an inactive dimension has no effect, and a point that is taken moves
//! to a free one nearby. Among candidates, the nearest to the point is chosen.
//!
//! Direction numbers by Joe and Kuo, scrambling by Burley (*Practical hash-based Owen scrambling*, 2020), both
//! from the crate `sobol_burley`. It ends after 2¹⁶ points and 256 dimensions: later points, and further
//! dimensions in groups of 256, come from sequences scrambled anew, each even in itself and independent of
//! the others. Coordinates have 24 bits.
//!
//! Cost: O(coordinates) a point, at any length of history.

use rand_xoshiro::rand_core::Rng as _;
use serde::{Deserialize, Serialize};

use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::error::Result;
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::{Kind, SearchSpace};

/// Points of one scrambled sequence.
const LENGTH: u64 = 1 << 16;
/// Dimensions of one scrambled sequence.
const GROUP: usize = 256;

/// Quasi-random search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sobol {}

impl Named for Sobol {
    const NAME: &'static str = "sobol";
    const DESCRIPTION: &'static str = "quasi-random search";
}

impl Strategy for Sobol {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn propose(&self, evidence: Evidence, size: usize, _: &mut Memory) -> Result<Points> {
        place(evidence, size, "sobol-settle", Initial::First(0), |opening| {
            let Evidence { space, seed, .. } = opening.evidence;
            let indices = opening.first as u64..(opening.first + opening.count) as u64;
            Ok(Points::from_rows(space.dim(), indices.map(|index| point(space, seed, index))))
        })
    }
}

/// The `index`-th point of the sequence, before it is moved to a legal one.
pub(super) fn point(space: &SearchSpace, seed: Seed, index: u64) -> Vec<f64> {
    let mut x = vec![0.0; space.dim()];
    let (mut place, mut scramble) = (0, 0);
    let mut next = || {
        if place % GROUP == 0 {
            // One scramble for each group of dimensions and each length of the sequence.
            let sequence = (index / LENGTH) << 32 | (place / GROUP) as u64;
            scramble = seed.stream("sobol", sequence).next_u32();
        }
        place += 1;
        let dimension = ((place - 1) % GROUP) as u32;
        f64::from(sobol_burley::sample((index % LENGTH) as u32, dimension, scramble))
    };
    for (i, dimension) in space.dimensions().iter().enumerate() {
        let block = &mut x[space.coordinates(i)];
        match &dimension.kind {
            Kind::Categorical { choices } => {
                let choice = (next() * choices.len() as f64) as usize;
                block[choice.min(choices.len() - 1)] = 1.0;
            }
            _ => block.fill_with(&mut next),
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::history::History;
    use crate::outcome::Outcome;
    use crate::space::{Configuration, Dimension};

    fn propose(space: &SearchSpace, history: &History, pending: &Points, count: usize) -> Points {
        let evidence = Evidence { space, history, pending, seed: Seed(3) };
        Sobol {}.propose(evidence, count, &mut Memory::default()).unwrap()
    }

    fn square() -> SearchSpace {
        SearchSpace::new([Dimension::real("a", 0.0, 1.0), Dimension::real("b", 0.0, 1.0)]).unwrap()
    }

    /// The squared centred L2 discrepancy (Hickernell 1998) of points in the unit square.
    fn discrepancy(points: &Points) -> f64 {
        let n = points.len() as f64;
        let term = |x: f64| 1.0 + 0.5 * (x - 0.5).abs() - 0.5 * (x - 0.5).powi(2);
        let single: f64 = points.rows().map(|x| term(x[0]) * term(x[1])).sum();
        let pair = |a: f64, b: f64| {
            1.0 + 0.5 * (a - 0.5).abs() + 0.5 * (b - 0.5).abs() - 0.5 * (a - b).abs()
        };
        let double: f64 = points
            .rows()
            .flat_map(|x| points.rows().map(move |y| pair(x[0], y[0]) * pair(x[1], y[1])))
            .sum();
        (13.0_f64 / 12.0).powi(2) - 2.0 / n * single + double / (n * n)
    }

    #[test]
    fn every_elementary_interval_holds_one_point() {
        let space = square();
        let points = propose(&space, &History::new(2), &Points::new(2), 256);
        for bits in 0..=8 {
            let (columns, rows) = (1 << bits, 1 << (8 - bits));
            let mut seen = vec![0; 256];
            for x in points.rows() {
                // Rounding to the grid may move a point to the upper edge of its interval.
                let cell = |u: f64, cells: i32| {
                    ((u * f64::from(cells) + 1e-9) as i32).min(cells - 1) as usize
                };
                seen[cell(x[0], columns) * rows as usize + cell(x[1], rows)] += 1;
            }
            assert!(seen.iter().all(|&count| count == 1), "{columns} x {rows}: {seen:?}");
        }
    }

    #[test]
    fn it_is_more_even_than_random_points_and_the_seed_matters() {
        let space = square();
        let points = propose(&space, &History::new(2), &Points::new(2), 100);
        let mut rng = Seed(1).stream("test", 0);
        let random = Points::from_rows(2, (0..100).map(|_| space.sample(&mut rng)));
        let (sobol, random) = (discrepancy(&points), discrepancy(&random));
        // Random points have about (5/4)^2 - (13/12)^2 over n in expectation, a Sobol net far less.
        assert!(sobol < 0.2 * random, "{sobol} against {random}");
        let evidence = Evidence {
            space: &space,
            history: &History::new(2),
            pending: &Points::new(2),
            seed: Seed(4),
        };
        let other = Sobol {}.propose(evidence, 100, &mut Memory::default()).unwrap();
        assert!(points.rows().zip(other.rows()).all(|(a, b)| a != b));
    }

    #[test]
    fn batches_of_any_size_continue_one_sequence() {
        let space = square();
        let none = Points::new(2);
        let whole = propose(&space, &History::new(2), &none, 30);
        let mut history = History::new(2);
        for x in whole.rows().take(7) {
            history.push(x, Outcome::from(0.0)).unwrap();
        }
        let pending = Points::from_rows(2, whole.rows().skip(7).take(5));
        let rest = propose(&space, &history, &pending, 18);
        assert!(rest.rows().eq(whole.rows().skip(12)));
    }

    #[test]
    fn choices_have_equal_shares_and_conditions_hold() {
        let space = SearchSpace::new([
            Dimension::categorical("c", ["x", "y", "z", "w"]),
            Dimension::boolean("b"),
            Dimension::real("r", 0.0, 1.0).when("b", [true]),
            Dimension::log_integer("n", 1, 1000),
        ])
        .unwrap()
        .allow_repeats(true);
        let points = propose(&space, &History::new(7), &Points::new(7), 64);
        let mut counts = [0; 5];
        for x in points.rows() {
            let mut snapped = x.to_vec();
            space.snap(&mut snapped);
            assert_eq!(snapped, x);
            (0..5).for_each(|k| counts[k] += usize::from(x[k] == 1.0));
        }
        assert_eq!(counts, [16, 16, 16, 16, 32]);
    }

    #[test]
    fn a_finite_space_is_used_up_without_repeats() {
        let dimensions = [Dimension::integer("a", 0, 9), Dimension::boolean("b")];
        let grid = SearchSpace::new(dimensions.clone()).unwrap();
        let list = (0..10).map(|i| {
            let mut configuration = Configuration::new();
            configuration.insert("a", i);
            configuration.insert("b", i % 3 == 0);
            configuration
        });
        let list = SearchSpace::finite(dimensions, list).unwrap();
        for (space, total) in [(grid, 20), (list, 10)] {
            let points = propose(&space, &History::new(2), &Points::new(2), total);
            let mut history = History::new(2);
            for x in points.rows() {
                history.push(x, Outcome::from(1.0)).unwrap();
            }
            assert_eq!(history.taken().len(), total);
            let evidence = Evidence {
                space: &space,
                history: &history,
                pending: &Points::new(2),
                seed: Seed(3),
            };
            let error = Sobol {}.propose(evidence, 1, &mut Memory::default()).unwrap_err();
            assert!(matches!(error, Error::Exhausted { .. }));
        }
    }

    #[test]
    fn long_runs_and_many_dimensions_go_on() {
        let wide =
            SearchSpace::new((0..600).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0))).unwrap();
        let x = point(&wide, Seed(1), 5);
        assert!(x.iter().all(|u| (0.0..1.0).contains(u)));
        assert_ne!(x[..256], x[256..512]);
        let space = square();
        let (first, later) = (point(&space, Seed(1), 7), point(&space, Seed(1), LENGTH + 7));
        assert_ne!(first, later);
    }
}
