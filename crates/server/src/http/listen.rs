//! Accepting connections, with limits: how many, how large a head, how slow.
//!
//! A connection has ten seconds for the head of a request, and a write that gets nowhere for half a minute ends it, so that
//! clients that send or read a byte at a time hold a place for a short while only.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::App;
use crate::desk::lock;

/// Connections at most, of all clients and of one.
const CONNECTIONS: usize = 2_000;
const OF_ONE_CLIENT: usize = 600;
/// For the head of a request, and for a handshake.
const HEAD: Duration = Duration::from_secs(10);
/// The largest head, in bytes, and the most lines of it.
const LARGEST_HEAD: usize = 32 << 10;
const LINES: usize = 64;
/// A write that gets nowhere for this long ends the connection.
const STUCK: Duration = Duration::from_secs(30);

/// The peer of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub SocketAddr);

/// A certificate chain and its key, from PEM files.
pub(super) fn tls((chain, key): &(PathBuf, PathBuf)) -> io::Result<TlsAcceptor> {
    let bad = |path: &PathBuf, error: &dyn std::fmt::Display| {
        io::Error::other(format!("{}: {error}", path.display()))
    };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect)
        .map_err(|error| bad(chain, &error))?;
    if certificates.is_empty() {
        return Err(bad(chain, &"there is no certificate in it"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| bad(key, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Accepts connections until the server is told to stop.
pub(super) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    app: &Arc<App>,
) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let clients = Arc::new(Clients::default());
    let mut stop = pin!(app.until_stopped());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => return,
        };
        let Ok((stream, peer)) = accepted else {
            // Out of file descriptors, most likely: others must end first.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (Ok(place), Some(client)) = (
            Arc::clone(&places).try_acquire_owned(),
            clients.enter(super::guard::network(peer.ip())),
        ) else {
            app.metrics.refused("connections");
            continue;
        };
        let (tls, router, app) = (tls.clone(), router.clone(), Arc::clone(app));
        tokio::spawn(async move {
            let _held = (place, client);
            drop(stream.set_nodelay(true));
            let stream = Patient::new(stream);
            match tls {
                None => serve(stream, peer, router, &app, false).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(HEAD, tls.accept(stream)).await {
                        serve(stream, peer, router, &app, false).await;
                    }
                }
            }
        });
    }
}

/// Answers the requests of one connection. `half_close` answers a client that has said all it will ever say.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    peer: SocketAddr,
    router: Router,
    app: &App,
    half_close: bool,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut router = router.clone();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        async move { tower_call(&mut router, request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .half_close(half_close)
        .header_read_timeout(HEAD)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(LINES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Whatever ended it, the client knows or is gone.
        _ended = &mut connection => {}
        () = app.until_stopped() => {
            connection.as_mut().graceful_shutdown();
            drop(timeout(Duration::from_secs(1), connection).await);
        }
    }
}

/// The answer of a router, which never fails.
async fn tower_call(
    router: &mut Router,
    request: Request<Body>,
) -> Result<axum::response::Response, std::convert::Infallible> {
    use hyper_util::service::TowerToHyperService;
    hyper::service::Service::call(&TowerToHyperService::new(router.clone()), request).await
}

/// How many connections each client has.
#[derive(Default)]
struct Clients(Mutex<HashMap<IpAddr, usize>>);

/// A client's place, given back when dropped.
struct Place {
    clients: Arc<Clients>,
    client: IpAddr,
}

impl Clients {
    fn enter(self: &Arc<Self>, client: IpAddr) -> Option<Place> {
        let mut counts = lock(&self.0);
        let count = counts.entry(client).or_default();
        if *count >= OF_ONE_CLIENT {
            return None;
        }
        *count += 1;
        Some(Place { clients: Arc::clone(self), client })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = lock(&self.clients.0);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

/// A stream whose writes give up on a reader that takes nothing.
struct Patient<S> {
    stream: S,
    stuck: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<S> Patient<S> {
    fn new(stream: S) -> Self {
        Self { stream, stuck: Box::pin(sleep(STUCK)), waiting: false }
    }

    /// Ends a wait for the reader that took too long.
    fn wait<T>(
        &mut self,
        poll: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.waiting = false;
            return poll;
        }
        if !self.waiting {
            self.waiting = true;
            self.stuck.as_mut().reset(Instant::now() + STUCK);
        }
        ready!(self.stuck.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wait(poll, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        self.wait(poll, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(context);
        self.wait(poll, context)
    }
}
