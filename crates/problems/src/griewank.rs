//! Griewank's function: a wide bowl with thousands of shallow, regularly spaced local minima.
//!
//! ```text
//! f(x) = 1 + Σ_i x_i² / 4000 - Π_i cos(x_i / √i)
//! ```
//!
//! Domain: [-600, 600]^d.
//! Minimum: 0, at the origin alone. The origin is the middle of the domain: an optimiser that tries the
//! centre first has solved it.
//!
//! Source: A. O. Griewank, "Generalized descent for global optimization", *Journal of Optimization Theory
//! and Applications* 34, 1981; Surjanovic and Bingham, "Griewank function".

use crate::{Problem, assert_length, cube};

/// Griewank's function.
#[derive(Debug, Clone)]
pub struct Griewank {
    domain: Vec<(f64, f64)>,
}

impl Griewank {
    /// Griewank's function of `dim` variables.
    ///
    /// # Panics
    /// If `dim` is 0.
    pub fn new(dim: usize) -> Self {
        assert!(dim >= 1, "Griewank's function needs at least 1 variable");
        Self { domain: cube(dim, -600.0, 600.0) }
    }
}

impl Problem for Griewank {
    fn name(&self) -> String {
        format!("griewank-{}", self.dim())
    }

    fn title(&self) -> String {
        format!("Griewank {}D", self.dim())
    }

    fn domain(&self) -> &[(f64, f64)] {
        &self.domain
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        assert_length("griewank", self.dim(), x);
        let bowl = x.iter().map(|x| x * x).sum::<f64>() / 4000.0;
        let waves: f64 = (1_u32..).zip(x).map(|(i, x)| (x / f64::from(i).sqrt()).cos()).product();
        bowl + (1.0 - waves)
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
    use std::f64::consts::{PI, SQRT_2};

    use super::*;

    #[test]
    fn values_by_hand() {
        // x = (π, π√2): both cosines are -1, the bowl is 3π²/4000.
        let crest = 3.0 * PI * PI / 4000.0;
        assert!((Griewank::new(2).evaluate(&[PI, SQRT_2 * PI]) - crest).abs() < 1e-13);
        // x = (π, 0): one of them is.
        let hill = 2.0 + PI * PI / 4000.0;
        assert!((Griewank::new(2).evaluate(&[PI, 0.0]) - hill).abs() < 1e-13);
    }
}
