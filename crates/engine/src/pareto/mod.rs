//! Several objectives: the non-dominated front, its levels, hypervolume, and scalarisations of it.
//!
//! All values are minimised and finite; a row of [`Points`] holds the values of one trial, one for each objective.
//!
//! # Dominance and ties
//! a dominates b if a_i <= b_i for every objective and a_i < b_i for at least one. Equal rows do not dominate each
//! other: they stand on the same level, and if one of them is on the front, all are. -0 and 0 are one value.
//!
//! # Hypervolume
//! ```text
//! hv(Y; r) = volume of { z : y <= z <= r for some y in Y }
//! ```
//! A row that is not below the reference point r in every objective adds nothing. Equal rows add their volume once, so
//! that the contribution of each of them is 0.
//!
//! # Cost, for n rows of k objectives, f of them on the front
//! | | k = 2 | k = 3 | k > 3 |
//! |---|---|---|---|
//! | [`front`](fn@front) | n log n | n log n | n f k |
//! | [`levels`] | n log n | n² at worst | n² k at worst |
//! | [`hypervolume`](fn@hypervolume) | n log n | n log n | exact within `STEPS`, else an estimate with its error |
//! | [`contributions`] | n log n | n² log n | as n hypervolumes, within `STEPS` |
//! | [`Front::insert`] | log f | f | f k |
//! | [`Boxes::new`] | n log n | n² at worst | up to 20,000 boxes |

mod boxes;
pub(crate) mod contribution;
pub(crate) mod crowding;
mod front;
pub(crate) mod hypervolume;
pub(crate) mod level;
pub(crate) mod rays;
mod reference;
pub(crate) mod scalarisation;
mod slicing;
mod staircase;

use std::cmp::Ordering;

pub use boxes::Boxes;
pub use contribution::contributions;
pub use front::{Front, Placement, front};
pub use hypervolume::{Hypervolume, hypervolume};
pub use level::levels;
pub use reference::reference_point;

use crate::error::{Error, Result};
use crate::points::Points;

/// Whether `a` dominates `b`: nowhere higher, and somewhere lower.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    covers(a, b) && a != b
}

/// Whether `a` is nowhere higher than `b`: it dominates it or is equal.
fn covers(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b)
}

/// The order by the first objective in which two rows of finite values differ. A row comes after all that dominate it.
fn lexicographic(a: &[f64], b: &[f64]) -> Ordering {
    let differing = a.iter().zip(b).filter_map(|(a, b)| a.partial_cmp(b));
    differing.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The rows in lexicographic order, by number.
fn in_order(values: &Points) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| lexicographic(values.row(i), values.row(j)));
    order
}

/// Refuses values that are not finite: no order is defined for them.
fn check_values<'v>(rows: impl IntoIterator<Item = &'v [f64]>) -> Result<()> {
    for (i, row) in rows.into_iter().enumerate() {
        if let Some((objective, value)) =
            row.iter().enumerate().find(|(_, value)| !value.is_finite())
        {
            let field = format!("objective {} of row {i}", objective + 1);
            return Err(Error::invalid(field, value, "finite"));
        }
    }
    Ok(())
}

/// Refuses a reference point of another length than the rows, or one that is not finite.
fn check_reference(reference: &[f64], objectives: usize) -> Result<()> {
    if reference.len() != objectives {
        let allowed = format!("of length {objectives}, the number of objectives");
        return Err(Error::invalid("the reference point", format!("{reference:?}"), allowed));
    }
    if reference.iter().any(|value| !value.is_finite()) {
        return Err(Error::invalid("the reference point", format!("{reference:?}"), "finite"));
    }
    Ok(())
}

#[cfg(test)]
mod naive {
    //! The definitions, written down without any thought of cost.

    use proptest::prelude::*;

    use super::dominates;
    use crate::points::Points;

    /// Rows of `objectives` values on a coarse grid, so that ties and equal rows are common.
    pub fn rows(
        objectives: impl Strategy<Value = usize>,
        most: usize,
    ) -> impl Strategy<Value = Points> {
        (objectives, 2..9_i32).prop_flat_map(move |(objectives, grid)| {
            let value = (0..grid).prop_map(f64::from);
            let row = prop::collection::vec(value, objectives);
            prop::collection::vec(row, 0..=most)
                .prop_map(move |rows| Points::from_rows(objectives, rows))
        })
    }

    pub fn front(values: &Points) -> Vec<usize> {
        let on_front = |&i: &usize| !values.rows().any(|other| dominates(other, values.row(i)));
        (0..values.len()).filter(on_front).collect()
    }

    /// Peels off one front after the other.
    pub fn levels(values: &Points) -> Vec<usize> {
        let mut level = vec![usize::MAX; values.len()];
        for current in 0.. {
            let left: Vec<usize> = (0..values.len()).filter(|&i| level[i] == usize::MAX).collect();
            if left.is_empty() {
                break;
            }
            let rows = Points::from_rows(values.dim(), left.iter().map(|&i| values.row(i)));
            front(&rows).into_iter().for_each(|i| level[left[i]] = current);
        }
        level
    }

    /// Inclusion and exclusion over all subsets of the rows: 2^n terms.
    pub fn hypervolume(values: &Points, reference: &[f64]) -> f64 {
        let n = values.len();
        assert!(n <= 16, "2^{n} subsets");
        (1_u32..1 << n)
            .map(|subset| {
                let rows = (0..n).filter(|i| subset >> i & 1 == 1).map(|i| values.row(i));
                let corner = rows.fold(vec![f64::NEG_INFINITY; reference.len()], |corner, row| {
                    corner.iter().zip(row).map(|(a, b)| a.max(*b)).collect()
                });
                let volume: f64 =
                    corner.iter().zip(reference).map(|(c, r)| (r - c).max(0.0)).product();
                if subset.count_ones() % 2 == 1 { volume } else { -volume }
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::contribution::contributions;
    use super::level::levels;
    use super::*;
    use crate::seed::Seed;

    #[derive(Deserialize)]
    struct Golden {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        rows: Vec<Vec<f64>>,
        reference: Vec<f64>,
        hypervolume: f64,
        contributions: Vec<f64>,
        levels: Vec<usize>,
    }

    /// moocore's values, in `tests/golden/pareto.json`.
    #[test]
    fn agrees_with_moocore() {
        let text = include_str!("../../tests/golden/pareto.json");
        let golden: Golden = serde_json::from_str(text).unwrap();
        assert_eq!(golden.cases.len(), 5);
        for case in golden.cases {
            let rows = Points::from_rows(case.reference.len(), &case.rows);
            let rng = &mut Seed(0).stream("test", 0);
            let volume = hypervolume(&rows, &case.reference, rng).unwrap();
            assert_eq!(volume.deviation, 0.0);
            assert!((volume.value / case.hypervolume - 1.0).abs() < 1e-13);
            let ours = contributions(&rows, &case.reference, rng).unwrap();
            for (ours, theirs) in ours.iter().zip(&case.contributions) {
                assert!((ours.value - theirs).abs() < 1e-13, "{ours:?} {theirs}");
            }
            // The last three rows are equal to the first three: nothing is left of either, not even rounding.
            let equal = (0..3).chain(rows.len() - 3..rows.len());
            assert!(equal.into_iter().all(|i| ours[i].value == 0.0), "{ours:?}");
            assert_eq!(levels(&rows).unwrap(), case.levels);
            let on_front = (0..rows.len()).filter(|&i| case.levels[i] == 0);
            assert_eq!(front(&rows).unwrap(), on_front.collect::<Vec<_>>());
        }
    }

    /// Points on the fronts that are known by a formula reach the hypervolume that the problem states, and not more.
    #[test]
    fn dense_sets_on_known_fronts_reach_their_stated_hypervolume() {
        let along = |name: &str, positions: Vec<Vec<f64>>, rest: f64| {
            let task = wimble_problems::task(name).unwrap();
            let wimble_problems::Answer::Front(known) = task.answer() else { panic!("{name}") };
            let rows = positions.into_iter().map(|mut x| {
                x.resize(task.variables().len(), rest);
                known.scaled(&task.measure(&x).objectives)
            });
            let rows = Points::from_rows(known.ideal.len(), rows);
            let reference = vec![wimble_problems::KnownFront::REFERENCE; known.ideal.len()];
            let rng = &mut Seed(0).stream("test", 0);
            hypervolume(&rows, &reference, rng).unwrap().value / known.hypervolume
        };
        let line: Vec<Vec<f64>> = (0..=20_000).map(|i| vec![f64::from(i) / 20_000.0]).collect();
        let grid = || (0..=150).flat_map(|i| (0..=150).map(move |j| (i, j)));
        let grid: Vec<Vec<f64>> =
            grid().map(|(i, j)| vec![f64::from(i) / 150.0, f64::from(j) / 150.0]).collect();
        for (name, positions, rest, most) in [
            ("zdt1-6", &line, 0.0, 2e-4),
            ("zdt2-6", &line, 0.0, 2e-4),
            ("zdt3-6", &line, 0.0, 2e-4),
            ("dtlz2-6-2", &line, 0.5, 2e-4),
            ("dtlz7-6-2", &line, 0.0, 2e-4),
            ("dtlz2-8-3", &grid, 0.5, 2e-2),
            ("dtlz7-6-3", &grid, 0.0, 2e-2),
        ] {
            let missing = 1.0 - along(name, positions.clone(), rest);
            assert!((0.0..most).contains(&missing), "{name}: {missing}");
        }
    }

    #[test]
    fn dominance_needs_one_lower_value_and_no_higher_one() {
        assert!(dominates(&[1.0, 2.0], &[1.0, 3.0]));
        assert!(!dominates(&[1.0, 2.0], &[1.0, 2.0]));
        assert!(!dominates(&[1.0, 4.0], &[2.0, 3.0]));
        assert!(!dominates(&[0.0, 1.0], &[-0.0, 1.0]));
    }

    #[test]
    fn values_and_references_that_have_no_order_are_refused_by_name() {
        let rng = &mut Seed(0).stream("test", 0);
        let rows = Points::from_rows(2, [[1.0, 2.0], [1.0, f64::NAN]]);
        assert_eq!(
            front(&rows).unwrap_err().to_string(),
            "objective 2 of row 1 is NaN, but must be finite"
        );
        let rows = Points::from_rows(2, [[1.0, 2.0]]);
        assert_eq!(
            contributions(&rows, &[1.0], rng).unwrap_err().to_string(),
            "the reference point is [1.0], but must be of length 2, the number of objectives"
        );
        assert!(contributions(&rows, &[1.0, f64::INFINITY], rng).is_err());
    }
}
