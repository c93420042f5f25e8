//! What runs beside the asking thread: the slots, each with one command at a time, and the heart.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::process::Urgency;
use super::{Event, Runner, Verdict};
use crate::error::Result;
use crate::store::Refused;
use crate::study::Study;
use crate::trial::{Claim, Outcome, Token};

/// A lease is renewed so many times before it ends.
const BEATS: u32 = 4;
/// Not more often than this, however short the lease.
const SHORTEST_BEAT: Duration = Duration::from_millis(20);
/// Nor less often.
const LONGEST_BEAT: Duration = Duration::from_secs(15);

/// What is known of a trial in hand.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// Why it is no longer ours, once that is known.
    lost: Arc<Mutex<Option<String>>>,
    is_lost: Arc<AtomicBool>,
}

/// What a slot says when it is free again.
#[derive(Debug)]
pub(super) enum Report {
    Told(Outcome),
    Released(u64),
    /// The trial is somebody else's, or could not be given back.
    Gone,
    CannotRun(String),
}

/// One command at a time.
#[derive(Clone, Copy)]
pub(super) struct Slot<'r> {
    pub runner: &'r Runner,
    pub study: &'r Study,
    pub watch: &'r (dyn Fn(Event) + Sync),
    pub held: &'r Mutex<BTreeMap<Token, Held>>,
    pub number: usize,
}

impl Slot<'_> {
    /// Evaluates trials until there are no more to come.
    pub fn serve(self, jobs: &Mutex<Receiver<Claim>>, reports: &Sender<Report>) {
        loop {
            // The lock is let go before the trial begins.
            let job = jobs.lock().ok().and_then(|jobs| jobs.recv().ok());
            let Some(claim) = job else { return };
            let report = self.evaluate(&claim);
            if let Ok(mut held) = self.held.lock() {
                held.remove(&claim.token);
            }
            if reports.send(report).is_err() {
                return;
            }
        }
    }

    fn evaluate(&self, claim: &Claim) -> Report {
        let trial = claim.trial;
        let held = self
            .held
            .lock()
            .ok()
            .and_then(|held| held.get(&claim.token).cloned())
            .unwrap_or_default();
        let urgency = || {
            if held.is_lost.load(Ordering::SeqCst) {
                Urgency::Ask.max(self.runner.stop.urgency())
            } else {
                self.runner.stop.urgency()
            }
        };
        let retried =
            |reason: &str| (self.watch)(Event::Retried { trial, reason: reason.to_owned() });
        let began = Instant::now();
        let verdict = self.runner.evaluator.evaluate(claim, self.number, &urgency, &retried);
        if let Some(reason) = held.lost.lock().ok().and_then(|lost| lost.clone()) {
            (self.watch)(Event::Dropped { trial, reason });
            return Report::Gone;
        }
        if self.runner.stop.urgency() == Urgency::Kill {
            return Report::Gone;
        }
        match verdict {
            Verdict::Outcome(outcome) => {
                let key = format!("tell-{}", claim.token);
                self.write(
                    trial,
                    || self.study.tell(claim.token, &outcome, &key),
                    || {
                        (self.watch)(Event::Told {
                            trial,
                            outcome: outcome.clone(),
                            took: began.elapsed(),
                        });
                        Report::Told(outcome.clone())
                    },
                )
            }
            Verdict::Interrupted => self.release(claim),
            Verdict::CannotRun(reason) => {
                // What cannot be run must be known even if the trial could not be given back.
                self.release(claim);
                Report::CannotRun(reason)
            }
        }
    }

    fn release(&self, claim: &Claim) -> Report {
        let trial = claim.trial;
        self.write(
            trial,
            || self.study.release(claim.token),
            || {
                (self.watch)(Event::Released { trial });
                Report::Released(trial)
            },
        )
    }

    /// Writes to the study; what is refused is no longer ours.
    fn write(
        &self,
        trial: u64,
        call: impl FnMut() -> Result<()>,
        done: impl FnOnce() -> Report,
    ) -> Report {
        let reason = match self.runner.insist(self.watch, call) {
            Some(Ok(())) => return done(),
            Some(Err(error)) => error.to_string(),
            None => "the storage did not answer in time".to_owned(),
        };
        (self.watch)(Event::Dropped { trial, reason });
        Report::Gone
    }
}

/// Renews the leases of all trials in hand until `rest` is dropped. A trial that is refused is marked as lost, which ends
/// its command.
pub(super) fn beat(
    study: &Study,
    held: &Mutex<BTreeMap<Token, Held>>,
    watch: &(dyn Fn(Event) + Sync),
    rest: &Receiver<()>,
) {
    let pause = (study.settings().lease / BEATS).clamp(SHORTEST_BEAT, LONGEST_BEAT);
    while rest.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let trials: BTreeMap<Token, Held> = match held.lock() {
            Ok(held) => held.clone(),
            Err(_) => return,
        };
        if trials.is_empty() {
            continue;
        }
        let tokens: Vec<Token> = trials.keys().copied().collect();
        match study.heartbeats(&tokens) {
            Ok(refused) => {
                for Refused { token, error } in refused {
                    let Some(held) = trials.get(&token) else { continue };
                    if let Ok(mut lost) = held.lost.lock() {
                        *lost = Some(error.to_string());
                    }
                    held.is_lost.store(true, Ordering::SeqCst);
                }
            }
            // The next beat may find the storage again; until then a lease lasts as long as it lasts.
            Err(error) => watch(Event::StorageAway { reason: error.to_string() }),
        }
    }
}
