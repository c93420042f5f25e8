//! RE21: a truss of four bars, its volume against the displacement of its joint.
//!
//! ```text
//! f₁ = L (2x₁ + √2 x₂ + √x₃ + x₄)
//! f₂ = F L / E (2/x₁ + 2√2/x₂ - 2√2/x₃ + 2/x₄),   F = 10 kN, L = 200 cm, E = 2·10⁵ kN/cm²
//! ```
//!
//! The root of x₃ stands in the original article as well. Domain: x₁, x₄ in [1, 3], x₂, x₃ in [√2, 3].
//!
//! Source: F. Y. Cheng and X. S. Li, "Generalized center method for multiobjective engineering optimization", *Engineering
//! Optimization* 31, 1999.

use std::f64::consts::SQRT_2;

use super::objectives;
use crate::coordinates;
use crate::task::{Fixed, Known, Measured, Variable};

pub(crate) static RE21: Fixed = Fixed {
    name: "re21",
    title: "RE21, four-bar truss",
    variables: &[
        Variable::real("bar1", 1.0, 3.0),
        Variable::real("bar2", SQRT_2, 3.0),
        Variable::real("bar3", SQRT_2, 3.0),
        Variable::real("bar4", 1.0, 3.0),
    ],
    objectives: &["volume", "displacement"],
    constraints: &[],
    answer: Known::Front {
        ideal: &[1237.84, 0.002_761_42],
        nadir: &[2886.37, 0.04],
        hypervolume: 0.88856,
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[x1, x2, x3, x4] = coordinates("re21", x);
    let (load, length, modulus) = (10.0, 200.0, 2e5);
    let volume = length * (2.0 * x1 + SQRT_2 * x2 + x3.sqrt() + x4);
    let bending = 2.0 / x1 + 2.0 * SQRT_2 / x2 - 2.0 * SQRT_2 / x3 + 2.0 / x4;
    objectives([volume, load * length / modulus * bending])
}
