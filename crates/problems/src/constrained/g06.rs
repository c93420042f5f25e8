//! g06 of the CEC 2006 suite: a cubic in a sliver between two circles, 0.007 % of the domain.
//!
//! ```text
//! f(x) = (x₁ - 10)³ + (x₂ - 20)³
//! (x₁ - 5)² + (x₂ - 5)² >= 100,   (x₁ - 6)² + (x₂ - 5)² <= 82.81
//! ```
//!
//! Domain: x₁ in [13, 100], x₂ in [0, 100]. Minimum: -6961.813875..., where the circles meet: at
//! (14.095, 5 - √(100 - 9.095²)).
//!
//! Source: as of [`g04`](super::g04).

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static G06: Fixed = Fixed {
    name: "g06",
    title: "g06",
    variables: &[Variable::real("x1", 13.0, 100.0), Variable::real("x2", 0.0, 100.0)],
    objectives: &["value"],
    constraints: &[Constraint::at_least("outside", 100.0), Constraint::at_most("inside", 82.81)],
    answer: Known::Minimum { value: -6_961.813_875_580_15, at: &[14.095, 0.842_960_789_215_46] },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[x1, x2] = coordinates("g06", x);
    let value = (x1 - 10.0).powi(3) + (x2 - 20.0).powi(3);
    let height = (x2 - 5.0).powi(2);
    measured(value, [(x1 - 5.0).powi(2) + height, (x1 - 6.0).powi(2) + height])
}
