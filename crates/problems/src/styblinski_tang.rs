//! Styblinski and Tang's function: a quartic with two wells in every variable.
//!
//! ```text
//! f(x) = ½ Σ_i x_i⁴ - 16 x_i² + 5 x_i
//! ```
//!
//! Domain: [-5, 5]^d.
//! Minimum: -39.166165... d, at x_i = -2.903534... in every variable, the least root of
//! 4x³ - 32x + 5 = 0. There are 2^d local minima.
//!
//! Source: M. A. Styblinski and T.-S. Tang, "Experiments in nonconvex optimization: stochastic approximation
//! with function smoothing and simulated annealing", *Neural Networks* 3, 1990; Surjanovic and Bingham,
//! "Styblinski-Tang function".

use crate::scalable::{Formula, Scalable};

/// The least root of 4x³ - 32x + 5, rounded from 50 digits.
const ROOT: f64 = -2.903534027771177;
/// One term at the root.
const TERM_MINIMUM: f64 = -39.16616570377141;

/// Styblinski and Tang's function.
pub type StyblinskiTang = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "styblinski-tang";
    const TITLE: &'static str = "Styblinski-Tang";
    const SIDE: (f64, f64) = (-5.0, 5.0);
    const MINIMISER: f64 = ROOT;

    fn value(x: &[f64]) -> f64 {
        0.5 * x.iter().map(|&x| ((x * x - 16.0) * x + 5.0) * x).sum::<f64>()
    }

    fn minimum(dim: usize) -> f64 {
        TERM_MINIMUM * dim as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem as _;

    #[test]
    fn values_by_hand() {
        assert_eq!(StyblinskiTang::new(4).evaluate(&[0.0; 4]), 0.0);
        // ½ [(1 - 16 + 5) + (16 - 64 - 10) + (625 - 400 + 25)].
        assert_eq!(StyblinskiTang::new(3).evaluate(&[1.0, -2.0, 5.0]), 91.0);
    }

    #[test]
    fn the_root_is_the_nearest_double() {
        let derivative = |x: f64| (4.0 * x * x - 32.0) * x + 5.0;
        let slope = 12.0 * ROOT * ROOT - 32.0;
        // A Newton step from the stored root moves it by rounding only.
        assert!((derivative(ROOT) / slope).abs() < 4.0 * f64::EPSILON * ROOT.abs());
    }
}
