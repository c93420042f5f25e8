//! A polynomial of degree four of the best trials near by, for valleys that bend.
//!
//! A quadratic follows a bent valley in short steps, since it is right only near the point about which it was fitted. The polynomial of
//! degree four is fitted (ridge.rs) to more of the best trials, in coordinates whitened by their second moment C, and takes the place
//! of the quadratic where its leave-one-out error is less than half of the quadratic's, on the trials that the quadratic was fitted to
//! and in the weights that it gave them.
//!
//! It has (d + 1)(d + 2)(d + 3)(d + 4)/24 coefficients: 35 in three dimensions, 126 in five, 495 in eight. With less than half as many trials as
//! that it is not fitted, so that it serves up to seven dimensions.
//!
//! Its minimum near the best trial is found by Newton's steps within a trust region of their own, inside sᵀC⁻¹s ≤ d and the cube.
//!
//! Cost for n ≤ 150 points: three fits, O(2n³); O(nd²) a step.

use super::jump::{Map, Sample, Spread, kept, trust, weighted_square};
use super::quadratic::{Quadratic, length};
use super::ridge::{Polynomials, Ridge, Taylor, Terms, least_error, quartic};
use crate::points::Points;

/// The most trials, in numbers of coefficients.
const LARGEST: f64 = 1.5;
/// The ridges. More would make a quadratic of it.
const RIDGES: [f64; 3] = [1e-9, 1e-6, 1e-3];
/// The part of the quadratic's error that it may have.
const BETTER: f64 = 0.5;
/// The least rank correlation between the values and what is predicted for each of them when it is left out.
const TRUSTED: f64 = 0.5;
/// Newton's steps, at most; their first and last radius, in units of the trials' spread.
const STEPS: usize = 30;
const RADII: (f64, f64) = (0.5, 1e-6);

/// A polynomial of degree four about the best trial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quartic {
    origin: Vec<f64>,
    coordinates: Map,
    /// The trials in these coordinates.
    seen: Points,
    fit: Ridge,
    /// The rows of C⁻¹/d: the minimum is sought within length 1 in it.
    shape: Vec<f64>,
}

/// How many coefficients it has.
fn coefficients(dim: usize) -> usize {
    (1..=4).map(|k| dim + k).product::<usize>() / 24
}

impl Quartic {
    /// The polynomial of some trials, which `order` sorts by value. `None` if there are too few, or if it is not far better
    /// than a quadratic whose weighted leave-one-out error on the first of them was `error`; `weights` are theirs.
    pub(super) fn fit(
        points: &Points,
        values: &[f64],
        order: &[usize],
        weights: &[f64],
        error: f64,
    ) -> Option<Self> {
        let coefficients = coefficients(points.dim());
        let n = kept(values.len()).min((LARGEST * coefficients as f64).ceil() as usize);
        if n <= weights.len() || 2 * n < coefficients {
            return None;
        }
        let sample = Sample::new(points, values, &order[..n])?;
        let spread = Spread::of(&sample.moved, &sample.weights)?;
        let coordinates = spread.whitening();
        let seen = coordinates.enter_all(&sample.moved);
        let kinds = [Polynomials { points: &seen, terms: Terms::Quartic }];
        let disbelief = |ridge: f64, i: usize, _: f64| ridge / sample.weights[i];
        let (_, fit) = least_error(&kinds, &RIDGES, disbelief, weights, &sample.gaps)?;
        let of_it = sample.unit * sample.unit * weighted_square(&fit.left_out, weights);
        let (gaps, left_out) = (&sample.gaps[..weights.len()], &fit.left_out[..weights.len()]);
        if !(of_it < BETTER * error && trust(gaps, left_out) >= TRUSTED) {
            return None;
        }
        Some(Self { origin: sample.origin, coordinates, seen, fit, shape: spread.shape() })
    }

    /// Value, slope and curvature after a step from the best trial.
    fn at(&self, step: &[f64]) -> (f64, Taylor) {
        let dim = step.len();
        let z = self.coordinates.enter(step);
        let mut value = 0.0;
        let mut taylor = Taylor { gradient: vec![0.0; dim], hessian: vec![0.0; dim * dim] };
        for (x, weight) in self.seen.rows().zip(&self.fit.weights) {
            let u = x.iter().zip(&z).map(|(a, b)| a * b).sum();
            let [kernel, slope, curvature] = quartic(u).map(|k| weight * k);
            value += kernel;
            taylor.gradient.iter_mut().zip(x).for_each(|(g, x)| *g += slope * x);
            for (row, a) in taylor.hessian.chunks_exact_mut(dim).zip(x) {
                row.iter_mut().zip(x).for_each(|(h, b)| *h += curvature * a * b);
            }
        }
        (value, self.coordinates.leave(&taylor))
    }

    /// Where it is least near the best trial; `None` if it is least there.
    pub(super) fn minimiser(&self) -> Option<Vec<f64>> {
        let mut step = vec![0.0; self.origin.len()];
        let (mut value, mut slopes) = self.at(&step);
        let mut radius = RADII.0;
        for _ in 0..STEPS {
            let origin = self.after(&step);
            let quadratic = Quadratic { origin, slopes: slopes.clone() };
            let next = quadratic
                .minimiser(&self.shape, radius)
                .map(|x| -> Vec<f64> { x.iter().zip(&self.origin).map(|(x, o)| x - o).collect() });
            let lower = next.filter(|next| length(next, &self.shape) <= 1.0).and_then(|next| {
                let there = self.at(&next);
                (there.0 < value).then_some((next, there))
            });
            let Some((next, there)) = lower else {
                radius *= 0.4;
                if radius < RADII.1 {
                    break;
                }
                continue;
            };
            let went: Vec<f64> = next.iter().zip(&step).map(|(a, b)| a - b).collect();
            let went = length(&went, &self.shape);
            step = next;
            (value, slopes) = there;
            if went > 0.8 * radius {
                radius = (2.0 * radius).min(1.0);
            } else if went < 1e-9 {
                break;
            }
        }
        let moved = step.iter().any(|s| *s != 0.0);
        Some(self.after(&step)).filter(|x| moved && x.iter().all(|x| x.is_finite()))
    }

    /// The point of the cube after a step.
    fn after(&self, step: &[f64]) -> Vec<f64> {
        self.origin.iter().zip(step).map(|(o, s)| (o + s).clamp(0.0, 1.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::jump::Jump;
    use super::*;
    use crate::seed::{Seed, uniform};

    /// A valley that bends, least at 0.6 in every coordinate.
    fn bent(x: &[f64]) -> f64 {
        let x: Vec<f64> = x.iter().map(|x| 4.0 * (x - 0.6) + 1.0).collect();
        x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (w[0] - 1.0).powi(2)).sum()
    }

    fn sample(dim: usize, count: usize) -> (Points, Vec<f64>) {
        let mut rng = Seed(2).stream("quartic", dim as u64);
        let mut row = || -> Vec<f64> { (0..dim).map(|_| uniform(&mut rng)).collect() };
        let points = Points::from_rows(dim, (0..count).map(|_| row()));
        let values = points.rows().map(bent).collect();
        (points, values)
    }

    #[test]
    fn a_bent_valley_is_solved_by_one_jump_where_a_quadratic_takes_a_step() {
        for (dim, count) in [(2, 60), (3, 120)] {
            let (points, values) = sample(dim, count);
            let reached = |bends| {
                let jump = Jump::fit(&points, &values, bends).unwrap();
                bent(&jump.target().unwrap())
            };
            assert!(reached(true) < 1e-4, "{dim}: {}", reached(true));
            assert!(reached(false) > 1e-2, "{dim}: {}", reached(false));
        }
    }

    #[test]
    fn slope_and_curvature_are_those_of_finite_differences() {
        let (points, values) = sample(3, 100);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let quartic = Quartic::fit(&points, &values, &order, &[1.0; 15], f64::INFINITY).unwrap();
        let step = [0.03, -0.05, 0.02];
        let (_, Taylor { gradient, hessian }) = quartic.at(&step);
        for k in 0..3 {
            let moved = |by: f64| {
                let mut step = step;
                step[k] += by;
                quartic.at(&step)
            };
            let (above, below) = (moved(1e-6), moved(-1e-6));
            let close = |a: f64, b: f64| (a - b).abs() < 1e-4 * (1.0 + b.abs());
            assert!(close(gradient[k], (above.0 - below.0) / 2e-6), "{k} {gradient:?}");
            for j in 0..3 {
                let numeric = (above.1.gradient[j] - below.1.gradient[j]) / 2e-6;
                assert!(close(hessian[3 * k + j], numeric), "{k} {j} {numeric}");
            }
        }
    }

    #[test]
    fn a_quadratic_or_too_few_trials_leave_no_room_for_it() {
        let (points, _) = sample(3, 100);
        let bowl: Vec<f64> =
            points.rows().map(|x| x.iter().map(|x| (x - 0.4).powi(2)).sum()).collect();
        let target = |bends| Jump::fit(&points, &bowl, bends).unwrap().target().unwrap();
        assert_eq!(target(true), target(false));
        // 3,060 coefficients in fourteen dimensions.
        let (points, values) = sample(14, 200);
        let jump = |bends| Jump::fit(&points, &values, bends).unwrap();
        assert_eq!(jump(true), jump(false));
    }
}
