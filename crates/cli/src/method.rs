//! The method that the arguments of a command describe.

use anyhow::Result;
use clap::Args;
use wimble::strategy::Spec;

use crate::exit::usage;

/// Which method, and its settings.
#[derive(Args, Debug, Clone)]
pub struct Method {
    /// The method, as listed by `wimble methods`, with settings if wanted: "bore++ width=2" [default: auto, or bore with
    /// --classifier or --rule]
    #[arg(long)]
    method: Option<String>,
    /// The classifier of bore and bore++ [default: perceptron for bore, least-squares for bore++]
    #[arg(long)]
    classifier: Option<String>,
    /// The batch rule of bore and bore++, which chooses points [default: candidates]
    #[arg(long)]
    rule: Option<String>,
    /// A further setting, such as fraction=0.2 or rule.steps=500
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl Method {
    /// The method in words.
    pub fn spec(&self) -> Result<Spec> {
        let named = [("classifier", &self.classifier), ("rule", &self.rule)];
        let named =
            named.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)));
        let has_parts = self.classifier.is_some() || self.rule.is_some();
        let default = if has_parts { "bore" } else { "auto" };
        let words: Vec<String> =
            std::iter::once(self.method.as_deref().unwrap_or(default).to_owned())
                .chain(named)
                .chain(self.settings.iter().cloned())
                .collect();
        words.join(" ").parse().map_err(|error: wimble::Error| usage(error.to_string()))
    }
}
