//! What is searched: sets of trainings, with their tasks and budgets.

use super::arm::{ARMS, Arm, Control};
use super::bench::{Bench, lcbench, mnist, taskset};
use crate::choice;
use crate::data::{Folder, taskset as tables};
use crate::error::Result;

/// A set of trainings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Tabulated curves of text classifiers.
    TaskSet,
    /// The LCBench surrogate at epochs 1 to 52, by its validation error.
    Lcbench,
    /// The same, by validation error and seconds of training.
    LcbenchPair,
    /// Networks that are trained on MNIST as the search goes on.
    Mnist,
}

impl Set {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::TaskSet, Self::Lcbench, Self::LcbenchPair, Self::Mnist];

    /// The one of this name.
    pub fn named(name: &str) -> Result<Self> {
        choice::named("set", &Self::ALL, name, |set| set.name()).copied()
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TaskSet => "taskset",
            Self::Lcbench => "lcbench",
            Self::LcbenchPair => "lcbench-2",
            Self::Mnist => "mnist",
        }
    }

    /// Where the records of searches with so many workers are.
    pub(super) fn figure(&self, workers: usize) -> String {
        match self {
            Self::TaskSet => format!("fidelity-{workers}"),
            other => format!("fidelity-{}-{workers}", other.name()),
        }
    }

    /// Its tasks.
    pub(super) fn tasks(&self) -> Vec<&'static str> {
        match self {
            Self::TaskSet => tables::TASKS.iter().map(|task| task.0).collect(),
            Self::Lcbench | Self::LcbenchPair => lcbench::TASKS.iter().map(|task| task.0).collect(),
            Self::Mnist => vec!["mnist"],
        }
    }

    /// How many of the tasks, from the first, were looked at when methods were designed.
    pub(super) fn tuning(&self) -> usize {
        match self {
            Self::TaskSet => tables::TUNING,
            _ => 0,
        }
    }

    /// What a training counts.
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Self::TaskSet => "checkpoints",
            _ => "epochs",
        }
    }

    /// How many of them have a score.
    pub(super) fn budgets(&self) -> &'static [usize] {
        match self {
            Self::Mnist => &[54, 135, 270, 540],
            _ => &[200, 500, 1000, 2000, 3000],
        }
    }

    /// The arms that can run on it. Plans, promotions and some methods know one objective only.
    pub(super) fn arms(&self) -> Vec<Arm> {
        let all = ARMS.into_iter();
        all.filter(|arm| match self {
            Self::LcbenchPair => {
                matches!(arm.control, Control::Stopping(_))
                    && matches!(arm.method, "random" | "auto")
            }
            _ => true,
        })
        .collect()
    }

    /// A task, ready for searches.
    pub(super) fn bench(&self, task: usize, data: &Folder) -> Result<Box<dyn Bench>> {
        Ok(match self {
            Self::TaskSet => Box::new(taskset::Tabulated::new(tables::Table::read(data, task)?)?),
            Self::Lcbench => Box::new(lcbench::Networks::read(data, task, false)?),
            Self::LcbenchPair => Box::new(lcbench::Networks::read(data, task, true)?),
            Self::Mnist => Box::new(mnist::Digits::read(data)?),
        })
    }
}
