//! Study files, and a worker that runs their commands.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wimble_cli::worker::{Notices, Plan, Worker};
use wimble_study::runner::{End, Event, Stop, Summary};
use wimble_study::study_file::Format;
use wimble_study::{Address, Study};

use crate::error::{of_study, raise};
use crate::value::to_json;
use crate::waiting;
use crate::wanted::seconds;

/// A study file, checked.
#[pyclass(frozen, module = "wimble._wimble")]
pub struct StudyFile(pub wimble_study::StudyFile);

#[pymethods]
impl StudyFile {
    /// Reads a text; `name` is that of the file, for messages, and JSON if it ends so.
    #[new]
    fn new(py: Python<'_>, name: &str, text: &str) -> PyResult<Self> {
        let json = name.to_ascii_lowercase().ends_with(".json");
        let format = if json { Format::Json } else { Format::Toml };
        let file = wimble_study::StudyFile::parse(name, text, format);
        file.map(Self).map_err(|mistakes| raise(py, "InvalidError", &mistakes.to_string()))
    }

    /// The name of its study.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it has a command that evaluates a configuration.
    #[getter]
    fn has_command(&self) -> bool {
        self.0.evaluation.is_some()
    }

    /// Seconds after which no more trials begin.
    #[getter]
    fn time(&self) -> Option<f64> {
        self.0.time.map(|time| time.as_secs_f64())
    }

    /// Seconds that a command has to end once it is asked to; 0 without a command.
    #[getter]
    fn grace(&self) -> f64 {
        self.0.evaluation.as_ref().map_or(0.0, |evaluation| evaluation.grace.as_secs_f64())
    }

    /// Evaluates trials of the study by its command, one at a time, until there are no more. Returns how that ended.
    #[pyo3(signature = (storage, home, *, name = None, patience = 3600.0, time = None, spend = true))]
    #[allow(clippy::too_many_arguments, reason = "by name")]
    fn work<'py>(
        &self,
        py: Python<'py>,
        storage: &str,
        home: PathBuf,
        name: Option<String>,
        patience: f64,
        time: Option<f64>,
        spend: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(evaluation) = self.0.evaluation.clone() else {
            let message = "`command` is missing: the program that evaluates a configuration";
            return Err(raise(py, "InvalidError", message));
        };
        let address: Address = storage.parse().map_err(|error| of_study(py, &error))?;
        let file = wimble_study::StudyFile {
            workers: 1,
            time: time.map(|time| seconds(py, "time", time)).transpose()?,
            ..self.0.clone()
        };
        let spend = file.spend.filter(|_| spend);
        let patience = seconds(py, "patience", patience)?;
        let plan = Plan { file, evaluation, home, address, name, patience, spend };
        let stop = Stop::default();
        let asked = stop.clone();
        let summary = waiting::stoppable(py, move || work(plan, asked), || stop.request())?;
        describe(py, &summary.map_err(|error| failure(py, &error))?)
    }

    /// Runs the file's command for the end of a run, if it has one. Returns why it failed.
    fn end(
        &self,
        py: Python<'_>,
        storage: &str,
        home: PathBuf,
        report: &Bound<'_, PyDict>,
    ) -> PyResult<Option<String>> {
        let address: Address = storage.parse().map_err(|error| of_study(py, &error))?;
        let (on, name, report) = (self.0.on.clone(), self.0.name.clone(), to_json(report)?);
        let run = move || {
            let study = address.open().and_then(|store| Study::open(store, &name));
            study.map(|study| Notices { on, home }.end(&study, report).err())
        };
        waiting::long(py, run, drop)?.map_err(|error| of_study(py, &error))
    }
}

fn work(plan: Plan, stop: Stop) -> anyhow::Result<Summary> {
    // The runner waits by itself, and can be interrupted.
    let store = plan.address.open_impatient()?;
    let study =
        Study::open(Arc::clone(&store), &plan.file.name)?.fixing(plan.file.fixed.clone())?;
    let worker = Worker::new(plan, &store, study, stop)?;
    let note = |text: &str| eprintln!("wimble: {text}");
    let watch = |event: &Event| match event {
        Event::StorageAway { reason, lasted, patience } => {
            let left = patience.saturating_sub(*lasted).as_secs();
            note(&format!("storage unreachable: {reason}; trying for another {left} s"));
        }
        Event::StorageBack { .. } => note("storage reachable again"),
        Event::Retried { trial, reason } => {
            note(&format!("trial {trial}: failed, retrying: {reason}"));
        }
        Event::Dropped { trial, reason } => note(&format!("trial {trial}: dropped: {reason}")),
        _ => {}
    };
    Ok(worker.run(&watch, &note)?)
}

fn failure(py: Python<'_>, error: &anyhow::Error) -> PyErr {
    match error.downcast_ref::<wimble_study::Error>() {
        Some(error) => of_study(py, error),
        None => raise(py, "Error", &format!("{error:#}")),
    }
}

/// How a worker ended: `end`, `reason`, `output`, and what it did.
fn describe<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let (end, reason, output) = match &summary.end {
        End::BudgetSpent => ("budget-spent", "", ""),
        End::GainedEnough(_) => ("gained-enough", "", ""),
        End::TimeOver => ("time-over", "", ""),
        End::Stopped => ("stopped", "", ""),
        End::NothingWorks(failure) => {
            ("command-broken", failure.reason.as_str(), failure.output.as_str())
        }
        End::CannotRun(reason) => ("command-broken", reason.as_str(), ""),
        End::StorageGone(reason) => ("storage-gone", reason.as_str(), ""),
    };
    let fields = PyDict::new(py);
    fields.set_item("end", end)?;
    fields.set_item("reason", reason)?;
    fields.set_item("output", output)?;
    fields.set_item("told", summary.told)?;
    fields.set_item("released", summary.released)?;
    fields.set_item("kept", summary.kept)?;
    Ok(fields)
}
