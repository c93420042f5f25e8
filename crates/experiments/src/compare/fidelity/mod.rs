//! Several fidelities: our methods and the published rules on the learning curves of TaskSet.
//!
//! ```text
//! Fidelity::run ──▶ DIR/records/fidelity-<workers>/*.jsonl, DIR/times/
//! report        ──▶ DIR/fidelity.md
//! ```
//! A search spends checkpoints, of which a whole training has 51, on simulated workers of equal speed. Its score after so many
//! checkpoints is that of `data::taskset`.

mod arm;
mod page;
mod simulation;

use std::path::Path;
use std::time::Instant;

pub use arm::{ARMS, Arm, Control};
pub use page::report;
use simulation::Bench;
use wimble::seed::Seed;

use crate::choice;
use crate::data::Folder;
use crate::data::taskset::{TASKS, Table};
use crate::error::{Error, Result};
use crate::parallel;
use crate::record::{self, End, Key, Start, Times, Writer};
use crate::run::{Done, is_recorded};

/// The score so far: 0 if the lowest loss of the table was seen.
pub const SCORE: &str = "score";
/// Configurations begun.
pub const STARTED: &str = "started";
/// Trials that a rule stopped.
pub const STOPPED: &str = "stopped";
/// 1 if the trial that would have ended best of those begun was stopped.
pub const BEST_STOPPED: &str = "best-stopped";
/// Checkpoints after which the score is taken.
pub const BUDGETS: [usize; 5] = [200, 500, 1000, 2000, 3000];

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Fidelity {
    /// The arms, from [`ARMS`].
    pub arms: Vec<Arm>,
    /// The places of the tasks in [`TASKS`].
    pub tasks: Vec<usize>,
    /// Searches of each arm on each task.
    pub seeds: usize,
    /// Numbers of simulated workers.
    pub workers: Vec<usize>,
    /// Checkpoints after which the score is taken, ascending.
    pub budgets: Vec<usize>,
}

impl Fidelity {
    /// All arms and tasks, but for those that are left out by naming others.
    pub fn new(
        arms: &[String],
        tasks: &[String],
        seeds: usize,
        workers: &[usize],
        most: usize,
    ) -> Result<Self> {
        let mut chosen = ARMS.to_vec();
        choice::keep("method", &mut chosen, arms, |arm| arm.name)?;
        let mut places: Vec<usize> = (0..TASKS.len()).collect();
        choice::keep("task", &mut places, tasks, |place| TASKS[*place].0)?;
        for count in workers {
            choice::positive("workers", *count)?;
        }
        let mut budgets: Vec<usize> = BUDGETS.into_iter().filter(|budget| *budget < most).collect();
        budgets.push(choice::positive("budget", most)?);
        Ok(Self {
            arms: chosen,
            tasks: places,
            seeds: choice::positive("seeds", seeds)?,
            workers: workers.to_vec(),
            budgets,
        })
    }

    /// How many searches there are.
    pub fn len(&self) -> usize {
        self.arms.len() * self.tasks.len() * self.seeds * self.workers.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs every search that is not recorded yet; `progress` is told how many are.
    pub fn run(
        &self,
        dir: &Path,
        data: &Folder,
        jobs: usize,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Done> {
        let mut done = Done::default();
        let mut open = Vec::new();
        for seed in 0..self.seeds {
            for &workers in &self.workers {
                for &task in &self.tasks {
                    for arm in &self.arms {
                        let start = self.start(arm, task, seed, workers);
                        match is_recorded(dir, &start, &mut done)? {
                            true => done.found += 1,
                            false => open.push((start, *arm, task, workers)),
                        }
                    }
                }
            }
        }
        let mut benches: Vec<Option<Bench>> = TASKS.iter().map(|_| None).collect();
        for (_, _, task, _) in &open {
            if benches[*task].is_none() {
                benches[*task] = Some(Bench::new(Table::read(data, *task)?)?);
            }
        }
        parallel::each(&open, jobs, done.found, progress, |(start, arm, task, workers)| {
            let Some(bench) = &benches[*task] else { return Ok(()) };
            let before = Instant::now();
            let seed = Seed(start.seed);
            let rounds =
                simulation::run(bench, arm, seed, *workers, &self.budgets).map_err(|error| {
                    let Key { problem, method, trial, .. } = start.key.clone();
                    Error::Trial { problem, method, trial, source: Box::new(error) }
                })?;
            let mut writer = Writer::begin(dir, start.clone())?;
            for round in rounds {
                writer.round(round)?;
            }
            let seconds = before.elapsed().as_secs_f64();
            record::write_times(dir, &start.key, &Times { seconds, asks: Vec::new() })?;
            writer.end(End::Finished)
        })?;
        Ok(Done { computed: open.len(), ..done })
    }

    fn start(&self, arm: &Arm, task: usize, seed: usize, workers: usize) -> Start {
        Start {
            key: Key {
                figure: format!("fidelity-{workers}"),
                problem: TASKS[task].0.to_owned(),
                method: arm.name.to_owned(),
                trial: seed,
            },
            seed: seed as u64,
            rounds: self.budgets.len(),
            settings: format!(
                "{} with {:?} from {} to {:?} checkpoints",
                arm.method, arm.control, arm.low, self.budgets
            ),
        }
    }
}
