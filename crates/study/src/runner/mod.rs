//! The runner: asks for trials, runs the command of each in parallel, tells every result the moment it is known.
//!
//! ```text
//! asking thread ── jobs ──▶ slot 0 … slot W−1: evaluate ──▶ tell, or release
//!       ▲                        │
//!       └──── a slot is free ────┘          heartbeats: one call renews all leases
//! ```
//!
//! # Contract
//! - One process is one worker of the study and holds up to W trials. Started again with the same state, it tells the
//!   results that it could not tell before, then finds the trials that it ran and runs them again ([`WorkerKey`]).
//! - A result is told once, and never lost. Asks and tells have keys; while the storage is unreachable the runner repeats
//!   them under the same key, for as long as its patience lasts. Meanwhile results are kept in files ([`KeptResults`]): if
//!   this run cannot tell them, the next one does.
//! - In a study with a fidelity, steps are stored as they come, before the result of their trial, and trials are stopped by the
//!   study's rule (step_keeper.rs). A stopped trial has its last step as outcome.
//! - Where the command takes the fidelity and trials have folders, the method plans: a trial is run up to a fidelity and paused, and
//!   continued where that is most promising, by whoever is free. No worker waits for another.
//! - A trial that another worker took belongs to that worker: the runner ends its command and drops its result. Nobody
//!   takes it while heartbeats arrive, however late they are.
//! - It ends when the budget is spent and no trial is running anywhere: trials that other workers run come back if those
//!   are lost. After its time budget it begins no more trials, and ends with those that it runs.
//! - While the study is paused it begins no trial, finishes those that it runs, and waits for the study to go on.
//! - [`Stop`] ends it early: once, commands are asked to end and their trials return to the queue; twice, commands are
//!   killed and nothing more is written.
//!
//! If the first trials all fail, it gives up: the command is more likely wrong than the configurations.

mod absence;
mod evaluator;
pub mod finding;
mod guardian;
mod kept_results;
pub mod live_steps;
mod mark;
pub mod process;
pub mod report_socket;
mod slots;
mod step_keeper;
pub mod trial_folder;
mod worker_key;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub use evaluator::{Attempt, Evaluator, STOP_FILE, Unfinished};
pub use finding::Finding;
pub use kept_results::{Damaged, KeptResult, KeptResults};
pub use worker_key::WorkerKey;

use wimble::outcome::{Failure, Measurement, Outcome};

use crate::advice::{Gain, Gains, StopWhen};
use crate::error::{Error, Result};
use crate::random::random_word;
use crate::store::{Ask, Resume};
use crate::study::Study;
use crate::trial::{Claim, Token};
use absence::Absence;
use process::Urgency;
use report_socket::ReportSocket;
use slots::{Held, Shared, Slot, SlotEnd};

/// After this many failures without a single value, the runner gives up.
pub const FIRST_FAILURES: u64 = 5;
/// A trial that is interrupted more often than this is not run again.
const MOST_INTERRUPTIONS: u32 = 3;
/// Interval between polls for released trials.
const LOOK: Duration = Duration::from_millis(500);
/// Interval between checks whether to stop.
const SHORT_LOOK: Duration = Duration::from_millis(50);
/// Default time to wait for an unreachable storage.
pub const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// A request to end, shared between threads. It can become more urgent, never less.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks once more: the first time commands are asked to end, from the second on they are killed.
    pub fn request(&self) {
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            Some(count.saturating_add(1))
        });
    }

    /// Asks commands to end, if nobody did yet.
    fn request_once(&self) {
        let _ = self.0.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
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
    /// Who this process is in the study.
    pub worker: WorkerKey,
    /// How many commands run at a time.
    pub workers: usize,
    /// The time after which no more trials begin. Those that run are finished.
    pub time: Option<Duration>,
    /// How much of all evaluations of the study is carried out, in the unit of its fidelity, before no more trials begin.
    pub spend: Option<f64>,
    /// When the study has gained enough, so that no more trials begin.
    pub stop_when: Option<StopWhen>,
    /// How long to wait for an unreachable storage before the run ends.
    pub patience: Duration,
    /// Where results are kept while the storage is unreachable. `None` keeps them in memory only.
    pub kept: Option<KeptResults>,
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
        /// How long the evaluation took; an earlier run evaluated it if that is unknown.
        took: Option<Duration>,
    },
    /// A trial went back to the queue.
    Released {
        /// The trial.
        trial: u64,
    },
    /// A trial was evaluated as far as the method planned, and may be continued.
    Paused {
        /// The trial.
        trial: u64,
        /// The fidelity that it reached.
        at: f64,
    },
    /// A trial that was evaluated in part begins anew: its folder is not on this machine.
    Anew {
        /// The trial.
        trial: u64,
        /// The fidelity that it had reached.
        at: f64,
    },
    /// A result was dropped, because its trial belongs to another worker by now.
    Dropped {
        /// The trial.
        trial: u64,
        /// Why.
        reason: String,
    },
    /// The storage is unreachable, and the run keeps trying. Sent when an outage begins, and every minute while it lasts.
    StorageAway {
        /// The error.
        reason: String,
        /// How long the outage has lasted.
        lasted: Duration,
        /// How long the run keeps trying, from the beginning of the outage.
        patience: Duration,
    },
    /// The storage answers again.
    StorageBack {
        /// How long the outage lasted.
        lasted: Duration,
    },
    /// The study is paused: no trial begins until it goes on.
    StudyPaused,
    /// The study goes on.
    StudyResumed,
    /// Steps that a command printed or reported were left out.
    StepsLeftOut {
        /// The trial.
        trial: u64,
        /// How many.
        count: u64,
        /// Why the first of them.
        reason: String,
    },
    /// The stopping rule cannot say which trials to stop. Nothing is stopped. Sent once.
    Unjudged {
        /// Why.
        reason: String,
    },
    /// A result that an earlier run kept cannot be read, and is left where it is.
    Damaged(Damaged),
    /// A result could not be told yet, and waits for the storage.
    Kept {
        /// The trial.
        trial: u64,
        /// Its outcome.
        outcome: Outcome,
        /// Why the result could not be written to a file, if it could not.
        trouble: Option<String>,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The budget is spent and nothing runs.
    BudgetSpent,
    /// The study has gained enough, by its own rule; what it would gain.
    GainedEnough(Gain),
    /// The time is over.
    TimeOver,
    /// It was told to stop.
    Stopped,
    /// The first trials all failed; the latest of them.
    NothingWorks(Failure),
    /// The command cannot be run, and why.
    CannotRun(String),
    /// The storage was unreachable for longer than the patience; its last error.
    StorageGone(String),
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
    /// How many results it could not tell, and left in files for the next run to tell.
    pub kept: u64,
}

impl Runner {
    /// Runs until the study is done, the time is over or it is told to stop.
    pub fn run(&self, study: &Study, watch: &(dyn Fn(Event) + Sync)) -> Result<Summary> {
        trial_folder::sweep(&std::env::temp_dir());
        let absence = Absence::new(watch, &self.stop, self.patience);
        let has_steps = study.settings().goal.partial().is_some();
        let socket =
            has_steps.then(ReportSocket::new).transpose().map_err(|source| Error::Backend {
                place: std::env::temp_dir().display().to_string(),
                doing: "making a socket for `wimble report`",
                source: Box::new(source),
            })?;
        let (held, fruitless) = (Mutex::new(BTreeMap::new()), Mutex::default());
        let plans = self.evaluator.continues() && study.can_plan()?;
        let shared = Shared { runner: self, study, watch, absence, held, plans, fruitless, socket };
        let shared = &shared;
        let (job_sender, job_receiver) = channel();
        let (report_sender, report_receiver) = channel();
        let jobs = Mutex::new(job_receiver);
        let (rest, resting) = channel::<()>();
        let (pen_down, writing) = channel::<()>();
        std::thread::scope(|scope| {
            for number in 0..self.workers {
                let (jobs, reports) = (&jobs, report_sender.clone());
                scope.spawn(move || Slot { shared, number }.serve(jobs, &reports));
            }
            drop(report_sender);
            scope.spawn(move || slots::beat(shared, &resting));
            if let Some(socket) = &shared.socket {
                scope.spawn(move || step_keeper::keep(shared, &writing));
                scope.spawn(move || socket.listen(scope, shared));
            }
            let summary = Asking { shared, jobs: job_sender }.run(&report_receiver);
            // Ends the heartbeats and the keeping of steps, once no slot needs them.
            drop((rest, pen_down));
            if let Some(socket) = &shared.socket {
                socket.end();
            }
            summary
        })
    }
}

/// The thread that asks.
struct Asking<'r> {
    shared: &'r Shared<'r>,
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
    kept: u64,
    failures: u64,
    interruptions: BTreeMap<u64, u32>,
    any_value: bool,
    paused: bool,
    end: Option<End>,
}

impl Asking<'_> {
    fn run(self, reports: &std::sync::mpsc::Receiver<SlotEnd>) -> Result<Summary> {
        let Shared { runner, study, absence, .. } = self.shared;
        let mut books = Books { any_value: study.best()?.is_some(), ..Books::default() };
        // Before anything is asked: what was evaluated must not be given to anybody once more.
        self.tell_what_was_kept(&mut books)?;
        // A result that is still kept has a token of the process before, which resuming would end.
        if books.kept == 0 {
            self.resume()?;
        }
        let deadline = runner.time.map(|time| Instant::now() + time);
        let nonce = random_word();
        let mut asks = 0_u64;
        let mut running = 0;
        let mut failure = None;
        let mut gains = Gains::new(study.settings());
        loop {
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if let Some(reason) = absence.given_up() {
                books.end.get_or_insert(End::StorageGone(reason));
            } else if runner.stop.is_requested() {
                books.end.get_or_insert(End::Stopped);
            } else if over {
                books.end.get_or_insert(End::TimeOver);
            }
            if books.end.is_some() || failure.is_some() {
                if running == 0 {
                    break;
                }
            } else if running < runner.workers && self.is_spent(&mut failure) {
                books.end = Some(End::BudgetSpent);
            } else if running < runner.workers
                && let Some(gain) = self.gained_enough(&mut gains, &mut failure)
            {
                books.end = Some(End::GainedEnough(gain));
            } else if running < runner.workers && failure.is_none() {
                asks += 1;
                let asked = self.ask(&format!("ask-{nonce}-{asks}"), &mut books);
                let is_paused = matches!(asked, Err(Error::Paused { .. }));
                if is_paused != books.paused && (is_paused || asked.is_ok()) {
                    books.paused = is_paused;
                    (self.shared.watch)(if is_paused {
                        Event::StudyPaused
                    } else {
                        Event::StudyResumed
                    });
                }
                match asked {
                    Err(Error::Paused { .. }) => {}
                    Ok(0) if running == 0 => match absence.outlast(|| study.progress(), || {}) {
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
                    },
                    Ok(begun) => {
                        running += begun;
                        // A plan is for those who were free when it was made: another may be free by now.
                        if self.shared.plans && begun > 0 && running < runner.workers {
                            continue;
                        }
                    }
                    Err(error) => failure = Some(error),
                }
            }
            // With all slots busy only a report can change anything; a free slot looks for trials that others gave back.
            let mut wait = if running < runner.workers { LOOK } else { SHORT_LOOK };
            if let Some(deadline) = deadline {
                wait = wait
                    .min(deadline.saturating_duration_since(Instant::now()))
                    .max(Duration::from_millis(1));
            }
            let mut report = wait_for(reports, wait, &runner.stop);
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
        Ok(Summary { end, told: books.told, released: books.released, kept: books.kept })
    }

    /// Whether as much was carried out as the study is to spend.
    fn is_spent(&self, failure: &mut Option<Error>) -> bool {
        let Shared { runner, study, absence, .. } = self.shared;
        let Some(limit) = runner.spend else { return false };
        match absence.outlast(|| study.spent(), || {}) {
            Some(Ok(spent)) => spent >= limit,
            Some(Err(error)) => {
                *failure = Some(error);
                false
            }
            // The storage is given up, which the loop sees next.
            None => false,
        }
    }

    /// What more trials would gain, if that is little enough by the rule of the study file.
    fn gained_enough(&self, gains: &mut Gains, failure: &mut Option<Error>) -> Option<Gain> {
        let Shared { runner, study, absence, .. } = self.shared;
        let rule = runner.stop_when?;
        match absence.outlast(|| gains.catch_up(&**study.store()), || {})? {
            Ok(()) => rule.holds(gains),
            Err(error) => {
                *failure = Some(error);
                None
            }
        }
    }

    /// Tells the results that an earlier run could not. One that comes too late is dropped, and its trial is run again.
    fn tell_what_was_kept(&self, books: &mut Books) -> Result<()> {
        let Some(kept) = &self.shared.runner.kept else { return Ok(()) };
        let unreadable = |source| Error::Backend {
            place: kept.folder().display().to_string(),
            doing: "reading the results that an earlier run left there",
            source: Box::new(source),
        };
        let (results, damaged) = kept.all().map_err(unreadable)?;
        for damaged in damaged {
            (self.shared.watch)(Event::Damaged(damaged));
        }
        for result in results {
            let report = self.shared.tell(&result, None);
            self.enter(report, books);
        }
        Ok(())
    }

    /// Takes back the trials that the processes before this one ran.
    fn resume(&self) -> Result<()> {
        let Shared { runner, study, absence, .. } = self.shared;
        let worker = &runner.worker;
        let Some(incarnation) = worker.incarnation() else { return Ok(()) };
        if worker.formerly().is_empty() {
            return Ok(());
        }
        let resume = Resume { worker: worker.as_str(), incarnation, formerly: worker.formerly() };
        if absence.outlast(|| study.resume(&resume), || {}).transpose()?.is_some() {
            // What is not forgotten is asked for again by the next process, and nobody holds anything under it.
            let _ = worker.settle();
        }
        Ok(())
    }

    /// Asks for as many trials as there are slots; how many of them are new.
    fn ask(&self, key: &str, books: &mut Books) -> Result<usize> {
        let Shared { runner, study, watch, absence, held, .. } = self.shared;
        let Runner { worker, workers, .. } = runner;
        let (name, incarnation) = (worker.as_str(), worker.incarnation());
        let plans = self.shared.plans;
        let ask = Ask { worker: name, incarnation, key, wanted: *workers, fresh: false, plans };
        let asked = absence.outlast(|| study.ask_with(&ask), || {});
        let mut new = 0;
        for mut claim in asked.transpose()?.unwrap_or_default() {
            if books.begun.insert(claim.token) {
                // Whoever cannot continue trials carries out in full what others planned in part.
                claim.until = claim.until.filter(|_| plans);
                let before = self.before(&claim)?;
                let trial = Held::new(&study.settings().goal, claim.until.is_some(), before);
                if let Ok(mut held) = held.lock() {
                    held.insert(claim.token, trial);
                }
                watch(Event::Started(claim.clone()));
                new += usize::from(self.jobs.send(claim).is_ok());
            }
        }
        Ok(new)
    }

    /// The last step of the evaluation that a claim continues, if it can be continued here.
    fn before(&self, claim: &Claim) -> Result<Option<Measurement>> {
        let Shared { runner, study, watch, absence, .. } = self.shared;
        if claim.until.is_none() {
            return Ok(None);
        }
        let steps = absence.outlast(|| study.steps(claim.trial), || {}).transpose()?;
        let last = steps.unwrap_or_default().pop().map(|step| step.measurement);
        let is_here = runner.evaluator.folder(claim.trial).is_some_and(|folder| folder.is_dir());
        match last.as_ref().and_then(|step| step.fidelity) {
            Some(at) if !is_here => {
                watch(Event::Anew { trial: claim.trial, at });
                Ok(None)
            }
            _ => Ok(last),
        }
    }

    fn enter(&self, report: SlotEnd, books: &mut Books) {
        match report {
            SlotEnd::Told(outcome) => {
                books.told += 1;
                match outcome {
                    Outcome::Measured(_) => books.any_value = true,
                    Outcome::Infeasible => {}
                    Outcome::Failed(failure) => {
                        books.failures += 1;
                        if !books.any_value && books.failures >= FIRST_FAILURES {
                            books.end.get_or_insert(End::NothingWorks(failure));
                        }
                    }
                }
            }
            SlotEnd::Released(trial) => {
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
            SlotEnd::Kept => books.kept += 1,
            SlotEnd::Paused => books.any_value = true,
            SlotEnd::Gone => {}
            SlotEnd::CannotRun(reason) => {
                books.released += 1;
                books.end.get_or_insert(End::CannotRun(reason));
            }
        }
    }
}

/// The next report, if one comes in time and it is not time to stop.
fn wait_for(
    reports: &std::sync::mpsc::Receiver<SlotEnd>,
    wait: Duration,
    stop: &Stop,
) -> Option<SlotEnd> {
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
