//! The PostgreSQL that tests run on: `./test` starts one, and names it in [`ADDRESS`]. A test that stops or changes its
//! server starts a [`Server`] of its own.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// The variable with the server's address.
pub const ADDRESS: &str = "WIMBLE_TEST_POSTGRES";

/// The variable with the address of a pooler in front of it.
pub const POOLER: &str = "WIMBLE_TEST_POOLER";

/// The address of a schema that no other test has; without a server `None`, and a line that says what is skipped.
pub fn schema(skipped: &str) -> Option<String> {
    schema_at(ADDRESS, skipped)
}

/// The same, through the pooler.
pub fn pooled_schema(skipped: &str) -> Option<String> {
    schema_at(POOLER, skipped)
}

fn schema_at(variable: &str, skipped: &str) -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let Ok(server) = std::env::var(variable) else {
        eprintln!("skipped: {skipped} on PostgreSQL, for {variable} names none; ./test starts one");
        return None;
    };
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let joint = if server.contains('?') { '&' } else { '?' };
    Some(format!("{server}{joint}schema=t_{process}_{number}"))
}

/// A server of one test.
pub struct Server {
    folder: tempfile::TempDir,
    pub address: String,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With these variables in its environment.
    pub fn start_with(environment: &[(&str, &Path)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = script("start", folder.path(), &[], environment);
        Self { folder, address }
    }

    /// Ends it as a loss of power would, and starts it again.
    pub fn crash(&self) {
        assert_eq!(self.script("restart", &[]), self.address);
    }

    /// Stops it as an operator would.
    pub fn halt(&self) {
        self.script("halt", &[]);
    }

    /// Starts it again.
    pub fn resume(&self) {
        assert_eq!(self.script("resume", &[]), self.address);
    }

    /// Has it answer at a port of localhost; with a certificate and its key, by TLS and in no other way.
    pub fn listen(&self, port: u16, tls: Option<[&Path; 2]>) {
        let port = port.to_string();
        let files = tls.iter().flatten().map(|path| path.to_str().unwrap());
        self.script("tcp", &std::iter::once(port.as_str()).chain(files).collect::<Vec<_>>());
    }

    /// Has it answer at a port of localhost to those who know the password.
    pub fn require_password(&self, port: u16, password: &str) {
        self.script("password", &[&port.to_string(), password]);
    }

    /// A network between it and a port of localhost.
    pub fn behind_network(&self) -> Network {
        let (_, rest) = self.address.split_once('@').unwrap();
        let (host, _) = rest.split_once('/').unwrap();
        Network::new(Path::new(&host.replace("%2F", "/")).join(".s.PGSQL.5432"))
    }

    fn script(&self, action: &str, more: &[&str]) -> String {
        script(action, self.folder.path(), more, &[])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.script("stop", &[]);
    }
}

/// A network that can be told to swallow everything: connections stay open, packets are acknowledged, and nobody answers.
pub struct Network {
    pub port: u16,
    swallows: Arc<AtomicBool>,
}

impl Network {
    fn new(socket: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let swallows = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&swallows);
        spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = UnixStream::connect(&socket) else { continue };
                let (from, to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
                let (there, back) = (Arc::clone(&flag), Arc::clone(&flag));
                spawn(move || pump(from, to, &there));
                spawn(move || pump(far, near, &back));
            }
        });
        Self { port, swallows }
    }

    /// An address of the server at the other end, with timeouts of a second or two.
    pub fn address(&self) -> String {
        let port = self.port;
        format!(
            "postgresql://wimble@127.0.0.1:{port}/postgres?sslmode=disable&connect_timeout=1&tcp_user_timeout=2"
        )
    }

    /// Lets nothing through from now on, or what was held back and all that follows.
    pub fn swallow(&self, swallows: bool) {
        self.swallows.store(swallows, Ordering::SeqCst);
    }
}

/// What a network carries.
trait Carried: Read + Write {
    fn end(&self);
}

impl Carried for TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Carried for UnixStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

fn pump(mut from: impl Carried, mut to: impl Carried, swallows: &AtomicBool) {
    let mut packet = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut packet) {
        while swallows.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(10));
        }
        if to.write_all(&packet[..length]).is_err() {
            break;
        }
    }
    from.end();
    to.end();
}

/// What the script that runs servers prints.
fn script(action: &str, folder: &Path, more: &[&str], environment: &[(&str, &Path)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/postgres");
    let mut command = Command::new(path);
    command.arg(action).arg(folder.join("server")).args(more).envs(environment.iter().copied());
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
