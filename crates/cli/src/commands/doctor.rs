//! `wimble doctor`: whether the storage works, and who holds its trials.

use std::io::Write as _;

use anyhow::{Result, bail};
use wimble_study::study_file::duration;
use wimble_study::{Diagnosis, StudyHealth, Timestamp};

use crate::storage::Look;

/// Looks at the storage and changes nothing. A study that cannot be opened is exit code 1.
pub fn run(look: &Look) -> Result<()> {
    let store = look.storage.existing()?;
    let diagnosis = Diagnosis::of(&*store)?;
    let mut out = std::io::stdout().lock();
    if look.json {
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
        condition.now.to_utc()
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
            "  trial {}, held by {} for {held}: {state}\n",
            lease.trial, lease.worker
        ));
    }
    text
}

fn span(from: Timestamp, to: Timestamp) -> String {
    duration::show(std::time::Duration::from_millis(to.0.saturating_sub(from.0).max(0) as u64))
}
