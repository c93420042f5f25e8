//! Studies in a file of SQLite, for any number of processes on one machine.
//!
//! Writers take turns: every call that writes is one short transaction that takes the file's one write lock at its
//! beginning, and waits for it. Readers see the last commit and wait for nobody (write-ahead log). A commit is on the
//! disk before the call returns (`synchronous = FULL`), which is most of its cost.
//!
//! The file must be on a disk of this machine: SQLite's locks do not hold on network file systems.
//!
//! Fails with [`Error::Busy`] when the lock was not to be had for a minute, though each holder needs it for
//! milliseconds.

#[cfg(test)]
mod cost;
mod migrations;
mod rows;

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use self::rows::Table;
use super::rules::Rules;
use super::{Ask, Filter, Proposal, Reply, Store};
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, Result};
use crate::settings::Record;
use crate::trial::{Change, Outcome, Token, Trial};

/// How long to wait for other processes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between attempts to get the lock, which is held for as long as the disk takes to sync: some milliseconds.
const PAUSE: Duration = Duration::from_millis(2);
/// How often SQLite tries by itself before we look at the time.
const ATTEMPTS: i32 = 1_000;

/// Studies in a file.
pub struct Sqlite {
    clock: Box<dyn Clock>,
    place: String,
    connection: Mutex<Connection>,
}

impl Sqlite {
    /// The file at `path`, which is made if there is none, on the machine's clock.
    pub fn at(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path, SystemClock)
    }

    /// The file at `path`, which is made if there is none, on another clock.
    pub fn open(path: impl AsRef<Path>, clock: impl Clock) -> Result<Self> {
        let path = path.as_ref();
        let place = path.display().to_string();
        // Several processes that make one file at once can be told that it is busy without being made to wait.
        let connection = patiently(&place, || {
            let failed = failure(&place, "opening it");
            let mut connection = Connection::open(path).map_err(&failed)?;
            connection.busy_handler(Some(wait)).map_err(&failed)?;
            let mode: String = connection
                .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
                .map_err(&failed)?;
            if mode != "wal" {
                let source = format!("its journal is `{mode}` and not a write-ahead log").into();
                return Err(Error::Backend { place: place.clone(), doing: "opening it", source });
            }
            connection
                .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
                .map_err(&failed)?;
            connection.set_prepared_statement_cache_capacity(32);
            migrations::migrate(&mut connection, &place, clock.now())?;
            Ok(connection)
        })?;
        Ok(Self { clock: Box::new(clock), place, connection: Mutex::new(connection) })
    }

    fn lock(&self) -> Result<MutexGuard<'_, Connection>> {
        self.connection.lock().map_err(|_| Error::Backend {
            place: self.place.clone(),
            doing: "taking the lock of its connection",
            source: "a thread that held it panicked".into(),
        })
    }

    fn read<T>(&self, study: &str, mut work: impl FnMut(&Table<'_>) -> Result<T>) -> Result<T> {
        let connection = self.lock()?;
        patiently(&self.place, || {
            let transaction =
                connection.unchecked_transaction().map_err(failure(&self.place, "reading"))?;
            work(&Table::find(&transaction, &self.place, study)?)
        })
    }

    /// One transaction, begun as a writer: nothing that it reads changes before it commits.
    fn transact<T>(&self, mut work: impl FnMut(&Connection) -> Result<T>) -> Result<T> {
        let failed = failure(&self.place, "writing");
        let mut connection = self.lock()?;
        patiently(&self.place, || {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(&failed)?;
            let result = work(&transaction);
            // A refusal keeps the leases that it ended; a failure is rolled back.
            if result.as_ref().err().is_none_or(Error::is_refusal) {
                transaction.commit().map_err(&failed)?;
            }
            result
        })
    }

    fn write<T>(
        &self,
        study: &str,
        mut work: impl FnMut(&mut Rules<'_, Table<'_>>) -> Result<T>,
    ) -> Result<T> {
        self.transact(|connection| {
            let mut table = Table::find(connection, &self.place, study)?;
            // The time is read under the lock, however long that took to get.
            work(&mut Rules::begin(study, &mut table, self.clock.now())?)
        })
    }
}

/// Waits for the lock. SQLite's own handler waits ever longer, up to a tenth of a second: under load, whoever has
/// waited long would hardly ever find it free.
fn wait(attempts: i32) -> bool {
    sleep(PAUSE);
    attempts < ATTEMPTS
}

/// Tries again while other processes are in the way.
fn patiently<T>(place: &str, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        match work() {
            Err(Error::Busy { .. }) if start.elapsed() < PATIENCE => sleep(PAUSE),
            Err(Error::Busy { .. }) => {
                return Err(Error::Busy { place: place.to_owned(), waited: start.elapsed() });
            }
            done => return done,
        }
    }
}

/// Our error for one of SQLite's.
fn failure(place: &str, doing: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy { place: place.to_owned(), waited: Duration::ZERO }
        }
        _ => Error::Backend { place: place.to_owned(), doing, source: Box::new(error) },
    }
}

impl Store for Sqlite {
    fn create(&self, record: &Record) -> Result<Record> {
        self.transact(|connection| {
            rows::add(connection, &self.place, record, self.clock.now())?;
            Table::find(connection, &self.place, &record.settings.name)?.record()
        })
    }

    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is one of tables of a single lifetime, the closure of any"
    )]
    fn study(&self, study: &str) -> Result<Record> {
        self.read(study, |table| table.record())
    }

    fn studies(&self) -> Result<Vec<String>> {
        let failed = failure(&self.place, "listing studies");
        let connection = self.lock()?;
        patiently(&self.place, || {
            let mut query =
                connection.prepare("SELECT name FROM studies ORDER BY name").map_err(&failed)?;
            let names = query.query_map([], |row| row.get(0)).map_err(&failed)?;
            names.map(|name| name.map_err(&failed)).collect()
        })
    }

    fn set_budget(&self, study: &str, budget: u64) -> Result<()> {
        self.write(study, |rules| rules.set_budget(budget))
    }

    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        self.write(study, |rules| rules.ask(ask, proposal))
    }

    fn heartbeat(&self, study: &str, token: Token) -> Result<()> {
        self.write(study, |rules| rules.heartbeat(token))
    }

    fn tell(&self, study: &str, token: Token, outcome: &Outcome, key: &str) -> Result<()> {
        self.write(study, |rules| rules.tell(token, outcome, key))
    }

    fn release(&self, study: &str, token: Token) -> Result<()> {
        self.write(study, |rules| rules.release(token))
    }

    fn expire_leases(&self, study: &str) -> Result<usize> {
        self.write(study, |rules| Ok(rules.ended()))
    }

    fn changes_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        let changes = self.read(study, |table| table.changes_since(sequence, limit))?;
        Ok(changes.into_iter().map(|trial| Change { trial }).collect())
    }

    fn trials(&self, study: &str, filter: &Filter) -> Result<Vec<Trial>> {
        self.read(study, |table| table.filtered(filter))
    }
}
