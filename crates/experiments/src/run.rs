//! Runs what is not recorded yet, on any number of threads.
//!
//! A trial depends on its seed alone and has a file of its own, so that records do not depend on the number of threads;
//! only where a time limit (of processor time spent asking) ends a trial does the machine matter.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use wimble::seed::Seed;

use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::record::{self, End, Key, Round, Start, Times, Writer};
use crate::settings::{Figure, Method, Settings, Subject};
use crate::{search, theory};

/// How a figure is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The figure.
    pub figure: Figure,
    /// Its settings.
    pub settings: Settings,
    /// The seed; trial i of every method has the same instance, initial points and noise.
    pub seed: u64,
    /// Threads.
    pub jobs: usize,
    /// Where other people's data are, for problems made of them.
    pub data: Folder,
}

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Trials computed now.
    pub computed: usize,
    /// Trials that were there already.
    pub found: usize,
    /// Lines of records that could not be read.
    pub corrupt_lines: usize,
}

/// One trial to compute.
struct Task<'s> {
    start: Start,
    method: &'s Method,
    subject: &'s Subject,
}

/// Receives the rounds of a trial; says whether to go on.
pub(crate) type Sink<'w> = dyn FnMut(Round, f64) -> Result<bool> + 'w;

impl Plan {
    /// How many trials the figure has.
    pub fn trials(&self) -> usize {
        let Settings { methods, problems, .. } = &self.settings;
        let pairs = problems.iter().flat_map(|on| methods.iter().map(move |of| (of, on)));
        pairs.map(|(method, subject)| self.settings.trials_of(method, subject)).sum()
    }

    /// Runs every trial that has not ended yet; `progress` is told how many have.
    pub fn run(&self, dir: &Path, progress: &(dyn Fn(usize) + Sync)) -> Result<Done> {
        let mut done = Done::default();
        let tasks = self.open_tasks(dir, &mut done)?;
        let objectives = self.objectives(&tasks)?;
        in_parallel(&tasks, self.jobs, done.found, progress, |task| {
            self.compute(dir, task, &objectives).map_err(|error| {
                let Key { problem, method, trial, .. } = task.start.key.clone();
                Error::Trial { problem, method, trial, source: Box::new(error) }
            })
        })?;
        Ok(Done { computed: tasks.len(), ..done })
    }

    /// The trials without an end, those of the same number side by side: a run that is stopped has whole comparisons.
    fn open_tasks(&self, dir: &Path, done: &mut Done) -> Result<Vec<Task<'_>>> {
        let mut tasks = Vec::new();
        let Settings { methods, problems, .. } = &self.settings;
        let most = problems.iter().filter_map(|subject| subject.trials).max();
        for trial in 0..self.settings.trials.max(most.unwrap_or(0)) {
            for subject in problems {
                for method in methods {
                    if trial >= self.settings.trials_of(method, subject) {
                        continue;
                    }
                    let key = Key {
                        figure: self.figure.name().to_owned(),
                        problem: subject.name.clone(),
                        method: method.name.clone(),
                        trial,
                    };
                    let start = Start {
                        seed: self.seed,
                        rounds: self.settings.rounds_on(subject),
                        settings: self.identity(method, subject)?,
                        key,
                    };
                    let path = record::path(dir, &start.key);
                    let (there, corrupt) = record::read(&path)?;
                    done.corrupt_lines += corrupt;
                    match there {
                        Some(there) if there.start != start => {
                            return Err(Error::OtherSettings {
                                path,
                                there: in_words(&there.start),
                                asked: in_words(&start),
                            });
                        }
                        Some(there) if there.end.is_some() => done.found += 1,
                        _ => tasks.push(Task { start, method, subject }),
                    }
                }
            }
        }
        Ok(tasks)
    }

    /// All that decides a trial's records besides seed and rounds, in words.
    fn identity(&self, method: &Method, subject: &Subject) -> Result<String> {
        let Settings { batch_size, initial, noise_variance, theory, .. } = &self.settings;
        let mut words = format!(
            "{}; batches of {batch_size}, {initial} initial, noise variance {noise_variance}",
            method.identity(subject)?
        );
        if let Some(theory) = theory {
            words += &format!("; {theory:?}");
        }
        if let Some(limit) = method.time_limit {
            words += &format!("; at most {limit} s");
        }
        Ok(words)
    }

    /// What the open trials minimise, by the problem's name; the theory experiment has no such object. Data are read
    /// before the first trial runs, so that a missing file costs no time.
    fn objectives(&self, tasks: &[Task<'_>]) -> Result<BTreeMap<&str, Box<dyn Objective>>> {
        let mut objectives = BTreeMap::new();
        for subject in &self.settings.problems {
            let is_open =
                |task: &Task<'_>| task.subject.name == subject.name && task.method.theory.is_none();
            if tasks.iter().any(is_open) {
                let objective = subject.objective(self.settings.noise_variance, &self.data)?;
                objectives.insert(subject.name.as_str(), objective);
            }
        }
        Ok(objectives)
    }

    fn compute(
        &self,
        dir: &Path,
        task: &Task<'_>,
        objectives: &BTreeMap<&str, Box<dyn Objective>>,
    ) -> Result<()> {
        let before = Instant::now();
        let Task { start, method, subject } = task;
        let mut writer = Writer::begin(dir, start.clone())?;
        let mut end = End::Finished;
        let mut asking = 0.0;
        // The trial's number in the upper half, so that neighbouring seeds share no trial.
        let seed = Seed(self.seed ^ ((start.key.trial as u64) << 32));
        let mut sink = |round: Round, ask_seconds: f64| {
            asking += ask_seconds;
            let last = round.round == start.rounds;
            writer.round(round)?;
            if !last && method.time_limit.is_some_and(|limit| asking > limit) {
                end = End::Aborted;
            }
            Ok(end == End::Finished)
        };
        let settings = &self.settings;
        match (method.theory, &settings.theory, objectives.get(subject.name.as_str())) {
            (Some(method), Some(theory), _) => {
                theory::run(method, theory, settings, seed, &mut sink)?;
            }
            (_, _, Some(objective)) => {
                search::run(method, subject, settings, objective.as_ref(), seed, &mut sink)?;
            }
            _ => {
                let reason = format!("{} has neither a spec nor a theory", method.name);
                return Err(Error::Unreadable { path: "settings".to_owned(), reason });
            }
        }
        let times = Times { seconds: before.elapsed().as_secs_f64(), asks: Vec::new() };
        record::write_times(dir, &start.key, &times)?;
        writer.end(end)
    }
}

/// Computes every task on `jobs` threads; the first error stops what has not begun. `progress` is told how many have
/// ended, counting from `found`.
pub(crate) fn in_parallel<T: Sync>(
    tasks: &[T],
    jobs: usize,
    found: usize,
    progress: &(dyn Fn(usize) + Sync),
    compute: impl Fn(&T) -> Result<()> + Sync,
) -> Result<()> {
    if jobs == 0 {
        return Err(Error::Invalid { field: "jobs", value: "0".to_owned(), allowed: "at least 1" });
    }
    progress(found);
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(found));
    let stopped = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match compute(task) {
                Ok(()) => progress(ended.fetch_add(1, Ordering::Relaxed) + 1),
                Err(error) => {
                    stopped.store(true, Ordering::Relaxed);
                    if let Ok(mut first) = failure.lock() {
                        first.get_or_insert(error);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(tasks.len()) {
            scope.spawn(work);
        }
    });
    match failure.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => Ok(()),
    }
}

fn in_words(start: &Start) -> String {
    format!("seed {}, {} rounds, {}", start.seed, start.rounds, start.settings)
}
