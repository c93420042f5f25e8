//! When a study has gained enough: `stop-when = "gain < 0.01"` in a study file.
//!
//! The gain is the improvement of the best value that the advice expects of 100 more trials ([`Gain::expected`]), in the unit of the
//! value, or as a share of what the study gained so far over its median: `gain < 1 %`. While there are too few values to judge by,
//! nothing ends.

use std::fmt;
use std::str::FromStr;

use super::gain::{Gain, Gains};

/// A rule that ends a study once more trials are expected to gain little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopWhen {
    limit: f64,
    /// Whether the limit is in percent of what was gained so far.
    is_share: bool,
}

/// What a rule must look like.
pub const ALLOWED: &str = "such as \"gain < 0.01\" (in the unit of the value) or \"gain < 1 %\" (of what the study gained so far \
                           over its median)";

impl StopWhen {
    /// What 100 more trials are expected to gain, if that is little enough to end.
    pub fn holds(&self, gains: &Gains) -> Option<Gain> {
        let gain = gains.gain()?;
        let limit = if self.is_share { self.limit / 100.0 * gains.gained() } else { self.limit };
        // Where all values are equal, nothing is below a share of nothing, but nothing is gained either.
        let is_small = gain.expected < limit || (self.is_share && gain.expected == 0.0);
        is_small.then_some(gain)
    }
}

impl FromStr for StopWhen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("stop-when is {text:?}, but must be {ALLOWED}");
        let limit = text.trim().strip_prefix("gain").and_then(|rest| rest.trim().strip_prefix('<'));
        let limit = limit.ok_or_else(refused)?.trim();
        let (number, is_share) = match limit.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (limit, false),
        };
        let limit: f64 = number.parse().map_err(|_| refused())?;
        if !(limit.is_finite() && limit > 0.0) {
            return Err(refused());
        }
        Ok(Self { limit, is_share })
    }
}

impl fmt::Display for StopWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.is_share { " %" } else { "" };
        write!(f, "gain < {}{unit}", self.limit)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Topic;
    use super::super::fixtures::{of, study};
    use super::*;
    use crate::{Store, Study};

    fn holds(store: &Arc<dyn Store>, rule: &str) -> Option<Gain> {
        let study = Study::open(Arc::clone(store), "s").unwrap();
        let mut gains = Gains::new(study.settings());
        gains.catch_up(&**store).unwrap();
        rule.parse::<StopWhen>().unwrap().holds(&gains)
    }

    #[test]
    fn it_holds_where_the_advice_expects_little_and_not_where_it_expects_much() {
        // It stands still after the first few trials.
        let still = study(400, 1, |x, _, _| if x < 0.5 { 0.0.into() } else { x.into() });
        for rule in ["gain < 0.01", "gain<1e-9", "gain < 1 %", "gain < 0.1%"] {
            assert_eq!(holds(&still, rule).unwrap().expected, 0.0, "{rule}");
        }
        // Random search on a steep function still gains.
        let moving = study(120, 3, |x, rate, _| (-1e3 / (1e-3 + x * rate)).into());
        let expected = of(&moving, Topic::Gain)[0].gain.unwrap().expected;
        assert!(expected > 0.0);
        assert_eq!(
            holds(&moving, &format!("gain < {}", expected * 1.001)).unwrap().expected,
            expected
        );
        assert!(holds(&moving, &format!("gain < {}", expected * 0.999)).is_none());
        assert!(holds(&moving, "gain < 1 %").is_none());
        // Too few values say nothing.
        let few = study(20, 1, |_, _, _| 1.0.into());
        assert!(holds(&few, "gain < 100").is_none());
    }

    #[test]
    fn what_is_no_rule_is_refused_and_a_rule_is_printed_as_it_is_read() {
        for bad in [
            "",
            "gain",
            "gain < ",
            "gain < x",
            "gain > 0.1",
            "loss < 1",
            "gain < -1",
            "gain < 0",
            "gain < inf",
        ] {
            let error = bad.parse::<StopWhen>().unwrap_err();
            assert!(error.contains("gain < 0.01"), "{error}");
        }
        for good in ["gain < 0.01", "gain < 1 %", "gain < 0.000001"] {
            assert_eq!(good.parse::<StopWhen>().unwrap().to_string(), good);
        }
    }
}
