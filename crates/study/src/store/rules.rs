//! The contract as steps on rows, written once for every back end.
//!
//! A back end opens a transaction that excludes other writers of the study, and hands its [`Rows`] to [`Rules`]. It
//! commits what the rules did, and rolls back if they refuse the call or the back end fails: neither changes anything.

mod additions;
mod transfer;

use std::time::Duration;

use wimble::outcome::Outcome;
use wimble::space::Configuration;

use super::checks::{check_ask, check_resume, check_tell, check_until, invalid, storable};
use super::rows::{Answer, Granted, Head, Holder, REVIEWED, Reads, Rows};
use super::{
    ANSWERS_KEPT, Ask, Continuation, LONGEST_NOTICE, Proposal, Refused, Reply, Resume, Tell,
};
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::note::{Note, check_note};
use crate::trial::{Claim, Ended, Finish, Lease, Origin, Pause, State, Token, Trial};

/// The rules for one call.
pub(super) struct Rules<'a, R: Rows> {
    pub(super) study: &'a str,
    pub(super) rows: &'a mut R,
    pub(super) head: Head,
    pub(super) now: Timestamp,
}

impl<'a, R: Rows> Rules<'a, R> {
    /// Reads the head of the study.
    pub fn begin(study: &'a str, rows: &'a mut R, reads: Reads<'_>) -> Result<Self> {
        let (head, now) = rows.begin(reads)?;
        Ok(Self { study, rows, head, now })
    }

    pub fn ask(&mut self, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        check_ask(self.study, ask)?;
        if let Some(answer) = self.rows.answer(ask.key)? {
            return self.repeat(ask, &answer).map(Reply::Claims);
        }
        let held = self.rows.held_by(ask.holder(), ask.wanted)?;
        // A paused study gives what its worker holds.
        let paused = self.head.paused;
        let waiting = if ask.fresh || paused { 0 } else { ask.wanted - held.len() };
        let queued = self.rows.queued(waiting)?;
        let stale = self.rows.stale_answers(self.now, REVIEWED)?;
        let overdue = self.overdue(ask, waiting - queued.len())?;
        let missing = ask.wanted - held.len() - queued.len() - overdue.len();
        let evaluated_here = self.head.issued - self.head.counts.imported;
        let room = self.head.budget.saturating_sub(evaluated_here);
        let waits = self.head.counts.queued + if ask.plans { self.head.counts.paused } else { 0 };
        if paused && held.is_empty() && (room > 0 || waits > 0) {
            return Err(Error::Paused { study: self.study.to_owned() });
        }
        let room = if paused { 0 } else { room };
        let continuable = if ask.plans && !paused { self.head.counts.paused } else { 0 };
        let most = usize::try_from(room.saturating_add(continuable)).unwrap_or(usize::MAX);
        let missing = missing.min(most);
        let accepted = match proposal {
            Some(proposal) if missing > 0 => self.accepted(ask, proposal, missing)?,
            _ => None,
        };
        let (fresh, untils, continued): (&[_], &[f64], Vec<Trial>) = match (accepted, proposal) {
            (Some(continued), Some(proposal)) => {
                (&proposal.configurations, &proposal.untils, continued)
            }
            _ if missing == 0 => (&[], &[], Vec::new()),
            _ => return Ok(Reply::Propose { count: missing, room, issued: self.head.issued }),
        };
        let mut claims = Vec::with_capacity(ask.wanted);
        for mut trial in held {
            if let State::Running(lease) = &mut trial.state {
                lease.renew(self.now, self.head.lease);
                let fence = lease.fence;
                claims.push(claim(&trial, fence));
            }
            self.rows.update(&trial)?;
        }
        for mut trial in queued {
            let running = self.grant(ask);
            self.change(&mut trial, running)?;
            claims.push(claim(&trial, self.head.fence));
        }
        for mut trial in overdue {
            trial.lost += 1;
            let running = self.grant(ask);
            self.change(&mut trial, running)?;
            claims.push(claim(&trial, self.head.fence));
        }
        for mut trial in continued {
            let running = self.grant(ask);
            self.change(&mut trial, running)?;
            claims.push(claim(&trial, self.head.fence));
        }
        if let Some(proposal) = proposal.filter(|_| !fresh.is_empty()) {
            self.rows.note_engine(&proposal.engine, self.head.issued)?;
        }
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        for (place, configuration) in fresh.iter().take(room).enumerate() {
            let taken = claims.len() < ask.wanted;
            let state = if taken { self.grant(ask) } else { State::Queued(None) };
            let until = untils.get(place).copied();
            let trial = self.issue(configuration.clone(), Origin::Proposed, state, until)?;
            if taken {
                claims.push(claim(&trial, self.head.fence));
            }
        }
        if !claims.is_empty() {
            let granted = |claim: &Claim| Granted { token: claim.token, attempt: claim.attempt };
            let claims = claims.iter().map(granted).collect();
            let answer = Answer { worker: ask.worker.to_owned(), wanted: ask.wanted, claims };
            self.rows.keep_answer(ask.key, &answer, self.now.after(ANSWERS_KEPT))?;
            self.forget_answers(stale)?;
            self.rows.save_head(&self.head)?;
        }
        Ok(Reply::Claims(claims))
    }

    /// The paused trials that a proposal continues, as they will be; `None` if the proposal is to be dropped.
    fn accepted(
        &mut self,
        ask: &Ask<'_>,
        proposal: &Proposal,
        missing: usize,
    ) -> Result<Option<Vec<Trial>>> {
        let Proposal { known, configurations, continued, exhausted, .. } = proposal;
        // A plan was made for the workers that were free then: one that is free since asks again.
        let (offered, wanted) = match ask.plans {
            true => (configurations.len() + continued.len(), 1),
            false => (configurations.len(), missing),
        };
        if *known != self.head.issued || (offered < wanted && !exhausted) {
            return Ok(None);
        }
        let most = if ask.plans { missing } else { 0 };
        let mut trials = Vec::with_capacity(continued.len().min(most));
        for &Continuation { trial, until } in continued.iter().take(most) {
            check_until(self.study, until)?;
            match self.rows.trial(trial)? {
                Some(paused) if matches!(paused.state, State::Paused(_)) => {
                    trials.push(Trial { until: Some(until), ..paused });
                }
                _ => return Ok(None),
            }
        }
        proposal.untils.iter().try_for_each(|until| check_until(self.study, *until))?;
        Ok(Some(trials))
    }

    /// Gives the trials that earlier incarnations of a worker hold to its present one, under new tokens.
    pub fn resume(&mut self, resume: &Resume<'_>) -> Result<usize> {
        check_resume(self.study, resume)?;
        let Resume { worker, incarnation, formerly } = *resume;
        let mut moved = 0;
        for earlier in formerly.iter().filter(|earlier| *earlier != incarnation) {
            let holder = Holder { worker, incarnation: Some(earlier) };
            for mut trial in self.rows.held_by(holder, usize::MAX)? {
                let running = self.lease_for(worker, Some(incarnation));
                self.change(&mut trial, running)?;
                moved += 1;
            }
        }
        if moved > 0 {
            self.rows.save_head(&self.head)?;
        }
        Ok(moved)
    }

    pub fn heartbeats(&mut self, tokens: &[Token]) -> Result<Vec<Refused>> {
        let mut refused = Vec::new();
        for &token in tokens {
            match self.held(token) {
                Ok(mut trial) => {
                    if let State::Running(lease) = &mut trial.state {
                        lease.renew(self.now, self.head.lease);
                    }
                    self.rows.update(&trial)?;
                }
                Err(error) if error.is_refusal() => refused.push(Refused { token, error }),
                Err(error) => return Err(error),
            }
        }
        Ok(refused)
    }

    pub fn tell(&mut self, tell: &Tell<'_>) -> Result<()> {
        check_tell(self.study, tell)?;
        let Tell { token, attributes, key, .. } = *tell;
        let outcome = storable(self.study, token.trial, tell.outcome)?;
        if let Some(Trial { state: State::Finished(finish), .. }) = self.rows.trial(token.trial)?
            && finish.lease.fence == token.fence
            && let Some(told) = &finish.key
        {
            let (study, trial) = (self.study.to_owned(), token.trial);
            if told != key {
                let outcome = finish.outcome.to_string();
                return Err(Error::AlreadyTold { study, trial, outcome });
            }
            if finish.outcome != outcome || finish.attributes != *attributes {
                let before = format!("to tell trial {trial} the outcome {}", finish.outcome);
                return Err(self.key_reused(key, before));
            }
            return Ok(());
        }
        let mut trial = self.held(token)?;
        if let State::Running(lease) = trial.state.clone() {
            let (key, lease) = (Some(key.to_owned()), Lease { notice: None, ..lease });
            let attributes = attributes.clone();
            let after_step = self.head.steps;
            let finish = Finish { outcome, attributes, at: self.now, lease, key, after_step };
            self.change(&mut trial, State::Finished(finish))?;
        }
        self.rows.save_head(&self.head)
    }

    pub fn release(&mut self, token: Token) -> Result<()> {
        let mut trial = self.held(token)?;
        self.change(&mut trial, State::Queued(Some(Ended::Released)))?;
        self.rows.save_head(&self.head)
    }

    /// Pauses a trial. Done again with the same token, it changes nothing.
    pub fn pause(&mut self, token: Token) -> Result<()> {
        if let Some(Trial { state: State::Paused(pause), .. }) = self.rows.trial(token.trial)?
            && pause.lease.fence == token.fence
        {
            return Ok(());
        }
        let mut trial = self.held(token)?;
        if let State::Running(lease) = trial.state.clone() {
            let lease = Lease { notice: None, ..lease };
            let pause = Pause { at: self.now, lease, after_step: self.head.steps };
            self.change(&mut trial, State::Paused(pause))?;
        }
        self.rows.save_head(&self.head)
    }

    pub fn set_budget(&mut self, budget: u64) -> Result<()> {
        if !(1..=i64::MAX as u64).contains(&budget) {
            return Err(invalid(self.study, "budget", budget, i64::MAX as u64));
        }
        self.head.budget = budget;
        self.rows.save_head(&self.head)
    }

    pub fn set_paused(&mut self, paused: bool) -> Result<()> {
        self.head.paused = paused;
        self.rows.save_head(&self.head)
    }

    pub fn note(&mut self, trial: u64, text: &str) -> Result<()> {
        check_note(self.study, text)?;
        if trial >= self.head.issued {
            let (study, issued) = (self.study.to_owned(), self.head.issued);
            return Err(Error::UnknownTrial { study, trial, issued });
        }
        match text.trim() {
            "" => self.rows.drop_note(trial),
            text => self.rows.keep_note(&Note { trial, text: text.to_owned(), at: self.now }),
        }
    }

    /// The claims that an ask was given before.
    fn repeat(&mut self, ask: &Ask<'_>, answer: &Answer) -> Result<Vec<Claim>> {
        if (answer.worker.as_str(), answer.wanted) != (ask.worker, ask.wanted) {
            let before = format!("by worker `{}` to ask for {}", answer.worker, answer.wanted);
            return Err(self.key_reused(ask.key, before));
        }
        let mut claims = Vec::with_capacity(answer.claims.len());
        for &Granted { token, attempt } in &answer.claims {
            let Some(mut trial) = self.rows.trial(token.trial)? else {
                let reason = format!("it names trial {}, which is not there", token.trial);
                let what = format!("answer to ask `{}`", ask.key);
                return Err(Error::corrupt(self.study, what, reason));
            };
            // Another worker has it by now, or had it, or it was lost too often: the token is worth nothing.
            let is_over = match &trial.state {
                State::Running(lease) => lease.fence > token.fence,
                State::Paused(_) => true,
                State::Finished(finish) => finish.lease.fence > token.fence || finish.key.is_none(),
                State::Queued(_) => false,
            };
            if is_over {
                continue;
            }
            // Whoever asks again is alive: nobody takes what it is about to begin.
            if let State::Running(lease) = &mut trial.state {
                lease.renew(self.now, self.head.lease);
                self.rows.update(&trial)?;
            }
            let (configuration, until) = (trial.configuration, trial.until);
            claims.push(Claim { trial: token.trial, configuration, token, attempt, until });
        }
        Ok(claims)
    }

    /// Forgets those answers whose trials have all been finished for long.
    fn forget_answers(&mut self, stale: Vec<(String, Answer)>) -> Result<()> {
        for (key, answer) in stale {
            let mut over = true;
            for granted in &answer.claims {
                let trial = self.rows.trial(granted.token.trial)?;
                let finished = trial.as_ref().and_then(Trial::finished);
                over &= finished.is_some_and(|at| at.after(ANSWERS_KEPT) <= self.now);
            }
            if over {
                self.rows.forget_answer(&key)?;
            } else {
                self.rows.postpone_answer(&key, self.now.after(ANSWERS_KEPT))?;
            }
        }
        Ok(())
    }

    /// Up to `limit` trials of other workers that the asker may take: their leases are due, and their workers were silent
    /// for the time of a notice. Gives notice for those that have none. A trial that was lost too often fails instead.
    fn overdue(&mut self, ask: &Ask<'_>, limit: usize) -> Result<Vec<Trial>> {
        let mut takeable = Vec::new();
        if limit == 0 {
            return Ok(takeable);
        }
        let (mut failed, mut noticed) = (false, 0);
        for mut trial in self.rows.due(self.now)? {
            let State::Running(lease) = &mut trial.state else { continue };
            if lease.is_of(ask.worker, ask.incarnation) {
                continue;
            }
            match lease.notice {
                Some(notice) if notice > self.now => noticed += 1,
                Some(_) if trial.lost >= self.head.retries => {
                    let lease = lease.clone();
                    trial.lost += 1;
                    let reason = format!("its worker was lost {} times", trial.lost);
                    let (outcome, attributes) =
                        (Outcome::Failed(reason.into()), Attributes::default());
                    let (at, key, after_step) = (self.now, None, self.head.steps);
                    let finish = Finish { outcome, attributes, at, lease, key, after_step };
                    self.change(&mut trial, State::Finished(finish))?;
                    failed = true;
                }
                Some(_) => takeable.push(trial),
                None if noticed + takeable.len() < limit => {
                    lease.notice = Some(self.now.after(notice(self.head.lease)));
                    self.rows.update(&trial)?;
                    noticed += 1;
                }
                None => {}
            }
            if takeable.len() == limit {
                break;
            }
        }
        if failed {
            self.rows.save_head(&self.head)?;
        }
        Ok(takeable)
    }

    /// Gives the asker a lease under a new token.
    fn grant(&mut self, ask: &Ask<'_>) -> State {
        self.lease_for(ask.worker, ask.incarnation)
    }

    fn lease_for(&mut self, worker: &str, incarnation: Option<&str>) -> State {
        self.head.fence += 1;
        State::Running(Lease {
            worker: worker.to_owned(),
            incarnation: incarnation.map(str::to_owned),
            fence: self.head.fence,
            since: self.now,
            due: self.now.after(self.head.lease),
            notice: None,
        })
    }

    /// Adds a trial, under the next number and the next sequence number.
    fn issue(
        &mut self,
        configuration: Configuration,
        origin: Origin,
        state: State,
        until: Option<f64>,
    ) -> Result<Trial> {
        self.head.sequence += 1;
        let trial = Trial {
            id: self.head.issued,
            configuration,
            origin,
            state,
            lost: 0,
            sequence: self.head.sequence,
            proposed: self.now,
            until,
        };
        self.head.issued += 1;
        self.head.counts.enter(&trial.state);
        self.head.counts.imported += u64::from(origin == Origin::Imported);
        self.rows.insert(&trial)?;
        Ok(trial)
    }

    /// Saves a trial in a new state, under the next sequence number.
    fn change(&mut self, trial: &mut Trial, state: State) -> Result<()> {
        self.head.counts.leave(&trial.state);
        self.head.counts.enter(&state);
        self.head.sequence += 1;
        trial.sequence = self.head.sequence;
        trial.state = state;
        self.rows.update(trial)
    }

    /// The running trial that a token holds.
    pub(super) fn held(&mut self, token: Token) -> Result<Trial> {
        let unknown = || Error::UnknownToken {
            study: self.study.to_owned(),
            token,
            issued: self.head.issued,
        };
        if !(1..=self.head.fence).contains(&token.fence) {
            return Err(unknown());
        }
        let trial = self.rows.trial(token.trial)?.ok_or_else(unknown)?;
        let reason = match &trial.state {
            State::Running(lease) if lease.fence == token.fence => return Ok(trial),
            State::Running(lease) if token.fence > lease.fence => return Err(unknown()),
            State::Running(lease) => {
                format!("its lease ended, and worker `{}` has the trial now", lease.worker)
            }
            State::Queued(None) => return Err(unknown()),
            State::Queued(Some(Ended::RanOut)) => {
                "its lease ended, and the trial is back in the queue".to_owned()
            }
            State::Queued(Some(Ended::Released)) => {
                "it was released, and the trial is back in the queue".to_owned()
            }
            State::Paused(pause) if token.fence > pause.lease.fence => return Err(unknown()),
            State::Paused(_) => "it was paused".to_owned(),
            State::Finished(finish) if token.fence > finish.lease.fence => return Err(unknown()),
            State::Finished(finish) if finish.key.is_none() => {
                format!("its lease ended, and the trial finished: {}", finish.outcome)
            }
            State::Finished(finish) if finish.lease.fence == token.fence => {
                let outcome = finish.outcome.to_string();
                let study = self.study.to_owned();
                return Err(Error::AlreadyTold { study, trial: token.trial, outcome });
            }
            State::Finished(finish) => {
                let Finish { outcome, lease, .. } = finish;
                format!("its lease ended, and worker `{}` told the trial {outcome}", lease.worker)
            }
        };
        Err(Error::LeaseLost { study: self.study.to_owned(), token, reason })
    }

    fn key_reused(&self, key: &str, before: String) -> Error {
        Error::KeyReused { study: self.study.to_owned(), key: key.to_owned(), before }
    }
}

/// How long a worker whose lease is due may still come back once another worker wants its trial: two heartbeats at least.
fn notice(lease: Duration) -> Duration {
    (lease / 2).min(LONGEST_NOTICE)
}

fn claim(trial: &Trial, fence: u64) -> Claim {
    Claim {
        trial: trial.id,
        configuration: trial.configuration.clone(),
        token: Token { trial: trial.id, fence },
        attempt: trial.lost + 1,
        until: trial.until,
    }
}
