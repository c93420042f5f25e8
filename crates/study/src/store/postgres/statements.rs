//! What is said to the server about the rows of a study, and the driver's side of
//! [`columns`](crate::store::columns).
//!
//! A study is known by its name, `$1`; `$2` is the time, where it is not the server's. Statements that write a trial or a
//! head take its cells as parameters, in the order of their columns.

use std::error::Error as StdError;
use std::sync::LazyLock;

use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::store::columns::{Cell, Cells, Columns as _, Read, head, record, step, trial};

/// Whatever the server's defaults are.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
pub(super) const ROLLBACK: &str = "ROLLBACK";
/// The commit gives up the lock without waiting for the disk; what is sent after it waits.
pub(super) const SOON: &str = "SET LOCAL synchronous_commit = off";
/// The lock of the study; what is sent after it sees all that was committed before the lock was had. The row itself is
/// locked too, but a crowd that waits for a row is woken twice for each turn. Studies whose names have the same hash
/// wait for each other, and nothing worse.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(1463897411, hashtext($1))";

/// The time: `$2`, or the server's.
const NOW: &str = "coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";
/// The number of the study.
const STUDY: &str = "(SELECT id FROM studies WHERE name = $1)";

/// The head, followed by the time.
pub(super) static HEAD: LazyLock<String> = LazyLock::new(|| {
    let names = head::Column::list();
    format!("SELECT {names}, {NOW} AS now FROM studies WHERE name = $1")
});
pub(super) static LOCKED_HEAD: LazyLock<String> = LazyLock::new(|| format!("{} FOR UPDATE", *HEAD));
pub(super) static SAVE_HEAD: LazyLock<String> = LazyLock::new(|| {
    let changes =
        head::Column::assignments(head::FIXED, |place| parameter(place - head::FIXED + 1));
    format!("UPDATE studies SET {changes} WHERE id = $1")
});

pub(super) static RECORD: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM studies WHERE name = $1", record::Column::list()));
pub(super) static ENGINES: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT version, first_trial FROM engines WHERE study = {STUDY} ORDER BY first_trial")
});
/// Adds a study unless there is one of its name. The time follows its cells. Its fencing numbers go on from a deleted
/// one's.
pub(super) static ADD: LazyLock<String> = LazyLock::new(|| {
    let columns = record::Column::NAMES.len();
    let (names, parameters) = (record::Column::list(), parameters(columns));
    let now = NOW.replace("$2", &parameter(columns));
    format!(
        "INSERT INTO studies ({names}, created, fence) VALUES ({parameters}, {now}, \
         coalesce((SELECT fence FROM deleted_studies WHERE name = $1), 0)) ON CONFLICT (name) DO NOTHING"
    )
});
pub(super) const NOTE_ENGINE: &str = "INSERT INTO engines (study, first_trial, version) \
     SELECT $1::bigint, $2::bigint, $3::text WHERE $3::text IS DISTINCT FROM \
     (SELECT version FROM engines WHERE study = $1 ORDER BY first_trial DESC LIMIT 1)";

pub(super) static DUE: LazyLock<String> = LazyLock::new(|| {
    trials(&format!("stage = 'running' AND due <= {NOW} ORDER BY due, id LIMIT $3"))
});
pub(super) static NUMBERED: LazyLock<String> = LazyLock::new(|| trials("id = ANY($2)"));
pub(super) static HELD: LazyLock<String> = LazyLock::new(|| {
    trials(
        "stage = 'running' AND worker = $2 AND incarnation IS NOT DISTINCT FROM $3 \
             ORDER BY id LIMIT $4",
    )
});
pub(super) static QUEUED: LazyLock<String> =
    LazyLock::new(|| trials("stage = 'queued' AND paused IS NULL ORDER BY origin, id LIMIT $2"));
pub(super) static CHANGES: LazyLock<String> =
    LazyLock::new(|| trials("sequence > $2 ORDER BY sequence LIMIT $3"));
pub(super) static BEST: LazyLock<String> =
    LazyLock::new(|| trials("score IS NOT NULL ORDER BY score, sequence LIMIT $2"));
/// Those of any stage, queued, running, paused and finished. The stages stand in the statements themselves: a partial index
/// serves no other.
pub(super) static FILTERED: LazyLock<[String; 5]> = LazyLock::new(|| {
    let stages = [
        "",
        "stage = 'queued' AND paused IS NULL AND ",
        "stage = 'running' AND ",
        "stage = 'queued' AND paused IS NOT NULL AND ",
        "stage = 'finished' AND ",
    ];
    stages.map(|stage| {
        trials(&format!(
            "{stage}id >= $2 AND ($3::text IS NULL OR outcome = $3) \
             AND ($4::text IS NULL OR worker = $4) ORDER BY id LIMIT $5"
        ))
    })
});
/// The number of the study follows the cells.
pub(super) static INSERT: LazyLock<String> = LazyLock::new(|| {
    let (names, parameters) = (trial::Column::list(), parameters(trial::Column::NAMES.len() + 1));
    format!("INSERT INTO trials ({names}, study) VALUES ({parameters})")
});
pub(super) static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let changes = trial::Column::assignments(1, parameter);
    let study = parameter(trial::Column::NAMES.len());
    format!("UPDATE trials SET {changes} WHERE study = {study} AND id = $1")
});

pub(super) static CURVE: LazyLock<String> =
    LazyLock::new(|| steps("trial = $2 AND fidelity >= $3 ORDER BY fidelity"));
pub(super) static STEPS: LazyLock<String> =
    LazyLock::new(|| steps("sequence > $2 ORDER BY sequence LIMIT $3"));
/// The steps of many trials, each from a fidelity on.
pub(super) static CURVES: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<String> = step::Column::NAMES.iter().map(|n| format!("steps.{n}")).collect();
    let names = names.join(", ");
    format!(
        "SELECT {names} FROM unnest($2::bigint[], $3::float8[]) AS wanted (trial, lowest) \
         JOIN steps ON steps.study = {STUDY} AND steps.trial = wanted.trial \
         AND steps.fidelity >= wanted.lowest ORDER BY steps.trial, steps.fidelity"
    )
});
pub(super) static INSERT_STEP: LazyLock<String> = LazyLock::new(|| {
    let (names, parameters) = (step::Column::list(), parameters(step::Column::NAMES.len() + 1));
    format!("INSERT INTO steps ({names}, study) VALUES ({parameters})")
});
pub(super) const DROP_STEPS: &str =
    "DELETE FROM steps WHERE study = $1 AND trial = $2 AND fidelity >= $3";

pub(super) static NOTES: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT trial, text, at FROM notes WHERE study = {STUDY} ORDER BY trial")
});
pub(super) const KEEP_NOTE: &str = "INSERT INTO notes (study, trial, text, at) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (study, trial) DO UPDATE SET text = excluded.text, at = excluded.at";
pub(super) const DROP_NOTE: &str = "DELETE FROM notes WHERE study = $1 AND trial = $2";

pub(super) static ANSWER: LazyLock<String> =
    LazyLock::new(|| format!("SELECT answer FROM asks WHERE study = {STUDY} AND ask_key = $2"));
pub(super) static STALE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT ask_key, answer FROM asks WHERE study = {STUDY} AND review <= {NOW} ORDER BY review LIMIT $3"
    )
});
pub(super) static ADDED: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT add_key, trial FROM additions WHERE study = {STUDY} AND add_key = ANY($2)")
});
/// Whether everything that a reader can have seen is on the disk.
pub(super) const CAUGHT_UP: &str =
    "SELECT pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn()";

/// The trials of the study for which `clauses` hold.
fn trials(clauses: &str) -> String {
    format!("SELECT {} FROM trials WHERE study = {STUDY} AND {clauses}", trial::Column::list())
}

/// The steps of the study for which `clauses` hold.
fn steps(clauses: &str) -> String {
    format!("SELECT {} FROM steps WHERE study = {STUDY} AND {clauses}", step::Column::list())
}

/// The parameter of a place, from 0.
fn parameter(place: usize) -> String {
    format!("${}", place + 1)
}

fn parameters(count: usize) -> String {
    (0..count).map(parameter).collect::<Vec<_>>().join(", ")
}

impl ToSql for Cell<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Real(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT, Type::UNKNOWN].contains(kind)
    }

    to_sql_checked!();
}

impl Cells for Row {
    fn integer(&self, place: usize) -> Read<Option<i64>> {
        Ok(self.try_get(place)?)
    }

    fn real(&self, place: usize) -> Read<Option<f64>> {
        Ok(self.try_get(place)?)
    }

    fn text(&self, place: usize) -> Read<Option<&str>> {
        Ok(self.try_get(place)?)
    }
}
