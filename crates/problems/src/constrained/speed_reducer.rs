//! A gear box between an engine and a propeller, as light as possible.
//!
//! ```text
//! f = 0.7854 b m² (3.3333 z² + 14.9334 z - 43.0934) - 1.508 b (d₁² + d₂²) + 7.4777 (d₁³ + d₂³)
//!     + 0.7854 (l₁ d₁² + l₂ d₂²)
//! each at most 1:
//! 27 / (b m² z),   397.5 / (b m² z²),   1.93 l₁³ / (m z d₁⁴),   1.93 l₂³ / (m z d₂⁴),
//! √((745 l₁ / (m z))² + 16.9·10⁶) / (110 d₁³),   √((745 l₂ / (m z))² + 157.5·10⁶) / (85 d₂³),
//! m z / 40,   5m / b,   b / (12 m),   (1.5 d₁ + 1.9) / l₁,   (1.1 d₂ + 1.9) / l₂
//! ```
//!
//! Domain: face width b in [2.6, 3.6], module m in [0.7, 0.8], teeth z whole from 17 to 28, lengths l₁, l₂ in [7.3, 8.3],
//! diameters d₁ in [2.9, 3.9], d₂ in [5, 5.5]. Minimum: 2994.471066..., at (3.5, 0.7, 17, 7.3, 7.715319..., 3.350214...,
//! 5.286654...).
//!
//! Source: J. Golinski, "Optimal synthesis problems solved by means of nonlinear programming and random methods", *Journal
//! of Mechanisms* 5, 1970, with the bounds of E. Mezura-Montes and C. A. Coello Coello, *MICAI* 2005.

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static SPEED_REDUCER: Fixed = Fixed {
    name: "speed-reducer",
    title: "Speed reducer",
    variables: &[
        Variable::real("face_width", 2.6, 3.6),
        Variable::real("module", 0.7, 0.8),
        Variable::stepped("teeth", 17.0, 28.0, 1.0),
        Variable::real("length1", 7.3, 8.3),
        Variable::real("length2", 7.3, 8.3),
        Variable::real("diameter1", 2.9, 3.9),
        Variable::real("diameter2", 5.0, 5.5),
    ],
    objectives: &["weight"],
    constraints: &[
        Constraint::at_most("bending", 1.0),
        Constraint::at_most("contact", 1.0),
        Constraint::at_most("deflection1", 1.0),
        Constraint::at_most("deflection2", 1.0),
        Constraint::at_most("stress1", 1.0),
        Constraint::at_most("stress2", 1.0),
        Constraint::at_most("size", 1.0),
        Constraint::at_most("narrow", 1.0),
        Constraint::at_most("wide", 1.0),
        Constraint::at_most("shaft1", 1.0),
        Constraint::at_most("shaft2", 1.0),
    ],
    answer: Known::Minimum {
        value: 2_994.471_066_146_8,
        at: &[3.5, 0.7, 17.0, 7.3, 7.715_319_911_478_2, 3.350_214_666_096_4, 5.286_654_464_980_2],
    },
    formula,
};

#[allow(
    clippy::approx_constant,
    reason = "the literature prints 0.7854, and its optimum is of that formula"
)]
fn formula(x: &[f64]) -> Measured {
    let &[width, module, teeth, length1, length2, diameter1, diameter2] =
        coordinates("speed-reducer", x);
    let pitch = module * teeth;
    let weight =
        0.7854 * width * module * module * (3.3333 * teeth * teeth + 14.9334 * teeth - 43.0934)
            - 1.508 * width * (diameter1 * diameter1 + diameter2 * diameter2)
            + 7.4777 * (diameter1.powi(3) + diameter2.powi(3))
            + 0.7854 * (length1 * diameter1 * diameter1 + length2 * diameter2 * diameter2);
    let deflection =
        |length: f64, diameter: f64| 1.93 * length.powi(3) / (pitch * diameter.powi(4));
    let stress = |length: f64, diameter: f64, torque: f64, limit: f64| {
        ((745.0 * length / pitch).powi(2) + torque).sqrt() / (limit * diameter.powi(3))
    };
    measured(
        weight,
        [
            27.0 / (width * module * pitch),
            397.5 / (width * pitch * pitch),
            deflection(length1, diameter1),
            deflection(length2, diameter2),
            stress(length1, diameter1, 16.9e6, 110.0),
            stress(length2, diameter2, 157.5e6, 85.0),
            pitch / 40.0,
            5.0 * module / width,
            width / (12.0 * module),
            (1.5 * diameter1 + 1.9) / length1,
            (1.1 * diameter2 + 1.9) / length2,
        ],
    )
}
