//! The kernels for any processor.

use super::lanes::Plain;
use super::passes::{self, AdamStep, Minibatch, Moments, Parameters};
use super::tile::Panel;

/// The logit of each sample.
pub(super) fn logits(parameters: &Parameters, activations: &mut [Panel], logits: &mut [f32]) {
    passes::logits::<Plain>(parameters, activations, logits);
}

/// The logit of each sample, and its gradient in the inputs in place of the samples.
pub(super) fn gradients(parameters: &Parameters, activations: &mut [Panel], logits: &mut [f32]) {
    self::logits(parameters, activations, logits);
    passes::gradients::<Plain>(parameters, activations, logits.len());
}

/// One step of Adam.
pub(super) fn step(
    parameters: &mut Parameters,
    moments: &mut Moments,
    minibatch: &mut Minibatch,
    adam: AdamStep,
) {
    logits(parameters, &mut minibatch.activations, &mut minibatch.deltas);
    passes::step::<Plain>(parameters, moments, minibatch, adam);
}
