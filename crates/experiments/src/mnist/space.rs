//! The six hyper-parameters of a network, and their space (Falkner, Klein and Hutter 2018, reduced).
//!
//! ```text
//! log10 learning rate [-6, -2]    log2 batch size [3, 8]    dropout [0, 0.5]
//! log10 final fraction of the rate [-4, 0]    hidden layers 1 to 5    log2 units a layer [4, 8]
//! ```
//!
//! The original has two more: a shape parameter, here at the middle, where all hidden layers have the same width; and a
//! second dropout rate, here equal to the first, so that every hidden layer has the same.

use wimble::space::{Configuration, Dimension, SearchSpace, Value};

use crate::error::{Error, Result};

/// How a network is built and trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HyperParameters {
    /// η₀ of Adam.
    pub learning_rate: f64,
    /// Images a minibatch.
    pub batch_size: usize,
    /// ρ, the share of hidden units that are dropped.
    pub dropout: f64,
    /// φ, the part of the learning rate that is left at the end.
    pub final_fraction: f64,
    /// Hidden layers.
    pub layers: usize,
    /// Units of each of them.
    pub units: usize,
}

/// Their space.
pub fn space() -> Result<SearchSpace> {
    Ok(SearchSpace::new([
        Dimension::log_real("learning_rate", 1e-6, 1e-2),
        Dimension::log_integer("batch_size", 8, 256),
        Dimension::real("dropout", 0.0, 0.5),
        Dimension::log_real("final_fraction", 1e-4, 1.0),
        Dimension::integer("layers", 1, 5),
        Dimension::log_integer("units", 16, 256),
    ])?)
}

impl HyperParameters {
    /// From a configuration of [`space`].
    pub fn from_configuration(configuration: &Configuration) -> Result<Self> {
        let value = |name: &str| {
            let found = configuration.get(name).and_then(Value::as_real);
            found.ok_or_else(|| {
                Error::Engine(wimble::Error::MissingValue {
                    dimension: name.to_owned(),
                    allowed: "a number".to_owned(),
                })
            })
        };
        Ok(Self {
            learning_rate: value("learning_rate")?,
            batch_size: value("batch_size")? as usize,
            dropout: value("dropout")?,
            final_fraction: value("final_fraction")?,
            layers: value("layers")? as usize,
            units: value("units")? as usize,
        })
    }

    /// As a configuration of [`space`].
    pub fn configuration(&self) -> Configuration {
        let mut configuration = Configuration::new();
        configuration.insert("learning_rate", self.learning_rate);
        configuration.insert("batch_size", self.batch_size as i64);
        configuration.insert("dropout", self.dropout);
        configuration.insert("final_fraction", self.final_fraction);
        configuration.insert("layers", self.layers as i64);
        configuration.insert("units", self.units as i64);
        configuration
    }
}

#[cfg(test)]
mod tests {
    use wimble::seed::Seed;

    use super::*;

    #[test]
    fn a_configuration_comes_back_and_one_without_a_value_is_refused() {
        let space = space().unwrap();
        let mut rng = Seed(1).stream("test", 0);
        for _ in 0..20 {
            let configuration = space.decode(&space.sample(&mut rng));
            let chosen = HyperParameters::from_configuration(&configuration).unwrap();
            assert!((1..=5).contains(&chosen.layers) && (8..=256).contains(&chosen.batch_size));
            assert_eq!(chosen.configuration(), configuration);
        }
        let error = HyperParameters::from_configuration(&Configuration::new()).unwrap_err();
        assert!(error.to_string().contains("learning_rate"), "{error}");
    }
}
