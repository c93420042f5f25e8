//! The kernel of SVGD: k(x, x') = exp(-‖x - x'‖² / h), with h by the median trick.
//!
//! ```text
//! h := median over pairs i < j of ‖xᵢ - xⱼ‖², divided by ln(n + 1)
//! ```
//!
//! so that Σⱼ k(xᵢ, xⱼ) is about 1 for points at the median distance (Liu and Wang 2016, section 5). A point
//! is not its own pair; with fewer than two points, or when all coincide, h is 1.
//!
//! Cost: O(m n d) for the pairs of which one point is among the first m. The median costs no more than
//! `MEDIAN_PAIRS` distances: where there are more pairs, it is taken of an evenly spaced part of them.

use crate::points::{Points, squared_distance};

/// How many pairs are enough to know their median to some percent.
const MEDIAN_PAIRS: usize = 4096;

/// Pairwise kernel values of n points, and the space to compute them in again and again.
#[derive(Debug, Clone, Default)]
pub struct SteinKernel {
    /// k(xᵢ, xⱼ) for i < j, row after row.
    pairs: Vec<f64>,
    /// The squared distances that the median is taken of.
    sample: Vec<f64>,
    bandwidth: f64,
}

impl SteinKernel {
    /// Computes bandwidth and kernel values for `points`.
    pub fn update(&mut self, points: &Points) {
        self.update_first(points, points.len());
    }

    /// The same bandwidth, but only the kernel values that the first `moving` points have a part in: between
    /// points that never move they are of no use, and there may be very many.
    pub fn update_first(&mut self, points: &Points, moving: usize) {
        self.bandwidth = self.median_trick(points);
        let rate = -1.0 / self.bandwidth;
        self.pairs.clear();
        for i in 0..moving {
            let x = points.row(i);
            let value = |j| (rate * squared_distance(x, points.row(j))).exp();
            self.pairs.extend((i + 1..points.len()).map(value));
        }
    }

    /// h, a squared length.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// k(xᵢ, xⱼ) for i < j, in the order (0,1), (0,2), …, (1,2), …, as far as they were computed.
    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    fn median_trick(&mut self, points: &Points) -> f64 {
        let n = points.len();
        let stride = (n * n.saturating_sub(1) / 2).div_ceil(MEDIAN_PAIRS).max(1);
        self.sample.clear();
        // Every stride-th pair; `next` is the place of the next one among the pairs of row i.
        let mut next = 0;
        for i in 0..n {
            let x = points.row(i);
            let columns = (i + 1 + next..n).step_by(stride);
            next += columns.len() * stride;
            next -= n - 1 - i;
            self.sample.extend(columns.map(|j| squared_distance(x, points.row(j))));
        }
        if self.sample.is_empty() {
            return 1.0;
        }
        let (middle, even) = (self.sample.len() / 2, self.sample.len().is_multiple_of(2));
        let (below, &mut upper, _) = self.sample.select_nth_unstable_by(middle, f64::total_cmp);
        let median = if even {
            let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            f64::midpoint(lower, upper)
        } else {
            upper
        };
        let bandwidth = median / (n as f64 + 1.0).ln();
        if bandwidth > f64::MIN_POSITIVE { bandwidth } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_trick_is_the_formula() {
        let points = Points::from_rows(1, [[0.0], [1.0], [3.0], [7.0]]);
        let mut kernel = SteinKernel::default();
        kernel.update(&points);
        // Squared distances 1, 4, 9, 16, 36, 49.
        let h = 12.5 / 5.0_f64.ln();
        assert!((kernel.bandwidth() - h).abs() < 1e-14);
        let expected = [1.0, 9.0, 49.0, 4.0, 36.0, 16.0].map(|d: f64| (-d / h).exp());
        for (got, expected) in kernel.pairs().iter().zip(expected) {
            assert!((got - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn the_median_of_many_pairs_is_that_of_an_evenly_spaced_part() {
        for n in [2, 91, 92, 150, 1000] {
            let rows: Vec<[f64; 1]> = (0..n).map(|i| [(f64::from(i) * 0.618).fract()]).collect();
            let points = Points::from_rows(1, &rows);
            let mut kernel = SteinKernel::default();
            kernel.update(&points);
            let pairs = points
                .rows()
                .enumerate()
                .flat_map(|(i, a)| points.rows().skip(i + 1).map(move |b| squared_distance(a, b)));
            let pairs: Vec<f64> = pairs.collect();
            let stride = pairs.len().div_ceil(MEDIAN_PAIRS);
            let mut part: Vec<f64> = pairs.iter().copied().step_by(stride).collect();
            part.sort_by(f64::total_cmp);
            let median = f64::midpoint(part[(part.len() - 1) / 2], part[part.len() / 2]);
            assert_eq!(kernel.bandwidth(), median / (f64::from(n) + 1.0).ln(), "{n} points");
            let (all, bandwidth) = (kernel.pairs().to_vec(), kernel.bandwidth());
            kernel.update_first(&points, 1);
            assert_eq!((kernel.pairs(), kernel.bandwidth()), (&all[..rows.len() - 1], bandwidth));
        }
    }

    #[test]
    fn one_point_and_coinciding_points_have_a_bandwidth() {
        let mut kernel = SteinKernel::default();
        kernel.update(&Points::zeros(3, 1));
        assert_eq!((kernel.bandwidth(), kernel.pairs().len()), (1.0, 0));
        kernel.update(&Points::zeros(3, 4));
        assert_eq!((kernel.bandwidth(), kernel.pairs()), (1.0, &[1.0; 6][..]));
    }
}
