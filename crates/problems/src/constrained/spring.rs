//! A spring under tension or compression, as light as possible.
//!
//! ```text
//! f = (N + 2) D d²
//! D³ N / (71785 d⁴) >= 1,   (4D² - d D) / (12566 (D d³ - d⁴)) + 1 / (5108 d²) <= 1,   140.45 d / (D² N) >= 1,
//! D + d <= 1.5
//! ```
//!
//! Domain: wire d in [0.05, 2], coil D in [0.25, 1.3], turns N in [2, 15], not only whole ones. Minimum: 0.01266523..., at
//! (0.051689..., 0.356717..., 11.288965...).
//!
//! Source: A. D. Belegundu, *A Study of Mathematical Programming Methods for Structural Optimization*, University of Iowa,
//! 1982; J. S. Arora, *Introduction to Optimum Design*, McGraw-Hill, 1989.

use super::measured;
use crate::coordinates;
use crate::task::{Constraint, Fixed, Known, Measured, Variable};

pub(crate) static SPRING: Fixed = Fixed {
    name: "spring",
    title: "Spring",
    variables: &[
        Variable::real("wire", 0.05, 2.0),
        Variable::real("coil", 0.25, 1.3),
        Variable::real("turns", 2.0, 15.0),
    ],
    objectives: &["weight"],
    constraints: &[
        Constraint::at_least("deflection", 1.0),
        Constraint::at_most("shear", 1.0),
        Constraint::at_least("surge", 1.0),
        Constraint::at_most("diameter", 1.5),
    ],
    answer: Known::Minimum {
        value: 0.012_665_232_788,
        at: &[0.051_689_061, 0.356_717_736, 11.288_965_3],
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[wire, coil, turns] = coordinates("spring", x);
    let deflection = coil.powi(3) * turns / (71785.0 * wire.powi(4));
    let shear = (4.0 * coil * coil - wire * coil)
        / (12566.0 * (coil * wire.powi(3) - wire.powi(4)))
        + 1.0 / (5108.0 * wire * wire);
    let surge = 140.45 * wire / (coil * coil * turns);
    measured((turns + 2.0) * coil * wire * wire, [deflection, shear, surge, coil + wire])
}
