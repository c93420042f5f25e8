//! A stream of events: what a page needs to know that something changed.
//!
//! However many listen, a study is read once. A listener that is slow misses numbers in between and gets the latest.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::watch::Receiver;

use super::App;
use super::answer::Refusal;
use super::request::blocking;
use crate::chronicle::Standing;
use crate::desk::File;

/// The shortest time between two events.
const PAUSE: Duration = Duration::from_millis(250);
/// Between signs of life where nothing changes.
const SILENCE: Duration = Duration::from_secs(15);

struct Listener {
    app: Arc<App>,
    study: String,
    file: Arc<File>,
    numbers: Receiver<u64>,
    first: bool,
    _place: OwnedSemaphorePermit,
}

/// Events of a study: its latest sequence number, how many trials there are, and the best value.
pub(super) async fn events(
    State(app): State<Arc<App>>,
    Path(study): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let Ok(place) = Arc::clone(&app.streams).try_acquire_owned() else {
        return Err(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many event streams are open",
        ));
    };
    let file = open(&app, &study).await?;
    let listener = Listener { numbers: file.watch(), app, study, file, first: true, _place: place };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(SILENCE)))
}

async fn open(app: &Arc<App>, study: &str) -> Result<Arc<File>, Refusal> {
    let name = study.to_owned();
    blocking(app, move |app| Ok(app.desk.file(&name, Duration::ZERO)?)).await
}

impl Listener {
    /// The next event; `None` once the server stops, or the study is gone.
    async fn next(&mut self) -> Option<Event> {
        if !self.first {
            tokio::time::sleep(PAUSE).await;
            let app = Arc::clone(&self.app);
            loop {
                tokio::select! {
                    changed = self.numbers.changed() => {
                        changed.ok()?;
                        break;
                    }
                    () = app.until_stopped() => return None,
                    // A study that was replaced is another one: its numbers are announced elsewhere.
                    () = tokio::time::sleep(SILENCE) => {
                        let file = open(&self.app, &self.study).await.ok()?;
                        if file.generation != self.file.generation {
                            self.numbers = file.watch();
                            self.file = file;
                            break;
                        }
                    }
                }
            }
        }
        self.first = false;
        self.numbers.mark_unchanged();
        let (generation, loaded) = (self.file.generation, self.file.loaded());
        let chronicle = self.file.chronicle();
        let best =
            chronicle.best().map(|id| json!({ "trial": id, "value": chronicle.objective(0)[id] }));
        let data = json!({
            "sequence": chronicle.sequence(),
            "generation": generation,
            "loaded": loaded,
            "budget": chronicle.record().settings.budget,
            "paused": chronicle.record().paused,
            "state": self.file.state(),
            "queued": chronicle.count(Standing::Queued),
            "running": chronicle.count(Standing::Running),
            "complete": chronicle.count(Standing::Complete),
            "violating": chronicle.count(Standing::Violating),
            "failed": chronicle.count(Standing::Failed),
            "infeasible": chronicle.count(Standing::Infeasible),
            "stopped": chronicle.count(Standing::Stopped),
            "best": best,
        });
        Some(
            Event::default()
                .event("change")
                .id(chronicle.sequence().to_string())
                .data(data.to_string()),
        )
    }
}
