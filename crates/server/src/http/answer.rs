//! Answers: JSON with a tag, compressed where the browser can read that; and refusals.

use std::io::Write as _;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use wimble_study::Error;

/// What is shorter is sent as it is.
const SHORT: usize = 1_000;

/// A request that is refused, and why.
#[derive(Debug)]
pub(super) struct Refusal {
    pub status: StatusCode,
    pub message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// Something in the request is wrong.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

/// The status that fits an error of a study.
pub(super) fn status(error: &Error) -> StatusCode {
    match error {
        Error::UnknownStudy { .. } | Error::UnknownTrial { .. } => StatusCode::NOT_FOUND,
        Error::LeaseLost { .. }
        | Error::AlreadyTold { .. }
        | Error::UnknownToken { .. }
        | Error::KeyReused { .. }
        | Error::Differs { .. }
        | Error::Paused { .. }
        | Error::Replaced { .. } => StatusCode::CONFLICT,
        Error::Busy { .. } | Error::Backend { .. } => StatusCode::SERVICE_UNAVAILABLE,
        Error::Corrupt { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::new(status(&error), error.to_string())
    }
}

/// What a request says wrongly, in a sentence.
impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::bad(message)
    }
}

impl From<wimble::Error> for Refusal {
    fn from(error: wimble::Error) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.message }).to_string();
        (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}

/// Whether a request says that it has the answer of this tag already.
pub(super) fn has(headers: &HeaderMap, tag: &str) -> bool {
    let given = headers.get(header::IF_NONE_MATCH).and_then(|given| given.to_str().ok());
    given
        .is_some_and(|given| given.split(',').any(|one| one.trim().trim_start_matches("W/") == tag))
}

/// That the answer did not change.
pub(super) fn unchanged(tag: &str) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    tagged(&mut response, Some(tag));
    response
}

/// JSON, compressed if the request allows it.
pub(super) fn json(headers: &HeaderMap, tag: Option<&str>, body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(body) => packed(headers, tag, "application/json", body),
        Err(error) => {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
        }
    }
}

/// A text of any kind, compressed if the request allows it.
pub(super) fn packed(
    headers: &HeaderMap,
    tag: Option<&str>,
    kind: &'static str,
    body: Vec<u8>,
) -> Response {
    let mut response = if body.len() > SHORT && takes_gzip(headers) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(4));
        // Writing to memory does not fail.
        let packed = encoder.write_all(&body).and_then(|()| encoder.finish()).unwrap_or_default();
        ([(header::CONTENT_ENCODING, "gzip")], packed).into_response()
    } else {
        body.into_response()
    };
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("accept-encoding, cookie, authorization"));
    tagged(&mut response, tag);
    response
}

fn tagged(response: &mut Response, tag: Option<&str>) {
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(tag).ok()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    // Kept by the browser, and asked for again every time.
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
}

/// Whether an answer may be compressed.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get(header::ACCEPT_ENCODING).and_then(|given| given.to_str().ok());
    given.is_some_and(|given| {
        given.split(',').any(|one| {
            let (name, weight) = one.split_once(';').unwrap_or((one, ""));
            matches!(name.trim(), "gzip" | "*") && !weight.replace(' ', "").eq("q=0")
        })
    })
}
