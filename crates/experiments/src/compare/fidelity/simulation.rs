//! A search on tabulated curves: workers that each compute one checkpoint at a time, all at the same pace.

use std::collections::{BTreeMap, HashMap};

use wimble::goal::{Direction, Goal};
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::SearchSpace;

use super::arm::{Arm, step};
use super::{BEST_STOPPED, SCORE, STARTED, STOPPED};
use crate::data::taskset::{CHECKPOINTS, Table};
use crate::error::{Error, Result};
use crate::record::Round;

/// A task, ready for searches.
pub(super) struct Bench {
    pub(super) table: Table,
    space: SearchSpace,
    /// The row of each encoded configuration.
    rows: HashMap<Vec<u64>, usize>,
}

impl Bench {
    pub(super) fn new(table: Table) -> Result<Self> {
        let space = table.space()?;
        let all = space.candidates().map(|all| all.rows().map(bits).collect::<Vec<_>>());
        let rows =
            all.unwrap_or_default().into_iter().enumerate().map(|(row, x)| (x, row)).collect();
        Ok(Self { table, space, rows })
    }
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|value| value.to_bits()).collect()
}

/// What a worker is at.
struct Job {
    trial: u64,
    row: usize,
    done: usize,
    until: usize,
}

/// Runs a search; one round for each budget, in checkpoints.
pub(super) fn run(
    bench: &Bench,
    arm: &Arm,
    seed: Seed,
    workers: usize,
    budgets: &[usize],
) -> Result<Vec<Round>> {
    let high = CHECKPOINTS as f64;
    let goal = Goal::from(Direction::Minimise).fidelity("checkpoints", arm.low, high)?;
    let strategy = arm.spec()?.build(1)?;
    let mut session = Session::new(bench.space.clone(), strategy, goal, seed)?;
    let mut jobs: Vec<Option<Job>> = (0..workers).map(|_| None).collect();
    // Where paused trials are, the rows of all, and which were stopped.
    let mut paused: BTreeMap<u64, usize> = BTreeMap::new();
    let mut rows: BTreeMap<u64, usize> = BTreeMap::new();
    let mut stopped: Vec<u64> = Vec::new();
    let (mut spent, mut lowest, mut rounds) = (0, f64::INFINITY, Vec::new());
    let last = budgets.last().copied().unwrap_or(0);
    while spent < last {
        let mut worked = false;
        for slot in &mut jobs {
            if slot.is_none() {
                *slot = next(bench, arm, &mut session, &mut paused, &mut rows)?;
            }
            let Some(job) = slot.as_mut() else { continue };
            worked = true;
            spent += 1;
            job.done += 1;
            let curve = bench.table.curve(job.row);
            match curve.get(job.done - 1) {
                None => {
                    session.tell(job.trial, Outcome::failed())?;
                    *slot = None;
                }
                Some(&loss) => {
                    lowest = lowest.min(loss);
                    let reported = job.done as f64 >= arm.low;
                    if reported {
                        session.report(job.trial, step(job.done, loss))?;
                    }
                    if job.done == CHECKPOINTS {
                        session.tell(job.trial, step(job.done, loss))?;
                        *slot = None;
                    } else if reported && arm.stops(&session, job.trial)? {
                        session.tell(job.trial, step(job.done, loss))?;
                        stopped.push(job.trial);
                        *slot = None;
                    } else if job.done >= job.until {
                        paused.insert(job.trial, job.done);
                        *slot = None;
                    }
                }
            }
            if budgets.get(rounds.len()) == Some(&spent) {
                let metrics = metrics(bench, lowest, &rows, &stopped);
                rounds.push(Round { round: rounds.len() + 1, evaluations: spent, metrics });
            }
        }
        if !worked {
            // Nothing is left to spend on.
            while let Some(&budget) = budgets.get(rounds.len()) {
                let metrics = metrics(bench, lowest, &rows, &stopped);
                rounds.push(Round { round: rounds.len() + 1, evaluations: budget, metrics });
            }
            break;
        }
    }
    Ok(rounds)
}

/// What a free worker does; `None` if every configuration was begun and none waits for it.
fn next(
    bench: &Bench,
    arm: &Arm,
    session: &mut Session,
    paused: &mut BTreeMap<u64, usize>,
    rows: &mut BTreeMap<u64, usize>,
) -> Result<Option<Job>> {
    let waiting: Vec<u64> = paused.keys().copied().collect();
    let (trial, until) = match arm.next(session, &waiting, CHECKPOINTS as f64) {
        Err(Error::Engine(wimble::Error::Exhausted { .. })) => return Ok(None),
        other => other?,
    };
    let x = bits(&session.space().encode(&trial.configuration)?);
    let row = bench.rows.get(&x).copied().unwrap_or_else(|| nearest(bench, &x));
    rows.insert(trial.id, row);
    let done = paused.remove(&trial.id).unwrap_or(0);
    Ok(Some(Job { trial: trial.id, row, done, until: until.ceil() as usize }))
}

/// The row whose encoding is nearest: a configuration may come back with other last bits.
fn nearest(bench: &Bench, x: &[u64]) -> usize {
    let Some(all) = bench.space.candidates() else { return 0 };
    let x: Vec<f64> = x.iter().map(|bits| f64::from_bits(*bits)).collect();
    let distance = |row: &[f64]| -> f64 { row.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum() };
    let rows = all.rows().enumerate();
    rows.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or(0, |(row, _)| row)
}

fn metrics(
    bench: &Bench,
    lowest: f64,
    rows: &BTreeMap<u64, usize>,
    stopped: &[u64],
) -> BTreeMap<String, f64> {
    // The best of the trials that were begun, by the loss with which its training ends in the table.
    let end = |row: usize| bench.table.curve(row).get(CHECKPOINTS - 1).copied();
    let ends = rows.iter().filter_map(|(trial, row)| Some((end(*row)?, *trial)));
    let best = ends.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1);
    let wrong = best.is_some_and(|best| stopped.contains(&best));
    BTreeMap::from([
        (SCORE.to_owned(), bench.table.score(lowest)),
        (STARTED.to_owned(), rows.len() as f64),
        (STOPPED.to_owned(), stopped.len() as f64),
        (BEST_STOPPED.to_owned(), f64::from(u8::from(wrong))),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::arm::ARMS;
    use super::*;
    use crate::data::taskset::tests::small;

    #[test]
    fn every_arm_spends_the_budget_on_any_number_of_workers_and_repeats_itself() {
        let bench = Bench::new(small(60)).unwrap();
        for arm in ARMS {
            for workers in [1, 4] {
                let search = || run(&bench, &arm, Seed(2), workers, &[100, 700]).unwrap();
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
            run(&bench, arm, Seed(2), 1, &[300]).unwrap()[0].metrics[STARTED]
        };
        assert!(started("random") < 10.0 && started("auto") > 15.0 && started("asha-1") > 30.0);
    }

    #[test]
    fn a_table_that_is_searched_through_ends_the_run() {
        let bench = Bench::new(small(5)).unwrap();
        let rounds = run(&bench, &ARMS[0], Seed(2), 2, &[100, 10_000]).unwrap();
        assert_eq!((rounds.len(), rounds[1].evaluations), (2, 10_000));
        assert_eq!(rounds[1].metrics[SCORE], 0.0);
    }
}
