//! The parameters of a study as axes of figures. Shares are one dimension of the space, and an axis each here.

use wimble::space::{Configuration, Dimension, Kind, SearchSpace, Value};

/// The axes of a space: one for each parameter, in the order of declaration.
pub fn axes(space: &SearchSpace) -> Vec<Dimension> {
    let axis = |parameter: wimble::space::Parameter<'_>| {
        let mut axis = Dimension::new(parameter.name, parameter.kind.clone());
        axis.condition = parameter.condition.cloned();
        axis
    };
    space.parameters().map(axis).collect()
}

/// A configuration with other values of some parameters. Shares sum to one: where some of them change, the others keep their
/// proportions among each other.
pub fn moved(space: &SearchSpace, at: &Configuration, values: &[(&str, &Value)]) -> Configuration {
    let mut configuration = at.clone();
    for (name, value) in values {
        configuration.insert((*name).to_owned(), (*value).clone());
    }
    let is_given = |share: &String| values.iter().any(|(name, _)| name == share);
    for dimension in space.dimensions() {
        let Kind::Shares { of } = &dimension.kind else { continue };
        let (given, others): (Vec<&String>, Vec<&String>) =
            of.iter().partition(|share| is_given(share));
        if given.is_empty() {
            continue;
        }
        let held = |share: &&String| configuration.get(share).and_then(Value::as_real);
        let sum = |all: &[&String]| all.iter().filter_map(held).sum::<f64>();
        let (left, total) = (1.0 - sum(&given), sum(&others));
        let even = 1.0 / others.len() as f64;
        let part = |share| if total > 0.0 { held(share).unwrap_or(0.0) / total } else { even };
        let parts: Vec<f64> = others.iter().map(part).collect();
        for (share, part) in others.into_iter().zip(parts) {
            configuration.insert(share.clone(), Value::Real(part * left));
        }
    }
    configuration
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dough() -> SearchSpace {
        SearchSpace::new([
            Dimension::real("heat", 0.0, 300.0),
            Dimension::shares("dough", ["flour", "water", "salt"]),
        ])
        .unwrap()
    }

    #[test]
    fn each_share_is_an_axis() {
        let names: Vec<String> = axes(&dough()).into_iter().map(|axis| axis.name).collect();
        assert_eq!(names, ["heat", "flour", "water", "salt"]);
    }

    #[test]
    fn one_share_moves_and_the_others_keep_their_proportions() {
        let space = dough();
        let at: Configuration =
            [("heat", 200.0), ("flour", 0.6), ("water", 0.3), ("salt", 0.1)].into_iter().collect();
        for share in [0.0, 0.2, 1.0] {
            let moved = moved(&space, &at, &[("flour", &Value::Real(share))]);
            assert!(space.encode(&moved).is_ok(), "{moved:?}");
            assert!((moved.real("water").unwrap() - 0.75 * (1.0 - share)).abs() < 1e-12);
            assert_eq!(moved.real("heat").unwrap(), 200.0);
        }
        let whole = moved(&space, &at, &[("flour", &Value::Real(1.0))]);
        let back = moved(&space, &whole, &[("flour", &Value::Real(0.0))]);
        assert_eq!(back.real("salt").unwrap(), 0.5, "shares of nothing are even");
        let cold = moved(&space, &at, &[("heat", &Value::Real(1.0))]);
        assert_eq!(cold.real("flour").unwrap(), 0.6);
        let (much, more) = (Value::Real(0.5), Value::Real(0.75));
        let two = moved(&space, &at, &[("flour", &much), ("water", &much)]);
        assert_eq!(two.real("salt").unwrap(), 0.0);
        let beyond = moved(&space, &at, &[("flour", &much), ("water", &more)]);
        assert!(space.encode(&beyond).is_err(), "more than there is");
    }
}
