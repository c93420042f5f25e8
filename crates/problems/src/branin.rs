//! Branin's function of two variables, with three global minima.
//!
//! ```text
//! f(x) = (x₂ - b x₁² + c x₁ - 6)² + 10 (1 - t) cos x₁ + 10,   b = 5.1/(4π²), c = 5/π, t = 1/(8π)
//! ```
//!
//! Domain: x₁ in [-5, 10], x₂ in [0, 15].
//! Minimum: 5/(4π) = 0.397887..., at (-π, 12.275), (π, 2.275) and (3π, 2.475), where the square vanishes
//! and cos x₁ = -1.
//!
//! Source: L. C. W. Dixon and G. P. Szegő, "The global optimization problem: an introduction", in *Towards
//! Global Optimisation 2*, North-Holland, 1978; Surjanovic and Bingham, "Branin function".

use std::f64::consts::PI;

use crate::{Problem, coordinates};

const DOMAIN: [(f64, f64); 2] = [(-5.0, 10.0), (0.0, 15.0)];
const T: f64 = 1.0 / (8.0 * PI);

/// Branin's function.
#[derive(Debug, Clone, Copy, Default)]
pub struct Branin;

impl Problem for Branin {
    fn name(&self) -> String {
        "branin".into()
    }

    fn title(&self) -> String {
        "Branin".into()
    }

    fn domain(&self) -> &[(f64, f64)] {
        &DOMAIN
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        let &[x1, x2] = coordinates("branin", x);
        let square = (x2 - 5.1 / (4.0 * PI * PI) * x1 * x1 + 5.0 / PI * x1 - 6.0).powi(2);
        // 1 + cos x₁ as 2 cos² (x₁/2): no cancellation where cos x₁ is near -1, that is at the minima.
        square + 20.0 * (1.0 - T) * (0.5 * x1).cos().powi(2) + 10.0 * T
    }

    fn minimum(&self) -> f64 {
        10.0 * T
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![vec![-PI, 12.275], vec![PI, 2.275], vec![3.0 * PI, 2.475]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        // At the origin: 36 + 10 (1 - t) + 10.
        let origin = 56.0 - 10.0 / (8.0 * PI);
        assert!((Branin.evaluate(&[0.0, 0.0]) - origin).abs() < 1e-12);
        // Where cos x₁ = 1: b (2π)² = 5.1 and c 2π = 10, so the square is (1 - 5.1 + 10 - 6)² = 0.01.
        let crest = 0.01 + 20.0 - 10.0 / (8.0 * PI);
        assert!((Branin.evaluate(&[2.0 * PI, 1.0]) - crest).abs() < 1e-12);
    }

    #[test]
    #[should_panic(expected = "branin needs 2 coordinates, but the point has 3")]
    fn a_point_of_the_wrong_dimension_is_refused() {
        Branin.evaluate(&[0.0; 3]);
    }
}
