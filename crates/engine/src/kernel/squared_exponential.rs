//! The squared exponential profile φ(r²) = exp(-r² / 2): infinitely smooth.

#[inline]
pub(super) fn value(squared: f64) -> f64 {
    (-0.5 * squared).exp()
}

#[inline]
pub(super) fn value_and_slope(squared: f64) -> (f64, f64) {
    let value = value(squared);
    (value, -0.5 * value)
}
