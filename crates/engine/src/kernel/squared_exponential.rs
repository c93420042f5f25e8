//! The squared exponential profile φ(r²) = exp(-r² / 2): infinitely smooth.

use super::decay::decay;

#[inline(always)]
pub(super) fn value(squared: f64) -> f64 {
    decay(0.5 * squared)
}

#[inline(always)]
pub(super) fn value_and_slope(squared: f64) -> (f64, f64) {
    let value = value(squared);
    (value, -0.5 * value)
}
