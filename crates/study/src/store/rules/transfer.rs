//! Trials of another storage, taken over with their numbers.

use std::collections::{BTreeMap, HashMap};

use wimble::outcome::Measurement;

use super::super::Transfer;
use super::super::checks::{storable, storable_step};
use super::super::rows::Rows;
use super::Rules;
use crate::error::{Error, Result};
use crate::settings::check_name;
use crate::step::Step;
use crate::trial::{Ended, Finish, Lease, Origin, Pause, State, Trial};

/// What a transfer does to one trial.
enum Move {
    Insert(Trial),
    /// It waited here, or was paused, and is finished or paused there.
    Update(Trial),
}

impl<R: Rows> Rules<'_, R> {
    pub fn transfer(&mut self, transfer: &Transfer<'_>) -> Result<()> {
        // All are checked before the first is written: a refusal changes nothing.
        let mut arrived: HashMap<u64, Trial> = HashMap::new();
        let mut moves = Vec::with_capacity(transfer.trials.len());
        let mut next = self.head.issued;
        for trial in transfer.trials {
            let arriving = self.arriving(trial)?;
            let present = match arrived.get(&trial.id) {
                Some(before) => Some(before.clone()),
                None => self.rows.trial(trial.id)?,
            };
            match present {
                Some(present) => {
                    if self.follows(&present, &arriving)? {
                        moves.push(Move::Update(arriving.clone()));
                        arrived.insert(trial.id, arriving);
                    }
                }
                None if trial.id == next => {
                    next += 1;
                    moves.push(Move::Insert(arriving.clone()));
                    arrived.insert(trial.id, arriving);
                }
                None => {
                    let reason = format!("comes before trial {next}, which is not here yet");
                    return Err(self.diverged(trial.id, reason));
                }
            }
        }
        let mut curves: BTreeMap<u64, Vec<Measurement>> = BTreeMap::new();
        for Step { trial, measurement, .. } in transfer.steps {
            let step = storable_step(self.study, *trial, measurement)?;
            if *trial >= next {
                return Err(self.diverged(*trial, "has steps, and is not here yet".to_owned()));
            }
            curves.entry(*trial).or_default().push(step);
        }
        // Steps come before the ends of their trials, and in the same call: no reader sees one without the other.
        for (trial, steps) in curves {
            self.extend(trial, steps)?;
        }
        for mut one in moves {
            let (Move::Insert(trial) | Move::Update(trial)) = &mut one;
            if let State::Finished(Finish { after_step, .. })
            | State::Paused(Pause { after_step, .. }) = &mut trial.state
            {
                *after_step = self.head.steps;
            }
            match one {
                Move::Insert(trial) => self.take_over(trial, transfer)?,
                Move::Update(arriving) => {
                    if let Some(mut present) = self.rows.trial(arriving.id)? {
                        (present.lost, present.until) = (arriving.lost, arriving.until);
                        self.change(&mut present, arriving.state)?;
                    }
                }
            }
        }
        self.rows.save_head(&self.head)
    }

    /// Adds a trial, under its number and the next sequence number.
    fn take_over(&mut self, trial: Trial, transfer: &Transfer<'_>) -> Result<()> {
        self.head.issued += 1;
        self.head.counts.imported += u64::from(trial.origin == Origin::Imported);
        self.head.counts.enter(&trial.state);
        self.head.sequence += 1;
        for span in transfer.engines.iter().filter(|span| span.first_trial == trial.id) {
            self.rows.note_engine(&span.version, span.first_trial)?;
        }
        self.rows.insert(&Trial { sequence: self.head.sequence, ..trial })
    }

    /// The trial as it will be here: one that runs elsewhere waits in the queue, since nobody here holds it.
    fn arriving(&mut self, trial: &Trial) -> Result<Trial> {
        let mut arriving = trial.clone();
        let lease = match &mut arriving.state {
            State::Queued(_) => None,
            State::Running(lease) => Some(lease),
            State::Paused(pause) => Some(&mut pause.lease),
            State::Finished(finish) => {
                finish.outcome = storable(self.study, trial.id, &finish.outcome)?;
                finish.attributes.check(self.study)?;
                if let Some(key) = &finish.key {
                    check_name(self.study, "client key", key)?;
                }
                Some(&mut finish.lease)
            }
        };
        if let Some(Lease { worker, fence, .. }) = lease {
            check_name(self.study, "worker", worker)?;
            // Tokens of the other storage are worth nothing here.
            self.head.fence = self.head.fence.max(*fence);
        }
        if let State::Running(_) = arriving.state {
            arriving.state = State::Queued(Some(Ended::Released));
        }
        Ok(arriving)
    }

    /// Whether a trial that was taken over before is finished there by now; refuses one that went its own way here.
    fn follows(&self, present: &Trial, arriving: &Trial) -> Result<bool> {
        let id = present.id;
        if present.configuration != arriving.configuration || present.origin != arriving.origin {
            let reason =
                format!("is {} here, and {} there", present.configuration, arriving.configuration);
            return Err(self.diverged(id, reason));
        }
        match (&present.state, &arriving.state) {
            (State::Queued(_), State::Finished(_) | State::Paused(_)) => Ok(true),
            (State::Paused(_), State::Finished(_)) => Ok(true),
            (State::Paused(here), State::Paused(there)) => {
                Ok((here.at, &here.lease) != (there.at, &there.lease))
            }
            (State::Queued(_) | State::Paused(_), State::Queued(_) | State::Running(_)) => {
                Ok(false)
            }
            (State::Finished(here), State::Finished(there)) if is_same(here, there) => Ok(false),
            (State::Finished(here), State::Finished(there)) => {
                let reason =
                    format!("has the outcome {} here, and {} there", here.outcome, there.outcome);
                Err(self.diverged(id, reason))
            }
            (State::Finished(here), _) => {
                let reason = format!("has the outcome {} here, and none there", here.outcome);
                Err(self.diverged(id, reason))
            }
            (State::Running(lease), _) => {
                let reason = format!("is held here by worker `{}`", lease.worker);
                Err(self.diverged(id, reason))
            }
        }
    }

    fn diverged(&self, trial: u64, reason: String) -> Error {
        Error::Diverged { study: self.study.to_owned(), trial, reason }
    }
}

fn is_same(here: &Finish, there: &Finish) -> bool {
    here.outcome == there.outcome && here.attributes == there.attributes
}
