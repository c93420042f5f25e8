//! The joint posterior at several points, f(X) ~ N(m, LLᵀ), and the derivatives that flow back through it.
//!
//! ```text
//! m = K_Xᵀ α                 LLᵀ = k(X, X) - K_Xᵀ A⁻¹ K_X + jitter        A = K + λI
//! ```
//!
//! A function of m and L, such as the mean of samples m + Lε, has a gradient in X. Backwards through the factor
//! (Murray 2016, equation 9), with P taking the lower triangle and half the diagonal:
//!
//! ```text
//! Σ̄ = ½ (S + Sᵀ),   S = L⁻ᵀ P(LᵀL̄) L⁻¹
//! ```
//!
//! Cost for m points and n of the posterior: O(n²m + m³), gradients the same.
//! Fails with `Error::NotPositiveDefinite` where points coincide so closely that no jitter helps.

use super::posterior::Posterior;
use crate::error::{Error, Result};
use crate::linalg::JITTERS;
use crate::points::{Points, dot};

/// The rungs of [`JITTERS`] that are tried, 1e-9 to 1e-6, in units of the output scale. The first of them is never left
/// out: near coinciding points the factor would otherwise jump between rungs, and its gradient with it.
const RUNGS: std::ops::Range<usize> = 2..6;

/// Mean and factored covariance of the function at several points, noise left out.
#[derive(Debug, Clone)]
pub struct Joint<'p> {
    posterior: &'p Posterior,
    weights: &'p [f64],
    points: Points,
    mean: Vec<f64>,
    lower: Square,
    /// A⁻¹ k(x) of each point, one after another.
    solved: Vec<f64>,
}

/// Derivatives of a function in the mean and in the entries of the factor.
#[derive(Debug, Clone)]
pub struct Slopes {
    /// In the mean.
    pub mean: Vec<f64>,
    /// In L; entries above the diagonal are not read.
    pub lower: Square,
}

impl<'p> Joint<'p> {
    /// The joint posterior at `points`, given the weights of the targets.
    pub fn at(posterior: &'p Posterior, weights: &'p [f64], points: Points) -> Result<Self> {
        let (n, m, kernel) = (posterior.len(), points.len(), posterior.kernel());
        let mut rows = Vec::with_capacity(n * m);
        for x in points.rows() {
            rows.extend(posterior.points().rows().map(|p| kernel.value(x, p)));
        }
        let row = |rows: &[f64], i: usize| rows[i * n..(i + 1) * n].to_vec();
        let mean = (0..m).map(|i| dot(weights, &rows[i * n..(i + 1) * n])).collect();
        posterior.factor().solve_lower_batch(&mut rows);
        let mut covariance = Square::zeros(m);
        for i in 0..m {
            let left = row(&rows, i);
            for j in 0..=i {
                let explained = dot(&left, &rows[j * n..(j + 1) * n]);
                *covariance.at_mut(i, j) = kernel.value(points.row(i), points.row(j)) - explained;
            }
        }
        let scale = kernel.output_scale();
        let lower = covariance.cholesky(scale)?;
        posterior.factor().solve_upper_batch(&mut rows);
        Ok(Self { posterior, weights, points, mean, lower, solved: rows })
    }

    /// m, the mean at each point.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// L, the lower Cholesky factor of the covariance.
    pub fn lower(&self) -> &Square {
        &self.lower
    }

    /// The gradient of a function of m and L with respect to each of the points.
    pub fn pull_back(&self, slopes: &Slopes) -> Points {
        let (n, m, dim) = (self.posterior.len(), self.points.len(), self.points.dim());
        let in_covariance = self.lower.pull_back(&slopes.lower);
        let mut gradients = Points::zeros(dim, m);
        let mut combined = vec![0.0; n];
        for i in 0..m {
            for (weight, alpha) in combined.iter_mut().zip(self.weights) {
                *weight = slopes.mean[i] * alpha;
            }
            for j in 0..m {
                let slope = -2.0 * in_covariance.at(i, j);
                let solved = &self.solved[j * n..(j + 1) * n];
                combined.iter_mut().zip(solved).for_each(|(weight, v)| *weight += slope * v);
            }
            let (x, gradient) = (self.points.row(i), gradients.row_mut(i));
            self.posterior.mean_and_gradient(&combined, x, gradient);
            for j in (0..m).filter(|&j| j != i) {
                let weight = 2.0 * in_covariance.at(i, j);
                let kernel = self.posterior.kernel();
                kernel.value_adding_gradient(x, self.points.row(j), weight, gradient);
            }
        }
        gradients
    }
}

/// A small square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Square {
    len: usize,
    entries: Vec<f64>,
}

impl Square {
    /// All zeros.
    pub fn zeros(len: usize) -> Self {
        Self { len, entries: vec![0.0; len * len] }
    }

    /// The entry in row i and column j.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * self.len + j]
    }

    /// The entry in row i and column j, to be changed.
    pub fn at_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.entries[i * self.len + j]
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.len..(i + 1) * self.len]
    }

    /// The factor of this covariance, of which the lower triangle is read, with the smallest jitter that works;
    /// jitters are in units of `scale`.
    pub fn cholesky(&self, scale: f64) -> Result<Self> {
        let mut failed = 0;
        for jitter in &JITTERS[RUNGS] {
            match self.factor(jitter * scale) {
                Ok(lower) => return Ok(lower),
                Err(pivot) => failed = pivot,
            }
        }
        Err(Error::NotPositiveDefinite { pivot: failed, jitter: JITTERS[RUNGS.end - 1] * scale })
    }

    /// The factor, or the index of the pivot that is not positive.
    fn factor(&self, jitter: f64) -> Result<Self, usize> {
        let mut lower = Self::zeros(self.len);
        for i in 0..self.len {
            for j in 0..=i {
                let products = lower.row(i)[..j].iter().zip(&lower.row(j)[..j]);
                let rest = self.at(i, j) - products.map(|(a, b)| a * b).sum::<f64>();
                *lower.at_mut(i, j) = if i > j {
                    rest / lower.at(j, j)
                } else if rest + jitter > 0.0 {
                    (rest + jitter).sqrt()
                } else {
                    return Err(i);
                };
            }
        }
        Ok(lower)
    }

    /// Σ̄ for the derivatives L̄ of a function of this factor L.
    fn pull_back(&self, slopes: &Self) -> Self {
        let m = self.len;
        // P(LᵀL̄)
        let mut inner = Self::zeros(m);
        for i in 0..m {
            for j in 0..=i {
                let sum: f64 = (i..m).map(|k| self.at(k, i) * slopes.at(k, j)).sum();
                *inner.at_mut(i, j) = if i == j { 0.5 * sum } else { sum };
            }
        }
        // L⁻ᵀ from the left: back substitution in each column.
        for j in 0..m {
            for i in (0..m).rev() {
                let below: f64 = (i + 1..m).map(|k| self.at(k, i) * inner.at(k, j)).sum();
                *inner.at_mut(i, j) = (inner.at(i, j) - below) / self.at(i, i);
            }
        }
        // L⁻¹ from the right: y L = b for each row, from its last entry.
        for i in 0..m {
            for j in (0..m).rev() {
                let after: f64 = (j + 1..m).map(|k| inner.at(i, k) * self.at(k, j)).sum();
                *inner.at_mut(i, j) = (inner.at(i, j) - after) / self.at(j, j);
            }
        }
        let mut symmetric = Self::zeros(m);
        for i in 0..m {
            for j in 0..m {
                *symmetric.at_mut(i, j) = 0.5 * (inner.at(i, j) + inner.at(j, i));
            }
        }
        symmetric
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Profile};
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    fn points(len: usize, seed: u64) -> Points {
        let mut rng = Seed(seed).stream("points", 0);
        Points::from_rows(2, (0..len).map(|_| [(); 2].map(|()| uniform(&mut rng))))
    }

    fn posterior(len: usize, seed: u64) -> (Posterior, Vec<f64>) {
        let kernel = Kernel::new(Profile::Matern52, vec![0.3, 0.6], 1.4).unwrap();
        let posterior = Posterior::fit(kernel, 0.01, points(len, seed).rows()).unwrap();
        let targets: Vec<f64> =
            posterior.points().rows().map(|x| (4.0 * x[0]).sin() + x[1]).collect();
        let weights = posterior.weights(&targets);
        (posterior, weights)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn each_point_alone_is_what_the_posterior_predicts(len in 0..30_usize, seed in 0..1000_u64) {
            let (posterior, weights) = posterior(len, seed);
            let at = points(4, seed + 1);
            let joint = Joint::at(&posterior, &weights, at.clone()).unwrap();
            for (i, x) in at.rows().enumerate() {
                let alone = posterior.predict(&weights, x);
                let variance: f64 = joint.lower().row(i).iter().map(|l| l * l).sum();
                prop_assert!((joint.mean()[i] - alone.mean).abs() < 1e-10);
                prop_assert!((variance - alone.deviation.powi(2)).abs() < 1e-8);
            }
        }

        #[test]
        fn the_gradient_is_that_of_finite_differences(len in 0..30_usize, seed in 0..1000_u64) {
            let (posterior, weights) = posterior(len, seed);
            let (at, m) = (points(4, seed + 1), 4);
            // A function of every entry: Σ aᵢ mᵢ + Σ bᵢⱼ Lᵢⱼ.
            let a = |i: usize| (i as f64 + 0.3).sin();
            let b = |i: usize, j: usize| ((3 * i + 2 * j) as f64 + 0.7).cos();
            let value = |at: &Points| {
                let joint = Joint::at(&posterior, &weights, at.clone()).unwrap();
                (0..m)
                    .map(|i| {
                        let row = (0..=i).map(|j| b(i, j) * joint.lower().at(i, j)).sum::<f64>();
                        a(i) * joint.mean()[i] + row
                    })
                    .sum::<f64>()
            };
            let joint = Joint::at(&posterior, &weights, at.clone()).unwrap();
            let mut slopes = Slopes { mean: (0..m).map(a).collect(), lower: Square::zeros(m) };
            for i in 0..m {
                for j in 0..=i {
                    *slopes.lower.at_mut(i, j) = b(i, j);
                }
            }
            let gradients = joint.pull_back(&slopes);
            for k in 0..m * 2 {
                let moved = |step: f64| {
                    let mut at = at.clone();
                    at.as_mut_slice()[k] += step;
                    value(&at)
                };
                let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let exact = gradients.as_slice()[k];
                // Where two points nearly coincide the factor bends sharply, and so does the difference.
                prop_assert!((exact - numeric).abs() < 2e-4 * (1.0 + numeric.abs()), "{} {}", exact, numeric);
            }
        }
    }

    /// scikit-learn's covariances, in `tests/golden/gaussian_process.json`.
    #[test]
    fn the_covariance_is_that_of_another_implementation() {
        let text = include_str!("../../tests/golden/gaussian_process.json");
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        let read = |name: &str| -> Points {
            let rows: Vec<Vec<f64>> = serde_json::from_value(golden[name].clone()).unwrap();
            Points::from_rows(3, rows)
        };
        let values: Vec<f64> = serde_json::from_value(golden["values"].clone()).unwrap();
        for fit in golden["fits"].as_array().unwrap() {
            let kernel: Kernel = serde_json::from_value(fit["kernel"].clone()).unwrap();
            let noise = fit["noise"].as_f64().unwrap();
            let posterior = Posterior::fit(kernel, noise, read("points").rows()).unwrap();
            let weights = posterior.weights(&values);
            let joint = Joint::at(&posterior, &weights, read("at")).unwrap();
            let covariance: Vec<Vec<f64>> =
                serde_json::from_value(fit["covariance"].clone()).unwrap();
            for (i, row) in covariance.iter().enumerate() {
                for (j, expected) in row.iter().enumerate() {
                    let products = joint.lower().row(i).iter().zip(joint.lower().row(j));
                    let got: f64 = products.map(|(a, b)| a * b).sum();
                    // The jitter.
                    assert!((got - expected).abs() < 1e-8, "{i} {j}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn coinciding_points_are_factored_with_jitter() {
        let (posterior, weights) = posterior(10, 0);
        let twice = Points::from_rows(2, [[0.4, 0.5]; 3]);
        let joint = Joint::at(&posterior, &weights, twice).unwrap();
        assert!(joint.lower().at(2, 2) > 0.0);
    }
}
