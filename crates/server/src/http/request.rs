//! What every request brings, read once: who asks, about which study, with which query; and the ways in which it is answered.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{self, FromRequest, FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use wimble_study::Store;

use super::App;
use super::access::Level;
use super::answer::{self, Refusal, has, unchanged};
use crate::desk::File;

/// How long an answer waits for a long study that is read for the first time. It then shows what was read so far.
pub(super) const FIRST_LOOK: Duration = Duration::from_millis(300);

pub(super) type Answer = Result<Response, Refusal>;

/// A request, without its body.
pub(super) struct Request {
    pub app: Arc<App>,
    /// What the sender may do.
    pub level: Level,
    /// The study that the path names; empty if it names none.
    pub study: String,
    /// The trial that the path names, as it stands there.
    trial: Option<String>,
    query: Option<String>,
    pub headers: HeaderMap,
}

impl FromRequestParts<Arc<App>> for Request {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Response> {
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, app).await;
        let refused = |error: String| Refusal::bad(error).into_response();
        let Path(mut path) = path.map_err(|error| refused(error.body_text()))?;
        let level = Extension::<Level>::from_request_parts(parts, app).await;
        let Extension(level) = level.map_err(|error| refused(error.body_text()))?;
        Ok(Self {
            app: Arc::clone(app),
            level,
            study: path.remove("study").unwrap_or_default(),
            trial: path.remove("trial"),
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers.clone(),
        })
    }
}

/// The body of a request. One that is too large or ends too early is refused in a sentence, as everything else is.
pub(super) struct Sent(pub Bytes);

impl FromRequest<Arc<App>> for Sent {
    type Rejection = Refusal;

    async fn from_request(request: extract::Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let body = Bytes::from_request(request, app).await;
        body.map(Self).map_err(|error| Refusal::new(error.status(), error.body_text()))
    }
}

/// A study that is looked at.
pub(super) struct Look<'a> {
    pub store: &'a dyn Store,
    /// The study's name.
    pub study: &'a str,
    pub file: &'a File,
}

impl Request {
    /// Refuses who may not do this.
    pub fn demand(&self, needed: Level) -> Result<(), Refusal> {
        demand(self.level, needed)
    }

    /// What the query says; the error names what is wrong with it.
    pub fn query<T: for<'q> Deserialize<'q>>(&self) -> Result<T, Refusal> {
        let uri = format!("/?{}", self.query.as_deref().unwrap_or_default());
        let uri = uri.parse().map_err(|_| Refusal::bad("the query cannot be read"))?;
        Query::<T>::try_from_uri(&uri)
            .map(|Query(query)| query)
            .map_err(|error| Refusal::bad(error.body_text()))
    }

    /// Answers with what `work` returns for the study of the path, as JSON.
    pub async fn answer<T: Serialize>(
        self,
        work: impl FnOnce(&App, &str) -> Result<T, Refusal> + Send + 'static,
    ) -> Answer {
        let Self { app, study, headers, .. } = self;
        blocking(&app, move |app| Ok(answer::json(&headers, None, &work(app, &study)?))).await
    }

    /// The number of the trial that the path names.
    pub fn trial(&self) -> Result<u64, Refusal> {
        let text = self.trial.as_deref().unwrap_or_default();
        text.parse().map_err(|_| Refusal::bad(format!("{text:?} is no number of a trial")))
    }

    /// Answers with what `work` finds in a chronicle, as JSON. The answer has a tag of the study's sequence number, so that one
    /// that did not change is not computed again.
    pub async fn of_study<T: Serialize>(
        self,
        work: impl FnOnce(&Look<'_>) -> Result<T, Refusal> + Send + 'static,
    ) -> Answer {
        let Self { app, study, headers, .. } = self;
        figuring(&app, move |app| {
            let file = app.desk.file(&study, FIRST_LOOK)?;
            let tag = format!("\"{}-{}\"", app.boot, file.state());
            let loaded = file.loaded();
            if loaded >= 1.0 && has(&headers, &tag) {
                return Ok(unchanged(&tag));
            }
            let store = &**app.desk.store();
            let done = work(&Look { store, study: &study, file: &file })?;
            // What is not complete yet is not kept.
            let tag = (loaded >= 1.0).then_some(tag.as_str());
            let mut response = answer::json(&headers, tag, &done);
            if let Ok(loaded) = HeaderValue::from_str(&format!("{loaded:.4}")) {
                response.headers_mut().insert("wimble-loaded", loaded);
            }
            Ok(response)
        })
        .await
    }
}

/// Refuses who may not do this.
pub(super) fn demand(level: Level, needed: Level) -> Result<(), Refusal> {
    if level >= needed {
        return Ok(());
    }
    let (flag, who) = match needed {
        Level::Write => ("--write", "people who change studies"),
        Level::Work | Level::Read => ("--workers", "workers"),
    };
    Err(Refusal::new(
        StatusCode::FORBIDDEN,
        format!(
            "this needs the token for {who}: `wimble serve {flag}` prints it; commands of wimble take it from the variable \
             WIMBLE_TOKEN, other programs send `Authorization: Bearer TOKEN`"
        ),
    ))
}

/// What a body says.
pub(super) fn read<T: for<'b> Deserialize<'b>>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| Refusal::bad(format!("the body cannot be read: {error}")))
}

/// Runs what blocks on a thread where it may.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    done.unwrap_or_else(|_| {
        let message = "the server failed on this request; the others are not affected";
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}

/// Runs what may take long for a reader, a few at a time: the others wait, and hold no thread meanwhile.
pub(super) async fn figuring<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    // The semaphore is never closed; the place is given back when the work is done, whether or not anybody still waits for it.
    let place = Arc::clone(&app.figures).acquire_owned().await;
    blocking(app, move |app| {
        let _place = place;
        work(app)
    })
    .await
}
