//! The function as a tool meets it: a domain, initial points and noisy values, the same for every tool of a seed.
//!
//! Other tools exchange points as lists of values in the order of the domain's sides.

use serde::Serialize;
use wimble::seed::Seed;
use wimble::space::{Configuration, Dimension, Kind, SearchSpace, Value};

use super::function::{Function, Observation};
use crate::error::{Error, Result};

/// How far outside the domain a coordinate may be by a tool's rounding, as a part of the width.
const ROUNDING: f64 = 1e-9;

/// A function under a seed.
#[derive(Debug)]
pub struct Oracle {
    function: Function,
    space: SearchSpace,
    seed: u64,
    evaluations: usize,
    best: Best,
}

#[derive(Debug)]
struct Best {
    /// Least regret of all points.
    regret: f64,
    /// Least value observed, and the regret of its point.
    value: f64,
    value_regret: f64,
}

/// A side of the domain as other tools read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Side {
    /// The numbers from the first to the second.
    Real([f64; 2]),
    /// Values without order.
    Choices {
        /// At least two.
        choices: Vec<Value>,
    },
    /// Values in order, as far apart as their places.
    Levels {
        /// At least two.
        levels: Vec<Value>,
    },
}

impl Oracle {
    /// The function under this seed.
    pub fn new(function: Function, seed: u64) -> Result<Self> {
        let best =
            Best { regret: f64::INFINITY, value: f64::INFINITY, value_regret: f64::INFINITY };
        Ok(Self { space: function.space()?, function, seed, evaluations: 0, best })
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        self.function.name()
    }

    /// The search space.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// The sides of the search space.
    pub fn domain(&self) -> Result<Vec<Side>> {
        let side = |dimension: &Dimension| match &dimension.kind {
            Kind::Real { low, high, .. } => Ok(Side::Real([*low, *high])),
            Kind::Categorical { choices } => Ok(Side::Choices { choices: choices.clone() }),
            Kind::Ordinal { levels } => Ok(Side::Levels { levels: levels.clone() }),
            kind => Err(self.refusal(format!("{} is {kind:?}, which has no JSON", dimension.name))),
        };
        self.space.dimensions().iter().map(side).collect()
    }

    /// The initial points, without end.
    pub fn initial(&self) -> impl Iterator<Item = Configuration> + use<> {
        let space = self.space.clone();
        let mut rng = Seed(self.seed).stream("initial points", 0);
        std::iter::repeat_with(move || space.decode(&space.sample(&mut rng)))
    }

    /// The values of a configuration in the order of the domain.
    pub fn values(&self, configuration: &Configuration) -> Vec<Value> {
        let sides = self.space.dimensions().iter();
        sides.filter_map(|side| configuration.get(&side.name).cloned()).collect()
    }

    /// The configuration with these values: numbers on the domain's face where rounding left them outside, levels and
    /// choices as the domain has them.
    pub fn configuration(&self, values: &[Value]) -> Result<Configuration> {
        let sides = self.space.dimensions();
        if values.len() != sides.len() {
            return Err(self.refusal(format!(
                "it has {} coordinates, not {}",
                values.len(),
                sides.len()
            )));
        }
        let pairs = sides
            .iter()
            .zip(values)
            .map(|(side, value)| Ok((side.name.clone(), self.inside(side, value)?)));
        pairs.collect()
    }

    /// Evaluates the next point, a configuration of the space.
    pub fn observe(&mut self, configuration: &Configuration) -> Result<Observation> {
        let seen = self.function.observe(configuration, self.seed, self.evaluations)?;
        self.evaluations += 1;
        self.best.regret = self.best.regret.min(seen.regret);
        if seen.value < self.best.value {
            (self.best.value, self.best.value_regret) = (seen.value, seen.regret);
        }
        Ok(seen)
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The least regret of all points so far.
    pub fn simple_regret(&self) -> f64 {
        self.best.regret
    }

    /// The regret of the point with the least observed value.
    pub fn incumbent_regret(&self) -> f64 {
        self.best.value_regret
    }

    /// The true regret of a configuration, whatever was observed there.
    pub fn regret(&self, configuration: &Configuration) -> Result<f64> {
        Ok(self.function.observe(configuration, self.seed, 0)?.regret)
    }

    /// The value as the side has it.
    fn inside(&self, side: &Dimension, value: &Value) -> Result<Value> {
        match &side.kind {
            Kind::Real { low, high, .. } => {
                let slack = ROUNDING * (high - low);
                let is_inside = |x: &f64| (low - slack..=high + slack).contains(x);
                value
                    .as_real()
                    .filter(is_inside)
                    .map(|x| Value::Real(x.clamp(*low, *high)))
                    .ok_or_else(|| {
                        self.refusal(format!(
                            "{} is {value}, but must be from {low} to {high}",
                            side.name
                        ))
                    })
            }
            Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
                // Writers of JSON make no difference between 0 and 0.0.
                let is_same = |level: &&Value| match (level.as_real(), value.as_real()) {
                    (Some(level), Some(value)) => level == value,
                    _ => *level == value,
                };
                values.iter().find(is_same).cloned().ok_or_else(|| {
                    let legal: Vec<String> = values.iter().map(ToString::to_string).collect();
                    self.refusal(format!(
                        "{} is {value}, but must be one of {}",
                        side.name,
                        legal.join(", ")
                    ))
                })
            }
            kind => Err(self.refusal(format!("{} is {kind:?}, which has no JSON", side.name))),
        }
    }

    fn refusal(&self, reason: String) -> Error {
        Error::Point { problem: self.name().to_owned(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Folder;
    use crate::data::tests::real_data;

    fn oracle(name: &str, seed: u64) -> Oracle {
        let function = Function::named(name, &Folder::new("no-such-folder")).unwrap();
        Oracle::new(function, seed).unwrap()
    }

    fn reals(values: &[f64]) -> Vec<Value> {
        values.iter().map(|&value| Value::Real(value)).collect()
    }

    #[test]
    fn the_seed_decides_points_and_noise() {
        let run = |seed| {
            let mut oracle = oracle("levy-3+shifted+noise-10", seed);
            let points: Vec<Configuration> = oracle.initial().take(5).collect();
            let seen: Vec<Observation> =
                points.iter().map(|x| oracle.observe(x).unwrap()).collect();
            (points, seen, oracle)
        };
        let (points, seen, oracle) = run(3);
        assert_eq!((points.clone(), seen.clone()), (run(3).0, run(3).1));
        assert_ne!(points, run(4).0);
        let least = seen.iter().map(|seen| seen.regret).fold(f64::INFINITY, f64::min);
        assert_eq!(oracle.simple_regret(), least);
        let incumbent = seen.iter().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap();
        assert_eq!(oracle.incumbent_regret(), incumbent.regret);
        assert_eq!(oracle.evaluations(), 5);
        for point in &points {
            assert_eq!(oracle.configuration(&oracle.values(point)).unwrap(), *point);
        }
    }

    #[test]
    fn points_outside_are_refused_and_rounding_is_not() {
        let oracle = oracle("branin", 0);
        let refused =
            |values: &[f64]| oracle.configuration(&reals(values)).unwrap_err().to_string();
        let error = refused(&[0.0]);
        assert!(error.contains("it has 1 coordinates, not 2"), "{error}");
        let error = refused(&[0.0, 15.1]);
        assert!(error.contains("x2 is 15.1, but must be from 0 to 15"), "{error}");
        refused(&[f64::NAN, 1.0]);
        assert!(oracle.configuration(&[Value::from("a"), Value::from(1.0)]).is_err());
        let face = oracle.configuration(&reals(&[0.0, 15.0])).unwrap();
        assert_eq!(oracle.configuration(&reals(&[0.0, 15.0 + 1e-12])).unwrap(), face);
        assert_eq!(oracle.configuration(&[Value::from(0), Value::from(15)]).unwrap(), face);
        assert_eq!(
            serde_json::to_string(&oracle.domain().unwrap()).unwrap(),
            "[[-5.0,10.0],[0.0,15.0]]"
        );
    }

    #[test]
    fn mixed_points_are_levels_and_choices() {
        let Some(folder) = real_data() else { return };
        let oracle = Oracle::new(Function::named("fcnet-slice", &folder).unwrap(), 0).unwrap();
        let domain = serde_json::to_string(&oracle.domain().unwrap()).unwrap();
        assert!(domain.starts_with(r#"[{"choices":["relu","tanh"]},"#), "{domain}");
        assert!(domain.contains(r#"{"levels":[8,16,32,64]},{"levels":[0.0,0.3,0.6]}"#), "{domain}");
        let read = |text: &str| {
            let values: Vec<Value> = serde_json::from_str(text).unwrap();
            oracle.configuration(&values)
        };
        let point = read(r#"["relu","tanh",8,0,0.3,0.001,"const",16,512]"#).unwrap();
        assert_eq!(point, read(r#"["relu","tanh",8.0,0.0,0.3,1e-3,"const",16,512]"#).unwrap());
        let error = read(r#"["relu","tanh",9,0,0.3,0.001,"const",16,512]"#).unwrap_err();
        assert!(error.to_string().contains("batch_size is 9, but must be one of 8, 16, 32, 64"));
    }
}
