//! The rules for steps.
//!
//! The steps of a trial grow in fidelity. One that is there already, with the same values, changes nothing, so that a
//! report may be repeated. One at or below the last, with other values or at a fidelity that was not reported before, says
//! that the evaluation began anew, after a retry or with another worker: the steps from there on are dropped first.
//! [`Ledger::report`](wimble::ledger::Ledger::report) follows the same rule, so that whoever applies the steps in the order
//! of their sequence numbers has the curves that are stored.

use wimble::outcome::Measurement;

use super::Refused;
use super::checks::storable_step;
use super::rows::Rows;
use super::rules::Rules;
use crate::error::Result;
use crate::step::{Report, Step, fidelity};
use crate::trial::State;

impl<R: Rows> Rules<'_, R> {
    pub fn report(&mut self, reports: &[Report]) -> Result<Vec<Refused>> {
        // All are checked before the first is stored: a refused call changes nothing.
        let storable = |report: &Report| -> Result<Vec<Measurement>> {
            let step = |step| storable_step(self.study, report.token.trial, step);
            report.steps.iter().map(step).collect()
        };
        let all: Vec<Vec<Measurement>> = reports.iter().map(storable).collect::<Result<_>>()?;
        let (mut refused, before) = (Vec::new(), self.head.steps);
        for (report, steps) in reports.iter().zip(all) {
            match self.held(report.token) {
                Ok(mut trial) => {
                    if let State::Running(lease) = &mut trial.state {
                        lease.renew(self.now, self.head.lease);
                    }
                    self.rows.update(&trial)?;
                    self.extend(trial.id, steps)?;
                }
                Err(error) if error.is_refusal() => {
                    refused.push(Refused { token: report.token, error });
                }
                Err(error) => return Err(error),
            }
        }
        if self.head.steps > before {
            self.rows.save_head(&self.head)?;
        }
        Ok(refused)
    }

    /// Stores the steps of a trial that are new.
    pub(super) fn extend(&mut self, trial: u64, steps: Vec<Measurement>) -> Result<()> {
        let Some(lowest) = steps.iter().map(fidelity).reduce(f64::min) else { return Ok(()) };
        let known = self.rows.steps_from(trial, lowest)?;
        self.append(trial, known, steps)
    }

    /// The same, where those that a trial has at these fidelities and above are known.
    pub(super) fn append(
        &mut self,
        trial: u64,
        mut known: Vec<Step>,
        steps: Vec<Measurement>,
    ) -> Result<()> {
        for measurement in steps {
            let at = fidelity(&measurement);
            let place = known.partition_point(|step| step.fidelity() < at);
            match known.get(place) {
                Some(same) if same.measurement == measurement => continue,
                Some(_) => {
                    self.rows.drop_steps(trial, at)?;
                    known.truncate(place);
                }
                None => {}
            }
            self.head.steps += 1;
            let step = Step { trial, measurement, sequence: self.head.steps, at: self.now };
            self.rows.insert_step(&step)?;
            known.push(step);
        }
        Ok(())
    }
}
