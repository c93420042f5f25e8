//! The six-hump camel: two variables, six local minima, two of them global.
//!
//! ```text
//! f(x) = (4 - 2.1 x₁² + x₁⁴/3) x₁² + x₁ x₂ + (4 x₂² - 4) x₂²
//! ```
//!
//! Domain: x₁ in [-3, 3], x₂ in [-2, 2].
//! Minimum: -1.031628..., at ±(0.089842..., -0.712656...), the two being mirror images since f(-x) = f(x).
//! The digits stored solve ∇f = 0 (Newton's method in 50-digit arithmetic).
//!
//! Source: L. C. W. Dixon and G. P. Szegő, "The global optimization problem: an introduction", in *Towards
//! Global Optimisation 2*, North-Holland, 1978; Surjanovic and Bingham, "Six-Hump Camel function".

use crate::{Problem, coordinates};

const DOMAIN: [(f64, f64); 2] = [(-3.0, 3.0), (-2.0, 2.0)];
const MINIMUM: f64 = -1.0316284534898774;
const MINIMISER: [f64; 2] = [0.08984201310031806, -0.7126564030207396];

/// The six-hump camel function.
#[derive(Debug, Clone, Copy, Default)]
pub struct Camel;

impl Problem for Camel {
    fn name(&self) -> String {
        "camel".into()
    }

    fn title(&self) -> String {
        "Six-hump Camel".into()
    }

    fn domain(&self) -> &[(f64, f64)] {
        &DOMAIN
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        let &[x1, x2] = coordinates("camel", x);
        let (square1, square2) = (x1 * x1, x2 * x2);
        (4.0 - 2.1 * square1 + square1 * square1 / 3.0) * square1
            + x1 * x2
            + (4.0 * square2 - 4.0) * square2
    }

    fn minimum(&self) -> f64 {
        MINIMUM
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        let [x1, x2] = MINIMISER;
        vec![vec![x1, x2], vec![-x1, -x2]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        assert_eq!(Camel.evaluate(&[0.0, 0.0]), 0.0);
        // (4 - 2.1 + 1/3) + 1 + 0.
        assert!((Camel.evaluate(&[1.0, 1.0]) - (2.9 + 1.0 / 3.0)).abs() < 1e-14);
        // (4 - 8.4 + 16/3) 4 - 2 + 0.
        assert!((Camel.evaluate(&[2.0, -1.0]) - (4.0 * (16.0 / 3.0 - 4.4) - 2.0)).abs() < 1e-14);
    }
}
