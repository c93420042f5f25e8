//! The coordinates of a region: those of the cube, moved to the region's centre and turned and stretched along its
//! valleys.
//!
//! ```text
//! u = T⁻¹(x - c),     x = c + T u,     |det T| = 1
//! ```
//!
//! A kernel with one length scale a coordinate is blind to valleys that run askew. The directions in which the model
//! changes most are the eigenvectors Q of the mean of its gradients' outer products, taken in units of the length scales ℓ;
//! T ← T diag(ℓ) Q makes them coordinates. Repeated, it resolves one order of magnitude of conditioning after another.
//! Where a quadratic describes the values well, T = H^-½ of its curvature does so at once.
//!
//! Cost: O(d²) a point, O(d) while T is the identity; O(d³) to turn.

use crate::linalg::symmetric::{Eigen, eigen};
use crate::points::Points;

/// A centre and a metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    centre: Vec<f64>,
    metric: Option<Metric>,
}

/// A linear map of determinant one, and its inverse.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// The columns of T, one after another.
    columns: Vec<f64>,
    /// The rows of T⁻¹, one after another.
    rows: Vec<f64>,
}

/// Where stretching ends: beyond it, rounding and the grid of the coordinates take over.
const LARGEST_STRETCH: f64 = 1e4;

/// The least eigenvalue of a curvature, in the largest.
const FLATTEST: f64 = 1e-7;

impl Metric {
    /// T diag(ℓ) Q, where Q turns to the eigenvectors of `outer`, the mean of the outer products of gradients in u, and T
    /// is `before`. `None` if there is nothing to learn.
    pub(super) fn turned(before: Option<&Self>, scales: &[f64], outer: &[f64]) -> Option<Self> {
        let dim = scales.len();
        let mean = (scales.iter().map(|l| l.ln()).sum::<f64>() / dim as f64).exp();
        let stretch: Vec<f64> = scales.iter().map(|l| l / mean).collect();
        let scaled: Vec<f64> =
            (0..dim * dim).map(|i| outer[i] * stretch[i / dim] * stretch[i % dim]).collect();
        let axes = eigen(&scaled, dim)?.vectors;
        let identity = || {
            let unit = |i: usize| f64::from(u8::from(i / dim == i % dim));
            let unit: Vec<f64> = (0..dim * dim).map(unit).collect();
            Self { columns: unit.clone(), rows: unit }
        };
        let before = before.cloned().unwrap_or_else(identity);
        let mut turned = Self { columns: vec![0.0; dim * dim], rows: vec![0.0; dim * dim] };
        for (k, axis) in axes.chunks_exact(dim).enumerate() {
            for (j, (along, stretch)) in axis.iter().zip(&stretch).enumerate() {
                for i in 0..dim {
                    turned.columns[k * dim + i] += along * stretch * before.columns[j * dim + i];
                    turned.rows[k * dim + i] += along / stretch * before.rows[j * dim + i];
                }
            }
        }
        let lengths =
            turned.columns.chunks_exact(dim).map(|c| c.iter().map(|c| c * c).sum::<f64>());
        let (least, most) =
            lengths.fold((f64::INFINITY, 0.0_f64), |(a, b), l| (a.min(l), b.max(l)));
        (most <= LARGEST_STRETCH * LARGEST_STRETCH * least).then_some(turned)
    }
}

impl Metric {
    /// T = H^-½ with determinant 1: in these coordinates a quadratic of curvature H is round. Eigenvalues below [`FLATTEST`]
    /// of the largest, and negative ones, count as that. `None` if nothing curves upwards.
    pub(super) fn rounding(hessian: &[f64], dim: usize) -> Option<Self> {
        let Eigen { values, vectors } = eigen(hessian, dim)?;
        let most = values.iter().copied().fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        let logs: Vec<f64> = values.iter().map(|v| v.max(FLATTEST * most).ln()).collect();
        let mean = logs.iter().sum::<f64>() / dim as f64;
        let stretched = |sign: f64| {
            let axes = vectors.chunks_exact(dim).zip(&logs);
            axes.flat_map(|(axis, log)| {
                let stretch = (sign * 0.5 * (mean - log)).exp();
                axis.iter().map(move |a| a * stretch)
            })
            .collect()
        };
        Some(Self { columns: stretched(1.0), rows: stretched(-1.0) })
    }
}

impl Frame {
    pub(super) fn new(centre: Vec<f64>, metric: Option<Metric>) -> Self {
        Self { centre, metric }
    }

    /// A point of the cube in these coordinates.
    pub(super) fn enter(&self, x: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; x.len()];
        self.enter_into(x, &mut u);
        u
    }

    /// Writes a point of the cube in these coordinates.
    pub(super) fn enter_into(&self, x: &[f64], u: &mut [f64]) {
        let moved = x.iter().zip(&self.centre).map(|(x, c)| x - c);
        match &self.metric {
            None => u.iter_mut().zip(moved).for_each(|(u, moved)| *u = moved),
            Some(metric) => {
                for (u, row) in u.iter_mut().zip(metric.rows.chunks_exact(x.len())) {
                    *u = row.iter().zip(moved.clone()).map(|(r, m)| r * m).sum();
                }
            }
        }
    }

    /// The point of the cube nearest to `u`, coordinate by coordinate.
    pub(super) fn leave(&self, u: &[f64]) -> Vec<f64> {
        let mut x = self.centre.clone();
        match &self.metric {
            None => x.iter_mut().zip(u).for_each(|(x, u)| *x += u),
            Some(metric) => {
                for (column, u) in metric.columns.chunks_exact(u.len()).zip(u) {
                    x.iter_mut().zip(column).for_each(|(x, c)| *x += u * c);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_undoes_entering_and_a_turned_frame_sees_a_round_bowl() {
        // f = xᵀHx with H of condition 100, askew: gradients 2Hx at points of a circle.
        let h = [50.5, 49.5, 49.5, 50.5];
        let mut outer = [0.0; 4];
        for i in 0..16 {
            let (sin, cos) = (f64::from(i) * std::f64::consts::TAU / 16.0).sin_cos();
            let g = [h[0] * cos + h[1] * sin, h[2] * cos + h[3] * sin];
            (0..4).for_each(|k| outer[k] += g[k / 2] * g[k % 2]);
        }
        let metric = Metric::turned(None, &[1.0, 1.0], &outer).unwrap();
        // Axes along (1, -1) and (1, 1), the flat one first; a second turn with the fitted scales stretches them.
        let metric = Metric::turned(Some(&metric), &[10.0, 1.0], &[1.0, 0.0, 0.0, 2.0]).unwrap();
        let frame = Frame::new(vec![0.5, 0.4], Some(metric));
        let curvature = |u: [f64; 2]| {
            let x = frame.leave(&u);
            let x = [x[0] - 0.5, x[1] - 0.4];
            h[0] * x[0] * x[0] + 2.0 * h[1] * x[0] * x[1] + h[3] * x[1] * x[1]
        };
        let (a, b) = (curvature([0.01, 0.0]), curvature([0.0, 0.01]));
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        let u = frame.enter(&frame.leave(&[0.03, -0.02]));
        assert!((u[0] - 0.03).abs() < 1e-12 && (u[1] + 0.02).abs() < 1e-12, "{u:?}");
    }

    #[test]
    fn the_curvature_of_a_bowl_makes_it_round() {
        let h = [50.5, 49.5, 49.5, 50.5];
        let frame = Frame::new(vec![0.5, 0.5], Metric::rounding(&h, 2));
        let value = |u: [f64; 2]| {
            let x = frame.leave(&u);
            let x = [x[0] - 0.5, x[1] - 0.5];
            h[0] * x[0] * x[0] + 2.0 * h[1] * x[0] * x[1] + h[3] * x[1] * x[1]
        };
        for k in 0..8 {
            let (sin, cos) = f64::from(k).sin_cos();
            let round = value([0.01 * cos, 0.01 * sin]) / value([0.01, 0.0]);
            assert!((round - 1.0).abs() < 1e-9, "{round}");
        }
        let u = frame.enter(&frame.leave(&[0.03, -0.02]));
        assert!((u[0] - 0.03).abs() < 1e-12 && (u[1] + 0.02).abs() < 1e-12, "{u:?}");
        assert!(Metric::rounding(&[-1.0, 0.0, 0.0, -2.0], 2).is_none());
    }
}
