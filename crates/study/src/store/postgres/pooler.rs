//! Whether a pooler such as PgBouncer stands between this process and the server.
//!
//! A pooler in transaction mode has another connection of the server ready for every transaction: prepared statements and
//! settings of a session are then those of somebody else, and ours reach others. Nothing says so when a connection is made. But
//! a server names its process to each client, for requests to cancel, and a pooler makes up a number of its own. So the
//! two are compared: the number that was announced, and `pg_backend_pid()`. The client keeps the former to itself, and
//! shows it only in a request to cancel. Here it writes one to an [`Ear`], which sends it nowhere.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Client;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

/// A request to cancel: its length, its code, the number of the process, a secret; four bytes each.
const REQUEST: usize = 16;

/// The number of the server's process that was announced to this client.
pub(super) async fn announced_process(client: &Client) -> Option<i32> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    client.cancel_token().cancel_query_raw(Ear(Arc::clone(&heard)), Plain).await.ok()?;
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    let request = heard.get(heard.len().checked_sub(REQUEST)?..)?;
    Some(i32::from_be_bytes(request[8..12].try_into().ok()?))
}

/// A stream that keeps what is written to it, and agrees to whatever it is asked.
struct Ear(Arc<Mutex<Vec<u8>>>);

impl AsyncRead for Ear {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() > 0 {
            // Yes to TLS.
            buffer.put_slice(b"S");
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Ear {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl TlsStream for Ear {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// TLS that changes nothing.
struct Plain;

impl TlsConnect<Ear> for Plain {
    type Stream = Ear;
    type Error = io::Error;
    type Future = Ready<io::Result<Ear>>;

    fn connect(self, ear: Ear) -> Self::Future {
        ready(Ok(ear))
    }
}
