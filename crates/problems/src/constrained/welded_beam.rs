//! A beam that is welded to a wall, at the least cost.
//!
//! ```text
//! f = 1.10471 h² l + 0.04811 t b (14 + l)
//! τ <= 13600,   σ <= 30000,   h - b <= 0,   0.10471 h² + 0.04811 t b (14 + l) <= 5,   h >= 0.125,   δ <= 0.25,
//! P_c >= P
//! τ² = τ'² + τ' τ'' l / R + τ''²,   τ' = P / (√2 h l),   τ'' = M R / J,   M = P (L + l/2),
//! R² = l²/4 + ((h + t)/2)²,   J = 2√2 h l (l²/12 + ((h + t)/2)²),
//! σ = 6 P L / (b t²),   δ = 4 P L³ / (E t³ b),   P_c = 4.013 E √(t² b⁶ / 36) / L² (1 - t/(2L) √(E / (4G)))
//! P = 6000, L = 14, E = 30·10⁶, G = 12·10⁶
//! ```
//!
//! Domain: h and b in [0.1, 2], l and t in [0.1, 10]. Minimum: 1.724852..., at (0.205729..., 3.470488..., 9.036623...,
//! 0.205729...).
//!
//! Source: S. S. Rao, *Engineering Optimization*, Wiley, 1996, in the form of C. A. Coello Coello, "Use of a self-adaptive
//! penalty approach for engineering optimization problems", *Computers in Industry* 41, 2000.

use std::f64::consts::SQRT_2;

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static WELDED_BEAM: Fixed = Fixed {
    name: "welded-beam",
    title: "Welded beam",
    variables: &[
        Variable::real("weld", 0.1, 2.0),
        Variable::real("length", 0.1, 10.0),
        Variable::real("height", 0.1, 10.0),
        Variable::real("thickness", 0.1, 2.0),
    ],
    objectives: &["cost"],
    constraints: &[
        Constraint::at_most("shear", 13_600.0),
        Constraint::at_most("bending", 30_000.0),
        Constraint::at_most("overhang", 0.0),
        Constraint::at_most("bar_cost", 5.0),
        Constraint::at_least("weld", 0.125),
        Constraint::at_most("deflection", 0.25),
        Constraint::at_least("buckling_load", 6_000.0),
    ],
    answer: Known::Minimum {
        value: 1.724_852_308_597,
        at: &[0.205_729_639_786_08, 3.470_488_665_628, 9.036_623_910_357_6, 0.205_729_639_786_08],
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[weld, length, height, thickness] = coordinates("welded-beam", x);
    let (load, overhang, young, shear_modulus) = (6000.0, 14.0, 30e6, 12e6);
    let bar = 0.04811 * height * thickness * (14.0 + length);
    let squared = (0.5 * (weld + height)).powi(2);
    let radius = (0.25 * length * length + squared).sqrt();
    let inertia = 2.0 * SQRT_2 * weld * length * (length * length / 12.0 + squared);
    let primary = load / (SQRT_2 * weld * length);
    let secondary = load * (overhang + 0.5 * length) * radius / inertia;
    let shear =
        (primary * primary + primary * secondary * length / radius + secondary * secondary).sqrt();
    let bending = 6.0 * load * overhang / (thickness * height * height);
    let deflection = 4.0 * load * overhang.powi(3) / (young * height.powi(3) * thickness);
    let slenderness: f64 = height / (2.0 * overhang) * f64::sqrt(young / (4.0 * shear_modulus));
    let buckling = 4.013 * young * height * thickness.powi(3) / (6.0 * overhang * overhang)
        * (1.0 - slenderness);
    measured(
        1.10471 * weld * weld * length + bar,
        [shear, bending, weld - thickness, 0.10471 * weld * weld + bar, weld, deflection, buckling],
    )
}
