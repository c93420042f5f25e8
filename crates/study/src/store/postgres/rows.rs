//! Trials and studies as rows of PostgreSQL, and back; the twin of SQLite's.
//!
//! A transaction begins with one exchange that locks the study and fetches what the call is about to read. What is
//! written waits here until something else is read, or until the commit, and is sent along with that.
//!
//! One file, as the twin in SQLite is: statements, and the columns that they read and write, must be changed together.

use std::collections::HashMap;
use std::time::Duration;

use tokio_postgres::Row;
use wimble::goal::Direction;
use wimble::seed::Seed;

use super::FLUSH;
use super::broken::Broken;
use super::link::{Command, Link};
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::settings::{Record, Settings, check_version, minimised};
use crate::store::rules::{Answer, Head, REVIEWED, Reads, Rows};
use crate::store::{Filter, OutcomeKind, Stage};
use crate::trial::{Ended, Failure, Finish, Lease, Origin, Outcome, State, Trial};

/// Writes go to the server in parts of so many, which bounds what waits here.
const PART: usize = 500;

/// The columns of a trial, from the study of the name `$1`.
macro_rules! trials {
    ($clauses:literal) => {
        concat!(
            "SELECT id, configuration, stage, lost, sequence, proposed, ended, worker, fence, since, due, outcome, ",
            "value, message, output, finished, tell_key, origin, attributes FROM trials ",
            "WHERE study = (SELECT id FROM studies WHERE name = $1) AND ",
            $clauses
        )
    };
}

/// The head of the study `$1` at the time `$2`, or at the server's.
macro_rules! head {
    ($lock:literal) => {
        concat!(
            "SELECT id, direction, budget, retries, lease, issued, sequence, fence, queued, running, valued, failed, ",
            "infeasible, imported, coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) ",
            "AS now FROM studies WHERE name = $1",
            $lock
        )
    };
}

pub(super) const BEGIN: &str = "BEGIN";
/// The commit gives up the lock without waiting for the disk; what is sent after it waits.
pub(super) const SOON: &str = "SET LOCAL synchronous_commit = off";
/// The lock of the study; what is sent after it sees all that was committed before the lock was had. The row itself is
/// locked too, but a crowd that waits for a row is woken twice for each turn. Studies whose names have the same hash
/// wait for each other, and nothing worse.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(1463897411, hashtext($1))";
const LOCKED_HEAD: &str = head!(" FOR UPDATE");
const HEAD: &str = head!("");
const DUE: &str = trials!(
    "stage = 'running' AND due <= coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) \
     ORDER BY due, id"
);
const NUMBERED: &str = trials!("id = ANY($2)");
const HELD: &str = trials!("stage = 'running' AND worker = $2 ORDER BY id LIMIT $3");
const QUEUED: &str = trials!("stage = 'queued' ORDER BY origin, id LIMIT $2");
const CHANGES: &str = trials!("sequence > $2 ORDER BY sequence LIMIT $3");
const BEST: &str = trials!("score IS NOT NULL ORDER BY score, sequence LIMIT $2");
const ANSWER: &str = "SELECT answer FROM asks \
     WHERE study = (SELECT id FROM studies WHERE name = $1) AND ask_key = $2";
const STALE: &str = "SELECT ask_key, answer FROM asks \
     WHERE study = (SELECT id FROM studies WHERE name = $1) \
     AND review <= coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) \
     ORDER BY review LIMIT $3";
const ADDED: &str = "SELECT add_key, trial FROM additions \
     WHERE study = (SELECT id FROM studies WHERE name = $1) AND add_key = ANY($2)";
/// Whether everything that a reader can have seen is on the disk.
const CAUGHT_UP: &str = "SELECT pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn()";

/// The rows of one study.
pub(super) struct Table<'l> {
    link: &'l mut Link,
    study: &'l str,
    /// The time, where it is not the server's.
    clock: Option<Timestamp>,
    id: i64,
    direction: Direction,
    fetched: Fetched,
    writes: Vec<Command>,
    /// How the connection broke, for whoever can make a new one.
    broken: Option<Broken>,
}

/// What was read ahead, as long as it holds.
#[derive(Default)]
struct Fetched {
    due: Option<Vec<Trial>>,
    trials: HashMap<u64, Option<Trial>>,
    answer: Option<(String, Option<Answer>)>,
    held: Option<Vec<Trial>>,
    queued: Option<Vec<Trial>>,
    stale: Option<Vec<(String, Answer)>>,
    additions: HashMap<String, Option<u64>>,
}

impl<'l> Table<'l> {
    pub fn new(link: &'l mut Link, study: &'l str, clock: Option<Timestamp>) -> Self {
        Self {
            link,
            study,
            clock,
            id: 0,
            direction: Direction::Minimise,
            fetched: Fetched::default(),
            writes: Vec::new(),
            broken: None,
        }
    }

    /// Sends what waits, and statements that end the transaction.
    pub fn finish(mut self, end: &[&'static str]) -> Result<(), Broken> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let mut commands = std::mem::take(&mut self.writes);
        commands.extend(end.iter().map(|statement| Command::new(statement)));
        self.link.run(&commands).map_err(Broken::while_committing)?;
        Ok(())
    }

    /// Ends the transaction without a trace; gives the reason.
    pub fn abandon(mut self, failure: Error) -> Broken {
        self.broken.take().unwrap_or_else(|| {
            // If even that fails, the connection is of no use and is replaced at the next call.
            let _ = self.link.execute("ROLLBACK");
            failure.into()
        })
    }

    /// What waits, then these commands; gives the rows of the latter.
    fn run(&mut self, commands: Vec<Command>) -> Result<Vec<Vec<Row>>> {
        let before = self.writes.len();
        self.writes.extend(commands);
        let all = std::mem::take(&mut self.writes);
        match self.link.run(&all) {
            Ok(mut rows) => Ok(rows.split_off(before)),
            Err(broken) => {
                self.broken = Some(broken);
                Err(Error::Backend {
                    place: String::new(),
                    doing: "reading",
                    source: "the connection broke".into(),
                })
            }
        }
    }

    fn write(&mut self, command: Command) -> Result<()> {
        self.writes.push(command);
        if self.writes.len() >= PART {
            self.run(Vec::new())?;
        }
        Ok(())
    }

    fn named(&self, statement: &'static str) -> Command {
        Command::new(statement).with(self.study.to_owned())
    }

    fn timed(&self, statement: &'static str) -> Command {
        self.named(statement).with(self.clock.map(|now| now.0))
    }

    /// The head as it is, without a lock; together with other reads.
    fn peek_with(&mut self, command: Command) -> Result<(Head, Vec<Row>)> {
        let head = self.timed(HEAD);
        let mut answers = self.run(vec![head, command])?.into_iter();
        let (heads, rows) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        Ok((self.take_head(&heads)?.0, rows))
    }

    pub fn peek(&mut self) -> Result<Head> {
        let head = self.timed(HEAD);
        let rows = self.run(vec![head])?.pop().unwrap_or_default();
        Ok(self.take_head(&rows)?.0)
    }

    fn take_head(&mut self, rows: &[Row]) -> Result<(Head, Timestamp)> {
        let row =
            rows.first().ok_or_else(|| Error::UnknownStudy { study: self.study.to_owned() })?;
        let read = || -> Result<_, tokio_postgres::Error> {
            let number = |column: &str| row.try_get::<_, i64>(column).map(i64::cast_unsigned);
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
                retries: u32::try_from(number("retries")?).unwrap_or(u32::MAX),
                lease: Duration::from_millis(number("lease")?),
                issued: number("issued")?,
                sequence: number("sequence")?,
                fence: number("fence")?,
                counts,
            };
            let direction: String = row.try_get("direction")?;
            Ok((row.try_get("id")?, direction, head, Timestamp(row.try_get("now")?)))
        };
        let corrupt = |error| Error::corrupt(self.study, "settings", error);
        let (id, direction, head, now) = read().map_err(corrupt)?;
        self.id = id;
        self.direction = match direction.as_str() {
            "minimise" => Direction::Minimise,
            "maximise" => Direction::Maximise,
            word => {
                let reason = format!("the direction `{word}` is unknown");
                return Err(Error::corrupt(self.study, "settings", reason));
            }
        };
        Ok((head, now))
    }

    pub fn record(&mut self) -> Result<Record> {
        let record = self.named(
            "SELECT format, engine, space, method, batch_size, seed, budget, retries, lease \
             FROM studies WHERE name = $1",
        );
        let (_, rows) = self.peek_with(record)?;
        let row =
            rows.first().ok_or_else(|| Error::UnknownStudy { study: self.study.to_owned() })?;
        let corrupt = |error: &dyn std::fmt::Display| Error::corrupt(self.study, "settings", error);
        let text = |column: &str| row.try_get::<_, String>(column).map_err(|error| corrupt(&error));
        let whole = |column: &str| {
            let number = row.try_get::<_, i64>(column).map_err(|error| corrupt(&error));
            number.and_then(|number| u64::try_from(number).map_err(|error| corrupt(&error)))
        };
        // The version comes first: what a later version wrote need not be readable.
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

    pub fn changes_since(&mut self, sequence: u64, limit: usize) -> Result<Vec<Trial>> {
        let commands = vec![
            self.timed(HEAD),
            self.named(CHANGES).with(bounded(sequence)).with(bounded(limit as u64)),
            Command::new(CAUGHT_UP),
        ];
        let answers = self.run(commands)?;
        self.take_head(&answers[0])?;
        let changes = self.trials_of(&answers[1])?;
        // A reader outlives a crash of the server: it is shown what the disk has.
        let caught_up = answers[2].first().is_some_and(|row| row.try_get(0).unwrap_or(false));
        if !changes.is_empty() && !caught_up {
            self.run(vec![Command::new(FLUSH)])?;
        }
        Ok(changes)
    }

    pub fn filtered(&mut self, filter: &Filter) -> Result<Vec<Trial>> {
        // The stages stand in the statements themselves: a partial index serves no other.
        let statement = match filter.stage {
            None => trials!(
                "id >= $2 AND ($3::text IS NULL OR outcome = $3) AND ($4::text IS NULL OR worker = $4) \
                 ORDER BY id LIMIT $5"
            ),
            Some(Stage::Queued) => trials!(
                "stage = 'queued' AND id >= $2 AND ($3::text IS NULL OR outcome = $3) \
                 AND ($4::text IS NULL OR worker = $4) ORDER BY id LIMIT $5"
            ),
            Some(Stage::Running) => trials!(
                "stage = 'running' AND id >= $2 AND ($3::text IS NULL OR outcome = $3) \
                 AND ($4::text IS NULL OR worker = $4) ORDER BY id LIMIT $5"
            ),
            Some(Stage::Finished) => trials!(
                "stage = 'finished' AND id >= $2 AND ($3::text IS NULL OR outcome = $3) \
                 AND ($4::text IS NULL OR worker = $4) ORDER BY id LIMIT $5"
            ),
        };
        let outcome = filter.outcome.map(|outcome| match outcome {
            OutcomeKind::Value => "value",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Infeasible => "infeasible",
        });
        let command = self
            .named(statement)
            .with(bounded(filter.from))
            .with(outcome)
            // No worker has a zero byte, and the server takes none.
            .with(filter.worker.as_ref().map(|worker| worker.replace('\0', "\u{fffd}")))
            .with(filter.limit.map(|limit| bounded(limit as u64)));
        let rows = self.peek_with(command)?.1;
        self.trials_of(&rows)
    }

    pub fn numbered(&mut self, trial: u64) -> Result<Trial> {
        let command = self.named(NUMBERED).with(vec![bounded(trial)]);
        let (head, rows) = self.peek_with(command)?;
        let found = self.trials_of(&rows)?.pop();
        let (study, issued) = (self.study.to_owned(), head.issued);
        found.ok_or(Error::UnknownTrial { study, trial, issued })
    }

    pub fn best(&mut self, count: usize) -> Result<Vec<Trial>> {
        let command = self.named(BEST).with(bounded(count as u64));
        let rows = self.peek_with(command)?.1;
        self.trials_of(&rows)
    }

    /// Forgets the study; its fencing numbers go on where they were if there is another of its name.
    pub fn delete(&mut self) -> Result<()> {
        self.begin(Reads::Nothing)?;
        self.write(
            Command::new(
                "INSERT INTO deleted_studies SELECT name, fence FROM studies WHERE id = $1 \
                 ON CONFLICT (name) DO UPDATE SET fence = excluded.fence",
            )
            .with(self.id),
        )?;
        for statement in [
            "DELETE FROM asks WHERE study = $1",
            "DELETE FROM additions WHERE study = $1",
            "DELETE FROM trials WHERE study = $1",
            "DELETE FROM studies WHERE id = $1",
        ] {
            self.write(Command::new(statement).with(self.id))?;
        }
        Ok(())
    }

    fn trials_of(&self, rows: &[Row]) -> Result<Vec<Trial>> {
        rows.iter().map(|row| self.trial_of(row)).collect()
    }

    fn trial_of(&self, row: &Row) -> Result<Trial> {
        type Read<T> = std::result::Result<T, Box<dyn std::error::Error>>;
        let id: i64 = row.try_get(0).map_err(|error| Error::corrupt(self.study, "trial", error))?;
        let read = || -> Read<Trial> {
            let lease = || -> Read<Lease> {
                Ok(Lease {
                    worker: row.try_get("worker")?,
                    fence: row.try_get::<_, i64>("fence")?.cast_unsigned(),
                    since: Timestamp(row.try_get("since")?),
                    due: Timestamp(row.try_get("due")?),
                })
            };
            let unknown = |column: &str, word: &str| format!("{column} is `{word}`").into();
            let state = match row.try_get("stage")? {
                "queued" => State::Queued(match row.try_get("ended")? {
                    None => None,
                    Some("ran-out") => Some(Ended::RanOut),
                    Some("released") => Some(Ended::Released),
                    Some(word) => return Err(unknown("ended", word)),
                }),
                "running" => State::Running(lease()?),
                "finished" => State::Finished(Finish {
                    outcome: match row.try_get("outcome")? {
                        "value" => Outcome::Value(row.try_get("value")?),
                        "failed" => Outcome::Failed(Failure {
                            reason: row.try_get("message")?,
                            output: row.try_get("output")?,
                        }),
                        "infeasible" => Outcome::Infeasible,
                        word => return Err(unknown("outcome", word)),
                    },
                    attributes: Attributes::from_json(row.try_get("attributes")?)?,
                    at: Timestamp(row.try_get("finished")?),
                    lease: lease()?,
                    key: row.try_get("tell_key")?,
                }),
                word => return Err(unknown("stage", word)),
            };
            Ok(Trial {
                id: id.cast_unsigned(),
                configuration: serde_json::from_str(row.try_get("configuration")?)?,
                origin: match row.try_get("origin")? {
                    "proposed" => Origin::Proposed,
                    "enqueued" => Origin::Enqueued,
                    "imported" => Origin::Imported,
                    word => return Err(unknown("origin", word)),
                },
                state,
                lost: u32::try_from(row.try_get::<_, i64>("lost")?)?,
                sequence: row.try_get::<_, i64>("sequence")?.cast_unsigned(),
                proposed: Timestamp(row.try_get("proposed")?),
            })
        };
        read().map_err(|error| Error::corrupt(self.study, format!("trial {id}"), error))
    }

    fn answer_of(&self, key: &str, row: &Row, column: usize) -> Result<Answer> {
        let corrupt = |error: &dyn std::fmt::Display| {
            Error::corrupt(self.study, format!("answer to ask `{key}`"), error)
        };
        let text: &str = row.try_get(column).map_err(|error| corrupt(&error))?;
        serde_json::from_str(text).map_err(|error| corrupt(&error))
    }

    fn stale_of(&self, rows: &[Row]) -> Result<Vec<(String, Answer)>> {
        let one = |row: &Row| {
            let key: String =
                row.try_get(0).map_err(|error| Error::corrupt(self.study, "answers", error))?;
            let answer = self.answer_of(&key, row, 1)?;
            Ok((key, answer))
        };
        rows.iter().map(one).collect()
    }

    fn added_of(&self, row: &Row) -> Result<(String, u64)> {
        let read = || Ok((row.try_get(0)?, row.try_get::<_, i64>(1)?.cast_unsigned()));
        read()
            .map_err(|error: tokio_postgres::Error| Error::corrupt(self.study, "additions", error))
    }

    /// A statement with a trial's columns as parameters.
    fn trial_command(&self, statement: &'static str, trial: &Trial) -> Result<Command> {
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
        // In alphabetical order, what users added comes first: the queue relies on it.
        let origin = match trial.origin {
            Origin::Enqueued => "enqueued",
            Origin::Imported => "imported",
            Origin::Proposed => "proposed",
        };
        Ok(Command::new(statement)
            .with(self.id)
            .with(bounded(trial.id))
            .with(configuration)
            .with(origin)
            .with(stage)
            .with(i64::from(trial.lost))
            .with(bounded(trial.sequence))
            .with(trial.proposed.0)
            .with(ended)
            .with(lease.map(|lease| lease.worker.clone()))
            .with(lease.map(|lease| bounded(lease.fence)))
            .with(lease.map(|lease| lease.since.0))
            .with(lease.map(|lease| lease.due.0))
            .with(outcome.map(|outcome| outcome.0))
            .with(value)
            .with(value.map(|value| minimised(self.direction, value)))
            .with(broken.map(|failure| failure.reason.clone()))
            .with(broken.map(|failure| failure.output.clone()))
            .with(finish.map(|finish| finish.at.0))
            .with(finish.and_then(|finish| finish.key.clone()))
            .with(finish.and_then(|finish| finish.attributes.to_json())))
    }

    /// Trials change: what was fetched of them holds no longer.
    fn changed(&mut self) {
        self.fetched.due = None;
        self.fetched.held = None;
        self.fetched.queued = None;
    }
}

/// What PostgreSQL can hold of a number; rules and settings keep numbers below.
pub(super) fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Adds a study unless there is one of its name. Its fencing numbers go on from a deleted one's.
pub(super) fn add(record: &Record, now: Option<Timestamp>) -> Result<Command> {
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
    let statement = "INSERT INTO studies (name, format, engine, space, direction, method, batch_size, seed, budget, \
         retries, lease, created, fence) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, \
         coalesce($12::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint), \
         coalesce((SELECT fence FROM deleted_studies WHERE name = $1), 0)) ON CONFLICT (name) DO NOTHING";
    Ok(Command::new(statement)
        .with(settings.name.clone())
        .with(i64::from(*format))
        .with(engine.clone())
        .with(space)
        .with(direction)
        .with(method)
        .with(bounded(settings.batch_size as u64))
        .with(settings.seed.0.to_string())
        .with(bounded(settings.budget))
        .with(i64::from(settings.retries))
        .with(Timestamp(0).after(settings.lease).0)
        .with(now.map(|now| now.0)))
}

impl Rows for Table<'_> {
    fn begin(&mut self, reads: Reads<'_>) -> Result<(Head, Timestamp)> {
        let mut commands = vec![Command::new(BEGIN), Command::new(SOON), self.named(LOCK)];
        // These and the following have answers.
        let silent = commands.len();
        commands.extend([self.timed(LOCKED_HEAD), self.timed(DUE)]);
        match reads {
            Reads::Nothing => {}
            Reads::Trials(tokens) => {
                let ids: Vec<i64> = tokens.iter().map(|token| bounded(token.trial)).collect();
                commands.push(self.named(NUMBERED).with(ids));
            }
            Reads::Ask(ask) => {
                let wanted = bounded(ask.wanted as u64);
                commands.push(self.named(ANSWER).with(ask.key.to_owned()));
                commands.push(self.named(HELD).with(ask.worker.to_owned()).with(wanted));
                commands.push(self.named(QUEUED).with(wanted));
                commands.push(self.timed(STALE).with(bounded(REVIEWED as u64)));
            }
            Reads::Additions(additions) => {
                let keys: Vec<String> = additions.iter().map(|added| added.key.clone()).collect();
                commands.push(self.named(ADDED).with(keys));
            }
        }
        let mut answers = self.run(commands)?.into_iter().skip(silent);
        let mut next = || answers.next().unwrap_or_default();
        let head = self.take_head(&next())?;
        self.fetched.due = Some(self.trials_of(&next())?);
        match reads {
            Reads::Nothing => {}
            Reads::Trials(tokens) => {
                for trial in self.trials_of(&next())? {
                    self.fetched.trials.insert(trial.id, Some(trial));
                }
                for token in tokens {
                    self.fetched.trials.entry(token.trial).or_insert(None);
                }
            }
            Reads::Ask(ask) => {
                let answers = next();
                let answer = answers.first();
                let answer = answer.map(|row| self.answer_of(ask.key, row, 0)).transpose()?;
                self.fetched.answer = Some((ask.key.to_owned(), answer));
                self.fetched.held = Some(self.trials_of(&next())?);
                self.fetched.queued = Some(self.trials_of(&next())?);
                self.fetched.stale = Some(self.stale_of(&next())?);
            }
            Reads::Additions(additions) => {
                let unknown = additions.iter().map(|added| (added.key.clone(), None));
                self.fetched.additions = unknown.collect();
                for row in next() {
                    let (key, trial) = self.added_of(&row)?;
                    self.fetched.additions.insert(key, Some(trial));
                }
            }
        }
        Ok(head)
    }

    fn save_head(&mut self, head: &Head) -> Result<()> {
        let counts = &head.counts;
        let command = Command::new(
            "UPDATE studies SET budget = $2, issued = $3, sequence = $4, fence = $5, queued = $6, running = $7, \
             valued = $8, failed = $9, infeasible = $10, imported = $11 WHERE id = $1",
        )
        .with(self.id);
        let command = [
            head.budget,
            head.issued,
            head.sequence,
            head.fence,
            counts.queued,
            counts.running,
            counts.valued,
            counts.failed,
            counts.infeasible,
            counts.imported,
        ]
        .into_iter()
        .fold(command, |command, number| command.with(bounded(number)));
        self.write(command)
    }

    fn trial(&mut self, id: u64) -> Result<Option<Trial>> {
        if let Some(known) = self.fetched.trials.get(&id) {
            return Ok(known.clone());
        }
        let command = self.named(NUMBERED).with(vec![bounded(id)]);
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        Ok(self.trials_of(&rows)?.pop())
    }

    fn insert(&mut self, trial: &Trial) -> Result<()> {
        let command = self.trial_command(
            "INSERT INTO trials (study, id, configuration, origin, stage, lost, sequence, proposed, ended, worker, \
             fence, since, due, outcome, value, score, message, output, finished, tell_key, attributes) VALUES ($1, $2, $3, $4, \
             $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)",
            trial,
        )?;
        self.changed();
        self.fetched.trials.remove(&trial.id);
        self.write(command)
    }

    fn update(&mut self, trial: &Trial) -> Result<()> {
        let command = self.trial_command(
            "UPDATE trials SET configuration = $3, origin = $4, stage = $5, lost = $6, sequence = $7, proposed = $8, \
             ended = $9, worker = $10, fence = $11, since = $12, due = $13, outcome = $14, value = $15, score = $16, \
             message = $17, output = $18, finished = $19, tell_key = $20, attributes = $21 WHERE study = $1 AND id = $2",
            trial,
        )?;
        self.changed();
        self.fetched.trials.insert(trial.id, Some(trial.clone()));
        self.write(command)
    }

    fn due(&mut self, _: Timestamp) -> Result<Vec<Trial>> {
        if let Some(due) = self.fetched.due.take() {
            return Ok(due);
        }
        let command = self.timed(DUE);
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        self.trials_of(&rows)
    }

    fn held_by(&mut self, worker: &str, limit: usize) -> Result<Vec<Trial>> {
        if let Some(mut held) = self.fetched.held.take() {
            held.truncate(limit);
            return Ok(held);
        }
        let command = self.named(HELD).with(worker.to_owned()).with(bounded(limit as u64));
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        self.trials_of(&rows)
    }

    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>> {
        if let Some(mut queued) = self.fetched.queued.take() {
            queued.truncate(limit);
            return Ok(queued);
        }
        let command = self.named(QUEUED).with(bounded(limit as u64));
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        self.trials_of(&rows)
    }

    fn answer(&mut self, key: &str) -> Result<Option<Answer>> {
        if let Some((_, answer)) = self.fetched.answer.take_if(|(known, _)| known == key) {
            return Ok(answer);
        }
        let command = self.named(ANSWER).with(key.to_owned());
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        rows.first().map(|row| self.answer_of(key, row, 0)).transpose()
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer, review: Timestamp) -> Result<()> {
        let text = serde_json::to_string(answer)
            .map_err(|error| Error::corrupt(self.study, format!("answer to ask `{key}`"), error))?;
        let statement = "INSERT INTO asks (study, ask_key, answer, review) VALUES ($1, $2, $3, $4)";
        self.write(
            Command::new(statement).with(self.id).with(key.to_owned()).with(text).with(review.0),
        )
    }

    fn stale_answers(&mut self, _: Timestamp, limit: usize) -> Result<Vec<(String, Answer)>> {
        if let Some(mut stale) = self.fetched.stale.take() {
            stale.truncate(limit);
            return Ok(stale);
        }
        let command = self.timed(STALE).with(bounded(limit as u64));
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        self.stale_of(&rows)
    }

    fn postpone_answer(&mut self, key: &str, review: Timestamp) -> Result<()> {
        let statement = "UPDATE asks SET review = $3 WHERE study = $1 AND ask_key = $2";
        self.write(Command::new(statement).with(self.id).with(key.to_owned()).with(review.0))
    }

    fn forget_answer(&mut self, key: &str) -> Result<()> {
        let statement = "DELETE FROM asks WHERE study = $1 AND ask_key = $2";
        self.write(Command::new(statement).with(self.id).with(key.to_owned()))
    }

    fn addition(&mut self, key: &str) -> Result<Option<u64>> {
        if let Some(&known) = self.fetched.additions.get(key) {
            return Ok(known);
        }
        let command = self.named(ADDED).with(vec![key.to_owned()]);
        let rows = self.run(vec![command])?.pop().unwrap_or_default();
        Ok(rows.first().map(|row| self.added_of(row)).transpose()?.map(|(_, trial)| trial))
    }

    fn keep_addition(&mut self, key: &str, trial: u64) -> Result<()> {
        self.fetched.additions.insert(key.to_owned(), Some(trial));
        let statement = "INSERT INTO additions (study, add_key, trial) VALUES ($1, $2, $3)";
        self.write(Command::new(statement).with(self.id).with(key.to_owned()).with(bounded(trial)))
    }
}
