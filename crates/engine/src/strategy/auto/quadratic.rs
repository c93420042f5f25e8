//! A quadratic about a point of the cube, and the step to its minimum inside a trust region and the cube.
//!
//! ```text
//! minimise gᵀs + ½ sᵀHs   subject to   sᵀAs ≤ r²,   0 ≤ o + s ≤ 1
//! ```
//!
//! For a multiplier μ of the trust region, the step is the minimum of gᵀs + ½ sᵀ(H + μA)s in the box, by block principal pivoting:
//! coordinates are free or held at a face; those that leave the box are held, and those that a face holds against the slope are freed,
//! all at once while that helps and one at a time when it does not (Júdice and Pires 1994). The length falls as μ grows, and μ is found
//! by bisection of its logarithm.
//!
//! Cost: O(d³) a pivot, a few pivots for each of about a dozen μ.

use super::ridge::Taylor;
use crate::linalg::definite::Definite;

/// How long pivots may go on at once without gain before they are made one at a time.
const PATIENCE: usize = 3;
/// ln μ is found to this precision: the length of the step then is to about a hundredth.
const PRECISION: f64 = 0.02;
/// The range of μ, in the curvature and slope of the quadratic.
const RANGE: (f64, f64) = (1e-14, 1e4);

/// gᵀs + ½ sᵀHs with x = origin + s.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quadratic {
    pub(super) origin: Vec<f64>,
    pub(super) slopes: Taylor,
}

/// Where a coordinate of a step is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Free,
    /// At the face x = 0.
    Low,
    /// At the face x = 1.
    High,
}

impl Quadratic {
    /// The minimiser within √(sᵀAs) ≤ `radius` and the cube, where `shape` holds the rows of A. `None` if rounding gets in the
    /// way.
    pub(super) fn minimiser(&self, shape: &[f64], radius: f64) -> Option<Vec<f64>> {
        let dim = self.origin.len();
        let step_within = |mu: f64| {
            let step = self.step(shape, mu)?;
            (length(&step, shape) <= radius).then_some(step)
        };
        let step = match step_within(0.0) {
            Some(step) => step,
            None => {
                let Taylor { gradient, hessian } = &self.slopes;
                let at = |k: usize| shape[k * dim + k].max(f64::MIN_POSITIVE);
                let most = |f: &dyn Fn(usize) -> f64| (0..dim).map(f).fold(0.0, f64::max);
                let scale = most(&|k| hessian[k * dim + k].abs() / at(k))
                    + most(&|k| gradient[k].abs() / at(k).sqrt());
                let mut low = (RANGE.0 * scale).max(f64::MIN_POSITIVE).ln();
                let mut high = (RANGE.1 * scale).ln();
                let mut step = step_within(high.exp())?;
                while high - low > PRECISION {
                    let middle = 0.5 * (low + high);
                    match step_within(middle.exp()) {
                        Some(shorter) => (step, high) = (shorter, middle),
                        None => low = middle,
                    }
                }
                step
            }
        };
        let x: Vec<f64> =
            self.origin.iter().zip(&step).map(|(o, s)| (o + s).clamp(0.0, 1.0)).collect();
        x.iter().all(|x| x.is_finite()).then_some(x)
    }

    /// The minimum in the cube of the quadratic with μA added to its curvature.
    fn step(&self, shape: &[f64], mu: f64) -> Option<Vec<f64>> {
        let dim = self.origin.len();
        let Taylor { gradient, hessian } = &self.slopes;
        let curvature = |i: usize, j: usize| hessian[i * dim + j] + mu * shape[i * dim + j];
        let held = |k: usize, place: Place| match place {
            Place::Free => 0.0,
            Place::Low => -self.origin[k],
            Place::High => 1.0 - self.origin[k],
        };
        let mut places = vec![Place::Free; dim];
        let (mut fewest, mut patience) = (usize::MAX, PATIENCE);
        for _ in 0..4 * dim + 20 {
            let free: Vec<usize> = (0..dim).filter(|&k| places[k] == Place::Free).collect();
            let mut step: Vec<f64> = places.iter().enumerate().map(|(k, p)| held(k, *p)).collect();
            let slope = |k: usize, step: &[f64]| -> f64 {
                gradient[k] + (0..dim).map(|j| curvature(k, j) * step[j]).sum::<f64>()
            };
            let factor = Definite::factor(free.len(), |i, j| curvature(free[i], free[j]))?;
            let mut solved: Vec<f64> = free.iter().map(|&k| -slope(k, &step)).collect();
            factor.solve(&mut solved);
            free.iter().zip(&solved).for_each(|(&k, s)| step[k] = *s);
            let wanted = |k: usize| match places[k] {
                Place::Free if self.origin[k] + step[k] < 0.0 => Place::Low,
                Place::Free if self.origin[k] + step[k] > 1.0 => Place::High,
                Place::Low if slope(k, &step) < 0.0 => Place::Free,
                Place::High if slope(k, &step) > 0.0 => Place::Free,
                same => same,
            };
            let changes: Vec<(usize, Place)> =
                (0..dim).map(|k| (k, wanted(k))).filter(|&(k, want)| want != places[k]).collect();
            let Some(&(last, want)) = changes.last() else { return Some(step) };
            if changes.len() < fewest {
                (fewest, patience) = (changes.len(), PATIENCE);
            } else {
                patience = patience.saturating_sub(1);
            }
            if patience > 0 {
                changes.iter().for_each(|&(k, want)| places[k] = want);
            } else {
                places[last] = want;
            }
        }
        None
    }
}

/// √(sᵀAs).
pub(super) fn length(step: &[f64], shape: &[f64]) -> f64 {
    let rows = shape.chunks_exact(step.len()).zip(step);
    let square: f64 =
        rows.map(|(row, a)| a * row.iter().zip(step).map(|(r, b)| r * b).sum::<f64>()).sum();
    square.max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    /// MᵀM + εI for a random M, by rows.
    fn definite(dim: usize, seed: u64, floor: f64) -> Vec<f64> {
        let mut rng = Seed(seed).stream("definite", 0);
        let m: Vec<f64> = (0..dim * dim).map(|_| 2.0 * uniform(&mut rng) - 1.0).collect();
        (0..dim * dim)
            .map(|e| {
                let (i, j) = (e / dim, e % dim);
                let sum: f64 = (0..dim).map(|k| m[k * dim + i] * m[k * dim + j]).sum();
                sum + if i == j { floor } else { 0.0 }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn the_minimiser_keeps_to_cube_and_radius_and_nothing_leads_downhill(
            dim in 1_usize..9, seed in 0_u64..1000, radius in 0.05..3.0_f64, bend in -1.0..1.0_f64,
        ) {
            let mut rng = Seed(seed).stream("quadratic", 1);
            let mut hessian = definite(dim, seed, 1e-3);
            // Saddles too.
            hessian[0] -= if bend < 0.0 { 2.0 * hessian[0] } else { 0.0 };
            let quadratic = Quadratic {
                origin: (0..dim).map(|_| uniform(&mut rng)).collect(),
                slopes: Taylor {
                    gradient: (0..dim).map(|_| 4.0 * uniform(&mut rng) - 2.0).collect(),
                    hessian: hessian.clone(),
                },
            };
            let shape = definite(dim, seed + 1, 0.5);
            let x = quadratic.minimiser(&shape, radius).unwrap();
            prop_assert!(x.iter().all(|x| (0.0..=1.0).contains(x)));
            let step: Vec<f64> = x.iter().zip(&quadratic.origin).map(|(x, o)| x - o).collect();
            prop_assert!(length(&step, &shape) <= radius * (1.0 + 1e-9));
            // Lower than at any point of the region on a coarse sample.
            let value = |s: &[f64]| -> f64 {
                (0..dim)
                    .map(|i| {
                        let bent: f64 = (0..dim).map(|j| hessian[i * dim + j] * s[j]).sum();
                        s[i] * (quadratic.slopes.gradient[i] + 0.5 * bent)
                    })
                    .sum()
            };
            let here = value(&step);
            prop_assert!(here <= 1e-9);
            for _ in 0..200 {
                let to: Vec<f64> = (0..dim).map(|_| uniform(&mut rng)).collect();
                let mut other: Vec<f64> =
                    to.iter().zip(&quadratic.origin).map(|(x, o)| x - o).collect();
                let long = length(&other, &shape);
                if long > 0.95 * radius {
                    other.iter_mut().for_each(|s| *s *= 0.95 * radius / long);
                }
                // From here towards there: a convex region, so the first step would gain if this were no minimum.
                if bend >= 0.0 {
                    let towards: Vec<f64> =
                        step.iter().zip(&other).map(|(a, b)| a + 1e-3 * (b - a)).collect();
                    prop_assert!(value(&towards) >= here - 1e-4 * here.abs() - 1e-9);
                }
            }
        }
    }

    #[test]
    fn a_coordinate_is_freed_where_the_face_no_longer_holds_it() {
        // The free minimum is at s = (1.6, -0.9), beyond both faces; with the first coordinate held, the second wants back in.
        let quadratic = Quadratic {
            origin: vec![0.5, 0.5],
            slopes: Taylor { gradient: vec![-0.8, -0.55], hessian: vec![1.0, 0.9, 0.9, 1.0] },
        };
        let x = quadratic.minimiser(&[1.0, 0.0, 0.0, 1.0], 10.0).unwrap();
        assert!(x[0] == 1.0 && (x[1] - 0.6).abs() < 1e-12, "{x:?}");
    }
}
