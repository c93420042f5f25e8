//! The connection of one process to the storage, which fails when it is told to.

use std::sync::{Arc, Mutex};

use wimble_study::store::{Ask, Proposal, Reply, Resume, Tell, Transfer};
use wimble_study::{
    Addition, Change, Condition, Counts, Error, Filter, Memory, Note, Reader, Record, Refused,
    Report, Result, Step, Store, Token, Trial,
};

/// How the call after some more calls fails.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// It never reaches the storage.
    Before(u32),
    /// It is done, and its answer is lost.
    After(u32),
    /// No call reaches the storage.
    Away,
}

pub struct Connection {
    store: Arc<Memory>,
    fault: Mutex<Option<Fault>>,
}

impl Connection {
    pub fn new(store: Arc<Memory>) -> Self {
        Self { store, fault: Mutex::new(None) }
    }

    pub fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    fn call<T>(&self, call: impl FnOnce(&Memory) -> Result<T>) -> Result<T> {
        let mut fault = self.fault.lock().unwrap();
        let next = match &mut *fault {
            None => None,
            Some(Fault::Before(left) | Fault::After(left)) if *left > 0 => {
                *left -= 1;
                None
            }
            Some(Fault::Away) => Some(Fault::Away),
            fault => fault.take(),
        };
        drop(fault);
        match next {
            None => call(&self.store),
            Some(Fault::After(_)) => {
                call(&self.store)?;
                Err(lost())
            }
            Some(_) => Err(lost()),
        }
    }
}

fn lost() -> Error {
    let (place, source) = ("the simulated storage".to_owned(), "the connection is lost".into());
    Error::Backend { place, doing: "a call", source }
}

impl Reader for Connection {
    fn identity(&self) -> Result<String> {
        self.call(Reader::identity)
    }
    fn study(&self, study: &str) -> Result<Record> {
        self.call(|store| store.study(study))
    }
    fn studies(&self) -> Result<Vec<String>> {
        self.call(Reader::studies)
    }
    fn changes_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        self.call(|store| store.changes_since(study, sequence, limit))
    }
    fn trials(&self, study: &str, filter: &Filter) -> Result<Vec<Trial>> {
        self.call(|store| store.trials(study, filter))
    }
    fn trial(&self, study: &str, trial: u64) -> Result<Trial> {
        self.call(|store| store.trial(study, trial))
    }
    fn steps(&self, study: &str, trial: u64) -> Result<Vec<Step>> {
        self.call(|store| store.steps(study, trial))
    }
    fn steps_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Step>> {
        self.call(|store| store.steps_since(study, sequence, limit))
    }
    fn best(&self, study: &str, count: usize) -> Result<Vec<Trial>> {
        self.call(|store| store.best(study, count))
    }
    fn notes(&self, study: &str) -> Result<Vec<Note>> {
        self.call(|store| store.notes(study))
    }
    fn counts(&self, study: &str) -> Result<Counts> {
        self.call(|store| store.counts(study))
    }
    fn sequence(&self, study: &str) -> Result<u64> {
        self.call(|store| store.sequence(study))
    }
    fn condition(&self) -> Result<Condition> {
        self.call(Reader::condition)
    }
}

impl Store for Connection {
    fn create(&self, record: &Record) -> Result<Record> {
        self.call(|store| store.create(record))
    }
    fn delete(&self, study: &str) -> Result<()> {
        self.call(|store| store.delete(study))
    }
    fn set_budget(&self, study: &str, budget: u64) -> Result<()> {
        self.call(|store| store.set_budget(study, budget))
    }
    fn set_paused(&self, study: &str, paused: bool) -> Result<()> {
        self.call(|store| store.set_paused(study, paused))
    }
    fn note(&self, study: &str, trial: u64, text: &str) -> Result<()> {
        self.call(|store| store.note(study, trial, text))
    }
    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        self.call(|store| store.ask(study, ask, proposal))
    }
    fn resume(&self, study: &str, resume: &Resume<'_>) -> Result<usize> {
        self.call(|store| store.resume(study, resume))
    }
    fn add(&self, study: &str, additions: &[Addition]) -> Result<Vec<u64>> {
        self.call(|store| store.add(study, additions))
    }
    fn transfer(&self, study: &str, transfer: &Transfer<'_>) -> Result<()> {
        self.call(|store| store.transfer(study, transfer))
    }
    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>> {
        self.call(|store| store.heartbeats(study, tokens))
    }
    fn reports(&self, study: &str, reports: &[Report]) -> Result<Vec<Refused>> {
        self.call(|store| store.reports(study, reports))
    }
    fn tell_with(&self, study: &str, tell: &Tell<'_>) -> Result<()> {
        self.call(|store| store.tell_with(study, tell))
    }
    fn release(&self, study: &str, token: Token) -> Result<()> {
        self.call(|store| store.release(study, token))
    }
    fn pause_trial(&self, study: &str, token: Token) -> Result<()> {
        self.call(|store| store.pause_trial(study, token))
    }
}
