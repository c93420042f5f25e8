//! `wimble doctor`: whether the storage is well, and who works on it.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;
use wimble_study::study_file::duration;
use wimble_study::{Diagnosis, StudyHealth, Timestamp};

use crate::storage::Storage;

/// Arguments of `wimble doctor`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    storage: Storage,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Looks at the storage and changes nothing. Trouble is exit code 1.
pub fn run(arguments: &Arguments) -> Result<()> {
    let store = arguments.storage.existing()?;
    let diagnosis = store.diagnose()?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&diagnosis)?)?;
    } else {
        write!(out, "{}", describe(&diagnosis))?;
    }
    let troubled: Vec<&str> = diagnosis
        .studies
        .iter()
        .filter(|study| study.trouble.is_some())
        .map(|study| study.name.as_str())
        .collect();
    if !troubled.is_empty() {
        bail!("this version of wimble cannot open: {}", troubled.join(", "));
    }
    Ok(())
}

fn describe(diagnosis: &Diagnosis) -> String {
    let condition = &diagnosis.condition;
    let mut text = format!(
        "storage     {}: reachable\nsoftware    {}\ndurability  {}\nschema      version {}\nclock       {}\n",
        condition.place,
        condition.software,
        condition.durability,
        condition.schema,
        crate::utc::show(condition.now)
    );
    if diagnosis.studies.is_empty() {
        text.push_str("\nThere is no study yet.\n");
    }
    for study in &diagnosis.studies {
        text.push_str(&health(study, condition.now));
    }
    text
}

fn health(study: &StudyHealth, now: Timestamp) -> String {
    let counts = &study.counts;
    let mut text = format!(
        "\nstudy `{}`: {} complete, {} failed, {} infeasible, {} running, {} queued\n",
        study.name, counts.valued, counts.failed, counts.infeasible, counts.running, counts.queued
    );
    if let Some(trouble) = &study.trouble {
        text.push_str(&format!("  cannot be opened: {trouble}\n"));
    }
    for lease in &study.leases {
        let (held, due) = (span(lease.since, now), span(now, lease.due));
        let state = if lease.dead {
            format!("dead since {}: the next worker that asks takes it over", span(lease.due, now))
        } else {
            format!("alive, lease ends in {due} unless renewed")
        };
        text.push_str(&format!(
            "  trial {} with {} for {held}: {state}\n",
            lease.trial, lease.worker
        ));
    }
    text
}

fn span(from: Timestamp, to: Timestamp) -> String {
    duration::show(std::time::Duration::from_millis(to.0.saturating_sub(from.0).max(0) as u64))
}
