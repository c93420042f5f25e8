//! Trials that the method did not propose: put into the queue, or evaluated elsewhere.

use std::collections::HashMap;

use wimble::outcome::{Measurement, Outcome};

use super::super::checks::{check_additions, storable, storable_step};
use super::super::rows::Rows;
use super::Rules;
use crate::addition::Addition;
use crate::error::{Error, Result};
use crate::trial::{Finish, Lease, Origin, State};

impl<R: Rows> Rules<'_, R> {
    pub fn add(&mut self, additions: &[Addition]) -> Result<Vec<u64>> {
        check_additions(self.study, additions)?;
        // All are checked before the first is added: a refusal changes nothing.
        let mut known = Vec::with_capacity(additions.len());
        let mut outcomes = Vec::with_capacity(additions.len());
        let mut curves = Vec::with_capacity(additions.len());
        let mut keys = HashMap::with_capacity(additions.len());
        for (place, addition) in additions.iter().enumerate() {
            let next = self.head.issued + place as u64;
            let outcome = &addition.outcome;
            outcomes
                .push(outcome.as_ref().map(|told| storable(self.study, next, told)).transpose()?);
            if let Some(first) = keys.insert(addition.key.as_str(), place) {
                let before = format!("for number {first} of this call, counted from 0");
                return Err(self.key_reused(&addition.key, before));
            }
            let step = |step| storable_step(self.study, next, step);
            curves.push(addition.steps.iter().map(step).collect::<Result<Vec<_>>>()?);
            known.push(self.rows.addition(&addition.key)?);
            if let Some(id) = known[place] {
                self.check_same(addition, outcomes[place].as_ref(), &curves[place], id)?;
            }
        }
        let mut ids = Vec::with_capacity(additions.len());
        let all = additions.iter().zip(outcomes).zip(curves).zip(known);
        for (((addition, outcome), curve), known) in all {
            if let Some(id) = known {
                ids.push(id);
                continue;
            }
            // Steps come before the end of their trial.
            self.append(self.head.issued, Vec::new(), curve)?;
            let state = match outcome {
                None => State::Queued(None),
                Some(outcome) => State::Finished(self.imported(addition, outcome)),
            };
            let trial =
                self.issue(addition.configuration.clone(), addition.origin(), state, None)?;
            self.rows.keep_addition(&addition.key, trial.id)?;
            ids.push(trial.id);
        }
        self.rows.save_head(&self.head)?;
        Ok(ids)
    }

    /// Refuses an addition under a key that trial `id` was added under, unless it is the same.
    fn check_same(
        &mut self,
        addition: &Addition,
        outcome: Option<&Outcome>,
        curve: &[Measurement],
        id: u64,
    ) -> Result<()> {
        let Some(trial) = self.rows.trial(id)? else {
            let what = format!("addition `{}`", addition.key);
            let reason = format!("it names trial {id}, which is not there");
            return Err(Error::corrupt(self.study, what, reason));
        };
        let stored = match curve {
            [] => Vec::new(),
            _ => self.rows.steps_from(id, 0.0)?,
        };
        // What was put into the queue may have an outcome by now.
        let same = trial.configuration == addition.configuration
            && trial.origin == addition.origin()
            && (outcome.is_none()
                || (trial.outcome() == outcome
                    && stored.iter().map(|step| &step.measurement).eq(curve)
                    && trial.attributes() == Some(&addition.attributes)));
        if same {
            return Ok(());
        }
        let before = match (trial.origin, trial.outcome()) {
            (Origin::Imported, Some(told)) => {
                format!("to add trial {id} at {} with {told}", trial.configuration)
            }
            _ => format!("to put trial {id} at {} into the queue", trial.configuration),
        };
        Err(self.key_reused(&addition.key, before))
    }

    /// The end of a trial that was evaluated elsewhere.
    fn imported(&self, addition: &Addition, outcome: Outcome) -> Finish {
        let at = addition.finished.unwrap_or(self.now);
        let lease = Lease {
            worker: addition.worker.clone().unwrap_or_else(|| "imported".to_owned()),
            incarnation: None,
            fence: 0,
            since: addition.started.unwrap_or(at),
            due: at,
            notice: None,
        };
        let (attributes, after_step) = (addition.attributes.clone(), self.head.steps);
        Finish { outcome, attributes, at, lease, key: None, after_step }
    }
}
