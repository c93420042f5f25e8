//! `wimble ask`: trials for a script, as JSON.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use wimble_study::runner::WorkerKey;
use wimble_study::store::Ask;

use crate::given;
use crate::storage::Which;

/// Arguments of `wimble ask`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Number of trials
    #[arg(short = 'n', long, default_value_t = 1, allow_negative_numbers = true, value_parser = given::whole::<u32>(1, 10_000))]
    count: u32,
    /// Give a parameter this value, such as optimiser=sgd, and let the method choose the rest; once for each. Such trials are
    /// new ones, whatever waits in the queue
    #[arg(long, value_name = "PARAMETER=VALUE")]
    fix: Vec<String>,
    /// The key of the worker that will evaluate them. A worker that asks again gets its unfinished trials first
    /// [default: a new key]
    #[arg(long, value_name = "KEY")]
    worker: Option<String>,
    /// The key of this request: asking again with the same key gives the same trials [default: a new key]
    #[arg(long)]
    key: Option<String>,
    /// As everywhere else; the answer is JSON anyway
    #[arg(long = "json")]
    _json: bool,
}

/// Prints one JSON object a trial. None is printed when the budget is spent.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.open_or_create()?;
    let fixed = given::values(&study.settings().space, &arguments.fix)?;
    let study = study.fixing(fixed)?;
    let worker = WorkerKey::given(arguments.worker.clone());
    let key = arguments.key.clone().unwrap_or_else(|| WorkerKey::given(None).as_str().to_owned());
    let mut out = crate::terminal::out();
    let ask = Ask {
        worker: worker.as_str(),
        incarnation: None,
        key: &key,
        wanted: arguments.count as usize,
        fresh: !arguments.fix.is_empty(),
        plans: false,
    };
    let claims = study.ask_with(&ask)?;
    if claims.is_empty() {
        let counts = study.counts()?;
        crate::terminal::say(&format!(
            "note: there is no trial to give: all {} of the study are finished or taken ({} running). A larger number of trials adds \
             some: wimble run STUDY_FILE --trials NUMBER",
            study.settings().budget,
            counts.running
        ));
    }
    for claim in claims {
        let row = serde_json::json!({
            "trial": claim.trial,
            "token": claim.token.to_string(),
            "params": claim.configuration,
            "attempt": claim.attempt,
            "lease_seconds": study.settings().lease.as_secs_f64(),
        });
        writeln!(out, "{row}")?;
    }
    Ok(())
}
