//! A search on trainings: workers that each compute one unit at a time, all at the same pace.

use std::collections::BTreeMap;

use wimble::goal::{Goal, Objective};
use wimble::outcome::{Measurement, Outcome};
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::session::Session;

use super::arm::Arm;
use super::bench::{Bench, Seen, Training};
use super::{BEST_STOPPED, SCORE, STARTED, STOPPED};
use crate::error::{Error, Result};
use crate::record::Round;

/// What a worker is at.
struct Job<'b> {
    trial: u64,
    training: Box<dyn Training + 'b>,
    done: usize,
    until: usize,
}

/// A training that waits to go on, and how far it has come.
type Paused<'b> = BTreeMap<u64, (Box<dyn Training + 'b>, usize)>;

/// A search as it goes on.
struct Search<'b> {
    bench: &'b dyn Bench,
    arm: &'b Arm,
    seed: Seed,
    session: Session,
    paused: Paused<'b>,
    /// What each trial that was begun ends with, where that is known.
    ends: BTreeMap<u64, f64>,
    started: usize,
    stopped: Vec<u64>,
    seen: Seen,
}

/// Runs a search; one round for each budget, in units of the trainings.
pub(super) fn run(
    bench: &dyn Bench,
    arm: &Arm,
    seed: Seed,
    workers: usize,
    (unit, budgets): (&str, &[usize]),
) -> Result<Vec<Round>> {
    let objectives = bench.objectives().iter().map(|name| Objective::minimise(*name));
    let goal = Goal::new(objectives)?.fidelity(unit, arm.low, bench.high() as f64)?;
    let strategy = arm.spec()?.build(1)?;
    let mut search = Search {
        bench,
        arm,
        seed,
        session: Session::new(bench.space().clone(), strategy, goal, seed)?,
        paused: BTreeMap::new(),
        ends: BTreeMap::new(),
        started: 0,
        stopped: Vec::new(),
        seen: Seen { lowest: f64::INFINITY, whole: Points::new(bench.objectives().len()) },
    };
    let mut jobs: Vec<Option<Job<'_>>> = (0..workers).map(|_| None).collect();
    let (mut spent, mut rounds) = (0, Vec::new());
    let last = budgets.last().copied().unwrap_or(0);
    while spent < last {
        let mut worked = false;
        for slot in &mut jobs {
            let Some(job) = slot.take().map_or_else(|| search.next(), |job| Ok(Some(job)))? else {
                continue;
            };
            worked = true;
            spent += 1;
            *slot = search.advance(job)?;
            if budgets.get(rounds.len()) == Some(&spent) {
                rounds.push(search.round(rounds.len() + 1, spent)?);
            }
        }
        if !worked {
            // Nothing is left to spend on.
            while let Some(&budget) = budgets.get(rounds.len()) {
                rounds.push(search.round(rounds.len() + 1, budget)?);
            }
            break;
        }
    }
    Ok(rounds)
}

impl<'b> Search<'b> {
    /// What a free worker does; `None` if every configuration was begun and none waits for it.
    fn next(&mut self) -> Result<Option<Job<'b>>> {
        let waiting: Vec<u64> = self.paused.keys().copied().collect();
        let high = self.bench.high() as f64;
        let (trial, until) = match self.arm.next(&mut self.session, &waiting, high) {
            Err(Error::Engine(wimble::Error::Exhausted { .. })) => return Ok(None),
            other => other?,
        };
        let (training, done) = match self.paused.remove(&trial.id) {
            Some(paused) => paused,
            None => {
                self.started += 1;
                if let Some(end) = self.bench.end(&trial.configuration)? {
                    self.ends.insert(trial.id, end);
                }
                let seed = Seed(self.seed.0 ^ ((trial.id + 1) << 32));
                (self.bench.begin(&trial.configuration, seed)?, 0)
            }
        };
        Ok(Some(Job { trial: trial.id, training, done, until: until.ceil() as usize }))
    }

    /// One unit of a training; `None` if it ended, was stopped or paused.
    fn advance(&mut self, mut job: Job<'b>) -> Result<Option<Job<'b>>> {
        job.done += 1;
        let Some(values) = job.training.next()? else {
            self.session.tell(job.trial, Outcome::failed())?;
            return Ok(None);
        };
        self.seen.lowest = self.seen.lowest.min(values[0]);
        let step = step(job.done, &values);
        let reported = job.done as f64 >= self.arm.low;
        if reported {
            self.session.report(job.trial, step.clone())?;
        }
        if job.done == self.bench.high() {
            self.seen.whole.push(&values);
            self.session.tell(job.trial, step)?;
        } else if reported && self.arm.stops(&self.session, job.trial)? {
            self.session.tell(job.trial, step)?;
            self.stopped.push(job.trial);
        } else if job.done >= job.until {
            self.paused.insert(job.trial, (job.training, job.done));
        } else {
            return Ok(Some(job));
        }
        Ok(None)
    }

    fn round(&self, round: usize, evaluations: usize) -> Result<Round> {
        let mut metrics = BTreeMap::from([
            (SCORE.to_owned(), self.bench.score(&self.seen)?),
            (STARTED.to_owned(), self.started as f64),
            (STOPPED.to_owned(), self.stopped.len() as f64),
        ]);
        // The best of the trials that were begun, by the value with which its training ends.
        let ends = self.ends.iter().filter(|(_, end)| end.is_finite());
        if let Some((best, _)) = ends.min_by(|a, b| a.1.total_cmp(b.1)) {
            let wrong = self.stopped.contains(best);
            metrics.insert(BEST_STOPPED.to_owned(), f64::from(u8::from(wrong)));
        }
        Ok(Round { round, evaluations, metrics })
    }
}

/// A step of a training.
pub(super) fn step(done: usize, values: &[f64]) -> Measurement {
    Measurement {
        objectives: values.iter().map(|value| (*value).into()).collect(),
        constraints: Vec::new(),
        fidelity: Some(done as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Set;
    use super::super::arm::ARMS;
    use super::super::bench::taskset::Tabulated;
    use super::*;
    use crate::data::taskset::tests::small;
    use wimble::space::{Configuration, Dimension, SearchSpace};

    fn search(bench: &dyn Bench, arm: &Arm, workers: usize, budgets: &[usize]) -> Vec<Round> {
        run(bench, arm, Seed(2), workers, ("units", budgets)).unwrap()
    }

    #[test]
    fn every_arm_spends_the_budget_on_any_number_of_workers_and_repeats_itself() {
        let bench = Tabulated::new(small(60)).unwrap();
        for arm in ARMS {
            for workers in [1, 4] {
                let search = || search(&bench, &arm, workers, &[100, 700]);
                let rounds = search();
                assert_eq!(rounds.len(), 2, "{}", arm.name);
                assert!(rounds[1].metrics[SCORE] <= rounds[0].metrics[SCORE], "{}", arm.name);
                assert!(rounds[1].metrics[SCORE] < 0.5, "{}: {rounds:?}", arm.name);
                assert_eq!(rounds, search(), "{}", arm.name);
            }
        }
        // Planning looks at more configurations than full trainings do.
        let started = |name: &str| {
            let arm = ARMS.iter().find(|arm| arm.name == name).unwrap();
            search(&bench, arm, 1, &[300])[0].metrics[STARTED]
        };
        assert!(started("random") < 10.0 && started("auto") > 15.0 && started("asha-1") > 30.0);
    }

    #[test]
    fn a_table_that_is_searched_through_ends_the_run() {
        let bench = Tabulated::new(small(5)).unwrap();
        let rounds = search(&bench, &ARMS[0], 2, &[100, 10_000]);
        assert_eq!((rounds.len(), rounds[1].evaluations), (2, 10_000));
        assert_eq!(rounds[1].metrics[SCORE], 0.0);
    }

    /// Two objectives that fall towards x and 1 - x; beyond 0.5, trainings are dominated.
    struct Pair(SearchSpace);

    impl Bench for Pair {
        fn space(&self) -> &SearchSpace {
            &self.0
        }

        fn high(&self) -> usize {
            9
        }

        fn objectives(&self) -> &'static [&'static str] {
            &["first", "second"]
        }

        fn begin<'b>(
            &'b self,
            configuration: &Configuration,
            _: Seed,
        ) -> Result<Box<dyn Training + 'b>> {
            struct Falling(f64, usize);
            impl Training for Falling {
                fn next(&mut self) -> Result<Option<Vec<f64>>> {
                    self.1 += 1;
                    let worse = if self.0 > 0.5 { 2.0 } else { 0.0 } + 1.0 / self.1 as f64;
                    Ok(Some(vec![self.0 + worse, 1.0 - self.0 + worse]))
                }
            }
            Ok(Box::new(Falling(configuration.real("x")?, 0)))
        }

        fn score(&self, seen: &Seen) -> Result<f64> {
            Ok(1.0 / (1.0 + seen.whole.len() as f64))
        }

        fn end(&self, _: &Configuration) -> Result<Option<f64>> {
            Ok(None)
        }
    }

    #[test]
    fn with_two_objectives_halving_stops_the_dominated() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let bench = Pair(space);
        for arm in &Set::LcbenchPair.arms() {
            let rounds = search(&bench, arm, 2, &[200]);
            let metrics = &rounds[0].metrics;
            assert!(!metrics.contains_key(BEST_STOPPED), "{}", arm.name);
            let (started, stopped) = (metrics[STARTED], metrics[STOPPED]);
            match arm.name {
                "random" | "auto-full" => assert_eq!((started, stopped), (24.0, 0.0)),
                "halving" | "auto-halving" => {
                    assert!(stopped > 0.3 * started, "{}: {stopped} of {started}", arm.name);
                }
                _ => {}
            }
        }
    }
}
