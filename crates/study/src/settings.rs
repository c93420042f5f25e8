//! The settings of a study: fixed when it is created, and the same for every worker.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wimble::goal::{Constraint, Fidelity, Goal, Objective};
use wimble::seed::Seed;
use wimble::space::SearchSpace;
use wimble::stopping::Stopping;
use wimble::strategy::Spec;

use crate::difference;
use crate::error::{Error, Result};

/// The version of the form in which studies are stored. This program refuses later ones.
pub const FORMAT: u32 = 1;

/// The version of the engine, which shares its number with this crate.
pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// More points than anybody wants in a batch.
pub(crate) const LARGEST_BATCH: usize = 10_000;
/// The longest name or key, in bytes.
const LONGEST_NAME: usize = 200;

/// The settings of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Its name, unique in a store.
    pub name: String,
    /// Where to search.
    pub space: SearchSpace,
    /// What the study is for.
    pub goal: Goal,
    /// The method.
    pub method: Spec,
    /// How many points are proposed together. What the asking worker does not take waits in the queue.
    pub batch_size: usize,
    /// The seed. The same seed and the same results give the same suggestions.
    pub seed: Seed,
    /// How many trials are evaluated, imported ones not counted.
    pub budget: u64,
    /// How many times a trial may lose its worker before it counts as failed.
    pub retries: u32,
    /// How long a worker keeps a trial without a heartbeat. Short leases find lost workers sooner; long ones survive longer
    /// outages.
    pub lease: Duration,
    /// When a running trial is stopped early, under a goal with a fidelity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stopping: Stopping,
}

fn is_default(stopping: &Stopping) -> bool {
    *stopping == Stopping::default()
}

impl Settings {
    /// A study that minimises, proposes one point at a time and has 100 trials. A trial whose worker sends no heartbeat for a
    /// minute goes back to the queue, up to 3 times.
    pub fn new(name: impl Into<String>, space: SearchSpace, method: Spec) -> Self {
        Self {
            name: name.into(),
            space,
            goal: Goal::default(),
            method,
            batch_size: 1,
            seed: Seed(0),
            budget: 100,
            retries: 3,
            lease: Duration::from_secs(60),
            stopping: Stopping::default(),
        }
    }

    /// With another goal; a direction is short for one objective.
    #[must_use]
    pub fn goal(mut self, goal: impl Into<Goal>) -> Self {
        self.goal = goal.into();
        self
    }

    /// With another batch size.
    #[must_use]
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = batch_size;
        self
    }

    /// With another seed.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// With another number of trials.
    #[must_use]
    pub fn budget(mut self, budget: u64) -> Self {
        self.budget = budget;
        self
    }

    /// With another number of retries.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// With another length of lease.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// With another rule for stopping trials early.
    #[must_use]
    pub fn stopping(mut self, stopping: impl Into<Stopping>) -> Self {
        self.stopping = stopping.into();
        self
    }

    /// Refuses what no study can have. The method is checked against the space when it is built.
    pub fn check(&self) -> Result<()> {
        check_name(&self.name, "name", &self.name)?;
        let refuse = |field, value: &dyn std::fmt::Display, allowed: String| {
            let (study, value) = (self.name.clone(), value.to_string());
            Err(Error::Invalid { study, field, value, allowed })
        };
        if !(1..=LARGEST_BATCH).contains(&self.batch_size) {
            return refuse("batch size", &self.batch_size, format!("from 1 to {LARGEST_BATCH}"));
        }
        if !(1..=i64::MAX as u64).contains(&self.budget) {
            return refuse("budget", &self.budget, format!("from 1 to {} trials", i64::MAX));
        }
        if let Some(all) = self.space.cardinality()
            && !self.space.repeats()
            && u128::from(self.budget) > all
        {
            let allowed = format!(
                "at most {all}, the configurations of the space, unless the space allows repeats"
            );
            return refuse("budget", &self.budget, allowed);
        }
        self.stopping.check()?;
        // A whole number of milliseconds, so that what is stored is what was set.
        let milliseconds = self.lease.as_millis();
        if Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)) != self.lease
            || !(1..=i64::MAX as u128 / 2).contains(&milliseconds)
        {
            let allowed = "a whole number of milliseconds, 1 at least".to_owned();
            return refuse("lease", &format!("{:?}", self.lease), allowed);
        }
        Ok(())
    }

    /// Refuses to open the study `stored` as this one, and says what differs.
    pub fn check_same(&self, stored: &Self) -> Result<()> {
        let mut differences = Vec::new();
        let mut compare = |field: &str, stored: String, given: String| {
            if stored != given {
                differences.push(format!("its {field} is {stored}, not {given}"));
            }
        };
        compare("goal", goal_text(&stored.goal), goal_text(&self.goal));
        // The same method may be written with or without its defaults, and may leave open what the study has decided.
        let method = self.method.as_in(&stored.method)?;
        if !agrees(&method_table(&method), &method_table(&stored.method)) {
            compare("method", stored.method.to_string(), self.method.to_string());
        }
        compare("batch size", stored.batch_size.to_string(), self.batch_size.to_string());
        compare("seed", stored.seed.0.to_string(), self.seed.0.to_string());
        compare("budget", stored.budget.to_string(), self.budget.to_string());
        compare("retry limit", stored.retries.to_string(), self.retries.to_string());
        compare("stopping", stopping_text(&stored.stopping), stopping_text(&self.stopping));
        compare("lease", format!("{:?}", stored.lease), format!("{:?}", self.lease));
        differences.extend(difference::of_spaces(&stored.space, &self.space));
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::Differs { study: self.name.clone(), differences: differences.join("; ") })
    }
}

/// A study as a store holds it.
///
/// # Design
/// A study outlives the version that created it. Suggestions may differ from one version of the engine to the next, so the
/// store notes which one proposed which trials; a study is continued by whatever version opens it. Only what this version
/// cannot read is refused: a later form of the stored record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its settings.
    pub settings: Settings,
    /// The version of the stored form that it was created in.
    pub format: u32,
    /// The version of the engine that it was created with.
    pub engine: String,
    /// The engines that proposed its trials, in the order of their first trials. Empty before the first proposal, and in
    /// the record of a study that is to be created.
    pub engines: Vec<EngineSpan>,
    /// Whether it is paused: no trial begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
}

/// A version of the engine, and the first trial that it proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineSpan {
    /// The version of the engine.
    pub version: String,
    /// The first trial that it proposed; the last is the one before the next engine's first.
    pub first_trial: u64,
}

impl Record {
    /// The record of a new study.
    pub fn new(settings: Settings) -> Self {
        let (engine, engines) = (ENGINE.to_owned(), Vec::new());
        Self { settings, format: FORMAT, engine, engines, paused: false }
    }

    /// The version of the engine at work when a trial was proposed.
    pub fn engine_of(&self, trial: u64) -> &str {
        let spans = self.engines.iter().rev();
        spans
            .filter(|span| span.first_trial <= trial)
            .map(|span| span.version.as_str())
            .next()
            .unwrap_or(&self.engine)
    }
}

/// Refuses a study that was stored in a later form than this version knows.
pub(crate) fn check_format(study: &str, format: u32) -> Result<()> {
    if format > FORMAT {
        return Err(Error::LaterFormat { study: study.to_owned(), found: format, known: FORMAT });
    }
    Ok(())
}

/// Refuses names, worker keys and client keys that are empty, or too long to be meant.
pub(crate) fn check_name(study: &str, field: &'static str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
        let value = if name.is_empty() {
            "empty".to_owned()
        } else {
            format!("`{}`", name.chars().take(40).collect::<String>().escape_debug())
        };
        let allowed = format!("text of 1 to {LONGEST_NAME} bytes without zero bytes");
        return Err(Error::Invalid { study: study.to_owned(), field, value, allowed });
    }
    Ok(())
}

/// The settings of a method as a table; what it leaves open is not in it.
fn method_table(method: &Spec) -> serde_json::Value {
    serde_json::to_value(method).unwrap_or_default()
}

/// Whether all that `given` says stands in `stored` too.
fn agrees(given: &serde_json::Value, stored: &serde_json::Value) -> bool {
    match (given.as_object(), stored.as_object()) {
        (Some(given), Some(stored)) => given
            .iter()
            .all(|(key, value)| stored.get(key).is_some_and(|stored| agrees(value, stored))),
        _ => given == stored,
    }
}

/// A goal in words, for messages and for telling two apart.
fn goal_text(goal: &Goal) -> String {
    let objective = |Objective { name, direction, reference }: &Objective| match reference {
        None => format!("to {direction} {name}"),
        Some(reference) => format!("to {direction} {name} (reference {reference})"),
    };
    let limit = |Constraint { name, bound }: &Constraint| format!("{name} {bound}");
    let parts: Vec<String> = goal
        .objectives()
        .iter()
        .map(objective)
        .chain(goal.constraints().iter().map(limit))
        .chain(goal.partial().map(|Fidelity { name, low, high }| format!("{name} {low} to {high}")))
        .collect();
    parts.join(", ")
}

/// A stopping rule in words.
fn stopping_text(stopping: &Stopping) -> String {
    let Stopping { rule, wrong_stop } = stopping;
    format!("{rule} (wrong-stop {wrong_stop})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::space::Dimension;

    fn settings() -> Settings {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        Settings::new("s", space, "random".parse().unwrap())
    }

    #[test]
    fn a_trial_is_ascribed_to_the_engine_that_proposed_it() {
        let span = |version: &str, first_trial| EngineSpan { version: version.into(), first_trial };
        let mut record = Record { engine: "0.1.0".into(), ..Record::new(settings()) };
        assert_eq!(record.engine_of(3), "0.1.0");
        record.engines = vec![span("0.1.0", 0), span("0.2.0", 4), span("0.3.1", 6)];
        let engines: Vec<&str> = (2..8).map(|trial| record.engine_of(trial)).collect();
        assert_eq!(engines, ["0.1.0", "0.1.0", "0.2.0", "0.2.0", "0.3.1", "0.3.1"]);
    }

    #[test]
    fn only_a_later_format_is_refused() {
        check_format("s", FORMAT).unwrap();
        check_format("s", FORMAT - 1).unwrap();
        let error = check_format("s", FORMAT + 1).unwrap_err().to_string();
        assert!(error.contains("study `s` is stored in format 2"), "{error}");
    }

    #[test]
    fn what_no_study_can_have_is_refused_by_name() {
        settings().check().unwrap();
        let few = SearchSpace::new([Dimension::integer("n", 1, 5)]).unwrap();
        let finite = Settings { space: few, ..settings() };
        for (bad, words) in [
            (settings().batch_size(0), "batch size is 0"),
            (settings().budget(0), "budget is 0"),
            (finite.budget(6), "budget is 6, but must be at most 5"),
            (settings().lease(Duration::ZERO), "lease is 0ns"),
            (settings().lease(Duration::from_micros(1500)), "whole number of milliseconds"),
            (Settings { name: String::new(), ..settings() }, "name is empty"),
        ] {
            let error = bad.check().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
