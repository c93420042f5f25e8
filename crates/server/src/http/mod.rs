//! The server: what it offers, and to whom.
//!
//! It reads studies for anybody whom it lets in, lets workers work with a token of their own, and lets people change studies with
//! another. It never runs a command: a study that is made here has none, and no value that comes in becomes one.
//!
//! Stores block, so that every call of one runs on a thread of its own (`spawn_blocking`), of which there are a limited number.

mod access;
mod answer;
mod assets;
mod events;
mod guard;
mod inside;
mod listen;
mod metrics;
mod openapi;
mod reading;
mod request;
mod routes;
mod working;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, Semaphore};
use wimble_study::Store;

pub use self::access::{Level, Tokens};
use self::guard::Rates;
#[doc(hidden)]
pub use self::inside::Inside;
use self::metrics::Metrics;
use crate::desk::{Desk, INTERVAL};

/// Threads for calls of the store at most.
const BLOCKING: usize = 32;
/// Of these, for figures and tables at most: whoever looks at many long studies must not keep workers waiting.
const FIGURES: usize = 8;
/// Event streams at most.
const STREAMS: usize = 512;

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// Who may do what.
    pub tokens: Tokens,
    /// Further names under which the server is reached, beside those of this machine.
    pub hosts: Vec<String>,
    /// Files of a certificate chain and its private key, as PEM.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl Options {
    /// For readers on this machine.
    pub fn local(port: u16) -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            tokens: Tokens::default(),
            hosts: Vec::new(),
            tls: None,
        }
    }
}

/// A running server. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    app: Arc<App>,
    thread: Option<JoinHandle<()>>,
}

/// What all requests share.
struct App {
    pub desk: Desk,
    pub options: Options,
    pub address: SocketAddr,
    pub rates: Rates,
    pub metrics: Metrics,
    pub streams: Arc<Semaphore>,
    pub figures: Arc<Semaphore>,
    /// Different for every server, so that what a browser kept from the one before is not taken for this one's.
    pub boot: String,
    stop: Notify,
    stopped: AtomicBool,
}

impl Server {
    /// Begins to serve. Returns once it listens.
    pub fn start(store: Arc<dyn Store>, options: Options) -> io::Result<Self> {
        if !options.address.ip().is_loopback() && options.tokens.read.is_none() {
            return Err(io::Error::other(format!(
                "{} can be reached from other machines: that needs a token for readers",
                options.address
            )));
        }
        let tls = options.tls.as_ref().map(listen::tls).transpose()?;
        let listener = TcpListener::bind(options.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let app = App::new(store, options, address)?;
        let runtime = runtime()?;
        let served = Arc::clone(&app);
        let thread =
            std::thread::Builder::new().name("wimble-serve".to_owned()).spawn(move || {
                let router = routes::router(&served);
                runtime.block_on(async {
                    let looking = tokio::spawn(look(Arc::clone(&served)));
                    listen::accept(listener, tls, router, &served).await;
                    looking.abort();
                });
                // What still runs is let go: it has been waited for.
                runtime.shutdown_timeout(Duration::from_secs(2));
            })?;
        Ok(Self { address, app, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page, with the token that a browser needs for a level, if it needs one.
    pub fn link(&self, level: Level) -> String {
        let scheme = if self.app.options.tls.is_some() { "https" } else { "http" };
        let token = self.app.options.tokens.of(level);
        let token = token.map_or_else(String::new, |token| format!("?token={token}"));
        let host = match (self.app.options.hosts.first(), self.address) {
            (Some(host), address) => format!("{host}:{}", address.port()),
            (None, address) => address.to_string(),
        };
        format!("{scheme}://{host}/{token}")
    }

    /// Stops listening, ends what is open, and waits for it.
    pub fn stop(&mut self) {
        self.app.stopped.store(true, Ordering::SeqCst);
        self.app.stop.notify_waiters();
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so.
            drop(thread.join());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A few threads for connections, and some that may block.
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING)
        .thread_name("wimble-serve")
        .enable_all()
        .build()
}

impl App {
    /// What all requests of a server at this address share.
    fn new(store: Arc<dyn Store>, options: Options, address: SocketAddr) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            desk: Desk::new(store),
            options,
            address,
            rates: Rates::default(),
            metrics: Metrics::default(),
            streams: Arc::new(Semaphore::new(STREAMS)),
            figures: Arc::new(Semaphore::new(FIGURES)),
            boot: access::random(6)?,
            stop: Notify::new(),
            stopped: AtomicBool::new(false),
        }))
    }

    /// Resolves once the server is told to stop.
    pub async fn until_stopped(&self) {
        let told = self.stop.notified();
        if !self.stopped.load(Ordering::SeqCst) {
            told.await;
        }
    }
}

/// Looks at all studies on the desk, for ever.
async fn look(app: Arc<App>) {
    loop {
        let looked = Arc::clone(&app);
        let behind = tokio::task::spawn_blocking(move || looked.desk.look()).await.unwrap_or(false);
        if !behind {
            tokio::time::sleep(INTERVAL).await;
        }
    }
}
