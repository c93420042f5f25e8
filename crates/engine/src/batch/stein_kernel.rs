//! The kernel of SVGD: k(x, x') = exp(-‖x - x'‖² / h), with h by the median trick.
//!
//! ```text
//! h := median over pairs i < j of ‖xᵢ - xⱼ‖², divided by ln(n + 1)
//! ```
//!
//! so that Σⱼ k(xᵢ, xⱼ) is about 1 for points at the median distance (Liu and Wang 2016, section 5). A point
//! is not its own pair; with fewer than two points, or when all coincide, h is 1.
//!
//! Cost: O(n² d) for the distances, O(n²) for the median; from `MEDIAN_PAIRS` pairs on, the median is taken
//! of an evenly spaced part of them.

use crate::points::{Points, squared_distance};

/// How many pairs are enough to know their median to some percent.
const MEDIAN_PAIRS: usize = 4096;

/// Pairwise kernel values of n points, and the space to compute them in again and again.
#[derive(Debug, Clone, Default)]
pub struct SteinKernel {
    /// ‖xᵢ - xⱼ‖² and then k(xᵢ, xⱼ) for i < j, row after row.
    pairs: Vec<f64>,
    sample: Vec<f64>,
    bandwidth: f64,
}

impl SteinKernel {
    /// Computes bandwidth and kernel values for `points`.
    pub fn update(&mut self, points: &Points) {
        let n = points.len();
        self.pairs.clear();
        for i in 0..n {
            let x = points.row(i);
            self.pairs.extend((i + 1..n).map(|j| squared_distance(x, points.row(j))));
        }
        self.bandwidth = self.median_trick(n);
        let rate = -1.0 / self.bandwidth;
        for pair in &mut self.pairs {
            *pair = (rate * *pair).exp();
        }
    }

    /// h, a squared length.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// k(xᵢ, xⱼ) for i < j, in the order (0,1), (0,2), …, (1,2), …
    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    fn median_trick(&mut self, n: usize) -> f64 {
        let stride = self.pairs.len().div_ceil(MEDIAN_PAIRS).max(1);
        self.sample.clear();
        self.sample.extend(self.pairs.iter().copied().step_by(stride));
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
    fn one_point_and_coinciding_points_have_a_bandwidth() {
        let mut kernel = SteinKernel::default();
        kernel.update(&Points::zeros(3, 1));
        assert_eq!((kernel.bandwidth(), kernel.pairs().len()), (1.0, 0));
        kernel.update(&Points::zeros(3, 4));
        assert_eq!((kernel.bandwidth(), kernel.pairs()), (1.0, &[1.0; 6][..]));
    }
}
