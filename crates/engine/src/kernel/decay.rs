//! e^(-x) for x ≥ 0, which every profile of a kernel is made of.
//!
//! Half of an ask of `auto` and of a Gaussian process was spent in the exponential function of the system's library, which is called for
//! one number at a time and looks at special cases first. This one stands in the loop that needs it, and gives the same bits with every
//! library. x = r - n ln 2 with |r| ≤ ln 2 / 2, a polynomial for e^r (Taylor to r¹³, the next term is below 5e-18), and n put into the
//! exponent. Within two units of the last place.

/// Beyond it the result is below the least normal number.
const LARGEST: f64 = 708.0;
/// Adding it rounds to a whole number, which then stands in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has zeros at its end, so that its multiples are exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// 1/k! for k from 2 to 13.
const TERMS: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// e^(-x) for x ≥ 0; 0 beyond 708, and NaN for NaN.
#[inline(always)]
pub(super) fn decay(x: f64) -> f64 {
    let shifted = ROUND - x * std::f64::consts::LOG2_E;
    let whole = shifted - ROUND;
    let r = (-x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    // In pairs, so that the processor works on several at a time.
    let (r2, t) = (r * r, TERMS);
    let (r4, pair) = (r2 * r2, |k: usize| t[k] + t[k + 1] * r);
    let low = pair(0) + pair(2) * r2;
    let middle = pair(4) + pair(6) * r2;
    let high = pair(8) + pair(10) * r2;
    let mantissa = 1.0 + (r + r2 * (low + (middle + high * r4) * r4));
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    if x > LARGEST { 0.0 } else { mantissa * power }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_function() {
        let mut worst: f64 = 0.0;
        for i in 0..2_000_000_u32 {
            // Dense near 0, and up to 708.
            let x = LARGEST * (f64::from(i) / 2e6).powi(3);
            let exact = (-x).exp();
            worst = worst.max((decay(x) - exact).abs() / exact);
        }
        assert!(worst < 2.0 * f64::EPSILON, "{worst:e}");
    }

    #[test]
    fn ends_and_failures() {
        assert_eq!((decay(0.0), decay(-0.0)), (1.0, 1.0));
        assert!(decay(LARGEST) > 0.0);
        for far in [708.1, 1e3, 1e300, f64::INFINITY] {
            assert_eq!(decay(far), 0.0);
        }
        assert!(decay(f64::NAN).is_nan());
        // No step up where the whole part changes.
        for n in 1..1000 {
            let edge = (f64::from(n) - 0.5) * std::f64::consts::LN_2;
            assert!(decay(edge * (1.0 + 1e-12)) <= decay(edge * (1.0 - 1e-12)));
        }
    }
}
