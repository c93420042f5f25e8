//! A task under a seed, as every tool meets it: initial points, what a point is told, and the score so far.
//!
//! The score is a loss, 0 if nothing is left to find:
//! ```text
//! several objectives   1 - hypervolume / that of the known front (ideal and nadir scaled to 0 and 1, reference 1.1)
//! constraints          (best value that meets all of them - optimum) / |optimum|; MISSED while none does
//! ```

use std::collections::BTreeMap;

use serde::Serialize;
use wimble::goal::{Bound, Goal};
use wimble::outcome::{Measurement, Outcome};
use wimble::pareto;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, SearchSpace};
use wimble::standing::Standing;
use wimble_problems::{Answer as Known, KnownFront};

use super::ground::Ground;
use super::{LOSS, Set};
use crate::data::Folder;
use crate::error::Result;
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
    ground: Ground,
    known: Known,
    space: SearchSpace,
    seed: Seed,
    evaluations: usize,
    standing: Standing,
}

impl Game {
    /// The problem of this name; `data` is where other people's data are.
    pub fn new(name: &str, seed: Seed, data: &Folder) -> Result<Self> {
        let extent = match Ground::needs_data(name) {
            true => Set::Objectives.settings()?.extent(name),
            false => None,
        };
        let ground = Ground::new(name, data, extent)?;
        let (space, standing) = (ground.space()?, Standing::new(ground.goal()?));
        Ok(Self { known: ground.answer()?, ground, space, seed, evaluations: 0, standing })
    }

    /// Whether a problem of this name has several objectives or constraints.
    pub fn is_known(name: &str) -> bool {
        Ground::needs_data(name)
            || wimble_problems::problem(name).is_err() && wimble_problems::task(name).is_ok()
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
        let number = self.evaluations as u64;
        let measurement = self.ground.measure(configuration, self.seed, number)?;
        self.standing.push(number, &measurement)?;
        self.evaluations += 1;
        Ok(measurement)
    }

    /// How far the search is from the known best.
    pub fn loss(&self) -> Result<f64> {
        match &self.known {
            Known::Minimum { value: optimum, .. } => {
                let best = self.standing.values();
                if best.is_empty() {
                    return Ok(MISSED);
                }
                Ok((best.row(0)[0] - optimum) / optimum.abs())
            }
            Known::Front(known) => {
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

#[cfg(test)]
mod tests {
    use wimble::space::Value;

    use super::super::ground::coordinates;
    use super::*;

    fn game(name: &str, seed: u64) -> Game {
        Game::new(name, Seed(seed), &Folder::new("no-such-folder")).unwrap()
    }

    #[test]
    fn the_known_best_loses_nothing_and_no_point_is_missed() {
        for name in ["g06", "pressure-vessel", "welded-beam", "speed-reducer"] {
            let mut game = game(name, 0);
            assert_eq!(game.loss().unwrap(), MISSED);
            let task = wimble_problems::task(name).unwrap();
            let Known::Minimum { at, .. } = task.answer() else { panic!() };
            // Rounding may put the known point a hair outside; the formula itself is what is checked here.
            let x = &at[0];
            let variables = task.variables();
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
            let back = coordinates(&*task, &configuration).unwrap();
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
            let mut game = game(name, 3);
            let points: Vec<Configuration> = game.initial().take(200).collect();
            assert_eq!(points, self::game(name, 3).initial().take(200).collect::<Vec<_>>());
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
