//! `wimble report`: a step of a trial, said by its command to the runner that started it.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Map, Value as Json};
use wimble_study::runner::report_socket::{REPORT, Reply, send};

use crate::exit::{Stop, Usage};
use crate::given;

/// Arguments of `wimble report`.
#[derive(Args)]
#[command(after_help = "\
Exit codes:
  0  go on
  5  stop: the trial is not worth more. What was reported last is its outcome
  1  the runner cannot be reached; 2  the step cannot be read

The runner decides while the command goes on, so that the answer is the one known at this moment.
Run by hand, outside of `wimble run`, it reports to nobody and exits 0.")]
pub struct Arguments {
    /// How far the evaluation is, in the unit of the study's fidelity
    #[arg(required_unless_present = "json", allow_negative_numbers = true, value_parser = given::number)]
    step: Option<f64>,
    /// The value measured there, where there is one objective
    #[arg(required_unless_present = "json", allow_negative_numbers = true, value_parser = given::number)]
    value: Option<f64>,
    /// The step as a JSON object: {"step": 3, "objectives": {"error": 0.42, "latency": 9.5}, "constraints": {"memory": 3.1}}
    #[arg(long, value_name = "OBJECT", conflicts_with_all = ["step", "value"])]
    json: Option<String>,
}

/// Reports the step.
pub fn run(arguments: &Arguments) -> Result<()> {
    let step = arguments.fields()?;
    let Some(socket) = std::env::var_os(REPORT).map(PathBuf::from) else {
        crate::terminal::say(&format!(
            "note: {REPORT} is not set: no `wimble run` started this, and the step goes nowhere"
        ));
        return Ok(());
    };
    let trial = std::env::var("WIMBLE_TRIAL").ok().and_then(|number| number.parse().ok());
    let Some(trial) = trial else { bail!("WIMBLE_TRIAL does not name the trial that reports") };
    let reply = send(&socket, trial, step).with_context(|| {
        format!("the runner does not answer at {}; it may have ended", socket.display())
    })?;
    match reply {
        Reply::GoOn => Ok(()),
        Reply::Stop => Err(Stop.into()),
        Reply::Refused(reason) => Err(Usage(format!("the step was left out: {reason}")).into()),
    }
}

impl Arguments {
    /// The step as the fields of its JSON.
    fn fields(&self) -> Result<Map<String, Json>> {
        let wrong = |reason: String| anyhow::Error::new(Usage(reason));
        if let Some(text) = &self.json {
            let fields: Map<String, Json> =
                given::json(text).map_err(|error| wrong(format!("--json: {error}")))?;
            if !fields.contains_key("step") {
                return Err(wrong("--json: the field `step` is missing".to_owned()));
            }
            return Ok(fields);
        }
        let mut fields = Map::new();
        for (name, number) in [("step", self.step), ("value", self.value)] {
            let number = number.unwrap_or(f64::NAN);
            let Some(json) = serde_json::Number::from_f64(number) else {
                return Err(wrong(format!("{name} is {number}, but must be a finite number")));
            };
            fields.insert(name.to_owned(), Json::Number(json));
        }
        Ok(fields)
    }
}
