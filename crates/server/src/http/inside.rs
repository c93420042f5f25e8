//! The server without sockets: bytes in, bytes out, through the same parser, limits and router. For fuzzing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Runtime;
use wimble_study::Store;

use super::{App, Options, listen, routes, runtime};

/// Clients take turns, so that none comes too often.
const CLIENTS: u32 = 5_000;
/// An answer that takes longer is cut off: event streams never end.
const LONGEST: Duration = Duration::from_millis(300);

/// A server without sockets.
pub struct Inside {
    runtime: Runtime,
    router: Router,
    app: Arc<App>,
    turn: AtomicU32,
}

impl Inside {
    /// Over a store.
    pub fn new(store: Arc<dyn Store>, options: Options) -> io::Result<Self> {
        let address = options.address;
        let app = App::new(store, options, address)?;
        Ok(Self { runtime: runtime()?, router: routes::router(&app), app, turn: AtomicU32::new(0) })
    }

    /// What a connection answers that sends these bytes and no more.
    pub fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % CLIENTS;
        let peer = SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 | turn)), 40_000);
        self.runtime.block_on(async {
            let (mut client, stream) = tokio::io::duplex(1 << 16);
            let serving = listen::serve(stream, peer, self.router.clone(), &self.app, true);
            let mut answer = Vec::new();
            let asking = async {
                // A server that hangs up in the middle is an answer too.
                if client.write_all(bytes).await.is_ok() {
                    drop(client.shutdown().await);
                }
                drop(client.read_to_end(&mut answer).await);
            };
            let both = async { tokio::join!(serving, asking) };
            drop(tokio::time::timeout(LONGEST, both).await);
            answer
        })
    }
}
