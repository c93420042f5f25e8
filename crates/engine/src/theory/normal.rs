//! The standard normal distribution: density φ, cumulative Φ and quantile Φ⁻¹.
//!
//! Φ(x) = ½ erfc(-x/√2). Its logarithm in the tail is that of φ(x) / (x + 1/(x + 2/(x + 3/…))), read from the far
//! end. Φ⁻¹ solves ln Φ(x) = ln p for p ≤ ½ by Newton's method: ln Φ is concave and Φ(-a) ≤ ½ exp(-a²/2), so from
//! -√(-2 ln 2p), which lies left of the root, the steps rise to it without overshooting. The upper half follows by
//! symmetry.
//!
//! Relative error: below 1e-13 for Φ(x) with x > -20, from where it grows as x² with the rounding of x/√2, and for
//! Φ⁻¹ away from p = ½, where it is absolute.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, TAU};

/// φ(x), the density of the standard normal distribution.
pub fn density(x: f64) -> f64 {
    log_density(x).exp()
}

/// Φ(x), the probability that a standard normal number is at most x.
pub fn cumulative(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// P(z ≤ gap) for a normal z of mean 0 and this deviation; certain where the deviation is 0.
pub(crate) fn probability_within(gap: f64, deviation: f64) -> f64 {
    match deviation > 0.0 {
        true => cumulative(gap / deviation),
        false => f64::from(u8::from(gap >= 0.0)),
    }
}

/// Φ⁻¹(p): -∞ at 0, ∞ at 1, NaN outside [0, 1].
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    // 1 - p is exact for p in [½, 1].
    if p > 0.5 { -lower_quantile(1.0 - p) } else { lower_quantile(p) }
}

/// Where the logarithm of Φ gives way to the continued fraction.
const TAIL: f64 = -2.5;

fn log_density(x: f64) -> f64 {
    -0.5 * x * x - 0.5 * TAU.ln()
}

/// ln Φ(x) for x ≤ 0, without underflow.
fn log_lower_half(x: f64) -> f64 {
    if x < TAIL { log_density(x) + mills_ratio(-x).ln() } else { cumulative(x).ln() }
}

/// (1 - Φ(x)) / φ(x) for x > 2.5; 120 levels leave an error below the rounding there.
fn mills_ratio(x: f64) -> f64 {
    let mut denominator = x;
    for level in (1..=120).rev() {
        denominator = x + f64::from(level) / denominator;
    }
    1.0 / denominator
}

fn lower_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let target = p.ln();
    let mut x = -(-2.0 * (target + LN_2)).max(0.0).sqrt();
    for _ in 0..60 {
        let log_cumulative = log_lower_half(x);
        let slope = (log_density(x) - log_cumulative).exp();
        let step = (target - log_cumulative) / slope;
        x = (x + step).min(0.0);
        if step.abs() <= 1e-15 * x.abs().max(1e-3) {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values of Φ⁻¹ and Φ.
    #[test]
    fn without_a_deviation_the_answer_is_certain() {
        assert_eq!(probability_within(0.0, 0.0), 1.0);
        assert_eq!(probability_within(-1e-300, 0.0), 0.0);
        assert_eq!(probability_within(2.0, 2.0), cumulative(1.0));
    }

    #[test]
    fn quantiles_and_tails_have_their_tabulated_values() {
        let close = |got: f64, expected: f64| {
            assert!((got - expected).abs() <= 2e-13 * expected.abs(), "{got} {expected}");
        };
        close(quantile(0.975), 1.959_963_984_540_054);
        close(quantile(0.9), 1.281_551_565_544_600_4);
        close(quantile(0.01), -2.326_347_874_040_841);
        close(quantile(1e-10), -6.361_340_902_404_056);
        close(cumulative(-1.0), 0.158_655_253_931_457_05);
        close(cumulative(-3.0), 1.349_898_031_630_094_5e-3);
        close(cumulative(-10.0), 7.619_853_024_160_527e-24);
        close(cumulative(1.0), 0.841_344_746_068_542_9);
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(1.5).is_nan() && quantile(f64::NAN).is_nan());
    }

    #[test]
    fn the_quantile_undoes_the_cumulative() {
        for step in 1..2000 {
            let x = -37.0 * f64::from(step) / 2000.0;
            let back = quantile(cumulative(x));
            assert!((back - x).abs() < 1e-11 * (1.0 + x.abs()), "{x} {back}");
        }
        for step in 1..1000 {
            let p = f64::from(step) / 1000.0;
            assert!((cumulative(quantile(p)) - p).abs() < 1e-14, "{p}");
        }
    }

    #[test]
    fn the_continued_fraction_is_the_cumulative() {
        for x in [-20.0, -8.0, -3.5, -3.0, -2.5] {
            let tail = density(x) * mills_ratio(-x);
            assert!((tail - cumulative(x)).abs() < 2e-13 * tail, "{x}: {tail}");
        }
    }

    #[test]
    fn the_density_is_the_slope_of_the_cumulative() {
        for step in -40..=40 {
            let x = f64::from(step) / 10.0;
            let numeric = (cumulative(x + 1e-5) - cumulative(x - 1e-5)) / 2e-5;
            assert!((numeric - density(x)).abs() < 1e-9, "{x}");
        }
    }
}
