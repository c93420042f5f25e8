//! Goldstein and Price's function: two variables, values over six orders of magnitude.
//!
//! ```text
//! f(x) = [1 + (x₁ + x₂ + 1)² (19 - 14x₁ + 3x₁² - 14x₂ + 6x₁x₂ + 3x₂²)]
//!      · [30 + (2x₁ - 3x₂)² (18 - 32x₁ + 12x₁² + 48x₂ - 36x₁x₂ + 27x₂²)]
//! ```
//!
//! Domain: [-2, 2]².
//! Minimum: 3, at (0, -1) alone.
//!
//! Source: A. A. Goldstein and J. F. Price, "On descent from local minima", *Mathematics of Computation* 25,
//! 1971; Surjanovic and Bingham, "Goldstein-Price function".

use crate::{Problem, coordinates};

const DOMAIN: [(f64, f64); 2] = [(-2.0, 2.0); 2];

/// Goldstein and Price's function.
#[derive(Debug, Clone, Copy, Default)]
pub struct GoldsteinPrice;

impl Problem for GoldsteinPrice {
    fn name(&self) -> String {
        "goldstein-price".into()
    }

    fn title(&self) -> String {
        "Goldstein-Price".into()
    }

    fn domain(&self) -> &[(f64, f64)] {
        &DOMAIN
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        let &[x1, x2] = coordinates("goldstein-price", x);
        let first = (x1 + x2 + 1.0).powi(2)
            * (19.0 - 14.0 * x1 + 3.0 * x1 * x1 - 14.0 * x2 + 6.0 * x1 * x2 + 3.0 * x2 * x2);
        let second = (2.0 * x1 - 3.0 * x2).powi(2)
            * (18.0 - 32.0 * x1 + 12.0 * x1 * x1 + 48.0 * x2 - 36.0 * x1 * x2 + 27.0 * x2 * x2);
        (1.0 + first) * (30.0 + second)
    }

    fn minimum(&self) -> f64 {
        3.0
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![vec![0.0, -1.0]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        // (1 + 1·19) (30 + 0).
        assert_eq!(GoldsteinPrice.evaluate(&[0.0, 0.0]), 600.0);
        // (1 + 9·3) (30 + 1·37).
        assert_eq!(GoldsteinPrice.evaluate(&[1.0, 1.0]), 1876.0);
        // The local minima printed in the original article.
        assert_eq!(GoldsteinPrice.evaluate(&[1.8, 0.2]).round(), 84.0);
        assert_eq!(GoldsteinPrice.evaluate(&[-0.6, -0.4]).round(), 30.0);
        assert_eq!(GoldsteinPrice.evaluate(&[1.2, 0.8]).round(), 840.0);
    }
}
