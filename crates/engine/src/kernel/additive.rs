//! The additive part of a kernel: a mean over coordinates, for functions that are near to a sum of functions of one
//! coordinate each.
//!
//! ```text
//! ψ(x, x') = (1/d) Σₖ 1 / (1 + d uₖ²),     uₖ = (xₖ - x'ₖ) / ℓₖ
//! ```
//!
//! Each term is a rational quadratic of one coordinate, narrower by √(2d) than a profile of the distance, whose length scales
//! grow with √d; it needs a division where another profile would need an exponential. What is seen along one coordinate
//! counts wherever the others are, which no profile of the distance can say.
//!
//! Points are in units of the length scales. Cost: O(d).

/// ψ, the value of the kernel at two points.
#[inline]
pub(super) fn value(a: &[f64], b: &[f64]) -> f64 {
    let dim = a.len() as f64;
    let terms = a.iter().zip(b).map(|(a, b)| term(a - b, dim));
    terms.sum::<f64>() / dim
}

/// ∂ψ/∂(uₖ²) for the gap uₖ in one of `dim` coordinates.
#[inline]
pub(super) fn slope(gap: f64, dim: f64) -> f64 {
    let term = term(gap, dim);
    -term * term
}

/// The part of one coordinate, before the mean.
#[inline(always)]
pub(super) fn term(gap: f64, dim: f64) -> f64 {
    1.0 / (1.0 + dim * gap * gap)
}
