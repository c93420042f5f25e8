//! What is minimised: a function with a known minimum, or a problem of Figure 3, made of other people's data.
//!
//! Regret is that of the true value, whatever noise a tool is told:
//!
//! ```text
//! function     f(x) - min f
//! racing line  lap time - best lap time known
//! FCNet        mean of the four trainings - least mean of the table; what is told is one of the four, at random
//! ```
//!
//! Data are read when a function is made, and shared by its clones.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wimble::seed::Seed;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble_problems::Problem;

use super::settings::{Settings, Subject};
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::settings::Figure;

/// What is minimised.
#[derive(Clone)]
pub struct Function {
    name: String,
    form: Form,
}

#[derive(Clone)]
enum Form {
    Known(Arc<dyn Problem>),
    Data(Arc<dyn Objective>),
}

/// What comes of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What the tool is told.
    pub value: f64,
    /// The true value above the least one known, which the tool is not told.
    pub regret: f64,
}

impl Function {
    /// The function of this name: one of the comparison's, or any of `wimble-problems`.
    pub fn named(name: &str, data: &Folder) -> Result<Self> {
        let settings = Settings::published()?;
        match settings.problems.iter().find(|subject| subject.name == name) {
            Some(subject) => Self::of(subject, data),
            None => Self::known(name),
        }
    }

    /// The function of a problem of the comparison; reads its data.
    pub fn of(subject: &Subject, data: &Folder) -> Result<Self> {
        let Some(wanted) = &subject.fig3 else { return Self::known(&subject.name) };
        let figure = Figure::RealData.settings()?;
        let legal: Vec<&str> =
            figure.problems.iter().map(|problem| problem.name.as_str()).collect();
        let Some(problem) = figure.problems.iter().find(|problem| problem.name == *wanted) else {
            return Err(Error::unknown("problem of Figure 3", wanted, &legal));
        };
        let objective = problem.objective(0.0, data)?;
        Ok(Self { name: subject.name.clone(), form: Form::Data(Arc::from(objective)) })
    }

    /// The function of this name of `wimble-problems`.
    pub fn known(name: &str) -> Result<Self> {
        let problem = wimble_problems::problem(name)?;
        Ok(Self { name: problem.name(), form: Form::Known(Arc::from(problem)) })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What may be chosen: x1, x2, … in the problem's own units, or what the data have.
    pub fn space(&self) -> Result<SearchSpace> {
        match &self.form {
            Form::Known(problem) => {
                let sides = problem.domain().iter().enumerate();
                let sides = sides.map(|(k, &(low, high))| Dimension::real(axis(k), low, high));
                Ok(SearchSpace::new(sides)?)
            }
            Form::Data(objective) => objective.space(),
        }
    }

    /// What the evaluation of this number, from 0, shows under a seed.
    pub fn observe(
        &self,
        configuration: &Configuration,
        seed: u64,
        number: usize,
    ) -> Result<Observation> {
        match &self.form {
            Form::Known(problem) => {
                let x = coordinates(problem.as_ref(), configuration)?;
                let value = problem.observe(&x, seed, number as u64);
                // Rounding may put a value an ulp below the known minimum.
                let regret = (problem.evaluate(&x) - problem.minimum()).max(0.0);
                Ok(Observation { value, regret })
            }
            Form::Data(objective) => {
                let mut rng = Seed(seed).stream("observation noise", number as u64);
                let seen = objective.observe(configuration, &mut rng)?;
                let truth = seen.others.iter().find(|(name, _)| *name == "true_regret");
                Ok(Observation {
                    value: seen.told,
                    regret: truth.map_or(seen.regret, |(_, regret)| *regret),
                })
            }
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.name).finish()
    }
}

fn axis(k: usize) -> String {
    format!("x{}", k + 1)
}

fn coordinates(problem: &dyn Problem, configuration: &Configuration) -> Result<Vec<f64>> {
    let value = |k| {
        configuration.get(&axis(k)).and_then(Value::as_real).ok_or_else(|| Error::Point {
            problem: problem.name(),
            reason: format!("{} is no number", axis(k)),
        })
    };
    (0..problem.dim()).map(value).collect()
}

#[cfg(test)]
mod tests {
    use wimble::space::Kind;

    use super::*;
    use crate::data::tests::real_data;

    #[test]
    fn the_noise_is_told_and_the_regret_is_true() {
        let function =
            Function::named("levy-3+shifted+noise-10", &Folder::new("no-such-folder")).unwrap();
        let problem = wimble_problems::problem("levy-3+shifted+noise-10").unwrap();
        let x = [0.5, -1.0, 2.0];
        let configuration: Configuration =
            x.iter().enumerate().map(|(k, &x)| (axis(k), Value::Real(x))).collect();
        let seen = function.observe(&configuration, 3, 7).unwrap();
        assert_eq!(seen.regret, problem.evaluate(&x) - problem.minimum());
        assert_eq!(seen.value, problem.observe(&x, 3, 7));
        assert_ne!(seen.value, problem.observe(&x, 3, 8));
        let missing = function.observe(&Configuration::new(), 3, 7).unwrap_err().to_string();
        assert!(missing.contains("x1 is no number"), "{missing}");
    }

    #[test]
    fn a_problem_without_its_data_says_what_is_missing() {
        let folder = Folder::new("no-such-folder");
        let error = Function::named("fcnet-slice", &folder).unwrap_err().to_string();
        assert!(error.contains("slice_localization.csv.gz is not there"), "{error}");
    }

    #[test]
    fn the_real_problems_have_their_spaces_and_no_regret_is_negative() {
        let Some(folder) = real_data() else { return };
        for (name, dim, noisy) in [
            ("racing-uc-berkeley", 12, false),
            ("racing-eth-mobil", 20, false),
            ("fcnet-parkinsons", 9, true),
            ("fcnet-slice", 9, true),
        ] {
            let function = Function::named(name, &folder).unwrap();
            let space = function.space().unwrap();
            assert_eq!((function.name(), space.dimensions().len()), (name, dim));
            let real = space.dimensions().iter().all(|side| matches!(side.kind, Kind::Real { .. }));
            assert_ne!(real, noisy);
            let mut rng = Seed(0).stream("points", 0);
            let configuration = space.decode(&space.sample(&mut rng));
            let seen: Vec<Observation> = (0..20)
                .map(|number| function.observe(&configuration, 0, number).unwrap())
                .collect();
            assert!(seen.iter().all(|one| one.regret == seen[0].regret && one.regret > 0.0));
            assert_eq!(seen.iter().any(|one| one.value != seen[0].value), noisy);
            assert_eq!(function.observe(&configuration, 0, 0).unwrap(), seen[0]);
        }
    }
}
