//! The kernel Stein discrepancy of a sample: how far points are from a density p that is known up to a factor.
//!
//! ```text
//! KSD² = (1/n²) Σᵢ Σⱼ u(xᵢ, xⱼ),      s(x) = ∇ log p(x),   aₖ(x) = b(xₖ) sₖ(x) + b'(xₖ)
//! u(x, y) = Σₖ aₖ(x) aₖ(y) k + aₖ(x) b(yₖ) ∂k/∂yₖ + aₖ(y) b(xₖ) ∂k/∂xₖ + b(xₖ) b(yₖ) ∂²k/∂xₖ∂yₖ
//! k(x, y) = (1 + ‖x - y‖²/ℓ²)^-½,      b(v) = 4 v (1 - v),   ℓ = ½ √d
//! ```
//!
//! Scores need no normalising constant. Stein's identity is E_p[aₖ φ + b(xₖ) ∂ₖφ] = ∫ ∂ₖ(p b(xₖ) φ) dx = 0 for every smooth φ on the cube,
//! because b vanishes at its faces, where p does not. So E_p[u(x, ·)] = 0, and KSD² is the squared distance of the sample from p in the
//! function space of u: it is not negative, and for n independent draws from p it is E_p[u(x, x)]/n on average. The inverse multiquadric k tells samples
//! that do not come near to p (Gorham and Mackey 2017), where a Gaussian kernel may not.
//!
//! It is an estimate of a distance in other units than those of TV(q, p̂), which the bound for other samplers needs: it does not turn that bound into a number,
//! but says whether a batch is as good as one of independent draws.
//!
//! Cost: O(n² d).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::certificate::Certificate;
use crate::error::{Error, Result};
use crate::points::{Points, squared_distance};

/// The kernel Stein discrepancy of a sample, beside that of independent draws.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SteinDiscrepancy {
    /// KSD of the points; 0 would be the density itself.
    pub value: f64,
    /// What as many independent draws have, in root mean square: √(Σ u(xᵢ, xᵢ))/n, estimated at the points themselves.
    pub of_draws: f64,
}

impl fmt::Display for SteinDiscrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "kernel Stein discrepancy {:.4}, where as many independent draws have about {:.4}",
            self.value, self.of_draws
        )
    }
}

impl Certificate {
    /// The kernel Stein discrepancy of points in the unit cube from a density p: how far a batch that is not made of independent draws, such as
    /// SVGD's particles, is from a sample of its target. Its `value` is to be read beside `of_draws`, which as many independent draws
    /// have: much above it, points cling to one place; below it, they cover the density more evenly than draws do.
    ///
    /// - `points`: the batch.
    /// - `scores`: ∇ log p at each of the points, in the same order.
    ///
    /// ```
    /// use wimble::points::Points;
    /// use wimble::theory::Certificate;
    ///
    /// // The uniform density has no slope anywhere.
    /// let flat = Points::zeros(1, 4);
    /// let even = Points::from_rows(1, [[0.125], [0.375], [0.625], [0.875]]);
    /// let heaped = Points::from_rows(1, [[0.2], [0.21], [0.22], [0.23]]);
    /// let even = Certificate::stein_discrepancy(&even, &flat)?;
    /// let heaped = Certificate::stein_discrepancy(&heaped, &flat)?;
    /// assert!(even.value < 0.5 * even.of_draws && heaped.value > 1.5 * heaped.of_draws);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no point, or there is not a finite score for each.
    pub fn stein_discrepancy(points: &Points, scores: &Points) -> Result<SteinDiscrepancy> {
        let (n, dim) = (points.len(), points.dim());
        if n == 0 {
            return Err(Error::invalid("number of points", 0, "at least 1"));
        }
        if (scores.len(), scores.dim()) != (n, dim) {
            let allowed = format!("{n}, one a point, each of {dim} coordinates");
            return Err(Error::invalid("number of scores", scores.len(), allowed));
        }
        if let Some(score) = scores.as_slice().iter().find(|score| !score.is_finite()) {
            return Err(Error::invalid("score", score, "finite"));
        }
        let squared_length = 0.25 * dim as f64;
        let weighted = weighted_scores(points, scores);
        let (mut diagonal, mut sum) = (0.0, 0.0);
        for i in 0..n {
            let own = stein_kernel(points, &weighted, squared_length, i, i);
            let others: f64 =
                (0..i).map(|j| stein_kernel(points, &weighted, squared_length, i, j)).sum();
            diagonal += own;
            sum += own + 2.0 * others;
        }
        let n = n as f64;
        // Not negative but for rounding.
        Ok(SteinDiscrepancy { value: sum.max(0.0).sqrt() / n, of_draws: diagonal.sqrt() / n })
    }
}

/// b, which vanishes at the faces of the cube.
fn weight(v: f64) -> f64 {
    4.0 * v * (1.0 - v)
}

/// aₖ(x) = b(xₖ) sₖ(x) + b'(xₖ) at each point.
fn weighted_scores(points: &Points, scores: &Points) -> Points {
    let row = |(x, s): (&[f64], &[f64])| -> Vec<f64> {
        x.iter().zip(s).map(|(x, s)| weight(*x) * s + 4.0 * (1.0 - 2.0 * x)).collect()
    };
    Points::from_rows(points.dim(), points.rows().zip(scores.rows()).map(row))
}

/// u(xᵢ, xⱼ).
fn stein_kernel(
    points: &Points,
    weighted: &Points,
    squared_length: f64,
    i: usize,
    j: usize,
) -> f64 {
    let (x, y) = (points.row(i), points.row(j));
    let (ax, ay) = (weighted.row(i), weighted.row(j));
    let kernel = (1.0 + squared_distance(x, y) / squared_length).sqrt().recip();
    // q^-3/2 / ℓ² and 3 q^-5/2 / ℓ⁴.
    let slope = kernel.powi(3) / squared_length;
    let curvature = 3.0 * kernel.powi(5) / (squared_length * squared_length);
    let mut sum = 0.0;
    for ((x, y), (ax, ay)) in x.iter().zip(y).zip(ax.iter().zip(ay)) {
        let (gap, bx, by) = (x - y, weight(*x), weight(*y));
        let mixed = slope - curvature * gap * gap;
        sum += ax * ay * kernel + (ax * by - ay * bx) * gap * slope + bx * by * mixed;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, below, uniform};

    /// log p of a slope and a bump, and its gradient, in any dimension.
    fn log_density(x: &[f64]) -> f64 {
        x.iter().enumerate().map(|(k, x)| (1.0 + k as f64) * x - 3.0 * (x - 0.6).powi(2)).sum()
    }

    fn scores(points: &Points) -> Points {
        let score = |x: &[f64]| -> Vec<f64> {
            x.iter().enumerate().map(|(k, x)| 1.0 + k as f64 - 6.0 * (x - 0.6)).collect()
        };
        Points::from_rows(points.dim(), points.rows().map(score))
    }

    fn random_points(dim: usize, n: usize, seed: u64) -> Points {
        let mut rng = Seed(seed).stream("points", 0);
        Points::from_rows(
            dim,
            (0..n).map(|_| (0..dim).map(|_| uniform(&mut rng)).collect::<Vec<_>>()),
        )
    }

    /// The definition, with derivatives of b(xₖ) k(x, y) b(yₖ) by differences.
    fn naive(points: &Points, scores: &Points) -> f64 {
        let (dim, n) = (points.dim(), points.len());
        let squared_length = 0.25 * dim as f64;
        let kernel = |x: &[f64], y: &[f64], k: usize| {
            let squared: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
            weight(x[k]) * weight(y[k]) / (1.0 + squared / squared_length).sqrt()
        };
        let step = 1e-4;
        let moved = |x: &[f64], k: usize, by: f64| {
            let mut moved = x.to_vec();
            moved[k] += by;
            moved
        };
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                let (x, y) = (points.row(i), points.row(j));
                for k in 0..dim {
                    let (sx, sy) = (scores.row(i)[k], scores.row(j)[k]);
                    let at = |dx: f64, dy: f64| kernel(&moved(x, k, dx), &moved(y, k, dy), k);
                    let in_x = (at(step, 0.0) - at(-step, 0.0)) / (2.0 * step);
                    let in_y = (at(0.0, step) - at(0.0, -step)) / (2.0 * step);
                    let both = (at(step, step) - at(step, -step) - at(-step, step)
                        + at(-step, -step))
                        / (4.0 * step * step);
                    sum += sx * sy * at(0.0, 0.0) + sx * in_y + sy * in_x + both;
                }
            }
        }
        sum.sqrt() / n as f64
    }

    #[test]
    fn the_discrepancy_is_the_double_sum_of_its_definition() {
        for (dim, n) in [(1, 1), (1, 6), (2, 5), (4, 7)] {
            let points = random_points(dim, n, n as u64);
            let scores = scores(&points);
            let found = Certificate::stein_discrepancy(&points, &scores).unwrap();
            let naive = naive(&points, &scores);
            assert!(
                (found.value - naive).abs() < 1e-5 * naive,
                "{dim} {n}: {} {naive}",
                found.value
            );
        }
    }

    #[test]
    fn a_single_point_has_the_closed_form() {
        // k = 1 and its slopes vanish: u(x, x) = Σ aₖ² + b(xₖ)²/ℓ².
        let points = Points::from_rows(2, [[0.3, 0.9]]);
        let found = Certificate::stein_discrepancy(&points, &Points::from_rows(2, [[2.0, -1.0]]));
        let a = [0.84 * 2.0 + 1.6, -0.36 - 3.2_f64];
        let expected =
            (a[0] * a[0] + a[1] * a[1] + (0.84_f64.powi(2) + 0.36_f64.powi(2)) / 0.5).sqrt();
        let found = found.unwrap();
        assert!((found.value - expected).abs() < 1e-12, "{found} {expected}");
        assert_eq!(found.value, found.of_draws);
    }

    /// Stein's identity: ∫ u(x, y) p(y) dy = 0 for every x, by the midpoint rule.
    #[test]
    fn the_density_itself_has_no_discrepancy() {
        let n = 20_000;
        let at = |i: usize| [(i as f64 + 0.5) / n as f64];
        for x in [0.0, 0.1, 0.5, 0.93] {
            let points = Points::from_rows(1, std::iter::once([x]).chain((0..n).map(at)));
            let scores = scores(&points);
            let weighted = weighted_scores(&points, &scores);
            let (mut sum, mut size, mut mass) = (0.0, 0.0, 0.0);
            for j in 1..=n {
                let p = log_density(points.row(j)).exp();
                let u = stein_kernel(&points, &weighted, 0.25, 0, j);
                sum += p * u;
                size += p * u.abs();
                mass += p;
            }
            assert!(sum.abs() < 1e-6 * size, "{x}: {} of {}", sum / mass, size / mass);
        }
    }

    #[test]
    fn independent_draws_have_what_is_said_and_heaps_have_more() {
        // Exact draws from p on a fine grid of one dimension.
        let cells = 2_000;
        let at = |i: usize| (i as f64 + 0.5) / cells as f64;
        let mut cumulative: Vec<f64> = Vec::with_capacity(cells);
        for i in 0..cells {
            let before = cumulative.last().copied().unwrap_or(0.0);
            cumulative.push(before + log_density(&[at(i)]).exp());
        }
        let mass = cumulative[cells - 1];
        let (runs, n) = (400, 10);
        let (mut squares, mut expected, mut heaped) = (0.0, 0.0, 0);
        for run in 0..runs {
            let mut rng = Seed(run).stream("draws", 0);
            let draw = |rng: &mut _| {
                let u = uniform(rng) * mass;
                [at(cumulative.partition_point(|c| *c < u).min(cells - 1))]
            };
            let draws = Points::from_rows(1, (0..n).map(|_| draw(&mut rng)));
            let found = Certificate::stein_discrepancy(&draws, &scores(&draws)).unwrap();
            squares += found.value.powi(2) / runs as f64;
            expected += found.of_draws.powi(2) / runs as f64;
            // Ten points beside one of them.
            let place = draws.row(below(&mut rng, n))[0];
            let heap = Points::from_rows(1, (0..n).map(|i| [(place + 1e-3 * i as f64).min(1.0)]));
            let heap = Certificate::stein_discrepancy(&heap, &scores(&heap)).unwrap();
            heaped += usize::from(heap.value > 2.0 * heap.of_draws);
        }
        println!(
            "mean KSD² of draws {squares:.4}, said {expected:.4}; {heaped} of {runs} heaps told"
        );
        // KSD² is about exponential: its mean over 400 runs has a relative standard error of 5 to 8 %.
        assert!((squares / expected - 1.0).abs() < 0.3, "{squares} {expected}");
        assert!(heaped as f64 > 0.95 * runs as f64, "{heaped}");
    }

    #[test]
    fn samples_without_scores_are_refused() {
        let points = random_points(2, 3, 1);
        assert!(Certificate::stein_discrepancy(&Points::new(2), &Points::new(2)).is_err());
        assert!(Certificate::stein_discrepancy(&points, &Points::zeros(2, 2)).is_err());
        assert!(Certificate::stein_discrepancy(&points, &Points::zeros(1, 3)).is_err());
        let broken = Points::from_rows(2, [[0.0, f64::NAN]; 3]);
        assert!(Certificate::stein_discrepancy(&points, &broken).is_err());
    }
}
