//! The table of addresses.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use super::answer::Refusal;
use super::{App, assets, events, guard, metrics, openapi, reading, working};

/// The largest body of a request, in bytes.
const LARGEST_BODY: usize = 4 << 20;

pub(super) fn router(app: &Arc<App>) -> Router {
    Router::new()
        .route("/", get(assets::page))
        .route("/compare", get(assets::page))
        .route("/study/{study}", get(assets::page))
        .route("/study/{study}/trial/{trial}", get(assets::page))
        .route("/assets/{file}", get(assets::file))
        .route("/metrics", get(metrics::metrics))
        .route("/api/openapi.json", get(openapi::document))
        .route("/api/access", get(reading::access))
        .route("/api/studies", get(reading::studies).post(working::create))
        .route("/api/studies/{study}/summary", get(reading::summary))
        .route("/api/studies/{study}/history", get(reading::history))
        .route("/api/studies/{study}/trials", get(reading::trials).post(working::enqueue))
        .route("/api/studies/{study}/trials.csv", get(reading::csv))
        .route("/api/studies/{study}/changes", get(reading::changes))
        .route("/api/studies/{study}/trial/{trial}", get(reading::trial))
        .route("/api/studies/{study}/front", get(reading::front))
        .route("/api/studies/{study}/constraints", get(reading::constraints))
        .route("/api/studies/{study}/volume", get(reading::volume))
        .route("/api/studies/{study}/band", get(reading::band))
        .route("/api/studies/{study}/curves", get(reading::curves))
        .route("/api/studies/{study}/certificate", get(reading::certificate))
        .route("/api/studies/{study}/timeline", get(reading::timeline))
        .route("/api/studies/{study}/parallel", get(reading::parallel))
        .route("/api/studies/{study}/scatters", get(reading::scatters))
        .route("/api/studies/{study}/slices", get(reading::slices))
        .route("/api/studies/{study}/batch", get(reading::batch))
        .route("/api/studies/{study}/landscape", get(reading::landscape))
        .route("/api/studies/{study}/importance", get(reading::importance))
        .route("/api/studies/{study}/advice", get(reading::advice))
        .route("/api/studies/{study}/events", get(events::events))
        .route("/api/studies/{study}/ask", post(working::ask))
        .route("/api/studies/{study}/tell", post(working::tell))
        .route("/api/studies/{study}/report", post(working::report))
        .route("/api/studies/{study}/heartbeat", post(working::heartbeat))
        .route("/api/studies/{study}/release", post(working::release))
        .route("/api/studies/{study}/budget", post(working::budget))
        .route("/api/studies/{study}/pause", post(working::pause))
        .route("/api/studies/{study}/note", post(working::note))
        .route("/api/store", post(working::store))
        .fallback(async || {
            Refusal::new(
                StatusCode::NOT_FOUND,
                "there is nothing at this address; see /api/openapi.json",
            )
        })
        .method_not_allowed_fallback(async || {
            Refusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this address takes another method; see /api/openapi.json",
            )
        })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(app), guard::guard))
        .with_state(Arc::clone(app))
}
