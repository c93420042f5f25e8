//! The threads beside the asking one: the slots, which run one command at a time each, and the one that sends
//! heartbeats.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::absence::Absence;
use super::evaluator::Attempt;
use super::finding::Finding;
use super::kept_results::KeptResult;
use super::live_steps::LiveSteps;
use super::process::Urgency;
use super::report_socket::ReportSocket;
use super::{Event, Runner, Unfinished};
use wimble::goal::Goal;
use wimble::outcome::{Measurement, Outcome};

use crate::error::Error;
use crate::store::Refused;
use crate::study::Study;
use crate::trial::{Claim, Token};

/// How many heartbeats are sent within the length of a lease.
const BEATS: u32 = 4;
/// The shortest interval between heartbeats, however short the lease.
const SHORTEST_BEAT: Duration = Duration::from_millis(20);
/// The longest interval between heartbeats.
const LONGEST_BEAT: Duration = Duration::from_secs(15);

/// How often a trial is continued without a new step before it ends where it is.
const MOST_FRUITLESS: u32 = 2;

/// What a run knows of a trial that it holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// Why the trial no longer belongs to this run, once that is known.
    lost: Arc<Mutex<Option<String>>>,
    is_lost: Arc<AtomicBool>,
    /// Its steps, in a study with a fidelity.
    pub steps: Option<Arc<LiveSteps>>,
    /// Whether the method decides how far it goes, and no stopping rule does.
    pub is_planned: bool,
    /// The last step of the evaluation that this one continues.
    before: Option<Measurement>,
}

impl Held {
    /// A trial of a study with this goal, which goes on after a step where there is one.
    pub fn new(goal: &Goal, is_planned: bool, before: Option<Measurement>) -> Self {
        let steps =
            goal.partial().map(|_| Arc::new(LiveSteps::after(goal.clone(), before.clone())));
        Self { steps, is_planned, before, ..Self::default() }
    }

    /// The trial no longer belongs to this run: its command ends.
    pub fn lose(&self, reason: &Error) {
        if let Ok(mut lost) = self.lost.lock() {
            *lost = Some(reason.to_string());
        }
        self.is_lost.store(true, Ordering::SeqCst);
    }

    /// Whether the trial no longer belongs to this run.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }

    fn is_stopped(&self) -> bool {
        self.steps.as_ref().is_some_and(|steps| steps.is_stopped())
    }
}

/// What a slot reports when it is free again.
#[derive(Debug)]
pub(super) enum SlotEnd {
    Told(Outcome),
    Released(u64),
    /// The trial came to the fidelity of its plan, and may be continued.
    Paused,
    /// The result waits in a file for the next run.
    Kept,
    /// The trial belongs to another worker by now, or could not be given back.
    Gone,
    CannotRun(String),
}

/// What the threads of a run share.
pub(super) struct Shared<'r> {
    pub runner: &'r Runner,
    pub study: &'r Study,
    pub watch: &'r (dyn Fn(Event) + Sync),
    pub absence: Absence<'r>,
    pub held: Mutex<BTreeMap<Token, Held>>,
    /// Whether trials are paused and continued as the method plans.
    pub plans: bool,
    /// How often each trial was continued and made no step.
    pub fruitless: Mutex<BTreeMap<u64, u32>>,
    /// Where `wimble report` speaks to this run, in a study with a fidelity.
    pub socket: Option<ReportSocket>,
}

impl Shared<'_> {
    /// Tells a result. While it waits for the storage it is kept in a file.
    pub fn tell(&self, result: &KeptResult, took: Option<Duration>) -> SlotEnd {
        let KeptResult { token, finding: Finding { outcome, attributes }, steps } = result;
        let key = format!("tell-{token}");
        let mut in_file = false;
        let keep = || {
            let kept = self.runner.kept.as_ref().map(|kept| kept.keep(result));
            in_file = matches!(kept, Some(Ok(())));
            let trouble = match kept {
                Some(done) => done.err().map(|error| error.to_string()),
                None => Some("there is no folder for it".to_owned()),
            };
            (self.watch)(Event::Kept { trial: token.trial, outcome: outcome.clone(), trouble });
        };
        let tell = || {
            self.report_rest(*token, steps)?;
            self.study.tell_with(*token, outcome, attributes, &key)
        };
        let told = self.absence.outlast(tell, keep);
        let Some(told) = told else {
            if in_file {
                return SlotEnd::Kept;
            }
            let reason = format!("the storage did not answer in time; its result was {outcome}");
            (self.watch)(Event::Dropped { trial: token.trial, reason });
            return SlotEnd::Gone;
        };
        // Nothing was said about the trial: a server that lets no worker in, a storage of a later version. The next run may be heard.
        if let Err(
            Error::Remote { .. }
            | Error::LaterSchema { .. }
            | Error::LaterFormat { .. }
            | Error::Corrupt { .. },
        ) = &told
            && self.runner.kept.as_ref().is_some_and(|kept| kept.keep(result).is_ok())
        {
            let (trial, outcome) = (token.trial, outcome.clone());
            (self.watch)(Event::Kept { trial, outcome, trouble: None });
            return SlotEnd::Kept;
        }
        if let Some(kept) = &self.runner.kept {
            // At worst the next run tells it again, which is acknowledged again.
            let _ = kept.forget(*token);
        }
        match told {
            Ok(()) => {
                (self.watch)(Event::Told { trial: token.trial, outcome: outcome.clone(), took });
                SlotEnd::Told(outcome.clone())
            }
            Err(error) => {
                let reason = format!("its result, {outcome}, came too late: {error}");
                (self.watch)(Event::Dropped { trial: token.trial, reason });
                SlotEnd::Gone
            }
        }
    }

    /// Stores the last steps of a trial, before its end or its pause.
    fn report_rest(&self, token: Token, steps: &[Measurement]) -> Result<(), Error> {
        match steps.is_empty() {
            true => Ok(()),
            false => match self.study.report(token, steps) {
                // It may have ended already, by a call whose answer was lost: ending it again says so.
                Err(error) if !error.is_refusal() => Err(error),
                _ => Ok(()),
            },
        }
    }

    /// Pauses a trial that came to the fidelity of its plan.
    fn pause(&self, token: Token, steps: &[Measurement], at: f64) -> SlotEnd {
        let pause = || {
            self.report_rest(token, steps)?;
            self.study.pause_trial(token)
        };
        let trial = token.trial;
        let reason = match self.absence.outlast(pause, || {}) {
            Some(Ok(())) => {
                (self.watch)(Event::Paused { trial, at });
                return SlotEnd::Paused;
            }
            Some(Err(error)) => error.to_string(),
            None => "the storage did not answer; the next run, or another worker, goes on with it"
                .to_owned(),
        };
        (self.watch)(Event::Dropped { trial, reason });
        SlotEnd::Gone
    }

    /// Where a trial is to be paused with this outcome: below the highest fidelity, as the method planned it. A command that was
    /// continued twice and went no further does not take up its work: its trial ends where it is.
    fn pauses_at(&self, claim: &Claim, held: &Held, outcome: &Outcome) -> Option<f64> {
        let until = claim.until?;
        let at = outcome.measurement()?.fidelity?;
        let before = held.before.as_ref().and_then(|step| step.fidelity).unwrap_or(0.0);
        let mut fruitless = self.fruitless.lock().ok()?;
        if at > before || at >= until {
            fruitless.remove(&claim.trial);
            return Some(at);
        }
        let count = fruitless.entry(claim.trial).or_default();
        *count += 1;
        (*count < MOST_FRUITLESS).then_some(at)
    }

    /// Gives a trial back to the queue.
    fn release(&self, claim: &Claim) -> SlotEnd {
        let trial = claim.trial;
        let reason = match self.absence.outlast(|| self.study.release(claim.token), || {}) {
            Some(Ok(())) => {
                (self.watch)(Event::Released { trial });
                return SlotEnd::Released(trial);
            }
            Some(Err(error)) => error.to_string(),
            None => {
                "the storage did not answer; the next run, or another worker, runs the trial again"
                    .to_owned()
            }
        };
        (self.watch)(Event::Dropped { trial, reason });
        SlotEnd::Gone
    }
}

/// One command at a time.
#[derive(Clone, Copy)]
pub(super) struct Slot<'r> {
    pub shared: &'r Shared<'r>,
    pub number: usize,
}

impl Slot<'_> {
    /// Evaluates trials until there are no more to come.
    pub fn serve(self, jobs: &Mutex<Receiver<Claim>>, reports: &Sender<SlotEnd>) {
        loop {
            // The lock is let go before the trial begins.
            let job = jobs.lock().ok().and_then(|jobs| jobs.recv().ok());
            let Some(claim) = job else { return };
            let report = self.evaluate(&claim);
            if let Ok(mut held) = self.shared.held.lock() {
                held.remove(&claim.token);
            }
            if reports.send(report).is_err() {
                return;
            }
        }
    }

    fn evaluate(&self, claim: &Claim) -> SlotEnd {
        let Shared { runner, watch, held, .. } = self.shared;
        let trial = claim.trial;
        let held =
            held.lock().ok().and_then(|held| held.get(&claim.token).cloned()).unwrap_or_default();
        let urgency = || {
            if held.is_lost() || held.is_stopped() {
                Urgency::Ask.max(runner.stop.urgency())
            } else {
                runner.stop.urgency()
            }
        };
        let retried = |reason: &str| watch(Event::Retried { trial, reason: reason.to_owned() });
        let began = Instant::now();
        let found = runner.evaluator.evaluate(&Attempt {
            claim,
            slot: self.number,
            urgency: &urgency,
            retried: &retried,
            steps: held.steps.as_ref(),
            socket: self.shared.socket.as_ref().map(ReportSocket::path),
        });
        if let Some((count, reason)) = held.steps.as_ref().and_then(|steps| steps.left_out()) {
            watch(Event::StepsLeftOut { trial, count, reason });
        }
        if let Some(reason) = held.lost.lock().ok().and_then(|lost| lost.clone()) {
            watch(Event::Dropped { trial, reason });
            return SlotEnd::Gone;
        }
        if runner.stop.urgency() == Urgency::Kill {
            return SlotEnd::Gone;
        }
        match found {
            Ok(finding) => {
                let steps = held.steps.as_ref().map(|steps| steps.waiting().steps);
                let steps = steps.unwrap_or_default();
                if let Some(at) = self.shared.pauses_at(claim, &held, &finding.outcome) {
                    return self.shared.pause(claim.token, &steps, at);
                }
                let result = KeptResult { token: claim.token, finding, steps };
                self.shared.tell(&result, Some(began.elapsed()))
            }
            Err(Unfinished::Interrupted) => {
                if let Some(steps) = &held.steps {
                    // What it measured is known even if it begins anew. If that fails, so will the release.
                    let _ = self.shared.study.report(claim.token, &steps.waiting().steps);
                }
                self.shared.release(claim)
            }
            Err(Unfinished::CannotRun(reason)) => {
                // What cannot be run must be known even if the trial could not be given back.
                self.shared.release(claim);
                SlotEnd::CannotRun(reason)
            }
        }
    }
}

/// Renews the leases of all trials in hand until `rest` is dropped. A trial that is refused is marked as lost, which ends
/// its command.
pub(super) fn beat(shared: &Shared<'_>, rest: &Receiver<()>) {
    let Shared { study, absence, held, .. } = shared;
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
        let answer = study.heartbeats(&tokens);
        // The next heartbeat may reach the storage again. Until then leases are not renewed.
        absence.hear(answer.as_ref().err());
        for Refused { token, error } in answer.unwrap_or_default() {
            if let Some(held) = trials.get(&token) {
                held.lose(&error);
            }
        }
    }
}
