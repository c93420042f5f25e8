//! Studies in a file of SQLite, for any number of processes on one machine.
//!
//! Writers take turns: every call that writes is one short transaction that takes the file's one write lock at its
//! beginning, and waits for it. Readers see the last commit and wait for nobody (write-ahead log).
//!
//! # Durability
//! A commit is on the disk before the call returns, as with `synchronous = FULL`. But SQLite then waits for the disk
//! while it holds the lock, and all workers wait in one line. Here a commit writes the log without waiting
//! (`synchronous = NORMAL`), gives up the lock, and the call waits for the log to reach the disk before it
//! acknowledges: workers wait together, and the file system serves them together. The log is read up to its first
//! gap, so that what is on the disk is always a beginning of what was committed, and whatever an acknowledged call
//! saw is there if the call is. Loss of power ends every reader with it: none remembers what the disk does not.
//!
//! The file must be on a disk of this machine: SQLite's locks do not hold on network file systems, and a file on one is refused.
//!
//! Fails with [`Error::Busy`] if other processes hold the lock for a whole minute; each needs it for milliseconds.

mod contents;
#[cfg(test)]
mod cost;
mod log;
mod migrations;
mod place;
mod rows;

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use self::contents::Contents;
use self::log::Log;
use self::rows::Table;
use super::calls::{read_from_a_table, written_by_the_rules};
use super::columns::head;
use super::rows::Reads;
use super::rules::Rules;
use super::{Ask, Proposal, Reader, Refused, Reply, Store};
use crate::clock::{Clock, SystemClock};
use crate::counts::Counts;
use crate::diagnosis::Condition;
use crate::error::{Error, Result};
use crate::settings::Record;
use crate::step::Step;
use crate::trial::{Token, Trial};

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
    /// `None` if it was opened to read.
    log: Option<Log>,
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
        place::check(path, &place)?;
        let connection = patiently(&place, || {
            let failed = place::unopened(path, &place);
            contents::of(path, &place)?;
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
                .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON")
                .map_err(&failed)?;
            connection.set_prepared_statement_cache_capacity(64);
            migrations::migrate(&mut connection, &place, clock.now())?;
            Ok(connection)
        })?;
        // The log stays where it is as long as this connection is open.
        let log = Log::of(&connection).map_err(|source| Error::Backend {
            place: place.clone(),
            doing: "opening its write-ahead log",
            source: Box::new(source),
        })?;
        Ok(Self {
            clock: Box::new(clock),
            place,
            connection: Mutex::new(connection),
            log: Some(log),
        })
    }

    /// The file at `path`, which must exist, to read and not to write. A file of an earlier version is brought up to date
    /// first, which needs the right to write.
    pub fn to_read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let place = path.display().to_string();
        place::check_reading(path, &place)?;
        match patiently(&place, || contents::of(path, &place))? {
            Contents::Nothing => {
                let what = "empty: it has no studies yet".to_owned();
                return Err(Error::NotAStorage { place, what });
            }
            Contents::Studies(version) if version < migrations::KNOWN => return Self::at(path),
            Contents::Studies(found) if found > migrations::KNOWN => {
                return Err(Error::LaterSchema { place, found, known: migrations::KNOWN });
            }
            Contents::Studies(_) => {}
        }
        let connection = patiently(&place, || contents::open(path, &place))?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            clock: Box::new(SystemClock),
            place,
            connection: Mutex::new(connection),
            log: None,
        })
    }

    /// Waits until everything that was committed is on the disk.
    fn sync(&self) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        log.sync().map_err(|error| Error::Backend {
            place: self.place.clone(),
            doing: "writing its log to the disk",
            source: Box::new(error),
        })
    }

    /// The connection, unless the disk once refused the log: after that the system forgets what it could not write, and
    /// says that all is well. No call may then pass for a sign that the storage is there again.
    fn lock(&self) -> Result<MutexGuard<'_, Connection>> {
        if self.log.as_ref().is_some_and(Log::is_broken) {
            return Err(Error::Backend {
                place: self.place.clone(),
                doing: "writing its log to the disk",
                source: "the disk refused it before; fix the disk, then open the store again"
                    .into(),
            });
        }
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
            work(&Table::find(&transaction, &self.place, study, self.clock.now())?)
        })
    }

    /// One transaction, begun as a writer: nothing that it reads changes before it commits.
    fn commit<T>(&self, mut work: impl FnMut(&Connection) -> Result<T>) -> Result<T> {
        let failed = failure(&self.place, "writing");
        let mut connection = self.lock()?;
        patiently(&self.place, || {
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(&failed)?;
            let result = work(&transaction);
            // What is not committed is rolled back.
            if result.is_ok() {
                transaction.commit().map_err(&failed)?;
            }
            result
        })
    }

    /// A call of the rules, acknowledged once it is on the disk. What it acknowledges may have been written by an
    /// earlier call, so that it waits for the disk also when it changed nothing.
    fn write<T>(
        &self,
        study: &str,
        work: impl FnMut(&mut Rules<'_, Table<'_>>) -> Result<T>,
    ) -> Result<T> {
        let done = self.write_soon(study, work)?;
        self.sync()?;
        Ok(done)
    }

    /// A call of the rules that a loss of power may undo.
    fn write_soon<T>(
        &self,
        study: &str,
        mut work: impl FnMut(&mut Rules<'_, Table<'_>>) -> Result<T>,
    ) -> Result<T> {
        self.commit(|connection| {
            // The time is read under the lock, however long that took to get.
            let mut table = Table::find(connection, &self.place, study, self.clock.now())?;
            work(&mut Rules::begin(study, &mut table, Reads::Nothing)?)
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
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::Backend { place: place.to_owned(), doing, source: place::DAMAGED.into() }
        }
        _ => Error::Backend { place: place.to_owned(), doing, source: Box::new(error) },
    }
}

/// Trials whose value and score, by which the best are found, do not fit: see [`head::RESCORE`].
const TWO_VALUES: &str = "\
    SELECT studies.name, trials.id FROM trials JOIN studies ON studies.id = trials.study \
    WHERE score IS NOT CASE WHEN measurement LIKE '%\"fidelity\":%' THEN NULL ELSE \
    CASE direction WHEN 'minimise' THEN value ELSE 0.0 - value END END LIMIT 20";

#[allow(clippy::redundant_closure_for_method_calls, reason = "`Table::record` is of one lifetime")]
impl Reader for Sqlite {
    fn identity(&self) -> Result<String> {
        let failed = failure(&self.place, "reading its identity");
        let connection = self.lock()?;
        patiently(&self.place, || {
            connection
                .query_row("SELECT identity FROM storage", [], |row| row.get(0))
                .map_err(&failed)
        })
    }

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

    read_from_a_table!();

    fn trial(&self, study: &str, trial: u64) -> Result<Trial> {
        self.read(study, |table| {
            let issued = table.head().issued;
            let unknown = || Error::UnknownTrial { study: study.to_owned(), trial, issued };
            table.numbered(trial)?.ok_or_else(unknown)
        })
    }

    fn steps(&self, study: &str, trial: u64) -> Result<Vec<Step>> {
        self.trial(study, trial)?;
        self.read(study, |table| table.steps_from(trial, 0.0))
    }

    fn counts(&self, study: &str) -> Result<Counts> {
        self.read(study, |table| Ok(table.head().counts))
    }

    fn sequence(&self, study: &str) -> Result<u64> {
        self.read(study, |table| Ok(table.head().sequence))
    }

    fn faults(&self) -> Result<Vec<String>> {
        let failed = failure(&self.place, "examining it");
        let connection = self.lock()?;
        patiently(&self.place, || {
            let mut check = connection.prepare("PRAGMA integrity_check(20)").map_err(&failed)?;
            let found: Vec<String> = check
                .query_map([], |row| row.get(0))
                .and_then(Iterator::collect)
                .map_err(&failed)?;
            let mut found: Vec<String> = found.into_iter().filter(|line| line != "ok").collect();
            let mut values = connection.prepare(TWO_VALUES).map_err(&failed)?;
            let told = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
                let (study, trial): (String, i64) = (row.get(0)?, row.get(1)?);
                Ok(format!(
                    "trial {trial} of `{study}` has two values, which must be one: in its row, and in the index of the best; \
                     `wimble doctor --repair` takes the one in its row"
                ))
            };
            let differ: Vec<String> =
                values.query_map([], told).and_then(Iterator::collect).map_err(&failed)?;
            found.extend(differ);
            Ok(found)
        })
    }

    fn condition(&self) -> Result<Condition> {
        let failed = failure(&self.place, "examining it");
        let connection = self.lock()?;
        patiently(&self.place, || {
            let journal: String = connection
                .query_row("PRAGMA journal_mode", [], |row| row.get(0))
                .map_err(&failed)?;
            Ok(Condition {
                place: self.place.clone(),
                software: format!("SQLite {}", rusqlite::version()),
                durability: format!("journal `{journal}`, on the disk before a call returns"),
                schema: migrations::version(&connection).map_err(&failed)?,
                now: self.clock.now(),
            })
        })
    }
}

impl Store for Sqlite {
    fn recount(&self, study: &str) -> Result<()> {
        let failed = failure(&self.place, "counting anew");
        self.commit(|connection| {
            connection.execute_batch("REINDEX").map_err(&failed)?;
            for statement in [head::RESCORE, head::RECOUNT] {
                connection.execute(statement, [study]).map_err(&failed)?;
            }
            Ok(())
        })?;
        self.sync()
    }

    fn create(&self, record: &Record) -> Result<Record> {
        let name = &record.settings.name;
        self.commit(|connection| {
            let now = self.clock.now();
            match Table::find(connection, &self.place, name, now) {
                Err(Error::UnknownStudy { .. }) => {
                    rows::add(connection, &self.place, record, now)?;
                    rows::continue_fence(connection, &self.place, name)
                }
                found => found.map(|_| ()),
            }
        })?;
        self.sync()?;
        self.study(name)
    }

    fn delete(&self, study: &str) -> Result<()> {
        self.commit(|connection| {
            Table::find(connection, &self.place, study, self.clock.now())?.delete()
        })?;
        self.sync()
    }

    written_by_the_rules!();

    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        let reply = self.write_soon(study, |rules| rules.ask(ask, proposal))?;
        // A request for a proposal acknowledges nothing.
        if let Reply::Claims(_) = reply {
            self.sync()?;
        }
        Ok(reply)
    }

    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>> {
        self.write_soon(study, |rules| rules.heartbeats(tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;
    use crate::runner::{End, Evaluator, KeptResults, Runner, Stop, WorkerKey};
    use crate::study_file::{Format, StudyFile};
    use std::fs::File;
    use std::sync::Arc;

    /// A store whose disk refuses the log from now on: the system syncs no such file.
    fn refused(path: &Path) -> Sqlite {
        let log = Some(Log::new(File::open("/dev/null").unwrap()));
        Sqlite { log, ..Sqlite::at(path).unwrap() }
    }

    #[test]
    fn a_disk_that_refused_the_log_once_ends_a_run_by_its_patience_and_results_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("studies.db");
        let text = "name = \"s\"\nmethod = \"sobol\"\ntrials = 9\nworkers = 2\nlease = \"200ms\"\n\
                    command = [\"sh\", \"-c\", \"sleep 0.3; echo 1\"]\n\
                    [space]\nx = { type = \"real\", low = 0, high = 1 }\n";
        let file = StudyFile::parse("s.toml", text, Format::Toml).unwrap();
        let sound: Arc<dyn Store> = Arc::new(Sqlite::at(&path).unwrap());
        let study = Study::open_or_create(Arc::clone(&sound), file.settings(None)).unwrap();
        let identity = sound.identity().unwrap();
        let state = folder.path().join("state");
        let runner = |stop: Stop| Runner {
            evaluator: Evaluator {
                storage: identity.clone(),
                study: "s".to_owned(),
                goal: file.goal.clone(),
                evaluation: file.evaluation.clone().unwrap(),
                home: ".".into(),
            },
            worker: WorkerKey::take(&state, &identity, "s", None).unwrap(),
            workers: 2,
            time: None,
            spend: None,
            stop_when: None,
            patience: Duration::from_secs(2),
            kept: Some(KeptResults::new(&state, &identity, "s")),
            stop,
        };
        let store = Arc::new(Sqlite::at(&path).unwrap());
        let broken = Study::open(Arc::clone(&store) as Arc<dyn Store>, "s").unwrap();
        let summary = std::thread::scope(|scope| {
            scope.spawn(|| {
                while study.counts().unwrap().running < 2 {
                    sleep(Duration::from_millis(5));
                }
                // As a failed sync leaves it.
                store.log.as_ref().unwrap().give_up();
            });
            runner(Stop::default()).run(&broken, &|_| {}).unwrap()
        });
        assert!(matches!(summary.end, End::StorageGone(_)), "{summary:?}");
        assert_eq!((summary.told, summary.kept), (0, 2));
        let summary = runner(Stop::default()).run(&study, &|_| {}).unwrap();
        assert_eq!(summary.end, End::BudgetSpent);
        assert_eq!((summary.told, study.counts().unwrap().valued), (9, 9));
    }

    #[test]
    fn after_a_failed_sync_no_call_passes_for_a_sign_of_life() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("studies.db");
        let space = wimble::space::SearchSpace::new([wimble::space::Dimension::boolean("x")]);
        let settings = crate::Settings::new("s", space.unwrap(), "random".parse().unwrap());
        let sound = Study::open_or_create(Arc::new(Sqlite::at(&path).unwrap()), settings.budget(2))
            .unwrap();
        let claims = sound.ask("w", "k", 2).unwrap();
        let store = refused(&path);
        // The first call that waits for the disk learns of it.
        assert_eq!(store.counts("s").unwrap().running, 2);
        let outcome = wimble::outcome::Outcome::from(1.0);
        let error = store.tell("s", claims[0].token, &outcome, "t").unwrap_err().to_string();
        assert!(error.contains("writing its log to the disk failed"), "{error}");
        assert!(store.heartbeats("s", &[claims[1].token]).is_err());
        assert!(store.counts("s").is_err() && store.trial("s", 0).is_err());
        sound.tell(claims[0].token, &outcome, "t").unwrap();
    }
}
