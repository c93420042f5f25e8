//! Real numbers with a step: the levels low, low + step, … of an ordinal dimension.
//!
//! The sums are rounded to the decimals of `low` and `step`: after 0.1 and 0.2 comes 0.3, and not 0.30000000000000004.

use super::kind::{Kind, Scale};
use super::value::Value;

/// More levels than anybody wants to tell apart.
const MOST: f64 = 10_000.0;
/// f64 has no more decimals that can be relied on.
const MOST_DECIMALS: usize = 15;

/// The real numbers from `low` to `high` in steps, or what is accepted instead of `step`.
pub(super) fn stepped(low: f64, high: f64, scale: Scale, step: f64) -> Result<Kind, String> {
    if scale == Scale::Log {
        return Err("absent on a log scale; use the type `ordinal` and list the levels".to_owned());
    }
    let count = ((high - low) / step + 1e-9).floor();
    if !(step > 0.0 && step.is_finite() && (1.0..MOST).contains(&count)) {
        return Err(format!(
            "positive, at most high - low, and such that there are at most {MOST} values"
        ));
    }
    let decimals = decimals(low).max(decimals(step));
    let level = |i: u64| {
        let sum = low + step * i as f64;
        let rounded = (decimals <= MOST_DECIMALS).then(|| format!("{sum:.decimals$}").parse().ok());
        Value::Real(rounded.flatten().unwrap_or(sum))
    };
    Ok(Kind::Ordinal { levels: (0..=count as u64).map(level).collect() })
}

/// How many decimals a number is written with.
fn decimals(number: f64) -> usize {
    let text = number.to_string();
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

#[cfg(test)]
mod tests {
    use super::super::{Dimension, SearchSpace};

    fn levels(low: f64, high: f64, step: f64) -> Vec<f64> {
        let space = SearchSpace::new([Dimension::real("x", low, high).step(step)]).unwrap();
        let all = 0..space.cardinality().unwrap();
        all.map(|k| space.decode(&space.nth(k).unwrap()).real("x").unwrap()).collect()
    }

    #[test]
    fn levels_are_the_numbers_that_a_user_would_write() {
        assert_eq!(levels(0.1, 0.5, 0.1), [0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(levels(-1.0, 1.0, 0.75), [-1.0, -0.25, 0.5]);
        assert_eq!(levels(0.0, 1e-9, 2.5e-10), [0.0, 2.5e-10, 5e-10, 7.5e-10, 1e-9]);
        let hundred = levels(0.0, 1.0, 0.01);
        assert_eq!((hundred.len(), hundred[29], hundred[100]), (101, 0.29, 1.0));
    }

    #[test]
    fn what_is_no_step_is_refused() {
        let x = || Dimension::real("x", 0.0, 1.0);
        for (wrong, words) in [
            (x().step(0.0), "x.step is 0.0, but must be positive"),
            (x().step(-0.5), "x.step is -0.5"),
            (x().step(1.5), "x.step is 1.5"),
            (x().step(1e-6), "at most 10000 values"),
            (x().step(f64::NAN), "x.step is NaN"),
            (Dimension::log_real("x", 0.1, 1.0).step(0.1), "absent on a log scale"),
            (Dimension::integer("x", 0, 9).step(1.5), "an integer"),
            (Dimension::boolean("x").step(1), "only numbers have a step"),
        ] {
            let error = SearchSpace::new([wrong]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn it_is_read_as_written() {
        let json = r#"{"name": "x", "type": "real", "low": 0, "high": 1, "step": 0.5}"#;
        let read: Dimension = serde_json::from_str(json).unwrap();
        assert_eq!(read, Dimension::real("x", 0.0, 1.0).step(0.5));
        assert_eq!(read, Dimension::ordinal("x", [0.0, 0.5, 1.0]));
        let json = r#"{"name": "x", "type": "real", "low": 0, "high": 1, "step": 2}"#;
        let error = serde_json::from_str::<Dimension>(json).unwrap_err().to_string();
        assert!(error.contains("x.step is 2"), "{error}");
    }
}
