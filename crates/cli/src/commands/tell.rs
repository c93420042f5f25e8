//! `wimble tell`: results of a script, as JSON or as arguments; and heartbeats.

use std::io::{BufRead as _, Write as _};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use serde_json::{Map, Value as Json};
use wimble::internals::nearest;
use wimble_study::runner::finding;
use wimble_study::{Attributes, Outcome, Study, Token};

use crate::exit::usage;
use crate::given;
use crate::storage::Which;

/// Arguments of `wimble tell`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The trial: its token, or its number, which means whoever runs it now. The same as --token
    #[arg(value_name = "TRIAL", conflicts_with = "token")]
    trial: Option<String>,
    /// The token of the trial, as printed by `wimble ask`. Without it, JSON objects are read from standard input, one a line:
    /// {"token": "0.1", "value": 0.3}, {"token": "1.2", "objectives": {"error": 0.3, "latency": 12}, "constraints": {"memory": 3}}
    #[arg(long)]
    token: Option<String>,
    /// The measured value, where there is one objective
    #[arg(long, allow_negative_numbers = true, value_parser = given::number)]
    value: Option<f64>,
    /// The measured value of an objective by its name; once for each
    #[arg(long, value_name = "NAME=NUMBER", conflicts_with = "value", value_parser = named)]
    objective: Vec<(String, f64)>,
    /// The measured value of a constrained quantity by its name; once for each that is no objective
    #[arg(long, value_name = "NAME=NUMBER", value_parser = named)]
    constraint: Vec<(String, f64)>,
    /// The standard deviation of the noise in the value; with several values NAME=NUMBER, once for each
    #[arg(long, value_name = "[NAME=]NUMBER")]
    deviation: Vec<String>,
    /// The trial failed, for this reason
    #[arg(long, conflicts_with_all = VALUES, value_name = "REASON")]
    failed: Option<String>,
    /// The configuration cannot be evaluated, and is not to be tried again
    #[arg(long, conflicts_with_all = VALUES, conflicts_with = "failed")]
    infeasible: bool,
    /// Give the trial back to the queue
    #[arg(long, conflicts_with_all = VALUES, conflicts_with_all = ["failed", "infeasible"])]
    release: bool,
    /// Renew the trial's lease (heartbeat)
    #[arg(long, conflicts_with_all = VALUES, conflicts_with_all = ["failed", "infeasible", "release"])]
    alive: bool,
    /// As everywhere else; the answer is JSON anyway
    #[arg(long = "json")]
    _json: bool,
}

/// The arguments of a measurement.
const VALUES: [&str; 4] = ["value", "objective", "constraint", "deviation"];
/// The fields of a measurement in JSON, as in the result of a command.
const FIELDS: [&str; 4] = ["value", "objectives", "constraints", "deviation"];

/// `NAME=NUMBER`. The name may have equals signs.
fn named(text: &str) -> Result<(String, f64), String> {
    let wrong = || format!("it must be NAME=NUMBER, such as error=0.31, and not {text:?}");
    let (name, number) = text.rsplit_once('=').ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    match number.is_finite() {
        true => Ok((name.to_owned(), number)),
        false => Err(format!("{name} is {number}, but must be finite; tell --failed instead")),
    }
}

/// Tells, and acknowledges each with a JSON object.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open()?;
    if let Some(token) = arguments.trial.as_ref().or(arguments.token.as_ref()) {
        return tell(&study, token, arguments.fields()?);
    }
    if !arguments.fields()?.is_empty() {
        return Err(usage("say which trial: --token, as printed by `wimble ask`, or STUDY TRIAL"));
    }
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("line {} of standard input", number + 1);
        let mut fields: Map<String, Json> = given::json(&line).with_context(place)?;
        let token = match fields.remove("token") {
            Some(Json::String(token)) => Ok(token),
            other => Err(wrong_token(&other.map_or_else(String::new, |json| json.to_string()))),
        };
        token.and_then(|token| tell(&study, &token, fields)).with_context(place)?;
    }
    Ok(())
}

impl Arguments {
    /// What is told, as the fields of its JSON.
    fn fields(&self) -> Result<Map<String, Json>> {
        let mut fields = Map::new();
        if let Some(value) = self.value {
            let Some(value) = serde_json::Number::from_f64(value) else {
                return Err(usage(format!(
                    "--value is {value}, but must be finite; tell --failed instead"
                )));
            };
            fields.insert("value".to_owned(), Json::Number(value));
        }
        let all = [("objectives", &self.objective), ("constraints", &self.constraint)];
        for (field, given) in all.into_iter().filter(|(_, given)| !given.is_empty()) {
            let mut values = Map::new();
            for (name, value) in given {
                if values.insert(name.clone(), (*value).into()).is_some() {
                    bail!("`{name}` is given twice");
                }
            }
            fields.insert(field.to_owned(), values.into());
        }
        for text in &self.deviation {
            self.add_deviation(&mut fields, text)?;
        }
        if let Some(reason) = &self.failed {
            fields.insert("failed".to_owned(), reason.clone().into());
        }
        let flags =
            [("infeasible", self.infeasible), ("release", self.release), ("alive", self.alive)];
        for (field, _) in flags.into_iter().filter(|(_, given)| *given) {
            fields.insert(field.to_owned(), true.into());
        }
        Ok(fields)
    }

    fn add_deviation(&self, fields: &mut Map<String, Json>, text: &str) -> Result<()> {
        if let Ok(deviation) = text.parse::<f64>() {
            if self.objective.len() > 1 {
                bail!(
                    "--deviation {text}: of which value? Write NAME=NUMBER, such as {}={text}",
                    self.objective[0].0
                );
            }
            if fields.insert("deviation".to_owned(), deviation.into()).is_some() {
                bail!("--deviation is given twice; with several values write NAME=NUMBER");
            }
            return Ok(());
        }
        let (name, deviation) = named(text).map_err(|reason| anyhow!("--deviation: {reason}"))?;
        for field in ["objectives", "constraints"] {
            if let Some(value) = fields.get_mut(field).and_then(|values| values.get_mut(&name)) {
                *value = serde_json::json!({ "value": *value, "deviation": deviation });
                return Ok(());
            }
        }
        bail!("--deviation {text}: there is no --objective or --constraint `{name}`")
    }
}

fn tell(study: &Study, token: &str, mut fields: Map<String, Json>) -> Result<()> {
    let token = token_of(study, token)?;
    let attributes = match fields.remove("attributes") {
        None => Attributes::default(),
        Some(json) => serde_json::from_value(json).context("attributes")?,
    };
    let mut flag = |name: &str| match fields.remove(name) {
        None | Some(Json::Null | Json::Bool(false)) => Ok(false),
        Some(Json::Bool(true)) => Ok(true),
        Some(other) => Err(anyhow!("`{name}` is {other}, but must be true or false")),
    };
    let flags = [flag("infeasible")?, flag("release")?, flag("alive")?];
    let failed = match fields.remove("failed").filter(|json| !json.is_null()) {
        None => None,
        Some(Json::String(reason)) => Some(reason),
        Some(other) => bail!("`failed` is {other}, but must be a reason in words"),
    };
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let others = ["token", "failed", "infeasible", "release", "alive", "attributes"];
        let known: Vec<&str> = FIELDS.into_iter().chain(others).collect();
        let hint = nearest(unknown, known.iter().copied()).map_or_else(
            || format!("there are {}", known.join(", ")),
            |near| format!("the nearest is `{near}`"),
        );
        bail!("there is no field `{unknown}`; {hint}");
    }
    let is_measured = fields.values().any(|json| !json.is_null());
    let say = |outcome: &Outcome| -> Result<&str> {
        // The key is ours: the user gave a token, and is told about the trial.
        match study.tell_with(token, outcome, &attributes, &format!("tell-{token}")) {
            Err(wimble_study::Error::KeyReused { study: name, .. }) => {
                let told = study
                    .trial(token.trial)?
                    .outcome()
                    .map_or_else(String::new, ToString::to_string);
                let (study, trial) = (name, token.trial);
                Err(wimble_study::Error::AlreadyTold { study, trial, outcome: told }.into())
            }
            told => told.map(|()| "told").map_err(Into::into),
        }
    };
    let done = match (is_measured, failed, flags) {
        (true, None, [false, false, false]) => {
            let found = finding::of_fields(fields, &study.settings().goal);
            say(&found.map_err(|reason| anyhow!("trial {}: {reason}", token.trial))?.outcome)?
        }
        (false, Some(reason), [false, false, false]) => say(&Outcome::Failed(reason.into()))?,
        (false, None, [true, false, false]) => say(&Outcome::Infeasible)?,
        (false, None, [false, true, false]) => {
            study.release(token)?;
            "released"
        }
        (false, None, [false, false, true]) => {
            study.heartbeat(token)?;
            "alive"
        }
        _ => bail!("give exactly one of value, objectives, failed, infeasible, release and alive"),
    };
    writeln!(
        crate::terminal::out(),
        "{}",
        serde_json::json!({ "trial": token.trial, "done": done })
    )?;
    Ok(())
}

/// A token as `ask` printed it, or that of whoever runs the trial of this number.
fn token_of(study: &Study, text: &str) -> Result<Token> {
    if let Ok(number) = text.parse::<u64>() {
        let trial = study.trial(number)?;
        let Some(lease) = trial.lease() else {
            let state = wimble_study::exchange::row::state(&trial, &study.settings().goal);
            bail!(
                "trial {number} is {state}, and only a running trial is told; `wimble ask` gives one to run"
            );
        };
        return Ok(Token { trial: number, fence: lease.fence });
    }
    let parts = text.split_once('.');
    let token = parts.and_then(|(trial, fence)| {
        Some(Token { trial: trial.parse().ok()?, fence: fence.parse().ok()? })
    });
    token.ok_or_else(|| wrong_token(text))
}

fn wrong_token(text: &str) -> anyhow::Error {
    anyhow!("the token is {text:?}, but must be one that `wimble ask` printed, such as \"12.40\"")
}
