//! The records of all tools as one table: the regret of each tool, problem and seed after N evaluations.
//!
//! A run that ended at its limit before N counts with the last value it had: that is what its user would have. A tool
//! is on the board at N if at least half of its runs reached N.

use std::collections::BTreeMap;
use std::path::Path;

use super::group::Group;
use super::settings::{Subject, Tool, folder};
use crate::error::Result;
use crate::record::{End, Records, Trial};
use crate::summary::quantile;

/// The runs of one batch size.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// By tool, problem and seed.
    runs: BTreeMap<(String, String, usize), Trial>,
    /// Lines of records that could not be read.
    pub corrupt_lines: usize,
    /// Runs begun and not ended, which do not count.
    pub open_runs: usize,
}

impl Board {
    /// The records under `dir` with batches of this size.
    pub fn read(dir: &Path, batch_size: usize) -> Result<Self> {
        Self::of_figure(dir, &folder(batch_size))
    }

    /// The records under `dir` of this figure.
    pub fn of_figure(dir: &Path, figure: &str) -> Result<Self> {
        let records = Records::read(dir, figure)?;
        let open_runs = records.trials.len() - records.ended();
        let ended = records.trials.into_iter().filter(|(_, trial)| trial.end.is_some());
        let runs = ended.map(|(key, trial)| ((key.method, key.problem, key.trial), trial));
        Ok(Self { runs: runs.collect(), corrupt_lines: records.corrupt_lines, open_runs })
    }

    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many runs of a tool on these problems have ended, and how many of them at their limit or by an error.
    pub fn ended(&self, tool: &str, subjects: &[&Subject]) -> (usize, usize) {
        self.runs_of(tool, subjects).fold((0, 0), |(ended, aborted), run| {
            (ended + 1, aborted + usize::from(run.end == Some(End::Aborted)))
        })
    }

    fn runs_of(&self, tool: &str, subjects: &[&Subject]) -> impl Iterator<Item = &Trial> {
        let runs = self.runs.iter().filter(move |((name, problem, _), _)| {
            name == tool && subjects.iter().any(|subject| subject.name == *problem)
        });
        runs.map(|(_, run)| run)
    }

    /// What a tool's records on these problems say that was run; more than one if they differ.
    pub fn settings(&self, tool: &str, subjects: &[&Subject]) -> Vec<&str> {
        let mut all: Vec<&str> =
            self.runs_of(tool, subjects).map(|run| run.start.settings.as_str()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Seeds from 0 that any tool has a run of.
    pub fn seeds(&self) -> usize {
        self.runs.keys().map(|(.., seed)| seed + 1).max().unwrap_or(0)
    }

    /// The metric after `evaluations`, the last one of a run that was stopped before; `None` if the run is not there or
    /// was not meant to go so far.
    pub fn regret(
        &self,
        tool: &str,
        problem: &str,
        seed: usize,
        evaluations: usize,
        metric: &str,
    ) -> Option<f64> {
        let run = self.runs.get(&(tool.to_owned(), problem.to_owned(), seed))?;
        let round = run.rounds.iter().rev().find(|round| round.evaluations <= evaluations)?;
        let is_there = run.end == Some(End::Aborted)
            || run.rounds.last().is_some_and(|last| last.evaluations >= evaluations);
        is_there.then(|| round.metrics.get(metric).copied()).flatten()
    }

    /// The metric of each seed after `evaluations`, from the least to the greatest.
    pub fn sorted(&self, tool: &str, problem: &str, evaluations: usize, metric: &str) -> Vec<f64> {
        let regret = |seed| self.regret(tool, problem, seed, evaluations, metric);
        let mut values: Vec<f64> = (0..self.seeds()).filter_map(regret).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The median over the seeds after `evaluations`.
    pub fn median(
        &self,
        tool: &str,
        problem: &str,
        evaluations: usize,
        metric: &str,
    ) -> Option<f64> {
        let values = self.sorted(tool, problem, evaluations, metric);
        (!values.is_empty()).then(|| quantile(&values, 0.5))
    }

    /// Those of a group's tools that are compared after `evaluations`.
    pub fn tools<'s>(&self, group: &Group<'s>, evaluations: usize) -> Vec<&'s Tool> {
        let is_on_board = |tool: &&Tool| {
            let (all, reached) =
                self.runs_of(&tool.name, &group.subjects).fold((0, 0), |(all, reached), run| {
                    let far = run.rounds.last().is_some_and(|last| last.evaluations >= evaluations);
                    (all + 1, reached + usize::from(far))
                });
            all > 0 && 2 * reached >= all
        };
        group.tools.iter().copied().filter(is_on_board).collect()
    }

    /// Those of a group's tools that are ranked: meant to run on all of its problems, on the board, and with at least half
    /// as many runs as the one with most. One tool with three runs would otherwise reduce all ranks to those three.
    pub fn ranked<'s>(&self, group: &Group<'s>, evaluations: usize) -> Vec<&'s Tool> {
        let ended = |tool: &Tool| self.ended(&tool.name, &group.subjects).0;
        let mut tools = self.tools(group, evaluations);
        tools.retain(|tool| group.subjects.iter().all(|subject| tool.runs_on(subject)));
        let most = tools.iter().map(|tool| ended(tool)).max().unwrap_or(0);
        tools.retain(|tool| 2 * ended(tool) >= most);
        tools
    }

    /// The metric after `evaluations` on every problem and seed that all of `tools` have, by problem: one row a seed,
    /// one number a tool.
    pub fn cells<'s>(
        &self,
        subjects: &[&'s Subject],
        tools: &[&Tool],
        evaluations: usize,
        metric: &str,
    ) -> Vec<(&'s Subject, Vec<Vec<f64>>)> {
        let rows = |&subject: &&'s Subject| {
            let row = |seed| {
                let of = |tool: &&Tool| {
                    self.regret(&tool.name, &subject.name, seed, evaluations, metric)
                };
                tools.iter().map(of).collect::<Option<Vec<f64>>>()
            };
            (subject, (0..self.seeds()).filter_map(row).collect::<Vec<_>>())
        };
        subjects.iter().map(rows).filter(|(_, rows)| !rows.is_empty()).collect()
    }
}
