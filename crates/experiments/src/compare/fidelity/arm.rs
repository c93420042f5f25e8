//! What is compared: a method, and how it spends fidelity.

use wimble::curves::Curve;
use wimble::session::{Session, Trial};
use wimble::stopping::{Rule, Stopping, Verdict};
use wimble::strategy::Spec;

use crate::error::Result;

/// How trials are ended or continued.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// Every trial runs until a rule stops it.
    Stopping(Rule),
    /// The method plans: it pauses trials and continues them.
    Plan,
    /// Asynchronous successive halving as published (Li et al. 2020): a trial pauses at each rung, and whoever is free promotes one
    /// of the best third of the highest rung that has one, or begins a new trial.
    Promotion,
}

/// One of the compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arm {
    /// Its name in records.
    pub name: &'static str,
    /// The method that proposes new trials.
    pub method: &'static str,
    /// How trials are ended or continued.
    pub control: Control,
    /// The lowest fidelity, in units of the trainings.
    pub low: f64,
}

/// All that are compared.
pub const ARMS: [Arm; 13] = [
    Arm { name: "random", method: "random", control: Control::Stopping(Rule::None), low: 1.0 },
    Arm { name: "median", method: "random", control: Control::Stopping(Rule::Median), low: 1.0 },
    Arm { name: "asha-1", method: "random", control: Control::Promotion, low: 1.0 },
    Arm { name: "asha-2", method: "random", control: Control::Promotion, low: 2.0 },
    Arm { name: "halving", method: "random", control: Control::Stopping(Rule::Halving), low: 2.0 },
    Arm {
        name: "hyperband",
        method: "random",
        control: Control::Stopping(Rule::Hyperband),
        low: 1.0,
    },
    Arm { name: "bohb", method: "tpe", control: Control::Stopping(Rule::Hyperband), low: 1.0 },
    Arm { name: "random-auto", method: "random", control: Control::Stopping(Rule::Auto), low: 1.0 },
    Arm {
        name: "bore-halving",
        method: "bore preset=best",
        control: Control::Stopping(Rule::Halving),
        low: 2.0,
    },
    Arm { name: "auto-full", method: "auto", control: Control::Stopping(Rule::None), low: 1.0 },
    Arm {
        name: "auto-halving",
        method: "auto",
        control: Control::Stopping(Rule::Halving),
        low: 2.0,
    },
    Arm { name: "auto-stopping", method: "auto", control: Control::Stopping(Rule::Auto), low: 1.0 },
    Arm { name: "auto", method: "auto", control: Control::Plan, low: 1.0 },
];

impl Arm {
    /// The arm that proposes by the same method and carries every training out, if this is another one and it is compared.
    pub fn full(&self) -> Option<&'static str> {
        match self.method {
            "random" if self.name != "random" => Some("random"),
            "auto" if self.name != "auto-full" => Some("auto-full"),
            _ => None,
        }
    }

    /// Its method.
    pub fn spec(&self) -> Result<Spec> {
        Ok(self.method.parse()?)
    }

    /// What a free worker does, given the paused trials: a trial, and up to where.
    pub fn next(&self, session: &mut Session, paused: &[u64], high: f64) -> Result<(Trial, f64)> {
        let next = match self.control {
            Control::Stopping(_) => session.ask(1)?.pop().map(|trial| (trial, high)),
            Control::Plan => session.plan(paused, 1)?.pop(),
            Control::Promotion => match promoted(session, paused, self.low, high) {
                Some((id, until)) => {
                    session.pending().find(|trial| trial.id == id).map(|trial| (trial, until))
                }
                None => session.ask(1)?.pop().map(|trial| (trial, self.low)),
            },
        };
        let nothing = wimble::Error::UnknownTrial { trial: 0, issued: 0 };
        next.ok_or(crate::error::Error::Engine(nothing))
    }

    /// Whether a trial is to be stopped after its last step.
    pub fn stops(&self, session: &Session, trial: u64) -> Result<bool> {
        match self.control {
            Control::Stopping(rule) => {
                Ok(session.verdict(trial, &Stopping::from(rule))? == Verdict::Stop)
            }
            Control::Plan | Control::Promotion => Ok(false),
        }
    }
}

/// η of successive halving.
const FACTOR: f64 = 3.0;

/// The paused trial to promote, and its next rung.
fn promoted(session: &Session, paused: &[u64], low: f64, high: f64) -> Option<(u64, f64)> {
    let mut rungs = vec![low];
    while rungs[rungs.len() - 1] * FACTOR < high {
        rungs.push(rungs[rungs.len() - 1] * FACTOR);
    }
    let curves = session.history().curves();
    for (k, rung) in rungs.iter().enumerate().rev() {
        let mut there: Vec<(f64, u64)> = curves
            .iter()
            .filter_map(|(trial, curve)| {
                Some((curve.row(curve.first_in(*rung..rung * FACTOR)?)[0], trial))
            })
            .collect();
        there.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let best = there.iter().take((there.len() as f64 / FACTOR) as usize);
        let waits = |trial: u64| {
            let reached = curves.get(trial).map_or(0.0, Curve::reached);
            paused.contains(&trial) && reached == *rung
        };
        if let Some((_, trial)) = best.into_iter().find(|(_, trial)| waits(*trial)) {
            return Some((*trial, rungs.get(k + 1).copied().unwrap_or(high)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::simulation;
    use super::*;
    use wimble::goal::{Direction, Goal};
    use wimble::outcome::Measurement;
    use wimble::seed::Seed;
    use wimble::space::{Dimension, SearchSpace};

    fn step(at: usize, loss: f64) -> Measurement {
        simulation::step(at, &[loss])
    }

    #[test]
    fn the_best_third_of_the_highest_rung_is_promoted() {
        let goal = Goal::from(Direction::Minimise).fidelity("epochs", 1.0, 9.0).unwrap();
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let mut session = Session::new(space, wimble::strategy::Random, goal, Seed(1)).unwrap();
        session.ask(7).unwrap();
        for (trial, loss) in [(0, 5.0), (1, 3.0)] {
            session.report(trial, step(1, loss)).unwrap();
        }
        assert_eq!(promoted(&session, &[0, 1], 1.0, 9.0), None, "a third of two is none");
        session.report(2, step(1, 4.0)).unwrap();
        assert_eq!(promoted(&session, &[0, 1, 2], 1.0, 9.0), Some((1, 3.0)));
        assert_eq!(promoted(&session, &[0, 2], 1.0, 9.0), None, "trial 1 is running");
        for (trial, loss) in [(3, 2.0), (4, 1.0), (5, 6.0)] {
            session.report(trial, step(1, loss)).unwrap();
        }
        // Two of six: trials 4 and 3.
        assert_eq!(promoted(&session, &[0, 2, 3, 4, 5], 1.0, 9.0), Some((4, 3.0)));
        for trial in [1, 3, 4] {
            session.report(trial, step(3, trial as f64)).unwrap();
        }
        assert_eq!(
            promoted(&session, &[0, 1, 2, 3, 4, 5], 1.0, 9.0),
            Some((1, 9.0)),
            "the highest rung first"
        );
    }
}
