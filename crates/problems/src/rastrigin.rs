//! Rastrigin's function: a bowl with a regular grid of local minima.
//!
//! ```text
//! f(x) = 10 d + Σ_i x_i² - 10 cos(2π x_i)
//! ```
//!
//! Domain: [-5.12, 5.12]^d.
//! Minimum: 0, at the origin alone. The origin is the middle of the domain: an optimiser that tries the
//! centre first has solved it.
//!
//! Source: L. A. Rastrigin, *Systems of Extremal Control*, Nauka, 1974 (in Russian); in any number of
//! variables, H. Mühlenbein, M. Schomisch and J. Born, "The parallel genetic algorithm as function
//! optimizer", *Parallel Computing* 17, 1991; Surjanovic and Bingham, "Rastrigin function".

use std::f64::consts::PI;

use crate::{Problem, assert_length, cube};

/// Rastrigin's function.
#[derive(Debug, Clone)]
pub struct Rastrigin {
    domain: Vec<(f64, f64)>,
}

impl Rastrigin {
    /// Rastrigin's function of `dim` variables.
    ///
    /// # Panics
    /// If `dim` is 0.
    pub fn new(dim: usize) -> Self {
        assert!(dim >= 1, "Rastrigin's function needs at least 1 variable");
        Self { domain: cube(dim, -5.12, 5.12) }
    }
}

impl Problem for Rastrigin {
    fn name(&self) -> String {
        format!("rastrigin-{}", self.dim())
    }

    fn title(&self) -> String {
        format!("Rastrigin {}D", self.dim())
    }

    fn domain(&self) -> &[(f64, f64)] {
        &self.domain
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        assert_length("rastrigin", self.dim(), x);
        // 10 - 10 cos(2πx) as 20 sin²(πx): no cancellation near the minimum.
        x.iter().map(|x| x * x + 20.0 * (PI * x).sin().powi(2)).sum()
    }

    fn minimum(&self) -> f64 {
        0.0
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![vec![0.0; self.dim()]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        // Whole coordinates have cosine 1, halves -1: 1 + 4 + (0.25 + 20).
        assert!((Rastrigin::new(3).evaluate(&[1.0, -2.0, 0.5]) - 25.25).abs() < 1e-13);
        // A quarter has cosine 0: 10 + 1/16.
        assert!((Rastrigin::new(1).evaluate(&[0.25]) - 10.0625).abs() < 1e-13);
    }
}
