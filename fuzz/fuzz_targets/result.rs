//! Any output of a command: it is read without a panic, and every value is finite.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wimble_study::runner::finding::read;
use wimble_study::{Goal, Outcome};

fn outcome(text: &str) -> Result<Outcome, String> {
    read(text, &Goal::default()).map(|finding| finding.outcome)
}

fuzz_target!(|text: &str| {
    if let Ok(Outcome::Measured(measurement)) = outcome(text) {
        assert!(Goal::default().check(0, &measurement).is_ok());
        // What is said last counts.
        assert_eq!(outcome(&format!("{text}\n1.5\n")), Ok(Outcome::from(1.5)));
        assert_eq!(
            outcome(&format!("{text}\n{{\"infeasible\": true}}\n")),
            Ok(Outcome::Infeasible)
        );
    }
    assert!(outcome(&format!("{text}\n{{\"value\": NaN}}\n")).is_err());
});
