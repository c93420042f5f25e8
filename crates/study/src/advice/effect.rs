//! A parameter without an effect that can be seen.
//!
//! Said where a model of the trials predicts those that it has not seen well enough, and the share of the variance that the parameter
//! causes, alone and together with others, stays small in nearly all refits (see [`wimble::importance`]).

use wimble::importance::Importance;

use super::{Advice, Topic};

/// How much of the variance the model must explain for anything to be said.
const EXPLAINED: f64 = 0.5;
/// The fewest trials.
const FEWEST: usize = 50;
/// The upper end of the share of a parameter without effect.
const SHARE: f64 = 0.02;

pub(super) fn look(importance: &Importance) -> Vec<Advice> {
    // Where nothing is left, the study is not about parameters.
    if importance.explained < EXPLAINED || importance.trials < FEWEST || importance.shares.len() < 2
    {
        return Vec::new();
    }
    let idle = importance.shares.iter().filter(|share| share.total.high < SHARE);
    idle.map(|share| {
        let message = format!(
            "`{}` has no effect that these {} trials show: it causes less than {:.0} % of the variance of the value. \
             Fix it in the next study, and the search is easier.",
            share.name,
            importance.trials,
            100.0 * SHARE
        );
        Advice::new(Topic::NoEffect, Some(&share.name), message)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{noise, of, study};
    use super::*;

    #[test]
    fn a_parameter_that_does_nothing_is_named_and_the_others_are_not() {
        let idle = study(300, 2, |x, _, kind| (x * x + if kind == "a" { 0.3 } else { 0.0 }).into());
        let idle = of(&idle, Topic::NoEffect);
        let named: Vec<&str> = idle.iter().filter_map(|a| a.parameter.as_deref()).collect();
        assert_eq!(named, ["rate"]);
        for seed in 0..3 {
            // All three matter; the choice only turns the sign of another.
            let busy = study(300, seed, |x, rate, kind| {
                (if kind == "a" { x } else { 1.0 - x } + (rate - 0.3).abs()).into()
            });
            assert!(of(&busy, Topic::NoEffect).is_empty(), "{:?}", of(&busy, Topic::NoEffect));
        }
        // Pure noise explains nothing, so that nothing is said of any parameter.
        assert!(
            of(&study(200, 1, |x, rate, _| noise(x * rate).into()), Topic::NoEffect).is_empty()
        );
    }
}
