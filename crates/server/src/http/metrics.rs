//! Counters in the format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::App;
use super::answer::{Refusal, packed};
use super::request::blocking;
use crate::desk::lock;

/// Studies that are listed at most.
const STUDIES: usize = 1_000;

/// What the server counts.
#[derive(Default)]
pub(super) struct Metrics {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    refused: Mutex<BTreeMap<&'static str, u64>>,
}

impl Metrics {
    pub fn answered(&self, status: StatusCode) {
        if let Some(count) = self.answers.get(usize::from(status.as_u16() / 100)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn refused(&self, why: &'static str) {
        *lock(&self.refused).entry(why).or_default() += 1;
    }
}

pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let text = blocking(&app, |app| Ok(text(app)?)).await?;
    Ok(packed(&headers, None, "text/plain; version=0.0.4; charset=utf-8", text.into_bytes()))
}

fn text(app: &App) -> wimble_study::Result<String> {
    let store = app.desk.store();
    let mut text = String::from(
        "# HELP wimble_trials Trials by study and state.\n# TYPE wimble_trials gauge\n",
    );
    let mut best = String::from(
        "# HELP wimble_best_value The best value of the first objective.\n# TYPE wimble_best_value gauge\n",
    );
    let mut budget = String::from(
        "# HELP wimble_budget Trials that a study may have.\n# TYPE wimble_budget gauge\n",
    );
    for name in store.studies()?.iter().take(STUDIES) {
        let (counts, label) = (store.counts(name)?, label(name));
        for (state, count) in [
            ("queued", counts.queued),
            ("running", counts.running),
            ("complete", counts.valued),
            ("failed", counts.failed),
            ("infeasible", counts.infeasible),
        ] {
            // Writing to a text does not fail.
            let _ = writeln!(text, "wimble_trials{{study=\"{label}\",state=\"{state}\"}} {count}");
        }
        // A study that this version cannot open still has counts.
        if let Ok(record) = store.study(name) {
            let _ =
                writeln!(budget, "wimble_budget{{study=\"{label}\"}} {}", record.settings.budget);
            if let Some(value) =
                store.best(name, 1)?.first().and_then(|trial| trial.outcome()?.value())
            {
                let _ = writeln!(best, "wimble_best_value{{study=\"{label}\"}} {value:?}");
            }
        }
    }
    text += &best;
    text += &budget;
    text += "# HELP wimble_http_answers_total Answers by the class of their status.\n# TYPE wimble_http_answers_total counter\n";
    for (class, count) in app.metrics.answers.iter().enumerate().skip(1) {
        let _ = writeln!(
            text,
            "wimble_http_answers_total{{class=\"{class}xx\"}} {}",
            count.load(Ordering::Relaxed)
        );
    }
    text += "# HELP wimble_http_refused_total Requests and connections refused, by reason.\n# TYPE wimble_http_refused_total counter\n";
    for (why, count) in lock(&app.metrics.refused).iter() {
        let _ = writeln!(text, "wimble_http_refused_total{{reason=\"{why}\"}} {count}");
    }
    let open = super::STREAMS - app.streams.available_permits();
    text += "# HELP wimble_event_streams Event streams that are open.\n# TYPE wimble_event_streams gauge\n";
    let _ = writeln!(text, "wimble_event_streams {open}");
    Ok(text)
}

/// A text inside the quotes of a label.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
