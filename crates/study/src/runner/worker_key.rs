//! The key of a worker: the same after a restart, and never used by two processes at the same time.
//!
//! A process takes the first free number of its machine for the study, by locking a file that the system unlocks when the
//! process ends, however it ends. Started again, it gets the number that it had, and with it the trials that it ran.

use std::fs::{self, File, TryLockError};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::fingerprint::fingerprint;

/// More processes of one study on one machine than this are a mistake.
const MOST: usize = 10_000;

/// A worker key, held until it is dropped.
#[derive(Debug)]
pub struct WorkerKey {
    key: String,
    _lock: Option<File>,
}

impl WorkerKey {
    /// The first free key of this machine for a study, by locks in the folder `locks`. `storage` tells apart studies
    /// of the same name.
    pub fn take(locks: &Path, storage: &str, study: &str) -> io::Result<Self> {
        fs::create_dir_all(locks)?;
        let place = place(storage, study);
        for number in 0..MOST {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(locks.join(format!("{place}-{number}.lock")))?;
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Self { key: format!("{}-{number}", machine()), _lock: Some(file) });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{MOST} processes of this machine work on the study already")))
    }

    /// A key that the user vouches for, or one for this process only.
    pub fn given(key: Option<String>) -> Self {
        Self { key: key.unwrap_or_else(|| format!("{}-{}", machine(), nonce())), _lock: None }
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.key
    }
}

/// A study of a storage in a word that is the same in every version of this program.
pub(super) fn place(storage: &str, study: &str) -> String {
    // No text has the byte in between.
    fingerprint(storage.bytes().chain([0xff]).chain(study.bytes()))
}

/// The machine, in a word: its name, and a few letters for machines of the same name.
fn machine() -> String {
    let node = rustix::system::uname();
    let name: String =
        node.nodename().to_string_lossy().chars().filter(|c| !c.is_control()).take(100).collect();
    let mut hasher = std::hash::DefaultHasher::new();
    fs::read("/etc/machine-id").unwrap_or_default().hash(&mut hasher);
    format!("{name}-{:04x}", hasher.finish() & 0xffff)
}

/// A word that no other process, and no earlier one, has.
pub(super) fn nonce() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", std::process::id(), now.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_once_and_free_again_when_it_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let take = |study| WorkerKey::take(folder.path(), "db", study).unwrap();
        let first = take("a");
        let name = first.as_str().to_owned();
        assert_ne!(take("a").as_str(), name);
        assert_eq!(take("b").as_str(), name, "another study has its own numbers");
        drop(first);
        assert_eq!(take("a").as_str(), name);
        assert_ne!(WorkerKey::given(None).as_str(), WorkerKey::given(None).as_str());
    }
}
