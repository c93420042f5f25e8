//! What workers did in a world, and whether the promises held.
//!
//! Every command that a runner starts writes a line when it ends: its trial, its value, which no other evaluation has, and
//! its worker. The ledger hears the events of all runners, knows when each of them was in trouble, and keeps what breaks a
//! promise: see [`Ledger::hear`] and [`Ledger::balance`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wimble_study::runner::Event;
use wimble_study::{Filter, Outcome, State, Study};

/// The length of a lease in these worlds.
pub const LEASE: Duration = Duration::from_millis(1_500);
/// How long after a trouble a worker may still learn that it lost a trial.
const AFTERMATH: Duration = Duration::from_millis(2_500);
/// A worker that reached the storage within this time keeps its trials.
pub const SAFE: Duration = Duration::from_millis(600);

/// The books of a world.
pub struct Ledger(Mutex<Books>);

#[derive(Default)]
struct Books {
    workers: Vec<Worker>,
    told: BTreeMap<u64, f64>,
    /// Evaluations that ended and need not count, by trial and worker.
    excused: BTreeSet<(u64, usize)>,
    broken: Vec<String>,
}

#[derive(Default)]
struct Worker {
    /// Until when a fault keeps it from the storage.
    blocked_until: Option<Instant>,
    /// When a call of it last failed, or nothing reached it for a while.
    hit_at: Option<Instant>,
    /// When it last got on: began a trial, or told one.
    got_on: Option<Instant>,
    evaluates: BTreeSet<u64>,
}

impl Worker {
    fn is_excused(&self) -> bool {
        let last = self.blocked_until.max(self.hit_at);
        last.is_some_and(|last| Instant::now() < last + AFTERMATH)
    }
}

impl Ledger {
    pub fn new(workers: usize) -> Self {
        // One that never gets on is stuck, too.
        let begins = || Worker { got_on: Some(Instant::now()), ..Worker::default() };
        let workers = (0..workers).map(|_| begins()).collect();
        Self(Mutex::new(Books { workers, ..Books::default() }))
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker cannot reach the storage until then.
    pub fn block(&self, worker: usize, until: Instant) {
        let mut books = self.books();
        let known = &mut books.workers[worker].blocked_until;
        *known = Some(known.map_or(until, |known| known.max(until)));
    }

    /// No worker can.
    pub fn block_all(&self, until: Instant) {
        let count = self.books().workers.len();
        (0..count).for_each(|worker| self.block(worker, until));
    }

    /// A call of a worker fails, or nothing reached it for a while. It may lose trials for that, but not get stuck.
    pub fn hit(&self, worker: usize) {
        self.books().workers[worker].hit_at = Some(Instant::now());
    }

    /// The same for all.
    pub fn hit_all(&self) {
        self.books().workers.iter_mut().for_each(|worker| worker.hit_at = Some(Instant::now()));
    }

    /// Whether a worker gets nowhere for this long, though nothing keeps it from the storage.
    pub fn is_stuck(&self, worker: usize, time: Duration) -> bool {
        let books = self.books();
        let Worker { blocked_until, got_on, .. } = &books.workers[worker];
        let since = (*blocked_until).max(*got_on);
        since.is_some_and(|since| Instant::now() > since + time)
    }

    pub fn broke(&self, promise: String) {
        self.books().broken.push(promise);
    }

    pub fn broken(&self) -> Vec<String> {
        self.books().broken.clone()
    }

    /// An event of a worker's runner.
    pub fn hear(&self, worker: usize, event: &Event) {
        let mut books = self.books();
        let books = &mut *books;
        match event {
            Event::Started(claim) => {
                let trial = claim.trial;
                for (other, holder) in books.workers.iter().enumerate() {
                    // Whoever has it already must have been silent for long enough to lose it.
                    if other != worker && holder.evaluates.contains(&trial) && !holder.is_excused()
                    {
                        let both = format!("workers {other} and {worker} evaluate trial {trial}");
                        books.broken.push(both);
                    }
                }
                books.workers[worker].evaluates.insert(trial);
                books.workers[worker].got_on = Some(Instant::now());
            }
            Event::Told { trial, outcome, .. } => {
                books.workers[worker].evaluates.remove(trial);
                books.workers[worker].got_on = Some(Instant::now());
                let Some(value) = outcome.value() else { return };
                let first = *books.told.entry(*trial).or_insert(value);
                if first != value {
                    let twice = format!("trial {trial} was told {first} and {value}");
                    books.broken.push(twice);
                }
            }
            Event::Dropped { trial, reason } => {
                books.workers[worker].evaluates.remove(trial);
                books.excused.insert((*trial, worker));
                if !books.workers[worker].is_excused() {
                    let lost = format!(
                        "worker {worker} was in no trouble and lost trial {trial}: {reason}"
                    );
                    books.broken.push(lost);
                }
            }
            Event::Released { trial } => {
                books.workers[worker].evaluates.remove(trial);
                books.excused.insert((*trial, worker));
            }
            _ => {}
        }
    }

    /// A worker ended, with all that it had in hand.
    pub fn ended(&self, worker: usize) {
        let mut books = self.books();
        let had = std::mem::take(&mut books.workers[worker].evaluates);
        books.excused.extend(had.into_iter().map(|trial| (trial, worker)));
    }

    /// At the end: every evaluation that ended counts once, or there was a cause; and every value is that of one.
    pub fn balance(&self, study: &Study, log: &Path) {
        let lines = std::fs::read_to_string(log).unwrap();
        let mut ends: BTreeMap<u64, Vec<(f64, usize)>> = BTreeMap::new();
        for line in lines.lines() {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap();
            let (trial, value, worker) = (word(), word(), word());
            let end = (value.parse().unwrap(), worker.parse().unwrap());
            ends.entry(trial.parse().unwrap()).or_default().push(end);
        }
        let mut books = self.books();
        let Books { told, excused, broken, .. } = &mut *books;
        for trial in study.trials(&Filter::default()).unwrap() {
            let id = trial.id;
            let State::Finished(finish) = &trial.state else {
                broken.push(format!("trial {id} is not finished: {:?}", trial.state));
                continue;
            };
            let ends = ends.remove(&id).unwrap_or_default();
            let value = match &finish.outcome {
                Outcome::Measured(_) => finish.outcome.value().unwrap(),
                other => {
                    broken.push(format!("trial {id}: {other}"));
                    continue;
                }
            };
            if !ends.iter().any(|(end, _)| *end == value) {
                broken.push(format!("no evaluation of trial {id} gave {value}"));
            }
            if told.get(&id).is_some_and(|told| *told != value) {
                broken.push(format!("trial {id} was told {:?} and has {value}", told.get(&id)));
            }
            for (end, worker) in ends {
                if end != value && !excused.contains(&(id, worker)) {
                    broken.push(format!(
                        "trial {id} has {value}; worker {worker} evaluated it to {end}, without a word"
                    ));
                }
            }
        }
        for (trial, _) in ends {
            broken.push(format!("trial {trial} was evaluated and is not there"));
        }
    }
}
