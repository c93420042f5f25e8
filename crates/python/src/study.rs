//! An open study: the same as the one that the command `wimble` opens, at the same time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use wimble::forecast::Forecast;
use wimble::goal::Goal;
use wimble::outcome::{Measurement, Outcome};
use wimble::space::Configuration;
use wimble::stopping::Verdict;
use wimble_study::runner::WorkerKey;
use wimble_study::store::Ask;
use wimble_study::{
    Addition, Address, Attributes, Claim, Copied, Error, Result, Step, Store, Token, Trial,
};

use crate::error::{of_engine, of_study, raise};
use crate::fixing::Fixing;
use crate::forecast::{self, ImportanceGiven};
use crate::goal::{self, ConstraintGiven, MeasuredGiven, ObjectiveGiven};
use crate::heartbeats::Heartbeats;
use crate::outcome::{self, Given};
use crate::space::Space;
use crate::study_file::StudyFile;
use crate::trial::{self, read_token};
use crate::value::{from_configuration, to_attributes, to_configuration};
use crate::waiting;
use crate::wanted::{FidelityGiven, Wanted, open_file, seconds};

/// A claim for Python: number, params, token, attempt.
type ClaimGiven<'py> = (u64, Bound<'py, PyDict>, String, u32);
/// An addition: key, params, outcome, attributes.
type AdditionGiven<'py> = (String, Bound<'py, PyDict>, Option<Given>, Option<Bound<'py, PyDict>>);

/// Trials, the reference point, the hypervolume and its deviation.
type FrontGiven<'py> = (Bound<'py, PyList>, Vec<f64>, f64, f64);

/// An open study, with a thread that renews the leases of the trials in hand.
#[pyclass(frozen, module = "wimble._wimble", weakref)]
pub struct Study {
    study: Arc<wimble_study::Study>,
    heartbeats: Heartbeats,
    /// Whether the storage answers at once, being memory.
    prompt: bool,
    /// The process that opened it.
    process: u32,
    /// The first part of the keys of this process.
    keys: String,
    next_key: AtomicU64,
    /// Values that are given for whatever is proposed here.
    fixed: Configuration,
    /// The same study with given values, for the latest of them.
    fixing: Arc<Fixing>,
}

#[pymethods]
impl Study {
    /// Opens a study, or creates it; see [`Wanted`].
    #[new]
    #[pyo3(signature = (name, storage, space, goal, method, batch_size, seed, trials, retries, lease, fidelity = None, stopping = None, wrong_stop = None, fixed = None))]
    #[allow(clippy::too_many_arguments, reason = "the arguments of `wimble.Study`, by name")]
    fn new(
        py: Python<'_>,
        name: String,
        storage: Option<&str>,
        space: Option<&Space>,
        goal: Option<(Vec<ObjectiveGiven>, Vec<ConstraintGiven>)>,
        method: Option<&str>,
        batch_size: Option<usize>,
        seed: Option<u64>,
        trials: Option<u64>,
        retries: Option<u32>,
        lease: Option<f64>,
        fidelity: Option<FidelityGiven>,
        stopping: Option<&str>,
        wrong_stop: Option<f64>,
        fixed: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let of_engine = |error| of_engine(py, &error);
        let wanted = Wanted {
            name,
            space: space.map(|space| space.0.clone()),
            goal: goal.map(|(o, c)| goal::goal(py, o, c)).transpose()?,
            fidelity,
            method: method.map(str::parse).transpose().map_err(of_engine)?,
            batch_size,
            seed,
            trials,
            retries,
            lease: lease.map(|lease| seconds(py, "lease", lease)).transpose()?,
            stopping: stopping.map(str::parse).transpose().map_err(of_engine)?,
            wrong_stop,
            fixed: fixed.map(to_configuration).transpose()?.unwrap_or_default(),
        };
        Self::open(py, storage, wanted.fixed.clone(), move |store| wanted.open(store))
    }

    /// Opens the study of a study file, or creates it.
    #[staticmethod]
    #[pyo3(signature = (file, storage, trials = None, workers = None))]
    fn of_file(
        py: Python<'_>,
        file: &StudyFile,
        storage: Option<&str>,
        trials: Option<u64>,
        workers: Option<usize>,
    ) -> PyResult<Self> {
        let mut file = file.0.clone();
        file.trials = trials.or(file.trials);
        file.workers = workers.unwrap_or(file.workers);
        Self::open(py, storage, file.fixed.clone(), move |store| open_file(store, &file))
    }

    /// Copies the study to another storage, or to another name of the same one. Returns the copy and how many trials it has,
    /// how many of them are new, and how many run in the original.
    #[pyo3(signature = (name, storage = None))]
    fn copy(
        &self,
        py: Python<'_>,
        name: String,
        storage: Option<&str>,
    ) -> PyResult<(Self, (u64, u64, u64))> {
        let address = storage.map(|address| parse(py, Some(address))).transpose()?;
        let prompt = self.prompt && address.is_none();
        let copy = move |study: &wimble_study::Study| {
            let to = match address {
                Some(address) => address.open()?,
                None => Arc::clone(study.store()),
            };
            let from = study.store();
            let copied = wimble_study::copy(&**from, &study.settings().name, &*to, &name)?;
            Ok((wimble_study::Study::open(to, &name)?, copied))
        };
        let (study, Copied { trials, new, running }) = self.long_call(py, copy)?;
        let study = Self::of(study, prompt, Configuration::new());
        Ok((study, (trials, new, running)))
    }

    /// The settings, by name.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let settings = self.study.settings();
        let fields = PyDict::new(py);
        fields.set_item("name", &settings.name)?;
        fields.set_item("space", Space(settings.space.clone()))?;
        fields.set_item("goal", goal::describe(&settings.goal))?;
        fields.set_item("method", settings.method.to_string())?;
        fields.set_item("batch_size", settings.batch_size)?;
        fields.set_item("seed", settings.seed.0)?;
        fields.set_item("retries", settings.retries)?;
        fields.set_item("lease", settings.lease.as_secs_f64())?;
        let fidelity = settings.goal.partial();
        let fidelity = fidelity.map(|f| (f.name.clone(), f.low, f.high));
        fields.set_item("fidelity", fidelity)?;
        fields.set_item("stopping", settings.stopping.rule.name())?;
        fields.set_item("wrong_stop", settings.stopping.wrong_stop)?;
        Ok(fields)
    }

    /// How many trials the study may have, now.
    fn budget(&self, py: Python<'_>) -> PyResult<u64> {
        let name = self.study.settings().name.clone();
        self.call(py, move |study| Ok(study.store().study(&name)?.settings.budget))
    }

    /// Changes how many trials the study may have.
    fn set_budget(&self, py: Python<'_>, trials: u64) -> PyResult<()> {
        self.call(py, move |study| study.set_budget(trials))
    }

    /// Whether no trial begins, now.
    fn paused(&self, py: Python<'_>) -> PyResult<bool> {
        self.call(py, wimble_study::Study::is_paused)
    }

    /// Pauses the study, or lets it go on.
    fn set_paused(&self, py: Python<'_>, paused: bool) -> PyResult<()> {
        self.call(py, move |study| study.set_paused(paused))
    }

    /// Writes a note on a trial; an empty one removes it.
    fn note(&self, py: Python<'_>, number: u64, text: String) -> PyResult<()> {
        self.call(py, move |study| study.note(number, &text))
    }

    /// The notes by trial.
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<(u64, String)>> {
        let notes = self.call(py, wimble_study::Study::notes)?;
        Ok(notes.into_iter().map(|note| (note.trial, note.text)).collect())
    }

    /// What a colleague would say, as JSON.
    fn advise(&self, py: Python<'_>) -> PyResult<String> {
        let advice = self.long_call(py, wimble_study::advise)?;
        serde_json::to_string(&advice).map_err(|error| raise(py, "Error", &error.to_string()))
    }

    /// Trials for a worker, which this process holds until they are told or released. Those with given values are new ones.
    #[pyo3(signature = (count, worker = None, key = None, fix = None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        worker: Option<String>,
        key: Option<String>,
        fix: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<ClaimGiven<'py>>> {
        self.check_process(py)?;
        let key = key.unwrap_or_else(|| self.new_key());
        // A repeated request is one of the same worker.
        let worker = worker.unwrap_or_else(|| key.clone());
        let fix = fix.map(to_configuration).transpose()?.filter(|fix| fix.iter().next().is_some());
        // Those of the study hold too, unless they are given anew.
        let fix = fix.map(|fix| {
            let mut all = self.fixed.clone();
            for (name, value) in fix {
                all.insert(name, value);
            }
            all
        });
        let (study, unwanted) = (Arc::clone(&self.study), Arc::clone(&self.study));
        let fixing = Arc::clone(&self.fixing);
        let ask = move || {
            let fresh = fix.is_some();
            let study = match fix {
                Some(values) => fixing.with(&study, values)?,
                None => study,
            };
            let (worker, key) = (worker.as_str(), key.as_str());
            study.ask_with(&Ask {
                worker,
                incarnation: None,
                key,
                wanted: count,
                fresh,
                plans: false,
            })
        };
        let give_back = move |claims: Result<Vec<Claim>>| {
            for claim in claims.unwrap_or_default() {
                // If this fails, another worker takes the trial when its lease is due.
                let _ = unwanted.release(claim.token);
            }
        };
        let claims = waiting::long(py, ask, give_back)?.map_err(|error| of_study(py, &error))?;
        self.heartbeats.hold(&self.study, claims.iter().map(|claim| claim.token));
        let space = &self.study.settings().space;
        let given = claims.into_iter().map(|claim| {
            let params = from_configuration(py, space, &claim.configuration)?;
            Ok((claim.trial, params, claim.token.to_string(), claim.attempt))
        });
        given.collect()
    }

    /// Finishes a trial.
    #[pyo3(signature = (token, outcome, attributes = None, key = None))]
    fn tell(
        &self,
        py: Python<'_>,
        token: &str,
        outcome: Given,
        attributes: Option<&Bound<'_, PyDict>>,
        key: Option<String>,
    ) -> PyResult<()> {
        let token = read_token(py, token)?;
        let outcome = outcome::outcome(py, self.goal(), outcome)?;
        let attributes = to_attributes(attributes)?;
        self.end(py, token, outcome, attributes, key)
    }

    /// Stores a step of a trial: values at a fidelity.
    fn report(
        &self,
        py: Python<'_>,
        token: &str,
        step: f64,
        values: BTreeMap<String, MeasuredGiven>,
    ) -> PyResult<()> {
        let token = read_token(py, token)?;
        let measured = goal::measurement(py, self.goal(), values)?;
        let step = Measurement { fidelity: Some(step), ..measured };
        self.call(py, move |study| study.report(token, &[step]))
    }

    /// Whether a trial should end, by the study's stopping rule.
    fn should_stop(&self, py: Python<'_>, token: &str) -> PyResult<bool> {
        let token = read_token(py, token)?;
        let verdicts = self.long_call(py, move |study| study.verdicts(&[token.trial]))?;
        Ok(verdicts.first() == Some(&Verdict::Stop))
    }

    /// Finishes a trial that was stopped: its last step is its outcome.
    #[pyo3(signature = (token, attributes = None, key = None))]
    fn tell_stopped(
        &self,
        py: Python<'_>,
        token: &str,
        attributes: Option<&Bound<'_, PyDict>>,
        key: Option<String>,
    ) -> PyResult<()> {
        let token = read_token(py, token)?;
        let attributes = to_attributes(attributes)?;
        let steps = self.call(py, move |study| study.steps(token.trial))?;
        let Some(last) = steps.into_iter().next_back() else {
            let message = format!(
                "trial {} has no step, so that it cannot have been stopped; report first",
                token.trial
            );
            return Err(raise(py, "InvalidError", &message));
        };
        self.end(py, token, last.measurement.into(), attributes, key)
    }

    /// The steps of a trial: fidelities with values by name.
    fn steps(&self, py: Python<'_>, number: u64) -> PyResult<Vec<(f64, BTreeMap<String, f64>)>> {
        let steps = self.call(py, move |study| study.steps(number))?;
        let goal = self.goal();
        let objectives = goal.objectives().iter().map(|o| &o.name);
        let names: Vec<&String> =
            objectives.chain(goal.constraints().iter().map(|c| &c.name)).collect();
        let given = |step: &Step| {
            let Measurement { objectives, constraints, .. } = &step.measurement;
            let values = objectives.iter().chain(constraints).map(|measured| measured.value);
            (step.fidelity(), names.iter().map(|name| (*name).clone()).zip(values).collect())
        };
        Ok(steps.iter().map(given).collect())
    }

    /// Gives a trial back to the queue.
    fn release(&self, py: Python<'_>, token: &str) -> PyResult<()> {
        let token = read_token(py, token)?;
        self.heartbeats.let_go(token);
        self.call(py, move |study| study.release(token))
    }

    /// Gives all trials in hand back to the queue.
    fn release_all(&self, py: Python<'_>) -> PyResult<()> {
        let tokens = self.heartbeats.tokens();
        for token in &tokens {
            self.heartbeats.let_go(*token);
        }
        self.call(py, move |study| {
            for token in tokens {
                match study.release(token) {
                    // It belongs to somebody else by now, or is finished.
                    Err(Error::LeaseLost { .. } | Error::AlreadyTold { .. }) => {}
                    done => done?,
                }
            }
            Ok(())
        })
    }

    /// Renews the lease of a trial from now on: of one that another process asked for.
    fn adopt(&self, py: Python<'_>, token: &str) -> PyResult<()> {
        let token = read_token(py, token)?;
        self.call(py, move |study| study.heartbeat(token))?;
        self.heartbeats.hold(&self.study, [token]);
        Ok(())
    }

    /// Why a trial no longer belongs to this process; None if it does, as far as is known.
    fn lost(&self, py: Python<'_>, token: &str) -> PyResult<Option<String>> {
        Ok(self.heartbeats.lost(read_token(py, token)?))
    }

    /// Adds trials that the method did not propose. Returns their numbers.
    fn add(&self, py: Python<'_>, additions: Vec<AdditionGiven<'_>>) -> PyResult<Vec<u64>> {
        let goal = self.goal();
        let addition = |(key, params, outcome, attributes): AdditionGiven<'_>| {
            let outcome = outcome.map(|given| outcome::outcome(py, goal, given)).transpose()?;
            let attributes = to_attributes(attributes.as_ref())?;
            let queued = Addition::queued(key, to_configuration(&params)?);
            Ok(Addition { outcome, attributes, ..queued })
        };
        let additions: PyResult<Vec<Addition>> = additions.into_iter().map(addition).collect();
        let additions = additions?;
        self.call(py, move |study| study.add(&additions))
    }

    /// The best trials, best first.
    fn best<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let trials = self.call(py, move |study| study.best_trials(count))?;
        self.listed(py, &trials)
    }

    /// The trial to keep; None if no trial has a value.
    fn recommended<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let kept = self.long_call(py, |study| {
            study.recommend()?.map(|best| study.trial(best.trial)).transpose()
        })?;
        kept.map(|trial| self.described(py, &trial)).transpose()
    }

    /// The trials that keep all constraints and that no other such trial dominates, best first by the first objective; the
    /// reference point of their hypervolume; the hypervolume and its standard deviation, where it is an estimate.
    fn front<'py>(&self, py: Python<'py>) -> PyResult<FrontGiven<'py>> {
        let front = self.call(py, wimble_study::Study::front)?;
        let trials = self.listed(py, &front.trials)?;
        Ok((trials, front.reference, front.hypervolume.value, front.hypervolume.deviation))
    }

    /// Trials in the order of their numbers; of one state if it is given.
    #[pyo3(signature = (state = None, first = 0, limit = None))]
    fn trials<'py>(
        &self,
        py: Python<'py>,
        state: Option<&str>,
        first: u64,
        limit: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let goal = self.goal();
        let filter = trial::filter(goal, state);
        let Some(mut filter) = filter.map_err(|message| raise(py, "InvalidError", &message))?
        else {
            return self.listed(py, &[]);
        };
        // The storage knows which trials have values, and not which of them were stopped.
        let among_both = goal.partial().is_some() && matches!(state, Some("complete" | "stopped"));
        filter.from = first;
        filter.limit = limit.filter(|_| !among_both);
        let mut trials = self.call(py, move |study| study.trials(&filter))?;
        trials.retain(|one| !among_both || state == Some(trial::state(goal, one)));
        trials.truncate(limit.unwrap_or(usize::MAX));
        self.listed(py, &trials)
    }

    /// The trial of a number.
    fn trial<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyDict>> {
        let trial = self.call(py, move |study| study.trial(number))?;
        self.described(py, &trial)
    }

    /// How many trials are queued, running and finished, by name.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.call(py, wimble_study::Study::counts)?;
        trial::counts(py, &counts)
    }

    /// What the method predicts for each configuration; None if it has no model, or nothing to learn from yet.
    #[allow(clippy::needless_pass_by_value, reason = "pyo3 makes the list from what Python gives")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        points: Vec<Bound<'py, PyDict>>,
    ) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
        let points: PyResult<Vec<Configuration>> = points.iter().map(to_configuration).collect();
        let points = points?;
        let forecasts = self.long_call(py, move |study| study.predict(&points))?;
        let describe = |one: &Forecast| forecast::describe(py, one);
        forecasts.map(|all| all.iter().map(describe).collect()).transpose()
    }

    /// What each parameter does to a value.
    fn importance(&self, py: Python<'_>, quantity: String) -> PyResult<ImportanceGiven> {
        let found = self.long_call(py, move |study| study.importance(&quantity))?;
        Ok(forecast::importance(found))
    }
}

impl Study {
    /// Opens a storage and, in it, a study.
    fn open(
        py: Python<'_>,
        storage: Option<&str>,
        fixed: Configuration,
        find: impl FnOnce(&Arc<dyn Store>) -> Result<wimble_study::Study> + Send + 'static,
    ) -> PyResult<Self> {
        let address = parse(py, storage)?;
        let prompt = address == Address::Memory;
        let open = move || find(&address.open()?);
        let study = waiting::long(py, open, drop)?.map_err(|error| of_study(py, &error))?;
        Ok(Self::of(study, prompt, fixed))
    }

    fn of(study: wimble_study::Study, prompt: bool, fixed: Configuration) -> Self {
        Self {
            study: Arc::new(study),
            heartbeats: Heartbeats::default(),
            prompt,
            process: std::process::id(),
            keys: WorkerKey::given(None).as_str().to_owned(),
            next_key: AtomicU64::new(0),
            fixed,
            fixing: Arc::default(),
        }
    }

    fn goal(&self) -> &Goal {
        &self.study.settings().goal
    }

    fn new_key(&self) -> String {
        format!("{}-{}", self.keys, self.next_key.fetch_add(1, Ordering::Relaxed))
    }

    /// A connection and a thread do not survive a fork.
    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let message = format!(
            "study `{}` was opened by process {}, and this one was forked from it: open the study again here",
            self.study.settings().name,
            self.process
        );
        Err(raise(py, "ForkError", &message))
    }

    /// Ends a trial with this outcome. A held trial that is over needs no heartbeats any more.
    fn end(
        &self,
        py: Python<'_>,
        token: Token,
        outcome: Outcome,
        attributes: Attributes,
        key: Option<String>,
    ) -> PyResult<()> {
        let told = self.call(py, move |study| {
            let own = format!("tell-{token}");
            let told = study.tell_with(token, &outcome, &attributes, key.as_ref().unwrap_or(&own));
            match told {
                // The key is that of the token: it was told before, and something else.
                Err(Error::KeyReused { .. }) if key.is_none() => {
                    let (name, trial) = (study.settings().name.clone(), token.trial);
                    let stands = study.trial(trial)?.outcome().map(ToString::to_string);
                    let outcome = stands.unwrap_or_default();
                    Err(Error::AlreadyTold { study: name, trial, outcome })
                }
                told => told,
            }
        });
        let over = |error: &PyErr| {
            let classes = ["LeaseLostError", "AlreadyToldError"];
            error.get_type(py).name().is_ok_and(|name| classes.iter().any(|class| name == *class))
        };
        // A trial whose outcome was refused may be told again with a better one.
        if told.as_ref().map_or_else(over, |()| true) {
            self.heartbeats.let_go(token);
        }
        told
    }

    /// A call that only waits for the storage.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&wimble_study::Study) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        if !self.prompt {
            return self.long_call(py, work);
        }
        self.check_process(py)?;
        waiting::brief(py, || work(&self.study)).map_err(|error| of_study(py, &error))
    }

    /// A call that computes, or waits for a storage that may be away.
    fn long_call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&wimble_study::Study) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.check_process(py)?;
        let study = Arc::clone(&self.study);
        waiting::long(py, move || work(&study), drop)?.map_err(|error| of_study(py, &error))
    }

    fn described<'py>(&self, py: Python<'py>, one: &Trial) -> PyResult<Bound<'py, PyDict>> {
        trial::describe(py, &self.study.settings().space, self.goal(), one)
    }

    fn listed<'py>(&self, py: Python<'py>, trials: &[Trial]) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for one in trials {
            list.append(self.described(py, one)?)?;
        }
        Ok(list)
    }
}

impl Drop for Study {
    /// In a forked process the connection belongs to the parent: it is left alone.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(Arc::clone(&self.study));
        }
    }
}

/// The address of a storage; memory if there is none.
fn parse(py: Python<'_>, storage: Option<&str>) -> PyResult<Address> {
    let address = storage.map_or(Ok(Address::Memory), str::parse);
    address.map_err(|error: Error| of_study(py, &error))
}
