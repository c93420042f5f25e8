//! The Matérn profiles of smoothness 3/2 and 5/2 (Rasmussen and Williams 2006, equation 4.17).

use super::decay::decay;

const SQRT_3: f64 = 1.732_050_807_568_877_2;
const SQRT_5: f64 = 2.236_067_977_499_79;

#[inline(always)]
pub(super) fn value_32(squared: f64) -> f64 {
    let root = SQRT_3 * squared.sqrt();
    (1.0 + root) * decay(root)
}

/// dφ/d(r²) = -3/2 exp(-√3 r).
#[inline(always)]
pub(super) fn value_and_slope_32(squared: f64) -> (f64, f64) {
    let root = SQRT_3 * squared.sqrt();
    let decay = decay(root);
    ((1.0 + root) * decay, -1.5 * decay)
}

#[inline(always)]
pub(super) fn value_52(squared: f64) -> f64 {
    let root = SQRT_5 * squared.sqrt();
    (1.0 + root + root * root / 3.0) * decay(root)
}

/// dφ/d(r²) = -5/6 (1 + √5 r) exp(-√5 r).
#[inline(always)]
pub(super) fn value_and_slope_52(squared: f64) -> (f64, f64) {
    let root = SQRT_5 * squared.sqrt();
    let decay = decay(root);
    ((1.0 + root + root * root / 3.0) * decay, -(5.0 / 6.0) * (1.0 + root) * decay)
}
