//! The functions of COCO's benchmark BBOB: how many of its targets a search reaches, by evaluations for each dimension.
//!
//! ```text
//! Coco (an Experiment) ── run ──▶ DIR/records/coco-<batch size>/*.jsonl    (ours)
//! benches/peers/run --set coco ──▶ the same files                          (others)
//! against BEFORE AFTER ──▶ is a change better? paired differences, by group and budget
//! report ──▶ DIR/coco.md, DIR/coco-<batch size>.svg
//! ```
//!
//! A run has 51 targets: gaps to the least value of 10², 10^1.8, …, 10^-8. A budget is a number of evaluations for each dimension. The share of
//! targets reached within a budget, over all runs, is the empirical distribution of runtimes that COCO draws; runtimes are those
//! of the runs themselves, without COCO's simulated restarts. A batch counts once all of it is told.
//!
//! Constants of `auto` were chosen on [`TUNING`] functions and instances 1 to 3: reports are made on instances 11 to 15.

mod page;
mod runs;
mod verdict;

use std::sync::Arc;

use wimble::strategy::Part;
use wimble_problems::bbob::{FUNCTIONS, Name};

pub use page::report;
pub use verdict::against;

use super::settings::{Changes, Settings, Subject, Tool};
use crate::choice::positive;
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::run::{Experiment, Planned, Work};

/// The functions that the constants of `auto` were chosen on.
pub const TUNING: [usize; 11] = [1, 2, 5, 6, 8, 9, 10, 11, 12, 13, 14];
/// Evaluations for each dimension at which tables are made.
const BUDGETS: [usize; 7] = [3, 5, 10, 20, 50, 100, 200];

/// What a user chooses.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// These of our methods only; `auto` if empty.
    pub methods: Vec<String>,
    /// `auto` once more for each of these parts, without it.
    pub without: Vec<Part>,
    /// Numbers of functions; all if empty.
    pub functions: Vec<usize>,
    /// Numbers of variables.
    pub dims: Vec<usize>,
    /// Instances.
    pub instances: Vec<u64>,
    /// Runs of each method on each function and instance.
    pub seeds: usize,
    /// Points of each ask.
    pub batch_size: usize,
    /// Evaluations for each dimension.
    pub budget: usize,
    /// Noise in percent of the function's range; 0 for none.
    pub noise: usize,
}

/// The runs of our methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Coco {
    settings: Settings,
    choice: Choice,
}

/// The tools, and nothing to run them on yet.
fn tools() -> Result<Settings> {
    Settings::parse("coco.toml", include_str!("../../../settings/coco.toml"))
}

/// The folder of the records with batches of this size.
fn figure(batch_size: usize) -> String {
    format!("coco-{batch_size}")
}

impl Choice {
    /// What is compared, our tools and others, on the functions that were chosen.
    pub fn settings(&self) -> Result<Settings> {
        let mut settings = tools()?;
        positive("budget", self.budget)?;
        settings.seeds = positive("seeds", self.seeds)?;
        settings.batch_size = positive("batch size", self.batch_size)?;
        let functions = match self.functions.as_slice() {
            [] => FUNCTIONS.collect(),
            some => some.to_vec(),
        };
        if self.noise > 100 {
            let value = self.noise.to_string();
            return Err(Error::Invalid { field: "noise", value, allowed: "0 to 100 percent" });
        }
        // Few dimensions first: a run that is stopped has whole comparisons.
        for &dim in &self.dims {
            for &instance in &self.instances {
                for &function in &functions {
                    let mut name = Name { function, dim, instance }.to_string();
                    if Name::read(&name).is_none() {
                        wimble_problems::problem(&name)?;
                    }
                    if self.noise > 0 {
                        name += &format!("+noise-{}", self.noise);
                    }
                    settings.problems.push(Subject {
                        name,
                        evaluations: Some(self.budget * dim),
                        tuning: TUNING.contains(&function),
                        ..Subject::default()
                    });
                }
            }
        }
        Ok(settings)
    }
}

impl Coco {
    /// The runs that a user chose.
    pub fn new(choice: &Choice) -> Result<Self> {
        let mut choice = choice.clone();
        if choice.methods.is_empty() {
            choice.methods.push("auto".to_owned());
        }
        let changes = Changes { methods: choice.methods.clone(), ..Changes::default() };
        Ok(Self { settings: choice.settings()?.with(&changes)?, choice })
    }

    /// The evaluations after which a noisy run is asked for its recommendation: those of the last batch within each budget.
    fn checkpoints(&self, evaluations: usize) -> Vec<usize> {
        let Choice { batch_size, budget, noise, .. } = self.choice;
        let dim = evaluations / budget;
        let last = |within: &usize| within * dim / batch_size * batch_size;
        BUDGETS.iter().filter(|_| noise > 0).map(last).collect()
    }
}

impl Experiment for Coco {
    fn trials(&self) -> Result<Vec<Planned>> {
        let Settings { tools, problems, seeds, batch_size, .. } = &self.settings;
        let mut trials = Vec::new();
        for seed in 0..*seeds {
            for subject in problems {
                let checkpoints = self.checkpoints(subject.evaluations.unwrap_or_default());
                let mut plan = |tool: &Tool, without: Vec<Part>| -> Result<()> {
                    let work = Work::Search {
                        spec: Box::new(tool.method()?),
                        without,
                        initial: 0,
                        first_noise: 0,
                        checkpoints: checkpoints.clone(),
                    };
                    let figure = figure(*batch_size);
                    trials.push(self.settings.planned_as(figure, tool, subject, seed, work)?);
                    Ok(())
                };
                for tool in tools {
                    plan(tool, Vec::new())?;
                    for &part in self.choice.without.iter().filter(|_| tool.name == "auto") {
                        let mut ablated = tool.clone();
                        ablated.name = format!("auto-without-{}", part.name());
                        plan(&ablated, vec![part])?;
                    }
                }
            }
        }
        Ok(trials)
    }

    fn objective(&self, problem: &str, _: &Folder) -> Result<Arc<dyn Objective>> {
        super::objective::known(problem)
    }
}

/// Functions that are shown together.
struct Group {
    name: &'static str,
    functions: &'static [usize],
}

impl Group {
    const ALL: [Self; 7] = [
        Self {
            name: "all",
            functions: &[
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                24,
            ],
        },
        Self {
            name: "never tuned on",
            functions: &[3, 4, 7, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
        },
        Self { name: "separable (1-5)", functions: &[1, 2, 3, 4, 5] },
        Self { name: "moderate (6-9)", functions: &[6, 7, 8, 9] },
        Self { name: "ill-conditioned (10-14)", functions: &[10, 11, 12, 13, 14] },
        Self { name: "multimodal (15-19)", functions: &[15, 16, 17, 18, 19] },
        Self { name: "weak structure (20-24)", functions: &[20, 21, 22, 23, 24] },
    ];

    fn holds(&self, name: &Name) -> bool {
        self.functions.contains(&name.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice() -> Choice {
        Choice {
            functions: vec![1, 24],
            dims: vec![2, 3],
            instances: vec![11],
            seeds: 1,
            batch_size: 10,
            budget: 5,
            ..Choice::default()
        }
    }

    #[test]
    fn a_choice_is_functions_by_dimensions_and_instances_with_a_run_for_each_ablation() {
        let coco = Coco::new(&Choice { without: vec![Part::Jump], ..choice() }).unwrap();
        let trials = coco.trials().unwrap();
        let keys: Vec<(&str, &str, usize)> = trials
            .iter()
            .map(|t| (t.start.key.problem.as_str(), t.start.key.method.as_str(), t.start.rounds))
            .collect();
        assert_eq!(keys[0], ("bbob-f1-i11-2", "auto", 1));
        assert_eq!(keys[1], ("bbob-f1-i11-2", "auto-without-jump", 1));
        assert_eq!((keys[7], keys.len()), (("bbob-f24-i11-3", "auto-without-jump", 2), 8));
        for name in keys.iter().map(|key| key.0) {
            wimble_problems::problem(name).unwrap();
        }
    }

    #[test]
    fn what_does_not_exist_is_refused_by_name() {
        let refused = |choice| Coco::new(&choice).unwrap_err().to_string();
        let function = refused(Choice { functions: vec![25], ..choice() });
        assert!(function.contains("f1 to f24"), "{function}");
        let method = refused(Choice { methods: vec!["pycma".into()], ..choice() });
        assert!(method.contains("no method of the comparison is called `pycma`"), "{method}");
        assert!(refused(Choice { budget: 0, ..choice() }).contains("budget is 0"));
        assert!(refused(Choice { noise: 101, ..choice() }).contains("noise is 101"));
    }

    #[test]
    fn the_groups_hold_each_function_once_and_those_never_tuned_on_are_the_rest() {
        for function in FUNCTIONS {
            let name = Name { function, dim: 2, instance: 1 };
            let count = |groups: &[Group]| groups.iter().filter(|g| g.holds(&name)).count();
            assert_eq!((count(&Group::ALL[..1]), count(&Group::ALL[2..])), (1, 1));
            assert_ne!(Group::ALL[1].holds(&name), TUNING.contains(&function));
        }
    }
}
