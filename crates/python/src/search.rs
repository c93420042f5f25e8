//! A search whose trials somebody else keeps and numbers: Optuna's storage, a list in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use wimble::ledger::Ledger;
use wimble::outcome::{Measurement, Outcome};
use wimble::seed::Seed;
use wimble::stopping::{Stopping, Verdict};
use wimble::strategy::{Spec, Strategy};

use crate::error::of_engine;
use crate::goal::{self, ConstraintGiven, MeasuredGiven, ObjectiveGiven};
use crate::outcome::{self, Given};
use crate::space::Space;
use crate::value::{from_configuration, to_configuration};
use crate::waiting;
use crate::wanted::FidelityGiven;

/// The engine's ledger with a method.
#[pyclass(frozen, module = "wimble._wimble")]
pub struct Search(Arc<Mutex<Parts>>);

struct Parts {
    ledger: Ledger,
    strategy: Box<dyn Strategy>,
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (space, objectives, constraints, method, seed, batch_size, fidelity = None))]
    #[allow(clippy::too_many_arguments, reason = "what a search is, by name")]
    fn new(
        py: Python<'_>,
        space: &Space,
        objectives: Vec<ObjectiveGiven>,
        constraints: Vec<ConstraintGiven>,
        method: &str,
        seed: u64,
        batch_size: usize,
        fidelity: Option<FidelityGiven>,
    ) -> PyResult<Self> {
        let mut goal = goal::goal(py, objectives, constraints)?;
        if let Some((name, low, high)) = fidelity {
            goal = goal.fidelity(name, low, high).map_err(|error| of_engine(py, &error))?;
        }
        let build = || -> wimble::Result<Parts> {
            let strategy = method.parse::<Spec>()?.build(batch_size)?;
            strategy.check(&space.0, &goal)?;
            Ok(Parts { ledger: Ledger::new(space.0.clone(), goal.clone(), Seed(seed)), strategy })
        };
        let parts = build().map_err(|error| of_engine(py, &error))?;
        Ok(Self(Arc::new(Mutex::new(parts))))
    }

    /// Makes a trial pending.
    fn issue(&self, py: Python<'_>, trial: u64, params: &Bound<'_, PyDict>) -> PyResult<()> {
        let configuration = to_configuration(params)?;
        let mut parts = self.parts(py);
        let x = parts.ledger.space().encode(&configuration);
        parts.ledger.issue(trial, x.map_err(|error| of_engine(py, &error))?);
        Ok(())
    }

    /// Whether a trial is pending at this configuration.
    fn holds(&self, py: Python<'_>, trial: u64, params: &Bound<'_, PyDict>) -> PyResult<bool> {
        let configuration = to_configuration(params)?;
        let parts = self.parts(py);
        let x = parts.ledger.space().encode(&configuration);
        let x = x.map_err(|error| of_engine(py, &error))?;
        Ok(parts.ledger.pending().get(&trial) == Some(&x))
    }

    /// Whether a trial is pending or told.
    fn knows(&self, py: Python<'_>, trial: u64) -> bool {
        self.parts(py).ledger.knows(trial)
    }

    /// How many trials were told.
    fn told(&self, py: Python<'_>) -> usize {
        self.parts(py).ledger.told().len()
    }

    /// Records a step of a pending trial: values at a fidelity.
    fn report(
        &self,
        py: Python<'_>,
        trial: u64,
        step: f64,
        values: BTreeMap<String, MeasuredGiven>,
    ) -> PyResult<()> {
        let mut parts = self.parts(py);
        let measured = goal::measurement(py, parts.ledger.goal(), values)?;
        let step = Measurement { fidelity: Some(step), ..measured };
        parts.ledger.report(trial, &step).map_err(|error| of_engine(py, &error))
    }

    /// Whether a stopping rule gives a pending trial up, by its steps and those of all others.
    fn should_stop(
        &self,
        py: Python<'_>,
        trial: u64,
        rule: &str,
        wrong_stop: f64,
    ) -> PyResult<bool> {
        let look = || {
            let stopping = Stopping { rule: rule.parse()?, wrong_stop };
            self.parts(py).ledger.verdict(trial, &stopping)
        };
        Ok(look().map_err(|error| of_engine(py, &error))? == Verdict::Stop)
    }

    /// Records the outcome of a pending trial; `fidelity` says how far it came, if it did not come to its end.
    #[pyo3(signature = (trial, outcome, fidelity = None))]
    fn tell(
        &self,
        py: Python<'_>,
        trial: u64,
        outcome: Given,
        fidelity: Option<f64>,
    ) -> PyResult<()> {
        let mut parts = self.parts(py);
        let mut outcome = outcome::outcome(py, parts.ledger.goal(), outcome)?;
        if let Outcome::Measured(measurement) = &mut outcome {
            measurement.fidelity = fidelity;
        }
        parts.ledger.tell(trial, &outcome).map_err(|error| of_engine(py, &error))
    }

    /// Configurations to try next.
    fn propose<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let parts = Arc::clone(&self.0);
        let work = move || {
            let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            let Parts { ledger, strategy } = &mut *parts;
            ledger.propose(&**strategy, count)
        };
        let points = waiting::long(py, work, drop)?.map_err(|error| of_engine(py, &error))?;
        let parts = self.parts(py);
        let space = parts.ledger.space();
        let list = PyList::empty(py);
        for x in points.rows() {
            list.append(from_configuration(py, space, &space.decode(x))?)?;
        }
        Ok(list)
    }
}

impl Search {
    /// The parts, once a thread that computes lets go of them.
    fn parts(&self, py: Python<'_>) -> MutexGuard<'_, Parts> {
        loop {
            if let Ok(parts) = self.0.try_lock() {
                return parts;
            }
            // Whoever holds it may need the interpreter to go on: wait without it, and take it with it.
            waiting::brief(py, || drop(self.0.lock().unwrap_or_else(PoisonError::into_inner)));
            if self.0.is_poisoned() {
                self.0.clear_poison();
            }
        }
    }
}
