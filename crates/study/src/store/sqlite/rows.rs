//! Trials and studies as rows of SQLite, and back. Parameters are bound, never written into a statement.
//!
//! Queries name their index: left to itself, SQLite looks for the queued trials among all trials, which the primary
//! key has in the right order.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Params, Row, named_params, params};
use wimble::seed::Seed;
use wimble::session::Direction;

use super::failure;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::settings::{Record, Settings, check_version};
use crate::store::rules::{Answer, Head, Rows};
use crate::store::{Filter, Stage};
use crate::trial::{Ended, Finish, Lease, Outcome, State, Trial};

const TRIAL: &str = "SELECT id, configuration, stage, lost, sequence, proposed, ended, worker, fence, since, due, \
                     outcome, value, message, finished, tell_key FROM trials";

/// The rows of one study.
pub(super) struct Table<'c> {
    connection: &'c Connection,
    place: &'c str,
    study: &'c str,
    id: i64,
}

impl<'c> Table<'c> {
    /// The study of this name.
    pub fn find(connection: &'c Connection, place: &'c str, study: &'c str) -> Result<Self> {
        let id = connection
            .prepare_cached("SELECT id FROM studies WHERE name = ?1")
            .and_then(|mut query| query.query_row([study], |row| row.get(0)).optional())
            .map_err(failure(place, "looking for a study"))?
            .ok_or_else(|| Error::UnknownStudy { study: study.to_owned() })?;
        Ok(Self { connection, place, study, id })
    }

    pub fn record(&self) -> Result<Record> {
        self.connection
            .prepare_cached(
                "SELECT format, engine, space, direction, method, batch_size, seed, budget, retries, lease
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
            direction: match text("direction")?.as_str() {
                "minimise" => Direction::Minimise,
                "maximise" => Direction::Maximise,
                other => return Err(corrupt(&format!("the direction `{other}` is unknown"))),
            },
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

    pub fn changes_since(&self, sequence: u64, limit: usize) -> Result<Vec<Trial>> {
        let clauses = "INDEXED BY trials_sequence \
                       WHERE study = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";
        self.select(clauses, params![self.id, bounded(sequence), bounded(limit as u64)])
    }

    pub fn filtered(&self, filter: &Filter) -> Result<Vec<Trial>> {
        let stage = filter.stage.map(|stage| match stage {
            Stage::Queued => "queued",
            Stage::Running => "running",
            Stage::Finished => "finished",
        });
        let limit = filter.limit.map_or(-1, |limit| bounded(limit as u64));
        self.select(
            "WHERE study = ?1 AND id >= ?2 AND (?3 IS NULL OR stage = ?3) AND (?4 IS NULL OR worker = ?4) \
             ORDER BY id LIMIT ?5",
            params![self.id, bounded(filter.from), stage, filter.worker, limit],
        )
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
            Outcome::Failed(message) => ("failed", None, Some(message)),
            Outcome::Infeasible => ("infeasible", None, None),
        });
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
                    ":value": outcome.and_then(|outcome| outcome.1),
                    ":message": outcome.and_then(|outcome| outcome.2),
                    ":finished": finish.map(|finish| finish.at.0),
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
                        "failed" => Outcome::Failed(row.get("message")?),
                        "infeasible" => Outcome::Infeasible,
                        word => return Err(unknown("outcome", word.to_owned())),
                    };
                    let at = Timestamp(row.get("finished")?);
                    State::Finished(Finish {
                        outcome,
                        at,
                        lease: lease()?,
                        key: row.get("tell_key")?,
                    })
                }
                word => return Err(unknown("stage", word.to_owned())),
            };
            Ok(Trial {
                id: id.cast_unsigned(),
                configuration: serde_json::from_str(row.get_ref("configuration")?.as_str()?)
                    .map_err(|error| unknown("configuration", error.to_string()))?,
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
             lease, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (name) DO NOTHING",
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

/// What SQLite can hold of a number; rules and settings keep numbers below.
fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Rows for Table<'_> {
    fn head(&mut self) -> Result<Head> {
        let head = |row: &Row<'_>| {
            let number = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(Head {
                budget: number(0)?,
                retries: row.get(1)?,
                lease: Duration::from_millis(number(2)?),
                issued: number(3)?,
                sequence: number(4)?,
                fence: number(5)?,
            })
        };
        self.connection
            .prepare_cached(
                "SELECT budget, retries, lease, issued, sequence, fence FROM studies WHERE id = ?1",
            )
            .and_then(|mut query| query.query_row([self.id], head))
            .map_err(failure(self.place, "reading a study"))
    }

    fn save_head(&mut self, head: &Head) -> Result<()> {
        self.connection
            .prepare_cached(
                "UPDATE studies SET budget = ?2, issued = ?3, sequence = ?4, fence = ?5 WHERE id = ?1",
            )
            .and_then(|mut query| {
                query.execute(params![
                    self.id,
                    bounded(head.budget),
                    bounded(head.issued),
                    bounded(head.sequence),
                    bounded(head.fence)
                ])
            })
            .map_err(failure(self.place, "writing a study"))?;
        Ok(())
    }

    fn trial(&mut self, id: u64) -> Result<Option<Trial>> {
        let clauses = "WHERE study = ?1 AND id = ?2";
        Ok(self.select(clauses, params![self.id, bounded(id)])?.pop())
    }

    fn insert(&mut self, trial: &Trial) -> Result<()> {
        self.write(
            "INSERT INTO trials (study, id, configuration, stage, lost, sequence, proposed, ended, worker, fence, \
             since, due, outcome, value, message, finished, tell_key) VALUES (:study, :id, :configuration, :stage, \
             :lost, :sequence, :proposed, :ended, :worker, :fence, :since, :due, :outcome, :value, :message, :finished, \
             :tell_key)",
            trial,
        )
    }

    fn update(&mut self, trial: &Trial) -> Result<()> {
        self.write(
            "UPDATE trials SET configuration = :configuration, stage = :stage, lost = :lost, sequence = :sequence, \
             proposed = :proposed, ended = :ended, worker = :worker, fence = :fence, since = :since, due = :due, \
             outcome = :outcome, value = :value, message = :message, finished = :finished, tell_key = :tell_key \
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
                       WHERE study = ?1 AND stage = 'queued' ORDER BY id LIMIT ?2";
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
        let corrupt = |error| Error::corrupt(self.study, format!("answer to ask `{key}`"), error);
        text.map(|text| serde_json::from_str(&text).map_err(corrupt)).transpose()
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer) -> Result<()> {
        let text = serde_json::to_string(answer)
            .map_err(|error| Error::corrupt(self.study, format!("answer to ask `{key}`"), error))?;
        self.connection
            .prepare_cached("INSERT INTO asks (study, ask_key, answer) VALUES (?1, ?2, ?3)")
            .and_then(|mut query| query.execute(params![self.id, key, text]))
            .map_err(failure(self.place, "keeping an answer"))?;
        Ok(())
    }
}
