//! The jump: the minimum of a quadratic fitted to the best trials near by.
//!
//! 1. Of the trials near the centre the best 3/4 are kept, at most 1.5 times as many as a quadratic has coefficients. They count by rank,
//!    from 1 down to 0.05.
//! 2. C is their weighted second moment about the best one, o. Quadratics are fitted (ridge.rs) in coordinates whitened by C,
//!    in coordinates scaled one by one, and without mixed terms, each with four ridges; the one with the least weighted
//!    leave-one-out error is taken. Its *trust* τ is Kendall's rank correlation between the values and its predictions for points
//!    left out.
//! 3. The jump is to its minimum within sᵀC⁻¹s ≤ d: as far as the trials are spread, and inside the cube.
//!
//! 4. Where a polynomial of degree four (quartic.rs) predicts the same trials far better, the jump is to its minimum instead: valleys that
//!    bend are no quadratics.
//!
//! A jump has no rule of its own for success: the spread of the best trials shrinks and grows with it.
//!
//! Cost for n ≤ 188 points: fifteen fits, O(10n³).

use super::quadratic::Quadratic;
use super::quartic::Quartic;
use super::ridge::{Polynomials, Taylor, Terms, least_error};
use crate::linalg::definite::Definite;
use crate::points::Points;

/// The trials that a jump looks at, at least and at most.
const SEEN: (usize, usize) = (200, 250);
/// The share of them that is kept, and the most in numbers of coefficients.
const KEPT: f64 = 0.75;
const LARGEST: f64 = 1.5;
/// The weight of the last of them.
const LAST: f64 = 0.05;
/// The ridges.
const RIDGES: [f64; 4] = [1e-9, 1e-6, 1e-3, 3e-2];
/// The part of the mean spread by which every coordinate of C is widened, so that it can be inverted.
const WIDENED: f64 = 1e-10;

/// The least rank correlation τ at which the minimum of the quadratic is worth a trial.
const TRUSTED: f64 = 0.5;
/// The least τ at which its curvature is worth a metric.
const DESCRIBES: f64 = 0.7;

/// A quadratic, how far it may be followed, and how far it is believed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Jump {
    quadratic: Quadratic,
    /// The rows of C⁻¹/d: steps have at most length 1 in it.
    shape: Vec<f64>,
    /// τ, from -1 to 1.
    trust: f64,
    /// How many points it was fitted to.
    points: usize,
    /// The polynomial of degree four, where it is the better description.
    quartic: Option<Quartic>,
}

/// How many coefficients a quadratic has.
pub(super) fn coefficients(dim: usize) -> usize {
    (dim + 1) * (dim + 2) / 2
}

/// How many trials a jump wants to choose from.
pub(super) fn wanted(dim: usize) -> usize {
    (2 * coefficients(dim)).clamp(SEEN.0, SEEN.1)
}

impl Jump {
    /// The quadratic of some trials, and the polynomial of degree four if that may be used; `None` if they are too few or do not
    /// differ.
    pub(super) fn fit(points: &Points, values: &[f64], bends: bool) -> Option<Self> {
        let dim = points.dim();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let most = (LARGEST * coefficients(dim) as f64).ceil() as usize;
        let n = most.min(kept(values.len()).max(dim + 2)).min(values.len());
        if n < dim + 2 {
            return None;
        }
        let Sample { origin, moved, gaps, weights, unit } =
            Sample::new(points, values, &order[..n])?;
        let spread = Spread::of(&moved, &weights)?;
        let coordinates = [spread.whitening(), spread.scaling()];
        let seen = coordinates.each_ref().map(|map| map.enter_all(&moved));
        let kinds =
            [(0, Terms::Full(1.0)), (1, Terms::Diagonal(dim as f64)), (1, Terms::Full(1.0))];
        let polynomials = kinds.map(|(map, terms)| Polynomials { points: &seen[map], terms });
        let disbelief = |ridge: f64, i: usize, _: f64| ridge / weights[i];
        let (kind, fit) = least_error(&polynomials, &RIDGES, disbelief, &weights, &gaps)?;
        let slopes = coordinates[kinds[kind].0].leave(&polynomials[kind].taylor(&fit));
        let error = unit * unit * weighted_square(&fit.left_out, &weights);
        let quartic = bends.then(|| Quartic::fit(points, values, &order, &weights, error));
        Some(Self {
            quadratic: Quadratic { origin, slopes },
            shape: spread.shape(),
            trust: trust(&gaps, &fit.left_out),
            points: n,
            quartic: quartic.flatten(),
        })
    }

    /// Whether the curvature is that of the values: the predictions are good, and there are points enough for all
    /// directions.
    pub(super) fn describes(&self, dim: usize) -> bool {
        self.trust >= DESCRIBES && self.points > 2 * dim
    }

    /// Whether its minimum is worth a trial.
    pub(super) fn is_trusted(&self) -> bool {
        self.trust >= TRUSTED || self.quartic.is_some()
    }

    /// The curvature, by rows.
    pub(super) fn hessian(&self) -> &[f64] {
        &self.quadratic.slopes.hessian
    }

    /// Where it is least, as far as it may be followed.
    pub(super) fn target(&self) -> Option<Vec<f64>> {
        let bent = self.quartic.as_ref().and_then(Quartic::minimiser);
        bent.or_else(|| self.quadratic.minimiser(&self.shape, 1.0))
    }
}

/// How many of some trials are kept.
pub(super) fn kept(trials: usize) -> usize {
    (KEPT * trials as f64).ceil() as usize
}

/// Some trials, best first, as they are fitted: about the best one, in units of their mean gap to it.
pub(super) struct Sample {
    /// The best one.
    pub(super) origin: Vec<f64>,
    /// Where the trials are, seen from it.
    pub(super) moved: Points,
    /// By how much they are worse, in units.
    pub(super) gaps: Vec<f64>,
    /// How much each counts, by rank.
    pub(super) weights: Vec<f64>,
    pub(super) unit: f64,
}

impl Sample {
    /// The trials that `order` names, best first; `None` if they do not differ.
    pub(super) fn new(points: &Points, values: &[f64], order: &[usize]) -> Option<Self> {
        let n = order.len();
        let (origin, best) = (points.row(order[0]).to_vec(), values[order[0]]);
        let weights: Vec<f64> =
            (0..n).map(|i| 1.0 - (1.0 - LAST) * i as f64 / (n - 1) as f64).collect();
        let sum: f64 = weights.iter().sum();
        let moved = Points::from_rows(
            points.dim(),
            order.iter().map(|&i| -> Vec<f64> {
                points.row(i).iter().zip(&origin).map(|(x, o)| x - o).collect()
            }),
        );
        let unit =
            order.iter().zip(&weights).map(|(&i, w)| w * (values[i] - best)).sum::<f64>() / sum;
        if !(unit > 0.0 && unit.is_finite()) {
            return None;
        }
        let gaps = order.iter().map(|&i| (values[i] - best) / unit).collect();
        Some(Self { origin, moved, gaps, weights, unit })
    }
}

/// Σ w r².
pub(super) fn weighted_square(residuals: &[f64], weights: &[f64]) -> f64 {
    residuals.iter().zip(weights).map(|(r, w)| w * r * r).sum()
}

/// Kendall's rank correlation between values and what is predicted for each when it is left out.
pub(super) fn trust(gaps: &[f64], left_out: &[f64]) -> f64 {
    let predicted: Vec<f64> = gaps.iter().zip(left_out).map(|(y, r)| y - r).collect();
    kendall(gaps, &predicted)
}

/// The weighted second moment C of some points about zero.
pub(super) struct Spread {
    dim: usize,
    deviations: Vec<f64>,
    /// L⁻¹ of C = LLᵀ, by rows.
    inverse: Vec<f64>,
}

impl Spread {
    pub(super) fn of(points: &Points, weights: &[f64]) -> Option<Self> {
        let dim = points.dim();
        let sum: f64 = weights.iter().sum();
        let mut moment = vec![0.0; dim * dim];
        for (x, weight) in points.rows().zip(weights) {
            for (row, a) in moment.chunks_exact_mut(dim).zip(x) {
                row.iter_mut().zip(x).for_each(|(m, b)| *m += weight / sum * a * b);
            }
        }
        let mean = (0..dim).map(|k| moment[k * dim + k]).sum::<f64>() / dim as f64;
        if mean * dim as f64 <= 1e-26 {
            return None;
        }
        // With fewer points the rank of C says more about their number than about the valley.
        let mixed = points.len() > 2 * dim;
        let entry = |i: usize, j: usize| match i == j {
            true => moment[i * dim + i] * (1.0 + 1e-9) + WIDENED * mean,
            false if mixed => moment[i * dim + j],
            false => 0.0,
        };
        let factor = Definite::factor(dim, entry)?.inverse_factor();
        let below = |i: usize, j: usize| if j <= i { factor.entry(i, j) } else { 0.0 };
        let inverse = (0..dim * dim).map(|e| below(e / dim, e % dim)).collect();
        Some(Self { dim, deviations: (0..dim).map(|k| entry(k, k).sqrt()).collect(), inverse })
    }

    /// z = L⁻¹s/√d.
    pub(super) fn whitening(&self) -> Map {
        let root = (self.dim as f64).sqrt();
        Map(self.inverse.iter().map(|l| l / root).collect())
    }

    /// Each coordinate over its deviation and √d.
    fn scaling(&self) -> Map {
        let (dim, root) = (self.dim, (self.dim as f64).sqrt());
        let mut rows = vec![0.0; dim * dim];
        for (k, deviation) in self.deviations.iter().enumerate() {
            rows[k * dim + k] = 1.0 / (deviation * root);
        }
        Map(rows)
    }

    /// The rows of C⁻¹/d = MᵀM for the whitening M.
    pub(super) fn shape(&self) -> Vec<f64> {
        let (dim, rows) = (self.dim, self.whitening().0);
        let entry =
            |i: usize, j: usize| (0..dim).map(|k| rows[k * dim + i] * rows[k * dim + j]).sum();
        (0..dim * dim).map(|e| entry(e / dim, e % dim)).collect()
    }
}

/// z = Ms, by rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Map(Vec<f64>);

impl Map {
    pub(super) fn enter(&self, step: &[f64]) -> Vec<f64> {
        let along = |row: &[f64]| row.iter().zip(step).map(|(m, x)| m * x).sum::<f64>();
        self.0.chunks_exact(step.len()).map(along).collect()
    }

    pub(super) fn enter_all(&self, points: &Points) -> Points {
        Points::from_rows(points.dim(), points.rows().map(|step| self.enter(step)))
    }

    /// Mᵀg and MᵀHM.
    pub(super) fn leave(&self, taylor: &Taylor) -> Taylor {
        let dim = taylor.gradient.len();
        let m = |i: usize, j: usize| self.0[i * dim + j];
        let gradient =
            (0..dim).map(|a| (0..dim).map(|k| m(k, a) * taylor.gradient[k]).sum()).collect();
        let half: Vec<f64> = (0..dim * dim)
            .map(|e| {
                let row = &taylor.hessian[e / dim * dim..][..dim];
                row.iter().enumerate().map(|(k, h)| h * m(k, e % dim)).sum()
            })
            .collect();
        let full = |a: usize, b: usize| (0..dim).map(|k| m(k, a) * half[k * dim + b]).sum::<f64>();
        // Symmetric to the last bit.
        let hessian =
            (0..dim * dim).map(|e| full((e / dim).max(e % dim), (e / dim).min(e % dim))).collect();
        Taylor { gradient, hessian }
    }
}

/// Kendall's rank correlation; pairs with equal values do not count, and equal predictions count as wrong.
fn kendall(values: &[f64], predicted: &[f64]) -> f64 {
    let (mut pairs, mut sum) = (0.0, 0.0);
    for (i, (a, p)) in values.iter().zip(predicted).enumerate() {
        for (b, q) in values[..i].iter().zip(predicted) {
            if a != b {
                pairs += 1.0;
                sum += if (a - b) * (p - q) > 0.0 { 1.0 } else { -1.0 };
            }
        }
    }
    if pairs > 0.0 { sum / pairs } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};

    /// A valley askew, of condition 10⁶ in the coordinates that the terms have; least at a point inside.
    fn valley(x: &[f64]) -> f64 {
        let dim = x.len();
        (0..dim)
            .map(|k| {
                let weight = 10.0_f64.powf(6.0 * k as f64 / (dim - 1) as f64);
                weight * (x[k] + 0.3 * x[(k + 1) % dim] - 0.5).powi(2)
            })
            .sum()
    }

    fn sample(dim: usize, count: usize) -> Points {
        let mut rng = Seed(1).stream("jump", dim as u64);
        Points::from_rows(
            dim,
            (0..count).map(|_| -> Vec<f64> { (0..dim).map(|_| uniform(&mut rng)).collect() }),
        )
    }

    #[test]
    fn a_quadratic_is_solved_once_there_is_a_point_for_each_coefficient() {
        for dim in [2, 3, 5] {
            // A quarter of the points is left out.
            let points = sample(dim, coefficients(dim) * 4 / 3 + 2);
            let bowl = |x: &[f64]| -> f64 {
                7.0 + (0..dim)
                    .map(|k| (k + 1) as f64 * (x[k] + 0.3 * x[(k + 1) % dim] - 0.5).powi(2))
                    .sum::<f64>()
            };
            let values: Vec<f64> = points.rows().map(bowl).collect();
            let jump = Jump::fit(&points, &values, false).unwrap();
            assert!(jump.trust > 0.99, "{dim}: {}", jump.trust);
            let best = values.iter().copied().fold(f64::INFINITY, f64::min);
            let reached = bowl(&jump.target().unwrap());
            assert!(reached - 7.0 < 1e-6 * (best - 7.0), "{dim}: {best} {reached}");
        }
    }

    #[test]
    fn jumps_descend_an_ill_conditioned_valley() {
        let dim = 5;
        let mut points = sample(dim, 2 * coefficients(dim));
        let mut values: Vec<f64> = points.rows().map(valley).collect();
        for _ in 0..12 {
            let jump = Jump::fit(&points, &values, false).unwrap();
            let x = jump.target().unwrap();
            points.push(&x);
            values.push(valley(&x));
        }
        let best = values.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(best < 1e-3, "{best}");
    }

    #[test]
    fn a_linear_slope_leads_to_the_corner() {
        let dim = 20;
        let mut points = sample(dim, dim + 2);
        let slope = |x: &[f64]| -> f64 {
            x.iter().enumerate().map(|(k, x)| if k % 3 == 0 { *x } else { -2.0 * x }).sum()
        };
        let mut values: Vec<f64> = points.rows().map(slope).collect();
        for _ in 0..12 {
            let x = Jump::fit(&points, &values, false).unwrap().target().unwrap();
            points.push(&x);
            values.push(slope(&x));
        }
        let best = values.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((best + 26.0).abs() < 1e-9, "{best}");
    }

    #[test]
    fn noise_is_not_trusted_and_equal_values_give_no_jump() {
        let points = sample(4, 60);
        let mut rng = Seed(9).stream("noise", 0);
        let noise: Vec<f64> = (0..60).map(|_| uniform(&mut rng)).collect();
        assert!(!Jump::fit(&points, &noise, true).unwrap().is_trusted());
        assert!(Jump::fit(&points, &[1.0; 60], true).is_none());
        assert!(Jump::fit(&sample(4, 5), &[1.0, 2.0, 3.0, 4.0, 5.0], true).is_none());
    }
}
