//! A task under a seed, as every tool meets it: initial points, what a point is told, and the score so far.
//!
//! The score is a loss, 0 if nothing is left to find:
//! ```text
//! several objectives   1 - hypervolume / that of the known front (ideal and nadir scaled to 0 and 1, reference 1.1)
//! constraints          (best value that meets all of them - optimum) / |optimum|; MISSED while none does
//! ```

use std::collections::BTreeMap;

use serde::Serialize;
use wimble::goal::{Bound, Goal, Objective};
use wimble::outcome::{Measurement, Outcome};
use wimble::pareto;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble::standing::Standing;
use wimble_problems::{KnownFront, Task, Variable};

use super::LOSS;
use crate::error::{Error, Result};
use crate::search::Field;

/// The loss of a run in which no trial meets all constraints.
pub const MISSED: f64 = 1e30;

/// What another tool reads for each point that it sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What is minimised.
    pub objectives: Vec<f64>,
    /// By how much each limit is exceeded; met if at most 0.
    pub constraints: Vec<f64>,
    /// The score so far, which its optimiser must not see.
    pub loss: f64,
}

/// A task under a seed.
pub struct Game {
    task: Box<dyn Task>,
    space: SearchSpace,
    seed: Seed,
    evaluations: usize,
    standing: Standing,
}

impl Game {
    /// The task of this name.
    pub fn new(name: &str, seed: Seed) -> Result<Self> {
        let task = wimble_problems::task(name)?;
        let space = SearchSpace::new(task.variables().iter().map(dimension))?;
        let mut goal = Goal::new(task.objectives().into_iter().map(Objective::minimise))?;
        for constraint in task.constraints() {
            let bound = constraint.bound.map(Bound::AtMost, Bound::AtLeast);
            goal = goal.limit(constraint.name, bound)?;
        }
        Ok(Self { task, space, seed, evaluations: 0, standing: Standing::new(goal) })
    }

    /// Whether a problem of this name has several objectives or constraints.
    pub fn is_known(name: &str) -> bool {
        wimble_problems::problem(name).is_err() && wimble_problems::task(name).is_ok()
    }

    /// The search space.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// What is sought.
    pub fn goal(&self) -> &Goal {
        self.standing.goal()
    }

    /// The initial points, without end: the same for every method.
    pub fn initial(&self) -> impl Iterator<Item = Configuration> + use<> {
        let space = self.space.clone();
        let mut rng = self.seed.stream("initial points", 0);
        std::iter::repeat_with(move || space.decode(&space.sample(&mut rng)))
    }

    /// Evaluates the next point for another tool.
    pub fn answer(&mut self, configuration: &Configuration) -> Result<Answer> {
        let measurement = self.measure(configuration)?;
        let told = self.goal().constraints().iter().zip(&measurement.constraints);
        let constraints = told.map(|(constraint, measured)| match constraint.bound {
            Bound::AtMost(bound) => measured.value - bound,
            Bound::AtLeast(bound) => bound - measured.value,
        });
        Ok(Answer {
            objectives: measurement.objectives.iter().map(|measured| measured.value).collect(),
            constraints: constraints.collect(),
            loss: self.loss()?,
        })
    }

    fn measure(&mut self, configuration: &Configuration) -> Result<Measurement> {
        let x = self.coordinates(configuration)?;
        let number = self.evaluations as u64;
        let measured = self.task.observe(&x, self.seed.0, number);
        let told = |values: Vec<f64>| values.into_iter().map(Into::into).collect();
        let measurement = Measurement {
            objectives: told(measured.objectives),
            constraints: told(measured.constraints),
            fidelity: None,
        };
        self.standing.push(number, &measurement)?;
        self.evaluations += 1;
        Ok(measurement)
    }

    fn coordinates(&self, configuration: &Configuration) -> Result<Vec<f64>> {
        let coordinate = |variable: &Variable| {
            let value = configuration.get(&variable.name).and_then(Value::as_real);
            let reason = || format!("{} is no number", variable.name);
            let value = value
                .ok_or_else(|| Error::Point { problem: self.task.name(), reason: reason() })?;
            Ok(variable.value(value))
        };
        self.task.variables().iter().map(coordinate).collect()
    }

    /// How far the search is from the known best.
    pub fn loss(&self) -> Result<f64> {
        match self.task.answer() {
            wimble_problems::Answer::Minimum { value: optimum, .. } => {
                let best = self.standing.values();
                if best.is_empty() {
                    return Ok(MISSED);
                }
                Ok((best.row(0)[0] - optimum) / optimum.abs())
            }
            wimble_problems::Answer::Front(known) => {
                let values = self.standing.values();
                let rows =
                    Points::from_rows(values.dim(), values.rows().map(|row| known.scaled(row)));
                let reference = vec![KnownFront::REFERENCE; values.dim()];
                let rng = &mut Seed(0).stream("hypervolume of a known front", 0);
                Ok(1.0 - pareto::hypervolume(&rows, &reference, rng)?.value / known.hypervolume)
            }
        }
    }
}

impl Field for Game {
    fn observe(&mut self, configuration: &Configuration) -> Result<Outcome> {
        Ok(self.measure(configuration)?.into())
    }

    fn evaluations(&self) -> usize {
        self.evaluations
    }

    fn metrics(&mut self, _: &mut Session) -> Result<BTreeMap<String, f64>> {
        Ok(BTreeMap::from([(LOSS.to_owned(), self.loss()?)]))
    }
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

    #[test]
    fn the_known_best_loses_nothing_and_no_point_is_missed() {
        for name in ["g06", "pressure-vessel", "welded-beam", "speed-reducer"] {
            let mut game = Game::new(name, Seed(0)).unwrap();
            assert_eq!(game.loss().unwrap(), MISSED);
            let wimble_problems::Answer::Minimum { at, .. } = game.task.answer() else { panic!() };
            // Rounding may put the known point a hair outside; the formula itself is what is checked here.
            let x = &at[0];
            let variables = game.task.variables();
            let configuration: Configuration = variables
                .iter()
                .zip(x)
                .map(|(variable, &x)| match variable.step {
                    None => (variable.name.to_string(), Value::Real(x)),
                    Some(step) => {
                        (variable.name.to_string(), Value::Integer((x / step).round() as i64))
                    }
                })
                .collect();
            let back = game.coordinates(&configuration).unwrap();
            assert!(
                back.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-9),
                "{name}: {back:?} {x:?}"
            );
            game.answer(&configuration).unwrap();
        }
    }

    #[test]
    fn losses_fall_and_the_same_seed_gives_the_same_points() {
        for name in ["re21", "re37", "gardner"] {
            let mut game = Game::new(name, Seed(3)).unwrap();
            let points: Vec<Configuration> = game.initial().take(200).collect();
            assert_eq!(
                points,
                Game::new(name, Seed(3)).unwrap().initial().take(200).collect::<Vec<_>>()
            );
            let losses: Vec<f64> =
                points.iter().map(|point| game.answer(point).unwrap().loss).collect();
            assert!(losses.windows(2).all(|pair| pair[1] <= pair[0]), "{name}");
            assert!(losses[199] < losses[0] && losses[199] > 0.0, "{name}: {}", losses[199]);
        }
        assert!(
            Game::is_known("zdt1-6") && !Game::is_known("branin") && !Game::is_known("nothing")
        );
    }
}
