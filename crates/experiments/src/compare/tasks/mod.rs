//! Several objectives, and constraints: two comparisons of their own, each with settings, records and a page.
//!
//! ```text
//! Set::settings ── run ──▶ DIR/records/objectives-10/*.jsonl, DIR/records/constraints-10/*.jsonl    (ours)
//! benches/peers/run --set ──▶ the same files                                                        (others)
//! report ──▶ DIR/objectives.md, DIR/constraints.md
//! ```

mod game;
mod ground;
mod page;

use std::sync::Arc;

pub use game::{Answer, Game};
pub use ground::{extent, sample};
pub use page::report;

use wimble::seed::Seed;

use super::settings::{Changes, Settings, Subject};
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::run::{Experiment, Planned, Work};

/// What the runs are recorded by: how far the search is from the known best; see [`Game`].
pub const LOSS: &str = "loss";

/// One of the two comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Several objectives.
    Objectives,
    /// One objective under constraints that are measured with it.
    Constraints,
}

impl Set {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Objectives, Self::Constraints];

    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Objectives => "objectives",
            Self::Constraints => "constraints",
        }
    }

    /// What is compared, on what and for how long.
    pub fn settings(self) -> Result<Settings> {
        match self {
            Self::Objectives => Settings::parse(
                "objectives.toml",
                include_str!("../../../settings/objectives.toml"),
            ),
            Self::Constraints => Settings::parse(
                "constraints.toml",
                include_str!("../../../settings/constraints.toml"),
            ),
        }
    }

    /// The folder of the records with batches of this size.
    fn figure(self, batch_size: usize) -> String {
        format!("{}-{batch_size}", self.name())
    }
}

/// The runs of our methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Tasks {
    set: Set,
    settings: Settings,
}

impl Tasks {
    /// Those of a comparison, with a user's changes. Whoever names no problem runs those whose data are there; the names of the others, with what
    /// is missing.
    pub fn new(set: Set, changes: &Changes, data: &Folder) -> Result<(Self, Vec<(String, Error)>)> {
        let mut settings = set.settings()?.with(changes)?;
        let mut left_out = Vec::new();
        if changes.problems.is_empty() {
            for subject in settings.problems.iter().filter(|subject| subject.needs_data) {
                match Game::new(&subject.name, Seed(0), data) {
                    Err(error @ Error::MissingData { .. }) => {
                        left_out.push((subject.name.clone(), error));
                    }
                    other => drop(other?),
                }
            }
            let is_there =
                |subject: &Subject| !left_out.iter().any(|(name, _)| *name == subject.name);
            settings.problems.retain(is_there);
        }
        Ok((Self { set, settings }, left_out))
    }
}

impl Experiment for Tasks {
    fn trials(&self) -> Result<Vec<Planned>> {
        let Settings { tools, problems, seeds, batch_size, initial, .. } = &self.settings;
        let mut trials = Vec::new();
        for seed in 0..*seeds {
            for subject in problems {
                for tool in tools.iter().filter(|tool| tool.runs_on(subject)) {
                    let work = Work::Task { spec: Box::new(tool.method()?), initial: *initial };
                    let figure = self.set.figure(*batch_size);
                    trials.push(self.settings.planned_as(figure, tool, subject, seed, work)?);
                }
            }
        }
        Ok(trials)
    }

    fn objective(&self, problem: &str, _: &Folder) -> Result<Arc<dyn Objective>> {
        super::objective::known(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_name_problems_of_their_kind() {
        for set in Set::ALL {
            let settings = set.settings().unwrap();
            let formulas = settings.problems.iter().filter(|subject| !subject.needs_data);
            for subject in formulas {
                let task = wimble_problems::task(&subject.name).unwrap();
                let several = task.objectives().len() > 1;
                assert_eq!(several, set == Set::Objectives, "{}", subject.name);
                assert_ne!(
                    task.constraints().is_empty(),
                    set == Set::Constraints,
                    "{}",
                    subject.name
                );
            }
            let nowhere = Folder::new("no-such-folder");
            let (tasks, left_out) = Tasks::new(set, &Changes::default(), &nowhere).unwrap();
            let needing = settings.problems.iter().filter(|subject| subject.needs_data).count();
            assert_eq!(left_out.len(), needing);
            assert!(!tasks.trials().unwrap().is_empty());
        }
    }
}
