//! What a game is played on: a formula of `wimble-problems`, or networks that other people trained.
//!
//! ```text
//! fcnet-DATASET-3     error, number of parameters and time of training of the 62,208 networks of a table; its front is exact
//! lcbench-TASK-2      validation error and time of training by the surrogate of LCBench; the front is that of a fixed sample of 20,000
//! ```
//! All values are those of a configuration's mean, without noise. The sides of LCBench's space are powers of two and ten in equal steps, so
//! that every tool sees the same scale. A search may find more than the sample of LCBench: its share is then above 1.

use wimble::goal::{Bound, Goal, Objective};
use wimble::outcome::Measurement;
use wimble::pareto;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble_problems::{Answer, KnownFront, Task, Variable};

use super::super::settings::Extent;
use crate::data::Folder;
use crate::data::fcnet::{self, Dataset, Table};
use crate::data::lcbench::{Surrogate, Tuning};
use crate::error::{Error, Result};

/// Configurations of the sample of LCBench.
pub const SAMPLE: usize = 20_000;

/// What a game is played on.
pub(super) enum Ground {
    /// A formula.
    Formula(Box<dyn Task>),
    /// A table of networks.
    Table(Box<Table>),
    /// The surrogate of networks, with the extent of its sample.
    Surrogate(Box<Tuning>, Extent),
}

impl Ground {
    /// The one of this name. `known` is the extent of a front that is too dear to be computed every time.
    pub(super) fn new(name: &str, data: &Folder, known: Option<Extent>) -> Result<Self> {
        if let Some(dataset) = dataset(name) {
            return Ok(Self::Table(Box::new(Table::read(data, dataset, 0.0)?)));
        }
        if let Some(task) = lcbench_task(name) {
            let tuning = Surrogate::read(data)?.tuning(task, 0.0)?;
            let extent = match known {
                Some(extent) => extent,
                None => extent(&sample(&tuning)?)?,
            };
            return Ok(Self::Surrogate(Box::new(tuning), extent));
        }
        Ok(Self::Formula(wimble_problems::task(name)?))
    }

    /// Whether the problem of this name is made of data that not everybody has.
    pub(super) fn needs_data(name: &str) -> bool {
        dataset(name).is_some() || lcbench_task(name).is_some()
    }

    /// What may be chosen.
    pub(super) fn space(&self) -> Result<SearchSpace> {
        match self {
            Self::Formula(task) => Ok(SearchSpace::new(task.variables().iter().map(dimension))?),
            Self::Table(_) => fcnet::space(),
            Self::Surrogate(..) => Ok(SearchSpace::new(
                SIDES.map(|side| Dimension::real(side.name, side.low, side.high)),
            )?),
        }
    }

    /// What is sought.
    pub(super) fn goal(&self) -> Result<Goal> {
        let task = match self {
            Self::Formula(task) => task,
            Self::Table(_) => return of(&["error", "parameters", "seconds"]),
            Self::Surrogate(..) => return of(&["error", "seconds"]),
        };
        let mut goal = Goal::new(task.objectives().into_iter().map(Objective::minimise))?;
        for constraint in task.constraints() {
            let bound = constraint.bound.map(Bound::AtMost, Bound::AtLeast);
            goal = goal.limit(constraint.name, bound)?;
        }
        Ok(goal)
    }

    /// The values of a configuration.
    pub(super) fn measure(
        &self,
        configuration: &Configuration,
        seed: Seed,
        number: u64,
    ) -> Result<Measurement> {
        let told = |values: Vec<f64>| values.into_iter().map(Into::into).collect();
        let objectives = match self {
            Self::Formula(task) => {
                let measured = task.observe(&coordinates(&**task, configuration)?, seed.0, number);
                return Ok(Measurement {
                    objectives: told(measured.objectives),
                    constraints: told(measured.constraints),
                    fidelity: None,
                });
            }
            Self::Table(table) => table.costs(configuration)?.to_vec(),
            Self::Surrogate(tuning, _) => tuning.costs(&network(configuration)?)?.to_vec(),
        };
        Ok(Measurement { objectives: told(objectives), constraints: Vec::new(), fidelity: None })
    }

    /// What is known of the best.
    pub(super) fn answer(&self) -> Result<Answer> {
        let Extent { ideal, nadir, hypervolume } = match self {
            Self::Formula(task) => return Ok(task.answer()),
            Self::Table(table) => extent(&Points::from_rows(3, table.all_costs()))?,
            Self::Surrogate(_, extent) => extent.clone(),
        };
        Ok(Answer::Front(KnownFront { ideal, nadir, hypervolume }))
    }
}

fn of(objectives: &[&str]) -> Result<Goal> {
    Ok(Goal::new(objectives.iter().map(|name| Objective::minimise(*name)))?)
}

fn dataset(name: &str) -> Option<Dataset> {
    match name {
        "fcnet-parkinsons-3" => Some(Dataset::Parkinsons),
        "fcnet-slice-3" => Some(Dataset::Slice),
        _ => None,
    }
}

fn lcbench_task(name: &str) -> Option<u32> {
    name.strip_prefix("lcbench-")?.strip_suffix("-2")?.parse().ok()
}

/// A side of LCBench's space as it is searched.
struct Side {
    name: &'static str,
    low: f64,
    high: f64,
    /// The name of the surrogate's input, and its value for a coordinate.
    input: &'static str,
    value: fn(f64) -> Value,
}

fn whole_power_of_two(exponent: f64) -> Value {
    Value::Integer(exponent.exp2().round() as i64)
}

const SIDES: [Side; 7] = [
    Side {
        name: "log2_batch_size",
        low: 4.0,
        high: 9.0,
        input: "batch_size",
        value: whole_power_of_two,
    },
    Side {
        name: "log10_learning_rate",
        low: -4.0,
        high: -1.0,
        input: "learning_rate",
        value: |x| Value::Real(10_f64.powf(x)),
    },
    Side { name: "max_dropout", low: 0.0, high: 1.0, input: "max_dropout", value: Value::Real },
    Side {
        name: "log2_max_units",
        low: 6.0,
        high: 10.0,
        input: "max_units",
        value: whole_power_of_two,
    },
    Side { name: "momentum", low: 0.1, high: 0.99, input: "momentum", value: Value::Real },
    Side {
        name: "num_layers",
        low: 0.5,
        high: 5.5,
        input: "num_layers",
        value: |x| Value::Integer((x.round() as i64).clamp(1, 5)),
    },
    Side { name: "weight_decay", low: 1e-5, high: 0.1, input: "weight_decay", value: Value::Real },
];

/// The surrogate's inputs for a configuration.
fn network(configuration: &Configuration) -> Result<Configuration> {
    let input = |side: &Side| {
        let coordinate =
            configuration.get(side.name).and_then(Value::as_real).ok_or_else(|| Error::Point {
                problem: "lcbench".to_owned(),
                reason: format!("{} is no number", side.name),
            })?;
        Ok((side.input, (side.value)(coordinate)))
    };
    SIDES.iter().map(input).collect()
}

/// The costs of the sample of LCBench: always the same configurations.
pub fn sample(tuning: &Tuning) -> Result<Points> {
    let space =
        SearchSpace::new(SIDES.map(|side| Dimension::real(side.name, side.low, side.high)))?;
    let mut rng = Seed(0).stream("sample of LCBench", 0);
    let mut rows = Points::with_capacity(2, SAMPLE);
    for _ in 0..SAMPLE {
        rows.push(&tuning.costs(&network(&space.decode(&space.sample(&mut rng)))?)?);
    }
    Ok(rows)
}

/// The extent of the front of some rows, and its hypervolume.
pub fn extent(rows: &Points) -> Result<Extent> {
    let front = pareto::front(rows)?;
    let column = |j: usize| front.iter().map(move |&i| rows.row(i)[j]);
    let ideal: Vec<f64> =
        (0..rows.dim()).map(|j| column(j).fold(f64::INFINITY, f64::min)).collect();
    let nadir: Vec<f64> =
        (0..rows.dim()).map(|j| column(j).fold(f64::NEG_INFINITY, f64::max)).collect();
    let known = KnownFront { ideal, nadir, hypervolume: 1.0 };
    let scaled = Points::from_rows(rows.dim(), front.iter().map(|&i| known.scaled(rows.row(i))));
    let reference = vec![KnownFront::REFERENCE; rows.dim()];
    let rng = &mut Seed(0).stream("hypervolume of a known front", 0);
    let hypervolume = pareto::hypervolume(&scaled, &reference, rng)?.value;
    Ok(Extent { ideal: known.ideal, nadir: known.nadir, hypervolume })
}

/// The coordinates of a configuration, in the order of the task's variables.
pub(super) fn coordinates(task: &dyn Task, configuration: &Configuration) -> Result<Vec<f64>> {
    let coordinate = |variable: &Variable| {
        let value = configuration.get(&variable.name).and_then(Value::as_real);
        let reason = || format!("{} is no number", variable.name);
        let value = value.ok_or_else(|| Error::Point { problem: task.name(), reason: reason() })?;
        Ok(variable.value(value))
    };
    task.variables().iter().map(coordinate).collect()
}

/// A variable in steps is a whole number of them.
fn dimension(variable: &Variable) -> Dimension {
    match variable.steps() {
        None => Dimension::real(variable.name.as_ref(), variable.low, variable.high),
        Some((first, last)) => Dimension::integer(variable.name.as_ref(), first, last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::real_data;

    #[test]
    fn the_extent_of_rows_is_that_of_their_front() {
        let rows =
            Points::from_rows(2, [[1.0, 9.0], [2.0, 5.0], [3.0, 5.0], [5.0, 1.0], [9.0, 2.0]]);
        let found = extent(&rows).unwrap();
        assert_eq!((found.ideal, found.nadir), (vec![1.0, 1.0], vec![5.0, 9.0]));
        // Scaled: (0, 1), (1/4, 1/2), (1, 0), up to 1.1.
        let by_hand = 0.25 * 0.1 + 0.75 * 0.6 + 0.1 * 1.1;
        assert!((found.hypervolume - by_hand).abs() < 1e-12, "{}", found.hypervolume);
    }

    #[test]
    fn networks_have_the_costs_of_their_data() {
        let Some(folder) = real_data() else { return };
        for (name, sides, objectives) in [("fcnet-slice-3", 9, 3), ("lcbench-3945-2", 7, 2)] {
            assert!(Ground::needs_data(name));
            let known = Extent { ideal: vec![0.0; 2], nadir: vec![1.0; 2], hypervolume: 1.0 };
            let ground = Ground::new(name, &folder, Some(known)).unwrap();
            let space = ground.space().unwrap();
            assert_eq!(space.dimensions().len(), sides);
            let configuration = space.decode(&space.sample(&mut Seed(0).stream("points", 0)));
            let told = ground.measure(&configuration, Seed(0), 0).unwrap();
            assert_eq!(
                told,
                ground.measure(&configuration, Seed(1), 5).unwrap(),
                "there is no noise"
            );
            assert_eq!(told.objectives.len(), objectives);
            assert!(told.objectives.iter().all(|cost| cost.value > 0.0));
        }
        assert!(!Ground::needs_data("zdt1-6"));
    }
}
