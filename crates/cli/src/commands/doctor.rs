//! `wimble doctor`: whether the storage works, and who holds its trials.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;
use wimble_study::study_file::duration;
use wimble_study::{Diagnosis, StudyHealth, Timestamp};

use crate::storage::Look;

/// Arguments of `wimble doctor`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    look: Look,
    /// Count the trials of every study anew, and rebuild the index of the best; trials stay as they are
    #[arg(long)]
    repair: bool,
}

/// Looks at the storage, and changes nothing unless it is asked to. Damage, and a study that cannot be opened, is exit
/// code 1.
pub fn run(arguments: &Arguments) -> Result<()> {
    let look = &arguments.look;
    if arguments.repair {
        let store = look.storage.existing()?;
        for study in store.studies()? {
            store.recount(&study)?;
        }
    }
    let store = look.storage.look()?;
    let diagnosis = Diagnosis::of(&*store)?;
    let mut out = crate::terminal::out();
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
    if !diagnosis.is_sound() {
        bail!(
            "the storage is damaged; copy it first. Trials that can be read are saved by `wimble export --out FILE.jsonl`, \
             and `wimble import FILE.jsonl --study STUDY_FILE --storage NEW.db` makes a storage of them"
        );
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
    for fault in &diagnosis.faults {
        text.push_str(&format!("damaged     {fault}\n"));
    }
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
    for fault in &study.faults {
        text.push_str(&format!("  damaged: {fault}\n"));
    }
    for lease in &study.leases {
        let (held, due) = (span(lease.since, now), span(now, lease.due));
        let state = if lease.dead {
            format!(
                "silent, due since {}: a worker that wants the trial may take it",
                span(lease.due, now)
            )
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
