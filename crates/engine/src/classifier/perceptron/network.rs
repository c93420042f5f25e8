//! The fitted network: logits, probabilities and their gradients in the point.
//!
//! Points of the unit cube are fed on the scale of [`Inputs`]; the arithmetic inside is f32.
//!
//! Cost: twice the weights in multiply-adds for a value and a gradient. Up to 12 points are worked on
//! together, without allocating for networks up to the size of the paper's.

use super::inputs::Inputs;
use super::kernels::{self, LANES, Moments, Panel, Parameters, panels};
use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::classifier::logistic::{log_sigmoid, sigmoid, value_and_slope};
use crate::classifier::{Classifier, Target};
use crate::points::Points;

/// Points evaluated together: two tiles of six.
const CHUNK: usize = 12;

/// Panels of working memory on the stack, 4 KiB: 12 points through 1 + 2 + 2 panels, and a few more.
const STACK_PANELS: usize = 64;

/// A trained perceptron, with the state from which training can continue.
#[derive(Debug, Clone)]
pub struct Network {
    pub(super) inputs: Inputs,
    pub(super) parameters: Parameters,
    pub(super) moments: Moments,
}

impl Network {
    /// The logit log π̂/(1 - π̂) at x.
    pub fn logit(&self, x: &[f64]) -> f64 {
        let mut logit = [0.0];
        self.evaluate(x, &mut logit, None);
        logit[0]
    }

    /// Logits at the points in `coordinates`, and their gradients if asked for, row after row.
    fn evaluate(&self, coordinates: &[f64], logits: &mut [f64], gradients: Option<&mut [f64]>) {
        let needed = CHUNK * self.parameters.layout.activations;
        if needed <= STACK_PANELS {
            let mut scratch = [Panel::ZERO; STACK_PANELS];
            self.evaluate_in(&mut scratch, coordinates, logits, gradients);
        } else {
            let mut scratch = vec![Panel::ZERO; needed];
            self.evaluate_in(&mut scratch, coordinates, logits, gradients);
        }
    }

    fn evaluate_in(
        &self,
        scratch: &mut [Panel],
        coordinates: &[f64],
        logits: &mut [f64],
        mut gradients: Option<&mut [f64]>,
    ) {
        let dim = self.parameters.layout.dim;
        let (input_panels, slope) = (panels(dim), self.inputs.slope());
        let chunks = coordinates.chunks(CHUNK * dim).zip(logits.chunks_mut(CHUNK));
        for (chunk, (points, logits)) in chunks.enumerate() {
            for (x, row) in points.chunks_exact(dim).zip(scratch.chunks_exact_mut(input_panels)) {
                self.inputs.write(x, row);
            }
            let mut output = [0.0; CHUNK];
            let output = &mut output[..logits.len()];
            if let Some(gradients) = gradients.as_deref_mut() {
                kernels::gradients(&self.parameters, scratch, output);
                let gradients = gradients[chunk * CHUNK * dim..].chunks_exact_mut(dim);
                for (row, gradient) in
                    scratch.chunks_exact(input_panels).zip(gradients.take(output.len()))
                {
                    for (panel, gradient) in row.iter().zip(gradient.chunks_mut(LANES)) {
                        for (lane, gradient) in panel.0.iter().zip(gradient) {
                            *gradient = slope * f64::from(*lane);
                        }
                    }
                }
            } else {
                kernels::logits(&self.parameters, scratch, output);
            }
            for (logit, output) in logits.iter_mut().zip(output) {
                *logit = f64::from(*output);
            }
        }
    }

    /// A bound on every number that the passes compute for a point of the unit cube: activations, logit and
    /// gradient. Infinite or NaN once training has diverged.
    pub(super) fn bound(&self) -> f64 {
        let Parameters { layout, weights, .. } = &self.parameters;
        let size = |weight: f32| f64::from(weight.abs());
        let output = || weights[layout.output.clone()].iter().flat_map(|panel| panel.0).map(size);
        // The largest number so far, and the largest input of the next layer. Activations never exceed the
        // larger of 1 and the sum.
        let (mut largest, mut value) = (1.0, 1.0);
        for layer in &layout.layers {
            let reach = |unit| {
                let inputs =
                    (0..layer.inputs).map(|input| size(layer.weight(weights, unit, input)));
                value * inputs.sum::<f64>() + size(layer.bias(weights, unit))
            };
            value = (0..layer.outputs).map(reach).fold(1.0, larger);
            largest = larger(largest, value);
        }
        let logit = value * output().sum::<f64>() + size(weights[layout.output_bias].0[0]);
        let mut delta = output().fold(0.0, larger);
        largest = larger(larger(largest, logit), delta);
        for layer in layout.layers.iter().rev() {
            let reach = |input| {
                let units = (0..layer.outputs).map(|unit| size(layer.weight(weights, unit, input)));
                delta * units.sum::<f64>()
            };
            delta = (0..layer.inputs).map(reach).fold(0.0, larger);
            largest = larger(largest, delta);
        }
        larger(largest, self.inputs.slope() * delta)
    }
}

impl Classifier for Network {
    type Acquisition<'c> = NetworkAcquisition<'c>;

    fn dim(&self) -> usize {
        self.parameters.layout.dim
    }

    fn probability(&self, x: &[f64]) -> f64 {
        sigmoid(self.logit(x))
    }

    fn acquisition(&self, target: Target) -> NetworkAcquisition<'_> {
        NetworkAcquisition { network: self, target }
    }
}

/// A network read as an acquisition.
#[derive(Debug, Clone, Copy)]
pub struct NetworkAcquisition<'c> {
    network: &'c Network,
    target: Target,
}

impl Acquisition for NetworkAcquisition<'_> {
    fn dim(&self) -> usize {
        self.network.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        value_and_slope(self.target, self.network.logit(x)).0
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        self.network.evaluate(points.as_slice(), values, None);
        if self.target == Target::LogProbability {
            for value in values {
                *value = log_sigmoid(*value);
            }
        }
    }

    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        self.target.log_densities(self, points, densities)
    }
}

impl SmoothAcquisition for NetworkAcquisition<'_> {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = [0.0];
        self.network.evaluate(x, &mut value, Some(gradient));
        self.to_target(&mut value, gradient);
        value[0]
    }

    fn values_and_gradients(&self, points: &Points, values: &mut [f64], gradients: &mut Points) {
        let gradients = gradients.as_mut_slice();
        self.network.evaluate(points.as_slice(), values, Some(gradients));
        self.to_target(values, gradients);
    }
}

impl NetworkAcquisition<'_> {
    /// Turns logits and their gradients into those of the target.
    fn to_target(self, values: &mut [f64], gradients: &mut [f64]) {
        if self.target == Target::LogProbability {
            for (value, gradient) in values.iter_mut().zip(gradients.chunks_exact_mut(self.dim())) {
                let slope;
                (*value, slope) = value_and_slope(self.target, *value);
                gradient.iter_mut().for_each(|component| *component *= slope);
            }
        }
    }
}

/// The larger number; NaN if either is, unlike `f64::max`.
fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::super::activation::Activation;
    use super::super::naive::{random_parameters, random_points};
    use super::super::training::fresh_moments;
    use super::*;

    fn network(dim: usize, hidden: &[usize], activation: Activation) -> (Network, Points) {
        let (parameters, mut rng) = random_parameters(dim, hidden, activation, 5);
        let moments = fresh_moments(&parameters.layout);
        let points = Points::from_rows(dim, random_points(dim, 29, &mut rng));
        (Network { inputs: Inputs::Centred, parameters, moments }, points)
    }

    #[test]
    fn many_points_give_the_same_bits_as_one() {
        for (dim, hidden) in [(6, vec![32, 32]), (1, vec![]), (20, vec![7]), (17, vec![40, 3, 90])]
        {
            let (network, points) = network(dim, &hidden, Activation::Elu);
            for target in [Target::Logit, Target::LogProbability] {
                let acquisition = network.acquisition(target);
                let (mut values, mut with_gradients) = (vec![0.0; 29], vec![0.0; 29]);
                let mut gradients = Points::zeros(dim, 29);
                acquisition.values(&points, &mut values);
                acquisition.values_and_gradients(&points, &mut with_gradients, &mut gradients);
                assert_eq!(values, with_gradients);
                let mut gradient = vec![0.0; dim];
                for (i, x) in points.rows().enumerate() {
                    assert_eq!(acquisition.value(x), values[i]);
                    assert_eq!(acquisition.value_and_gradient(x, &mut gradient), values[i]);
                    assert_eq!(gradient, gradients.row(i));
                }
            }
        }
    }

    /// Also their gradient, against finite differences.
    #[test]
    fn centred_inputs_are_twice_the_point_less_one() {
        let (mut cube, points) = network(3, &[32, 32], Activation::Tanh);
        cube.inputs = Inputs::Cube;
        let mut centred = cube.clone();
        centred.inputs = Inputs::Centred;
        let acquisition = centred.acquisition(Target::Logit);
        let mut gradient = [0.0; 3];
        for x in points.rows() {
            let seen: Vec<f64> = x.iter().map(|x| 2.0 * x - 1.0).collect();
            assert_eq!(centred.logit(x), cube.logit(&seen));
            acquisition.value_and_gradient(x, &mut gradient);
            for k in 0..3 {
                let at = |step: f64| {
                    let mut x = x.to_vec();
                    x[k] += step;
                    centred.logit(&x)
                };
                let slope = (at(1e-2) - at(-1e-2)) / 2e-2;
                assert!(
                    (slope - gradient[k]).abs() < 2e-2 * (1.0 + slope.abs()),
                    "{slope} {gradient:?}"
                );
            }
        }
    }

    #[test]
    fn the_targets_are_the_logit_and_the_log_of_the_probability() {
        let (network, points) = network(3, &[32, 32], Activation::Tanh);
        let (logit, log) =
            (network.acquisition(Target::Logit), network.acquisition(Target::LogProbability));
        let (mut of_logit, mut of_log) = ([0.0; 3], [0.0; 3]);
        for x in points.rows() {
            let probability = network.probability(x);
            let value = logit.value_and_gradient(x, &mut of_logit);
            assert!((value - (probability / (1.0 - probability)).ln()).abs() < 1e-12);
            let value = log.value_and_gradient(x, &mut of_log);
            assert!((value - probability.ln()).abs() < 1e-12);
            for (a, b) in of_logit.iter().zip(of_log) {
                // d log π = (1 - π) dl.
                assert!((a * (1.0 - probability) - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_bound_covers_what_is_computed_and_grows_without_limit_with_the_weights() {
        let (mut network, points) = network(6, &[32, 32], Activation::Relu);
        let bound = network.bound();
        assert!(points.rows().all(|x| network.logit(x).abs() <= bound));
        network.parameters.weights[0].0[0] = f32::NAN;
        assert!(network.bound().is_nan());
        network.parameters.weights[0].0[0] = f32::INFINITY;
        assert_eq!(network.bound(), f64::INFINITY);
    }
}
