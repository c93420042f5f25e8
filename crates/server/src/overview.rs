//! A study in short: how far it is, what is best, and whether anybody works on it.

use serde::Serialize;
use wimble::goal::{Direction, Goal};
use wimble::session::Best;
use wimble::space::Dimension;
use wimble_study::{Counts, EngineSpan, Filter, Reader, Result, Stage, Timestamp, Trial};

use crate::axes::axes;

/// How many of the latest changes say how fast a study is.
const LATEST: u64 = 200;

/// A study in a line.
#[derive(Debug, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Why it cannot be opened, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// How many trials are queued, running and finished.
    pub counts: Counts,
    /// How many trials it may have.
    pub budget: Option<u64>,
    /// What it is for.
    pub goal: Option<Goal>,
    /// Which values of the first objective are good.
    pub direction: Option<Direction>,
    /// The method, as it is written.
    pub method: Option<String>,
    /// The best trial.
    pub best: Option<Best>,
    /// Trials finished a minute, of late; `None` if fewer than two finished.
    pub rate: Option<f64>,
    /// The last sign of life: a heartbeat, a claim or a result.
    pub last_sign: Option<Timestamp>,
    /// Whether somebody works on it: a lease has not expired.
    pub alive: bool,
    /// Whether it is paused: no trial begins.
    pub paused: bool,
    /// The latest sequence number.
    pub sequence: u64,
}

/// A study with what a page needs to draw it.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The study in a line.
    #[serde(flatten)]
    pub line: Line,
    /// Its parameters.
    pub parameters: Vec<Dimension>,
    /// How many points are proposed together.
    pub batch_size: usize,
    /// Its seed. A text: not every whole number is a number in every language.
    pub seed: String,
    /// How long a worker keeps a trial without a heartbeat, in seconds.
    pub lease_seconds: f64,
    /// The versions that proposed its trials.
    pub engines: Vec<EngineSpan>,
    /// The time on the store's clock.
    pub now: Timestamp,
}

/// All studies of a store.
pub fn lines(store: &dyn Reader) -> Result<Vec<Line>> {
    let now = store.condition()?.now;
    store.studies()?.iter().map(|name| line(store, name, now)).collect()
}

/// One study in a line.
pub fn line(store: &dyn Reader, name: &str, now: Timestamp) -> Result<Line> {
    let (counts, sequence) = (store.counts(name)?, store.sequence(name)?);
    let record = store.study(name);
    let settings = record.as_ref().ok().map(|record| &record.settings);
    let best = match settings {
        Some(settings) => {
            // By the first objective; where there are constraints, the best may miss one, and is then marked.
            store.best(name, 1)?.pop().and_then(|trial: Trial| trial.into_best(&settings.goal))
        }
        None => None,
    };
    let latest = store.changes_since(name, sequence.saturating_sub(LATEST), LATEST as usize)?;
    let running =
        store.trials(name, &Filter { stage: Some(Stage::Running), ..Filter::default() })?;
    let lease = settings.map_or(0, |settings| settings.lease.as_millis() as i64);
    let heartbeats =
        running.iter().filter_map(|trial| trial.lease()).map(|lease_of| lease_of.due.0 - lease);
    let ends: Vec<i64> =
        latest.iter().filter_map(|change| change.trial.finished()).map(|time| time.0).collect();
    let starts = latest.iter().filter_map(|change| change.trial.started()).map(|time| time.0);
    let last_sign = ends.iter().copied().chain(starts).chain(heartbeats).max().map(Timestamp);
    let alive = running.iter().any(|trial| trial.lease().is_some_and(|lease| lease.due > now));
    Ok(Line {
        name: name.to_owned(),
        counts,
        budget: settings.map(|settings| settings.budget),
        goal: settings.map(|settings| settings.goal.clone()),
        direction: settings.map(|settings| settings.goal.first_direction()),
        method: settings.map(|settings| settings.method.to_string()),
        best,
        rate: rate(&ends),
        last_sign,
        alive,
        paused: record.as_ref().is_ok_and(|record| record.paused),
        sequence,
        trouble: record.err().map(|error| error.to_string()),
    })
}

/// Ends a minute.
fn rate(ends: &[i64]) -> Option<f64> {
    let (first, last) = (ends.iter().min()?, ends.iter().max()?);
    (last > first).then(|| (ends.len() - 1) as f64 / ((last - first) as f64 / 60_000.0))
}

/// One study with what a page needs.
pub fn summary(store: &dyn Reader, name: &str) -> Result<Summary> {
    let settings = store.study(name)?;
    let now = store.condition()?.now;
    let line = line(store, name, now)?;
    Ok(Summary {
        line,
        parameters: axes(&settings.settings.space),
        batch_size: settings.settings.batch_size,
        seed: settings.settings.seed.0.to_string(),
        lease_seconds: settings.settings.lease.as_secs_f64(),
        engines: settings.engines,
        now,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::parabola;

    #[test]
    fn a_line_says_what_the_study_says() {
        let study = parabola(12);
        let store = &**study.store();
        let summary = summary(store, "parabola").unwrap();
        assert_eq!(summary.line.counts, study.counts().unwrap());
        assert_eq!(summary.line.best, study.best().unwrap());
        assert_eq!(summary.line.sequence, store.sequence("parabola").unwrap());
        assert!(summary.line.alive && summary.line.last_sign.is_some());
        assert_eq!(summary.parameters.len(), 3);
        assert_eq!(lines(store).unwrap().len(), 1);
        assert_eq!(rate(&[0, 30_000, 60_000]), Some(2.0));
        assert_eq!((rate(&[5]), rate(&[5, 5])), (None, None));
    }
}
