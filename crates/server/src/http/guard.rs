//! Who is let in: the name under which the server was called, where a request comes from, its token, and how often it comes.
//!
//! A page of a stranger that the same browser shows must not reach this server. Its requests carry its own `Origin`, or a
//! `Host` that is not ours (a name of the stranger's that leads here), and are refused. Cookies are `SameSite=Strict`, and what
//! changes anything must be JSON, which no form can send.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::App;
use super::access::Level;
use super::answer::Refusal;
use super::listen::Peer;
use crate::desk::lock;

/// Requests a second of one client, and how many it may save up. Workers with a token are not counted.
const RATE: f64 = 100.0;
const SAVED: f64 = 300.0;
/// Clients that are remembered.
const CLIENTS: usize = 10_000;
/// For a whole request, but not for event streams.
const PATIENCE: Duration = Duration::from_secs(60);

/// What everything that is sent says of itself: no scripts but ours, no frames, no guessing of types.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Looks at a request before anything else does.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_stream = request.uri().path().ends_with("/events");
    let mut response = match admit(&app, &request) {
        Ok(Admission::Enter(level)) => {
            let mut request = request;
            request.extensions_mut().insert(level);
            let answer = next.run(request);
            if is_stream {
                answer.await
            } else {
                match tokio::time::timeout(PATIENCE, answer).await {
                    Ok(answer) => answer,
                    Err(_) => {
                        Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")
                            .into_response()
                    }
                }
            }
        }
        Ok(Admission::Redirect(response)) => response,
        Err(refusal) => {
            app.metrics.refused(match refusal.status {
                StatusCode::UNAUTHORIZED => "token",
                StatusCode::TOO_MANY_REQUESTS => "rate",
                _ => "origin",
            });
            refusal.into_response()
        }
    };
    app.metrics.answered(response.status());
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

enum Admission {
    /// With this level.
    Enter(Level),
    /// To the same address without the token, which is now in a cookie.
    Redirect(Response),
}

fn admit(app: &App, request: &Request) -> Result<Admission, Refusal> {
    let (headers, uri, method) = (request.headers(), request.uri(), request.method());
    let forbidden = |message: String| Refusal::new(StatusCode::FORBIDDEN, message);
    let host = host(headers).ok_or_else(|| Refusal::bad("the request names no host"))?;
    if !is_ours(app, host) {
        return Err(forbidden(format!(
            "this server is not called {}; start it with --host to give it that name",
            host.escape_debug()
        )));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let same = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.split_once("://"))
            .is_some_and(|(_, from)| from == host);
        if !same {
            return Err(forbidden("requests of other sites are refused".to_owned()));
        }
    }
    let fetch =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if fetch("sec-fetch-site") == "cross-site"
        && !(fetch("sec-fetch-mode") == "navigate" && *method == Method::GET)
    {
        return Err(forbidden("requests of other sites are refused".to_owned()));
    }
    if *method != Method::GET && *method != Method::HEAD && !is_json(headers) {
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
    }

    let tokens = &app.options.tokens;
    let in_address = if *method == Method::GET { token_in(uri) } else { None };
    let level = in_address
        .or_else(|| bearer(headers))
        .or_else(|| cookie(headers, app.address.port()))
        .and_then(|token| tokens.level(token));
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    if level.is_none_or(|level| level < Level::Work)
        && peer.is_some_and(|client| !app.rates.allows(client, Instant::now()))
    {
        return Err(Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests; wait a second",
        ));
    }
    match (level, in_address) {
        (Some(_), Some(token)) => Ok(Admission::Redirect(remember(app, uri, token))),
        (Some(level), None) => Ok(Admission::Enter(level)),
        (None, None) if tokens.read.is_none() => Ok(Admission::Enter(Level::Read)),
        (None, _) => Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "a token is needed: open the link that `wimble serve` printed, or send `Authorization: Bearer TOKEN`",
        )),
    }
}

/// The host that was called, with its port.
fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST).and_then(|host| host.to_str().ok())
}

/// Whether a host is a name of this server. Where readers need a token, any name will do: cookies are bound to theirs.
fn is_ours(app: &App, host: &str) -> bool {
    if app.options.tokens.read.is_some() {
        return true;
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, Some(80)),
    };
    let local = ["localhost", "127.0.0.1", "[::1]"].contains(&name)
        || name == app.address.ip().to_string()
        || name == format!("[{}]", app.address.ip());
    (local && port == Some(app.address.port()))
        || app.options.hosts.iter().any(|known| known == name || known == host)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ").map(str::trim)
}

fn cookie(headers: &HeaderMap, port: u16) -> Option<&str> {
    let name = cookie_name(port);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .find_map(|pair| {
            pair.trim().split_once('=').filter(|(key, _)| *key == name).map(|(_, token)| token)
        })
}

/// Cookies do not know ports: two servers of one machine must not take each other's.
fn cookie_name(port: u16) -> String {
    format!("wimble_{port}")
}

fn token_in(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Keeps a token in a cookie, and takes it out of the address.
fn remember(app: &App, uri: &Uri, token: &str) -> Response {
    let rest: Vec<&str> = uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.starts_with("token=") && !pair.is_empty())
        .collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    // Two slashes at the beginning would lead to another host.
    let target = format!("/{}{query}", uri.path().trim_start_matches('/'));
    let secure = if app.options.tls.is_some() { "; Secure" } else { "" };
    let cookie = format!(
        "{}={token}; HttpOnly; SameSite=Strict; Path=/; Max-Age=31536000{secure}",
        cookie_name(app.address.port())
    );
    let mut response = StatusCode::SEE_OTHER.into_response();
    let parts = [
        (header::LOCATION, target),
        (header::SET_COOKIE, cookie),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    for (name, value) in parts {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// How often each client came of late.
#[derive(Default)]
pub(super) struct Rates(Mutex<HashMap<IpAddr, (f64, Instant)>>);

impl Rates {
    fn allows(&self, client: IpAddr, now: Instant) -> bool {
        let client = network(client);
        let mut clients = lock(&self.0);
        if clients.len() >= CLIENTS && !clients.contains_key(&client) {
            // Whoever was away long enough has saved up everything, and need not be remembered.
            clients.retain(|_, (_, last)| now.duration_since(*last).as_secs_f64() < SAVED / RATE);
            if clients.len() >= CLIENTS {
                return false;
            }
        }
        let (saved, last) = clients.entry(client).or_insert((SAVED, now));
        *saved = (*saved + now.duration_since(*last).as_secs_f64() * RATE).min(SAVED);
        *last = now;
        let allowed = *saved >= 1.0;
        if allowed {
            *saved -= 1.0;
        }
        allowed
    }
}

/// A client: in IPv6, all addresses that one is commonly given.
pub(super) fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_may_save_up_and_is_then_held_to_the_rate() {
        let (rates, start) = (Rates::default(), Instant::now());
        let client = IpAddr::from([10, 0, 0, 1]);
        let now = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let allowed = (0..1_000).filter(|_| rates.allows(client, now(0.0))).count();
        assert_eq!(allowed as f64, SAVED);
        let later = (0..1_000).filter(|_| rates.allows(client, now(1.0))).count();
        assert_eq!(later as f64, RATE);
        assert!(rates.allows(IpAddr::from([10, 0, 0, 2]), now(1.0)));
    }

    #[test]
    fn a_token_is_found_in_a_cookie_of_this_port_only() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a=b; wimble_1=x; wimble_22=y"));
        assert_eq!(cookie(&headers, 22), Some("y"));
        assert_eq!(cookie(&headers, 2), None);
        assert_eq!(token_in(&"/study/a?x=1&token=abc".parse().unwrap()), Some("abc"));
    }
}
