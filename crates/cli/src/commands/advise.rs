//! `wimble advise`: what a colleague would say who looks at the study.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use wimble_study::advice::Gains;
use wimble_study::{StopWhen, Study};

use crate::storage::Which;

/// Arguments of `wimble advise`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Prints the advice.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    let advice = wimble_study::advise(&study)?;
    let rule = arguments.which.file()?.and_then(|file| file.stop_when);
    let verdict = rule.map(|rule| verdict(&study, rule)).transpose()?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for piece in &advice {
            writeln!(out, "{}", serde_json::to_string(piece)?)?;
        }
        if let (Some(rule), Some((holds, message))) = (rule, verdict) {
            let (kind, rule) = ("stop_when", rule.to_string());
            let line = serde_json::json!({ "kind": kind, "rule": rule, "holds": holds, "message": message });
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    if advice.is_empty() {
        let finished = study.counts()?.finished();
        writeln!(out, "Nothing stands out after {finished} finished trials.")?;
    }
    for piece in &advice {
        writeln!(out, "- {}", piece.message)?;
    }
    if let Some((_, message)) = verdict {
        writeln!(out, "- {message}")?;
    }
    Ok(())
}

/// Whether the rule of the study file ends the study now, with a sentence about it.
fn verdict(study: &Study, rule: StopWhen) -> Result<(bool, String)> {
    let mut gains = Gains::new(study.settings());
    gains.catch_up(&**study.store())?;
    let holds = rule.holds(&gains).is_some();
    let message = match (holds, gains.gain()) {
        (true, _) => format!("`stop-when = \"{rule}\"` holds: `wimble run` begins no more trials."),
        (false, Some(_)) => {
            format!("`stop-when = \"{rule}\"` does not hold yet: `wimble run` goes on.")
        }
        (false, None) => {
            format!(
                "`stop-when = \"{rule}\"` says nothing yet: there are too few values to judge by."
            )
        }
    };
    Ok((holds, message))
}
