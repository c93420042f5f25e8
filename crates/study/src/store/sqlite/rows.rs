//! Trials and studies as rows of SQLite, and back. Parameters are bound, never written into a statement.
//!
//! Queries name their index: left to itself, SQLite looks for the queued trials among all trials, which the primary
//! key has in the right order.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Params, Row, named_params, params};
use wimble::goal::Direction;
use wimble::seed::Seed;

use super::failure;
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::settings::{Record, Settings, check_version, minimised};
use crate::store::rules::{Answer, Head, Reads, Rows};
use crate::store::{Filter, OutcomeKind, Stage};
use crate::trial::{Ended, Failure, Finish, Lease, Origin, Outcome, State, Trial};

const TRIAL: &str = "SELECT id, configuration, stage, lost, sequence, proposed, ended, worker, fence, since, due, \
                     outcome, value, message, output, finished, tell_key, origin, attributes FROM trials";

/// The rows of one study.
pub(super) struct Table<'c> {
    connection: &'c Connection,
    place: &'c str,
    study: &'c str,
    id: i64,
    direction: Direction,
    head: Head,
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
        let read = |row: &Row<'_>| {
            let number = |column: &str| row.get::<_, i64>(column).map(i64::cast_unsigned);
            let counts = Counts {
                queued: number("queued")?,
                running: number("running")?,
                valued: number("valued")?,
                failed: number("failed")?,
                infeasible: number("infeasible")?,
                imported: number("imported")?,
            };
            let head = Head {
                budget: number("budget")?,
                retries: row.get("retries")?,
                lease: Duration::from_millis(number("lease")?),
                issued: number("issued")?,
                sequence: number("sequence")?,
                fence: number("fence")?,
                counts,
            };
            Ok((row.get("id")?, row.get::<_, String>("direction")?, head))
        };
        let (id, direction, head) = connection
            .prepare_cached(
                "SELECT id, direction, budget, retries, lease, issued, sequence, fence, queued, running, valued, \
                 failed, infeasible, imported FROM studies WHERE name = ?1",
            )
            .and_then(|mut query| query.query_row([study], read).optional())
            .map_err(failure(place, "looking for a study"))?
            .ok_or_else(|| Error::UnknownStudy { study: study.to_owned() })?;
        let direction = direction_of(study, &direction)?;
        Ok(Self { connection, place, study, id, direction, head, now })
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub fn record(&self) -> Result<Record> {
        self.connection
            .prepare_cached(
                "SELECT format, engine, space, method, batch_size, seed, budget, retries, lease
                 FROM studies WHERE id = ?1",
            )
            .and_then(|mut query| query.query_row([self.id], |row| Ok(self.record_of(row))))
            .map_err(failure(self.place, "reading a study"))?
    }

    /// The version comes first: what a later version wrote need not be readable.
    fn record_of(&self, row: &Row<'_>) -> Result<Record> {
        let corrupt = |error: &dyn std::fmt::Display| Error::corrupt(self.study, "settings", error);
        let text = |column: &str| row.get::<_, String>(column).map_err(|error| corrupt(&error));
        let number = |column: &str| row.get::<_, i64>(column).map_err(|error| corrupt(&error));
        let whole = |column: &str| {
            number(column).and_then(|number| u64::try_from(number).map_err(|e| corrupt(&e)))
        };
        let format = u32::try_from(whole("format")?).map_err(|error| corrupt(&error))?;
        let engine = text("engine")?;
        check_version(self.study, format, &engine)?;
        let settings = Settings {
            name: self.study.to_owned(),
            space: serde_json::from_str(&text("space")?).map_err(|error| corrupt(&error))?,
            direction: self.direction,
            method: serde_json::from_str(&text("method")?).map_err(|error| corrupt(&error))?,
            batch_size: whole("batch_size")? as usize,
            seed: Seed(text("seed")?.parse().map_err(|error| corrupt(&error))?),
            budget: whole("budget")?,
            retries: u32::try_from(whole("retries")?).map_err(|error| corrupt(&error))?,
            lease: Duration::from_millis(whole("lease")?),
        };
        Ok(Record { settings, format, engine })
    }

    fn select(&self, clauses: &str, parameters: impl Params) -> Result<Vec<Trial>> {
        let failed = failure(self.place, "reading trials");
        let mut query =
            self.connection.prepare_cached(&format!("{TRIAL} {clauses}")).map_err(&failed)?;
        let rows = query.query_map(parameters, |row| Ok(self.trial_of(row))).map_err(&failed)?;
        rows.map(|row| row.map_err(&failed)?).collect()
    }

    pub fn numbered(&self, id: u64) -> Result<Option<Trial>> {
        let clauses = "WHERE study = ?1 AND id = ?2";
        Ok(self.select(clauses, params![self.id, bounded(id)])?.pop())
    }

    pub fn changes_since(&self, sequence: u64, limit: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_sequence \
                       WHERE study = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";
        self.select(clauses, params![self.id, bounded(sequence), bounded(limit as u64)])
    }

    pub fn filtered(&self, filter: &Filter) -> Result<Vec<Trial>> {
        let outcome = filter.outcome.map(|outcome| match outcome {
            OutcomeKind::Value => "value",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Infeasible => "infeasible",
        });
        let limit = filter.limit.map_or(-1, |limit| bounded(limit as u64));
        // The stages stand in the statements themselves: a partial index serves no other.
        let stage = match filter.stage {
            None => "",
            Some(Stage::Queued) => "INDEXED BY trials_queue WHERE stage = 'queued' AND",
            Some(Stage::Running) => "INDEXED BY trials_due WHERE stage = 'running' AND",
            Some(Stage::Finished) => "WHERE stage = 'finished' AND",
        };
        let stage = if stage.is_empty() { "WHERE" } else { stage };
        self.select(
            &format!(
                "{stage} study = ?1 AND id >= ?2 AND (?3 IS NULL OR outcome = ?3) \
                 AND (?4 IS NULL OR worker = ?4) ORDER BY id LIMIT ?5"
            ),
            params![self.id, bounded(filter.from), outcome, filter.worker, limit],
        )
    }

    pub fn best(&self, count: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_best \
                       WHERE study = ?1 AND score IS NOT NULL ORDER BY score, sequence LIMIT ?2";
        self.select(clauses, params![self.id, bounded(count as u64)])
    }

    /// Forgets the study; its fencing numbers go on where they were if there is another of its name.
    pub fn delete(&self) -> Result<()> {
        let failed = failure(self.place, "deleting a study");
        let run =
            |statement: &str| self.connection.execute(statement, params![self.id]).map_err(&failed);
        run(
            "INSERT OR REPLACE INTO deleted_studies SELECT name, fence FROM studies WHERE id = ?1",
        )?;
        for table in ["asks", "additions", "trials"] {
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

    fn answer_of(&self, key: &str, text: &str) -> Result<Answer> {
        serde_json::from_str(text)
            .map_err(|error| Error::corrupt(self.study, format!("answer to ask `{key}`"), error))
    }

    fn write(&self, statement: &str, trial: &Trial) -> Result<()> {
        let configuration = serde_json::to_string(&trial.configuration)
            .map_err(|error| Error::corrupt(self.study, format!("trial {}", trial.id), error))?;
        let (mut stage, mut ended) = ("queued", None);
        let (mut lease, mut finish) = (None, None);
        match &trial.state {
            State::Queued(reason) => {
                ended = reason.map(|reason| match reason {
                    Ended::RanOut => "ran-out",
                    Ended::Released => "released",
                });
            }
            State::Running(running) => {
                stage = "running";
                lease = Some(running);
            }
            State::Finished(finished) => {
                stage = "finished";
                lease = Some(&finished.lease);
                finish = Some(finished);
            }
        }
        let outcome = finish.map(|finish| match &finish.outcome {
            Outcome::Value(value) => ("value", Some(*value), None),
            Outcome::Failed(failure) => ("failed", None, Some(failure)),
            Outcome::Infeasible => ("infeasible", None, None),
        });
        let value = outcome.and_then(|outcome| outcome.1);
        let broken = outcome.and_then(|outcome| outcome.2);
        self.connection
            .prepare_cached(statement)
            .and_then(|mut query| {
                query.execute(named_params! {
                    ":study": self.id,
                    ":id": bounded(trial.id),
                    ":configuration": configuration,
                    ":stage": stage,
                    ":lost": trial.lost,
                    ":sequence": bounded(trial.sequence),
                    ":proposed": trial.proposed.0,
                    ":ended": ended,
                    ":worker": lease.map(|lease| &lease.worker),
                    ":fence": lease.map(|lease| bounded(lease.fence)),
                    ":since": lease.map(|lease| lease.since.0),
                    ":due": lease.map(|lease| lease.due.0),
                    ":outcome": outcome.map(|outcome| outcome.0),
                    ":value": value,
                    ":score": value.map(|value| minimised(self.direction, value)),
                    ":message": broken.map(|failure| &failure.reason),
                    ":output": broken.map(|failure| &failure.output),
                    ":origin": origin_text(trial.origin),
                    ":finished": finish.map(|finish| finish.at.0),
                    ":attributes": finish.and_then(|finish| finish.attributes.to_json()),
                    ":tell_key": finish.and_then(|finish| finish.key.as_ref()),
                })
            })
            .map_err(failure(self.place, "writing a trial"))?;
        Ok(())
    }

    fn trial_of(&self, row: &Row<'_>) -> Result<Trial> {
        let id: i64 = row.get(0).map_err(failure(self.place, "reading a trial"))?;
        let read = || -> rusqlite::Result<Trial> {
            let lease = || -> rusqlite::Result<Lease> {
                Ok(Lease {
                    worker: row.get("worker")?,
                    fence: row.get::<_, i64>("fence")?.cast_unsigned(),
                    since: Timestamp(row.get("since")?),
                    due: Timestamp(row.get("due")?),
                })
            };
            let unknown = |column: &str, word: String| {
                let reason = format!("{column} is `{word}`").into();
                let kind = rusqlite::types::Type::Text;
                rusqlite::Error::FromSqlConversionFailure(0, kind, reason)
            };
            let state = match row.get_ref("stage")?.as_str()? {
                "queued" => {
                    State::Queued(match row.get::<_, Option<String>>("ended")?.as_deref() {
                        None => None,
                        Some("ran-out") => Some(Ended::RanOut),
                        Some("released") => Some(Ended::Released),
                        Some(word) => return Err(unknown("ended", word.to_owned())),
                    })
                }
                "running" => State::Running(lease()?),
                "finished" => {
                    let outcome = match row.get::<_, String>("outcome")?.as_str() {
                        "value" => Outcome::Value(row.get("value")?),
                        "failed" => Outcome::Failed(Failure {
                            reason: row.get("message")?,
                            output: row.get("output")?,
                        }),
                        "infeasible" => Outcome::Infeasible,
                        word => return Err(unknown("outcome", word.to_owned())),
                    };
                    let at = Timestamp(row.get("finished")?);
                    let attributes: Option<String> = row.get("attributes")?;
                    let attributes = Attributes::from_json(attributes.as_deref())
                        .map_err(|error| unknown("attributes", error.to_string()))?;
                    State::Finished(Finish {
                        outcome,
                        attributes,
                        at,
                        lease: lease()?,
                        key: row.get("tell_key")?,
                    })
                }
                word => return Err(unknown("stage", word.to_owned())),
            };
            let origin = match row.get_ref("origin")?.as_str()? {
                "proposed" => Origin::Proposed,
                "enqueued" => Origin::Enqueued,
                "imported" => Origin::Imported,
                word => return Err(unknown("origin", word.to_owned())),
            };
            Ok(Trial {
                id: id.cast_unsigned(),
                configuration: serde_json::from_str(row.get_ref("configuration")?.as_str()?)
                    .map_err(|error| unknown("configuration", error.to_string()))?,
                origin,
                state,
                lost: row.get("lost")?,
                sequence: row.get::<_, i64>("sequence")?.cast_unsigned(),
                proposed: Timestamp(row.get("proposed")?),
            })
        };
        read().map_err(|error| Error::corrupt(self.study, format!("trial {id}"), error))
    }
}

/// Adds a study unless there is one of its name.
pub(super) fn add(
    connection: &Connection,
    place: &str,
    record: &Record,
    now: Timestamp,
) -> Result<()> {
    let Record { settings, format, engine } = record;
    let space = serde_json::to_string(&settings.space)
        .map_err(|error| Error::corrupt(&settings.name, "space", error))?;
    // With every setting, so that it stays what it is when defaults change.
    let method = serde_json::to_string(&settings.method)
        .map_err(|error| Error::corrupt(&settings.name, "method", error))?;
    let direction = match settings.direction {
        Direction::Minimise => "minimise",
        Direction::Maximise => "maximise",
    };
    connection
        .execute(
            "INSERT INTO studies (name, format, engine, space, direction, method, batch_size, seed, budget, retries, \
             lease, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
             ON CONFLICT (name) DO NOTHING",
            params![
                settings.name,
                format,
                engine,
                space,
                direction,
                method,
                bounded(settings.batch_size as u64),
                settings.seed.0.to_string(),
                bounded(settings.budget),
                settings.retries,
                Timestamp(0).after(settings.lease).0,
                now.0,
            ],
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

fn direction_of(study: &str, word: &str) -> Result<Direction> {
    match word {
        "minimise" => Ok(Direction::Minimise),
        "maximise" => Ok(Direction::Maximise),
        _ => Err(Error::corrupt(study, "settings", format!("the direction `{word}` is unknown"))),
    }
}

/// In alphabetical order, what users added comes first: the queue relies on it.
fn origin_text(origin: Origin) -> &'static str {
    match origin {
        Origin::Enqueued => "enqueued",
        Origin::Imported => "imported",
        Origin::Proposed => "proposed",
    }
}

/// What SQLite can hold of a number; rules and settings keep numbers below.
fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Rows for Table<'_> {
    fn begin(&mut self, _: Reads<'_>) -> Result<(Head, Timestamp)> {
        Ok((self.head, self.now))
    }

    fn save_head(&mut self, head: &Head) -> Result<()> {
        let counts = &head.counts;
        self.connection
            .prepare_cached(
                "UPDATE studies SET budget = ?2, issued = ?3, sequence = ?4, fence = ?5, queued = ?6, running = ?7, \
                 valued = ?8, failed = ?9, infeasible = ?10, imported = ?11 WHERE id = ?1",
            )
            .and_then(|mut query| {
                query.execute(params![
                    self.id,
                    bounded(head.budget),
                    bounded(head.issued),
                    bounded(head.sequence),
                    bounded(head.fence),
                    bounded(counts.queued),
                    bounded(counts.running),
                    bounded(counts.valued),
                    bounded(counts.failed),
                    bounded(counts.infeasible),
                    bounded(counts.imported),
                ])
            })
            .map_err(failure(self.place, "writing a study"))?;
        Ok(())
    }

    fn trial(&mut self, id: u64) -> Result<Option<Trial>> {
        self.numbered(id)
    }

    fn insert(&mut self, trial: &Trial) -> Result<()> {
        self.write(
            "INSERT INTO trials (study, id, configuration, stage, lost, sequence, proposed, ended, worker, fence, \
             since, due, outcome, value, score, message, output, finished, tell_key, origin, attributes) VALUES (:study, :id, \
             :configuration, :stage, :lost, :sequence, :proposed, :ended, :worker, :fence, :since, :due, :outcome, \
             :value, :score, :message, :output, :finished, :tell_key, :origin, :attributes)",
            trial,
        )
    }

    fn update(&mut self, trial: &Trial) -> Result<()> {
        self.write(
            "UPDATE trials SET configuration = :configuration, stage = :stage, lost = :lost, sequence = :sequence, \
             proposed = :proposed, ended = :ended, worker = :worker, fence = :fence, since = :since, due = :due, \
             outcome = :outcome, value = :value, score = :score, message = :message, output = :output, \
             finished = :finished, tell_key = :tell_key, origin = :origin, attributes = :attributes \
             WHERE study = :study AND id = :id",
            trial,
        )
    }

    fn due(&mut self, now: Timestamp) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_due \
                       WHERE study = ?1 AND stage = 'running' AND due <= ?2 ORDER BY due, id";
        self.select(clauses, params![self.id, now.0])
    }

    fn held_by(&mut self, worker: &str, limit: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_worker \
                       WHERE study = ?1 AND stage = 'running' AND worker = ?2 ORDER BY id LIMIT ?3";
        self.select(clauses, params![self.id, worker, bounded(limit as u64)])
    }

    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_queue \
                       WHERE study = ?1 AND stage = 'queued' ORDER BY origin, id LIMIT ?2";
        self.select(clauses, params![self.id, bounded(limit as u64)])
    }

    fn answer(&mut self, key: &str) -> Result<Option<Answer>> {
        let text: Option<String> = self
            .connection
            .prepare_cached("SELECT answer FROM asks WHERE study = ?1 AND ask_key = ?2")
            .and_then(|mut query| {
                query.query_row(params![self.id, key], |row| row.get(0)).optional()
            })
            .map_err(failure(self.place, "reading an answer"))?;
        text.map(|text| self.answer_of(key, &text)).transpose()
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer, review: Timestamp) -> Result<()> {
        let text = serde_json::to_string(answer)
            .map_err(|error| Error::corrupt(self.study, format!("answer to ask `{key}`"), error))?;
        self.execute(
            "INSERT INTO asks (study, ask_key, answer, review) VALUES (?1, ?2, ?3, ?4)",
            params![self.id, key, text, review.0],
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
            .query_map(params![self.id, now.0, bounded(limit as u64)], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })
            .map_err(&failed)?;
        rows.map(|row| {
            let (key, text) = row.map_err(&failed)?;
            let answer = self.answer_of(&key, &text)?;
            Ok((key, answer))
        })
        .collect()
    }

    fn postpone_answer(&mut self, key: &str, review: Timestamp) -> Result<()> {
        self.execute(
            "UPDATE asks SET review = ?3 WHERE study = ?1 AND ask_key = ?2",
            params![self.id, key, review.0],
        )
    }

    fn forget_answer(&mut self, key: &str) -> Result<()> {
        self.execute("DELETE FROM asks WHERE study = ?1 AND ask_key = ?2", params![self.id, key])
    }

    fn addition(&mut self, key: &str) -> Result<Option<u64>> {
        self.connection
            .prepare_cached("SELECT trial FROM additions WHERE study = ?1 AND add_key = ?2")
            .and_then(|mut query| {
                let trial = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
                query.query_row(params![self.id, key], trial).optional()
            })
            .map_err(failure(self.place, "looking for an addition"))
    }

    fn keep_addition(&mut self, key: &str, trial: u64) -> Result<()> {
        self.execute(
            "INSERT INTO additions (study, add_key, trial) VALUES (?1, ?2, ?3)",
            params![self.id, key, bounded(trial)],
        )
    }
}
