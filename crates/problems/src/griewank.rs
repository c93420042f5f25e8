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

use crate::scalable::{Formula, Scalable};

/// Griewank's function.
pub type Griewank = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "griewank";
    const TITLE: &'static str = "Griewank";
    const SIDE: (f64, f64) = (-600.0, 600.0);

    fn value(x: &[f64]) -> f64 {
        let bowl = x.iter().map(|x| x * x).sum::<f64>() / 4000.0;
        let waves: f64 = (1_u32..).zip(x).map(|(i, x)| (x / f64::from(i).sqrt()).cos()).product();
        bowl + (1.0 - waves)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, SQRT_2};

    use super::*;
    use crate::Problem as _;

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
