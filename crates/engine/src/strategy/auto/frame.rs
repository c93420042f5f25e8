//! The coordinates of a region: those of the cube, moved to the region's centre and turned along its axes.
//!
//! ```text
//! u = Rᵀ(x - c),     x = c + R u
//! ```
//!
//! Cost: O(d²) a point, O(d) without a rotation.

use crate::points::Points;

/// A centre, and axes of unit length.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    centre: Vec<f64>,
    axes: Option<Axes>,
}

/// Orthonormal axes, one after another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axes(pub(super) Vec<f64>);

impl Frame {
    pub(super) fn new(centre: Vec<f64>, axes: Option<Axes>) -> Self {
        Self { centre, axes }
    }

    /// A point of the cube in these coordinates.
    pub(super) fn enter(&self, x: &[f64]) -> Vec<f64> {
        let moved: Vec<f64> = x.iter().zip(&self.centre).map(|(x, c)| x - c).collect();
        match &self.axes {
            None => moved,
            Some(Axes(axes)) => axes
                .chunks_exact(moved.len())
                .map(|axis| axis.iter().zip(&moved).map(|(a, m)| a * m).sum())
                .collect(),
        }
    }

    /// The point of the cube nearest to `u`, coordinate by coordinate.
    pub(super) fn leave(&self, u: &[f64]) -> Vec<f64> {
        let mut x = self.centre.clone();
        match &self.axes {
            None => x.iter_mut().zip(u).for_each(|(x, u)| *x += u),
            Some(Axes(axes)) => {
                for (axis, u) in axes.chunks_exact(x.len()).zip(u) {
                    x.iter_mut().zip(axis).for_each(|(x, a)| *x += u * a);
                }
            }
        }
        x.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
        x
    }

    /// Points of the cube in these coordinates.
    pub(super) fn enter_all<'p>(&self, points: impl Iterator<Item = &'p [f64]>) -> Points {
        Points::from_rows(self.centre.len(), points.map(|x| self.enter(x)))
    }

    /// `u` moved into the cube.
    pub(super) fn keep_inside(&self, u: &[f64]) -> Vec<f64> {
        self.enter(&self.leave(u))
    }
}
