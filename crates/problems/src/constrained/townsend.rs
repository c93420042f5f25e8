//! Townsend's function within a heart.
//!
//! ```text
//! f(x) = -cos²((x₁ - 0.1) x₂) - x₁ sin(3x₁ + x₂)
//! x₁² + x₂² - [2 cos t - ½ cos 2t - ¼ cos 3t - ⅛ cos 4t]² - [2 sin t]² <= 0,   t = atan2(x₁, x₂)
//! ```
//!
//! Domain: x₁ in [-2.25, 2.25], x₂ in [-2.5, 1.75]. Minimum: -2.023988..., at (2.005292..., 1.194452...), on the outline.
//!
//! Source: A. Townsend, "Constrained optimization in Chebfun", chebfun.org, 2014, in the modified form that is usual.

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static TOWNSEND: Fixed = Fixed {
    name: "townsend",
    title: "Townsend",
    variables: &[Variable::real("x1", -2.25, 2.25), Variable::real("x2", -2.5, 1.75)],
    objectives: &["value"],
    constraints: &[Constraint::at_most("heart", 0.0)],
    answer: Known::Minimum { value: -2.023_988_362_8, at: &[2.005_292_735_638, 1.194_452_847_653] },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[x1, x2] = coordinates("townsend", x);
    let value = -((x1 - 0.1) * x2).cos().powi(2) - x1 * (3.0 * x1 + x2).sin();
    let t = x1.atan2(x2);
    let width =
        2.0 * t.cos() - 0.5 * (2.0 * t).cos() - 0.25 * (3.0 * t).cos() - 0.125 * (4.0 * t).cos();
    let heart = width * width + (2.0 * t.sin()).powi(2);
    measured(value, [x1 * x1 + x2 * x2 - heart])
}
