//! The rows of a study in PostgreSQL; the twin of SQLite's.
//!
//! A transaction begins with one exchange that locks the study and fetches what the call is about to read. What is
//! written waits here until something else is read, or until the commit, and is sent along with that.

use std::collections::HashMap;

use tokio_postgres::Row;
use wimble::goal::Direction;

use super::FLUSH;
use super::broken::Broken;
use super::link::{Command, Link};
use super::statements as say;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::settings::Record;
use crate::step::{Step, lowest_by_trial};
use crate::store::columns::head::{self, Entry};
use crate::store::columns::{Columns as _, bounded, record, step, trial};
use crate::store::rows::{Answer, Head, Holder, LOOKED_AT, REVIEWED, Reads, Rows};
use crate::store::{Filter, OutcomeKind, Stage};
use crate::trial::Trial;

/// Writes go to the server in parts of so many, which bounds what waits here.
const PART: usize = 500;

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
    /// Whether a transaction is open already.
    begun: bool,
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
    /// The steps of a trial from a fidelity on.
    curves: HashMap<u64, (f64, Vec<Step>)>,
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
            begun: false,
            broken: None,
        }
    }

    /// In a transaction that is open already.
    pub fn begun(mut self, begun: bool) -> Self {
        self.begun = begun;
        self
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
        if let Some(broken) = self.broken.take() {
            return broken;
        }
        let failure = Broken::from(failure);
        match self.link.execute(say::ROLLBACK) {
            Ok(()) => failure,
            Err(_) => failure.in_a_transaction(),
        }
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

    /// The same for one command.
    fn query(&mut self, command: Command) -> Result<Vec<Row>> {
        Ok(self.run(vec![command])?.pop().unwrap_or_default())
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

    /// Asks for the trials of a worker.
    fn held(&self, worker: &str, incarnation: Option<&str>, limit: usize) -> Command {
        self.named(&say::HELD)
            .with(worker.to_owned())
            .with(incarnation.map(str::to_owned))
            .with(bounded(limit as u64))
    }

    /// Asks for the trials whose leases are due.
    fn due_command(&self) -> Command {
        self.timed(&say::DUE).with(bounded(LOOKED_AT as u64))
    }

    fn timed(&self, statement: &'static str) -> Command {
        self.named(statement).with(self.clock.map(|now| now.0))
    }

    /// The head as it is, without a lock; together with other reads.
    fn peek_with(&mut self, command: Command) -> Result<(Head, Vec<Row>)> {
        let head = self.timed(&say::HEAD);
        let mut answers = self.run(vec![head, command])?.into_iter();
        let (heads, rows) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        Ok((self.take_head(&heads)?.0, rows))
    }

    pub fn peek(&mut self) -> Result<Head> {
        let head = self.timed(&say::HEAD);
        let rows = self.query(head)?;
        Ok(self.take_head(&rows)?.0)
    }

    fn take_head(&mut self, rows: &[Row]) -> Result<(Head, Timestamp)> {
        let row = rows.first().ok_or_else(|| self.unknown())?;
        let Entry { id, direction, head } = head::read(self.study, row)?;
        (self.id, self.direction) = (id, direction);
        let now = row.try_get(head::Column::NAMES.len());
        Ok((head, Timestamp(now.map_err(|error| Error::corrupt(self.study, "settings", error))?)))
    }

    fn unknown(&self) -> Error {
        Error::UnknownStudy { study: self.study.to_owned() }
    }

    pub fn record(&mut self) -> Result<Record> {
        let commands = vec![self.named(&say::RECORD), self.named(&say::ENGINES)];
        let mut answers = self.run(commands)?.into_iter();
        let (records, engines) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        let row = records.first().ok_or_else(|| self.unknown())?;
        let engines: Result<Vec<_>> =
            engines.iter().map(|row| record::engine(self.study, row)).collect();
        record::read(self.study, row, engines?)
    }

    pub fn changes_since(&mut self, sequence: u64, limit: usize) -> Result<Vec<Trial>> {
        let commands = vec![
            self.timed(&say::HEAD),
            self.named(&say::CHANGES).with(bounded(sequence)).with(bounded(limit as u64)),
            Command::new(say::CAUGHT_UP),
        ];
        let answers = self.run(commands)?;
        self.take_head(&answers[0])?;
        let changes = self.trials_of(&answers[1])?;
        self.settle(changes.is_empty(), &answers[2])?;
        Ok(changes)
    }

    /// Waits until what was read is on the disk, unless it is: a reader outlives a crash of the server.
    fn settle(&mut self, is_empty: bool, caught_up: &[Row]) -> Result<()> {
        let caught_up = caught_up.first().is_some_and(|row| row.try_get(0).unwrap_or(false));
        if !is_empty && !caught_up {
            self.run(vec![Command::new(FLUSH)])?;
        }
        Ok(())
    }

    pub fn steps_since(&mut self, sequence: u64, limit: usize) -> Result<Vec<Step>> {
        let commands = vec![
            self.timed(&say::HEAD),
            self.named(&say::STEPS).with(bounded(sequence)).with(bounded(limit as u64)),
            Command::new(say::CAUGHT_UP),
        ];
        let answers = self.run(commands)?;
        self.take_head(&answers[0])?;
        let steps = self.steps_of(&answers[1])?;
        self.settle(steps.is_empty(), &answers[2])?;
        Ok(steps)
    }

    /// The steps of a trial that must exist.
    pub fn curve(&mut self, trial: u64) -> Result<Vec<Step>> {
        let command = self.named(&say::CURVE).with(bounded(trial)).with(0.0);
        let (head, rows) = self.peek_with(command)?;
        if trial >= head.issued {
            let (study, issued) = (self.study.to_owned(), head.issued);
            return Err(Error::UnknownTrial { study, trial, issued });
        }
        self.steps_of(&rows)
    }

    fn steps_of(&self, rows: &[Row]) -> Result<Vec<Step>> {
        rows.iter().map(|row| step::read(self.study, row)).collect()
    }

    pub fn filtered(&mut self, filter: &Filter) -> Result<Vec<Trial>> {
        let [any, queued, running, paused, finished] = &*say::FILTERED;
        let statement = match filter.stage {
            None => any,
            Some(Stage::Queued) => queued,
            Some(Stage::Running) => running,
            Some(Stage::Paused) => paused,
            Some(Stage::Finished) => finished,
        };
        let command = self
            .named(statement)
            .with(bounded(filter.from))
            .with(filter.outcome.map(OutcomeKind::word))
            // No worker has a zero byte, and the server takes none.
            .with(filter.worker.as_ref().map(|worker| worker.replace('\0', "\u{fffd}")))
            .with(filter.limit.map(|limit| bounded(limit as u64)));
        let rows = self.peek_with(command)?.1;
        self.trials_of(&rows)
    }

    pub fn numbered(&mut self, trial: u64) -> Result<Trial> {
        let command = self.named(&say::NUMBERED).with(vec![bounded(trial)]);
        let (head, rows) = self.peek_with(command)?;
        let found = self.trials_of(&rows)?.pop();
        let (study, issued) = (self.study.to_owned(), head.issued);
        found.ok_or(Error::UnknownTrial { study, trial, issued })
    }

    pub fn best(&mut self, count: usize) -> Result<Vec<Trial>> {
        let command = self.named(&say::BEST).with(bounded(count as u64));
        let rows = self.peek_with(command)?.1;
        self.trials_of(&rows)
    }

    pub fn notes(&mut self) -> Result<Vec<Note>> {
        let command = self.named(&say::NOTES);
        let rows = self.peek_with(command)?.1;
        let note = |row: &Row| {
            let trial = row.try_get::<_, i64>(0)?.cast_unsigned();
            Ok(Note { trial, text: row.try_get(1)?, at: Timestamp(row.try_get(2)?) })
        };
        let notes: std::result::Result<_, tokio_postgres::Error> = rows.iter().map(note).collect();
        notes.map_err(|error| Error::corrupt(self.study, "notes", error))
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
            "DELETE FROM engines WHERE study = $1",
            "DELETE FROM steps WHERE study = $1",
            "DELETE FROM notes WHERE study = $1",
            "DELETE FROM trials WHERE study = $1",
            "DELETE FROM studies WHERE id = $1",
        ] {
            self.write(Command::new(statement).with(self.id))?;
        }
        Ok(())
    }

    fn trials_of(&self, rows: &[Row]) -> Result<Vec<Trial>> {
        rows.iter().map(|row| trial::read(self.study, row)).collect()
    }

    /// Keeps trials that were read ahead, and that those that are not among them do not exist.
    fn keep_fetched(&mut self, rows: &[Row], asked: impl Iterator<Item = u64>) -> Result<()> {
        for trial in self.trials_of(rows)? {
            self.fetched.trials.insert(trial.id, Some(trial));
        }
        for trial in asked {
            self.fetched.trials.entry(trial).or_insert(None);
        }
        Ok(())
    }

    fn answer_of(&self, key: &str, row: &Row, column: usize) -> Result<Answer> {
        let corrupt = |error| Error::corrupt(self.study, format!("answer to ask `{key}`"), error);
        Answer::from_json(self.study, key, row.try_get(column).map_err(corrupt)?)
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

    /// A statement with the cells of a trial as parameters, and the number of the study.
    fn trial_command(&self, statement: &'static str, trial: &Trial) -> Result<Command> {
        let cells = trial::write(self.study, trial, self.direction)?;
        Ok(Command::new(statement).with_cells(cells).with(self.id))
    }

    /// Trials change: what was fetched of them holds no longer.
    fn changed(&mut self) {
        self.fetched.due = None;
        self.fetched.held = None;
        self.fetched.queued = None;
    }
}

/// Adds a study unless there is one of its name.
pub(super) fn add(record: &Record, now: Option<Timestamp>) -> Result<Command> {
    Ok(Command::new(&say::ADD).with_cells(record::write(record)?).with(now.map(|now| now.0)))
}

impl Rows for Table<'_> {
    fn begin(&mut self, reads: Reads<'_>) -> Result<(Head, Timestamp)> {
        let mut commands = vec![Command::new(say::SOON), self.named(say::LOCK)];
        if !self.begun {
            commands.insert(0, Command::new(say::BEGIN));
        }
        // These and the following have answers.
        let silent = commands.len();
        commands.push(self.timed(&say::LOCKED_HEAD));
        match reads {
            Reads::Nothing => {}
            Reads::Trials(tokens) => {
                let ids: Vec<i64> = tokens.iter().map(|token| bounded(token.trial)).collect();
                commands.push(self.named(&say::NUMBERED).with(ids));
            }
            Reads::Ask(ask) => {
                let wanted = bounded(ask.wanted as u64);
                commands.push(self.named(&say::ANSWER).with(ask.key.to_owned()));
                commands.push(self.held(ask.worker, ask.incarnation, ask.wanted));
                commands.push(self.named(&say::QUEUED).with(wanted));
                commands.push(self.timed(&say::STALE).with(bounded(REVIEWED as u64)));
                commands.push(self.due_command());
            }
            Reads::Additions(additions) => {
                let keys: Vec<String> = additions.iter().map(|added| added.key.clone()).collect();
                commands.push(self.named(&say::ADDED).with(keys));
            }
            Reads::Reports(reports) => {
                let wanted = lowest_by_trial(reports);
                let ids: Vec<i64> = wanted.keys().map(|&trial| bounded(trial)).collect();
                let lowest: Vec<f64> = wanted.into_values().collect();
                commands.push(self.named(&say::NUMBERED).with(ids.clone()));
                commands.push(self.named(&say::CURVES).with(ids).with(lowest));
            }
        }
        let mut answers = self.run(commands)?.into_iter().skip(silent);
        let mut next = || answers.next().unwrap_or_default();
        let head = self.take_head(&next())?;
        match reads {
            Reads::Nothing => {}
            Reads::Trials(tokens) => {
                self.keep_fetched(&next(), tokens.iter().map(|token| token.trial))?;
            }
            Reads::Reports(reports) => {
                self.keep_fetched(&next(), reports.iter().map(|report| report.token.trial))?;
                let nothing = |(trial, lowest)| (trial, (lowest, Vec::new()));
                self.fetched.curves = lowest_by_trial(reports).into_iter().map(nothing).collect();
                for step in self.steps_of(&next())? {
                    if let Some((_, curve)) = self.fetched.curves.get_mut(&step.trial) {
                        curve.push(step);
                    }
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
                self.fetched.due = Some(self.trials_of(&next())?);
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
        let entry = Entry { id: self.id, direction: self.direction, head: *head };
        let changes = head::write(entry).into_iter().skip(head::FIXED);
        self.write(Command::new(&say::SAVE_HEAD).with(self.id).with_cells(changes))
    }

    fn trial(&mut self, id: u64) -> Result<Option<Trial>> {
        if let Some(known) = self.fetched.trials.get(&id) {
            return Ok(known.clone());
        }
        let command = self.named(&say::NUMBERED).with(vec![bounded(id)]);
        let rows = self.query(command)?;
        Ok(self.trials_of(&rows)?.pop())
    }

    fn insert(&mut self, trial: &Trial) -> Result<()> {
        let command = self.trial_command(&say::INSERT, trial)?;
        self.changed();
        self.fetched.trials.remove(&trial.id);
        self.write(command)
    }

    fn update(&mut self, trial: &Trial) -> Result<()> {
        let command = self.trial_command(&say::UPDATE, trial)?;
        self.changed();
        self.fetched.trials.insert(trial.id, Some(trial.clone()));
        self.write(command)
    }

    fn due(&mut self, _: Timestamp) -> Result<Vec<Trial>> {
        if let Some(due) = self.fetched.due.take() {
            return Ok(due);
        }
        let command = self.due_command();
        let rows = self.query(command)?;
        self.trials_of(&rows)
    }

    fn held_by(&mut self, holder: Holder<'_>, limit: usize) -> Result<Vec<Trial>> {
        let Holder { worker, incarnation } = holder;
        if let Some(mut held) = self.fetched.held.take() {
            held.truncate(limit);
            return Ok(held);
        }
        let command = self.held(worker, incarnation, limit);
        let rows = self.query(command)?;
        self.trials_of(&rows)
    }

    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>> {
        if let Some(mut queued) = self.fetched.queued.take() {
            queued.truncate(limit);
            return Ok(queued);
        }
        let command = self.named(&say::QUEUED).with(bounded(limit as u64));
        let rows = self.query(command)?;
        self.trials_of(&rows)
    }

    fn answer(&mut self, key: &str) -> Result<Option<Answer>> {
        if let Some((_, answer)) = self.fetched.answer.take_if(|(known, _)| known == key) {
            return Ok(answer);
        }
        let command = self.named(&say::ANSWER).with(key.to_owned());
        let rows = self.query(command)?;
        rows.first().map(|row| self.answer_of(key, row, 0)).transpose()
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer, review: Timestamp) -> Result<()> {
        let text = answer.to_json(self.study, key)?;
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
        let command = self.timed(&say::STALE).with(bounded(limit as u64));
        let rows = self.query(command)?;
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
        let command = self.named(&say::ADDED).with(vec![key.to_owned()]);
        let rows = self.query(command)?;
        Ok(rows.first().map(|row| self.added_of(row)).transpose()?.map(|(_, trial)| trial))
    }

    fn keep_addition(&mut self, key: &str, trial: u64) -> Result<()> {
        self.fetched.additions.insert(key.to_owned(), Some(trial));
        let statement = "INSERT INTO additions (study, add_key, trial) VALUES ($1, $2, $3)";
        self.write(Command::new(statement).with(self.id).with(key.to_owned()).with(bounded(trial)))
    }

    fn steps_from(&mut self, trial: u64, fidelity: f64) -> Result<Vec<Step>> {
        if let Some((_, steps)) =
            self.fetched.curves.remove(&trial).filter(|(from, _)| *from <= fidelity)
        {
            return Ok(steps.into_iter().filter(|step| step.fidelity() >= fidelity).collect());
        }
        let command = self.named(&say::CURVE).with(bounded(trial)).with(fidelity);
        let rows = self.query(command)?;
        self.steps_of(&rows)
    }

    fn insert_step(&mut self, step: &Step) -> Result<()> {
        self.fetched.curves.remove(&step.trial);
        self.write(Command::new(&say::INSERT_STEP).with_cells(step::write(step)).with(self.id))
    }

    fn drop_steps(&mut self, trial: u64, fidelity: f64) -> Result<()> {
        self.fetched.curves.remove(&trial);
        self.write(Command::new(say::DROP_STEPS).with(self.id).with(bounded(trial)).with(fidelity))
    }

    fn keep_note(&mut self, note: &Note) -> Result<()> {
        let command = Command::new(say::KEEP_NOTE).with(self.id).with(bounded(note.trial));
        self.write(command.with(note.text.clone()).with(note.at.0))
    }

    fn drop_note(&mut self, trial: u64) -> Result<()> {
        self.write(Command::new(say::DROP_NOTE).with(self.id).with(bounded(trial)))
    }

    fn note_engine(&mut self, version: &str, first_trial: u64) -> Result<()> {
        let command = Command::new(say::NOTE_ENGINE).with(self.id).with(bounded(first_trial));
        self.write(command.with(version.to_owned()))
    }
}
