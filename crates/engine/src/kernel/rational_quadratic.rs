//! The rational quadratic profile φ(r²) = (1 + r² / 2α)^-α: a mixture of squared exponentials over length
//! scales, the kernel of the paper's real-data experiments (Rasmussen and Williams 2006, equation 4.19).

use super::decay::decay;

#[inline]
pub(super) fn value(squared: f64, alpha: f64) -> f64 {
    decay(alpha * (squared / (2.0 * alpha)).ln_1p())
}

#[inline]
pub(super) fn value_and_slope(squared: f64, alpha: f64) -> (f64, f64) {
    let value = value(squared, alpha);
    (value, -0.5 * value / (1.0 + squared / (2.0 * alpha)))
}

/// φ, dφ/d(r²) and dφ/dα = φ · (u / (1 + u) - ln(1 + u)) with u = r² / 2α.
#[inline]
pub(super) fn value_and_slopes(squared: f64, alpha: f64) -> (f64, f64, f64) {
    let u = squared / (2.0 * alpha);
    let log = u.ln_1p();
    let value = decay(alpha * log);
    (value, -0.5 * value / (1.0 + u), value * (u / (1.0 + u) - log))
}
