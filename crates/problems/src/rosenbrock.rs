//! Rosenbrock's curved valley, in any number of variables from two.
//!
//! ```text
//! f(x) = Σ_{i<d} 100 (x_{i+1} - x_i²)² + (x_i - 1)²
//! ```
//!
//! Domain: [-5, 10]^d.
//! Minimum: 0, at (1, ..., 1) alone. From four variables on there is a second, worse local minimum near
//! (-1, 1, ..., 1).
//!
//! Source: H. H. Rosenbrock, "An automatic method for finding the greatest or least value of a function",
//! *The Computer Journal* 3, 1960; Surjanovic and Bingham, "Rosenbrock function".

use crate::scalable::{Formula, Scalable};

/// Rosenbrock's function.
pub type Rosenbrock = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "rosenbrock";
    const TITLE: &'static str = "Rosenbrock";
    const SIDE: (f64, f64) = (-5.0, 10.0);
    const LEAST: usize = 2;
    const MINIMISER: f64 = 1.0;

    fn value(x: &[f64]) -> f64 {
        x.windows(2)
            .map(|pair| 100.0 * (pair[1] - pair[0] * pair[0]).powi(2) + (pair[0] - 1.0).powi(2))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem as _;

    #[test]
    fn values_by_hand() {
        assert_eq!(Rosenbrock::new(5).evaluate(&[0.0; 5]), 4.0);
        // Rosenbrock's own starting point (-1.2, 1): 100·0.44² + 2.2².
        assert!((Rosenbrock::new(2).evaluate(&[-1.2, 1.0]) - 24.2).abs() < 1e-12);
        // 100 (3 - 4)² + 1, then 100 (1 - 9)² + 4.
        assert_eq!(Rosenbrock::new(3).evaluate(&[2.0, 3.0, 1.0]), 6505.0);
    }
}
