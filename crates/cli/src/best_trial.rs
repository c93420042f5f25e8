//! The best trial and the recommended one, as `run` and `best` print them.

use wimble::outcome::Measurement;
use wimble::space::{Configuration, SearchSpace, Value};
use wimble_study::{Best, Settings, Study};

use crate::fidelity;

/// A trial with a value under a heading, one parameter a line.
pub fn describe(heading: &str, settings: &Settings, best: &Best) -> String {
    let measurement = Measurement { fidelity: best.fidelity, ..best.value.into() };
    let part = fidelity::part(&settings.goal, &measurement);
    let mut text = format!("{heading}: {}{part} (trial {})\n", best.value, best.trial);
    text.push_str(&parameters(&settings.space, &best.configuration));
    text
}

/// The values of a configuration, one a line, in the order of the study file.
pub fn parameters(space: &SearchSpace, configuration: &Configuration) -> String {
    let values: Vec<(&str, &Value)> = space
        .parameters()
        .filter_map(|parameter| Some((parameter.name, configuration.get(parameter.name)?)))
        .collect();
    let width = values.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    values.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect()
}

/// The same in one line.
pub fn line(space: &SearchSpace, configuration: &Configuration) -> String {
    let values = space.parameters().filter_map(|parameter| {
        Some(format!("{}={}", parameter.name, configuration.get(parameter.name)?))
    });
    values.collect::<Vec<_>>().join(" ")
}

/// That the method recommends another trial than the one with the best value.
pub fn expected_best(study: &Study, recommended: &Best) -> String {
    let method = study.settings().method.name();
    format!(
        "Values are noisy: {method}'s model expects trial {} to be best on average.",
        recommended.trial
    )
}

/// A trial with a value as every command writes it.
pub fn json(best: &Best) -> serde_json::Value {
    let mut row = serde_json::json!({
        "trial": best.trial, "value": best.value, "params": best.configuration,
    });
    if let Some(fidelity) = best.fidelity {
        row["fidelity"] = fidelity.into();
    }
    if best.violating {
        row["violating"] = true.into();
    }
    row
}
