//! The hypervolume of a set of rows: exact where that is affordable, else an estimate that says how good it is.
//!
//! # Estimate
//! Karp and Luby's: with V_i the volume of the box from row i to r, draw i with probability V_i / V, V = Σ V_i, then a
//! point uniformly in that box, and count the c boxes that contain it. A point of the union is drawn c times as often as
//! it should be, so
//! ```text
//! hv = V E[1 / c]
//! ```
//! without bias, and since 1/n <= 1/c <= 1 the error is at most V / (2 √m) for m draws, however small the union is in
//! the box from the ideal point to r; counting hits in that box has no such bound.
//!
//! K. Bringmann and T. Friedrich, "Approximating the volume of unions and intersections of high-dimensional geometric
//! objects", *Computational Geometry* 43, 2010.

use super::slicing::{Slicing, box_volume};
use super::{check_reference, check_values, covers};
use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::{Rng, uniform};

/// Draws of the estimate that takes the place of an exact volume. Its error is then at most 0.2 % of the sum of the
/// boxes.
pub const SAMPLES: usize = 100_000;

/// A hypervolume, exact or estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hypervolume {
    /// The volume.
    pub value: f64,
    /// The standard error of an estimate; 0 if the value is exact (to rounding).
    pub deviation: f64,
}

impl Hypervolume {
    pub(super) fn exact(value: f64) -> Self {
        Self { value, deviation: 0.0 }
    }
}

/// The hypervolume of the rows up to the reference point: exact for up to three objectives, and beyond while it visits
/// at most `STEPS` rows; else an estimate by `SAMPLES` draws.
///
/// The generator is used by the estimate only.
///
/// # Errors
/// If a value is not finite, or the reference point has the wrong length.
pub fn hypervolume(values: &Points, reference: &[f64], rng: &mut Rng) -> Result<Hypervolume> {
    let rows = rows_below(values, reference)?;
    match Slicing::new().volume(&rows, reference) {
        Some(value) => Ok(Hypervolume::exact(value)),
        None => estimate(&rows, reference, SAMPLES, rng),
    }
}

/// An estimate of the hypervolume by `samples` draws, with its standard error. Cost: O(n k) a draw.
///
/// # Errors
/// If a value is not finite, the reference point has the wrong length, or there are fewer than 2 draws.
pub fn estimate(
    values: &Points,
    reference: &[f64],
    samples: usize,
    rng: &mut Rng,
) -> Result<Hypervolume> {
    if samples < 2 {
        return Err(Error::invalid("the number of samples", samples, "at least 2"));
    }
    let rows = rows_below(values, reference)?;
    // Partial sums of the boxes' volumes: a uniform number below the last falls into box i by bisection.
    let sums: Vec<f64> = rows
        .rows()
        .scan(0.0, |sum, row| {
            *sum += box_volume(row, reference);
            Some(*sum)
        })
        .collect();
    let Some(&total) = sums.last() else { return Ok(Hypervolume::exact(0.0)) };
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut point = vec![0.0; reference.len()];
    for _ in 0..samples {
        let drawn = uniform(rng) * total;
        let i = sums.partition_point(|&sum| sum <= drawn).min(rows.len() - 1);
        draw(rows.row(i), reference, rng, &mut point);
        let boxes = rows.rows().filter(|row| covers(row, &point)).count();
        let share = 1.0 / boxes as f64;
        sum += share;
        squares += share * share;
    }
    let n = samples as f64;
    let mean = sum / n;
    let variance = (squares / n - mean * mean).max(0.0) * n / (n - 1.0);
    Ok(Hypervolume { value: total * mean, deviation: total * (variance / n).sqrt() })
}

/// A uniform point between `low` and `high`.
pub(super) fn draw(low: &[f64], high: &[f64], rng: &mut Rng, point: &mut [f64]) {
    for (point, (low, high)) in point.iter_mut().zip(low.iter().zip(high)) {
        *point = low + uniform(rng) * (high - low);
    }
}

/// The numbers of the rows that are below the reference point in every objective.
pub(super) fn below(values: &Points, reference: &[f64]) -> Result<Vec<usize>> {
    check_values(values.rows())?;
    check_reference(reference, values.dim())?;
    let inside = |row: &[f64]| row.iter().zip(reference).all(|(value, corner)| value < corner);
    Ok((0..values.len()).filter(|&i| inside(values.row(i))).collect())
}

/// The rows that are below the reference point in every objective.
fn rows_below(values: &Points, reference: &[f64]) -> Result<Points> {
    let inside = below(values, reference)?;
    Ok(Points::from_rows(values.dim(), inside.into_iter().map(|i| values.row(i))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;
    use crate::seed::Seed;

    fn exactly(values: &Points, reference: &[f64]) -> f64 {
        let volume = hypervolume(values, reference, &mut Seed(0).stream("test", 0)).unwrap();
        assert_eq!(volume.deviation, 0.0);
        volume.value
    }

    #[test]
    fn volumes_by_hand() {
        let rows = Points::from_rows(3, [[1.0, 1.0, 1.0], [0.0, 2.0, 2.0], [0.0, 2.0, 2.0]]);
        // 2³, and beside it 1·1·1.
        assert_eq!(exactly(&rows, &[3.0; 3]), 9.0);
        // A row on the faces of the reference point's box adds nothing, nor does one beyond.
        assert_eq!(exactly(&rows, &[3.0, 3.0, 2.0]), 4.0);
        assert_eq!(exactly(&rows, &[0.0; 3]), 0.0);
        assert_eq!(exactly(&Points::new(5), &[1.0; 5]), 0.0);
    }

    /// Rows in general position on the unit sphere: all on the front.
    fn sphere(objectives: usize, n: usize) -> Points {
        let mut rng = Seed(3).stream("sphere", objectives as u64);
        let row = |_| {
            let row: Vec<f64> = (0..objectives).map(|_| uniform(&mut rng) + 0.01).collect();
            let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            row.into_iter().map(|value| value / norm).collect::<Vec<f64>>()
        };
        Points::from_rows(objectives, (0..n).map(row))
    }

    #[test]
    fn the_estimate_agrees_with_the_exact_volume_within_its_error() {
        for objectives in [2, 3, 5] {
            let rows = sphere(objectives, 20);
            let reference = vec![1.1; objectives];
            let exact = exactly(&rows, &reference);
            let rng = &mut Seed(4).stream("estimate", objectives as u64);
            let estimated = estimate(&rows, &reference, 200_000, rng).unwrap();
            let gap = (estimated.value - exact).abs();
            // Five standard errors, which are positive and small beside the value.
            assert!(gap < 5.0 * estimated.deviation, "{gap} {estimated:?}");
            assert!(estimated.deviation > 0.0 && estimated.deviation < 0.003 * exact);
        }
    }

    #[test]
    fn the_stated_error_is_the_spread_of_repeated_estimates() {
        let rows = sphere(4, 30);
        let estimates: Vec<Hypervolume> = (0..200)
            .map(|i| estimate(&rows, &[1.1; 4], 500, &mut Seed(5).stream("spread", i)).unwrap())
            .collect();
        let n = estimates.len() as f64;
        let mean = estimates.iter().map(|e| e.value).sum::<f64>() / n;
        let spread = (estimates.iter().map(|e| (e.value - mean).powi(2)).sum::<f64>() / n).sqrt();
        let stated = estimates.iter().map(|e| e.deviation).sum::<f64>() / n;
        // The standard error of a deviation is σ / √(2n): five of them are 25 %.
        assert!((stated / spread - 1.0).abs() < 0.25, "{stated} {spread}");
    }

    #[test]
    fn beyond_the_budget_an_estimate_says_that_it_is_one() {
        let rows = sphere(9, 400);
        let volume = hypervolume(&rows, &[1.1; 9], &mut Seed(0).stream("test", 0)).unwrap();
        assert!(volume.deviation > 0.0 && volume.deviation < 0.05 * volume.value, "{volume:?}");
    }

    proptest! {
        #[test]
        fn agrees_with_inclusion_and_exclusion(
            rows in naive::rows(1..7_usize, 9), corner in prop::collection::vec(0..9_i32, 6),
        ) {
            let reference: Vec<f64> =
                corner.into_iter().map(f64::from).take(rows.dim()).collect();
            // Whole numbers: every step is exact.
            prop_assert_eq!(exactly(&rows, &reference), naive::hypervolume(&rows, &reference));
        }

        #[test]
        fn a_row_never_lowers_the_volume_and_the_order_of_objectives_does_not_matter(
            rows in naive::rows(3..6_usize, 25),
        ) {
            let reference: Vec<f64> = (0..rows.dim()).map(|i| 7.0 + i as f64).collect();
            let mut volume = 0.0;
            for n in 0..=rows.len() {
                let first = Points::from_rows(rows.dim(), rows.rows().take(n));
                let more = exactly(&first, &reference);
                prop_assert!(more >= volume);
                volume = more;
            }
            let turned = rows.rows().map(|row| row.iter().rev().copied().collect::<Vec<f64>>());
            let turned = Points::from_rows(rows.dim(), turned);
            let reference: Vec<f64> = reference.into_iter().rev().collect();
            prop_assert_eq!(exactly(&turned, &reference), volume);
        }
    }
}
