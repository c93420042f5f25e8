//! RE37: the injector of a rocket, the temperature of its face, the length of combustion, and the temperature of its tip.
//!
//! Response surfaces of four variables in [0, 1]: the angle α of the hydrogen, the change h of its area, the change o of
//! the oxygen's area, the thickness p of the tip. The code has their coefficients.
//!
//! Source: R. Vaidyanathan, K. Tucker, N. Papila and W. Shyy, "CFD-based design optimization for single element rocket
//! injector", *41st Aerospace Sciences Meeting and Exhibit*, 2003.

use super::objectives;
use crate::coordinates;
use crate::task::{Fixed, Known, Measured, Variable};

pub(crate) static RE37: Fixed = Fixed {
    name: "re37",
    title: "RE37, rocket injector",
    variables: &[
        Variable::real("hydrogen_angle", 0.0, 1.0),
        Variable::real("hydrogen_area", 0.0, 1.0),
        Variable::real("oxygen_area", 0.0, 1.0),
        Variable::real("tip_thickness", 0.0, 1.0),
    ],
    objectives: &["face_temperature", "combustion_length", "tip_temperature"],
    constraints: &[],
    answer: Known::Front {
        ideal: &[0.008_893_41, 0.00488, -0.4315],
        nadir: &[1.002, 1.09752, 1.09381],
        hypervolume: 0.90661,
    },
    formula,
};

fn formula(x: &[f64]) -> Measured {
    let &[a, h, o, p] = coordinates("re37", x);
    // Coefficients of a quadratic, linear terms first, then squares, then products.
    let quadratic = |constant: f64, linear: [f64; 4], squares: [f64; 4], products: [f64; 6]| {
        let dot = |terms: &[f64], values: &[f64]| -> f64 {
            terms.iter().zip(values).map(|(t, v)| t * v).sum()
        };
        constant
            + dot(&linear, &[a, h, o, p])
            + dot(&squares, &[a * a, h * h, o * o, p * p])
            + dot(&products, &[h * a, o * a, o * h, p * a, p * h, p * o])
    };
    let face = quadratic(
        0.692,
        [0.477, -0.687, -0.080, -0.0650],
        [-0.167, 0.0796, 0.0877, 0.0184],
        [-0.0129, -0.0634, -0.0257, -0.0521, 0.00156, 0.00198],
    );
    let length = quadratic(
        0.153,
        [-0.322, 0.396, 0.424, 0.0226],
        [0.175, -0.0701, 0.0150, 0.0192],
        [0.0185, -0.251, 0.179, 0.0134, 0.0296, 0.0752],
    );
    let tip = quadratic(
        0.370,
        [-0.205, 0.0307, 0.108, 1.019],
        [-0.135, 0.0998, -0.226, -0.423],
        [0.0141, 0.208, -0.0301, 0.353, 0.0, -0.0497],
    ) + 0.202 * h * a * a
        - 0.281 * o * a * a
        - 0.342 * h * h * a
        - 0.245 * h * h * o
        + 0.281 * o * o * h
        - 0.184 * p * p * a
        - 0.281 * h * a * o;
    objectives([face, length, tip])
}
