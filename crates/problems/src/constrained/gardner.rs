//! Gardner's second simulation: a plane that may only be entered in a few small islands.
//!
//! ```text
//! f(x) = sin x₁ + x₂,   sin x₁ · sin x₂ <= -0.95
//! ```
//!
//! Domain: [0, 6]². Minimum: asin(0.95) - 1 = 0.253235..., at (3π/2, asin 0.95).
//!
//! Source: J. R. Gardner, M. J. Kusner, Z. Xu, K. Q. Weinberger and J. P. Cunningham, "Bayesian optimization with
//! inequality constraints", *ICML* 2014, section 4.1. Their first simulation, as printed, has its minimum where the
//! constraint plays no part.

use std::f64::consts::PI;

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

/// asin 0.95, rounded from 40 digits.
const ARC: f64 = 1.253_235_897_503_375;

pub(crate) static GARDNER: Fixed = Fixed {
    name: "gardner",
    title: "Gardner",
    variables: &[Variable::real("x1", 0.0, 6.0), Variable::real("x2", 0.0, 6.0)],
    objectives: &["value"],
    constraints: &[Constraint::at_most("island", -0.95)],
    answer: Known::Minimum { value: ARC - 1.0, at: &[1.5 * PI, ARC] },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[x1, x2] = coordinates("gardner", x);
    measured(x1.sin() + x2, [x1.sin() * x2.sin()])
}
