//! The PostgreSQL that tests run on: `./test` starts one, and names it in [`ADDRESS`]. A test that stops or changes its
//! server starts a [`Server`] of its own.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the server's address.
pub const ADDRESS: &str = "WIMBLE_TEST_POSTGRES";

/// The address of a schema that no other test has; without a server `None`, and a line that says what is skipped.
pub fn schema(skipped: &str) -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let Ok(server) = std::env::var(ADDRESS) else {
        eprintln!("skipped: {skipped} on PostgreSQL, for {ADDRESS} names none; ./test starts one");
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
        let folder = tempfile::tempdir().unwrap();
        let address = script("start", folder.path(), &[]);
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

    fn script(&self, action: &str, more: &[&str]) -> String {
        script(action, self.folder.path(), more)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.script("stop", &[]);
    }
}

/// What the script that runs servers prints.
fn script(action: &str, folder: &Path, more: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/postgres");
    let mut command = Command::new(path);
    let done = command.arg(action).arg(folder.join("server")).args(more).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}
