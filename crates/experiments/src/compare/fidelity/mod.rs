//! Several fidelities: our methods, published rules and other tools on learning curves.
//!
//! ```text
//! Fidelity::run ──▶ DIR/records/fidelity-<workers>/*.jsonl, DIR/times/
//! report        ──▶ DIR/fidelity.md
//! ```
//! A search spends checkpoints or epochs on simulated workers of equal speed. What is trained is a [`Set`]; its score after so many
//! units is that of the set (bench/).

mod arm;
mod bench;
mod page;
mod set;
mod simulation;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

pub use arm::{ARMS, Arm, Control};
use bench::Bench;
pub use page::report;
pub use set::Set;
use wimble::seed::Seed;

use crate::choice;
use crate::data::Folder;
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

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Fidelity {
    /// What is searched.
    pub set: Set,
    /// The arms, from [`ARMS`].
    pub arms: Vec<Arm>,
    /// The places of the tasks in the set.
    pub tasks: Vec<usize>,
    /// Searches of each arm on each task.
    pub seeds: usize,
    /// Numbers of simulated workers.
    pub workers: Vec<usize>,
    /// Units after which the score is taken, ascending.
    pub budgets: Vec<usize>,
}

impl Fidelity {
    /// All arms and tasks, but for those that are left out by naming others. Without `most`, all budgets of the set.
    pub fn new(
        set: Set,
        arms: &[String],
        tasks: &[String],
        seeds: usize,
        workers: &[usize],
        most: Option<usize>,
    ) -> Result<Self> {
        let mut chosen = set.arms();
        choice::keep("method", &mut chosen, arms, |arm| arm.name)?;
        let names = set.tasks();
        let mut places: Vec<usize> = (0..names.len()).collect();
        choice::keep("task", &mut places, tasks, |place| names[*place])?;
        for count in workers {
            choice::positive("workers", *count)?;
        }
        let mut budgets = set.budgets().to_vec();
        if let Some(most) = most {
            budgets.retain(|budget| *budget < most);
            budgets.push(choice::positive("budget", most)?);
        }
        Ok(Self {
            set,
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
        let mut benches: BTreeMap<usize, Box<dyn Bench>> = BTreeMap::new();
        for (_, _, task, _) in &open {
            if !benches.contains_key(task) {
                benches.insert(*task, self.set.bench(*task, data)?);
            }
        }
        let budgets = (self.set.unit(), &self.budgets[..]);
        parallel::each(&open, jobs, done.found, progress, |(start, arm, task, workers)| {
            let Some(bench) = benches.get(task) else { return Ok(()) };
            let before = Instant::now();
            let seed = Seed(start.seed);
            let rounds =
                simulation::run(&**bench, arm, seed, *workers, budgets).map_err(|error| {
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
                figure: self.set.figure(workers),
                problem: self.set.tasks()[task].to_owned(),
                method: arm.name.to_owned(),
                trial: seed,
            },
            seed: seed as u64,
            rounds: self.budgets.len(),
            settings: format!(
                "{} with {:?} from {} to {:?} {}",
                arm.method,
                arm.control,
                arm.low,
                self.budgets,
                self.set.unit()
            ),
        }
    }
}
