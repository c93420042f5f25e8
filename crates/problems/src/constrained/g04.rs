//! Himmelblau's problem, g04 of the CEC 2006 suite: three quantities, each within two bounds.
//!
//! ```text
//! f(x) = 5.3578547 x₃² + 0.8356891 x₁x₅ + 37.293239 x₁ - 40792.141
//! u = 85.334407 + 0.0056858 x₂x₅ + 0.0006262 x₁x₄ - 0.0022053 x₃x₅    in [0, 92]
//! v = 80.51249 + 0.0071317 x₂x₅ + 0.0029955 x₁x₂ + 0.0021813 x₃²      in [90, 110]
//! w = 9.300961 + 0.0047026 x₃x₅ + 0.0012547 x₁x₃ + 0.0019085 x₃x₄     in [20, 25]
//! ```
//!
//! Domain: x₁ in [78, 102], x₂ in [33, 45], the others in [27, 45]. Minimum: -30665.538671..., at
//! (78, 33, 29.995256..., 45, 36.775812...).
//!
//! Source: J. J. Liang et al., *Problem Definitions and Evaluation Criteria for the CEC 2006 Special Session on Constrained
//! Real-Parameter Optimization*, Nanyang Technological University, 2006.

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static G04: Fixed = Fixed {
    name: "g04",
    title: "Himmelblau g04",
    variables: &[
        Variable::real("x1", 78.0, 102.0),
        Variable::real("x2", 33.0, 45.0),
        Variable::real("x3", 27.0, 45.0),
        Variable::real("x4", 27.0, 45.0),
        Variable::real("x5", 27.0, 45.0),
    ],
    objectives: &["value"],
    constraints: &[
        Constraint::at_least("u_low", 0.0),
        Constraint::at_most("u_high", 92.0),
        Constraint::at_least("v_low", 90.0),
        Constraint::at_most("v_high", 110.0),
        Constraint::at_least("w_low", 20.0),
        Constraint::at_most("w_high", 25.0),
    ],
    answer: Known::Minimum {
        value: -30_665.538_671_783,
        at: &[78.0, 33.0, 29.995_256_025_681_6, 45.0, 36.775_812_905_788_2],
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[x1, x2, x3, x4, x5] = coordinates("g04", x);
    let value = 5.3578547 * x3 * x3 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141;
    let u = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5;
    let v = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3 * x3;
    let w = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4;
    measured(value, [u, u, v, v, w, w])
}
