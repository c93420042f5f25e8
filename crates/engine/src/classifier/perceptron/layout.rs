//! Where the numbers of a network lie: d inputs, hidden layers, one logit.
//!
//! All weights are one run of panels, so that Adam sees a single vector. Layer after layer: for each panel of
//! outputs one panel for each input, then the biases; last the weights of the logit and its bias (lane 0 of a
//! panel). Lanes beyond a layer's width are zero and stay so: their activations, and with them their
//! gradients, are zero.

use std::ops::Range;

use super::kernels::{LANES, Panel, panels};

/// One hidden layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    /// Of the weights' panels.
    pub weights: Range<usize>,
    /// Of the weights' panels.
    pub biases: Range<usize>,
    /// Of the panels of the transposed weights, which the backward pass reads.
    pub transposed: Range<usize>,
}

/// The shape of a network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub dim: usize,
    pub layers: Vec<Layer>,
    /// The weights of the logit.
    pub output: Range<usize>,
    /// The panel whose lane 0 is the bias of the logit.
    pub output_bias: usize,
    /// Panels of the transposed weights.
    pub transposed: usize,
    /// Panels of inputs and activations for one sample.
    pub activations: usize,
}

impl Layout {
    pub fn new(dim: usize, hidden: &[usize]) -> Self {
        let mut layers = Vec::with_capacity(hidden.len());
        let (mut inputs, mut end, mut transposed) = (dim, 0, 0);
        let mut activations = panels(dim);
        for &outputs in hidden {
            let biases = end + inputs * panels(outputs);
            let after = biases + panels(outputs);
            let transposed_after = transposed + outputs * panels(inputs);
            layers.push(Layer {
                inputs,
                outputs,
                weights: end..biases,
                biases: biases..after,
                transposed: transposed..transposed_after,
            });
            activations += panels(outputs);
            (inputs, end, transposed) = (outputs, after, transposed_after);
        }
        let output_bias = end + panels(inputs);
        Self { dim, layers, output: end..output_bias, output_bias, transposed, activations }
    }

    /// Panels of weights.
    pub fn weights(&self) -> usize {
        self.output_bias + 1
    }

    /// The width of what the logit is computed from.
    pub fn last_width(&self) -> usize {
        self.layers.last().map_or(self.dim, |layer| layer.outputs)
    }
}

impl Layer {
    /// The weight from `input` to `output`.
    pub fn weight(&self, weights: &[Panel], output: usize, input: usize) -> f32 {
        weights[self.place(output, input)].0[output % LANES]
    }

    /// The weight from `input` to `output`, to be changed.
    pub fn weight_mut<'w>(
        &self,
        weights: &'w mut [Panel],
        output: usize,
        input: usize,
    ) -> &'w mut f32 {
        &mut weights[self.place(output, input)].0[output % LANES]
    }

    /// The bias of `output`.
    pub fn bias(&self, weights: &[Panel], output: usize) -> f32 {
        weights[self.biases.start + output / LANES].0[output % LANES]
    }

    fn place(&self, output: usize, input: usize) -> usize {
        debug_assert!(input < self.inputs && output < self.outputs);
        self.weights.start + output / LANES * self.inputs + input
    }
}
