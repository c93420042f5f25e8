//! A feed-forward network with its training: ReLU layers, dropout, softmax and cross-entropy.
//!
//! ```text
//! a₀ = x,  aₗ = m ⊙ relu(Wₗ aₗ₋₁ + bₗ),  p = softmax(W a_L + b),  loss = mean over a minibatch of -ln p_label
//! m = 0 with probability ρ, otherwise 1/(1 - ρ), drawn anew for every image and unit (inverted dropout)
//! η_k = η₀ φ^(k/K) at step k of K: the rate decays exponentially from η₀ to the fraction φ of it
//! ```
//!
//! Steps are Adam's with its usual constants. Weights begin uniform in ±√(6/inputs) (He and others 2015), biases at zero.
//! An epoch visits every image once, in a new order; a last minibatch that is not full is left out, and the minibatch is
//! at most the number of images.
//!
//! Numbers are f32, products go through a gemm on one thread. The same seed gives the same network on machines whose gemm
//! sums in the same order. Cost: about 4·inputs·units flops an image for the first layer, 6·units² for each other one.
//! A network whose loss is not finite is an error, never a number.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand_xoshiro::rand_core::Rng as _;
use wimble::internals::{below, uniform};
use wimble::seed::{Rng, Seed};

use super::images::{CLASSES, Images, PIXELS};
use super::space::HyperParameters;
use crate::error::{Error, Result};

/// First moment, second moment and ε of Adam (Kingma and Ba 2015).
const ADAM: (f32, f32, f32) = (0.9, 0.999, 1e-8);
/// Images that are classified at a time.
const BLOCK: usize = 250;

/// Images by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Those trained on.
    pub training: std::ops::Range<usize>,
    /// Those on which the error is measured.
    pub validation: std::ops::Range<usize>,
}

/// One linear map, all numbers column by column.
struct Layer {
    inputs: usize,
    outputs: usize,
    /// The weights, `outputs` a column, then the biases.
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    /// Adam's running means of the gradient and of its square.
    moments: (Vec<f32>, Vec<f32>),
}

impl Layer {
    fn new(inputs: usize, outputs: usize, rng: &mut Rng) -> Self {
        let (weights, all) = (inputs * outputs, (inputs + 1) * outputs);
        let side = (6.0 / inputs as f64).sqrt();
        let mut parameters = vec![0.0; all];
        for weight in &mut parameters[..weights] {
            *weight = (side * (2.0 * uniform(rng) - 1.0)) as f32;
        }
        let moments = (vec![0.0; all], vec![0.0; all]);
        Self { inputs, outputs, parameters, gradient: vec![0.0; all], moments }
    }

    fn weights(&self) -> MatRef<'_, f32> {
        let count = self.inputs * self.outputs;
        MatRef::from_column_major_slice(&self.parameters[..count], self.outputs, self.inputs)
    }

    /// W a + b for every column of `inputs`.
    fn forward(&self, inputs: &[f32], outputs: &mut [f32], count: usize) {
        let biases = &self.parameters[self.inputs * self.outputs..];
        for column in outputs.chunks_exact_mut(self.outputs) {
            column.copy_from_slice(biases);
        }
        let a = MatRef::from_column_major_slice(inputs, self.inputs, count);
        let z = MatMut::from_column_major_slice_mut(outputs, self.outputs, count);
        matmul(z, Accum::Add, self.weights(), a, 1.0, Par::Seq);
    }

    /// The gradient of the parameters from that of the outputs.
    fn backward(&mut self, inputs: &[f32], outputs: &[f32], count: usize) {
        let (weights, biases) = self.gradient.split_at_mut(self.inputs * self.outputs);
        let a = MatRef::from_column_major_slice(inputs, self.inputs, count);
        let z = MatRef::from_column_major_slice(outputs, self.outputs, count);
        let w = MatMut::from_column_major_slice_mut(weights, self.outputs, self.inputs);
        matmul(w, Accum::Replace, z, a.transpose(), 1.0, Par::Seq);
        biases.fill(0.0);
        for column in outputs.chunks_exact(self.outputs) {
            biases.iter_mut().zip(column).for_each(|(bias, &z)| *bias += z);
        }
    }

    /// The gradient of the inputs from that of the outputs.
    fn pull_back(&self, outputs: &[f32], inputs: &mut [f32], count: usize) {
        let z = MatRef::from_column_major_slice(outputs, self.outputs, count);
        let a = MatMut::from_column_major_slice_mut(inputs, self.inputs, count);
        matmul(a, Accum::Replace, self.weights().transpose(), z, 1.0, Par::Seq);
    }

    /// One step of Adam, the `step`-th from 1.
    fn descend(&mut self, rate: f32, step: i32) {
        let (first, second, epsilon) = ADAM;
        // The corrections for moments that begin at zero, in f64 where β₂ᵏ is near 1.
        let correction =
            ((1.0 - f64::from(second).powi(step)).sqrt(), 1.0 - f64::from(first).powi(step));
        let rate = (f64::from(rate) * correction.0 / correction.1) as f32;
        let epsilon = epsilon * correction.0 as f32;
        let moments = self.moments.0.iter_mut().zip(&mut self.moments.1);
        for ((parameter, &gradient), (mean, square)) in
            self.parameters.iter_mut().zip(&self.gradient).zip(moments)
        {
            *mean += (1.0 - first) * (gradient - *mean);
            *square += (1.0 - second) * (gradient * gradient - *square);
            *parameter -= rate * *mean / (square.sqrt() + epsilon);
        }
    }
}

/// A network and room for a minibatch.
pub struct Network {
    layers: Vec<Layer>,
    dropout: f64,
    /// Inputs of each layer, the pixels first; then the class probabilities.
    activations: Vec<Vec<f32>>,
    /// For each layer but the last what its outputs are multiplied by: 0 or 1/(1 - ρ).
    masks: Vec<Vec<f32>>,
    labels: Vec<usize>,
}

impl Network {
    /// Random weights for these hyper-parameters.
    pub fn new(chosen: &HyperParameters, rng: &mut Rng) -> Self {
        let mut widths = vec![PIXELS];
        widths.extend(std::iter::repeat_n(chosen.units, chosen.layers));
        widths.push(CLASSES);
        let layers: Vec<Layer> =
            widths.windows(2).map(|pair| Layer::new(pair[0], pair[1], rng)).collect();
        let activations = vec![Vec::new(); widths.len()];
        let masks = vec![Vec::new(); layers.len() - 1];
        Self { layers, dropout: chosen.dropout, activations, masks, labels: Vec::new() }
    }

    /// Takes images as the next minibatch.
    fn load(&mut self, images: &Images, indices: impl Iterator<Item = usize>) {
        self.labels.clear();
        self.activations[0].clear();
        for index in indices {
            self.activations[0].extend_from_slice(images.image(index));
            self.labels.push(images.label(index));
        }
    }

    /// Class probabilities of the minibatch; with dropout where there is a generator.
    fn forward(&mut self, mut rng: Option<&mut Rng>) {
        let count = self.labels.len();
        let last = self.layers.len() - 1;
        for (l, layer) in self.layers.iter().enumerate() {
            let (before, after) = self.activations.split_at_mut(l + 1);
            let outputs = &mut after[0];
            outputs.resize(layer.outputs * count, 0.0);
            layer.forward(&before[l], outputs, count);
            if l == last {
                outputs.chunks_exact_mut(CLASSES).for_each(softmax);
                continue;
            }
            outputs.iter_mut().for_each(|a| *a = a.max(0.0));
            if let Some(rng) = rng.as_deref_mut()
                && self.dropout > 0.0
            {
                draw_mask(&mut self.masks[l], outputs.len(), self.dropout, rng);
                outputs.iter_mut().zip(&self.masks[l]).for_each(|(a, m)| *a *= m);
            } else {
                self.masks[l].clear();
            }
        }
    }

    /// The mean cross-entropy of the minibatch after [`forward`](Self::forward).
    fn loss(&self) -> f64 {
        let columns = self.activations[self.layers.len()].chunks_exact(CLASSES).zip(&self.labels);
        let sum: f64 = columns.map(|(p, &label)| -f64::from(p[label]).ln()).sum();
        sum / self.labels.len() as f64
    }

    /// The gradient of the loss after [`forward`](Self::forward).
    fn backward(&mut self) {
        let count = self.labels.len();
        // The derivative in the logits: probabilities less the one-hot labels.
        let mut outputs = self.activations[self.layers.len()].clone();
        for (column, &label) in outputs.chunks_exact_mut(CLASSES).zip(&self.labels) {
            column[label] -= 1.0;
            column.iter_mut().for_each(|g| *g /= count as f32);
        }
        for l in (0..self.layers.len()).rev() {
            let inputs = &self.activations[l];
            self.layers[l].backward(inputs, &outputs, count);
            if l == 0 {
                break;
            }
            let mut pulled = vec![0.0; inputs.len()];
            self.layers[l].pull_back(&outputs, &mut pulled, count);
            // An activation is positive where ReLU and mask let it pass.
            pulled.iter_mut().zip(inputs).filter(|(_, a)| **a <= 0.0).for_each(|(g, _)| *g = 0.0);
            pulled.iter_mut().zip(&self.masks[l - 1]).for_each(|(g, m)| *g *= m);
            outputs = pulled;
        }
    }

    /// The share of images whose likeliest class is not theirs.
    pub fn error(&mut self, images: &Images, indices: std::ops::Range<usize>) -> f64 {
        let total = indices.len();
        let mut wrong = 0;
        for start in indices.clone().step_by(BLOCK) {
            self.load(images, start..(start + BLOCK).min(indices.end));
            self.forward(None);
            let columns = self.activations[self.layers.len()].chunks_exact(CLASSES);
            wrong += columns.zip(&self.labels).filter(|(p, label)| likeliest(p) != **label).count();
        }
        wrong as f64 / total as f64
    }
}

/// A training that goes on epoch by epoch.
pub struct Training<'i> {
    chosen: HyperParameters,
    images: &'i Images,
    split: Split,
    /// Epochs of the whole training, which the decay of the rate is spread over.
    epochs: usize,
    seed: Seed,
    network: Network,
    order: Vec<usize>,
    masks: Rng,
    /// Epochs and minibatches so far.
    epoch: usize,
    step: i32,
}

impl<'i> Training<'i> {
    /// A network with random weights, before its first epoch.
    pub fn new(
        chosen: &HyperParameters,
        images: &'i Images,
        split: &Split,
        epochs: usize,
        seed: Seed,
    ) -> Self {
        Self {
            chosen: *chosen,
            images,
            split: split.clone(),
            epochs,
            seed,
            network: Network::new(chosen, &mut seed.stream("weights", 0)),
            order: split.training.clone().collect(),
            masks: seed.stream("dropout", 0),
            epoch: 0,
            step: 0,
        }
    }

    /// Visits every image once more.
    ///
    /// # Errors
    /// If the loss is no longer finite.
    pub fn next_epoch(&mut self) -> Result<()> {
        let Self { chosen, images, epochs, seed, network, order, masks, .. } = self;
        let minibatch = chosen.batch_size.min(order.len());
        let steps = *epochs * (order.len() / minibatch);
        shuffle(order, &mut seed.stream("order", self.epoch as u64));
        self.epoch += 1;
        for indices in order.chunks_exact(minibatch) {
            network.load(images, indices.iter().copied());
            network.forward(Some(&mut *masks));
            network.backward();
            let decay = chosen.final_fraction.powf(f64::from(self.step) / steps as f64);
            self.step += 1;
            for layer in &mut network.layers {
                layer.descend((chosen.learning_rate * decay) as f32, self.step);
            }
        }
        if !network.loss().is_finite() {
            return Err(Error::Engine(wimble::Error::Diverged {
                model: "the network",
                doing: "training on images",
            }));
        }
        Ok(())
    }

    /// The error on the images for validation, as the network is now.
    pub fn error(&mut self) -> f64 {
        self.network.error(self.images, self.split.validation.clone())
    }
}

/// Trains a network and measures its error on the images for validation.
pub fn validation_error(
    chosen: &HyperParameters,
    images: &Images,
    split: &Split,
    epochs: usize,
    seed: Seed,
) -> Result<f64> {
    let mut training = Training::new(chosen, images, split, epochs, seed);
    for _ in 0..epochs {
        training.next_epoch()?;
    }
    Ok(training.error())
}

fn softmax(logits: &mut [f32]) {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter_mut().for_each(|z| *z = (*z - most).exp());
    let sum: f32 = logits.iter().sum();
    logits.iter_mut().for_each(|p| *p /= sum);
}

fn likeliest(probabilities: &[f32]) -> usize {
    let best =
        |best: usize, i: usize| if probabilities[i] > probabilities[best] { i } else { best };
    (0..probabilities.len()).fold(0, best)
}

/// Fisher and Yates.
fn shuffle(order: &mut [usize], rng: &mut Rng) {
    for i in (1..order.len()).rev() {
        order.swap(i, below(rng, i + 1));
    }
}

/// Sixteen random bits a unit: rates are met to 2⁻¹⁶, at a quarter of the draws.
fn draw_mask(mask: &mut Vec<f32>, len: usize, dropout: f64, rng: &mut Rng) {
    let dropped = (dropout * 65_536.0) as u64;
    let kept = (1.0 / (1.0 - dropout)) as f32;
    mask.resize(len, 0.0);
    for four in mask.chunks_mut(4) {
        let mut bits = rng.next_u64();
        for m in four {
            *m = if bits & 0xffff < dropped { 0.0 } else { kept };
            bits >>= 16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits as bright rows: an image of label k is bright in rows 2k and 2k + 1, with noise everywhere.
    fn stripes(count: usize) -> Images {
        let mut rng = Seed(3).stream("stripes", 0);
        let labels: Vec<u8> = (0..count).map(|_| below(&mut rng, CLASSES) as u8).collect();
        let mut pixels = Vec::new();
        for &label in &labels {
            for pixel in 0..PIXELS {
                let bright = pixel / 28 / 2 == usize::from(label);
                pixels.push((0.5 * uniform(&mut rng) + 0.4 * f64::from(bright)) as f32);
            }
        }
        Images::new(pixels, labels)
    }

    fn chosen() -> HyperParameters {
        HyperParameters {
            learning_rate: 3e-3,
            batch_size: 16,
            dropout: 0.2,
            final_fraction: 0.1,
            layers: 2,
            units: 24,
        }
    }

    /// Central differences of the loss in f32 with the masks held fixed by the seed.
    #[test]
    fn the_gradient_is_that_of_differences_with_and_without_dropout() {
        let images = stripes(12);
        for dropout in [0.0, 0.3] {
            let chosen = HyperParameters { dropout, ..chosen() };
            let mut network = Network::new(&chosen, &mut Seed(1).stream("weights", 0));
            let evaluate = |network: &mut Network| {
                network.load(&images, 0..12);
                network.forward(Some(&mut Seed(2).stream("masks", 0)));
                network.loss()
            };
            evaluate(&mut network);
            network.backward();
            let mut rng = Seed(4).stream("which", 0);
            let mut kinks = 0;
            for l in 0..network.layers.len() {
                let gradient = network.layers[l].gradient.clone();
                let largest = gradient.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
                let biases = network.layers[l].inputs * network.layers[l].outputs;
                let chosen = (0..40).map(|_| below(&mut rng, gradient.len()));
                for i in chosen.chain(biases..biases + 10) {
                    let step = 2e-3_f32;
                    let at = network.layers[l].parameters[i];
                    let [below, here, above] = [-step, 0.0, step].map(|by| {
                        network.layers[l].parameters[i] = at + by;
                        evaluate(&mut network)
                    });
                    network.layers[l].parameters[i] = at;
                    let width = f64::from(step);
                    // One side against the other tells a kink of ReLU, where there is no derivative.
                    let sides = ((above - here) / width, (here - below) / width);
                    let tolerance = 0.01 * f64::from(largest) + 3e-4;
                    if (sides.0 - sides.1).abs() > tolerance {
                        kinks += 1;
                        continue;
                    }
                    let difference = 0.5 * (sides.0 + sides.1);
                    let gap = (difference - f64::from(gradient[i])).abs();
                    assert!(
                        gap < tolerance,
                        "layer {l}, {i}: {difference} against {}",
                        gradient[i]
                    );
                }
            }
            assert!(kinks < 30, "{kinks} of 150 parameters at a kink");
        }
    }

    #[test]
    fn a_network_learns_what_can_be_learnt_and_the_same_seed_gives_the_same_error() {
        let images = stripes(600);
        let split = Split { training: 0..400, validation: 400..600 };
        let error = |chosen: &HyperParameters, epochs, seed| {
            validation_error(chosen, &images, &split, epochs, Seed(seed)).unwrap()
        };
        let trained = error(&chosen(), 15, 1);
        assert!(trained < 0.05, "{trained}");
        assert_eq!(trained, error(&chosen(), 15, 1));
        // Looking at the error on the way changes nothing.
        let mut training = Training::new(&chosen(), &images, &split, 15, Seed(1));
        let curve: Vec<f64> = (0..15)
            .map(|_| {
                training.next_epoch().unwrap();
                training.error()
            })
            .collect();
        assert!(curve[14] == trained && curve[0] > 2.0 * trained, "{curve:?}");
        // A rate that is far too small leaves it guessing: nine in ten are wrong.
        let slow = HyperParameters { learning_rate: 1e-9, ..chosen() };
        assert!(error(&slow, 1, 1) > 0.6);
    }

    #[test]
    fn masks_drop_their_share_and_keep_the_mean() {
        let mut mask = Vec::new();
        draw_mask(&mut mask, 100_000, 0.3, &mut Seed(5).stream("mask", 0));
        let dropped = mask.iter().filter(|m| **m == 0.0).count() as f64 / 1e5;
        // Five standard errors.
        assert!((dropped - 0.3).abs() < 5.0 * (0.21_f64 / 1e5).sqrt(), "{dropped}");
        assert!(mask.iter().all(|m| *m == 0.0 || (*m - 1.0 / 0.7).abs() < 1e-6));
    }
}
