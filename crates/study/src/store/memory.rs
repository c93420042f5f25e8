//! Studies in memory, for one process: for tests, and for studies that need not outlive it.
//!
//! One lock over everything. Cost of a call: O(log trials), and the trials that it returns.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};

use super::calls::written_by_the_rules;
use super::rows::{Answer, Head, Holder, LOOKED_AT, Reads, Rows};
use super::rules::Rules;
use super::{
    Ask, Filter, OutcomeKind, Proposal, Reader, Refused, Reply, Stage, Store, ranked_value,
};

use crate::clock::{Clock, Timestamp};
use crate::counts::Counts;
use crate::diagnosis::Condition;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::random::random_word;
use crate::settings::{EngineSpan, Record, check_format};
use crate::step::Step;
use crate::trial::{Change, Origin, State, Token, Trial};

/// Studies in memory.
pub struct Memory {
    clock: Box<dyn Clock>,
    identity: String,
    studies: Mutex<Studies>,
}

#[derive(Default)]
struct Studies {
    tables: BTreeMap<String, Table>,
    /// The last fencing numbers of deleted studies.
    deleted: HashMap<String, u64>,
}

impl Memory {
    /// No studies yet, and this clock.
    pub fn new(clock: impl Clock) -> Self {
        Self { clock: Box::new(clock), identity: random_word(), studies: Mutex::default() }
    }

    fn lock(&self) -> Result<MutexGuard<'_, Studies>> {
        self.studies.lock().map_err(|_| Error::Backend {
            place: "the store in memory".to_owned(),
            doing: "taking its lock",
            source: "a thread that held it panicked".into(),
        })
    }

    fn read<T>(&self, study: &str, work: impl FnOnce(&Table) -> T) -> Result<T> {
        let studies = self.lock()?;
        studies.tables.get(study).map(work).ok_or_else(|| unknown(study))
    }

    fn write<T>(
        &self,
        study: &str,
        work: impl FnOnce(&mut Rules<'_, Table>) -> Result<T>,
    ) -> Result<T> {
        let mut studies = self.lock()?;
        let table = studies.tables.get_mut(study).ok_or_else(|| unknown(study))?;
        table.now = self.clock.now();
        work(&mut Rules::begin(study, table, Reads::Nothing)?)
    }
}

fn unknown(study: &str) -> Error {
    Error::UnknownStudy { study: study.to_owned() }
}

impl Reader for Memory {
    fn identity(&self) -> Result<String> {
        Ok(self.identity.clone())
    }

    fn study(&self, study: &str) -> Result<Record> {
        self.read(study, Table::record)?
    }

    fn studies(&self) -> Result<Vec<String>> {
        Ok(self.lock()?.tables.keys().cloned().collect())
    }

    fn changes_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        self.read(study, |table| {
            let ids = table.by_sequence.range(sequence.saturating_add(1)..).take(limit);
            ids.map(|(_, &id)| Change { trial: table.trials[id as usize].clone() }).collect()
        })
    }

    fn trials(&self, study: &str, filter: &Filter) -> Result<Vec<Trial>> {
        self.read(study, |table| {
            let from = usize::try_from(filter.from).unwrap_or(usize::MAX).min(table.trials.len());
            let limit = filter.limit.unwrap_or(usize::MAX);
            table.trials[from..]
                .iter()
                .filter(|t| matches(t, filter))
                .take(limit)
                .cloned()
                .collect()
        })
    }

    fn trial(&self, study: &str, trial: u64) -> Result<Trial> {
        let found = self.read(study, |table| {
            let place = usize::try_from(trial).ok();
            place.and_then(|id| table.trials.get(id)).cloned().ok_or(table.head.issued)
        })?;
        found.map_err(|issued| Error::UnknownTrial { study: study.to_owned(), trial, issued })
    }

    fn best(&self, study: &str, count: usize) -> Result<Vec<Trial>> {
        self.read(study, |table| {
            table.scores.iter().take(count).map(|&(_, _, id)| table.get(id)).collect()
        })
    }

    fn notes(&self, study: &str) -> Result<Vec<Note>> {
        self.read(study, |table| table.notes.values().cloned().collect())
    }

    fn counts(&self, study: &str) -> Result<Counts> {
        self.read(study, |table| table.head.counts)
    }

    fn sequence(&self, study: &str) -> Result<u64> {
        self.read(study, |table| table.head.sequence)
    }

    fn steps(&self, study: &str, trial: u64) -> Result<Vec<Step>> {
        self.trial(study, trial)?;
        self.read(study, |table| table.steps_from(trial, 0.0))
    }

    fn steps_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Step>> {
        self.read(study, |table| {
            let later = table.steps_by_sequence.range(sequence.saturating_add(1)..);
            later.take(limit).filter_map(|(_, place)| table.steps.get(place).cloned()).collect()
        })
    }

    fn condition(&self) -> Result<Condition> {
        Ok(Condition {
            place: "memory".to_owned(),
            software: format!("wimble {}", env!("CARGO_PKG_VERSION")),
            durability: "none: it ends with the process".to_owned(),
            schema: 0,
            now: self.clock.now(),
        })
    }
}

impl Store for Memory {
    fn create(&self, record: &Record) -> Result<Record> {
        let name = &record.settings.name;
        let Studies { tables, deleted } = &mut *self.lock()?;
        match tables.entry(name.clone()) {
            Entry::Occupied(table) => table.get().record(),
            Entry::Vacant(place) => {
                let fence = deleted.get(name).copied().unwrap_or(0);
                place.insert(Table::new(record.clone(), fence)).record()
            }
        }
    }

    fn delete(&self, study: &str) -> Result<()> {
        let mut studies = self.lock()?;
        let table = studies.tables.remove(study).ok_or_else(|| unknown(study))?;
        studies.deleted.insert(study.to_owned(), table.head.fence);
        Ok(())
    }

    written_by_the_rules!();

    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        self.write(study, |rules| rules.ask(ask, proposal))
    }

    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>> {
        self.write(study, |rules| rules.heartbeats(tokens))
    }
}

fn matches(trial: &Trial, filter: &Filter) -> bool {
    let outcome = trial.outcome().map(OutcomeKind::of);
    filter.stage.is_none_or(|wanted| wanted == Stage::of(&trial.state))
        && (filter.outcome.is_none() || filter.outcome == outcome)
        && (filter.worker.is_none() || filter.worker.as_deref() == trial.worker())
}

/// One study, with indices to find its trials by.
struct Table {
    record: Record,
    head: Head,
    /// When the present call began.
    now: Timestamp,
    trials: Vec<Trial>,
    by_sequence: BTreeMap<u64, u64>,
    /// Whether it was proposed, and its number: what users added comes first.
    queue: BTreeSet<(bool, u64)>,
    due: BTreeSet<(Timestamp, u64)>,
    held: HashMap<String, BTreeSet<u64>>,
    /// Minimised values as bits that sort like them, with sequence and trial.
    scores: BTreeSet<(i64, u64, u64)>,
    answers: HashMap<String, (Answer, Timestamp)>,
    reviews: BTreeSet<(Timestamp, String)>,
    additions: HashMap<String, u64>,
    /// By trial and fidelity: above 0, the bits of numbers sort like them.
    steps: BTreeMap<(u64, u64), Step>,
    steps_by_sequence: BTreeMap<u64, (u64, u64)>,
    notes: BTreeMap<u64, Note>,
}

impl Table {
    fn new(record: Record, fence: u64) -> Self {
        Self {
            head: Head::new(&record, fence),
            record,
            now: Timestamp(0),
            trials: Vec::new(),
            by_sequence: BTreeMap::new(),
            queue: BTreeSet::new(),
            due: BTreeSet::new(),
            held: HashMap::new(),
            scores: BTreeSet::new(),
            answers: HashMap::new(),
            reviews: BTreeSet::new(),
            additions: HashMap::new(),
            steps: BTreeMap::new(),
            steps_by_sequence: BTreeMap::new(),
            notes: BTreeMap::new(),
        }
    }

    fn record(&self) -> Result<Record> {
        let mut record = self.record.clone();
        check_format(&record.settings.name, record.format)?;
        record.settings.budget = self.head.budget;
        record.paused = self.head.paused;
        Ok(record)
    }

    fn list(&mut self, trial: &Trial) {
        self.by_sequence.insert(trial.sequence, trial.id);
        match &trial.state {
            State::Queued(_) => {
                self.queue.insert(queue_place(trial));
            }
            State::Running(lease) => {
                self.due.insert((lease.due, trial.id));
                self.held.entry(lease.worker.clone()).or_default().insert(trial.id);
            }
            State::Paused(_) => {}
            State::Finished(finish) => {
                if let Some(value) = ranked_value(&finish.outcome) {
                    let score = self.record.settings.goal.first_direction().turn(value);
                    self.scores.insert((sortable(score), trial.sequence, trial.id));
                }
            }
        }
    }

    fn unlist(&mut self, id: u64) {
        let trial = &self.trials[id as usize];
        self.by_sequence.remove(&trial.sequence);
        match &trial.state {
            State::Queued(_) => {
                self.queue.remove(&queue_place(trial));
            }
            State::Running(lease) => {
                self.due.remove(&(lease.due, id));
                if let Some(held) = self.held.get_mut(&lease.worker) {
                    held.remove(&id);
                    if held.is_empty() {
                        self.held.remove(&lease.worker);
                    }
                }
            }
            // Finished trials never change, and paused ones are in no list.
            State::Paused(_) | State::Finished(_) => {}
        }
    }

    fn steps_from(&self, trial: u64, fidelity: f64) -> Vec<Step> {
        let places = (trial, fidelity.to_bits())..=(trial, u64::MAX);
        self.steps.range(places).map(|(_, step)| step.clone()).collect()
    }

    fn get(&self, id: u64) -> Trial {
        self.trials[id as usize].clone()
    }
}

/// A trial's place in the queue.
fn queue_place(trial: &Trial) -> (bool, u64) {
    (trial.origin != Origin::Enqueued, trial.id)
}

/// A number that sorts among its like as finite floats do.
fn sortable(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    // Below zero, larger bits are smaller values.
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl Rows for Table {
    fn begin(&mut self, _: Reads<'_>) -> Result<(Head, Timestamp)> {
        Ok((self.head, self.now))
    }

    fn save_head(&mut self, head: &Head) -> Result<()> {
        self.head = *head;
        Ok(())
    }

    fn trial(&mut self, id: u64) -> Result<Option<Trial>> {
        Ok(usize::try_from(id).ok().and_then(|id| self.trials.get(id)).cloned())
    }

    fn insert(&mut self, trial: &Trial) -> Result<()> {
        self.trials.push(trial.clone());
        self.list(trial);
        Ok(())
    }

    fn update(&mut self, trial: &Trial) -> Result<()> {
        self.unlist(trial.id);
        self.trials[trial.id as usize] = trial.clone();
        self.list(trial);
        Ok(())
    }

    fn due(&mut self, now: Timestamp) -> Result<Vec<Trial>> {
        let due = self.due.range(..=(now, u64::MAX)).take(LOOKED_AT);
        Ok(due.map(|&(_, id)| self.get(id)).collect())
    }

    fn held_by(&mut self, holder: Holder<'_>, limit: usize) -> Result<Vec<Trial>> {
        let Holder { worker, incarnation } = holder;
        let held = self.held.get(worker).into_iter().flatten().map(|&id| self.get(id));
        let own = held
            .filter(|trial| trial.lease().is_some_and(|lease| lease.is_of(worker, incarnation)));
        Ok(own.take(limit).collect())
    }

    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>> {
        Ok(self.queue.iter().take(limit).map(|&(_, id)| self.get(id)).collect())
    }

    fn answer(&mut self, key: &str) -> Result<Option<Answer>> {
        Ok(self.answers.get(key).map(|(answer, _)| answer.clone()))
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer, review: Timestamp) -> Result<()> {
        self.answers.insert(key.to_owned(), (answer.clone(), review));
        self.reviews.insert((review, key.to_owned()));
        Ok(())
    }

    fn stale_answers(&mut self, now: Timestamp, limit: usize) -> Result<Vec<(String, Answer)>> {
        let stale = self.reviews.iter().take_while(|(review, _)| *review <= now).take(limit);
        let answers = stale.filter_map(|(_, key)| {
            self.answers.get(key).map(|(answer, _)| (key.clone(), answer.clone()))
        });
        Ok(answers.collect())
    }

    fn postpone_answer(&mut self, key: &str, review: Timestamp) -> Result<()> {
        if let Some((_, old)) = self.answers.get_mut(key) {
            self.reviews.remove(&(*old, key.to_owned()));
            self.reviews.insert((review, key.to_owned()));
            *old = review;
        }
        Ok(())
    }

    fn forget_answer(&mut self, key: &str) -> Result<()> {
        if let Some((_, review)) = self.answers.remove(key) {
            self.reviews.remove(&(review, key.to_owned()));
        }
        Ok(())
    }

    fn addition(&mut self, key: &str) -> Result<Option<u64>> {
        Ok(self.additions.get(key).copied())
    }

    fn keep_addition(&mut self, key: &str, trial: u64) -> Result<()> {
        self.additions.insert(key.to_owned(), trial);
        Ok(())
    }

    fn steps_from(&mut self, trial: u64, fidelity: f64) -> Result<Vec<Step>> {
        Ok(Self::steps_from(self, trial, fidelity))
    }

    fn insert_step(&mut self, step: &Step) -> Result<()> {
        let place = (step.trial, step.fidelity().to_bits());
        self.steps_by_sequence.insert(step.sequence, place);
        self.steps.insert(place, step.clone());
        Ok(())
    }

    fn drop_steps(&mut self, trial: u64, fidelity: f64) -> Result<()> {
        for step in Self::steps_from(self, trial, fidelity) {
            self.steps.remove(&(trial, step.fidelity().to_bits()));
            self.steps_by_sequence.remove(&step.sequence);
        }
        Ok(())
    }

    fn keep_note(&mut self, note: &Note) -> Result<()> {
        self.notes.insert(note.trial, note.clone());
        Ok(())
    }

    fn drop_note(&mut self, trial: u64) -> Result<()> {
        self.notes.remove(&trial);
        Ok(())
    }

    fn note_engine(&mut self, version: &str, first_trial: u64) -> Result<()> {
        let engines = &mut self.record.engines;
        if engines.last().is_none_or(|latest| latest.version != version) {
            engines.push(EngineSpan { version: version.to_owned(), first_trial });
        }
        Ok(())
    }
}
