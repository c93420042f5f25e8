//! The schema, as the steps that led to it.
//!
//! Each step runs once in a file, inside one transaction with its entry in `wimble_schema`. A step that was released
//! never changes; a new one is added at the end. A file with more steps than are known here is refused.

use rusqlite::{Connection, TransactionBehavior, params};

use super::failure;
use crate::clock::Timestamp;
use crate::error::{Error, Result};

/// What each version adds, from version 1.
///
/// Numbers that grow past 63 bits nowhere: identifiers, times in milliseconds, sequence and fencing numbers. The seed
/// has 64 and is text. The partial indices keep the cost of a call free of the number of finished trials.
const STEPS: [&str; 1] = ["
    CREATE TABLE studies (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        format INTEGER NOT NULL,
        engine TEXT NOT NULL,
        space TEXT NOT NULL,
        direction TEXT NOT NULL,
        method TEXT NOT NULL,
        batch_size INTEGER NOT NULL,
        seed TEXT NOT NULL,
        budget INTEGER NOT NULL,
        retries INTEGER NOT NULL,
        lease INTEGER NOT NULL,
        created INTEGER NOT NULL,
        issued INTEGER NOT NULL DEFAULT 0,
        sequence INTEGER NOT NULL DEFAULT 0,
        fence INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE trials (
        study INTEGER NOT NULL REFERENCES studies (id),
        id INTEGER NOT NULL,
        configuration TEXT NOT NULL,
        stage TEXT NOT NULL CHECK (stage IN ('queued', 'running', 'finished')),
        lost INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        proposed INTEGER NOT NULL,
        ended TEXT CHECK (ended IN ('ran-out', 'released')),
        worker TEXT,
        fence INTEGER,
        since INTEGER,
        due INTEGER,
        outcome TEXT CHECK (outcome IN ('value', 'failed', 'infeasible')),
        value REAL,
        message TEXT,
        finished INTEGER,
        tell_key TEXT,
        PRIMARY KEY (study, id)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX trials_sequence ON trials (study, sequence);
    CREATE INDEX trials_queue ON trials (study, id) WHERE stage = 'queued';
    CREATE INDEX trials_due ON trials (study, due, id) WHERE stage = 'running';
    CREATE INDEX trials_worker ON trials (study, worker, id) WHERE stage = 'running';
    CREATE TABLE asks (
        study INTEGER NOT NULL REFERENCES studies (id),
        ask_key TEXT NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (study, ask_key)
    ) STRICT, WITHOUT ROWID;
"];

/// Brings the file to the latest version. Several processes may try at once.
pub(super) fn migrate(connection: &mut Connection, place: &str, now: Timestamp) -> Result<()> {
    let failed = failure(place, "bringing its schema up to date");
    let known = STEPS.len() as i64;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    transaction
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS wimble_schema (
                version INTEGER PRIMARY KEY, applied INTEGER NOT NULL
            ) STRICT",
        )
        .map_err(&failed)?;
    let found: i64 = transaction
        .query_row("SELECT coalesce(max(version), 0) FROM wimble_schema", [], |row| row.get(0))
        .map_err(&failed)?;
    if found > known {
        return Err(Error::LaterSchema { place: place.to_owned(), found, known });
    }
    for (version, step) in (1..).zip(STEPS).filter(|&(version, _)| version > found) {
        transaction.execute_batch(step).map_err(&failed)?;
        transaction
            .execute("INSERT INTO wimble_schema VALUES (?1, ?2)", params![version, now.0])
            .map_err(&failed)?;
    }
    transaction.commit().map_err(&failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemClock;
    use crate::store::sqlite::Sqlite;

    #[test]
    fn a_file_is_brought_up_to_date_once_and_a_later_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("studies.db");
        for _ in 0..3 {
            Sqlite::open(&path, SystemClock).unwrap();
        }
        let connection = Connection::open(&path).unwrap();
        let count: i64 = connection
            .query_row("SELECT count(*) FROM wimble_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, STEPS.len() as i64);
        connection.execute("INSERT INTO wimble_schema VALUES (99, 0)", []).unwrap();
        let error = Sqlite::open(&path, SystemClock).err().unwrap();
        assert!(matches!(error, Error::LaterSchema { found: 99, .. }), "{error}");
    }

    #[test]
    fn what_is_no_database_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "not a database, but long enough to be taken for one ".repeat(100))
            .unwrap();
        let error = Sqlite::open(&path, SystemClock).err().unwrap().to_string();
        assert!(error.contains("notes.txt"), "{error}");
    }
}
