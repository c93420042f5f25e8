//! The ellipsoid: a bowl that is a million times steeper in one variable than in another.
//!
//! ```text
//! f(x) = Σ_i 10^(6 (i - 1)/(d - 1)) x_i²
//! ```
//!
//! Domain: [-5, 5]^d.
//! Minimum: 0, at the origin alone, the middle of the domain. As printed it is separable, so that one variable at a
//! time solves it; `ellipsoid-10+shifted+rotated` is the test of ill-conditioning.
//!
//! Source: N. Hansen, S. Finck, R. Ros and A. Auger, *Real-Parameter Black-Box Optimization Benchmarking 2009:
//! Noiseless Functions Definitions*, INRIA RR-6829, f2 and f10, without their oscillation.

use crate::scalable::{Formula, Scalable};

/// The logarithm to base ten of the ratio of the largest and the least curvature.
const CONDITION: f64 = 6.0;

/// The ellipsoid.
pub type Ellipsoid = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "ellipsoid";
    const TITLE: &'static str = "Ellipsoid";
    const SIDE: (f64, f64) = (-5.0, 5.0);
    const LEAST: usize = 2;

    fn value(x: &[f64]) -> f64 {
        let last = (x.len() - 1) as f64;
        let term = |(i, x): (usize, &f64)| 10_f64.powf(CONDITION * i as f64 / last) * x * x;
        x.iter().enumerate().map(term).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem as _;

    #[test]
    fn values_by_hand() {
        assert_eq!(Ellipsoid::new(2).evaluate(&[3.0, 2.0]), 9.0 + 4e6);
        // 1 + 10³ + 10⁶.
        assert!((Ellipsoid::new(3).evaluate(&[1.0; 3]) - 1_001_001.0).abs() < 1e-6);
    }
}
