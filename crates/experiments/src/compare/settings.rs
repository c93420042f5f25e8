//! What is compared, on what and for how long: `settings/compare.toml`.

use serde::{Deserialize, Serialize};
use wimble::strategy::Spec;

use crate::error::{Error, Result};
use crate::settings::{keep, positive};

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Uniform points that every tool starts from.
    pub initial: usize,
    /// Runs a tool and problem, with the seeds from 0.
    pub seeds: u64,
    /// Points an ask.
    pub batch_size: usize,
    /// Evaluations a run, initial points included.
    pub evaluations: usize,
    /// Evaluations at which tables and ranks are made.
    pub checkpoints: Vec<usize>,
    /// Seconds of asking after which a run ends.
    pub ask_seconds: f64,
    /// The problem on which asking is timed.
    pub latency_problem: String,
    /// Evaluations at which asking is timed.
    pub latency_sizes: Vec<usize>,
    /// Ours and others.
    pub tools: Vec<Tool>,
    /// On what.
    pub problems: Vec<Subject>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name in commands and files.
    pub name: String,
    /// Its name in tables.
    pub title: String,
    /// The engine's method in words; `None` for a peer, whose records come from elsewhere.
    pub spec: Option<String>,
    /// Evaluations a run, if fewer than for all.
    pub evaluations: Option<usize>,
    /// Whether it is in the figures.
    #[serde(default)]
    pub drawn: bool,
}

/// A problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its name, as `wimble-problems` has it.
    pub name: String,
    /// Whether defaults were chosen by looking at it.
    #[serde(default)]
    pub tuning: bool,
}

/// What a user changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// These of our methods only; all if empty.
    pub methods: Vec<String>,
    /// These problems only; all if empty.
    pub problems: Vec<String>,
    /// Another number of seeds.
    pub seeds: Option<u64>,
    /// Another number of evaluations.
    pub evaluations: Option<usize>,
    /// Another batch size.
    pub batch_size: Option<usize>,
}

impl Settings {
    /// Those of the published comparison.
    pub fn published() -> Result<Self> {
        toml::from_str(include_str!("../../settings/compare.toml")).map_err(|error| {
            Error::Unreadable { path: "compare.toml".to_owned(), reason: error.to_string() }
        })
    }

    /// These settings with a user's changes; only our own methods are left, for those can be run here.
    pub fn with(mut self, changes: &Changes) -> Result<Self> {
        self.tools.retain(|tool| tool.spec.is_some());
        keep("method of the comparison", &mut self.tools, &changes.methods, |tool| &tool.name)?;
        keep("problem of the comparison", &mut self.problems, &changes.problems, |subject| {
            &subject.name
        })?;
        self.seeds = changes.seeds.unwrap_or(self.seeds);
        if self.seeds == 0 {
            return Err(Error::Invalid {
                field: "seeds",
                value: "0".to_owned(),
                allowed: "at least 1",
            });
        }
        self.evaluations = changes.evaluations.unwrap_or(self.evaluations);
        if self.evaluations <= self.initial {
            return Err(Error::Invalid {
                field: "evaluations",
                value: self.evaluations.to_string(),
                allowed: "more than the 10 initial points",
            });
        }
        self.batch_size = positive("batch size", changes.batch_size.unwrap_or(self.batch_size))?;
        Ok(self)
    }

    /// The rounds that a tool's run has.
    pub fn rounds(&self, tool: &Tool) -> usize {
        let evaluations =
            tool.evaluations.map_or(self.evaluations, |cap| cap.min(self.evaluations));
        (evaluations - self.initial).div_ceil(self.batch_size)
    }
}

impl Tool {
    /// The engine's method.
    pub fn method(&self) -> Result<Spec> {
        match &self.spec {
            Some(spec) => Ok(spec.parse()?),
            None => Err(Error::Unreadable {
                path: "compare.toml".to_owned(),
                reason: format!("{} is run by benches/peers, not by wimble", self.name),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_exists_and_every_method_builds() {
        let settings = Settings::published().unwrap();
        for subject in &settings.problems {
            let problem = wimble_problems::problem(&subject.name).unwrap();
            assert_eq!(problem.name(), subject.name);
        }
        for tool in settings.tools.iter().filter(|tool| tool.spec.is_some()) {
            drop(tool.method().unwrap().build(settings.batch_size).unwrap());
        }
    }

    #[test]
    fn at_least_a_third_of_the_problems_is_held_out_and_no_centre_is_an_answer() {
        let settings = Settings::published().unwrap();
        let held_out = settings.problems.iter().filter(|subject| !subject.tuning).count();
        assert!(3 * held_out >= settings.problems.len(), "{held_out}");
        for subject in &settings.problems {
            let problem = wimble_problems::problem(&subject.name).unwrap();
            let centre: Vec<f64> =
                problem.domain().iter().map(|(low, high)| (low + high) / 2.0).collect();
            assert!(!problem.minimisers().contains(&centre), "{}", subject.name);
            let family = subject.name.split(['-', '+']).next().unwrap();
            let tuned = ["branin", "rosenbrock", "hartmann6", "ackley", "levy", "rastrigin"];
            assert_eq!(subject.tuning, tuned.contains(&family), "{}", subject.name);
        }
    }

    #[test]
    fn changes_are_checked() {
        let ask = |changes: Changes| Settings::published().unwrap().with(&changes);
        let error = ask(Changes { methods: vec!["pycma".to_owned()], ..Changes::default() });
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no method of the comparison is called `pycma`"), "{error}");
        let error = ask(Changes { evaluations: Some(10), ..Changes::default() });
        assert!(
            error.unwrap_err().to_string().contains("evaluations is 10, but must be more than")
        );
        let few = ask(Changes { evaluations: Some(61), seeds: Some(2), ..Changes::default() });
        let few = few.unwrap();
        assert_eq!((few.seeds, few.rounds(&few.tools[0])), (2, 6));
    }
}
