//! The thread that keeps the steps of all commands of a run.
//!
//! Every round it stores what the commands measured since the last, in one call for all of them; reads what other workers
//! stored; and asks the study's stopping rule about each trial that has a new step, unless the method planned how far it goes. No command waits for it: a verdict
//! reaches the command as a signal, as the file that it may look for, and as the answer to its next report. A round takes
//! a fifth of the time at most, so that a slow storage gets fewer, larger calls.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use wimble::stopping::{Rule, Verdict};

use super::Event;
use super::slots::{Held, Shared};
use crate::error::Error;
use crate::step::Report;
use crate::trial::Token;

/// The time between two rounds, at least and at most.
const ROUND: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(15)];
/// How many times longer than a round the pause after it is.
const REST: u32 = 4;

/// Stores steps and stops trials until `rest` is dropped. Only for studies with a fidelity.
pub(super) fn keep(shared: &Shared<'_>, rest: &Receiver<()>) {
    let mut keeper = Keeper { shared, unjudged: false };
    let [mut pause, longest] = ROUND;
    while rest.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let began = Instant::now();
        keeper.round();
        pause = (began.elapsed() * REST).clamp(ROUND[0], longest);
    }
}

struct Keeper<'r> {
    shared: &'r Shared<'r>,
    /// Whether the watcher knows that the rule cannot judge.
    unjudged: bool,
}

impl Keeper<'_> {
    fn round(&mut self) {
        let Shared { study, absence, held, .. } = self.shared;
        let trials: BTreeMap<Token, Held> = match held.lock() {
            Ok(held) => held.clone(),
            Err(_) => return,
        };
        let mut sent = Vec::new();
        let mut reports = Vec::new();
        let mut news = Vec::new();
        for (token, held) in &trials {
            let Some(live) = &held.steps else { continue };
            let waiting = live.waiting();
            let judged = !live.is_stopped() && !held.is_planned;
            if let Some(at) = waiting.news.filter(|_| judged) {
                news.push((token.trial, at, live));
            }
            if !waiting.steps.is_empty() {
                sent.push((live, waiting.until));
                reports.push(Report { token: *token, steps: waiting.steps });
            }
        }
        if !reports.is_empty() {
            let answer = study.reports(&reports);
            absence.hear(answer.as_ref().err());
            // What the storage did not take is sent again in the next round.
            let refused = match answer {
                Ok(refused) => refused,
                Err(error) => {
                    news.iter().for_each(|(_, _, live)| live.unread());
                    return self.complain(&error);
                }
            };
            sent.iter().for_each(|(live, until)| live.settle(*until));
            for refused in refused {
                if let Some(held) = trials.get(&refused.token) {
                    held.lose(&refused.error);
                }
            }
        }
        if study.settings().stopping.rule == Rule::None {
            return;
        }
        if news.is_empty() {
            return;
        }
        let trials: Vec<(u64, f64)> = news.iter().map(|(trial, at, _)| (*trial, *at)).collect();
        match study.verdicts_at(&trials) {
            Ok(verdicts) => {
                for ((_, at, live), verdict) in news.iter().zip(verdicts) {
                    if verdict == Verdict::Stop {
                        live.stop(*at);
                    }
                }
            }
            Err(error) => {
                absence.hear(Some(&error));
                news.iter().for_each(|(_, _, live)| live.unread());
                self.complain(&error);
            }
        }
    }

    /// Says once that steps are not kept or judged, unless the storage is merely away: a rule that fails stops nothing.
    fn complain(&mut self, error: &Error) {
        if !matches!(error, Error::Busy { .. } | Error::Backend { .. }) && !self.unjudged {
            self.unjudged = true;
            (self.shared.watch)(Event::Unjudged { reason: error.to_string() });
        }
    }
}
