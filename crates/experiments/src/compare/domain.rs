//! A problem as other tools read and write it: points are lists of values in the order of the domain's sides.

use serde::Serialize;
use wimble::space::{Configuration, Dimension, Kind, SearchSpace, Value};

use crate::error::{Error, Result};

/// How far outside the domain a coordinate may be by a tool's rounding, as a part of the width.
const ROUNDING: f64 = 1e-9;

/// The domain of a problem.
#[derive(Debug, Clone)]
pub struct Domain {
    problem: String,
    space: SearchSpace,
}

/// What another tool reads for each point that it sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Answer {
    /// What it is told.
    pub value: f64,
    /// The true value above the least one known, which its optimiser must not see.
    pub regret: f64,
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

impl Domain {
    /// The domain of the problem of this name, whose search space is `space`.
    pub fn new(problem: &str, space: &SearchSpace) -> Self {
        Self { problem: problem.to_owned(), space: space.clone() }
    }

    /// The sides of the search space.
    pub fn sides(&self) -> Result<Vec<Side>> {
        let side = |dimension: &Dimension| match &dimension.kind {
            Kind::Real { low, high, .. } => Ok(Side::Real([*low, *high])),
            Kind::Categorical { choices } => Ok(Side::Choices { choices: choices.clone() }),
            Kind::Ordinal { levels } => Ok(Side::Levels { levels: levels.clone() }),
            Kind::Integer { low, high, step, .. } => {
                let levels = (0..=(high - low) / step).map(|k| Value::Integer(low + k * step));
                Ok(Side::Levels { levels: levels.collect() })
            }
            kind => Err(self.refusal(format!("{} is {kind:?}, which has no JSON", dimension.name))),
        };
        self.space.dimensions().iter().map(side).collect()
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
            Kind::Integer { low, high, .. } => {
                let whole = value.as_real().filter(|x| x.fract() == 0.0);
                let whole = whole.filter(|x| (*low as f64..=*high as f64).contains(x));
                whole.map(|x| Value::Integer(x as i64)).ok_or_else(|| {
                    let name = &side.name;
                    self.refusal(format!(
                        "{name} is {value}, but must be a whole number from {low} to {high}"
                    ))
                })
            }
            kind => Err(self.refusal(format!("{} is {kind:?}, which has no JSON", side.name))),
        }
    }

    fn refusal(&self, reason: String) -> Error {
        Error::Point { problem: self.problem.clone(), reason }
    }
}

#[cfg(test)]
mod tests {
    use wimble::seed::Seed;

    use super::super::objective::named;
    use super::*;
    use crate::data::Folder;
    use crate::data::tests::real_data;

    fn domain(name: &str, folder: &Folder) -> Domain {
        Domain::new(name, &named(name, folder).unwrap().space().unwrap())
    }

    fn reals(values: &[f64]) -> Vec<Value> {
        values.iter().map(|&value| Value::Real(value)).collect()
    }

    #[test]
    fn points_outside_are_refused_and_rounding_is_not() {
        let domain = domain("branin", &Folder::new("no-such-folder"));
        let refused =
            |values: &[f64]| domain.configuration(&reals(values)).unwrap_err().to_string();
        let error = refused(&[0.0]);
        assert!(error.contains("it has 1 coordinates, not 2"), "{error}");
        let error = refused(&[0.0, 15.1]);
        assert!(error.contains("x2 is 15.1, but must be from 0 to 15"), "{error}");
        refused(&[f64::NAN, 1.0]);
        assert!(domain.configuration(&[Value::from("a"), Value::from(1.0)]).is_err());
        let face = domain.configuration(&reals(&[0.0, 15.0])).unwrap();
        assert_eq!(domain.configuration(&reals(&[0.0, 15.0 + 1e-12])).unwrap(), face);
        assert_eq!(domain.configuration(&[Value::from(0), Value::from(15)]).unwrap(), face);
        assert_eq!(
            serde_json::to_string(&domain.sides().unwrap()).unwrap(),
            "[[-5.0,10.0],[0.0,15.0]]"
        );
        let point = domain.space.decode(&domain.space.sample(&mut Seed(0).stream("points", 0)));
        assert_eq!(domain.configuration(&domain.values(&point)).unwrap(), point);
    }

    #[test]
    fn mixed_points_are_levels_and_choices() {
        let Some(folder) = real_data() else { return };
        let domain = domain("fcnet-slice", &folder);
        let sides = serde_json::to_string(&domain.sides().unwrap()).unwrap();
        assert!(sides.starts_with(r#"[{"choices":["relu","tanh"]},"#), "{sides}");
        assert!(sides.contains(r#"{"levels":[8,16,32,64]},{"levels":[0.0,0.3,0.6]}"#), "{sides}");
        let read = |text: &str| {
            let values: Vec<Value> = serde_json::from_str(text).unwrap();
            domain.configuration(&values)
        };
        let point = read(r#"["relu","tanh",8,0,0.3,0.001,"const",16,512]"#).unwrap();
        assert_eq!(point, read(r#"["relu","tanh",8.0,0.0,0.3,1e-3,"const",16,512]"#).unwrap());
        let error = read(r#"["relu","tanh",9,0,0.3,0.001,"const",16,512]"#).unwrap_err();
        assert!(error.to_string().contains("batch_size is 9, but must be one of 8, 16, 32, 64"));
    }
}
