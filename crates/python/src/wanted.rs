//! What a caller wants of a study, from arguments or from a study file.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use wimble::goal::Goal;
use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};
use wimble::stopping::Rule;
use wimble::strategy::Spec;
use wimble_study::notice::On;
use wimble_study::{Error, Result, Settings, Store, Study, StudyFile};

use crate::error::raise;

/// A fidelity: its name, its lowest and its highest value.
pub type FidelityGiven = (String, f64, f64);

/// What a caller wants of a study; what is `None` is as in the study that exists, or else the default.
pub struct Wanted {
    pub name: String,
    pub space: Option<SearchSpace>,
    pub goal: Option<Goal>,
    pub fidelity: Option<FidelityGiven>,
    pub method: Option<Spec>,
    pub batch_size: Option<usize>,
    pub seed: Option<u64>,
    pub trials: Option<u64>,
    pub retries: Option<u32>,
    pub lease: Option<Duration>,
    pub stopping: Option<Rule>,
    pub wrong_stop: Option<f64>,
    pub fixed: Configuration,
}

impl Wanted {
    /// Opens the study, or creates it if there is none of its name and a space is given.
    pub fn open(&self, store: &Arc<dyn Store>) -> Result<Study> {
        let stored = stored(store, &self.name)?;
        let (file, is_limited) = match self.file(stored.as_ref())? {
            Some(file) => (file, self.trials.is_some()),
            None => return Err(Error::UnknownStudy { study: self.name.clone() }),
        };
        match open(store, &file, stored.as_ref(), is_limited) {
            // Another process created it since, and what was left open is as there.
            Err(Error::Differs { .. }) if stored.is_none() => self.open(store),
            study => study,
        }
    }

    /// All of it as a study file; `None` without a space.
    fn file(&self, stored: Option<&Settings>) -> Result<Option<StudyFile>> {
        let space = self.space.clone().or_else(|| stored.map(|stored| stored.space.clone()));
        let Some(space) = space else { return Ok(None) };
        let stored_goal = stored.map(|stored| &stored.goal);
        let goal = self.goal.clone().or_else(|| stored_goal.cloned());
        // Left out, the fidelity is as in the study that exists.
        let range = stored_goal.and_then(Goal::partial);
        let range =
            self.fidelity.clone().or_else(|| range.map(|f| (f.name.clone(), f.low, f.high)));
        let goal = match range {
            Some((name, low, high)) => Some(goal.unwrap_or_default().fidelity(name, low, high)?),
            None => goal,
        };
        Ok(Some(StudyFile {
            name: self.name.clone(),
            goal: goal.unwrap_or_default(),
            method: self.method.clone(),
            batch_size: self.batch_size,
            seed: self.seed.or_else(|| stored.is_none().then(random_seed)).map(Seed),
            trials: self.trials,
            time: None,
            spend: None,
            stop_when: None,
            workers: 1,
            lease: self.lease,
            lost_retries: self.retries,
            stopping: self.stopping,
            wrong_stop: self.wrong_stop,
            fixed: self.fixed.clone(),
            on: On::default(),
            evaluation: None,
            space,
        }))
    }
}

/// Opens the study of a file, or creates it.
pub fn open_file(store: &Arc<dyn Store>, file: &StudyFile) -> Result<Study> {
    let stored = stored(store, &file.name)?;
    match open(store, file, stored.as_ref(), true) {
        Err(Error::Differs { .. }) if stored.is_none() => open_file(store, file),
        study => study,
    }
}

/// The settings of the study that exists.
fn stored(store: &Arc<dyn Store>, name: &str) -> Result<Option<Settings>> {
    match store.study(name) {
        Ok(record) => Ok(Some(record.settings)),
        Err(Error::UnknownStudy { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn open(
    store: &Arc<dyn Store>,
    file: &StudyFile,
    stored: Option<&Settings>,
    is_limited: bool,
) -> Result<Study> {
    let mut settings = file.settings(stored);
    if let Some(stored) = stored {
        // The budget of the study that exists is raised afterwards.
        settings.budget = stored.budget;
    } else if !is_limited {
        // As many as are asked for.
        let all = file.space.cardinality().filter(|_| !file.space.repeats());
        let limit = i64::MAX as u64;
        settings.budget = all.and_then(|all| u64::try_from(all).ok()).unwrap_or(limit).min(limit);
    }
    let study = Study::open_or_create(Arc::clone(store), settings)?;
    if let Some(budget) = file.trials.filter(|trials| *trials > study.settings().budget) {
        study.set_budget(budget)?;
    }
    study.fixing(file.fixed.clone())
}

/// A length of time from seconds.
pub fn seconds(py: Python<'_>, name: &str, given: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(given).map_err(|_| {
        let message = format!("{name} is {given} seconds, but must be finite and not negative");
        raise(py, "InvalidError", &message)
    })
}

/// A seed that nobody chose, short enough to be written down.
fn random_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) & 0xffff_ffff
}
