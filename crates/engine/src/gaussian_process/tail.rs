//! Logarithms of the normal distribution's tail integrals, at any depth without underflow or cancellation:
//!
//! ```text
//! ln Φ(u)                                    d/du = φ(u) / Φ(u)
//! ln h(u),   h(u) = φ(u) + u Φ(u)            d/du = Φ(u) / h(u)
//! ```
//!
//! σ h((y* - μ) / σ) is the expected improvement of N(μ, σ²) below y* (Jones, Schonlau and Welch 1998). The two
//! terms of h cancel in the tail. With Jₙ = ∫ tⁿ/n! exp(-xt - t²/2) dt over t > 0 and u = -x, Φ(u) = φ(u) J₀ and
//! h(u) = φ(u) J₁; integration by parts gives Jₙ₋₁ = x Jₙ + (n+1) Jₙ₊₁ (with J₋₁ = 1), so that the ratios
//! rₙ = Jₙ / Jₙ₋₁ = 1 / (x + (n+1) rₙ₊₁) follow from the far end, all terms positive (Gautschi 1967). Ament and
//! others (2023) reach the same end by erfcx and three branches.
//!
//! Relative error of Φ and h: below 1e-12; the logarithms are finite down to u = -1e150.

use std::f64::consts::TAU;

use crate::theory::normal::{cumulative, density};

/// A function of one variable and its derivative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sloped {
    /// The value.
    pub value: f64,
    /// The derivative.
    pub slope: f64,
}

/// Where the closed forms, which lose a factor of six there, give way to the continued fraction.
const TAIL: f64 = -2.0;
/// At x = 2 the ratios of 120 levels are right to rounding: the error falls as exp(-2x√(2n)).
const LEVELS: u32 = 120;

/// ln Φ(u).
pub fn log_cumulative(u: f64) -> Sloped {
    if u < TAIL {
        let (r0, _) = ratios(-u);
        Sloped { value: log_density(u) + r0.ln(), slope: 1.0 / r0 }
    } else {
        let below = cumulative(u);
        let value = if u > 0.0 { (-cumulative(-u)).ln_1p() } else { below.ln() };
        Sloped { value, slope: density(u) / below }
    }
}

/// ln h(u) with h(u) = φ(u) + u Φ(u).
pub fn log_improvement(u: f64) -> Sloped {
    if u < TAIL {
        let (r0, r1) = ratios(-u);
        Sloped { value: log_density(u) + r0.ln() + r1.ln(), slope: 1.0 / r1 }
    } else {
        let below = cumulative(u);
        let improvement = density(u) + u * below;
        Sloped { value: improvement.ln(), slope: below / improvement }
    }
}

fn log_density(u: f64) -> f64 {
    -0.5 * u * u - 0.5 * TAU.ln()
}

/// r₀ and r₁ at x.
fn ratios(x: f64) -> (f64, f64) {
    let mut ratio = 0.0;
    for level in (2..=LEVELS).rev() {
        ratio = 1.0 / (x + f64::from(level) * ratio);
    }
    (1.0 / (x + ratio), ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quadratures of `tests/golden/improvement.json`.
    #[test]
    fn values_and_slopes_are_those_of_quadrature_in_sixty_digits() {
        let text = include_str!("../../tests/golden/improvement.json");
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        for row in golden["tails"].as_array().unwrap() {
            let number = |field: &str| row[field].as_f64().unwrap();
            let u = number("u");
            let check = |got: Sloped, value: f64, slope: f64| {
                // An absolute error of the logarithm is a relative one of what it is the logarithm of; the
                // logarithm itself is rounded too.
                let error = (got.value - value).abs();
                assert!(error < 1e-12 + 3e-16 * value.abs(), "{u}: {} {value}", got.value);
                assert!((got.slope - slope).abs() < 1e-12 * slope, "{u}: {} {slope}", got.slope);
            };
            check(log_improvement(u), number("log_improvement"), number("improvement_slope"));
            check(log_cumulative(u), number("log_cumulative"), number("cumulative_slope"));
        }
    }

    #[test]
    fn both_branches_agree_where_they_meet() {
        for function in [log_improvement, log_cumulative] {
            let (below, above) = (function(TAIL.next_down()), function(TAIL));
            assert!((below.value - above.value).abs() < 1e-13);
            assert!((below.slope - above.slope).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_underflows_or_overflows() {
        for u in [-1e150, -1e7, -40.0, 0.0, 40.0, 1e150] {
            for Sloped { value, slope } in [log_improvement(u), log_cumulative(u)] {
                assert!(value.is_finite() && slope.is_finite() && slope >= 0.0, "{u}");
            }
        }
        // Far out, h(u) is all but φ(u) / u², and far in it is u.
        assert!((log_improvement(-1e8).slope / 1e8 - 1.0).abs() < 1e-12);
        assert!((log_improvement(1e8).value - 1e8_f64.ln()).abs() < 1e-15);
    }
}
