//! The best trial and the recommended one, as `run` and `best` print them.

use wimble::goal::Goal;
use wimble::outcome::Measurement;
use wimble_study::{Best, Study};

use crate::fidelity;

/// A trial with a value under a heading, one parameter a line.
pub fn describe(heading: &str, best: &Best, goal: &Goal) -> String {
    let width = best.configuration.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let measurement = Measurement { fidelity: best.fidelity, ..best.value.into() };
    let part = fidelity::part(goal, &measurement);
    let mut text = format!("{heading}: {}{part} (trial {})\n", best.value, best.trial);
    for (name, value) in &best.configuration {
        text.push_str(&format!("  {name:width$}  {value}\n"));
    }
    text
}

/// That the method recommends another trial than the one with the best value.
pub fn expected_best(study: &Study, recommended: &Best) -> String {
    let method = study.settings().method.name();
    format!(
        "Values are noisy: {method}'s model expects trial {} to be best on average.",
        recommended.trial
    )
}
