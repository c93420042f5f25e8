//! RE24: a hatch cover, its weight against the violation of four limits.
//!
//! ```text
//! f₁ = x₁ + 120 x₂
//! limits: σ_b <= 700, τ <= 450, δ <= 1.5, σ_b <= σ_k
//! σ_b = 4500 / (x₁ x₂),   τ = 1800 / x₂,   δ = 56.2·10⁴ / (E x₁ x₂²),   σ_k = E x₁² / 100,   E = 7·10⁵
//! f₂ = Σ of what the ratios to the limits exceed 1 by
//! ```
//!
//! Domain: x₁ in [0.5, 4], x₂ in [0.5, 50].
//!
//! Source: H. M. Amir and T. Hasegawa, "Nonlinear mixed-discrete structural optimization", *Journal of Structural
//! Engineering* 115, 1989.

use super::{objectives, total_violation};
use crate::coordinates;
use crate::task::{Fixed, Known, Measured, Variable};

pub(crate) static RE24: Fixed = Fixed {
    name: "re24",
    title: "RE24, hatch cover",
    variables: &[
        Variable::real("flange_thickness", 0.5, 4.0),
        Variable::real("beam_height", 0.5, 50.0),
    ],
    objectives: &["weight", "violation"],
    constraints: &[],
    answer: Known::Front { ideal: &[60.5, 0.0], nadir: &[481.608, 44.2819], hypervolume: 1.17126 },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[flange, height] = coordinates("re24", x);
    let modulus = 7e5;
    let bending = 4500.0 / (flange * height);
    let shear = 1800.0 / height;
    let deflection = 56.2e4 / (modulus * flange * height * height);
    let buckling = modulus * flange * flange / 100.0;
    let violation = total_violation([
        1.0 - bending / 700.0,
        1.0 - shear / 450.0,
        1.0 - deflection / 1.5,
        1.0 - bending / buckling,
    ]);
    objectives([flange + 120.0 * height, violation])
}
