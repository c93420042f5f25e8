//! RE31: a truss of two bars, its volume, the stress in one bar, and the violation of three limits.
//!
//! ```text
//! f₁ = x₁ √(16 + x₃²) + x₂ √(1 + x₃²),   f₂ = 20 √(16 + x₃²) / (x₁ x₃)
//! limits: f₁ <= 0.1, f₂ <= 10⁵, 80 √(1 + x₃²) / (x₂ x₃) <= 10⁵;   f₃ = Σ of what they are exceeded by
//! ```
//!
//! Domain: x₁, x₂ in [10⁻⁵, 100], x₃ in [1, 3].
//!
//! Source: C. A. Coello Coello and G. T. Pulido, "Multiobjective structural optimization using a microgenetic algorithm",
//! *Structural and Multidisciplinary Optimization* 30, 2005.

use super::{objectives, total_violation};
use crate::coordinates;
use crate::task::{Fixed, Known, Measured, Variable};

pub(crate) static RE31: Fixed = Fixed {
    name: "re31",
    title: "RE31, two-bar truss",
    variables: &[
        Variable::real("section1", 1e-5, 100.0),
        Variable::real("section2", 1e-5, 100.0),
        Variable::real("distance", 1.0, 3.0),
    ],
    objectives: &["volume", "stress", "violation"],
    constraints: &[],
    answer: Known::Front {
        ideal: &[5.537_32e-5, 0.333_333, 0.0],
        nadir: &[500.003, 8.246_21e6, 1.935_99e7],
        hypervolume: 1.33100,
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[section1, section2, distance] = coordinates("re31", x);
    let (long, short) = ((16.0 + distance * distance).sqrt(), (1.0 + distance * distance).sqrt());
    let volume = section1 * long + section2 * short;
    let stress = 20.0 * long / (section1 * distance);
    let other = 80.0 * short / (section2 * distance);
    let violation = total_violation([0.1 - volume, 1e5 - stress, 1e5 - other]);
    objectives([volume, stress, violation])
}
