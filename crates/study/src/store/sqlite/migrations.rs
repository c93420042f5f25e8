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
const STEPS: [&str; 9] = [
    "
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
",
    // Counts and scores are kept, so that they cost the same at any size. `score` is the value, minimised. The queue
    // has what users added first: `enqueued` comes before `proposed`.
    "
    ALTER TABLE studies ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN running INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN valued INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN infeasible INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE trials ADD COLUMN origin TEXT NOT NULL DEFAULT 'proposed'
        CHECK (origin IN ('enqueued', 'imported', 'proposed'));
    ALTER TABLE trials ADD COLUMN output TEXT;
    ALTER TABLE trials ADD COLUMN score REAL;
    ALTER TABLE asks ADD COLUMN review INTEGER NOT NULL DEFAULT 0;
    UPDATE studies SET
        queued = (SELECT count(*) FROM trials WHERE study = studies.id AND stage = 'queued'),
        running = (SELECT count(*) FROM trials WHERE study = studies.id AND stage = 'running'),
        valued = (SELECT count(*) FROM trials WHERE study = studies.id AND outcome = 'value'),
        failed = (SELECT count(*) FROM trials WHERE study = studies.id AND outcome = 'failed'),
        infeasible = (SELECT count(*) FROM trials WHERE study = studies.id AND outcome = 'infeasible');
    UPDATE trials SET
        score = CASE (SELECT direction FROM studies WHERE id = trials.study)
                WHEN 'minimise' THEN value ELSE 0.0 - value END,
        output = CASE outcome WHEN 'failed' THEN '' END;
    DROP INDEX trials_queue;
    CREATE INDEX trials_queue ON trials (study, origin, id) WHERE stage = 'queued';
    CREATE INDEX trials_best ON trials (study, score, sequence) WHERE score IS NOT NULL;
    CREATE INDEX asks_review ON asks (study, review);
    CREATE TABLE additions (
        study INTEGER NOT NULL REFERENCES studies (id),
        add_key TEXT NOT NULL,
        trial INTEGER NOT NULL,
        PRIMARY KEY (study, add_key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE deleted_studies (name TEXT PRIMARY KEY, fence INTEGER NOT NULL) STRICT, WITHOUT ROWID;
",
    // A JSON object, where there are any.
    "
    ALTER TABLE trials ADD COLUMN attributes TEXT;
",
    // Which version of the engine proposed which trials. Until now it was always the one that created the study.
    "
    CREATE TABLE engines (
        study INTEGER NOT NULL REFERENCES studies (id),
        first_trial INTEGER NOT NULL,
        version TEXT NOT NULL,
        PRIMARY KEY (study, first_trial)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO engines SELECT id, 0, engine FROM studies WHERE issued > 0;
",
    // A goal that is more than a direction, and measurements that are more than a number, as JSON. An interval of warm
    // starts that was stored as its default followed the batch size; now that is said by leaving it out.
    r#"
    ALTER TABLE studies ADD COLUMN goal TEXT;
    ALTER TABLE trials ADD COLUMN measurement TEXT;
    UPDATE studies SET method =
        replace(method, '"start":{"warm":{"every":10}}', '"start":{"warm":{}}');
"#,
    // Which process of a name holds a trial, and when another may take it. A random word by which the storage is known,
    // whatever its file is called.
    "
    ALTER TABLE trials ADD COLUMN incarnation TEXT;
    ALTER TABLE trials ADD COLUMN notice INTEGER;
    CREATE TABLE storage (identity TEXT NOT NULL) STRICT;
    INSERT INTO storage SELECT lower(hex(randomblob(16)));
",
    // Measurements of running trials, and how trials of a study are stopped early, as JSON. `steps` of a study is the sequence
    // number of its latest step.
    "
    ALTER TABLE studies ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN stopping TEXT;
    CREATE TABLE steps (
        study INTEGER NOT NULL REFERENCES studies (id),
        trial INTEGER NOT NULL,
        fidelity REAL NOT NULL,
        sequence INTEGER NOT NULL,
        at INTEGER NOT NULL,
        value REAL,
        measurement TEXT,
        PRIMARY KEY (study, trial, fidelity)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX steps_sequence ON steps (study, sequence);
",
    // Studies that begin no trial for now, and notes of people on trials.
    "
    ALTER TABLE studies ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE notes (
        study INTEGER NOT NULL REFERENCES studies (id),
        trial INTEGER NOT NULL,
        text TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (study, trial)
    ) STRICT, WITHOUT ROWID;
",
    // Trials that may be continued: up to where a trial is evaluated, and since when it is paused (its stage is then `queued`, which
    // the table allows). `after_step` is the number of the study's latest step when a trial finished; of those that did before, it is
    // that of their own last step.
    "
    ALTER TABLE trials ADD COLUMN until REAL;
    ALTER TABLE trials ADD COLUMN paused INTEGER;
    ALTER TABLE trials ADD COLUMN after_step INTEGER;
    UPDATE trials SET after_step =
        (SELECT max(sequence) FROM steps WHERE steps.study = trials.study AND steps.trial = trials.id)
        WHERE stage = 'finished';
    DROP INDEX trials_queue;
    CREATE INDEX trials_queue ON trials (study, origin, id) WHERE stage = 'queued' AND paused IS NULL;
    CREATE INDEX trials_paused ON trials (study, id) WHERE stage = 'queued' AND paused IS NOT NULL;
",
];

/// The last version known.
pub(super) const KNOWN: i64 = STEPS.len() as i64;

/// Brings the file to the latest version. Several processes may try at once.
pub(super) fn migrate(connection: &mut Connection, place: &str, now: Timestamp) -> Result<()> {
    let failed = failure(place, "bringing its schema up to date");
    let known = KNOWN;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    transaction
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS wimble_schema (
                version INTEGER PRIMARY KEY, applied INTEGER NOT NULL
            ) STRICT",
        )
        .map_err(&failed)?;
    let found = version(&transaction).map_err(&failed)?;
    if found > known {
        return Err(Error::LaterSchema { place: place.to_owned(), found, known });
    }
    apply(&transaction, found, known, now).map_err(&failed)?;
    transaction.commit().map_err(&failed)
}

/// Applies the steps after version `found`, up to version `to`.
fn apply(connection: &Connection, found: i64, to: i64, now: Timestamp) -> rusqlite::Result<()> {
    for (version, step) in (1..=to).zip(STEPS).filter(|&(version, _)| version > found) {
        connection.execute_batch(step)?;
        connection.execute("INSERT INTO wimble_schema VALUES (?1, ?2)", params![version, now.0])?;
    }
    Ok(())
}

/// The version of the file.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .query_row("SELECT coalesce(max(version), 0) FROM wimble_schema", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Reader as _;
    use crate::store::sqlite::Sqlite;
    use crate::{Counts, Origin, Outcome, SystemClock};

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
    fn a_file_of_the_first_version_is_counted_and_scored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("studies.db");
        let first = Connection::open(&path).unwrap();
        first
            .execute_batch(
                "CREATE TABLE wimble_schema (version INTEGER PRIMARY KEY, applied INTEGER NOT NULL) STRICT",
            )
            .unwrap();
        apply(&first, 0, 1, Timestamp(0)).unwrap();
        // As version 1 wrote it.
        let space =
            r#"{"repeats":false,"dimensions":[{"name":"x","type":"real","low":0.0,"high":1.0}]}"#;
        let method = r#"{"name":"random"}"#;
        let statement = "INSERT INTO studies (name, format, engine, space, direction, method, batch_size, seed, \
                         budget, retries, lease, created) \
                         VALUES ('old', 1, '0.1.0', ?1, 'maximise', ?2, 1, '0', 100, 3, 60000, 0)";
        first.execute(statement, params![space, method]).unwrap();
        first
            .execute_batch(
                "UPDATE studies SET issued = 4, sequence = 9, fence = 4;
                 INSERT INTO trials (study, id, configuration, stage, lost, sequence, proposed, worker, fence, since,
                     due, outcome, value, message, finished, tell_key) VALUES
                     (1, 0, '{\"x\":0.5}', 'finished', 0, 5, 0, 'w', 1, 0, 9, 'value', 2.0, NULL, 1, 't'),
                     (1, 1, '{\"x\":0.6}', 'finished', 0, 6, 0, 'w', 2, 0, 9, 'value', 3.0, NULL, 1, 't'),
                     (1, 2, '{\"x\":0.7}', 'finished', 0, 7, 0, 'w', 3, 0, 9, 'failed', NULL, 'why', 1, 't');
                 INSERT INTO trials (study, id, configuration, stage, lost, sequence, proposed)
                     VALUES (1, 3, '{\"x\":0.8}', 'queued', 0, 8, 0);",
            )
            .unwrap();
        drop(first);
        let store = Sqlite::open(&path, SystemClock).unwrap();
        let expected = Counts { queued: 1, valued: 2, failed: 1, ..Counts::default() };
        assert_eq!(store.counts("old").unwrap(), expected);
        let best: Vec<u64> = store.best("old", 9).unwrap().iter().map(|trial| trial.id).collect();
        assert_eq!(best, [1, 0]);
        assert_eq!(store.trial("old", 2).unwrap().outcome(), Some(&Outcome::Failed("why".into())));
        assert_eq!(store.trial("old", 3).unwrap().origin, Origin::Proposed);
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
