//! What is run for each figure: one TOML file a figure, with the source of each number beside it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use wimble::strategy::Spec;

use crate::benchmark::Benchmark;
use crate::choice::{keep, named, positive};
use crate::data::{Folder, fcnet, lcbench};
use crate::error::{Error, Result};
use crate::mnist::{runs, surrogate};
use crate::objective::Objective;
use crate::paper::contrast::Contrast;
use crate::racing::{Circuit, Race};

/// What is run for a figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The heading.
    pub title: String,
    /// The metric that is drawn.
    pub metric: String,
    /// Whether it is drawn on a log axis.
    pub log: bool,
    /// Over what it is drawn.
    #[serde(default)]
    pub axis: Axis,
    /// Trials of each method on each problem.
    pub trials: usize,
    /// Batches in each trial, after the initial points.
    pub rounds: usize,
    /// Points in each batch.
    pub batch_size: usize,
    /// Random points before the first batch.
    pub initial: usize,
    /// Variance of the Gaussian noise of the values told.
    pub noise_variance: f64,
    /// The random classifier of Figure 1.
    pub theory: Option<TheorySettings>,
    /// What is compared.
    pub methods: Vec<Method>,
    /// On what.
    pub problems: Vec<Subject>,
    /// Which methods are compared at several rounds, beside the paper's claims.
    #[serde(default)]
    pub contrasts: Vec<Contrast>,
    /// What `--quick` changes.
    pub quick: Quick,
}

/// What a figure is drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Rounds, after the initial points.
    #[default]
    Round,
    /// Evaluations, initial points included.
    Evaluations,
}

/// The instance of the theory experiment (appendix D.1).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TheorySettings {
    /// F: number of kernel terms of the random classifier, at least 1.
    pub features: usize,
    /// Length scale of the squared exponential kernel.
    pub length_scale: f64,
    /// Number of points of the finite search space.
    pub points: usize,
    /// τ: a value below it counts as good.
    pub threshold: f64,
    /// λ > 0: ridge of the least-squares fit of BORE and BORE++; a larger one smooths more.
    pub ridge: f64,
    /// δ in (0, 1): probability with which the confidence bounds may fail.
    pub failure_probability: f64,
    /// b > 0: norm to which the random classifier is scaled, and which the width of BORE++ assumes.
    pub norm_bound: f64,
    /// λ > 0: noise variance that GP-UCB assumes.
    pub gp_ridge: f64,
}

/// A method of a figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Its name in commands and tables.
    pub name: String,
    /// Its name in legends.
    pub title: String,
    /// The engine's method in words, with words of the problem in braces. Without this and `theory` it is a method of another tool,
    /// whose records come from `benches/peers`.
    pub spec: Option<String>,
    /// The method of the theory experiment.
    pub theory: Option<TheoryMethod>,
    /// Seconds of processor time spent asking after which a trial is aborted.
    pub time_limit: Option<f64>,
    /// Points in each of its batches, if not the figure's.
    pub batch_size: Option<usize>,
    /// Left out of the picture, which would be too full; in the tables it is.
    #[serde(default)]
    pub undrawn: bool,
}

/// A method of the theory experiment, whose settings depend on its instance.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TheoryMethod {
    /// BORE with kernel least squares.
    Bore,
    /// BORE++ with kernel least squares.
    BorePlusPlus {
        /// β: width of the upper confidence bound; a larger one explores more.
        width: TheoryWidth,
    },
    /// GP-UCB under its own theory.
    GpUcb {
        /// Added to the diagonal of K in the norm of the objective (D.5).
        jitter: f64,
    },
}

/// The width β of BORE++ in the theory experiment.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TheoryWidth {
    /// β_t(δ) of Theorem 1.
    Level,
    /// A number.
    Fixed(f64),
}

/// A problem of a figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its name, that of `wimble-problems` except in Figure 1.
    pub name: String,
    /// Its heading, if not that of `wimble-problems`.
    pub title: Option<String>,
    /// What the braces in a method's spec stand for.
    #[serde(default)]
    pub words: BTreeMap<String, Word>,
    /// Where its values come from, if not from a function of `wimble-problems`.
    pub task: Option<Task>,
    /// The value that regret is measured from; for a task only.
    pub optimum: Option<f64>,
    /// Rounds of its trials, if not the figure's.
    pub rounds: Option<usize>,
    /// Trials of a method, if not the figure's.
    pub trials: Option<usize>,
    /// Trials of single methods, where all would take too long.
    #[serde(default)]
    pub fewer_trials: BTreeMap<String, usize>,
}

/// A problem made of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A table of FCNet.
    Fcnet(fcnet::Dataset),
    /// The LCBench surrogate for an OpenML task.
    Lcbench(u32),
    /// A race track.
    Racing(Circuit),
    /// The forest fitted to this project's runs on MNIST.
    Mnist,
}

impl Subject {
    /// What is minimised; reads the data that it needs.
    pub fn objective(&self, noise_variance: f64, data: &Folder) -> Result<Arc<dyn Objective>> {
        let Some(task) = self.task else {
            return Ok(Arc::new(Benchmark::new(&self.name, noise_variance)?));
        };
        let Some(optimum) = self.optimum else {
            let reason = format!("{} has a task but no optimum", self.name);
            return Err(Error::Unreadable { path: "settings".to_owned(), reason });
        };
        Ok(match task {
            Task::Fcnet(dataset) => Arc::new(fcnet::Table::read(data, dataset, optimum)?),
            Task::Lcbench(task) => Arc::new(lcbench::Surrogate::read(data)?.tuning(task, optimum)?),
            Task::Racing(circuit) => Arc::new(Race::read(data, circuit, optimum)?),
            Task::Mnist => Arc::new(surrogate::Surrogate::fit(&runs::published()?, optimum)?),
        })
    }
}

/// A word or a number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Word {
    Number(i64),
    Text(String),
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// What `--quick` changes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Trials.
    pub trials: usize,
    /// Rounds.
    pub rounds: usize,
    /// Replaces the time limit of those methods that have one.
    pub time_limit: Option<f64>,
}

/// What a user changes about a figure's settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Short: for a first look, not for conclusions.
    pub quick: bool,
    /// Another number of trials.
    pub trials: Option<usize>,
    /// Another number of rounds.
    pub rounds: Option<usize>,
    /// Another time limit for those methods that have one.
    pub time_limit: Option<f64>,
    /// These methods only; all if empty.
    pub methods: Vec<String>,
    /// These problems only; all if empty.
    pub problems: Vec<String>,
}

impl Settings {
    /// These settings with a user's changes; only our own methods are left, for those can be run here.
    pub fn with(mut self, changes: &Changes) -> Result<Self> {
        self.methods.retain(|method| !method.is_peer());
        if changes.quick {
            self.trials = self.quick.trials;
            self.rounds = self.quick.rounds;
            for subject in &mut self.problems {
                subject.rounds = subject.rounds.map(|rounds| rounds.min(self.rounds));
                subject.trials = subject.trials.map(|trials| trials.min(self.trials));
                subject.fewer_trials.values_mut().for_each(|n| *n = (*n).min(self.trials));
            }
        }
        let quick_limit = self.quick.time_limit.filter(|_| changes.quick);
        if let Some(limit) = changes.time_limit.or(quick_limit) {
            if limit.is_nan() || limit <= 0.0 {
                let value = limit.to_string();
                return Err(Error::Invalid { field: "time limit", value, allowed: "above 0 s" });
            }
            for method in &mut self.methods {
                method.time_limit = method.time_limit.map(|_| limit);
            }
        }
        self.trials = positive("trials", changes.trials.unwrap_or(self.trials))?;
        self.rounds = positive("rounds", changes.rounds.unwrap_or(self.rounds))?;
        for subject in &mut self.problems {
            if changes.rounds.is_some() {
                subject.rounds = None;
            }
            if changes.trials.is_some() {
                subject.trials = None;
                subject.fewer_trials.clear();
            }
        }
        keep("method", &mut self.methods, &changes.methods, |method| &method.name)?;
        keep("problem", &mut self.problems, &changes.problems, |problem| &problem.name)?;
        Ok(self)
    }

    /// The problem of this name.
    pub fn problem(&self, name: &str) -> Result<&Subject> {
        named("problem of the figure", &self.problems, name, |subject| &subject.name)
    }

    /// The title of the method of this name.
    pub(crate) fn title_of<'s>(&'s self, name: &'s str) -> &'s str {
        let method = self.methods.iter().find(|method| method.name == name);
        method.map_or(name, |method| &method.title)
    }

    /// Rounds of a trial on a problem.
    pub fn rounds_on(&self, subject: &Subject) -> usize {
        subject.rounds.unwrap_or(self.rounds)
    }

    /// Trials of a method on a problem.
    pub fn trials_of(&self, method: &Method, subject: &Subject) -> usize {
        let usual = subject.trials.unwrap_or(self.trials);
        subject.fewer_trials.get(&method.name).copied().unwrap_or(usual)
    }

    /// Whether all problems have the figure's rounds and trials.
    pub fn is_uniform(&self) -> bool {
        let usual = |subject: &Subject| {
            subject.rounds.is_none() && subject.trials.is_none() && subject.fewer_trials.is_empty()
        };
        self.problems.iter().all(usual)
    }
}

impl Method {
    /// Whether another tool runs it.
    pub fn is_peer(&self) -> bool {
        self.spec.is_none() && self.theory.is_none()
    }

    /// The engine's method on a problem; `None` for one of the theory experiment or of another tool.
    pub fn spec(&self, subject: &Subject) -> Result<Option<Spec>> {
        let Some(text) = &self.spec else { return Ok(None) };
        let filled = subject.words.iter().fold(text.clone(), |text, (key, word)| {
            text.replace(&format!("{{{key}}}"), &word.to_string())
        });
        Ok(Some(filled.parse()?))
    }

    /// All that decides the records of a trial on this problem, in words.
    pub(crate) fn identity(&self, subject: &Subject) -> Result<String> {
        let mut words = match (self.spec(subject)?, self.theory) {
            (Some(spec), _) => spec.to_string(),
            (None, Some(_)) => format!("{:?}", self.theory),
            (None, None) => "another tool".to_owned(),
        };
        if let (Some(task), Some(optimum)) = (subject.task, subject.optimum) {
            words += &format!("; {task:?} with optimum {optimum}");
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Figure;

    #[test]
    fn every_method_of_every_figure_builds_on_every_problem() {
        for figure in Figure::ALL {
            let settings = figure.settings().unwrap();
            for method in &settings.methods {
                for subject in &settings.problems {
                    match method.spec(subject).unwrap() {
                        Some(spec) => drop(spec.build(settings.batch_size).unwrap()),
                        None if method.is_peer() => assert_eq!(figure, Figure::RealData),
                        None => assert!(method.theory.is_some() && settings.theory.is_some()),
                    }
                }
            }
        }
    }

    #[test]
    fn the_paper_s_exceptions_reach_the_methods() {
        let settings = Figure::Global.settings().unwrap();
        let spec = |problem: &str| {
            let subject = settings.problems.iter().find(|subject| subject.name == problem).unwrap();
            settings.methods[0].identity(subject).unwrap()
        };
        assert!(
            spec("camel").contains("200") && spec("camel").contains("elu"),
            "{}",
            spec("camel")
        );
        assert!(spec("hartmann3").contains("500"), "{}", spec("hartmann3"));
        assert_ne!(spec("branin"), spec("camel"));
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let error = "fig4".parse::<Figure>().unwrap_err().to_string();
        assert!(error.contains("no figure is called `fig4`; the nearest is `fig1`"), "{error}");
        let ask = |methods: &[&str], problems: &[&str]| {
            let words = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let changes = Changes {
                methods: words(methods),
                problems: words(problems),
                ..Changes::default()
            };
            Figure::Global.settings().unwrap().with(&changes).unwrap_err().to_string()
        };
        assert!(ask(&["batch-bor"], &[]).contains("the nearest is `batch-bore`"));
        assert!(ask(&[], &["brainin"]).contains("the nearest is `branin`"));
    }
}
