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

use crate::{Problem, assert_length, cube};

/// The logarithm to base ten of the ratio of the largest and the least curvature.
const CONDITION: f64 = 6.0;

/// The ellipsoid.
#[derive(Debug, Clone)]
pub struct Ellipsoid {
    domain: Vec<(f64, f64)>,
}

impl Ellipsoid {
    /// The ellipsoid in `dim` variables.
    ///
    /// # Panics
    /// If `dim` is below 2.
    pub fn new(dim: usize) -> Self {
        assert!(dim >= 2, "the ellipsoid needs at least 2 variables, not {dim}");
        Self { domain: cube(dim, -5.0, 5.0) }
    }
}

impl Problem for Ellipsoid {
    fn name(&self) -> String {
        format!("ellipsoid-{}", self.dim())
    }

    fn title(&self) -> String {
        format!("Ellipsoid {}D", self.dim())
    }

    fn domain(&self) -> &[(f64, f64)] {
        &self.domain
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        assert_length("ellipsoid", self.dim(), x);
        let last = (self.dim() - 1) as f64;
        let term = |(i, x): (usize, &f64)| 10_f64.powf(CONDITION * i as f64 / last) * x * x;
        x.iter().enumerate().map(term).sum()
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
        assert_eq!(Ellipsoid::new(2).evaluate(&[3.0, 2.0]), 9.0 + 4e6);
        // 1 + 10³ + 10⁶.
        assert!((Ellipsoid::new(3).evaluate(&[1.0; 3]) - 1_001_001.0).abs() < 1e-6);
    }
}
