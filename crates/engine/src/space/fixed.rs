//! A space with some of its values given: the method chooses the rest.
//!
//! A value is given by known constraints, so that every point of the space keeps its coordinates, and evidence with other values
//! stays evidence. That of a real number is met within a millionth of its range, and
//! [`Fixed::apply`] writes the number that was given.

use super::configuration::Configuration;
use super::kind::{Kind, Scale};
use super::value::Value;
use super::{Parameter, SearchSpace};
use crate::error::{Error, Result};

/// How near a real number comes to its given value, as a share of its range on its scale.
const NEAR: f64 = 1e-6;

/// A space with given values.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    space: SearchSpace,
    values: Configuration,
}

impl Fixed {
    /// The space, with a given value for each parameter of `values`. A parameter that is inactive somewhere has its value
    /// where it is active.
    pub fn new(space: &SearchSpace, values: Configuration) -> Result<Self> {
        let mut constraints = Vec::new();
        for (name, value) in &values {
            let Some(parameter) = space.parameters().find(|parameter| parameter.name == *name)
            else {
                let names: Vec<&str> = space.parameters().map(|parameter| parameter.name).collect();
                let allowed = format!("one of the parameters {}", names.join(", "));
                return Err(Error::invalid("a given parameter", format!("`{name}`"), allowed));
            };
            constraints.push(constraint(space, parameter, value)?);
        }
        Ok(Self { space: space.clone().known(constraints)?, values })
    }

    /// The space in which every suggestion has the given values, to within a millionth.
    pub fn space(&self) -> &SearchSpace {
        &self.space
    }

    /// The given values.
    pub fn values(&self) -> &Configuration {
        &self.values
    }

    /// A suggestion of that space with exactly the given values.
    pub fn apply(&self, mut suggestion: Configuration) -> Configuration {
        for (name, value) in &self.values {
            if let Some(Value::Real(_)) = suggestion.get(name) {
                suggestion.insert(name.clone(), value.as_real().map_or(value.clone(), Value::Real));
            }
        }
        suggestion
    }
}

/// What a suggestion must meet.
fn constraint(space: &SearchSpace, parameter: Parameter<'_>, value: &Value) -> Result<String> {
    let Parameter { name, kind, .. } = parameter;
    let is_share = space.dimensions().iter().all(|dimension| dimension.name != name);
    if is_share {
        let allowed = "no share: write a known constraint such as `a >= 0.2` instead";
        return Err(Error::invalid("a given parameter", format!("`{name}`"), allowed));
    }
    let refused = || Error::invalid(name, value.quoted(), kind.allowed());
    let quoted = format!("`{name}`");
    match kind {
        Kind::Real { low, high, scale } => {
            let real =
                value.as_real().filter(|real| (*low..=*high).contains(real)).ok_or_else(refused)?;
            let (below, above) = match scale {
                Scale::Linear => {
                    let margin = NEAR * (high - low);
                    (real - margin, real + margin)
                }
                Scale::Log => {
                    let ratio = (NEAR * (high / low).ln()).exp();
                    (real / ratio, real * ratio)
                }
            };
            Ok(format!("{below:e} <= {quoted} <= {above:e}"))
        }
        _ => {
            let level = kind.level(value).ok_or_else(refused)?;
            Ok(match kind.value(level) {
                Value::Boolean(true) if matches!(kind, Kind::Boolean) => quoted,
                Value::Boolean(false) if matches!(kind, Kind::Boolean) => format!("not {quoted}"),
                // A choice among others, and not the parameter itself.
                Value::Boolean(truth) => format!("{quoted} == {truth}"),
                Value::Integer(number) => format!("{quoted} == {number}"),
                Value::Real(number) => format!("{quoted} == {number:e}"),
                Value::Text(text) if !text.contains('"') => format!("{quoted} == \"{text}\""),
                other => format!("{quoted} == '{other}'"),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::space::Dimension;

    fn space() -> SearchSpace {
        SearchSpace::new([
            Dimension::log_real("rate", 1e-5, 1.0),
            Dimension::real("drop out", -1.0, 1.0),
            Dimension::integer("layers", 1, 8),
            Dimension::boolean("augment"),
            Dimension::categorical("optimiser", ["adam", "sgd", "it's"]),
            Dimension::real("momentum", 0.0, 0.99).when("optimiser", ["sgd"]),
            Dimension::ordinal("size", [0.5, 1.0, 2.5]),
            Dimension::shares("mix", ["a", "b"]),
        ])
        .unwrap()
    }

    fn given<V: Into<Value> + Clone>(values: &[(&str, V)]) -> Configuration {
        values.iter().map(|(name, value)| (*name, value.clone().into())).collect()
    }

    #[test]
    fn every_sample_has_the_given_values_and_the_rest_varies() {
        let space = space();
        let mut all =
            given(&[("rate", 3.3e-4), ("drop out", 0.125), ("momentum", 0.9), ("size", 2.5)]);
        all.insert("layers", 3);
        all.insert("augment", false);
        all.insert("optimiser", "sgd");
        for count in 1..=all.iter().count() {
            let values: Configuration =
                all.iter().take(count).map(|(name, value)| (name.clone(), value.clone())).collect();
            let fixed = Fixed::new(&space, values.clone()).unwrap();
            let mut rng = Seed(1).stream("test", count as u64);
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..20 {
                let suggestion = fixed.apply(fixed.space().decode(&fixed.space().sample(&mut rng)));
                for (name, value) in &values {
                    if name != "momentum" || suggestion.get("momentum").is_some() {
                        assert_eq!(suggestion.get(name), Some(value), "{values}");
                    }
                }
                // It is a point of the space as it was.
                space.encode(&suggestion).unwrap();
                seen.insert(suggestion.to_string());
            }
            assert_eq!(seen.len(), 20, "{values}");
        }
    }

    #[test]
    fn a_point_elsewhere_moves_to_the_given_values() {
        let space = space();
        let mut values = given(&[("optimiser", "it's")]);
        values.insert("rate", 1.0);
        let fixed = Fixed::new(&space, values).unwrap();
        let mut x = space.sample(&mut Seed(2).stream("test", 0));
        fixed.space().settle(&mut x);
        let moved = fixed.apply(space.decode(&x));
        assert_eq!((moved.text("optimiser"), moved.real("rate")), (Ok("it's"), Ok(1.0)));
    }

    #[test]
    fn what_cannot_be_given_is_refused_by_name() {
        for (values, words) in [
            (given(&[("rate", 2.0)]), "rate is 2.0, but must be a real number from 1e-5 to 1.0"),
            (given(&[("layers", 2.5)]), "layers is 2.5, but must be an integer from 1 to 8"),
            (given(&[("optimiser", "lion")]), "optimiser is \"lion\", but must be one of"),
            (
                given(&[("lairs", 1)]),
                "a given parameter is `lairs`, but must be one of the parameters rate",
            ),
            (given(&[("a", 0.5)]), "a given parameter is `a`, but must be no share"),
        ] {
            let error = Fixed::new(&space(), values).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
