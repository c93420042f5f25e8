//! RE34: the front of a car in a crash, its mass, the deceleration, and how far the toe board intrudes.
//!
//! Response surfaces of five thicknesses t, each in [1, 3] mm:
//!
//! ```text
//! f₁ = 1640.2823 + 2.3573285 t₁ + 2.3220035 t₂ + 4.5688768 t₃ + 7.7213633 t₄ + 4.4559504 t₅
//! f₂ = 6.5856 + 1.15 t₁ - 1.0427 t₂ + 0.9738 t₃ + 0.8364 t₄ - 0.3695 t₁t₄ + 0.0861 t₁t₅ + 0.3628 t₂t₄ - 0.1106 t₁²
//!      - 0.3437 t₃² + 0.1764 t₄²
//! f₃ = -0.0551 + 0.0181 t₁ + 0.1024 t₂ + 0.0421 t₃ - 0.0073 t₁t₂ + 0.024 t₂t₃ - 0.0118 t₂t₄ - 0.0204 t₃t₄ - 0.008 t₃t₅
//!      - 0.0241 t₂² + 0.0109 t₄²
//! ```
//!
//! Source: X. Liao, Q. Li, X. Yang, W. Zhang and W. Li, "Multiobjective optimization for crash safety design of vehicles
//! using stepwise regression model", *Structural and Multidisciplinary Optimization* 35, 2008.

use super::objectives;
use crate::coordinates;
use crate::task::{Fixed, Known, Measured, Variable};

pub(crate) static RE34: Fixed = Fixed {
    name: "re34",
    title: "RE34, vehicle crash",
    variables: &[
        Variable::real("thickness1", 1.0, 3.0),
        Variable::real("thickness2", 1.0, 3.0),
        Variable::real("thickness3", 1.0, 3.0),
        Variable::real("thickness4", 1.0, 3.0),
        Variable::real("thickness5", 1.0, 3.0),
    ],
    objectives: &["mass", "deceleration", "intrusion"],
    constraints: &[],
    answer: Known::Front {
        ideal: &[1661.71, 6.1428, 0.0394],
        nadir: &[1695.2, 10.7454, 0.264],
        hypervolume: 1.05056,
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[t1, t2, t3, t4, t5] = coordinates("re34", x);
    let mass = 1640.2823
        + 2.3573285 * t1
        + 2.3220035 * t2
        + 4.5688768 * t3
        + 7.7213633 * t4
        + 4.4559504 * t5;
    let deceleration = 6.5856 + 1.15 * t1 - 1.0427 * t2 + 0.9738 * t3 + 0.8364 * t4
        - 0.3695 * t1 * t4
        + 0.0861 * t1 * t5
        + 0.3628 * t2 * t4
        - 0.1106 * t1 * t1
        - 0.3437 * t3 * t3
        + 0.1764 * t4 * t4;
    let intrusion = -0.0551 + 0.0181 * t1 + 0.1024 * t2 + 0.0421 * t3 - 0.0073 * t1 * t2
        + 0.024 * t2 * t3
        - 0.0118 * t2 * t4
        - 0.0204 * t3 * t4
        - 0.008 * t3 * t5
        - 0.0241 * t2 * t2
        + 0.0109 * t4 * t4;
    objectives([mass, deceleration, intrusion])
}
