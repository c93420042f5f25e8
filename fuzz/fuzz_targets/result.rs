//! Any output of a command: it is read without a panic, and every value is finite.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wimble_study::runner::result::{Found, parse};

fuzz_target!(|text: &str| {
    if let Ok(Found::Value(value)) = parse(text) {
        assert!(value.is_finite());
        // What is said last counts.
        assert_eq!(parse(&format!("{text}\n1.5\n")), Ok(Found::Value(1.5)));
        assert_eq!(parse(&format!("{text}\n{{\"infeasible\": true}}\n")), Ok(Found::Infeasible));
    }
    assert!(parse(&format!("{text}\n{{\"value\": NaN}}\n")).is_err());
});
