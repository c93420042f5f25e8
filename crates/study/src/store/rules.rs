//! The contract as steps on rows, written once for every back end.
//!
//! A back end opens a transaction that excludes other writers of the study, hands its [`Rows`] to [`Rules`], and
//! commits what they did, also when they refuse: a rule changes nothing before it is sure, but for leases that
//! were due. Only a failure of the back end itself rolls back.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Ask, Proposal, Reply};
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::settings::check_name;
use crate::trial::{Claim, Ended, Finish, Lease, Outcome, State, Token, Trial};

/// More trials than any ask can mean.
const LARGEST_ASK: usize = 10_000;

/// What a study knows of itself as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub budget: u64,
    pub retries: u32,
    pub lease: Duration,
    /// How many trials exist.
    pub issued: u64,
    /// The latest sequence number.
    pub sequence: u64,
    /// The latest fencing number.
    pub fence: u64,
}

/// What an ask was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub worker: String,
    pub wanted: usize,
    pub claims: Vec<Granted>,
}

/// A claim without its configuration, which the trial has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Granted {
    pub token: Token,
    pub attempt: u32,
}

/// The rows of one study, inside a transaction.
pub(super) trait Rows {
    fn head(&mut self) -> Result<Head>;
    fn save_head(&mut self, head: &Head) -> Result<()>;
    fn trial(&mut self, id: u64) -> Result<Option<Trial>>;
    fn insert(&mut self, trial: &Trial) -> Result<()>;
    fn update(&mut self, trial: &Trial) -> Result<()>;
    /// The running trials whose leases are due at `now`.
    fn due(&mut self, now: Timestamp) -> Result<Vec<Trial>>;
    /// The first running trials of a worker.
    fn held_by(&mut self, worker: &str, limit: usize) -> Result<Vec<Trial>>;
    /// The first queued trials.
    fn queued(&mut self, limit: usize) -> Result<Vec<Trial>>;
    fn answer(&mut self, key: &str) -> Result<Option<Answer>>;
    fn keep_answer(&mut self, key: &str, answer: &Answer) -> Result<()>;
}

/// The rules for one call.
pub(super) struct Rules<'a, R: Rows> {
    study: &'a str,
    rows: &'a mut R,
    head: Head,
    now: Timestamp,
    ended: usize,
}

impl<'a, R: Rows> Rules<'a, R> {
    /// Reads the head and ends the leases that are due.
    pub fn begin(study: &'a str, rows: &'a mut R, now: Timestamp) -> Result<Self> {
        let head = rows.head()?;
        let mut rules = Self { study, rows, head, now, ended: 0 };
        for mut trial in rules.rows.due(now)? {
            let State::Running(lease) = trial.state.clone() else { continue };
            trial.lost += 1;
            trial.state = if trial.lost > rules.head.retries {
                let message = format!("its worker was lost {} times", trial.lost);
                let outcome = Outcome::Failed(message);
                State::Finished(Finish { outcome, at: now, lease, key: None })
            } else {
                State::Queued(Some(Ended::RanOut))
            };
            rules.change(&mut trial)?;
            rules.ended += 1;
        }
        if rules.ended > 0 {
            rules.rows.save_head(&rules.head)?;
        }
        Ok(rules)
    }

    /// How many leases ended when the call began.
    pub fn ended(&self) -> usize {
        self.ended
    }

    pub fn ask(&mut self, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        check_name(self.study, "worker", ask.worker)?;
        check_name(self.study, "client key", ask.key)?;
        if !(1..=LARGEST_ASK).contains(&ask.wanted) {
            return Err(self.invalid("number of trials asked for", ask.wanted, LARGEST_ASK as u64));
        }
        if let Some(answer) = self.rows.answer(ask.key)? {
            return self.repeat(ask, &answer).map(Reply::Claims);
        }
        let held = self.rows.held_by(ask.worker, ask.wanted)?;
        let queued = self.rows.queued(ask.wanted - held.len())?;
        let missing = ask.wanted - held.len() - queued.len();
        let room = self.head.budget.saturating_sub(self.head.issued);
        let missing = missing.min(usize::try_from(room).unwrap_or(usize::MAX));
        let fresh: &[_] = match proposal {
            _ if missing == 0 => &[],
            Some(Proposal { known, configurations })
                if *known == self.head.issued && configurations.len() >= missing =>
            {
                configurations
            }
            _ => return Ok(Reply::Propose { count: missing, room }),
        };
        let mut claims = Vec::with_capacity(ask.wanted);
        for mut trial in held {
            if let State::Running(lease) = &mut trial.state {
                lease.due = lease.due.max(self.now.after(self.head.lease));
                let fence = lease.fence;
                claims.push(claim(&trial, fence));
            }
            self.rows.update(&trial)?;
        }
        for mut trial in queued {
            claims.push(self.grant(&mut trial, ask.worker));
            self.change(&mut trial)?;
        }
        for configuration in fresh.iter().take(usize::try_from(room).unwrap_or(usize::MAX)) {
            let mut trial = Trial {
                id: self.head.issued,
                configuration: configuration.clone(),
                state: State::Queued(None),
                lost: 0,
                sequence: 0,
                proposed: self.now,
            };
            self.head.issued += 1;
            if claims.len() < ask.wanted {
                claims.push(self.grant(&mut trial, ask.worker));
            }
            self.head.sequence += 1;
            trial.sequence = self.head.sequence;
            self.rows.insert(&trial)?;
        }
        if !claims.is_empty() {
            let granted = |claim: &Claim| Granted { token: claim.token, attempt: claim.attempt };
            let claims = claims.iter().map(granted).collect();
            let answer = Answer { worker: ask.worker.to_owned(), wanted: ask.wanted, claims };
            self.rows.keep_answer(ask.key, &answer)?;
            self.rows.save_head(&self.head)?;
        }
        Ok(Reply::Claims(claims))
    }

    pub fn heartbeat(&mut self, token: Token) -> Result<()> {
        let mut trial = self.held(token)?;
        if let State::Running(lease) = &mut trial.state {
            // A clock that was set back must not shorten what was promised.
            lease.due = lease.due.max(self.now.after(self.head.lease));
        }
        self.rows.update(&trial)
    }

    pub fn tell(&mut self, token: Token, outcome: &Outcome, key: &str) -> Result<()> {
        check_name(self.study, "client key", key)?;
        let outcome = self.storable(token.trial, outcome)?;
        if let Some(Trial { state: State::Finished(finish), .. }) = self.rows.trial(token.trial)?
            && finish.lease.fence == token.fence
            && let Some(told) = &finish.key
        {
            let (study, trial) = (self.study.to_owned(), token.trial);
            if told != key {
                let outcome = finish.outcome.to_string();
                return Err(Error::AlreadyTold { study, trial, outcome });
            }
            if finish.outcome != outcome {
                let before = format!("to tell trial {trial} the outcome {}", finish.outcome);
                return Err(Error::KeyReused { study, key: key.to_owned(), before });
            }
            return Ok(());
        }
        let mut trial = self.held(token)?;
        if let State::Running(lease) = trial.state {
            let key = Some(key.to_owned());
            trial.state = State::Finished(Finish { outcome, at: self.now, lease, key });
        }
        self.change(&mut trial)?;
        self.rows.save_head(&self.head)
    }

    pub fn release(&mut self, token: Token) -> Result<()> {
        let mut trial = self.held(token)?;
        trial.state = State::Queued(Some(Ended::Released));
        self.change(&mut trial)?;
        self.rows.save_head(&self.head)
    }

    pub fn set_budget(&mut self, budget: u64) -> Result<()> {
        if !(1..=i64::MAX as u64).contains(&budget) {
            return Err(self.invalid("budget", budget, i64::MAX as u64));
        }
        self.head.budget = budget;
        self.rows.save_head(&self.head)
    }

    /// The claims that an ask was given before.
    fn repeat(&mut self, ask: &Ask<'_>, answer: &Answer) -> Result<Vec<Claim>> {
        if (answer.worker.as_str(), answer.wanted) != (ask.worker, ask.wanted) {
            let before = format!("by worker `{}` to ask for {}", answer.worker, answer.wanted);
            let (study, key) = (self.study.to_owned(), ask.key.to_owned());
            return Err(Error::KeyReused { study, key, before });
        }
        let mut claims = Vec::with_capacity(answer.claims.len());
        for &Granted { token, attempt } in &answer.claims {
            let Some(trial) = self.rows.trial(token.trial)? else {
                let reason = format!("it names trial {}, which is not there", token.trial);
                let what = format!("answer to ask `{}`", ask.key);
                return Err(Error::corrupt(self.study, what, reason));
            };
            let configuration = trial.configuration;
            claims.push(Claim { trial: token.trial, configuration, token, attempt });
        }
        Ok(claims)
    }

    /// Lets a worker hold a trial under a new token.
    fn grant(&mut self, trial: &mut Trial, worker: &str) -> Claim {
        self.head.fence += 1;
        trial.state = State::Running(Lease {
            worker: worker.to_owned(),
            fence: self.head.fence,
            since: self.now,
            due: self.now.after(self.head.lease),
        });
        claim(trial, self.head.fence)
    }

    /// Saves a trial in a new state, under the next sequence number.
    fn change(&mut self, trial: &mut Trial) -> Result<()> {
        self.head.sequence += 1;
        trial.sequence = self.head.sequence;
        self.rows.update(trial)
    }

    /// The running trial that a token holds.
    fn held(&mut self, token: Token) -> Result<Trial> {
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
                let lease = self.head.lease;
                format!("no heartbeat came within {lease:?}, and the trial is back in the queue")
            }
            State::Queued(Some(Ended::Released)) => {
                "it was released, and the trial is back in the queue".to_owned()
            }
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

    /// An outcome as every back end can hold it: finite, one zero, no zero bytes.
    fn storable(&self, trial: u64, outcome: &Outcome) -> Result<Outcome> {
        Ok(match outcome {
            Outcome::Value(value) if !value.is_finite() => {
                let study = self.study.to_owned();
                return Err(Error::NonFinite { study, trial, value: *value });
            }
            // −0 + 0 is +0, and SQLite knows no other.
            Outcome::Value(value) => Outcome::Value(value + 0.0),
            Outcome::Failed(message) => Outcome::Failed(message.replace('\0', "\u{fffd}")),
            Outcome::Infeasible => Outcome::Infeasible,
        })
    }

    fn invalid(&self, field: &'static str, value: impl std::fmt::Display, most: u64) -> Error {
        let (study, value) = (self.study.to_owned(), value.to_string());
        Error::Invalid { study, field, value, allowed: format!("from 1 to {most}") }
    }
}

fn claim(trial: &Trial, fence: u64) -> Claim {
    Claim {
        trial: trial.id,
        configuration: trial.configuration.clone(),
        token: Token { trial: trial.id, fence },
        attempt: trial.lost + 1,
    }
}
