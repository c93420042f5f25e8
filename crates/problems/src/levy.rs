//! Levy's function: a wavy bowl, the waves higher the farther out.
//!
//! ```text
//! f(x) = sin²(π w₁) + Σ_{i<d} (w_i - 1)² [1 + 10 sin²(π w_i + 1)] + (w_d - 1)² [1 + sin²(2π w_d)],
//! w_i = 1 + (x_i - 1)/4
//! ```
//!
//! Domain: [-10, 10]^d.
//! Minimum: 0, at (1, ..., 1) alone.
//!
//! Source: A. V. Levy and A. Montalvo, "The tunneling algorithm for the global minimization of functions",
//! *SIAM Journal on Scientific and Statistical Computing* 6, 1985; Surjanovic and Bingham, "Levy function".

use std::f64::consts::PI;

use crate::scalable::{Formula, Scalable};

/// Levy's function.
pub type Levy = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "levy";
    const TITLE: &'static str = "Levy";
    const SIDE: (f64, f64) = (-10.0, 10.0);
    const MINIMISER: f64 = 1.0;

    fn value(x: &[f64]) -> f64 {
        // Written in v = w - 1, which vanishes at the minimum: the squared sines have period π, so each
        // sin²(πw + ...) equals sin²(πv + ...) and no digits are lost there.
        let offset = |x: f64| 0.25 * (x - 1.0);
        let (first, last) = (offset(x[0]), offset(x[x.len() - 1]));
        let middle: f64 = x[..x.len() - 1]
            .iter()
            .map(|&x| offset(x))
            .map(|v| v * v * (1.0 + 10.0 * (PI * v + 1.0).sin().powi(2)))
            .sum();
        (PI * first).sin().powi(2) + middle + last * last * (1.0 + (2.0 * PI * last).sin().powi(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem as _;

    #[test]
    fn values_by_hand() {
        // w = (1.5, 2): sin²(1.5π) = 1, then ¼ [1 + 10 cos² 1], then 1.
        let expected = 2.0 + 0.25 * (1.0 + 10.0 * 1.0_f64.cos().powi(2));
        assert!((Levy::new(2).evaluate(&[3.0, 5.0]) - expected).abs() < 1e-13);
        // One variable, w = 1.25: ½ + (1/16) (1 + 1).
        assert!((Levy::new(1).evaluate(&[2.0]) - 0.625).abs() < 1e-14);
    }

    #[test]
    fn agrees_with_the_printed_formula() {
        let x = [-7.3, 0.2, 4.9, 8.8];
        let w = x.map(|x| 1.0 + (x - 1.0) / 4.0);
        let mut printed = (PI * w[0]).sin().powi(2);
        for w in &w[..3] {
            printed += (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2));
        }
        printed += (w[3] - 1.0).powi(2) * (1.0 + (2.0 * PI * w[3]).sin().powi(2));
        assert!((Levy::new(4).evaluate(&x) - printed).abs() < 1e-12);
    }
}
