//! The trials of a study as columns, kept in step with a store change by change.
//!
//! One number a trial and column: eight bytes, and not a number where there is none. A study of a million trials with five
//! parameters takes about 100 MB, once for all who look at it. Texts (attributes, reasons, output) stay in the store.

use std::collections::HashMap;

use crate::trial::State;
use crate::{Change, Origin, Reader, Record, Result, Timestamp, Trial};
use serde::Serialize;
use wimble::goal::Goal;
use wimble::outcome::Outcome;
use wimble::space::{Dimension, Kind, Value};

use crate::view::axes::axes;

/// How many changes are read at a time. Between pages, others may read what is there.
const PAGE: usize = 5_000;

/// Where a trial is in its life, in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Standing {
    Queued,
    Running,
    Complete,
    Violating,
    Failed,
    Infeasible,
    Stopped,
    Paused,
}

impl Standing {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::Complete,
        Self::Violating,
        Self::Failed,
        Self::Infeasible,
        Self::Stopped,
        Self::Paused,
    ];

    /// Of a trial of a study with this goal.
    pub fn of(trial: &Trial, goal: &Goal) -> Self {
        match &trial.state {
            State::Queued(_) => Self::Queued,
            State::Running(_) => Self::Running,
            State::Paused(_) => Self::Paused,
            State::Finished(finish) => match &finish.outcome {
                Outcome::Measured(told) if goal.part(told).is_some() => Self::Stopped,
                Outcome::Measured(_) if trial.is_violating(goal) => Self::Violating,
                Outcome::Measured(_) => Self::Complete,
                Outcome::Failed(_) => Self::Failed,
                Outcome::Infeasible => Self::Infeasible,
            },
        }
    }

    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Violating => "violating",
            Self::Failed => "failed",
            Self::Infeasible => "infeasible",
            Self::Stopped => "stopped",
            Self::Paused => "paused",
        }
    }
}

/// The columns of a study, each in the order of trial numbers.
pub struct Chronicle {
    name: String,
    record: Record,
    sequence: u64,
    /// The number of its first trial: 0, unless it holds one trial only.
    first: u64,
    standings: Vec<Standing>,
    /// How many trials have each standing.
    counts: [u64; Standing::ALL.len()],
    /// The complete trial with the best value of the first objective.
    best: Option<usize>,
    origins: Vec<Origin>,
    objectives: Vec<Vec<f64>>,
    constraints: Vec<Vec<f64>>,
    /// The parameters, as axes of figures.
    axes: Vec<Dimension>,
    parameters: Vec<Vec<f64>>,
    proposed: Vec<f64>,
    started: Vec<f64>,
    finished: Vec<f64>,
    /// When the first trial was proposed.
    began: Option<f64>,
    /// When the first trial finished, and the last.
    ends: Option<[f64; 2]>,
    lost: Vec<u32>,
    /// The place in `workers` of who runs it or ran it last.
    worker: Vec<u32>,
    workers: Vec<String>,
    places: HashMap<String, u32>,
    /// Finished trials in the order in which they finished.
    order: Vec<u32>,
}

/// The place of a trial that nobody ran.
pub const NOBODY: u32 = u32::MAX;

impl Chronicle {
    /// An empty one of a study.
    pub fn new(record: Record) -> Self {
        let settings = &record.settings;
        let columns = |count: usize| vec![Vec::new(); count];
        Self {
            name: settings.name.clone(),
            sequence: 0,
            first: 0,
            standings: Vec::new(),
            counts: [0; Standing::ALL.len()],
            best: None,
            origins: Vec::new(),
            objectives: columns(settings.goal.objectives().len()),
            constraints: columns(settings.goal.constraints().len()),
            parameters: columns(settings.space.parameters().count()),
            axes: axes(&settings.space),
            proposed: Vec::new(),
            started: Vec::new(),
            finished: Vec::new(),
            began: None,
            ends: None,
            lost: Vec::new(),
            worker: Vec::new(),
            workers: Vec::new(),
            places: HashMap::new(),
            order: Vec::new(),
            record,
        }
    }

    /// The next page of changes, to be applied with [`Self::apply`].
    pub fn next_page(name: &str, sequence: u64, store: &dyn Reader) -> Result<Vec<Change>> {
        store.changes_since(name, sequence, PAGE)
    }

    /// Reads everything that changed since it last looked.
    pub fn catch_up(&mut self, store: &dyn Reader) -> Result<()> {
        loop {
            let changes = Self::next_page(&self.name, self.sequence, store)?;
            self.apply(&changes);
            if changes.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Applies changes in order. Returns whether they fit: a finished trial never changes, so that a change of one means
    /// that the study was deleted and created anew.
    pub fn apply(&mut self, changes: &[Change]) -> bool {
        let mut fits = true;
        let known = self.sequence;
        for change in changes.iter().filter(|change| change.sequence() > known) {
            fits &= self.set(&change.trial);
        }
        if let Some(last) = changes.last() {
            self.sequence = self.sequence.max(last.sequence());
        }
        fits
    }

    /// Forgets all trials but this one, which then stands in row 0. Workers are remembered: their places stay what they are.
    pub(crate) fn hold_only(&mut self, trial: &Trial) {
        let numbers = [&mut self.proposed, &mut self.started, &mut self.finished];
        let columns = self.objectives.iter_mut().chain(&mut self.constraints);
        columns.chain(&mut self.parameters).chain(numbers).for_each(Vec::clear);
        self.standings.clear();
        self.counts = [0; Standing::ALL.len()];
        self.best = None;
        self.origins.clear();
        self.lost.clear();
        self.worker.clear();
        self.order.clear();
        self.first = trial.id;
        self.set(trial);
    }

    fn set(&mut self, trial: &Trial) -> bool {
        let Some(Ok(id)) = trial.id.checked_sub(self.first).map(usize::try_from) else {
            return false;
        };
        // Changes come by sequence, trials are numbered by proposal: those in between follow.
        while self.len() <= id {
            self.grow();
        }
        let fits = self.finished[id].is_nan();
        let standing = Standing::of(trial, &self.record.settings.goal);
        self.counts[self.standings[id] as usize] -= 1;
        self.counts[standing as usize] += 1;
        self.standings[id] = standing;
        self.origins[id] = trial.origin;
        self.proposed[id] = trial.proposed.0 as f64;
        self.started[id] = time(trial.started());
        self.finished[id] = time(trial.finished());
        self.began =
            Some(self.began.map_or(self.proposed[id], |first| first.min(self.proposed[id])));
        self.lost[id] = trial.lost;
        self.worker[id] = trial.worker().map_or(NOBODY, |worker| self.place(worker));
        for (axis, column) in self.axes.iter().zip(&mut self.parameters) {
            let value = trial.configuration.get(&axis.name);
            column[id] = value.map_or(f64::NAN, |value| number(&axis.kind, value));
        }
        if let Some(measurement) = trial.outcome().and_then(Outcome::measurement) {
            for (column, measured) in self.objectives.iter_mut().zip(&measurement.objectives) {
                column[id] = measured.value;
            }
            for (column, measured) in self.constraints.iter_mut().zip(&measurement.constraints) {
                column[id] = measured.value;
            }
        }
        if !self.finished[id].is_nan() && fits {
            self.order.push(id as u32);
            let end = self.finished[id];
            let [first, last] = self.ends.unwrap_or([end, end]);
            self.ends = Some([first.min(end), last.max(end)]);
            self.compare(id);
        }
        fits
    }

    /// Takes a trial that has just finished for the best, if it is better: of equal values, the one told first stays.
    fn compare(&mut self, id: usize) {
        let direction = self.goal().first_direction();
        let Some(values) = self.objectives.first() else { return };
        let better = match self.best {
            // A comparison with what is not a number is false.
            Some(best) => direction.turn(values[id]) < direction.turn(values[best]),
            None => !values[id].is_nan(),
        };
        if better && self.standings[id] == Standing::Complete {
            self.best = Some(id);
        }
    }

    fn grow(&mut self) {
        let numbers = [&mut self.proposed, &mut self.started, &mut self.finished];
        let columns = self.objectives.iter_mut().chain(&mut self.constraints);
        for column in columns.chain(&mut self.parameters).chain(numbers) {
            column.push(f64::NAN);
        }
        self.standings.push(Standing::Queued);
        self.counts[Standing::Queued as usize] += 1;
        self.origins.push(Origin::Proposed);
        self.lost.push(0);
        self.worker.push(NOBODY);
    }

    fn place(&mut self, worker: &str) -> u32 {
        if let Some(&place) = self.places.get(worker) {
            return place;
        }
        let place = self.workers.len() as u32;
        self.workers.push(worker.to_owned());
        self.places.insert(worker.to_owned(), place);
        place
    }

    /// The number of the trial in row 0.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    /// How many trials it knows.
    pub fn len(&self) -> usize {
        self.standings.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.standings.is_empty()
    }

    /// The number of the last change that was applied.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The study.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// With a budget that was changed since.
    pub fn set_record(&mut self, record: Record) {
        self.record = record;
    }

    /// What the study is for.
    pub fn goal(&self) -> &Goal {
        &self.record.settings.goal
    }

    /// Where each trial is in its life.
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// Where each trial comes from.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The values of an objective, on the user's scale.
    pub fn objective(&self, place: usize) -> &[f64] {
        &self.objectives[place]
    }

    /// The values of all objectives.
    pub fn objectives(&self) -> &[Vec<f64>] {
        &self.objectives
    }

    /// The values of all constraints.
    pub fn constraints(&self) -> &[Vec<f64>] {
        &self.constraints
    }

    /// The parameters, in the order of declaration; each share is one.
    pub fn axes(&self) -> &[Dimension] {
        &self.axes
    }

    /// The values of a parameter: a number, or the place of a choice or level.
    pub fn parameter(&self, place: usize) -> &[f64] {
        &self.parameters[place]
    }

    /// When each trial was proposed, in milliseconds since 1970.
    pub fn proposed(&self) -> &[f64] {
        &self.proposed
    }

    /// When the latest evaluation of each trial began.
    pub fn started(&self) -> &[f64] {
        &self.started
    }

    /// When each trial finished.
    pub fn finished(&self) -> &[f64] {
        &self.finished
    }

    /// When the first trial was proposed.
    pub fn began(&self) -> Option<f64> {
        self.began
    }

    /// When the first trial finished, and the last.
    pub fn first_and_last_end(&self) -> Option<[f64; 2]> {
        self.ends
    }

    /// How many leases of each trial ran out.
    pub fn lost(&self) -> &[u32] {
        &self.lost
    }

    /// Who runs each trial or ran it last: a place in [`Self::workers`], or [`NOBODY`].
    pub fn worker(&self) -> &[u32] {
        &self.worker
    }

    /// The names of all workers, in the order in which they were first seen.
    pub fn workers(&self) -> &[String] {
        &self.workers
    }

    /// The finished trials, in the order in which they finished.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The complete trial with the best value of the first objective that misses no constraint; of equal values, the one told first.
    pub fn best(&self) -> Option<usize> {
        self.best
    }

    /// How many trials have a standing.
    pub fn count(&self, standing: Standing) -> u64 {
        self.counts[standing as usize]
    }
}

fn time(time: Option<Timestamp>) -> f64 {
    time.map_or(f64::NAN, |time| time.0 as f64)
}

/// A value as a number: itself, 0 or 1 for a boolean, or its place among the choices.
pub fn number(kind: &Kind, value: &Value) -> f64 {
    match kind {
        Kind::Real { .. } | Kind::Integer { .. } => value.as_real().unwrap_or(f64::NAN),
        Kind::Boolean => value.as_boolean().map_or(f64::NAN, |is| f64::from(u8::from(is))),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            let place = values.iter().position(|other| {
                other == value || (other.as_real().is_some() && other.as_real() == value.as_real())
            });
            place.map_or(f64::NAN, |place| place as f64)
        }
        // Its shares are parameters of their own.
        Kind::Shares { .. } => f64::NAN,
    }
}

/// The words of a kind that has few values, in the order of their numbers.
pub fn words(kind: &Kind) -> Option<Vec<String>> {
    match kind {
        Kind::Real { .. } | Kind::Integer { .. } | Kind::Shares { .. } => None,
        Kind::Boolean => Some(vec!["false".to_owned(), "true".to_owned()]),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            Some(values.iter().map(ToString::to_string).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Filter;
    use crate::view::fixtures::parabola;

    #[test]
    fn columns_are_what_the_store_has_however_the_changes_were_read() {
        let study = parabola(30);
        let store = &**study.store();
        let mut whole = Chronicle::new(store.study("parabola").unwrap());
        whole.catch_up(store).unwrap();
        let mut slowly = Chronicle::new(store.study("parabola").unwrap());
        loop {
            let page = store.changes_since("parabola", slowly.sequence(), 3).unwrap();
            assert!(slowly.apply(&page));
            // What is known already has no effect.
            assert!(slowly.apply(&page));
            if page.is_empty() {
                break;
            }
        }
        for chronicle in [&whole, &slowly] {
            assert_eq!(chronicle.len(), 34);
            assert_eq!(chronicle.sequence(), store.sequence("parabola").unwrap());
            for trial in study.trials(&Filter::default()).unwrap() {
                let id = trial.id as usize;
                assert_eq!(chronicle.standings()[id], Standing::of(&trial, &study.settings().goal));
                let value = trial.outcome().and_then(Outcome::value);
                assert_eq!(
                    value.unwrap_or(f64::NAN).to_bits(),
                    chronicle.objective(0)[id].to_bits()
                );
                let x = trial.configuration.get("x").and_then(Value::as_real).unwrap();
                assert_eq!(chronicle.parameter(0)[id], x);
                let kind = trial.configuration.get("kind").unwrap();
                let words = words(&study.settings().space.dimensions()[2].kind).unwrap();
                assert_eq!(words[chronicle.parameter(2)[id] as usize], kind.to_string());
            }
            for standing in Standing::ALL {
                let all = chronicle.standings();
                let count = all.iter().filter(|other| **other == standing).count();
                assert_eq!(chronicle.count(standing), count as u64, "{standing:?}");
            }
            let best = study.best().unwrap().unwrap();
            assert_eq!(chronicle.best(), Some(best.trial as usize));
            assert_eq!(chronicle.order().len(), 32);
            let least = |column: &[f64]| column.iter().copied().fold(f64::NAN, f64::min);
            let most = chronicle.finished().iter().copied().fold(f64::NAN, f64::max);
            assert_eq!(chronicle.began(), Some(least(chronicle.proposed())));
            let ends = chronicle.first_and_last_end();
            assert_eq!(ends, Some([least(chronicle.finished()), most]));
            assert_eq!(chronicle.workers(), ["w0", "w1"]);
        }
    }

    #[test]
    fn a_finished_trial_that_changes_belongs_to_another_study() {
        let study = parabola(2);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        let mut trial = study.trial(0).unwrap();
        trial.sequence = 1_000;
        assert!(!chronicle.apply(&[Change { trial }]));
    }
}
