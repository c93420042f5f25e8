//! The write-ahead log of a file, and when it is on the disk.
//!
//! Threads of one process take turns to sync it. The system reports that it could not write something once, to whoever
//! syncs next: of two threads that sync at the same time, one would be told that all is well. A thread that waited
//! for its turn while another began to sync need not sync again.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

/// An open log.
pub(super) struct Log {
    file: File,
    turn: Mutex<()>,
    /// How many syncs began.
    begun: AtomicU64,
    /// Whether the disk once refused it. What became of it is then unknown, and nothing can be acknowledged.
    broke: AtomicBool,
}

impl Log {
    /// That of an open file. Its name is made durable too.
    pub fn of(connection: &Connection) -> io::Result<Self> {
        let path = connection.path().ok_or_else(|| io::Error::other("it has no path"))?;
        let log = PathBuf::from(format!("{path}-wal"));
        #[cfg(unix)]
        if let Some(folder) = log.parent() {
            File::open(folder)?.sync_all()?;
        }
        // Some systems sync only what is open for writing.
        Ok(Self::new(File::options().read(true).write(true).open(log)?))
    }

    pub fn new(file: File) -> Self {
        let (turn, begun, broke) = (Mutex::new(()), AtomicU64::new(0), AtomicBool::new(false));
        Self { file, turn, begun, broke }
    }

    /// Waits until everything that was written before this call is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        let before = self.begun.load(Ordering::SeqCst);
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_broken() {
            return Err(io::Error::other("the disk refused it before"));
        }
        if self.begun.load(Ordering::SeqCst) > before {
            return Ok(());
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.file.sync_data().inspect_err(|_| self.give_up())
    }

    pub fn is_broken(&self) -> bool {
        self.broke.load(Ordering::SeqCst)
    }

    /// As a failed sync leaves it.
    pub fn give_up(&self) {
        self.broke.store(true, Ordering::SeqCst);
    }
}
