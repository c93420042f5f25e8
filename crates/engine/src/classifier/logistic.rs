//! The logistic function, between logits and probabilities, without overflow at either end.

use super::Target;

/// 1 / (1 + e⁻ˡ): 0 and 1 at the ends, never NaN.
pub(super) fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// log sigmoid(l): finite for every finite logit, and below 0 as long as a float can say so.
pub(super) fn log_sigmoid(logit: f64) -> f64 {
    logit.min(0.0) - (-logit.abs()).exp().ln_1p()
}

/// The target's function of a logit and its derivative: d/dl log sigmoid(l) = 1 - sigmoid(l) = sigmoid(-l).
pub(super) fn value_and_slope(target: Target, logit: f64) -> (f64, f64) {
    match target {
        Target::Logit => (logit, 1.0),
        Target::LogProbability => (log_sigmoid(logit), sigmoid(-logit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_the_sigmoid_neither_overflows_nor_rounds_to_zero() {
        for logit in [-30.0, -1.0, 0.0, 0.5, 20.0] {
            assert!((log_sigmoid(logit) - sigmoid(logit).ln()).abs() < 1e-12, "{logit}");
        }
        assert_eq!((log_sigmoid(-1e6), log_sigmoid(1e4)), (-1e6, 0.0));
        assert!(log_sigmoid(50.0) < 0.0);
        assert!((log_sigmoid(0.0) + 2.0_f64.ln()).abs() < 1e-15);
        assert_eq!((sigmoid(-1e4), sigmoid(1e4)), (0.0, 1.0));
    }

    #[test]
    fn slopes_are_those_of_finite_differences() {
        for target in [Target::Logit, Target::LogProbability] {
            for logit in [-4.0, -0.3, 0.0, 2.5] {
                let value = |logit| value_and_slope(target, logit).0;
                let difference = (value(logit + 1e-6) - value(logit - 1e-6)) / 2e-6;
                assert!((value_and_slope(target, logit).1 - difference).abs() < 1e-8, "{logit}");
            }
        }
    }
}
