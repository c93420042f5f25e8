//! Who evaluated what, and when.

use serde::{Deserialize, Serialize};

use super::Range;
use crate::view::chronicle::{Chronicle, NOBODY, Standing};

/// The most workers and evaluations of a picture.
const WORKERS: usize = 60;
const BARS: usize = 4_000;

/// What to draw.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct View {
    /// From this millisecond since 1970.
    pub from: Option<f64>,
    /// To this one.
    pub to: Option<f64>,
}

/// Evaluations as bars, in columns.
#[derive(Debug, Serialize)]
pub struct Timeline {
    /// What the picture shows, in milliseconds since 1970.
    pub x: Range,
    /// The workers that are shown, in the order in which they first appeared.
    pub workers: Vec<String>,
    /// How many more there are.
    pub more_workers: usize,
    /// How many evaluations are left out: only the latest are shown.
    pub more_bars: usize,
    /// The number of each trial.
    pub trial: Vec<usize>,
    /// The place of its worker.
    pub worker: Vec<u32>,
    /// When it began.
    pub start: Vec<f64>,
    /// When it ended; `null` while it runs.
    pub end: Vec<Option<f64>>,
    /// Where it is in its life.
    pub standing: Vec<Standing>,
    /// How many leases of it were lost before.
    pub lost: Vec<u32>,
}

/// The timeline of a study at `now`.
pub fn timeline(chronicle: &Chronicle, view: &View, now: f64) -> Timeline {
    let (started, finished) = (chronicle.started(), chronicle.finished());
    let end = |id: usize| if finished[id].is_finite() { finished[id] } else { now };
    let from = view.from.unwrap_or(f64::NEG_INFINITY);
    let to = view.to.unwrap_or(f64::INFINITY);
    let ran =
        |&id: &usize| chronicle.worker()[id] != NOBODY && started[id] <= to && end(id) >= from;
    let all: Vec<usize> = (0..chronicle.len()).filter(ran).collect();
    let mut seen: Vec<u32> = Vec::new();
    let mut place = vec![NOBODY; chronicle.workers().len()];
    let more_bars = all.len().saturating_sub(BARS);
    let latest = &all[more_bars..];
    for &id in latest {
        let worker = chronicle.worker()[id] as usize;
        if place[worker] == NOBODY {
            place[worker] = seen.len() as u32;
            seen.push(worker as u32);
        }
    }
    let shown = |id: &usize| (place[chronicle.worker()[*id] as usize] as usize) < WORKERS;
    let bars: Vec<usize> = latest.iter().copied().filter(shown).collect();
    let x = match (view.from, view.to) {
        (Some(low), Some(high)) if low < high => Range { low, high },
        _ => Range::of(bars.iter().flat_map(|&id| [started[id], end(id)])),
    };
    Timeline {
        x,
        workers: seen
            .iter()
            .take(WORKERS)
            .map(|&worker| chronicle.workers()[worker as usize].clone())
            .collect(),
        more_workers: seen.len().saturating_sub(WORKERS),
        more_bars,
        worker: bars.iter().map(|&id| place[chronicle.worker()[id] as usize]).collect(),
        start: bars.iter().map(|&id| started[id]).collect(),
        end: bars.iter().map(|&id| Some(finished[id]).filter(|end| end.is_finite())).collect(),
        standing: bars.iter().map(|&id| chronicle.standings()[id]).collect(),
        lost: bars.iter().map(|&id| chronicle.lost()[id]).collect(),
        trial: bars,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::parabola;

    #[test]
    fn every_evaluation_has_a_bar_and_a_running_one_no_end() {
        let study = parabola(5);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        let now = chronicle.started().iter().copied().fold(0.0, f64::max) + 1_000.0;
        let drawn = timeline(&chronicle, &View::default(), now);
        assert_eq!(drawn.workers, ["w0", "w1"]);
        assert_eq!((drawn.trial.len(), drawn.more_bars), (9, 0));
        assert_eq!(drawn.end.iter().filter(|end| end.is_none()).count(), 2);
        assert_eq!(drawn.x.high, now);
        let later = View { from: Some(now + 1.0), to: Some(now + 2.0) };
        assert!(timeline(&chronicle, &later, now).trial.is_empty());
    }
}
