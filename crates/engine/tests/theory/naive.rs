//! Naive numerics to test against: plain elimination, sums and loops.

use wimble::internals::uniform;
use wimble::kernel::{Kernel, Profile};
use wimble::seed::{Rng, Seed};

/// Kernel least squares on a finite domain, one observation at a time: O(m²) each for m points.
pub struct Posterior {
    pub ridge: f64,
    pub information_gain: f64,
    pub mean: Vec<f64>,
    pub covariance: Vec<Vec<f64>>,
}

impl Posterior {
    pub fn new(kernel: &Kernel, ridge: f64, domain: &[f64]) -> Self {
        let covariance = gram(kernel, domain, 0.0);
        Self { ridge, information_gain: 0.0, mean: vec![0.0; domain.len()], covariance }
    }

    pub fn observe(&mut self, index: usize, label: f64) {
        let column = self.covariance[index].clone();
        let variance = column[index].max(0.0);
        self.information_gain += 0.5 * (variance / self.ridge).ln_1p();
        let surprise = (label - self.mean[index]) / (self.ridge + variance);
        for ((mean, row), entry) in self.mean.iter_mut().zip(&mut self.covariance).zip(&column) {
            *mean += surprise * entry;
            for (covariance, other) in row.iter_mut().zip(&column) {
                *covariance -= entry * other / (self.ridge + variance);
            }
        }
    }

    pub fn fit(&self) -> Vec<(f64, f64)> {
        let deviation = |i: usize| self.covariance[i][i].max(0.0).sqrt();
        (0..self.mean.len()).map(|i| (self.mean[i], deviation(i))).collect()
    }
}

/// Mean (13) and deviation of kernel least squares at each point of `grid`, by inverting K + λI.
pub fn least_squares(
    kernel: &Kernel,
    ridge: f64,
    points: &[f64],
    labels: &[f64],
    grid: &[f64],
) -> Vec<(f64, f64)> {
    let inverse = inverse(gram(kernel, points, ridge));
    grid.iter()
        .map(|x| {
            let k: Vec<f64> = points.iter().map(|p| kernel.value(&[*x], &[*p])).collect();
            let solved: Vec<f64> = inverse.iter().map(|row| dot(row, &k)).collect();
            let variance = kernel.output_scale() - dot(&solved, &k);
            (dot(&solved, labels), variance.max(0.0).sqrt())
        })
        .collect()
}

/// K + λI.
pub fn gram(kernel: &Kernel, points: &[f64], ridge: f64) -> Vec<Vec<f64>> {
    let entry = |i: usize, j: usize| {
        kernel.value(&[points[i]], &[points[j]]) + if i == j { ridge } else { 0.0 }
    };
    let n = points.len();
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

/// Gauss-Jordan elimination without pivoting, which positive definite matrices do not need.
pub fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
    }
    for i in 0..n {
        let pivot = matrix[i][i];
        let row: Vec<f64> = matrix[i].iter().map(|entry| entry / pivot).collect();
        for (j, other) in matrix.iter_mut().enumerate() {
            if j != i {
                let factor = other[i];
                for (entry, pivot) in other.iter_mut().zip(&row) {
                    *entry -= factor * pivot;
                }
            }
        }
        matrix[i] = row;
    }
    matrix.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// |M / λ| by elimination.
pub fn determinant(matrix: &[Vec<f64>], ridge: f64) -> f64 {
    let mut matrix = matrix.to_vec();
    let mut product = 1.0;
    for i in 0..matrix.len() {
        product *= matrix[i][i] / ridge;
        let row = matrix[i].clone();
        for other in &mut matrix[i + 1..] {
            let factor = other[i] / row[i];
            for (entry, pivot) in other.iter_mut().zip(&row) {
                *entry -= factor * pivot;
            }
        }
    }
    product
}

/// Calls `check` with several kernels and ridges, each with its own random stream.
pub fn for_kernels(mut check: impl FnMut(&Kernel, f64, &mut Rng)) {
    let profiles = [
        Profile::SquaredExponential,
        Profile::RationalQuadratic { alpha: 1.0 },
        Profile::Matern32,
        Profile::Matern52,
    ];
    let mut index = 0;
    for profile in profiles {
        for length_scale in [0.05, 0.3] {
            for output_scale in [0.5, 1.0, 4.0] {
                let kernel = Kernel::isotropic(profile, 1, length_scale, output_scale).unwrap();
                for ridge in [0.01, 0.1, 1.0, 1.5, 5.0, 20.0] {
                    check(&kernel, ridge, &mut Seed(9).stream("kernels", index));
                    index += 1;
                }
            }
        }
    }
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn normalised(weights: &[f64]) -> Vec<f64> {
    let mass: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / mass).collect()
}

pub fn draw_index(distribution: &[f64], rng: &mut Rng) -> usize {
    let mut left = uniform(rng);
    for (i, p) in distribution.iter().enumerate() {
        left -= p;
        if left < 0.0 {
            return i;
        }
    }
    distribution.len() - 1
}

pub fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

pub fn smallest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub fn index_of_largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}
