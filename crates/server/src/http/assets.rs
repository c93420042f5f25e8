//! The page: files that are part of the program.

use std::io::Read as _;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;

use super::answer::{Refusal, has, takes_gzip, unchanged};

/// A file of the page.
struct File {
    name: &'static str,
    kind: &'static str,
    tag: &'static str,
    /// Compressed by gzip.
    packed: &'static [u8],
}

mod table {
    use super::File;
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// The page itself, which looks at its address to know what to show.
pub(super) async fn page(headers: HeaderMap) -> Response {
    send(&headers, "index.html")
}

/// A file of the page.
pub(super) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    send(&headers, &name)
}

fn send(headers: &HeaderMap, name: &str) -> Response {
    let Some(file) = table::FILES.iter().find(|file| file.name == name) else {
        return Refusal::new(StatusCode::NOT_FOUND, "the page has no such file").into_response();
    };
    if has(headers, file.tag) {
        return unchanged(file.tag);
    }
    let mut response = if takes_gzip(headers) {
        ([(header::CONTENT_ENCODING, "gzip")], file.packed).into_response()
    } else {
        let mut plain = Vec::new();
        if GzDecoder::new(file.packed).read_to_end(&mut plain).is_err() {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        plain.into_response()
    };
    let parts = response.headers_mut();
    parts.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.kind));
    parts.insert(header::ETAG, HeaderValue::from_static(file.tag));
    parts.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    parts.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

#[cfg(test)]
mod tests {
    use super::table::FILES;

    #[test]
    fn the_page_is_light() {
        let weight: usize = FILES.iter().map(|file| file.packed.len()).sum();
        assert!(FILES.iter().any(|file| file.name == "index.html"));
        assert!(weight < 300_000, "{weight} bytes compressed");
    }
}
