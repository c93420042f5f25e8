//! The rows of a study in SQLite: statements, and the driver's side of [`columns`](crate::store::columns). Parameters are
//! bound, never written into a statement.
//!
//! Queries name their index: left to itself, SQLite looks for the queued trials among all trials, which the primary
//! key has in the right order.

use std::sync::LazyLock;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, ToSql, params, params_from_iter};

use super::failure;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::settings::Record;
use crate::step::Step;
use crate::store::columns::head::{self, Entry};
use crate::store::columns::{Cell, Cells, Columns as _, Read, bounded, record, step, trial};
use crate::store::rows::{Answer, Head, Holder, LOOKED_AT, Reads, Rows};
use crate::store::{Filter, OutcomeKind, Stage};
use crate::trial::Trial;

/// The parameter of a column: its place, from 1.
fn parameter(place: usize) -> String {
    format!("?{}", place + 1)
}

static FIND: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM studies WHERE name = ?1", head::Column::list()));
static SAVE: LazyLock<String> = LazyLock::new(|| {
    let changes = head::Column::assignments(head::FIXED, parameter);
    format!("UPDATE studies SET {changes} WHERE id = ?1")
});
static RECORD: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM studies WHERE id = ?1", record::Column::list()));
static TRIALS: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM trials", trial::Column::list()));
/// The number of a study follows the cells of its trial.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let columns = trial::Column::NAMES.len();
    let parameters: Vec<String> = (0..=columns).map(parameter).collect();
    let (names, parameters) = (trial::Column::list(), parameters.join(", "));
    format!("INSERT INTO trials ({names}, study) VALUES ({parameters})")
});
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let (changes, study) =
        (trial::Column::assignments(1, parameter), parameter(trial::Column::NAMES.len()));
    format!("UPDATE trials SET {changes} WHERE study = {study} AND id = ?1")
});

static STEPS: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM steps", step::Column::list()));
/// The number of a study follows the cells of its step.
static INSERT_STEP: LazyLock<String> = LazyLock::new(|| {
    let parameters: Vec<String> = (0..=step::Column::NAMES.len()).map(parameter).collect();
    let (names, parameters) = (step::Column::list(), parameters.join(", "));
    format!("INSERT INTO steps ({names}, study) VALUES ({parameters})")
});

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl Cells for Row<'_> {
    fn integer(&self, place: usize) -> Read<Option<i64>> {
        Ok(self.get_ref(place)?.as_i64_or_null()?)
    }

    fn real(&self, place: usize) -> Read<Option<f64>> {
        Ok(self.get_ref(place)?.as_f64_or_null()?)
    }

    fn text(&self, place: usize) -> Read<Option<&str>> {
        Ok(self.get_ref(place)?.as_str_or_null()?)
    }
}

/// The rows of one study.
pub(super) struct Table<'c> {
    connection: &'c Connection,
    place: &'c str,
    study: &'c str,
    entry: Entry,
    now: Timestamp,
}

impl<'c> Table<'c> {
    /// The study of this name, as it is at `now`.
    pub fn find(
        connection: &'c Connection,
        place: &'c str,
        study: &'c str,
        now: Timestamp,
    ) -> Result<Self> {
        let entry = connection
            .prepare_cached(&FIND)
            .and_then(|mut query| {
                query.query_row([study], |row| Ok(head::read(study, row))).optional()
            })
            .map_err(failure(place, "looking for a study"))?
            .ok_or_else(|| Error::UnknownStudy { study: study.to_owned() })??;
        Ok(Self { connection, place, study, entry, now })
    }

    pub fn head(&self) -> &Head {
        &self.entry.head
    }

    pub fn record(&self) -> Result<Record> {
        let failed = failure(self.place, "reading a study");
        let mut engines = self
            .connection
            .prepare_cached(
                "SELECT version, first_trial FROM engines WHERE study = ?1 ORDER BY first_trial",
            )
            .map_err(&failed)?;
        let engines: Vec<Result<_>> = engines
            .query_map([self.entry.id], |row| Ok(record::engine(self.study, row)))
            .and_then(Iterator::collect)
            .map_err(&failed)?;
        let engines = engines.into_iter().collect::<Result<Vec<_>>>()?;
        self.connection
            .prepare_cached(&RECORD)
            .and_then(|mut query| {
                query.query_row([self.entry.id], |row| Ok(record::read(self.study, row, engines)))
            })
            .map_err(failed)?
    }

    fn select(&self, clauses: &str, parameters: impl Params) -> Result<Vec<Trial>> {
        let failed = failure(self.place, "reading trials");
        let mut query =
            self.connection.prepare_cached(&format!("{} {clauses}", *TRIALS)).map_err(&failed)?;
        let rows =
            query.query_map(parameters, |row| Ok(trial::read(self.study, row))).map_err(&failed)?;
        rows.map(|row| row.map_err(&failed)?).collect()
    }

    pub fn numbered(&self, id: u64) -> Result<Option<Trial>> {
        let clauses = "WHERE study = ?1 AND id = ?2";
        Ok(self.select(clauses, params![self.entry.id, bounded(id)])?.pop())
    }

    pub fn changes_since(&self, sequence: u64, limit: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_sequence \
                       WHERE study = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";
        self.select(clauses, params![self.entry.id, bounded(sequence), bounded(limit as u64)])
    }

    fn select_steps(&self, clauses: &str, parameters: impl Params) -> Result<Vec<Step>> {
        let failed = failure(self.place, "reading steps");
        let mut query =
            self.connection.prepare_cached(&format!("{} {clauses}", *STEPS)).map_err(&failed)?;
        let rows =
            query.query_map(parameters, |row| Ok(step::read(self.study, row))).map_err(&failed)?;
        rows.map(|row| row.map_err(&failed)?).collect()
    }

    pub fn steps_from(&self, trial: u64, fidelity: f64) -> Result<Vec<Step>> {
        let clauses = "WHERE study = ?1 AND trial = ?2 AND fidelity >= ?3 ORDER BY fidelity";
        self.select_steps(clauses, params![self.entry.id, bounded(trial), fidelity])
    }

    pub fn steps_since(&self, sequence: u64, limit: usize) -> Result<Vec<Step>> {
        let clauses = "INDEXED BY steps_sequence \
                       WHERE study = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";
        self.select_steps(clauses, params![self.entry.id, bounded(sequence), bounded(limit as u64)])
    }

    pub fn filtered(&self, filter: &Filter) -> Result<Vec<Trial>> {
        let outcome = filter.outcome.map(OutcomeKind::word);
        let limit = filter.limit.map_or(-1, |limit| bounded(limit as u64));
        // The stages stand in the statements themselves: a partial index serves no other.
        let stage = match filter.stage {
            None => "WHERE",
            Some(Stage::Queued) => {
                "INDEXED BY trials_queue WHERE stage = 'queued' AND paused IS NULL AND"
            }
            Some(Stage::Paused) => {
                "INDEXED BY trials_paused WHERE stage = 'queued' AND paused IS NOT NULL AND"
            }
            Some(Stage::Running) => "INDEXED BY trials_due WHERE stage = 'running' AND",
            Some(Stage::Finished) => "WHERE stage = 'finished' AND",
        };
        self.select(
            &format!(
                "{stage} study = ?1 AND id >= ?2 AND (?3 IS NULL OR outcome = ?3) \
                 AND (?4 IS NULL OR worker = ?4) ORDER BY id LIMIT ?5"
            ),
            params![self.entry.id, bounded(filter.from), outcome, filter.worker, limit],
        )
    }

    pub fn best(&self, count: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_best \
                       WHERE study = ?1 AND score IS NOT NULL ORDER BY score, sequence LIMIT ?2";
        self.select(clauses, params![self.entry.id, bounded(count as u64)])
    }

    pub fn notes(&self) -> Result<Vec<Note>> {
        let failed = failure(self.place, "reading notes");
        let mut query = self
            .connection
            .prepare_cached("SELECT trial, text, at FROM notes WHERE study = ?1 ORDER BY trial")
            .map_err(&failed)?;
        let rows = query.query_map([self.entry.id], |row| {
            let trial = row.get::<_, i64>(0)?.cast_unsigned();
            Ok(Note { trial, text: row.get(1)?, at: Timestamp(row.get(2)?) })
        });
        rows.and_then(Iterator::collect).map_err(&failed)
    }

    /// Forgets the study; its fencing numbers go on where they were if there is another of its name.
    pub fn delete(&self) -> Result<()> {
        let failed = failure(self.place, "deleting a study");
        let run = |statement: &str| {
            self.connection.execute(statement, params![self.entry.id]).map_err(&failed)
        };
        run(
            "INSERT OR REPLACE INTO deleted_studies SELECT name, fence FROM studies WHERE id = ?1",
        )?;
        for table in ["asks", "additions", "engines", "steps", "notes", "trials"] {
            run(&format!("DELETE FROM {table} WHERE study = ?1"))?;
        }
        run("DELETE FROM studies WHERE id = ?1")?;
        Ok(())
    }

    fn execute(&self, statement: &str, parameters: impl Params) -> Result<()> {
        self.connection
            .prepare_cached(statement)
            .and_then(|mut query| query.execute(parameters))
            .map_err(failure(self.place, "writing"))?;
        Ok(())
    }

    fn write(&self, statement: &str, trial: &Trial) -> Result<()> {
        let mut cells = trial::write(self.study, trial, self.entry.direction)?;
        cells.push(self.entry.id.into());
        self.execute(statement, params_from_iter(cells))
    }
}

/// Adds a study unless there is one of its name.
pub(super) fn add(
    connection: &Connection,
    place: &str,
    record: &Record,
    now: Timestamp,
) -> Result<()> {
    let mut cells = record::write(record)?;
    cells.push(now.into());
    let parameters: Vec<String> = (0..cells.len()).map(parameter).collect();
    let (names, parameters) = (record::Column::list(), parameters.join(", "));
    connection
        .execute(
            &format!(
                "INSERT INTO studies ({names}, created) VALUES ({parameters}) \
                 ON CONFLICT (name) DO NOTHING"
            ),
            params_from_iter(cells),
        )
        .map_err(failure(place, "creating a study"))?;
    Ok(())
}

/// Lets the fencing numbers of a new study go on from a deleted one of its name.
pub(super) fn continue_fence(connection: &Connection, place: &str, study: &str) -> Result<()> {
    connection
        .execute(
            "UPDATE studies SET fence = max(fence, \
             coalesce((SELECT fence FROM deleted_studies WHERE name = ?1), 0)) WHERE name = ?1",
            [study],
        )
        .map_err(failure(place, "creating a study"))?;
    Ok(())
}

impl Rows for Table<'_> {
    fn begin(&mut self, _: Reads<'_>) -> Result<(Head, Timestamp)> {
        Ok((self.entry.head, self.now))
    }

    fn save_head(&mut self, head: &Head) -> Result<()> {
        let cells = head::write(Entry { head: *head, ..self.entry });
        self.execute(&SAVE, params_from_iter(cells))
    }

    fn trial(&mut self, id: u64) -> Result<Option<Trial>> {
        self.numbered(id)
    }

    fn insert(&mut self, trial: &Trial) -> Result<()> {
        self.write(&INSERT, trial)
    }

    fn update(&mut self, trial: &Trial) -> Result<()> {
        self.write(&UPDATE, trial)
    }

    fn due(&mut self, now: Timestamp) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_due \
                       WHERE study = ?1 AND stage = 'running' AND due <= ?2 ORDER BY due, id LIMIT ?3";
        self.select(clauses, params![self.entry.id, now.0, bounded(LOOKED_AT as u64)])
    }

    fn held_by(&mut self, holder: Holder<'_>, limit: usize) -> Result<Vec<Trial>> {
        let Holder { worker, incarnation } = holder;
        let clauses = "INDEXED BY trials_worker \
                       WHERE study = ?1 AND stage = 'running' AND worker = ?2 AND incarnation IS ?3 \
                       ORDER BY id LIMIT ?4";
        self.select(clauses, params![self.entry.id, worker, incarnation, bounded(limit as u64)])
    }

    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_queue \
                       WHERE study = ?1 AND stage = 'queued' AND paused IS NULL \
                       ORDER BY origin, id LIMIT ?2";
        self.select(clauses, params![self.entry.id, bounded(limit as u64)])
    }

    fn answer(&mut self, key: &str) -> Result<Option<Answer>> {
        let text: Option<String> = self
            .connection
            .prepare_cached("SELECT answer FROM asks WHERE study = ?1 AND ask_key = ?2")
            .and_then(|mut query| {
                query.query_row(params![self.entry.id, key], |row| row.get(0)).optional()
            })
            .map_err(failure(self.place, "reading an answer"))?;
        text.map(|text| Answer::from_json(self.study, key, &text)).transpose()
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer, review: Timestamp) -> Result<()> {
        let text = answer.to_json(self.study, key)?;
        self.execute(
            "INSERT INTO asks (study, ask_key, answer, review) VALUES (?1, ?2, ?3, ?4)",
            params![self.entry.id, key, text, review.0],
        )
    }

    fn stale_answers(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(String, Answer)>> {
        let failed = failure(self.place, "reading answers");
        let mut query = self
            .connection
            .prepare_cached(
                "SELECT ask_key, answer FROM asks INDEXED BY asks_review \
                 WHERE study = ?1 AND review <= ?2 ORDER BY review LIMIT ?3",
            )
            .map_err(&failed)?;
        let rows = query
            .query_map(params![self.entry.id, now.0, bounded(limit as u64)], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })
            .map_err(&failed)?;
        rows.map(|row| {
            let (key, text) = row.map_err(&failed)?;
            let answer = Answer::from_json(self.study, &key, &text)?;
            Ok((key, answer))
        })
        .collect()
    }

    fn postpone_answer(&mut self, key: &str, review: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE asks SET review = ?3 WHERE study = ?1 AND ask_key = ?2",
            params![self.entry.id, key, review.0],
        )
    }

    fn forget_answer(&mut self, key: &str) -> Result<()> {
        self.execute(
            "DELETE FROM asks WHERE study = ?1 AND ask_key = ?2",
            params![self.entry.id, key],
        )
    }

    fn addition(&mut self, key: &str) -> Result<Option<u64>> {
        self.connection
            .prepare_cached("SELECT trial FROM additions WHERE study = ?1 AND add_key = ?2")
            .and_then(|mut query| {
                let trial = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
                query.query_row(params![self.entry.id, key], trial).optional()
            })
            .map_err(failure(self.place, "looking for an addition"))
    }

    fn keep_addition(&mut self, key: &str, trial: u64) -> Result<()> {
        self.execute(
            "INSERT INTO additions (study, add_key, trial) VALUES (?1, ?2, ?3)",
            params![self.entry.id, key, bounded(trial)],
        )
    }

    fn steps_from(&mut self, trial: u64, fidelity: f64) -> Result<Vec<Step>> {
        Self::steps_from(self, trial, fidelity)
    }

    fn insert_step(&mut self, step: &Step) -> Result<()> {
        let mut cells = step::write(step);
        cells.push(self.entry.id.into());
        self.execute(&INSERT_STEP, params_from_iter(cells))
    }

    fn drop_steps(&mut self, trial: u64, fidelity: f64) -> Result<()> {
        self.execute(
            "DELETE FROM steps WHERE study = ?1 AND trial = ?2 AND fidelity >= ?3",
            params![self.entry.id, bounded(trial), fidelity],
        )
    }

    fn keep_note(&mut self, note: &Note) -> Result<()> {
        self.execute(
            "INSERT OR REPLACE INTO notes (study, trial, text, at) VALUES (?1, ?2, ?3, ?4)",
            params![self.entry.id, bounded(note.trial), note.text, note.at.0],
        )
    }

    fn drop_note(&mut self, trial: u64) -> Result<()> {
        self.execute(
            "DELETE FROM notes WHERE study = ?1 AND trial = ?2",
            params![self.entry.id, bounded(trial)],
        )
    }

    fn note_engine(&mut self, version: &str, first_trial: u64) -> Result<()> {
        self.execute(
            "INSERT INTO engines (study, first_trial, version) SELECT ?1, ?2, ?3 WHERE ?3 IS NOT \
             (SELECT version FROM engines WHERE study = ?1 ORDER BY first_trial DESC LIMIT 1)",
            params![self.entry.id, bounded(first_trial), version],
        )
    }
}
