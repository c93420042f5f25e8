//! The runner: asks for trials, runs the command of each in parallel, tells every result the moment it is known.
//!
//! ```text
//! asking thread ── jobs ──▶ slot 0 … slot W−1: evaluate ──▶ tell, or release
//!       ▲                        │
//!       └──── a slot is free ────┘          heart: one call renews all leases
//! ```
//!
//! # Contract
//! - One process is one worker of the study and holds up to W trials. Started again under the same worker key, it finds
//!   the trials that it ran and runs them again.
//! - What was told is kept, and told once: asks and tells have keys, and are repeated under the same key while the storage
//!   is away, for as long as it takes.
//! - A trial whose lease is lost is somebody else's: its command is ended and its result dropped.
//! - It ends when the budget is spent and no trial is running anywhere: trials that other workers run come back if those
//!   are lost. After its time budget it begins no more trials, and ends with those that it runs.
//! - [`Stop`] ends it early: once, commands are asked to end and their trials return to the queue; twice, commands are
//!   killed and nothing more is written.
//!
//! If nothing but failures came of the first trials, it gives up: the command is more likely wrong than the
//! configurations.

mod evaluator;
mod guardian;
pub mod process;
pub mod result;
mod slots;
pub mod trial_folder;
mod worker_key;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use evaluator::{Evaluator, Verdict};
pub use worker_key::WorkerKey;

use crate::error::{Error, Result};
use crate::study::Study;
use crate::trial::{Claim, Failure, Outcome, Token};
use process::Urgency;
use slots::{Held, Report, Slot};

/// With so many failures and no value ever, the runner gives up.
pub const FIRST_FAILURES: u64 = 5;
/// A trial that is interrupted more often than this is not run again.
const MOST_INTERRUPTIONS: u32 = 3;
/// How often it is looked for trials that others gave back.
const LOOK: Duration = Duration::from_millis(500);
/// How often it is looked whether to stop.
const SHORT_LOOK: Duration = Duration::from_millis(50);
/// How long a storage that is away is waited for, at first and at most.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

/// A request to end, shared between threads. It only grows more urgent.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks once more: the first time commands are asked to end, from the second on they are killed.
    pub fn request(&self) {
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            Some(count.saturating_add(1))
        });
    }

    /// How urgent it is.
    pub fn urgency(&self) -> Urgency {
        match self.0.load(Ordering::SeqCst) {
            0 => Urgency::None,
            1 => Urgency::Ask,
            _ => Urgency::Kill,
        }
    }

    fn is_requested(&self) -> bool {
        self.urgency() > Urgency::None
    }
}

/// How to run a study.
#[derive(Debug, Clone)]
pub struct Runner {
    /// What evaluates a trial.
    pub evaluator: Evaluator,
    /// The key of this process in the study.
    pub worker: String,
    /// How many commands run at a time.
    pub workers: usize,
    /// After how long no more trials begin.
    pub time: Option<Duration>,
    /// The request to end.
    pub stop: Stop,
}

/// What happens, for a display.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A command begins.
    Started(Claim),
    /// A command failed and is run again.
    Retried {
        /// The trial.
        trial: u64,
        /// Why it failed.
        reason: String,
    },
    /// An outcome is kept.
    Told {
        /// The trial.
        trial: u64,
        /// Its outcome.
        outcome: Outcome,
        /// How long the evaluation took.
        took: Duration,
    },
    /// A trial went back to the queue.
    Released {
        /// The trial.
        trial: u64,
    },
    /// An evaluation was dropped, for its trial is no longer this worker's.
    Dropped {
        /// The trial.
        trial: u64,
        /// Why.
        reason: String,
    },
    /// The storage does not answer; it is tried again.
    StorageAway {
        /// What it said.
        reason: String,
    },
    /// The storage answers again.
    StorageBack,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The budget is spent and nothing runs.
    BudgetSpent,
    /// The time is over.
    TimeOver,
    /// It was told to stop.
    Stopped,
    /// The first trials all failed; the latest of them.
    NothingWorks(Failure),
    /// The command cannot be run, and why.
    CannotRun(String),
}

/// What a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Why it ended.
    pub end: End,
    /// How many outcomes this run told.
    pub told: u64,
    /// How many trials it gave back.
    pub released: u64,
}

impl Runner {
    /// Runs until the study is done, the time is over or it is told to stop.
    pub fn run(&self, study: &Study, watch: &(dyn Fn(Event) + Sync)) -> Result<Summary> {
        let held = Mutex::new(BTreeMap::new());
        let (job_sender, job_receiver) = channel();
        let (report_sender, report_receiver) = channel();
        let jobs = Mutex::new(job_receiver);
        let (rest, resting) = channel::<()>();
        std::thread::scope(|scope| {
            for number in 0..self.workers {
                let slot = Slot { runner: self, study, watch, held: &held, number };
                let (jobs, reports) = (&jobs, report_sender.clone());
                scope.spawn(move || slot.serve(jobs, &reports));
            }
            drop(report_sender);
            let held = &held;
            scope.spawn(move || slots::beat(study, held, watch, &resting));
            let asking = Asking { runner: self, study, watch, held, jobs: job_sender };
            let summary = asking.run(&report_receiver);
            // Ends the heart, once no slot needs it.
            drop(rest);
            summary
        })
    }

    /// Repeats a call until the storage answers it. `None`: it is time to stop, and the storage is still away.
    fn insist<T>(
        &self,
        watch: &(dyn Fn(Event) + Sync),
        mut call: impl FnMut() -> Result<T>,
    ) -> Option<Result<T>> {
        let [mut wait, longest] = BACK_OFF;
        let mut away = false;
        let mut stopping: Option<Instant> = None;
        loop {
            match call() {
                Err(error @ (Error::Busy { .. } | Error::Backend { .. })) => {
                    if !away {
                        watch(Event::StorageAway { reason: error.to_string() });
                        away = true;
                    }
                }
                answer => {
                    if away {
                        watch(Event::StorageBack);
                    }
                    return Some(answer);
                }
            }
            let until = Instant::now() + wait;
            while Instant::now() < until {
                match self.stop.urgency() {
                    Urgency::None => {}
                    Urgency::Ask => {
                        // What is to be written deserves some patience, but not for ever.
                        if stopping.get_or_insert_with(Instant::now).elapsed() > longest {
                            return None;
                        }
                    }
                    Urgency::Kill => return None,
                }
                std::thread::sleep(SHORT_LOOK.min(wait));
            }
            wait = (wait * 2).min(longest);
        }
    }
}

/// The thread that asks.
struct Asking<'r> {
    runner: &'r Runner,
    study: &'r Study,
    watch: &'r (dyn Fn(Event) + Sync),
    held: &'r Mutex<BTreeMap<Token, Held>>,
    jobs: std::sync::mpsc::Sender<Claim>,
}

/// What the asking thread remembers.
#[derive(Default)]
struct Books {
    /// Every token that was given to a slot. A claim is shown again while it is held, and once more if it is told between
    /// the ask and its answer; it must not be run again.
    begun: BTreeSet<Token>,
    told: u64,
    released: u64,
    failures: u64,
    interruptions: BTreeMap<u64, u32>,
    any_value: bool,
    end: Option<End>,
}

impl Asking<'_> {
    fn run(self, reports: &std::sync::mpsc::Receiver<Report>) -> Result<Summary> {
        let mut books = Books { any_value: self.study.best()?.is_some(), ..Books::default() };
        let deadline = self.runner.time.map(|time| Instant::now() + time);
        let nonce = worker_key::nonce();
        let mut asks = 0_u64;
        let mut running = 0;
        let mut failure = None;
        loop {
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if self.runner.stop.is_requested() {
                books.end.get_or_insert(End::Stopped);
            } else if over {
                books.end.get_or_insert(End::TimeOver);
            }
            if books.end.is_some() || failure.is_some() {
                if running == 0 {
                    break;
                }
            } else if running < self.runner.workers {
                asks += 1;
                match self.ask(&format!("{}-{nonce}-{asks}", self.runner.worker), &mut books) {
                    Ok(0) if running == 0 => {
                        match self.runner.insist(self.watch, || self.study.progress()) {
                            None => continue,
                            Some(Ok(progress)) if progress.running == 0 && progress.queued == 0 => {
                                books.end = Some(End::BudgetSpent);
                                break;
                            }
                            Some(Ok(_)) => {}
                            Some(Err(error)) => {
                                failure = Some(error);
                                continue;
                            }
                        }
                    }
                    Ok(begun) => running += begun,
                    Err(error) => failure = Some(error),
                }
            }
            // With all slots busy only a report can change anything; a free slot looks for trials that others gave back.
            let mut wait = if running < self.runner.workers { LOOK } else { SHORT_LOOK };
            if let Some(deadline) = deadline {
                wait = wait
                    .min(deadline.saturating_duration_since(Instant::now()))
                    .max(Duration::from_millis(1));
            }
            let mut report = wait_for(reports, wait, &self.runner.stop);
            while let Some(next) = report {
                running -= 1;
                self.enter(next, &mut books);
                report = reports.try_recv().ok();
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let end = books.end.unwrap_or(End::BudgetSpent);
        Ok(Summary { end, told: books.told, released: books.released })
    }

    /// Asks for as many trials as there are slots; how many of them are new.
    fn ask(&self, key: &str, books: &mut Books) -> Result<usize> {
        let Runner { worker, workers, .. } = self.runner;
        let asked = self.runner.insist(self.watch, || self.study.ask(worker, key, *workers));
        let mut new = 0;
        for claim in asked.transpose()?.unwrap_or_default() {
            if books.begun.insert(claim.token) {
                if let Ok(mut held) = self.held.lock() {
                    held.insert(claim.token, Held::default());
                }
                (self.watch)(Event::Started(claim.clone()));
                new += usize::from(self.jobs.send(claim).is_ok());
            }
        }
        Ok(new)
    }

    fn enter(&self, report: Report, books: &mut Books) {
        match report {
            Report::Told(outcome) => {
                books.told += 1;
                match outcome {
                    Outcome::Value(_) => books.any_value = true,
                    Outcome::Infeasible => {}
                    Outcome::Failed(failure) => {
                        books.failures += 1;
                        if !books.any_value && books.failures >= FIRST_FAILURES {
                            books.end.get_or_insert(End::NothingWorks(failure));
                        }
                    }
                }
            }
            Report::Released(trial) => {
                books.released += 1;
                let count = books.interruptions.entry(trial).or_default();
                *count += 1;
                if *count > MOST_INTERRUPTIONS {
                    let reason = format!(
                        "the command of trial {trial} was interrupted {count} times (exit code 130, or SIGINT); \
                         the trial is back in the queue"
                    );
                    books.end.get_or_insert(End::CannotRun(reason));
                }
            }
            Report::Gone => {}
            Report::CannotRun(reason) => {
                books.released += 1;
                books.end.get_or_insert(End::CannotRun(reason));
            }
        }
    }
}

/// The next report, if one comes in time and it is not time to stop.
fn wait_for(
    reports: &std::sync::mpsc::Receiver<Report>,
    wait: Duration,
    stop: &Stop,
) -> Option<Report> {
    let until = Instant::now() + wait;
    let before = stop.urgency();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match reports.recv_timeout(left.min(SHORT_LOOK)) {
            Ok(report) => return Some(report),
            Err(RecvTimeoutError::Timeout) if left > SHORT_LOOK && stop.urgency() == before => {}
            Err(_) => return None,
        }
    }
}
