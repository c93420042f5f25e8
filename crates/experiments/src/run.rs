//! Runs the trials of an experiment that are not recorded yet, on any number of threads.
//!
//! A trial depends on its seed alone and has a file of its own, so that records do not depend on the number of threads;
//! only where a time limit (of processor time spent asking) ends a trial does the machine matter.
//!
//! # Resuming
//! A file with another seed or other settings is an error: results of different experiments must not be mixed. A trial that
//! ended at its time limit, or after at least as many rounds as are asked for, is not run again. Any other one is run again
//! from its start.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use wimble::goal::Direction;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::strategy::{Auto, Part, Spec, Strategy};

use crate::compare::tasks::Game;
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::oracle::Oracle;
use crate::paper::theory::TheoryTrial;
use crate::parallel;
use crate::record::{self, End, Key, Start, Times, Writer};
use crate::search::{self, Field, Regrets, Schedule};

/// A set of settings, as trials: a figure of the paper, or the comparison.
pub trait Experiment: Sync {
    /// All trials, in the order in which they are run. Those of the same number come side by side, so that a run that
    /// is stopped has whole comparisons.
    fn trials(&self) -> Result<Vec<Planned>>;

    /// What is minimised under a problem's name; reads its data.
    fn objective(&self, problem: &str, data: &Folder) -> Result<Arc<dyn Objective>>;
}

/// One trial of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// What its records say of it.
    pub start: Start,
    /// Decides the instance, the initial points, the noise and the method.
    pub seed: Seed,
    /// Points in each batch.
    pub batch_size: usize,
    /// Seconds of processor time that may be spent asking.
    pub time_limit: Option<f64>,
    /// What is done in its rounds.
    pub work: Work,
}

/// What a trial does.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A method of the engine minimises an objective.
    Search {
        /// The method.
        spec: Box<Spec>,
        /// The parts of `auto` that are left out, to see what they bring.
        without: Vec<Part>,
        /// Random points that it is told before the first batch.
        initial: usize,
        /// The number of the first observation's noise; see [`Oracle::new`].
        first_noise: u64,
        /// Evaluations after which the regret of the recommended point is recorded.
        checkpoints: Vec<usize>,
    },
    /// The theory experiment (Figure 1), which draws an instance of its own.
    Theory(TheoryTrial),
    /// A method of the engine works towards several objectives, or under constraints.
    Task {
        /// The method.
        spec: Box<Spec>,
        /// Random points that it is told before the first batch.
        initial: usize,
    },
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

/// Where and how an experiment is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Place<'p> {
    /// The folder of the records.
    pub dir: &'p Path,
    /// Threads.
    pub jobs: usize,
    /// Where other people's data are, for problems made of them.
    pub data: &'p Folder,
}

type Objectives = BTreeMap<String, Arc<dyn Objective>>;

/// Runs every trial that has not ended yet; `progress` is told how many have.
pub fn run(
    experiment: &dyn Experiment,
    place: &Place<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Done> {
    let mut done = Done::default();
    let mut open = Vec::new();
    for trial in experiment.trials()? {
        if is_recorded(place.dir, &trial.start, &mut done)? {
            done.found += 1;
        } else {
            open.push(trial);
        }
    }
    let objectives = objectives(experiment, &open, place.data)?;
    parallel::each(&open, place.jobs, done.found, progress, |trial| {
        compute(place, trial, &objectives).map_err(|error| {
            let Key { problem, method, trial, .. } = trial.start.key.clone();
            Error::Trial { problem, method, trial, source: Box::new(error) }
        })
    })?;
    Ok(Done { computed: open.len(), ..done })
}

/// Whether the trial need not be run; one of another seed or other settings is an error.
pub(crate) fn is_recorded(dir: &Path, start: &Start, done: &mut Done) -> Result<bool> {
    let path = record::path(dir, &start.key);
    let (there, corrupt) = record::read(&path)?;
    done.corrupt_lines += corrupt;
    let Some(there) = there else { return Ok(false) };
    if (there.start.seed, &there.start.settings) != (start.seed, &start.settings) {
        let in_words = |start: &Start| format!("seed {}, {}", start.seed, start.settings);
        let (there, asked) = (in_words(&there.start), in_words(start));
        return Err(Error::OtherSettings { path, there, asked });
    }
    Ok(match there.end {
        Some(End::Aborted) => true,
        Some(End::Finished) => there.rounds.len() >= start.rounds,
        None => false,
    })
}

/// What the open trials minimise, by the problem's name. Data are read before the first trial runs, so that a missing file
/// costs no time.
fn objectives(experiment: &dyn Experiment, open: &[Planned], data: &Folder) -> Result<Objectives> {
    let mut objectives = Objectives::new();
    for trial in open {
        let problem = &trial.start.key.problem;
        if matches!(trial.work, Work::Search { .. }) && !objectives.contains_key(problem) {
            objectives.insert(problem.clone(), experiment.objective(problem, data)?);
        }
    }
    Ok(objectives)
}

fn compute(place: &Place<'_>, trial: &Planned, objectives: &Objectives) -> Result<()> {
    let (before, dir) = (Instant::now(), place.dir);
    let Planned { start, seed, batch_size, time_limit, work } = trial;
    let schedule =
        Schedule { rounds: start.rounds, batch_size: *batch_size, time_limit: *time_limit };
    let (mut session, mut field): (Session, Box<dyn Field + '_>) = match work {
        Work::Search { spec, without, initial, first_noise, checkpoints } => {
            let objective = Arc::clone(&objectives[&start.key.problem]);
            let oracle = Oracle::new(objective, *seed, *first_noise)?;
            let strategy = ablated(spec, without, *batch_size)?;
            let space = oracle.space().clone();
            let mut session = Session::new(space, strategy, Direction::Minimise, *seed)?;
            let field = Regrets::begin(oracle, &mut session, *initial, *batch_size, checkpoints)?;
            (session, Box::new(field))
        }
        Work::Theory(theory) => {
            let (session, field) = theory.begin(*seed)?;
            (session, Box::new(field))
        }
        Work::Task { spec, initial } => {
            let mut game = Game::new(&start.key.problem, *seed, place.data)?;
            let strategy = spec.build(*batch_size)?;
            let mut session =
                Session::new(game.space().clone(), strategy, game.goal().clone(), *seed)?;
            for point in game.initial().take(*initial) {
                let told = game.observe(&point)?;
                session.observe(&point, told)?;
            }
            (session, Box::new(game))
        }
    };
    let mut writer = Writer::begin(dir, start.clone())?;
    let (end, asks) =
        search::run(&mut session, &mut *field, &schedule, &mut |round| writer.round(round))?;
    record::write_times(dir, &start.key, &Times { seconds: before.elapsed().as_secs_f64(), asks })?;
    writer.end(end)
}

/// The method without some of its parts, which only `auto` has.
fn ablated(spec: &Spec, without: &[Part], batch_size: usize) -> Result<Box<dyn Strategy>> {
    match spec.settings::<Auto>() {
        Some(auto) if !without.is_empty() => {
            Ok(Box::new(without.iter().fold(*auto, |auto, part| auto.without(*part))))
        }
        _ => Ok(spec.build(batch_size)?),
    }
}
