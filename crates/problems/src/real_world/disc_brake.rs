//! RE33: a disc brake, its mass, its stopping time, and the violation of four limits.
//!
//! ```text
//! a = x₂² - x₁²,   b = x₂³ - x₁³
//! f₁ = 4.9·10⁻⁵ a (x₄ - 1),   f₂ = 9.82·10⁶ a / (x₃ x₄ b)
//! limits: x₂ - x₁ >= 20, x₃ / (3.14 a) <= 0.4, 2.22·10⁻³ x₃ b / a² <= 1, 2.66·10⁻² x₃ x₄ b / a >= 900
//! f₃ = Σ of what they are missed by
//! ```
//!
//! Domain: x₁ in [55, 80], x₂ in [75, 110], x₃ in [1000, 3000], x₄ in [11, 20]. The outer radius x₂ may be less than the
//! inner x₁: such a brake has a negative mass and a violation of billions. With the published nadir point
//! (5.3067, 3.12833, 25) instead of the largest values, the scaled hypervolume is 1.01431.
//!
//! Source: T. Ray and K. M. Liew, "A swarm metaphor for multiobjective design optimization", *Engineering Optimization* 34,
//! 2002.

use super::{objectives, total_violation};
use crate::coordinates;
use crate::task::{Fixed, Known, Measured, Variable};

pub(crate) static RE33: Fixed = Fixed {
    name: "re33",
    title: "RE33, disc brake",
    variables: &[
        Variable::real("inner_radius", 55.0, 80.0),
        Variable::real("outer_radius", 75.0, 110.0),
        Variable::real("force", 1000.0, 3000.0),
        Variable::real("surfaces", 11.0, 20.0),
    ],
    objectives: &["mass", "stopping_time", "violation"],
    constraints: &[],
    answer: Known::Front {
        ideal: &[-0.721_525, 1.13907, 0.0],
        nadir: &[5.3067, 9.06681, 4.323_47e9],
        hypervolume: 1.31298,
    },
    formula,
};

#[allow(clippy::approx_constant, reason = "the literature prints 3.14")]
fn formula(x: &[f64]) -> Measured {
    let &[inner, outer, force, surfaces] = coordinates("re33", x);
    let squares = outer * outer - inner * inner;
    let cubes = outer.powi(3) - inner.powi(3);
    let mass = 4.9e-5 * squares * (surfaces - 1.0);
    let time = 9.82e6 * squares / (force * surfaces * cubes);
    let violation = total_violation([
        outer - inner - 20.0,
        0.4 - force / (3.14 * squares),
        1.0 - 2.22e-3 * force * cubes / (squares * squares),
        2.66e-2 * force * surfaces * cubes / squares - 900.0,
    ]);
    objectives([mass, time, violation])
}
