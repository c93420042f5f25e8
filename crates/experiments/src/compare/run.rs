//! Runs our own methods in the comparison, what is not recorded yet.
//!
//! A run is a file of [`record`] under `records/compare-<batch size>/`, its times apart. Runs depend on
//! their seed alone, so that records do not depend on the number of threads, except where the limit of asking ends one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use wimble::goal::Direction;
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;

use super::function::Function;
use super::oracle::Oracle;
use super::settings::{Settings, Subject, Tool};
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::record::{self, End, Key, Round, Start, Times, Writer};
use crate::run::{Done, in_parallel};

/// The runs of our methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What is run.
    pub settings: Settings,
    /// Threads.
    pub jobs: usize,
    /// Where other people's data are, for problems made of them.
    pub data: Folder,
}

struct Task<'s> {
    start: Start,
    tool: &'s Tool,
    subject: &'s Subject,
}

/// The folder of the records with batches of this size, as a figure of its own.
pub fn folder(batch_size: usize) -> String {
    format!("compare-{batch_size}")
}

impl Plan {
    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.pairs().count() * self.settings.seeds as usize
    }

    /// The tools on the problems that they are meant to run on.
    fn pairs(&self) -> impl Iterator<Item = (&Tool, &Subject)> {
        let Settings { tools, problems, .. } = &self.settings;
        let pairs = problems.iter().flat_map(move |on| tools.iter().map(move |of| (of, on)));
        pairs.filter(|(tool, subject)| tool.runs_on(subject))
    }

    /// Runs all that have not ended yet; `progress` is told how many have.
    pub fn run(&self, dir: &Path, progress: &(dyn Fn(usize) + Sync)) -> Result<Done> {
        let mut done = Done::default();
        let mut tasks = Vec::new();
        for seed in 0..self.settings.seeds {
            for (tool, subject) in self.pairs() {
                let task = Task { start: self.start(tool, subject, seed)?, tool, subject };
                if is_recorded(dir, &task.start, &mut done)? {
                    done.found += 1;
                } else {
                    tasks.push(task);
                }
            }
        }
        let functions = self.functions(&tasks)?;
        in_parallel(&tasks, self.jobs, done.found, progress, |task| {
            let function = functions[task.subject.name.as_str()].clone();
            self.compute(dir, task, function).map_err(|error| {
                let Key { problem, method, trial, .. } = task.start.key.clone();
                Error::Trial { problem, method, trial, source: Box::new(error) }
            })
        })?;
        Ok(Done { computed: tasks.len(), ..done })
    }

    /// What the open runs minimise, by name. Data are read before the first run, so that a missing file costs no time.
    fn functions<'t>(&self, tasks: &[Task<'t>]) -> Result<BTreeMap<&'t str, Function>> {
        let mut functions = BTreeMap::new();
        for task in tasks {
            let name = task.subject.name.as_str();
            if !functions.contains_key(name) {
                functions.insert(name, Function::of(task.subject, &self.data)?);
            }
        }
        Ok(functions)
    }

    fn start(&self, tool: &Tool, subject: &Subject, seed: u64) -> Result<Start> {
        let Settings { batch_size, initial, ask_seconds, .. } = self.settings;
        Ok(Start {
            key: Key {
                figure: folder(batch_size),
                problem: subject.name.clone(),
                method: tool.name.clone(),
                trial: seed as usize,
            },
            seed,
            rounds: self.settings.rounds(tool, subject),
            settings: format!(
                "wimble {} {}; batches of {batch_size}, {initial} initial; at most {ask_seconds} s",
                env!("CARGO_PKG_VERSION"),
                tool.method()?
            ),
        })
    }

    fn compute(&self, dir: &Path, task: &Task<'_>, function: Function) -> Result<()> {
        let before = Instant::now();
        let Settings { batch_size, initial, ask_seconds, .. } = self.settings;
        let Start { key, seed, rounds, .. } = &task.start;
        let mut oracle = Oracle::new(function, *seed)?;
        let strategy = task.tool.method()?.build(batch_size)?;
        let mut session =
            Session::new(oracle.space().clone(), strategy, Direction::Minimise, Seed(*seed))?;
        for point in oracle.initial().take(initial) {
            let value = oracle.observe(&point)?.value;
            session.observe(&point, Outcome::from(value))?;
        }
        let mut writer = Writer::begin(dir, task.start.clone())?;
        let (mut times, mut end) = (Times::default(), End::Finished);
        for round in 1..=*rounds {
            let asked = Instant::now();
            let trials = session.ask(batch_size)?;
            times.asks.push(asked.elapsed().as_secs_f64());
            for trial in trials {
                let value = oracle.observe(&trial.configuration)?.value;
                session.tell(trial.id, Outcome::from(value))?;
            }
            let mut metrics = BTreeMap::from([
                ("simple_regret".to_owned(), oracle.simple_regret()),
                ("incumbent_regret".to_owned(), oracle.incumbent_regret()),
            ]);
            // At the checkpoints only: the model is asked, which takes as long as a proposal.
            if self.settings.checkpoints.contains(&oracle.evaluations())
                && let Some(best) = session.recommend()?
            {
                let regret = oracle.regret(&best.configuration)?;
                metrics.insert("recommended_regret".to_owned(), regret);
            }
            writer.round(Round { round, evaluations: oracle.evaluations(), metrics })?;
            if round < *rounds && times.asks.iter().sum::<f64>() > ask_seconds {
                end = End::Aborted;
                break;
            }
        }
        times.seconds = before.elapsed().as_secs_f64();
        record::write_times(dir, key, &times)?;
        writer.end(end)
    }
}

/// Whether the run has ended after as many rounds at least; one of other settings is an error.
fn is_recorded(dir: &Path, start: &Start, done: &mut Done) -> Result<bool> {
    let path = record::path(dir, &start.key);
    let (there, corrupt) = record::read(&path)?;
    done.corrupt_lines += corrupt;
    let Some(there) = there else { return Ok(false) };
    if there.start.settings != start.settings {
        return Err(Error::OtherSettings {
            path,
            there: there.start.settings,
            asked: start.settings.clone(),
        });
    }
    Ok(match there.end {
        Some(End::Aborted) => true,
        Some(End::Finished) => there.rounds.len() >= start.rounds,
        None => false,
    })
}
