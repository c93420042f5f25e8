//! Studies in memory, for one process: for tests, and for studies that need not outlive it.
//!
//! One lock over everything. Cost of a call: O(log trials), and the trials that it returns.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};

use super::rules::{Answer, Head, Rows, Rules};
use super::{Ask, Filter, Proposal, Reply, Stage, Store};
use crate::clock::{Clock, Timestamp};
use crate::error::{Error, Result};
use crate::settings::Record;
use crate::trial::{Change, Outcome, State, Token, Trial};

/// Studies in memory.
pub struct Memory {
    clock: Box<dyn Clock>,
    studies: Mutex<BTreeMap<String, Table>>,
}

impl Memory {
    /// No studies yet, and this clock.
    pub fn new(clock: impl Clock) -> Self {
        Self { clock: Box::new(clock), studies: Mutex::default() }
    }

    fn lock(&self) -> Result<MutexGuard<'_, BTreeMap<String, Table>>> {
        self.studies.lock().map_err(|_| Error::Backend {
            place: "the store in memory".to_owned(),
            doing: "taking its lock",
            source: "a thread that held it panicked".into(),
        })
    }

    fn read<T>(&self, study: &str, work: impl FnOnce(&Table) -> T) -> Result<T> {
        let studies = self.lock()?;
        studies.get(study).map(work).ok_or_else(|| unknown(study))
    }

    fn write<T>(
        &self,
        study: &str,
        work: impl FnOnce(&mut Rules<'_, Table>) -> Result<T>,
    ) -> Result<T> {
        let mut studies = self.lock()?;
        let table = studies.get_mut(study).ok_or_else(|| unknown(study))?;
        work(&mut Rules::begin(study, table, self.clock.now())?)
    }
}

fn unknown(study: &str) -> Error {
    Error::UnknownStudy { study: study.to_owned() }
}

impl Store for Memory {
    fn create(&self, record: &Record) -> Result<Record> {
        Ok(match self.lock()?.entry(record.settings.name.clone()) {
            Entry::Occupied(table) => table.get().record(),
            Entry::Vacant(place) => place.insert(Table::new(record.clone())).record(),
        })
    }

    fn study(&self, study: &str) -> Result<Record> {
        self.read(study, Table::record)
    }

    fn studies(&self) -> Result<Vec<String>> {
        Ok(self.lock()?.keys().cloned().collect())
    }

    fn set_budget(&self, study: &str, budget: u64) -> Result<()> {
        self.write(study, |rules| rules.set_budget(budget))
    }

    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        self.write(study, |rules| rules.ask(ask, proposal))
    }

    fn heartbeat(&self, study: &str, token: Token) -> Result<()> {
        self.write(study, |rules| rules.heartbeat(token))
    }

    fn tell(&self, study: &str, token: Token, outcome: &Outcome, key: &str) -> Result<()> {
        self.write(study, |rules| rules.tell(token, outcome, key))
    }

    fn release(&self, study: &str, token: Token) -> Result<()> {
        self.write(study, |rules| rules.release(token))
    }

    fn expire_leases(&self, study: &str) -> Result<usize> {
        self.write(study, |rules| Ok(rules.ended()))
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
}

fn matches(trial: &Trial, filter: &Filter) -> bool {
    let (stage, worker) = match &trial.state {
        State::Queued(_) => (Stage::Queued, None),
        State::Running(lease) => (Stage::Running, Some(&lease.worker)),
        State::Finished(finish) => (Stage::Finished, Some(&finish.lease.worker)),
    };
    filter.stage.is_none_or(|wanted| wanted == stage)
        && (filter.worker.is_none() || filter.worker.as_ref() == worker)
}

/// One study, with what finds its trials.
struct Table {
    record: Record,
    head: Head,
    trials: Vec<Trial>,
    by_sequence: BTreeMap<u64, u64>,
    queue: BTreeSet<u64>,
    due: BTreeSet<(Timestamp, u64)>,
    held: HashMap<String, BTreeSet<u64>>,
    answers: HashMap<String, Answer>,
}

impl Table {
    fn new(record: Record) -> Self {
        let settings = &record.settings;
        let head = Head {
            budget: settings.budget,
            retries: settings.retries,
            lease: settings.lease,
            issued: 0,
            sequence: 0,
            fence: 0,
        };
        Self {
            record,
            head,
            trials: Vec::new(),
            by_sequence: BTreeMap::new(),
            queue: BTreeSet::new(),
            due: BTreeSet::new(),
            held: HashMap::new(),
            answers: HashMap::new(),
        }
    }

    fn record(&self) -> Record {
        let mut record = self.record.clone();
        record.settings.budget = self.head.budget;
        record
    }

    fn list(&mut self, trial: &Trial) {
        self.by_sequence.insert(trial.sequence, trial.id);
        match &trial.state {
            State::Queued(_) => {
                self.queue.insert(trial.id);
            }
            State::Running(lease) => {
                self.due.insert((lease.due, trial.id));
                self.held.entry(lease.worker.clone()).or_default().insert(trial.id);
            }
            State::Finished(_) => {}
        }
    }

    fn unlist(&mut self, id: u64) {
        let trial = &self.trials[id as usize];
        self.by_sequence.remove(&trial.sequence);
        match &trial.state {
            State::Queued(_) => {
                self.queue.remove(&id);
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
            State::Finished(_) => {}
        }
    }

    fn get(&self, id: u64) -> Trial {
        self.trials[id as usize].clone()
    }
}

impl Rows for Table {
    fn head(&mut self) -> Result<Head> {
        Ok(self.head)
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
        Ok(self.due.range(..=(now, u64::MAX)).map(|&(_, id)| self.get(id)).collect())
    }

    fn held_by(&mut self, worker: &str, limit: usize) -> Result<Vec<Trial>> {
        let held = self.held.get(worker).into_iter().flatten();
        Ok(held.take(limit).map(|&id| self.get(id)).collect())
    }

    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>> {
        Ok(self.queue.iter().take(limit).map(|&id| self.get(id)).collect())
    }

    fn answer(&mut self, key: &str) -> Result<Option<Answer>> {
        Ok(self.answers.get(key).cloned())
    }

    fn keep_answer(&mut self, key: &str, answer: &Answer) -> Result<()> {
        self.answers.insert(key.to_owned(), answer.clone());
        Ok(())
    }
}
