//! A cylinder with two heads that is to hold a volume under pressure at the least cost.
//!
//! ```text
//! f = 0.6224 s R L + 1.7781 h R² + 3.1661 s² L + 19.84 s² R
//! s - 0.0193 R >= 0,   h - 0.00954 R >= 0,   π R² L + 4/3 π R³ >= 1296000,   L <= 240
//! ```
//!
//! Domain: thickness of the shell s and of the heads h from 1/16 to 99/16 inch in steps of 1/16, as plates are sold;
//! radius R and length L in [10, 200]. Minimum: 6059.714335..., at (13/16, 7/16, 42.098445..., 176.636595...).
//!
//! Source: E. Sandgren, "Nonlinear integer and discrete programming in mechanical design optimization", *Journal of
//! Mechanical Design* 112, 1990, in the form of B. K. Kannan and S. N. Kramer, *Journal of Mechanical Design* 116, 1994.

use std::f64::consts::PI;

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static PRESSURE_VESSEL: Fixed = Fixed {
    name: "pressure-vessel",
    title: "Pressure vessel",
    variables: &[
        Variable::stepped("shell", 0.0625, 6.1875, 0.0625),
        Variable::stepped("head", 0.0625, 6.1875, 0.0625),
        Variable::real("radius", 10.0, 200.0),
        Variable::real("length", 10.0, 200.0),
    ],
    objectives: &["cost"],
    constraints: &[
        Constraint::at_least("shell_margin", 0.0),
        Constraint::at_least("head_margin", 0.0),
        Constraint::at_least("volume", 1_296_000.0),
        Constraint::at_most("length", 240.0),
    ],
    answer: Known::Minimum {
        value: 6_059.714_335_048_4,
        at: &[0.8125, 0.4375, 42.098_445_595_854_92, 176.636_595_842_439_45],
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[shell, head, radius, length] = coordinates("pressure-vessel", x);
    let cost = 0.6224 * shell * radius * length
        + 1.7781 * head * radius * radius
        + 3.1661 * shell * shell * length
        + 19.84 * shell * shell * radius;
    let volume = PI * radius * radius * length + 4.0 / 3.0 * PI * radius.powi(3);
    measured(cost, [shell - 0.0193 * radius, head - 0.00954 * radius, volume, length])
}
