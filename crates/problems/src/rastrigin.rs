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

use crate::scalable::{Formula, Scalable};

/// Rastrigin's function.
pub type Rastrigin = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "rastrigin";
    const TITLE: &'static str = "Rastrigin";
    const SIDE: (f64, f64) = (-5.12, 5.12);

    fn value(x: &[f64]) -> f64 {
        // 10 - 10 cos(2πx) as 20 sin²(πx): no cancellation near the minimum.
        x.iter().map(|x| x * x + 20.0 * (PI * x).sin().powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem as _;

    #[test]
    fn values_by_hand() {
        // Whole coordinates have cosine 1, halves -1: 1 + 4 + (0.25 + 20).
        assert!((Rastrigin::new(3).evaluate(&[1.0, -2.0, 0.5]) - 25.25).abs() < 1e-13);
        // A quarter has cosine 0: 10 + 1/16.
        assert!((Rastrigin::new(1).evaluate(&[0.25]) - 10.0625).abs() < 1e-13);
    }
}
