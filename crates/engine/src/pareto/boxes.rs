//! The region that a front leaves undominated below a reference point, as disjoint boxes.
//!
//! ```text
//! { z < r : no y in Y with y <= z }  =  B_1 + B_2 + ...,     B_b = Π_i [L_bi, U_bi),   L_bi may be -∞
//! ```
//! What a row y adds to the hypervolume is what it dominates of these boxes, and the expectation of it under independent
//! normal distributions is a product of one-dimensional integrals in each of them:
//! ```text
//! gain(y) = Σ_b Π_i max(0, U_bi - max(L_bi, y_i))
//! ```
//! - One objective: one box. Two: a strip between neighbours of the front, so that a gain looks only at the strips that it reaches.
//! - Three: the same strips, swept along the third objective; a strip ends where a row changes it. At most 2n + 1 boxes for n rows.
//! - More: every row splits the boxes that it reaches. Their number grows as n^(k/2) at best, so that [`Boxes::new`] gives up
//!   beyond `MOST` of them.
//!
//! K. Yang, M. Emmerich, A. Deutz and T. Bäck, "Efficient computation of expected hypervolume improvement using box
//! decomposition algorithms", *Journal of Global Optimization* 75, 2019.

use super::{check_reference, check_values, front};
use crate::error::{Error, Result};
use crate::points::Points;

/// The most boxes that a front of more than three objectives is split into.
pub const MOST: usize = 20_000;

/// Disjoint boxes that fill what a front leaves undominated.
#[derive(Debug, Clone, PartialEq)]
pub struct Boxes {
    /// The lower corners; -∞ where a box has no lower end.
    low: Points,
    /// The upper corners.
    high: Points,
}

impl Boxes {
    /// The boxes below `reference` that no row of `values` dominates.
    ///
    /// # Errors
    /// If a value is not finite, the reference point has the wrong length, or more than `MOST` boxes are needed, which three
    /// objectives or fewer never do.
    pub fn new(values: &Points, reference: &[f64]) -> Result<Self> {
        let objectives = values.dim();
        check_reference(reference, objectives)?;
        check_values(values.rows())?;
        let below = |row: &&[f64]| row.iter().zip(reference).all(|(y, r)| y < r);
        let inside = Points::from_rows(objectives, values.rows().filter(below));
        let mut rows = Points::new(objectives);
        for i in front(&inside)? {
            if rows.rows().all(|row| row != inside.row(i)) {
                rows.push(inside.row(i));
            }
        }
        let mut boxes = Self { low: Points::new(objectives), high: Points::new(objectives) };
        match objectives {
            2 => boxes.strips(&rows, reference),
            3 => boxes.sweep(&rows, reference),
            _ => boxes.split(&rows, reference)?,
        }
        Ok(boxes)
    }

    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// Whether there is none: the front dominates all of the region.
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// The lower and upper corners of each box.
    pub fn iter(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.low.rows().zip(self.high.rows())
    }

    /// What the row would add to the hypervolume.
    pub fn gain(&self, row: &[f64]) -> f64 {
        let volume = |low: &[f64], high: &[f64]| -> f64 {
            let mut volume = 1.0;
            for ((y, low), high) in row.iter().zip(low).zip(high) {
                let side = high - y.max(*low);
                if side <= 0.0 {
                    return 0.0;
                }
                volume *= side;
            }
            volume
        };
        match *row {
            // Strips lie in order of the first objective and fall in the second: those that the row reaches are neighbours.
            [x, y] => {
                let first = self.first_beyond(x);
                let reached = (first..self.len()).take_while(|&b| self.high.row(b)[1] > y);
                reached.map(|b| volume(self.low.row(b), self.high.row(b))).sum()
            }
            _ => self.iter().map(|(low, high)| volume(low, high)).sum(),
        }
    }

    /// The first strip that ends beyond x.
    fn first_beyond(&self, x: f64) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.high.row(middle)[0] <= x { from = middle + 1 } else { to = middle }
        }
        from
    }

    fn push(&mut self, low: &[f64], high: &[f64]) {
        if low.iter().zip(high).all(|(low, high)| low < high) {
            self.low.push(low);
            self.high.push(high);
        }
    }

    fn strips(&mut self, rows: &Points, reference: &[f64]) {
        let mut order: Vec<&[f64]> = rows.rows().collect();
        order.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let (mut from, mut height) = (f64::NEG_INFINITY, reference[1]);
        for row in order {
            self.push(&[from, f64::NEG_INFINITY], &[row[0], height]);
            (from, height) = (row[0], row[1]);
        }
        self.push(&[from, f64::NEG_INFINITY], &[reference[0], height]);
    }

    fn sweep(&mut self, rows: &Points, reference: &[f64]) {
        let mut order: Vec<&[f64]> = rows.rows().collect();
        order.sort_by(|a, b| a[2].total_cmp(&b[2]));
        let all = Strip {
            from: f64::NEG_INFINITY,
            to: reference[0],
            below: reference[1],
            since: f64::NEG_INFINITY,
        };
        let mut strips = vec![all];
        for row in order {
            let (x, y, level) = (row[0], row[1], row[2]);
            // Strips lie in order of the first objective and fall in the second: those that a row cuts are neighbours.
            let first = strips.partition_point(|strip| strip.to <= x);
            let end = first + strips[first..].partition_point(|strip| strip.below > y);
            if first == end {
                continue;
            }
            for strip in &strips[first..end] {
                self.close(strip, level);
            }
            let (left, right) = (strips[first], strips[end - 1]);
            let cut = Strip { from: left.from.max(x), to: right.to, below: y, since: level };
            let stays = (left.from < x).then_some(Strip { to: x, since: level, ..left });
            strips.splice(first..end, stays.into_iter().chain([cut]));
        }
        for strip in &strips {
            self.close(strip, reference[2]);
        }
    }

    /// Adds the box that a strip has filled up to a level.
    fn close(&mut self, strip: &Strip, level: f64) {
        let low = [strip.from, f64::NEG_INFINITY, strip.since];
        self.push(&low, &[strip.to, strip.below, level]);
    }

    fn split(&mut self, rows: &Points, reference: &[f64]) -> Result<()> {
        self.push(&vec![f64::NEG_INFINITY; reference.len()], reference);
        for row in rows.rows() {
            let old = std::mem::replace(
                self,
                Self { low: Points::new(reference.len()), high: Points::new(reference.len()) },
            );
            for (low, high) in old.iter() {
                if row.iter().zip(high).any(|(y, high)| y >= high) {
                    self.push(low, high);
                    continue;
                }
                // Below the row in objective i, and not below it in those before.
                let mut from = low.to_vec();
                for i in 0..row.len() {
                    let mut to = high.to_vec();
                    to[i] = to[i].min(row[i]);
                    self.push(&from, &to);
                    from[i] = from[i].max(row[i]);
                }
            }
            if self.len() > MOST {
                let allowed = format!("at most {MOST} for {} objectives", reference.len());
                return Err(Error::invalid("the number of boxes of a front", self.len(), allowed));
            }
        }
        Ok(())
    }
}

/// A part of the first objective's axis in which the sweep has met the same least second value since some level of the third.
#[derive(Debug, Clone, Copy)]
struct Strip {
    from: f64,
    to: f64,
    below: f64,
    since: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn a_gain_is_the_difference_of_two_hypervolumes(
            rows in naive::rows(1..5_usize, 9),
            row in prop::collection::vec(-3..9_i32, 4),
            reference in 3..10_i32,
        ) {
            let objectives = rows.dim();
            let row: Vec<f64> = row[..objectives].iter().map(|y| f64::from(*y) + 0.5).collect();
            let reference = vec![f64::from(reference); objectives];
            let boxes = Boxes::new(&rows, &reference).unwrap();
            let mut more = rows.clone();
            more.push(&row);
            let expected = naive::hypervolume(&more, &reference) - naive::hypervolume(&rows, &reference);
            let gain = boxes.gain(&row);
            prop_assert!((gain - expected).abs() < 1e-9 * (1.0 + expected), "{} {}", gain, expected);
            // Disjoint: the boxes above a corner that all rows are beyond add up to what is left of the whole.
            let whole: f64 = reference.iter().map(|r| r + 4.0).product();
            let corner = vec![-4.0; objectives];
            let left = whole - naive::hypervolume(&rows, &reference);
            prop_assert!((boxes.gain(&corner) - left).abs() < 1e-9 * whole);
            if objectives == 3 {
                prop_assert!(boxes.len() <= 2 * rows.len() + 1, "{} for {}", boxes.len(), rows.len());
            }
        }
    }

    #[test]
    fn values_that_are_not_finite_and_points_of_another_length_are_refused() {
        let rows = Points::from_rows(2, [[0.0, f64::NAN]]);
        assert!(Boxes::new(&rows, &[1.0, 1.0]).is_err());
        assert!(Boxes::new(&Points::new(2), &[1.0]).is_err());
        let none = Boxes::new(&Points::new(2), &[1.0, 1.0]).unwrap();
        assert_eq!((none.len(), none.gain(&[0.5, 0.5])), (1, 0.25));
    }
}
