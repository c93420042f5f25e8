//! What each row adds to the hypervolume of the others.
//!
//! ```text
//! c_i = hv(Y) - hv(Y without y_i) = Π_l (r_l - y_il) - hv({ max(y_j, y_i) : j ≠ i })
//! ```
//! Rows that are dominated, equal to another row, or not below the reference point contribute 0; a dominated row still
//! takes away from the row that dominates it, since it would cover that part alone. Whoever ranks rows within a level
//! passes the rows of that level.
//!
//! In two objectives, what only row i of the front and rows behind it cover is the rectangle up to its neighbours on the
//! front. A dominated row lies in at most one of these rectangles, and is found there by bisection.
//!
//! Where the exact volume would visit too many rows, c_i is estimated by uniform draws from a box that contains all of
//! it: in objective l it ends at the least y_jl among the rows j that are above row i in objective l only.

use super::covers;
use super::front::front_in_order;
use super::hypervolume::{Hypervolume, below, draw};
use super::slicing::{Slicing, area, box_volume, limited};
use crate::error::Result;
use crate::points::Points;
use crate::seed::Rng;

/// Draws for each row where contributions are estimated: an error of at most 1.6 % of the box.
const SAMPLES: usize = 1_000;

/// The contribution of every row to the hypervolume up to `reference`.
///
/// Exact, to rounding of the difference above, for up to three objectives, and beyond while all rows together visit at
/// most `STEPS` rows; the rest are estimates that carry their standard error. The generator is used by
/// estimates only.
///
/// # Errors
/// If a value is not finite, or the reference point has the wrong length.
pub fn contributions(
    values: &Points,
    reference: &[f64],
    rng: &mut Rng,
) -> Result<Vec<Hypervolume>> {
    let inside = below(values, reference)?;
    let rows = Points::from_rows(values.dim(), inside.iter().map(|&number| values.row(number)));
    let front = front_in_order(&rows);
    let mut contributions = vec![Hypervolume::exact(0.0); values.len()];
    let alone = |place: usize| {
        // Equal rows are neighbours, and leave each other nothing.
        let equal = |other: usize| rows.row(front[other]) == rows.row(front[place]);
        let before = place > 0 && equal(place - 1);
        let after = place + 1 < front.len() && equal(place + 1);
        !before && !after
    };
    if values.dim() == 2 {
        let areas = rectangles(&rows, &front, [reference[0], reference[1]]);
        for (place, area) in areas.into_iter().enumerate().filter(|(place, _)| alone(*place)) {
            contributions[inside[front[place]]] = Hypervolume::exact(area);
        }
    } else {
        let mut slicing = Slicing::new();
        for place in (0..front.len()).filter(|&place| alone(place)) {
            let volume = exclusive(&rows, front[place], reference, &mut slicing, rng);
            contributions[inside[front[place]]] = volume;
        }
    }
    Ok(contributions)
}

/// What only each row of the front covers, of two objectives; `front` is in order of the first. For equal rows the
/// result has no meaning.
fn rectangles(rows: &Points, front: &[usize], corner: [f64; 2]) -> Vec<f64> {
    let neighbours = |place: usize| {
        let right = front.get(place + 1).map_or(corner[0], |&next| rows.row(next)[0]);
        let top = place.checked_sub(1).map_or(corner[1], |before| rows.row(front[before])[1]);
        [right, top]
    };
    let mut behind = vec![Points::new(2); front.len()];
    for row in rows.rows() {
        // The last row of the front at or left of this one is the lowest there.
        let place = front.partition_point(|&i| rows.row(i)[0] <= row[0]).saturating_sub(1);
        let [right, top] = neighbours(place);
        if row[0] < right && row[1] < top && row != rows.row(front[place]) {
            behind[place].push(row);
        }
    }
    let rectangle = |(place, behind): (usize, &Points)| {
        let [right, top] = neighbours(place);
        let row = rows.row(front[place]);
        (right - row[0]) * (top - row[1]) - area(behind, [right, top])
    };
    behind.iter().enumerate().map(rectangle).collect()
}

/// What only row `i` covers.
fn exclusive(
    rows: &Points,
    i: usize,
    reference: &[f64],
    slicing: &mut Slicing,
    rng: &mut Rng,
) -> Hypervolume {
    let row = rows.row(i);
    match slicing.volume(&limited(others(rows, i), row), reference) {
        Some(shared) => Hypervolume::exact((box_volume(row, reference) - shared).max(0.0)),
        None => sampled(rows, i, reference, rng),
    }
}

/// An estimate of what only row `i` covers.
fn sampled(rows: &Points, i: usize, reference: &[f64], rng: &mut Rng) -> Hypervolume {
    let row = rows.row(i);
    let mut end = reference.to_vec();
    for other in others(rows, i) {
        let mut above = (0..row.len()).filter(|&l| other[l] > row[l]);
        if let (Some(l), None) = (above.next(), above.next()) {
            end[l] = end[l].min(other[l]);
        }
    }
    let mut point = row.to_vec();
    let alone = (0..SAMPLES).filter(|_| {
        draw(row, &end, rng, &mut point);
        !others(rows, i).any(|other| covers(other, &point))
    });
    let share = alone.count() as f64 / SAMPLES as f64;
    let volume = box_volume(row, &end);
    // A share of 0 or 1 is not certain either: its error is that of half a draw.
    let spread = (share * (1.0 - share)).max(0.5 / SAMPLES as f64);
    Hypervolume { value: volume * share, deviation: volume * (spread / SAMPLES as f64).sqrt() }
}

/// All rows but the `i`-th.
fn others(rows: &Points, i: usize) -> impl Iterator<Item = &[f64]> {
    rows.rows().enumerate().filter(move |(j, _)| *j != i).map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;
    use crate::seed::{Seed, uniform};

    #[test]
    fn contributions_by_hand() {
        let rows = [[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [3.0, 3.5], [9.0, 0.0]];
        let rng = &mut Seed(0).stream("test", 0);
        let values = contributions(&Points::from_rows(2, rows), &[5.0, 5.0], rng).unwrap();
        // 1·1; 2·2 without the ½·1 of the row behind it; 1·1; dominated; beyond the reference point.
        assert_eq!(values.iter().map(|c| c.value).collect::<Vec<_>>(), [1.0, 3.5, 1.0, 0.0, 0.0]);
    }

    /// 60 rows do not use the budget up; with none at all every row is estimated.
    #[test]
    fn estimates_agree_with_exact_contributions_within_their_error() {
        for objectives in [3, 5] {
            let mut rng = Seed(6).stream("test", objectives as u64);
            let row = |_| {
                let row: Vec<f64> = (0..objectives).map(|_| uniform(&mut rng) + 0.01).collect();
                let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                row.into_iter().map(|value| value / norm).collect::<Vec<f64>>()
            };
            let rows = Points::from_rows(objectives, (0..60).map(row));
            let reference = vec![1.1; objectives];
            let rng = &mut Seed(6).stream("draws", objectives as u64);
            let exact = contributions(&rows, &reference, rng).unwrap();
            let (mut far, mut sum, mut variance) = (0, 0.0, 0.0);
            for (i, exact) in exact.iter().enumerate() {
                assert_eq!(exact.deviation, 0.0);
                let estimated = sampled(&rows, i, &reference, rng);
                let gap = estimated.value - exact.value;
                far += usize::from(gap.abs() > 3.0 * estimated.deviation);
                sum += gap;
                variance += estimated.deviation.powi(2);
            }
            // Beyond three standard errors: 0.3 % of the rows, so that 3 of 60 have a probability of about 1/1000. And
            // no bias: the sum of all is within four of its own.
            assert!(far < 3 && sum.abs() < 4.0 * variance.sqrt(), "{far} {sum} {variance}");
        }
    }

    proptest! {
        #[test]
        fn a_contribution_is_what_the_volume_loses_without_the_row(rows in naive::rows(1..6_usize, 8)) {
            let reference = vec![6.0; rows.dim()];
            let rng = &mut Seed(0).stream("test", 0);
            let contributions = contributions(&rows, &reference, rng).unwrap();
            let whole = naive::hypervolume(&rows, &reference);
            for (i, contribution) in contributions.iter().enumerate() {
                let others = rows.rows().enumerate().filter(|(j, _)| *j != i).map(|(_, row)| row);
                let others = Points::from_rows(rows.dim(), others);
                let expected = whole - naive::hypervolume(&others, &reference);
                prop_assert_eq!(*contribution, Hypervolume::exact(expected));
            }
        }
    }
}
