//! Multilayer perceptron classifier: the classifier of the paper's batch experiments.
//!
//! d inputs, hidden layers, one logit l(x); π̂_t(x) = 1 / (1 + e^(-l(x))). Trained by minibatch gradient descent
//! on the binary cross-entropy (equation (6), negated: Algorithm 1 takes its argmin)
//!
//! ```text
//! mean over i of  max(lᵢ, 0) - lᵢ zᵢ + log(1 + e^(-|lᵢ|)).
//! ```
//!
//! Points of the unit cube are fed on the scale of [`Inputs`]. By default training continues from the previous round's
//! weights, as in the authors' earlier code, and from its Adam state, as Keras does when fitted again.
//!
//! The arithmetic is f32; the same seed and labels give the same bits on the same instruction set.
//!
//! Cost: O(steps · minibatch · weights) a fit, whatever the number of points; 2 · weights a gradient.
//! Fails with `Error::Diverged` when a weight, or a bound on the logit over the cube, is not a usable number.

mod activation;
mod inputs;
mod kernels;
mod layout;
#[cfg(test)]
mod naive;
mod network;
mod training;

use serde::{Deserialize, Serialize};

pub use activation::Activation;
pub use inputs::Inputs;
pub use network::Network;

use crate::classifier::Learner;
use crate::error::{Error, Result};
use crate::labels::Labels;
use crate::named::Named;
use crate::seed::Rng;
use layout::Layout;

/// Units a hidden layer may have at most.
const MAX_UNITS: usize = 4096;

/// The largest intermediate number that a fitted network may reach, well inside f32.
const MAX_REACH: f64 = 1e36;

/// Settings of the perceptron. The defaults are the paper's, and Keras's where the paper is silent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Perceptron {
    /// Units of each hidden layer. None at all is logistic regression.
    pub hidden: Vec<usize>,
    /// What hidden units do to their weighted sums.
    pub activation: Activation,
    /// The scale on which points are fed.
    pub inputs: Inputs,
    /// Gradient steps a round, S.
    pub steps: usize,
    /// Passes over all points a round, whatever `steps` says, if given. Training then takes longer as history grows.
    pub epochs: Option<usize>,
    /// Points in a minibatch.
    pub minibatch: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Where each round's training starts.
    pub start: Start,
}

impl Named for Perceptron {
    const NAME: &'static str = "perceptron";
    const DESCRIPTION: &'static str = "a network with two hidden layers";
}

impl Default for Perceptron {
    fn default() -> Self {
        Self {
            hidden: vec![32, 32],
            activation: Activation::Relu,
            inputs: Inputs::default(),
            steps: 100,
            epochs: None,
            minibatch: 64,
            learning_rate: 1e-3,
            start: Start::default(),
        }
    }
}

impl Perceptron {
    /// The settings that do best in BORE at the same cost: inputs between -1 and 1, and a learning rate of 0.002. With the paper's, a
    /// network is barely trained in the first rounds.
    pub fn best() -> Self {
        Self { inputs: Inputs::Centred, learning_rate: 2e-3, ..Self::default() }
    }
}

/// Where a round's training starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// From new random weights.
    Cold,
    /// From the weights and Adam state of the last kept network.
    Warm {
        /// A network is kept each time this many trials were added, at least 1. `None`: once a batch; where the size of
        /// batches is not known, every 10 trials, the paper's batch size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every: Option<usize>,
    },
}

impl Default for Start {
    /// Warm, once a batch.
    fn default() -> Self {
        Self::Warm { every: None }
    }
}

/// The trials between kept networks where nothing is said and the size of batches is not known: the paper's batch size.
const KEPT_EVERY: usize = 10;

impl Learner for Perceptron {
    type Classifier = Network;

    fn fit(
        &self,
        labels: &Labels<'_>,
        previous: Option<&Network>,
        rng: &mut Rng,
    ) -> Result<Network> {
        let dim = labels.dim();
        self.check(dim)?;
        if labels.is_empty() {
            return Err(Error::invalid("labels", 0, "at least one labelled point"));
        }
        let mut network = match previous.filter(|network| self.continues(network, dim)) {
            Some(network) => network.clone(),
            None => {
                let parameters = training::initialise(self, dim, rng);
                let moments = training::fresh_moments(&parameters.layout);
                Network { inputs: self.inputs, parameters, moments }
            }
        };
        training::train(self, labels, &mut network.parameters, &mut network.moments, rng);
        if network.bound() <= MAX_REACH {
            Ok(network)
        } else {
            Err(Error::Diverged {
                model: "the perceptron",
                doing: "training; use a lower learning rate",
            })
        }
    }

    fn kept_every(&self) -> Option<usize> {
        match self.start {
            Start::Cold => None,
            Start::Warm { every } => Some(every.unwrap_or(KEPT_EVERY)),
        }
    }

    fn for_batches(self, batch_size: usize) -> Self {
        match self.start {
            Start::Warm { every: None } => {
                Self { start: Start::Warm { every: Some(batch_size) }, ..self }
            }
            _ => self,
        }
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn check(&self, dim: usize) -> Result<()> {
        if dim == 0 {
            return Err(Error::invalid("dimensions", dim, "at least 1"));
        }
        for (i, &units) in self.hidden.iter().enumerate() {
            if !(1..=MAX_UNITS).contains(&units) {
                let field = format!("hidden[{i}]");
                return Err(Error::invalid(field, units, format!("from 1 to {MAX_UNITS}")));
            }
        }
        if self.steps == 0 {
            return Err(Error::invalid("steps", self.steps, "at least 1"));
        }
        if self.epochs == Some(0) {
            return Err(Error::invalid("epochs", 0, "at least 1"));
        }
        if self.minibatch == 0 {
            return Err(Error::invalid("minibatch", self.minibatch, "at least 1"));
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(Error::invalid("learning-rate", self.learning_rate, "finite and positive"));
        }
        if self.start == (Start::Warm { every: Some(0) }) {
            return Err(Error::invalid("start.warm.every", 0, "at least 1"));
        }
        Ok(())
    }
}

impl Perceptron {
    /// Whether training may continue from `network`.
    fn continues(&self, network: &Network, dim: usize) -> bool {
        self.start != Start::Cold
            && network.inputs == self.inputs
            && network.parameters.activation == self.activation
            && network.parameters.layout == Layout::new(dim, &self.hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::Classifier;
    use crate::history::History;
    use crate::labels::Threshold;
    use crate::outcome::Outcome;
    use crate::seed::{Seed, uniform};

    /// Points of the square, better the nearer to (0.7, 0.2).
    fn history(len: usize) -> History {
        let mut history = History::new(2);
        let mut rng = Seed(1).stream("test", 0);
        for _ in 0..len {
            let x = [uniform(&mut rng), uniform(&mut rng)];
            let value = (x[0] - 0.7).hypot(x[1] - 0.2);
            history.push(&x, Outcome::from(value)).unwrap();
        }
        history
    }

    fn fit(settings: &Perceptron, history: &History, previous: Option<&Network>) -> Network {
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        settings.fit(&labels, previous, &mut Seed(1).stream("fit", 0)).unwrap()
    }

    #[test]
    fn every_activation_learns_a_disc() {
        let history = history(200);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        for activation in [Activation::Relu, Activation::Elu, Activation::Tanh] {
            let settings = Perceptron {
                activation,
                steps: 2000,
                learning_rate: 5e-3,
                ..Perceptron::default()
            };
            let network = fit(&settings, &history, None);
            let right = (0..labels.len())
                .filter(|&i| (network.probability(labels.point(i)) > 0.5) == labels.is_good(i));
            assert!(right.count() >= 190, "{activation:?}");
        }
    }

    #[test]
    fn logistic_regression_learns_the_share_of_good_points() {
        let mut history = History::new(1);
        for i in 0..40 {
            history.push(&[0.0], Outcome::from(f64::from(i))).unwrap();
        }
        let settings = Perceptron {
            hidden: vec![],
            steps: 3000,
            learning_rate: 1e-2,
            ..Perceptron::default()
        };
        let network = fit(&settings, &history, None);
        assert!((network.probability(&[0.0]) - 0.25).abs() < 1e-3);
    }

    #[test]
    fn the_same_seed_and_labels_give_the_same_bits() {
        for len in [50, 7000] {
            let history = history(len);
            let (a, b) = (
                fit(&Perceptron::default(), &history, None),
                fit(&Perceptron::default(), &history, None),
            );
            assert_eq!(a.parameters.weights, b.parameters.weights);
            assert_eq!(a.moments.second, b.moments.second);
        }
    }

    #[test]
    fn a_warm_start_continues_weights_and_moments_and_a_cold_one_does_not() {
        let history = history(64);
        let warm = Perceptron::default();
        let cold = Perceptron { start: Start::Cold, ..Perceptron::default() };
        let first = fit(&warm, &history, None);
        let second = fit(&warm, &history, Some(&first));
        assert_eq!((first.moments.steps, second.moments.steps), (100, 200));
        let anew = fit(&cold, &history, Some(&first));
        assert_eq!(anew.parameters.weights, first.parameters.weights);
        let loss = |network: &Network| -> f64 {
            let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
            let losses = (0..labels.len()).map(|i| {
                let probability = network.probability(labels.point(i));
                -if labels.is_good(i) { probability } else { 1.0 - probability }.ln()
            });
            losses.sum()
        };
        assert!(loss(&second) < loss(&first));
        // A network of another shape is no start.
        let other = Perceptron { hidden: vec![8], ..Perceptron::default() };
        assert_eq!(fit(&other, &history, Some(&first)).moments.steps, 100);
        assert_eq!((warm.kept_every(), cold.kept_every()), (Some(10), None));
    }

    #[test]
    fn labels_all_of_one_kind_are_fitted() {
        let mut history = history(3);
        assert!(fit(&Perceptron::default(), &history, None).logit(&[0.5, 0.5]).is_finite());
        history.push(&[0.1, 0.1], Outcome::failed()).unwrap();
        let labels =
            Threshold::Fixed { value: -1.0 }.label(history.points(), history.objective()).unwrap();
        let mut rng = Seed(1).stream("fit", 0);
        let network = Perceptron::default().fit(&labels, None, &mut rng).unwrap();
        assert!(network.probability(&[0.5, 0.5]) < 0.5);
    }

    #[test]
    fn a_diverged_network_is_an_error() {
        let history = history(64);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        for learning_rate in [1e20, 1e30, 1e39, 1e300] {
            for activation in [Activation::Relu, Activation::Elu, Activation::Tanh] {
                let settings = Perceptron { learning_rate, activation, ..Perceptron::default() };
                let error = settings.fit(&labels, None, &mut Seed(1).stream("fit", 0)).unwrap_err();
                assert!(matches!(error, Error::Diverged { .. }), "{error}");
            }
        }
    }

    #[test]
    fn settings_that_cannot_be_fitted_are_refused_by_name() {
        let good = Perceptron::default;
        let refused = [
            ("hidden[1]", Perceptron { hidden: vec![8, 0], ..good() }),
            ("hidden[0]", Perceptron { hidden: vec![4097], ..good() }),
            ("steps", Perceptron { steps: 0, ..good() }),
            ("minibatch", Perceptron { minibatch: 0, ..good() }),
            ("learning-rate", Perceptron { learning_rate: f64::NAN, ..good() }),
            ("learning-rate", Perceptron { learning_rate: 0.0, ..good() }),
            ("learning-rate", Perceptron { learning_rate: f64::INFINITY, ..good() }),
            ("start.warm.every", Perceptron { start: Start::Warm { every: Some(0) }, ..good() }),
        ];
        for (name, settings) in refused {
            let error = settings.check(2).unwrap_err();
            assert!(
                matches!(&error, Error::Invalid { field, .. } if field.as_str() == name),
                "{error}"
            );
        }
        assert!(good().check(2).is_ok());
    }

    #[test]
    fn settings_are_read_with_defaults_for_what_is_left_out() {
        let text = r#"{"activation":"elu","learning-rate":0.01,"start":"cold"}"#;
        let settings: Perceptron = serde_json::from_str(text).unwrap();
        assert_eq!(settings.activation, Activation::Elu);
        assert_eq!(
            (settings.hidden.as_slice(), settings.start),
            ([32, 32].as_slice(), Start::Cold)
        );
        let open = serde_json::to_value(Perceptron::default()).unwrap();
        assert_eq!(open["start"], serde_json::json!({ "warm": {} }));
        let every = Start::Warm { every: Some(10) };
        let given = serde_json::to_value(Perceptron { start: every, ..settings }).unwrap();
        assert_eq!(given["start"], serde_json::json!({ "warm": { "every": 10 } }));
        assert_eq!(serde_json::from_value::<Perceptron>(given).unwrap().start, every);
        assert!(serde_json::from_str::<Perceptron>(r#"{"step":1}"#).is_err());
    }
}
