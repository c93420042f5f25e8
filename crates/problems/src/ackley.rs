//! Ackley's function: a deep funnel in a plain covered with ripples.
//!
//! ```text
//! f(x) = -20 exp(-0.2 √(Σ x_i² / d)) - exp(Σ cos(2π x_i) / d) + 20 + e
//! ```
//!
//! Domain: [-32.768, 32.768]^d.
//! Minimum: 0, at the origin alone, where the function has a cusp. The origin is the middle of the domain:
//! an optimiser that tries the centre first has solved it.
//!
//! Source: D. H. Ackley, *A Connectionist Machine for Genetic Hillclimbing*, Kluwer, 1987; Surjanovic and
//! Bingham, "Ackley function".

use std::f64::consts::{E, PI};

use crate::scalable::{Formula, Scalable};

/// Ackley's function.
pub type Ackley = Scalable<Terms>;

/// The terms of the sum, and where it is least.
#[derive(Debug, Clone)]
pub struct Terms;

impl Formula for Terms {
    const NAME: &'static str = "ackley";
    const TITLE: &'static str = "Ackley";
    const SIDE: (f64, f64) = (-32.768, 32.768);

    fn value(x: &[f64]) -> f64 {
        let dim = x.len() as f64;
        let radius = (x.iter().map(|x| x * x).sum::<f64>() / dim).sqrt();
        // cos(2πx) - 1 = -2 sin²(πx) and exp(u) - 1 keep the digits that the printed sum cancels near 0.
        let ripple = -2.0 * x.iter().map(|x| (PI * x).sin().powi(2)).sum::<f64>() / dim;
        -20.0 * (-0.2 * radius).exp_m1() - E * ripple.exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem as _;

    #[test]
    fn values_by_hand() {
        // At (1, ..., 1) the cosines are 1: 20 - 20 exp(-0.2).
        let ones = 20.0 - 20.0 * (-0.2_f64).exp();
        assert!((Ackley::new(3).evaluate(&[1.0; 3]) - ones).abs() < 1e-13);
        // At (½, -½) they are -1 and the radius is ½: 20 - 20 exp(-0.1) + e - 1/e.
        let halves = 20.0 - 20.0 * (-0.1_f64).exp() + E - 1.0 / E;
        assert!((Ackley::new(2).evaluate(&[0.5, -0.5]) - halves).abs() < 1e-13);
    }
}
