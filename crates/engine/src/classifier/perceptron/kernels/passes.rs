//! Forward pass, backward pass and Adam, generic over the instruction set and the activation.
//!
//! Everything is inlined into the functions of `plain` and `avx2`, so that each is compiled for its own
//! instruction set; the forward pass is a function of its own there, to be compiled once. A backward pass
//! writes each layer's deltas over its activations, which are not needed any more by then.
//!
//! Cost for each sample of a layer of m inputs and n outputs: m n multiply-adds forward, as many for the
//! gradient of the weights, and as many for the deltas of the layer below.

use std::marker::PhantomData;

use super::super::activation::{Activation, Elu, Nonlinearity, Relu, Tanh, sigmoid};
use super::super::layout::Layout;
use super::lanes::{Lanes, WIDTH};
use super::tile::{Finish, LANES, Pair, Panel, outer_products, panels, product};

/// The weights of a network, and what is needed to read them.
#[derive(Debug, Clone)]
pub(in super::super) struct Parameters {
    pub layout: Layout,
    pub activation: Activation,
    pub weights: Vec<Panel>,
    /// For each layer and panel of its inputs, one panel for each output: what the backward pass multiplies by.
    pub transposed: Vec<Panel>,
}

impl Parameters {
    /// All zero.
    pub fn zeros(layout: Layout, activation: Activation) -> Self {
        let weights = vec![Panel::ZERO; layout.weights()];
        let transposed = vec![Panel::ZERO; layout.transposed];
        Self { layout, activation, weights, transposed }
    }

    /// Brings the transposed weights of all layers up to date.
    pub fn transpose(&mut self) {
        self.transpose_from(0);
    }

    /// Brings the transposed weights of the layers from `first` on up to date.
    #[inline(always)]
    fn transpose_from(&mut self, first: usize) {
        for layer in &self.layout.layers[first.min(self.layout.layers.len())..] {
            let weights = &self.weights[layer.weights.clone()];
            let transposed = &mut self.transposed[layer.transposed.clone()];
            for (i, weights) in weights.chunks_exact(layer.inputs).enumerate() {
                for (weights, transposed) in
                    weights.chunks(LANES).zip(transposed.chunks_exact_mut(layer.outputs))
                {
                    let outputs = layer.outputs.min((i + 1) * LANES);
                    transpose_block(weights, &mut transposed[i * LANES..outputs]);
                }
            }
        }
    }
}

/// Adam's running means of the gradient and of its square.
#[derive(Debug, Clone)]
pub(in super::super) struct Moments {
    pub first: Vec<Panel>,
    pub second: Vec<Panel>,
    /// Steps taken so far.
    pub steps: u64,
}

/// The numbers of one step of Adam.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct AdamStep {
    pub first_decay: f32,
    pub second_decay: f32,
    pub epsilon: f32,
    /// The learning rate with both corrections for the moments' start at zero.
    pub rate: f32,
}

/// Some labelled samples, with room for what a step computes from them.
#[derive(Debug)]
pub(in super::super) struct Minibatch {
    /// The samples first, then the activations of each layer.
    pub activations: Vec<Panel>,
    /// 1 for good, 0 for bad.
    pub labels: Vec<f32>,
    /// How much each label counts.
    pub weights: Vec<f32>,
    /// The logits, then the derivatives of the loss in them.
    pub deltas: Vec<f32>,
    pub gradient: Vec<Panel>,
}

/// The logit of each sample. `activations` starts with the samples; each layer's activations follow.
#[inline(always)]
pub(super) fn logits<L: Lanes>(
    parameters: &Parameters,
    activations: &mut [Panel],
    logits: &mut [f32],
) {
    match parameters.activation {
        Activation::Relu => forward::<L, Relu>(parameters, activations, logits),
        Activation::Elu => forward::<L, Elu>(parameters, activations, logits),
        Activation::Tanh => forward::<L, Tanh>(parameters, activations, logits),
    }
}

/// What [`logits`] left in `activations` becomes the gradients of the logits, in place of the samples.
#[inline(always)]
pub(super) fn gradients<L: Lanes>(
    parameters: &Parameters,
    activations: &mut [Panel],
    samples: usize,
) {
    match parameters.activation {
        Activation::Relu => input_gradients::<L, Relu>(parameters, activations, samples),
        Activation::Elu => input_gradients::<L, Elu>(parameters, activations, samples),
        Activation::Tanh => input_gradients::<L, Tanh>(parameters, activations, samples),
    }
}

/// One step of Adam, after [`logits`] has been given the minibatch's activations and deltas.
#[inline(always)]
pub(super) fn step<L: Lanes>(
    parameters: &mut Parameters,
    moments: &mut Moments,
    minibatch: &mut Minibatch,
    adam: AdamStep,
) {
    match parameters.activation {
        Activation::Relu => loss_gradient::<L, Relu>(parameters, minibatch),
        Activation::Elu => loss_gradient::<L, Elu>(parameters, minibatch),
        Activation::Tanh => loss_gradient::<L, Tanh>(parameters, minibatch),
    }
    descend::<L>(&mut parameters.weights, moments, &minibatch.gradient, adam);
    // Training never needs the gradient in the inputs, hence not the first layer's transpose.
    parameters.transpose_from(1);
}

/// Forward: the activation of the weighted sum.
struct Activate<A>(PhantomData<A>);
/// Backward: the delta through a unit, whose activation it replaces.
struct Descend<A>(PhantomData<A>);
/// Backward, at the inputs: the gradient itself.
struct Keep;

impl<A: Nonlinearity> Finish for Activate<A> {
    #[inline(always)]
    fn finish<L: Lanes>(_: L, sum: L) -> L {
        A::value(sum)
    }
}

impl<A: Nonlinearity> Finish for Descend<A> {
    #[inline(always)]
    fn finish<L: Lanes>(value: L, sum: L) -> L {
        sum.mul(A::slope(value))
    }
}

impl Finish for Keep {
    #[inline(always)]
    fn finish<L: Lanes>(_: L, sum: L) -> L {
        sum
    }
}

/// The activations of every layer, and the logits.
#[inline(always)]
fn forward<L: Lanes, A: Nonlinearity>(
    parameters: &Parameters,
    activations: &mut [Panel],
    logits: &mut [f32],
) {
    let Parameters { layout, weights, .. } = parameters;
    let samples = logits.len();
    let (mut inputs, mut rest) = activations.split_at_mut(samples * panels(layout.dim));
    for layer in &layout.layers {
        let (outputs, after) = rest.split_at_mut(samples * panels(layer.outputs));
        product::<L, Activate<A>>(
            layer.inputs,
            &weights[layer.weights.clone()],
            Some(&weights[layer.biases.clone()]),
            inputs,
            outputs,
        );
        (inputs, rest) = (outputs, after);
    }
    let output = &weights[layout.output.clone()];
    let bias = weights[layout.output_bias].0[0];
    for (logit, input) in logits.iter_mut().zip(inputs.chunks_exact(output.len())) {
        let mut sum = Pair::<L>::splat(0.0);
        for (input, weight) in input.iter().zip(output) {
            sum = Pair::load(input).mul_add(Pair::load(weight), sum);
        }
        *logit = sum.sum() + bias;
    }
}

/// The gradients of the logits in place of the samples.
#[inline(always)]
fn input_gradients<L: Lanes, A: Nonlinearity>(
    parameters: &Parameters,
    activations: &mut [Panel],
    samples: usize,
) {
    let Parameters { layout, weights, transposed, .. } = parameters;
    let output = &weights[layout.output.clone()];
    if layout.layers.is_empty() {
        for input in activations.chunks_exact_mut(output.len()).take(samples) {
            input.copy_from_slice(output);
        }
        return;
    }
    let mut end = samples * layout.activations;
    for last in activations[end - samples * output.len()..end].chunks_exact_mut(output.len()) {
        output_deltas::<L, A>(1.0, output, last);
    }
    for (i, layer) in layout.layers.iter().enumerate().rev() {
        let (before, deltas) =
            activations[..end].split_at_mut(end - samples * panels(layer.outputs));
        end = before.len();
        let below = &mut before[end - samples * panels(layer.inputs)..];
        let transposed = &transposed[layer.transposed.clone()];
        if i == 0 {
            product::<L, Keep>(layer.outputs, transposed, None, deltas, below);
        } else {
            product::<L, Descend<A>>(layer.outputs, transposed, None, deltas, below);
        }
    }
}

/// The gradient of the mean cross-entropy in the weights, from activations and logits.
///
/// The loss of a logit l with label z is max(l, 0) - l z + log(1 + e^-|l|), equation (6) negated; its
/// derivative in l is sigmoid(l) - z at any l, times the weight of the label.
#[inline(always)]
fn loss_gradient<L: Lanes, A: Nonlinearity>(parameters: &Parameters, minibatch: &mut Minibatch) {
    let Minibatch { activations, labels, weights: label_weights, deltas: output_delta, gradient } =
        minibatch;
    let samples = labels.len();
    let share = 1.0 / samples as f32;
    let labelled = labels.chunks(WIDTH).zip(label_weights.chunks(WIDTH));
    for (deltas, (labels, weights)) in output_delta.chunks_mut(WIDTH).zip(labelled) {
        let mut logits = [0.0; WIDTH];
        logits[..deltas.len()].copy_from_slice(deltas);
        sigmoid(L::load(&logits)).store(&mut logits);
        let labelled = labels.iter().zip(weights).zip(logits);
        for (delta, ((label, weight), probability)) in deltas.iter_mut().zip(labelled) {
            *delta = (probability - label) * weight * share;
        }
    }

    let Parameters { layout, weights, transposed, .. } = parameters;
    let output = &weights[layout.output.clone()];
    let mut end = samples * layout.activations;
    let last = &mut activations[end - samples * output.len()..end];
    for (i, gradient) in gradient[layout.output.clone()].iter_mut().enumerate() {
        let mut sum = Pair::<L>::splat(0.0);
        for (row, &delta) in last.chunks_exact(output.len()).zip(output_delta.iter()) {
            sum = Pair::splat(delta).mul_add(Pair::load(&row[i]), sum);
        }
        sum.store(gradient);
    }
    gradient[layout.output_bias].0[0] = output_delta.iter().sum();
    if layout.layers.is_empty() {
        return;
    }
    for (row, &delta) in last.chunks_exact_mut(output.len()).zip(output_delta.iter()) {
        output_deltas::<L, A>(delta, output, row);
    }
    for (i, layer) in layout.layers.iter().enumerate().rev() {
        let (before, deltas) =
            activations[..end].split_at_mut(end - samples * panels(layer.outputs));
        end = before.len();
        let below = &mut before[end - samples * panels(layer.inputs)..];
        outer_products::<L>(layer.inputs, below, deltas, &mut gradient[layer.weights.clone()]);
        for (i, gradient) in gradient[layer.biases.clone()].iter_mut().enumerate() {
            let mut sum = Pair::<L>::splat(0.0);
            for row in deltas.chunks_exact(panels(layer.outputs)) {
                sum = sum.add(Pair::load(&row[i]));
            }
            sum.store(gradient);
        }
        if i > 0 {
            let transposed = &transposed[layer.transposed.clone()];
            product::<L, Descend<A>>(layer.outputs, transposed, None, deltas, below);
        }
    }
}

/// The deltas of the last hidden layer for one sample, over its activations.
#[inline(always)]
fn output_deltas<L: Lanes, A: Nonlinearity>(delta: f32, output: &[Panel], last: &mut [Panel]) {
    for (weight, value) in output.iter().zip(last) {
        for (weight, value) in weight.halves().iter().zip(value.halves_mut()) {
            let slope = A::slope(L::load(value));
            L::load(weight).mul(L::splat(delta)).mul(slope).store(value);
        }
    }
}

/// One step of Adam.
#[inline(always)]
fn descend<L: Lanes>(
    weights: &mut [Panel],
    moments: &mut Moments,
    gradient: &[Panel],
    adam: AdamStep,
) {
    let (first_decay, first_rest) = (L::splat(adam.first_decay), L::splat(1.0 - adam.first_decay));
    let second_decay = L::splat(adam.second_decay);
    let second_rest = L::splat(1.0 - adam.second_decay);
    let (epsilon, rate) = (L::splat(adam.epsilon), L::splat(adam.rate));
    let moments = moments.first.iter_mut().zip(&mut moments.second);
    for ((weight, (first, second)), gradient) in weights.iter_mut().zip(moments).zip(gradient) {
        let moments = first.halves_mut().iter_mut().zip(second.halves_mut());
        let halves = weight.halves_mut().iter_mut().zip(moments).zip(gradient.halves());
        for ((weight, (first, second)), gradient) in halves {
            let slope = L::load(gradient);
            let mean = L::load(first).mul_add(first_decay, slope.mul(first_rest));
            let square = slope.mul(slope).mul(second_rest);
            let square = L::load(second).mul_add(second_decay, square);
            mean.store(first);
            square.store(second);
            let change = rate.mul(mean).div(square.sqrt().add(epsilon));
            L::load(weight).sub(change).store(weight);
        }
    }
}

/// Lane j of `rows[i]` goes to lane i of `transposed[j]`.
#[inline(always)]
fn transpose_block(rows: &[Panel], transposed: &mut [Panel]) {
    for (j, transposed) in transposed.iter_mut().enumerate() {
        for (i, row) in rows.iter().enumerate() {
            transposed.0[i] = row.0[j];
        }
    }
}
