//! What a command line gives: parameters and their values (`optimiser=sgd`), numbers, and lines of JSON.

use anyhow::Result;
use serde::de::DeserializeOwned;
use wimble::internals::{nearest, serde_words};
use wimble::space::{Configuration, SearchSpace};
use wimble_study::exchange::csv;

use crate::exit::usage;

/// The values of pairs such as `optimiser=sgd`, each of a parameter of the space.
pub fn values(space: &SearchSpace, pairs: &[String]) -> Result<Configuration> {
    let mut configuration = Configuration::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=') else {
            return Err(usage(format!("`{pair}` is not of the form PARAMETER=VALUE")));
        };
        let Some(parameter) = space.parameters().find(|one| one.name == name) else {
            return Err(unknown(space, name));
        };
        if configuration.insert(name, csv::value(parameter, text)?).is_some() {
            return Err(usage(format!("`{name}` is given twice")));
        }
    }
    Ok(configuration)
}

fn unknown(space: &SearchSpace, name: &str) -> anyhow::Error {
    let names: Vec<&str> = space.parameters().map(|one| one.name).collect();
    let all = names.join(", ");
    match nearest(name, names.iter().copied()) {
        Some(near) => {
            usage(format!("there is no parameter `{name}`; did you mean `{near}`? There are {all}"))
        }
        None => usage(format!("there is no parameter `{name}`; there are {all}")),
    }
}

/// A number, which may be none that is finite: what that means is said with the trial.
pub fn number(text: &str) -> Result<f64, &'static str> {
    text.trim().parse().map_err(|_| "it must be a number, such as 0.31")
}

/// What a line of JSON says.
pub fn json<T: DeserializeOwned>(line: &str) -> Result<T> {
    serde_json::from_str(line).map_err(|error| anyhow::anyhow!(serde_words(&error.to_string())))
}

/// Reads a whole number from `low` to `high`.
pub fn whole<T: TryFrom<u64>>(
    low: u64,
    high: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text: &str| {
        let number = text.trim().parse::<u64>().ok().filter(|number| (low..=high).contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| match high {
            u64::MAX => format!("it must be a whole number, {low} at least"),
            _ => format!("it must be a whole number from {low} to {high}"),
        })
    }
}
