//! What is compared, on what and for how long: `settings/compare.toml`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wimble::seed::Seed;
use wimble::strategy::Spec;

use super::objective;
use crate::choice::{keep, named, positive};
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::record::{Key, Start};
use crate::run::{Experiment, Planned, Work};

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Uniform points that every tool starts from.
    pub initial: usize,
    /// Runs of each tool on each problem; their seeds count from 0.
    pub seeds: usize,
    /// Points of each ask.
    pub batch_size: usize,
    /// Evaluations in each run, initial points included.
    pub evaluations: usize,
    /// Evaluations at which tables and ranks are made.
    pub checkpoints: Vec<usize>,
    /// Seconds of processor time spent asking after which a run ends.
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
    /// Evaluations in each run, if fewer than for all.
    pub evaluations: Option<usize>,
    /// Whether its ask takes so long that it runs on the problems of the sample only.
    #[serde(default)]
    pub slow: bool,
    /// The suites that it does not run on, with the reason.
    #[serde(default)]
    pub not_on: BTreeMap<Suite, String>,
    /// Whether it is in the figures.
    #[serde(default)]
    pub drawn: bool,
}

/// A problem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Its name: that of `wimble-problems`, unless it is one of Figure 3.
    pub name: String,
    /// What it is ranked with.
    #[serde(default)]
    pub suite: Suite,
    /// The problem of Figure 3 that it is; data and optimum are in the settings of that figure.
    pub fig3: Option<String>,
    /// Evaluations in each run, if fewer than for all.
    pub evaluations: Option<usize>,
    /// Whether slow tools run on it too.
    #[serde(default)]
    pub sample: bool,
    /// Whether defaults were chosen by looking at it.
    #[serde(default)]
    pub tuning: bool,
    /// Why `auto` is behind here; printed where it is.
    pub behind: Option<String>,
    /// Whether a problem with several objectives is made of data that not everybody has.
    #[serde(default)]
    pub needs_data: bool,
    /// The extent of its front, where that is too dear to be computed every time.
    pub extent: Option<Extent>,
}

/// The extent of a front, and its hypervolume with the ideal point scaled to 0, the nadir to 1 and the reference 1.1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// The least value of each objective on the front.
    pub ideal: Vec<f64>,
    /// The greatest value of each objective on the front.
    pub nadir: Vec<f64>,
    /// The hypervolume.
    pub hypervolume: f64,
}

/// Problems that are ranked together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Functions with known minima.
    #[default]
    Functions,
    /// Racing lines: real variables, no noise.
    Racing,
    /// Tables of trained networks: levels and choices, noise.
    Fcnet,
}

impl Suite {
    /// All, in the order of the page.
    pub const ALL: [Self; 3] = [Self::Functions, Self::Racing, Self::Fcnet];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Functions => "regret",
            Self::Racing => "racing",
            Self::Fcnet => "fcnet",
        }
    }
}

/// What a user changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// These of our methods only; all if empty.
    pub methods: Vec<String>,
    /// These problems only; all if empty.
    pub problems: Vec<String>,
    /// Another number of seeds.
    pub seeds: Option<usize>,
    /// Another number of evaluations.
    pub evaluations: Option<usize>,
    /// Another batch size.
    pub batch_size: Option<usize>,
}

impl Settings {
    /// Those of the published comparison.
    pub fn published() -> Result<Self> {
        Self::parse("compare.toml", include_str!("../../settings/compare.toml"))
    }

    /// Those of a file of this name.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self> {
        toml::from_str(text)
            .map_err(|error| Error::Unreadable { path: name.to_owned(), reason: error.to_string() })
    }

    /// These settings with a user's changes; only our own methods are left, for those can be run here.
    pub fn with(mut self, changes: &Changes) -> Result<Self> {
        self.tools.retain(|tool| tool.spec.is_some());
        keep("method of the comparison", &mut self.tools, &changes.methods, |tool| &tool.name)?;
        keep("problem of the comparison", &mut self.problems, &changes.problems, |subject| {
            &subject.name
        })?;
        self.seeds = positive("seeds", changes.seeds.unwrap_or(self.seeds))?;
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

    /// Leaves out the problems whose data are not in the folder; their names, with what is missing.
    pub fn leave_out_missing(&mut self, data: &Folder) -> Result<Vec<(String, Error)>> {
        let mut left_out = Vec::new();
        for subject in self.problems.iter().filter(|subject| subject.fig3.is_some()) {
            match objective::of(subject, data) {
                Err(error @ Error::MissingData { .. }) => {
                    left_out.push((subject.name.clone(), error));
                }
                other => drop(other?),
            }
        }
        self.problems.retain(|subject| !left_out.iter().any(|(name, _)| *name == subject.name));
        Ok(left_out)
    }

    /// The extent of a problem's front, if it is written down.
    pub fn extent(&self, problem: &str) -> Option<Extent> {
        let subject = self.problems.iter().find(|subject| subject.name == problem);
        subject.and_then(|subject| subject.extent.clone())
    }

    /// The evaluations that a tool's run on a problem has.
    pub fn evaluations_of(&self, tool: &Tool, subject: &Subject) -> usize {
        let caps = [tool.evaluations, subject.evaluations];
        caps.into_iter().flatten().fold(self.evaluations, usize::min)
    }

    /// The rounds that a tool's run on a problem has.
    pub fn rounds(&self, tool: &Tool, subject: &Subject) -> usize {
        (self.evaluations_of(tool, subject) - self.initial).div_ceil(self.batch_size)
    }
}

/// The folder of the records with batches of this size, as a figure of its own.
pub(super) fn folder(batch_size: usize) -> String {
    format!("compare-{batch_size}")
}

impl Experiment for Settings {
    fn trials(&self) -> Result<Vec<Planned>> {
        let Self { tools, problems, .. } = self;
        let pairs = || problems.iter().flat_map(|on| tools.iter().map(move |of| (of, on)));
        let meant = || pairs().filter(|(tool, subject)| tool.runs_on(subject));
        let runs = (0..self.seeds).flat_map(|seed| meant().map(move |pair| (seed, pair)));
        runs.map(|(seed, (tool, subject))| self.planned(tool, subject, seed)).collect()
    }

    fn objective(&self, problem: &str, data: &Folder) -> Result<Arc<dyn Objective>> {
        let subject =
            named("problem of the comparison", &self.problems, problem, |subject| &subject.name)?;
        objective::of(subject, data)
    }
}

impl Settings {
    fn planned(&self, tool: &Tool, subject: &Subject, seed: usize) -> Result<Planned> {
        let Self { batch_size, initial, .. } = *self;
        let spec = Box::new(tool.method()?);
        let checkpoints = self.checkpoints.clone();
        let work = Work::Search { spec, without: Vec::new(), initial, first_noise: 0, checkpoints };
        self.planned_as(folder(batch_size), tool, subject, seed, work)
    }

    /// The run of a tool on a problem, recorded under a figure's name.
    pub(super) fn planned_as(
        &self,
        figure: String,
        tool: &Tool,
        subject: &Subject,
        seed: usize,
        work: Work,
    ) -> Result<Planned> {
        let Self { batch_size, initial, ask_seconds, .. } = *self;
        let spec = tool.method()?;
        Ok(Planned {
            start: Start {
                key: Key {
                    figure,
                    problem: subject.name.clone(),
                    method: tool.name.clone(),
                    trial: seed,
                },
                seed: seed as u64,
                rounds: self.rounds(tool, subject),
                settings: format!(
                    "wimble {} {spec}; batches of {batch_size}, {initial} initial; at most {ask_seconds} s",
                    env!("CARGO_PKG_VERSION"),
                ),
            },
            seed: Seed(seed as u64),
            batch_size,
            time_limit: Some(ask_seconds),
            work,
        })
    }
}

impl Tool {
    /// Whether it is meant to run on a problem.
    pub fn runs_on(&self, subject: &Subject) -> bool {
        !self.not_on.contains_key(&subject.suite) && (subject.sample || !self.slow)
    }

    /// The engine's method.
    pub fn method(&self) -> Result<Spec> {
        match &self.spec {
            Some(spec) => Ok(spec.parse()?),
            None => Err(Error::Unreadable {
                path: "compare.toml".to_owned(),
                reason: format!("{} is run by benches/peers, not by wimble-lab", self.name),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Figure;

    #[test]
    fn every_problem_exists_and_every_method_builds() {
        let settings = Settings::published().unwrap();
        let figure = Figure::RealData.settings().unwrap();
        for subject in &settings.problems {
            match &subject.fig3 {
                None => {
                    let problem = wimble_problems::problem(&subject.name).unwrap();
                    assert_eq!(
                        (problem.name(), subject.suite),
                        (subject.name.clone(), Suite::Functions)
                    );
                }
                Some(name) => {
                    assert!(figure.problems.iter().any(|problem| problem.name == *name), "{name}");
                    assert!(subject.suite != Suite::Functions && subject.sample);
                }
            }
        }
        for tool in settings.tools.iter().filter(|tool| tool.spec.is_some()) {
            drop(tool.method().unwrap().build(settings.batch_size).unwrap());
        }
    }

    #[test]
    fn at_least_a_third_of_the_problems_is_held_out_and_no_centre_is_an_answer() {
        let settings = Settings::published().unwrap();
        let functions: Vec<&Subject> =
            settings.problems.iter().filter(|subject| subject.suite == Suite::Functions).collect();
        let sample: Vec<&Subject> =
            functions.iter().copied().filter(|subject| subject.sample).collect();
        assert_eq!((functions.len(), sample.len()), (24, 8));
        for subjects in [&functions, &sample] {
            let held_out = subjects.iter().filter(|subject| !subject.tuning).count();
            assert!(3 * held_out >= subjects.len(), "{held_out}");
        }
        for subject in functions {
            let problem = wimble_problems::problem(&subject.name).unwrap();
            let centre: Vec<f64> =
                problem.domain().iter().map(|(low, high)| (low + high) / 2.0).collect();
            assert!(!problem.minimisers().contains(&centre), "{}", subject.name);
            let family = subject.name.split(['-', '+']).next().unwrap();
            let tuned =
                ["branin", "rosenbrock", "hartmann6", "ackley", "levy", "rastrigin", "styblinski"];
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
        assert_eq!((few.seeds, few.rounds(&few.tools[0], &few.problems[0])), (2, 6));
    }

    #[test]
    fn budgets_and_suites_decide_who_runs_where() {
        let settings = Settings::published().unwrap();
        let tool = |name: &str| settings.tools.iter().find(|tool| tool.name == name).unwrap();
        let subject =
            |name: &str| settings.problems.iter().find(|subject| subject.name == name).unwrap();
        let evaluations = |of: &str, on: &str| settings.evaluations_of(tool(of), subject(on));
        assert_eq!(evaluations("auto", "branin"), 2010);
        assert_eq!(evaluations("optuna-tpe", "branin"), 510);
        assert_eq!(evaluations("botorch", "hartmann6"), 60);
        assert_eq!(evaluations("auto", "racing-uc-berkeley"), 210);
        assert_eq!(evaluations("smac", "fcnet-slice"), 60);
        assert_eq!(evaluations("optuna-gp", "fcnet-slice"), 210);
        assert_eq!(evaluations("pycma", "fcnet-slice"), 510);
        assert!(tool("hebo").runs_on(subject("hartmann6")));
        assert!(!tool("hebo").runs_on(subject("branin")));
        assert!(tool("pycma").runs_on(subject("branin")));
        assert!(tool("pycma").runs_on(subject("racing-eth-mobil")));
        assert!(!tool("pycma").runs_on(subject("fcnet-slice")));
        assert!(tool("smac").runs_on(subject("fcnet-slice")));
    }

    #[test]
    fn problems_without_their_data_are_left_out_and_named() {
        let mut settings = Settings::published().unwrap();
        let left_out = settings.leave_out_missing(&Folder::new("no-such-folder")).unwrap();
        let names: Vec<&str> = left_out.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["racing-uc-berkeley", "racing-eth-mobil", "fcnet-parkinsons", "fcnet-slice"]
        );
        assert!(left_out[0].1.to_string().contains("ucb_center.txt is not there"));
        assert_eq!(settings.problems.len(), 24);
    }
}
