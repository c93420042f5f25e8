//! The network by its definition, in f64 and one number at a time: what the tests compare the kernels with.

use super::Perceptron;
use super::activation::Activation;
use super::kernels::{LANES, Panel, Parameters};
use super::training::initialise;
use crate::seed::{Rng, Seed, uniform};

/// Weights and biases of each layer, by output and input. The last layer is the logit.
pub struct Naive {
    pub layers: Vec<(Vec<Vec<f64>>, Vec<f64>)>,
    activation: Activation,
}

impl Naive {
    /// The same network.
    pub fn of(parameters: &Parameters) -> Self {
        Self::from_panels(parameters, &parameters.weights)
    }

    /// Numbers laid out as the weights of `parameters`, such as their gradient.
    pub fn from_panels(parameters: &Parameters, panels: &[Panel]) -> Self {
        let layout = &parameters.layout;
        let mut layers: Vec<(Vec<Vec<f64>>, Vec<f64>)> = layout
            .layers
            .iter()
            .map(|layer| {
                let row = |output| {
                    (0..layer.inputs)
                        .map(|input| f64::from(layer.weight(panels, output, input)))
                        .collect()
                };
                let bias = |output| f64::from(layer.bias(panels, output));
                ((0..layer.outputs).map(row).collect(), (0..layer.outputs).map(bias).collect())
            })
            .collect();
        let output = (0..layout.last_width())
            .map(|input| f64::from(panels[layout.output.start + input / LANES].0[input % LANES]))
            .collect();
        layers.push((vec![output], vec![f64::from(panels[layout.output_bias].0[0])]));
        Self { layers, activation: parameters.activation }
    }

    /// The logit at x.
    pub fn logit(&self, x: &[f64]) -> f64 {
        let mut values = x.to_vec();
        for (i, (weights, biases)) in self.layers.iter().enumerate() {
            let sum = |(row, bias): (&Vec<f64>, &f64)| {
                bias + row.iter().zip(&values).map(|(weight, value)| weight * value).sum::<f64>()
            };
            let mut sums: Vec<f64> = weights.iter().zip(biases).map(sum).collect();
            if i + 1 < self.layers.len() {
                sums.iter_mut().for_each(|sum| *sum = self.activate(*sum));
            }
            values = sums;
        }
        values[0]
    }

    /// The mean cross-entropy of labelled points, each label times its weight.
    pub fn loss(&self, points: &[Vec<f64>], labels: &[f64], weights: &[f64]) -> f64 {
        let losses = points.iter().zip(labels.iter().zip(weights)).map(|(x, (z, weight))| {
            let logit = self.logit(x);
            weight * (logit.max(0.0) - logit * z + (-logit.abs()).exp().ln_1p())
        });
        losses.sum::<f64>() / points.len() as f64
    }

    fn activate(&self, sum: f64) -> f64 {
        match self.activation {
            Activation::Relu => sum.max(0.0),
            Activation::Elu if sum > 0.0 => sum,
            Activation::Elu => sum.exp_m1(),
            Activation::Tanh => sum.tanh(),
        }
    }
}

/// Random weights and biases of the given shape, and the generator that drew them.
pub fn random_parameters(
    dim: usize,
    hidden: &[usize],
    activation: Activation,
    seed: u64,
) -> (Parameters, Rng) {
    let mut rng = Seed(seed).stream("test", 0);
    let settings = Perceptron { hidden: hidden.to_vec(), activation, ..Perceptron::default() };
    let mut parameters = initialise(&settings, dim, &mut rng);
    let Parameters { layout, weights, .. } = &mut parameters;
    for layer in &layout.layers {
        for output in 0..layer.outputs {
            let panel = &mut weights[layer.biases.start + output / LANES];
            panel.0[output % LANES] = (uniform(&mut rng) - 0.5) as f32;
        }
    }
    weights[layout.output_bias].0[0] = (uniform(&mut rng) - 0.5) as f32;
    (parameters, rng)
}

/// `count` random points of the unit cube, exact in f32.
pub fn random_points(dim: usize, count: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    let mut point = || (0..dim).map(|_| f64::from(uniform(rng) as f32)).collect();
    (0..count).map(|_| point()).collect()
}
