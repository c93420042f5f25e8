//! Which trials of a study stand out, kept up to date from its changes.
//!
//! A watch reads each change once, as a [`Follower`](crate::Follower) does, but keeps only what stands out: no points and no
//! model. Looking at the front of a study therefore waits for no proposal, and costs what happened since the last look.
//! The first look of a process reads the whole history.

use wimble::goal::Goal;
use wimble::outcome::Outcome;
use wimble::pareto::Hypervolume;
use wimble::standing::Standing;

use crate::error::{Error, Result};
use crate::follower::PAGE;
use crate::store::Reader;
use crate::trial::Trial;

/// The trials of a study that no other dominates, among those that meet all constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct Front {
    /// The trials, best first by the first objective.
    pub trials: Vec<Trial>,
    /// The reference point of the hypervolume, as given with the objectives or else inferred from the front (see
    /// [`wimble::standing`]); empty if no trial is on the front.
    pub reference: Vec<f64>,
    /// The hypervolume between the front and the reference point.
    pub hypervolume: Hypervolume,
    /// The trials of the front that add nothing to it, because they are not better than the reference point in every
    /// objective: a given point may lie inside the front.
    pub beyond_reference: Vec<u64>,
}

/// What stands out up to a sequence number.
pub(crate) struct Watch {
    sequence: u64,
    standing: Standing,
}

impl Watch {
    /// At the beginning of a study.
    pub fn new(goal: Goal) -> Self {
        Self { sequence: 0, standing: Standing::new(goal) }
    }

    /// Reads what changed since it last looked.
    pub fn catch_up(&mut self, study: &str, store: &dyn Reader) -> Result<&Standing> {
        loop {
            let changes = store.changes_since(study, self.sequence, PAGE)?;
            for change in &changes {
                let trial = &change.trial;
                if let Some(Outcome::Measured(measurement)) = trial.outcome() {
                    self.standing.push(trial.id, measurement).map_err(|error| {
                        Error::corrupt(study, format!("trial {}", trial.id), error)
                    })?;
                }
                self.sequence = change.sequence();
            }
            if changes.len() < PAGE {
                return Ok(&self.standing);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::settings::Settings;
    use crate::{Filter, ManualClock, Memory, Study};
    use wimble::goal::{Bound, Objective};
    use wimble::ledger::Ledger;
    use wimble::outcome::Measurement;
    use wimble::space::{Dimension, SearchSpace};

    fn study(goal: Goal) -> Study {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let settings =
            Settings::new("s", space, "random".parse().unwrap()).goal(goal).budget(3_000);
        Study::open_or_create(Arc::new(Memory::new(ManualClock::default())), settings).unwrap()
    }

    /// Values that look random and repeat: a trial in seven has none, some equal others.
    fn outcome(goal: &Goal, trial: u64) -> Outcome {
        let value = |k: u64| ((trial * 7_919 + k * 104_729) % 97) as f64;
        if trial % 7 == 3 {
            return Outcome::failed();
        }
        Outcome::Measured(Measurement {
            objectives: (0..goal.objectives().len() as u64).map(|k| value(k).into()).collect(),
            constraints: goal.constraints().iter().map(|_| value(9).into()).collect(),
            fidelity: None,
        })
    }

    #[test]
    fn a_watch_that_looks_now_and_then_knows_the_front_of_all_trials() {
        let goal = Goal::new([Objective::minimise("a").reference(90.0), Objective::maximise("b")])
            .and_then(|goal| goal.limit("c", Bound::AtMost(60.0)))
            .unwrap();
        let study = study(goal.clone());
        let Settings { space, seed, .. } = study.settings();
        let mut ledger = Ledger::new(space.clone(), goal.clone(), *seed);
        for round in 0..30 {
            for claim in study.ask("w", &format!("k{round}"), 79).unwrap() {
                // The worker is given back what it left pending.
                if claim.trial % 11 == 5 && round < 29 {
                    continue;
                }
                let outcome = outcome(&goal, claim.trial);
                study.tell(claim.token, &outcome, "t").unwrap();
                ledger.issue(claim.trial, space.encode(&claim.configuration).unwrap());
                ledger.tell(claim.trial, &outcome).unwrap();
            }
            if round % 4 == 0 {
                assert_eq!(study.standing(Standing::front).unwrap(), ledger.standing().front());
            }
        }
        let (ours, theirs) = (study.front().unwrap(), ledger.front().unwrap());
        let numbers: Vec<u64> = ours.trials.iter().map(|trial| trial.id).collect();
        assert_eq!(numbers, theirs.trials.iter().map(|(trial, _)| trial.id).collect::<Vec<_>>());
        assert!(numbers.len() > 2 && ours.trials.iter().all(|trial| !trial.is_violating(&goal)));
        assert_eq!((ours.reference, ours.hypervolume), (theirs.reference, theirs.hypervolume));
        assert_eq!(study.best_trials(2).unwrap(), ours.trials[..2]);
        assert_eq!(study.best().unwrap().map(|best| best.trial), Some(numbers[0]));
    }

    #[test]
    fn the_best_trials_under_constraints_are_those_that_meet_them() {
        let goal = Goal::default().limit("c", Bound::AtMost(10.0)).unwrap();
        let study = study(goal.clone());
        for claim in study.ask("w", "k", 400).unwrap() {
            study.tell(claim.token, &outcome(&goal, claim.trial), "t").unwrap();
        }
        let mut expected = study.trials(&Filter::default()).unwrap();
        expected.retain(|trial| trial.outcome().unwrap().value().is_some());
        expected.retain(|trial| !trial.is_violating(&goal));
        expected.sort_by(|a, b| {
            let value = |trial: &Trial| trial.outcome().unwrap().value().unwrap();
            value(a).total_cmp(&value(b)).then(a.sequence.cmp(&b.sequence))
        });
        assert!((20..200).contains(&expected.len()), "{}", expected.len());
        for count in [1, 3, 20, 1_000] {
            let best = study.best_trials(count).unwrap();
            assert_eq!(best, expected[..count.min(expected.len())]);
        }
        let best = study.best().unwrap().unwrap();
        assert!(best.trial == expected[0].id && !best.violating);
    }

    #[test]
    fn until_a_trial_meets_the_constraints_the_best_is_the_nearest() {
        let goal = Goal::default().limit("c", Bound::AtLeast(3.0)).unwrap();
        let study = study(goal);
        let claims = study.ask("w", "k", 3).unwrap();
        assert_eq!(study.best().unwrap(), None);
        for (claim, c) in claims.iter().zip([0.0, 2.0, 1.0]) {
            let told = Measurement {
                objectives: vec![c.into()],
                constraints: vec![c.into()],
                fidelity: None,
            };
            study.tell(claim.token, &told.into(), "t").unwrap();
        }
        let best = study.best().unwrap().unwrap();
        assert_eq!((best.trial, best.violating), (claims[1].trial, true));
        assert_eq!(study.best_trials(9).unwrap().len(), 1);
        assert_eq!(study.recommend().unwrap().map(|kept| kept.trial), Some(best.trial));
        assert!(study.front().unwrap().trials.is_empty());
    }
}
