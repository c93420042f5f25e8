//! What the tests of batch rules share: a density with two modes.

use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::points::squared_distance;

/// log of a mixture of two equal Gaussians of deviation 0.1.
pub(super) struct TwoModes {
    /// Their means.
    pub modes: [[f64; 2]; 2],
}

impl Acquisition for TwoModes {
    fn dim(&self) -> usize {
        2
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.value_and_gradient(x, &mut [0.0; 2])
    }
}

impl SmoothAcquisition for TwoModes {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let logs = self.modes.map(|mode| -squared_distance(x, &mode) / 0.02);
        let highest = logs[0].max(logs[1]);
        let weights = logs.map(|log| (log - highest).exp());
        let total = weights[0] + weights[1];
        for (k, g) in gradient.iter_mut().enumerate() {
            *g = (0..2).map(|m| weights[m] / total * (self.modes[m][k] - x[k]) / 0.01).sum();
        }
        highest + total.ln()
    }
}

/// Modes in two corners of the unit square.
pub(super) const TWO_MODES: TwoModes = TwoModes { modes: [[0.25, 0.25], [0.75, 0.75]] };
