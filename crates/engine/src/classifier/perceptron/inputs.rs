//! The scale on which a network sees points.

use serde::{Deserialize, Serialize};

use super::kernels::{LANES, Panel};

/// The scale on which a network sees the coordinates of a point, which lie between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// As they are, between 0 and 1: the paper's.
    #[default]
    Cube,
    /// Between -1 and 1. Weights that start at random then bend the logit inside the cube, not only at its faces, so that a network says
    /// more after little training.
    Centred,
}

impl Inputs {
    /// What a coordinate is multiplied by; its derivative.
    pub(super) fn slope(self) -> f64 {
        match self {
            Self::Centred => 2.0,
            Self::Cube => 1.0,
        }
    }

    /// Writes a point into panels, with zeros in the lanes beyond it.
    pub(super) fn write(self, x: &[f64], row: &mut [Panel]) {
        for (x, panel) in x.chunks(LANES).zip(row) {
            *panel = Panel::ZERO;
            for (&x, lane) in x.iter().zip(&mut panel.0) {
                *lane = match self {
                    Self::Centred => 2.0 * x - 1.0,
                    Self::Cube => x,
                } as f32;
            }
        }
    }
}
