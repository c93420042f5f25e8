//! Gramacy's toy problem: a plane cut by a wavy line and a circle.
//!
//! ```text
//! f(x) = x₁ + x₂
//! x₁ + 2x₂ + ½ sin(2π (x₁² - 2x₂)) >= 3/2,   x₁² + x₂² <= 3/2
//! ```
//!
//! Domain: [0, 1]². Minimum: 0.599788..., at (0.195122..., 0.404665...), on the wavy line.
//!
//! Source: R. B. Gramacy, G. A. Gray, S. Le Digabel, H. K. H. Lee, P. Ranjan, G. Wells and S. M. Wild, "Modeling an
//! augmented Lagrangian for blackbox constrained optimization", *Technometrics* 58, 2016.

use std::f64::consts::TAU;

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static GRAMACY: Fixed = Fixed {
    name: "gramacy",
    title: "Gramacy",
    variables: &[Variable::real("x1", 0.0, 1.0), Variable::real("x2", 0.0, 1.0)],
    objectives: &["value"],
    constraints: &[Constraint::at_least("wave", 1.5), Constraint::at_most("circle", 1.5)],
    answer: Known::Minimum {
        value: 0.599_788_052_009_9,
        at: &[0.195_122_688_462, 0.404_665_363_547_9],
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[x1, x2] = coordinates("gramacy", x);
    let wave = x1 + 2.0 * x2 + 0.5 * (TAU * (x1 * x1 - 2.0 * x2)).sin();
    measured(x1 + x2, [wave, x1 * x1 + x2 * x2])
}
