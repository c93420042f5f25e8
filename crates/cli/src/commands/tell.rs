//! `wimble tell`: results of a script, as JSON or as arguments; and heartbeats.

use std::io::{BufRead as _, Write as _};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Deserialize;
use wimble_study::{Attributes, Outcome, Study, Token};

use crate::storage::Which;

/// Arguments of `wimble tell`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The token of the trial, as printed by `wimble ask`. Without it, JSON objects are read from standard input, one a line:
    /// {"token": "0.1", "value": 0.3}
    #[arg(long)]
    token: Option<String>,
    /// The measured value
    #[arg(long, requires = "token", allow_negative_numbers = true)]
    value: Option<f64>,
    /// The trial failed, for this reason
    #[arg(long, requires = "token", conflicts_with = "value", value_name = "REASON")]
    failed: Option<String>,
    /// The configuration cannot be evaluated, and is not to be tried again
    #[arg(long, requires = "token", conflicts_with_all = ["value", "failed"])]
    infeasible: bool,
    /// Give the trial back to the queue
    #[arg(long, requires = "token", conflicts_with_all = ["value", "failed", "infeasible"])]
    release: bool,
    /// Renew the trial's lease (heartbeat)
    #[arg(long, requires = "token", conflicts_with_all = ["value", "failed", "infeasible", "release"])]
    alive: bool,
}

/// What is told, as JSON.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Told {
    token: String,
    value: Option<f64>,
    failed: Option<String>,
    infeasible: bool,
    release: bool,
    alive: bool,
    /// What else is to be kept with the trial.
    attributes: Attributes,
}

/// Tells, and acknowledges each with a JSON object.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    if let Some(token) = &arguments.token {
        return tell(
            &study,
            &Told {
                token: token.clone(),
                value: arguments.value,
                failed: arguments.failed.clone(),
                infeasible: arguments.infeasible,
                release: arguments.release,
                alive: arguments.alive,
                attributes: Attributes::default(),
            },
        );
    }
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("line {} of standard input", number + 1);
        let told: Told = serde_json::from_str(&line).with_context(place)?;
        tell(&study, &told).with_context(place)?;
    }
    Ok(())
}

fn tell(study: &Study, told: &Told) -> Result<()> {
    let Some(token) = token(&told.token) else {
        bail!(
            "the token is {:?}, but must be one that `wimble ask` printed, such as \"12.40\"",
            told.token
        );
    };
    let done = match (told.value, &told.failed, told.infeasible, told.release, told.alive) {
        (Some(value), None, false, false, false) => say(study, token, &Outcome::from(value), told)?,
        (None, Some(reason), false, false, false) => {
            say(study, token, &Outcome::Failed(reason.clone().into()), told)?
        }
        (None, None, true, false, false) => say(study, token, &Outcome::Infeasible, told)?,
        (None, None, false, true, false) => {
            study.release(token)?;
            "released"
        }
        (None, None, false, false, true) => {
            study.heartbeat(token)?;
            "alive"
        }
        _ => bail!("give exactly one of value, failed, infeasible, release and alive"),
    };
    writeln!(std::io::stdout(), "{}", serde_json::json!({ "trial": token.trial, "done": done }))?;
    Ok(())
}

fn say(study: &Study, token: Token, outcome: &Outcome, told: &Told) -> Result<&'static str> {
    study.tell_with(token, outcome, &told.attributes, &format!("tell-{token}"))?;
    Ok("told")
}

fn token(text: &str) -> Option<Token> {
    let (trial, fence) = text.split_once('.')?;
    Some(Token { trial: trial.parse().ok()?, fence: fence.parse().ok()? })
}
