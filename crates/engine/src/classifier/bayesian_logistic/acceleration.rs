//! Anderson acceleration of a fixed-point iteration θ ← g(θ) (Anderson 1965; Walker and Ni 2011).
//!
//! From the residuals f = g(θ) - θ of the last few iterates, the combination with the smallest residual is taken as the
//! next one:
//!
//! ```text
//! γ = argmin ‖f_k - ΔF γ‖²,   θ_{k+1} = g(θ_k) - ΔG γ
//! ```
//!
//! where the columns of ΔF and ΔG are differences of consecutive residuals and images. Expectation maximisation closes a
//! fixed part of the gap at every step, a small one where labels are many and logits large; this closes most of it.
//!
//! Cost: O(n m) a step for n numbers and a memory of m.

use std::collections::VecDeque;

use super::posterior::dot;
use crate::linalg::Cholesky;

/// Differences remembered.
const MEMORY: usize = 8;
/// Keeps the normal equations solvable when differences are nearly parallel; a part of their trace.
const RIDGE: f64 = 1e-10;

/// The last iterates of one iteration.
#[derive(Debug, Default)]
pub(super) struct Anderson {
    /// f and g of the last iterate.
    last: Option<(Vec<f64>, Vec<f64>)>,
    /// Columns of ΔF and ΔG, oldest first.
    differences: VecDeque<(Vec<f64>, Vec<f64>)>,
}

impl Anderson {
    /// The next iterate after θ, whose image is g(θ).
    pub fn next(&mut self, iterate: &[f64], image: &[f64]) -> Vec<f64> {
        let residual = difference(image, iterate);
        if let Some((last_residual, last_image)) = &self.last {
            if self.differences.len() == MEMORY {
                self.differences.pop_front();
            }
            self.differences
                .push_back((difference(&residual, last_residual), difference(image, last_image)));
        }
        let mut next = image.to_vec();
        for (gamma, (_, in_image)) in self.coefficients(&residual).iter().zip(&self.differences) {
            next.iter_mut().zip(in_image).for_each(|(next, g)| *next -= gamma * g);
        }
        self.last = Some((residual, image.to_vec()));
        next
    }

    /// γ, from the normal equations; none where they cannot be solved.
    fn coefficients(&self, residual: &[f64]) -> Vec<f64> {
        let columns: Vec<&[f64]> = self.differences.iter().map(|(f, _)| f.as_slice()).collect();
        let trace: f64 = columns.iter().map(|f| dot(f, f)).sum();
        let factor = Cholesky::factor(columns.len(), |i, row| {
            for (entry, column) in row.iter_mut().zip(&columns) {
                *entry = dot(columns[i], column);
            }
            row[i] += RIDGE * trace;
        });
        let Ok(factor) = factor else { return Vec::new() };
        let mut gamma: Vec<f64> = columns.iter().map(|f| dot(f, residual)).collect();
        factor.solve(&mut gamma);
        if gamma.iter().all(|gamma| gamma.is_finite()) { gamma } else { Vec::new() }
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_linear_iteration_of_few_numbers_ends_in_as_many_steps() {
        // θ ← Tθ + b with contraction rates up to 0.99: 1400 plain steps for six digits.
        let rates = [0.99, 0.9, 0.5, 0.1];
        let image = |x: &[f64]| -> Vec<f64> {
            x.iter().zip(rates).map(|(x, rate)| rate * x + (1.0 - rate)).collect()
        };
        let (mut anderson, mut x) = (Anderson::default(), vec![0.0; 4]);
        for _ in 0..7 {
            x = anderson.next(&x, &image(&x));
        }
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{x:?}");
    }

    #[test]
    fn an_iteration_that_stands_still_stays() {
        let mut anderson = Anderson::default();
        for _ in 0..4 {
            assert_eq!(anderson.next(&[1.0, 2.0], &[1.0, 2.0]), [1.0, 2.0]);
        }
    }
}
