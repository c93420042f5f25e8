//! `wimble status`: how far a study is, and what runs where; with `--watch`, again and again.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use wimble_study::study_file::duration;
use wimble_study::{Counts, Filter, Record, Stage, Study, Timestamp, Trial};

use crate::best_trial;
use crate::front::{self, Outlook};
use crate::progress::short;
use crate::storage::{Which, quoted};
use crate::table;

/// The most running trials listed.
const LISTED: usize = 20;

/// Arguments of `wimble status`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Print it again every so often, such as 2s or 1m, until all trials are finished
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "2s", value_parser = every)]
    watch: Option<Duration>,
    /// Print one JSON object, or with --watch one a line
    #[arg(long)]
    json: bool,
}

fn every(text: &str) -> Result<Duration, String> {
    duration::parse(text)
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("it must be {}", duration::ALLOWED))
}

/// Results since the first look.
struct Rate {
    since: Instant,
    finished: u64,
}

/// Prints how far the study is.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    let rate = Rate { since: Instant::now(), finished: study.counts()?.finished() };
    loop {
        let counts = study.counts()?;
        // Read anew: another process may have changed it.
        let record = study.store().study(&study.settings().name)?;
        let budget = record.settings.budget;
        let text = match arguments.json {
            true => json(&study, &counts, &record)?,
            false => text(&study, &counts, &record, &rate)?,
        };
        if arguments.watch.is_some() && !arguments.json && std::io::stdout().is_terminal() {
            // Home, and clear what is below.
            write!(std::io::stdout(), "\x1b[H\x1b[2J")?;
        }
        let mut out = crate::terminal::out();
        write!(out, "{text}")?;
        out.flush()?;
        let Some(interval) = arguments.watch.filter(|_| !is_over(&counts, budget)) else {
            return Ok(());
        };
        drop(out);
        std::thread::sleep(interval);
    }
}

fn is_over(counts: &Counts, budget: u64) -> bool {
    counts.total() - counts.imported >= budget && counts.running + counts.queued == 0
}

fn running(study: &Study) -> Result<Vec<Trial>> {
    let filter = Filter { stage: Some(Stage::Running), limit: Some(LISTED), ..Filter::default() };
    Ok(study.trials(&filter)?)
}

fn json(study: &Study, counts: &Counts, record: &Record) -> Result<String> {
    let budget = record.settings.budget;
    let running = running(study)?.into_iter().map(|trial| {
        serde_json::json!({
            "trial": trial.id, "worker": trial.worker(), "started": trial.started().map(Timestamp::to_utc),
        })
    });
    let mut report = serde_json::json!({
        "study": study.settings().name,
        "budget": budget,
        "counts": counts,
        "over": is_over(counts, budget),
        "paused": record.paused,
        "running": running.collect::<Vec<_>>(),
    });
    if study.settings().goal.objectives().len() == 1 {
        report["best"] = study.best()?.as_ref().map(best_trial::json).into();
    }
    if let (false, Some(fields)) = (study.settings().goal.is_single(), report.as_object_mut()) {
        let mut found = Outlook::of(study, 0)?.json()?;
        found.remove("front");
        fields.extend(found);
    }
    Ok(format!("{report}\n"))
}

fn text(study: &Study, counts: &Counts, record: &Record, rate: &Rate) -> Result<String> {
    let budget = record.settings.budget;
    let done = counts.finished() - counts.imported;
    // A study without a limit has the largest budget that storages hold.
    let of = if budget < i64::MAX as u64 { format!(" of {budget}") } else { String::new() };
    let trials = if of.is_empty() && done == 1 { "trial" } else { "trials" };
    let mut text = format!("{}: {done}{of} {trials} finished", study.settings().name);
    let parts = [
        (counts.running, "running"),
        (counts.queued, "queued"),
        (counts.paused, "paused"),
        (counts.failed, "failed"),
        (counts.infeasible, "infeasible"),
        (counts.imported, "imported"),
    ];
    for (count, word) in parts.iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {word}"));
    }
    text.push('\n');
    if record.paused {
        let name = quoted(&study.settings().name);
        text.push_str(&format!("paused: no trial begins until `wimble resume {name}`\n"));
    }
    if let Some(words) = front::in_short(study)? {
        text.push_str(&format!("{words}\n"));
    }
    let new = counts.finished().saturating_sub(rate.finished);
    if new > 0 {
        let a_second = new as f64 / rate.since.elapsed().as_secs_f64();
        let left = budget.saturating_sub(done) as f64 / a_second;
        let left = Duration::try_from_secs_f64(left.ceil()).ok();
        let left = left.filter(|_| !of.is_empty());
        let left = left.map_or(String::new(), |left| format!(", {} left", duration::show(left)));
        text.push_str(&format!("{} results a second{left}\n", short(a_second)));
    }
    let running = running(study)?;
    if !running.is_empty() {
        let mut rows = table::plain(["trial", "worker", "started"]);
        for trial in &running {
            let started = trial.started().map_or_else(|| "-".to_owned(), Timestamp::to_utc);
            rows.add_row([trial.id.to_string(), trial.worker().unwrap_or("-").to_owned(), started]);
        }
        text.push_str(&format!("\n{}", table::text(&rows)));
        if counts.running > running.len() as u64 {
            text.push_str(&format!("and {} more\n", counts.running - running.len() as u64));
        }
    }
    Ok(text)
}
