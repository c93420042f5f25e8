//! Stein variational Newton: SVGD whose steps heed the curvature of the target (Detommaso et al. 2018).
//!
//! ```text
//! xⁱ ← xⁱ + ε Hᵢ⁻¹ ζ(xⁱ),   ζ of equation (26)
//! Hᵢ := (1/M) Σⱼ [ k(xʲ, xⁱ)² Nⱼ + ∇_{xʲ}k(xʲ, xⁱ) ∇_{xʲ}k(xʲ, xⁱ)ᵀ ],   Nⱼ ≈ -∇² log p̂_t(xʲ)
//! k(x, x') := exp(-(x - x')ᵀ N̄ (x - x') / h),   N̄ := (1/M) Σⱼ Nⱼ
//! ```
//!
//! with h by the median trick. Steps and kernel are then nearly the same whatever linear map is applied to the target:
//! directions in which it is narrow need no smaller step size for all, and particles spread in each direction as far
//! as the target does. It is the rule of the paper's comparison by dimension, "applying L-BFGS to adjust its steps".
//!
//! # Design
//! An acquisition has gradients and no Hessian. Nⱼ is a limited-memory BFGS matrix: it starts as a multiple of I and is
//! updated by differences of points and gradients, first from the particle to its nearest others, the nearest last, then
//! along its own path, the latest last. Between them particles span the space from the first step on; a path alone needs
//! as many steps as there are coordinates. Powell's damping keeps Nⱼ positive definite where the target is not concave.
//!
//! There is no objective for a line search. No coordinate moves further than `max_move` a step, and ε is halved, down
//! to ⅛, whenever Σᵢ ζᵢᵀHᵢ⁻¹ζᵢ, the rate at which the step would lower the divergence from the target, grew over
//! the last step; it recovers otherwise. A coordinate on a face of the cube that ζ pushes outwards is left out of the
//! system, so that the others are solved for as if it were fixed. Pending points are particles that never move.
//!
//! Cost: O((M + P) M d² + (M + P) m d² + M d³) a step for M particles, P pending points and a memory of m, plus M
//! gradients. Fails with [`Error::Diverged`] if a gradient is not finite.
//!
//! Half of this file is tests.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::svgd::{scatter, stein_directions};
use super::{BatchRule, SteinKernel};
use crate::acquisition::SmoothAcquisition;
use crate::classifier::Target;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::linalg::Cholesky;
use crate::named::Named;
use crate::points::{Points, dot, squared_distance};
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Settings of Stein variational Newton.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SteinNewton {
    /// Steps a batch, at most.
    pub steps: usize,
    /// The furthest a coordinate may move in a step, a part of the cube's side.
    pub max_move: f64,
    /// Differences along a particle's path, and as many to other particles, that its curvature is made of.
    pub memory: usize,
    /// The particles are left where they are once none of their coordinates moves further than this.
    pub tolerance: f64,
}

impl Named for SteinNewton {
    const NAME: &'static str = "stein-newton";
    const DESCRIPTION: &'static str = "the same with second-order steps";
}

impl Default for SteinNewton {
    fn default() -> Self {
        Self { steps: 100, max_move: 0.1, memory: 20, tolerance: 1e-6 }
    }
}

impl<A: SmoothAcquisition + ?Sized> BatchRule<A> for SteinNewton {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        let start = scatter(domain.space.dim(), size, rng)?;
        self.transport(density, start, domain.pending)
    }

    fn check(&self) -> Result<()> {
        for (field, value) in
            [("stein newton steps", self.steps), ("stein newton memory", self.memory)]
        {
            if value == 0 {
                return Err(Error::invalid(field, value, "at least 1"));
            }
        }
        if !(self.max_move > 0.0 && self.max_move <= 1.0) {
            let allowed = "above 0 and at most 1";
            return Err(Error::invalid("stein newton max move", self.max_move, allowed));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            let allowed = "finite and not negative";
            return Err(Error::invalid("stein newton tolerance", self.tolerance, allowed));
        }
        Ok(())
    }

    fn choice(&self, _space: &SearchSpace, target: Target, _plan: Plan) -> Choice {
        Choice::Draws { independent: false, of_bound: target == Target::LogProbability }
    }
}

/// The smallest ε.
const SLOWEST: f64 = 0.125;
/// By how much ε recovers after a step that lowered the rate.
const RECOVERY: f64 = 1.25;

const DIVERGED: Error = Error::Diverged {
    model: "the acquisition's gradient",
    doing: "moving particles by Stein variational Newton",
};

impl SteinNewton {
    /// Moves the particles from `start` towards the target, past the fixed `pending` ones.
    pub fn transport<A: SmoothAcquisition + ?Sized>(
        &self,
        acquisition: &A,
        start: Points,
        pending: &Points,
    ) -> Result<Points> {
        let mut swarm = Swarm::new(start, pending);
        let (mut pace, mut last_rate) = (1.0, f64::INFINITY);
        for _ in 0..self.steps {
            swarm.evaluate(acquisition, self.memory)?;
            let Steps { steps, rate } = swarm.steps(self.memory)?;
            pace = if rate > last_rate {
                f64::max(0.5 * pace, SLOWEST)
            } else {
                f64::min(RECOVERY * pace, 1.0)
            };
            last_rate = rate;
            if swarm.advance(&steps, pace, self.max_move) <= self.tolerance {
                break;
            }
        }
        swarm.particles.truncate(swarm.moving);
        Ok(swarm.particles)
    }
}

/// The particles with all that their next step depends on.
struct Swarm {
    /// Those that move, then the pending ones.
    particles: Points,
    moving: usize,
    gradients: Points,
    /// Whether the gradients are those of an earlier place.
    started: bool,
    /// Points and gradients of the step before, of those that move.
    before: (Points, Points),
    paths: Vec<VecDeque<Pair>>,
    kernel: SteinKernel,
}

/// How far a particle, or another, is away, and by how much -∇ log p̂ differs there.
#[derive(Debug, Clone)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
}

impl Pair {
    /// From the point `a` to `b`, given ∇ log p̂ at both; `None` if they are too close to tell.
    fn between(a: &[f64], b: &[f64], at_a: &[f64], at_b: &[f64]) -> Option<Self> {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        (squared_distance(a, b) > 1e-20)
            .then(|| Self { step: difference(b, a), change: difference(at_a, at_b) })
    }
}

/// Where the particles go next.
struct Steps {
    /// Hᵢ⁻¹ζᵢ.
    steps: Points,
    /// Σᵢ ζᵢᵀHᵢ⁻¹ζᵢ.
    rate: f64,
}

impl Swarm {
    fn new(start: Points, pending: &Points) -> Self {
        let (dim, moving) = (start.dim(), start.len());
        let mut particles = start;
        particles.extend(pending);
        let all = particles.len();
        Self {
            particles,
            moving,
            gradients: Points::zeros(dim, all),
            started: false,
            before: (Points::zeros(dim, moving), Points::zeros(dim, moving)),
            paths: vec![VecDeque::new(); all],
            kernel: SteinKernel::default(),
        }
    }

    /// Gradients where the particles are; the paths grow by the step that led there.
    fn evaluate<A: SmoothAcquisition + ?Sized>(
        &mut self,
        acquisition: &A,
        memory: usize,
    ) -> Result<()> {
        let dim = self.particles.dim();
        // The pending points do not move, so neither do their gradients.
        let count = if self.started { self.moving } else { self.particles.len() };
        let at = Points::from_rows(dim, self.particles.rows().take(count));
        let (mut values, mut gradients) = (vec![0.0; count], Points::zeros(dim, count));
        acquisition.values_and_gradients(&at, &mut values, &mut gradients);
        if gradients.as_slice().iter().any(|g| !g.is_finite()) {
            return Err(DIVERGED);
        }
        self.gradients.as_mut_slice()[..count * dim].copy_from_slice(gradients.as_slice());
        for i in 0..self.moving {
            let (x, g) = (self.particles.row(i), self.gradients.row(i));
            let (last_x, last_g) = (&mut self.before.0, &mut self.before.1);
            if self.started
                && let Some(pair) = Pair::between(last_x.row(i), x, last_g.row(i), g)
            {
                if self.paths[i].len() == memory {
                    self.paths[i].pop_front();
                }
                self.paths[i].push_back(pair);
            }
            last_x.row_mut(i).copy_from_slice(x);
            last_g.row_mut(i).copy_from_slice(g);
        }
        self.started = true;
        Ok(())
    }

    /// The Newton step of each particle.
    fn steps(&mut self, memory: usize) -> Result<Steps> {
        let (dim, all) = (self.particles.dim(), self.particles.len());
        let curvatures: Vec<Vec<f64>> = (0..all).map(|i| self.curvature(i, memory)).collect();
        let mut mean = vec![0.0; dim * dim];
        for curvature in &curvatures {
            mean.iter_mut().zip(curvature).for_each(|(m, c)| *m += c / all as f64);
        }
        // Points as the kernel sees them, Lᵀx = L⁻¹N̄x with N̄ = LLᵀ, and N̄x, whose differences are its gradients.
        let factor = factor(&mean, dim)?;
        let mut images = Points::zeros(dim, all);
        for (x, image) in self.particles.rows().zip(images.rows_mut()) {
            multiply(&mean, x, image);
        }
        let mut whitened = images.clone();
        whitened.rows_mut().for_each(|row| factor.solve_lower(row));
        self.kernel.update(&whitened);
        let mut directions = Points::zeros(dim, self.moving);
        stein_directions(&images, &self.gradients, &self.kernel, &mut directions);

        let mut rate = 0.0;
        let mut steps = directions.clone();
        for (i, (direction, step)) in directions.rows().zip(steps.rows_mut()).enumerate() {
            let mut hessian = self.hessian(i, &curvatures, &images);
            // Outwards on a face: as if the coordinate were fixed.
            for (c, x) in self.particles.row(i).iter().enumerate() {
                if (*x <= 0.0 && step[c] < 0.0) || (*x >= 1.0 && step[c] > 0.0) {
                    for other in 0..dim {
                        hessian[c * dim + other] = 0.0;
                        hessian[other * dim + c] = 0.0;
                    }
                    hessian[c * dim + c] = 1.0;
                    step[c] = 0.0;
                }
            }
            self::factor(&hessian, dim)?.solve(step);
            rate += direction.iter().zip(&*step).map(|(d, s)| d * s).sum::<f64>();
        }
        Ok(Steps { steps, rate })
    }

    /// Moves the particles and returns the furthest that a coordinate went.
    fn advance(&mut self, steps: &Points, pace: f64, max_move: f64) -> f64 {
        let mut furthest: f64 = 0.0;
        for (x, step) in self.particles.rows_mut().zip(steps.rows()) {
            let longest = step.iter().fold(0.0, |longest, s| f64::max(longest, s.abs()));
            let scale = f64::min(pace, max_move / longest);
            for (x, s) in x.iter_mut().zip(step) {
                let moved = (*x + scale * s).clamp(0.0, 1.0);
                furthest = furthest.max((moved - *x).abs());
                *x = moved;
            }
        }
        furthest
    }

    /// Hᵢ, with the 1/M that ζ has.
    fn hessian(&self, i: usize, curvatures: &[Vec<f64>], images: &Points) -> Vec<f64> {
        let (dim, all) = (images.dim(), images.len());
        let mut hessian = curvatures[i].clone();
        let slope = 2.0 / self.kernel.bandwidth();
        for j in (0..all).filter(|&j| j != i) {
            let (low, high) = (i.min(j), i.max(j));
            let k = self.kernel.pairs()[low * (2 * all - low - 1) / 2 + high - low - 1];
            let weight = k * k;
            // Beyond the last bit of Nᵢ unless curvatures differ by more than that.
            if weight < 1e-16 {
                continue;
            }
            let (x, y) = (images.row(i), images.row(j));
            for r in 0..dim {
                let gradient = weight * slope * slope * (x[r] - y[r]);
                let row = r * dim..(r + 1) * dim;
                for (c, (h, n)) in
                    hessian[row.clone()].iter_mut().zip(&curvatures[j][row]).enumerate()
                {
                    *h += weight * n + gradient * (x[c] - y[c]);
                }
            }
        }
        hessian.iter_mut().for_each(|h| *h /= all as f64);
        hessian
    }

    /// Nᵢ ≈ -∇² log p̂_t(xⁱ), the curvature of the target at a particle.
    fn curvature(&self, i: usize, memory: usize) -> Vec<f64> {
        let (x, g) = (self.particles.row(i), self.gradients.row(i));
        let mut others: Vec<(f64, usize)> = (0..self.particles.len())
            .filter(|&j| j != i)
            .map(|j| (squared_distance(x, self.particles.row(j)), j))
            .collect();
        let nearer = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if others.len() > memory {
            others.select_nth_unstable_by(memory, nearer);
            others.truncate(memory);
        }
        others.sort_unstable_by(nearer);
        let neighbours: Vec<Pair> = others
            .iter()
            .rev()
            .filter_map(|&(_, j)| Pair::between(x, self.particles.row(j), g, self.gradients.row(j)))
            .collect();
        let pairs: Vec<&Pair> = neighbours.iter().chain(&self.paths[i]).collect();
        // With nothing else known: a curvature under which the gradient leads across the cube.
        let unknown = g.iter().fold(1e-8, |most, g| f64::max(most, g.abs()));
        bfgs(x.len(), &pairs, unknown)
    }
}

/// A pair with a smaller cosine between step and change says nothing about the curvature along the step; on a quadratic
/// of condition c no cosine is below 2/√c.
const LEAST_COSINE: f64 = 1e-3;
/// What is added to the diagonal in the end, a part of its largest entry: updates that flatten the matrix again and
/// again, where the target is not concave, would leave it without digits.
const RIDGE: f64 = 1e-8;

/// The matrix B that the damped BFGS updates for `pairs`, in order, make of a multiple of I.
fn bfgs(dim: usize, pairs: &[&Pair], unknown: f64) -> Vec<f64> {
    let norm = |a: &[f64]| dot(a, a).sqrt();
    let scale = pairs.last().map(|pair| norm(&pair.change) / norm(&pair.step));
    let scale = scale.filter(|scale| *scale > 1e-8 * unknown).unwrap_or(unknown);
    let mut matrix = vec![0.0; dim * dim];
    matrix.iter_mut().step_by(dim + 1).for_each(|diagonal| *diagonal = scale);
    let mut image = vec![0.0; dim];
    for Pair { step, change } in pairs {
        multiply(&matrix, step, &mut image);
        let (model, along) = (dot(step, &image), dot(step, change));
        // Powell: y ← θy + (1 - θ)Bs, so that sᵀy is at least a fifth of sᵀBs.
        let theta = if along < 0.2 * model { 0.8 * model / (model - along) } else { 1.0 };
        let change: Vec<f64> =
            change.iter().zip(&image).map(|(y, bs)| theta * y + (1.0 - theta) * bs).collect();
        let along = dot(step, &change);
        let flat = |along: f64, image: &[f64]| along <= LEAST_COSINE * norm(step) * norm(image);
        if flat(along, &change) || flat(model, &image) {
            continue;
        }
        for r in 0..dim {
            for c in 0..dim {
                matrix[r * dim + c] += change[r] * change[c] / along - image[r] * image[c] / model;
            }
        }
    }
    let diagonal = || (0..dim).map(|c| c * dim + c);
    let most = diagonal().map(|c| matrix[c]).fold(0.0, f64::max);
    diagonal().for_each(|c| matrix[c] += RIDGE * most);
    matrix
}

/// Ax for a symmetric A.
fn multiply(matrix: &[f64], x: &[f64], product: &mut [f64]) {
    for (p, row) in product.iter_mut().zip(matrix.chunks_exact(x.len())) {
        *p = row.iter().zip(x).map(|(a, x)| a * x).sum();
    }
}

/// What is added to the diagonal, a part of its largest entry, until a matrix has a factor: curvatures that differ by
/// many orders of magnitude can lose their positive definiteness to rounding, and a shorter step does no harm.
const RIDGES: [f64; 5] = [0.0, 1e-6, 1e-4, 1e-2, 1.0];

fn factor(matrix: &[f64], dim: usize) -> Result<Cholesky> {
    let most = matrix.iter().step_by(dim + 1).copied().fold(0.0, f64::max);
    let attempt = |ridge: &f64| {
        Cholesky::factor(dim, |i, row| {
            row.copy_from_slice(&matrix[i * dim..=i * dim + i]);
            row[i] += ridge * most;
        })
    };
    RIDGES.iter().find_map(|ridge| attempt(ridge).ok()).ok_or(DIVERGED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::Acquisition;
    use crate::batch::Svgd;
    use crate::batch::fixtures::{TWO_MODES, TwoModes};
    use crate::seed::{Seed, uniform};
    use crate::space::{Dimension, SearchSpace, Taken};
    use proptest::prelude::*;

    #[test]
    fn a_matrix_that_rounding_made_indefinite_has_a_factor_and_one_without_numbers_has_not() {
        // The largest entry dwarfs the first, on which the jitter of a factor goes by.
        let indefinite = [1e-9, 1.0, 1.0, 1e8];
        assert!(factor(&indefinite, 2).is_ok());
        assert!(factor(&[f64::NAN, 0.0, 0.0, 1.0], 2).is_err());
    }

    /// A Gaussian with given axes and deviations along them.
    struct Gaussian {
        mean: Vec<f64>,
        axes: Vec<Vec<f64>>,
        deviations: Vec<f64>,
    }

    impl Gaussian {
        /// In the middle of the cube, along random axes, with variances from 0.12² down to that over `condition`.
        fn rotated(dim: usize, condition: f64, seed: u64) -> Self {
            let mut rng = Seed(seed).stream("axes", 0);
            let mut axes: Vec<Vec<f64>> = Vec::new();
            for _ in 0..dim {
                let mut axis: Vec<f64> = (0..dim).map(|_| uniform(&mut rng) - 0.5).collect();
                for _ in 0..2 {
                    for other in &axes {
                        let along: f64 = axis.iter().zip(other).map(|(a, b)| a * b).sum();
                        axis.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
                    }
                }
                let norm = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
                axis.iter_mut().for_each(|a| *a /= norm);
                axes.push(axis);
            }
            let part = |k: usize| k as f64 / (dim.max(2) - 1) as f64;
            let deviations = (0..dim).map(|k| 0.12 * condition.powf(-0.5 * part(k))).collect();
            Self { mean: vec![0.5; dim], axes, deviations }
        }

        /// x in the Gaussian's own coordinates, in which it is N(0, I).
        fn standardised(&self, x: &[f64]) -> Vec<f64> {
            let along = |axis: &[f64]| -> f64 {
                axis.iter().zip(x.iter().zip(&self.mean)).map(|(a, (x, m))| a * (x - m)).sum()
            };
            self.axes.iter().zip(&self.deviations).map(|(axis, s)| along(axis) / s).collect()
        }

        /// The largest error of the mean in deviations, and the smallest and largest variance, over the axes.
        fn errors(&self, points: &Points) -> (f64, f64, f64) {
            let rows: Vec<Vec<f64>> = points.rows().map(|x| self.standardised(x)).collect();
            let n = rows.len() as f64;
            let (mut off, mut least, mut most) = (0.0, f64::INFINITY, 0.0);
            for k in 0..self.mean.len() {
                let mean = rows.iter().map(|row| row[k]).sum::<f64>() / n;
                let variance = rows.iter().map(|row| (row[k] - mean).powi(2)).sum::<f64>() / n;
                off = f64::max(off, mean.abs());
                least = f64::min(least, variance);
                most = f64::max(most, variance);
            }
            (off, least, most)
        }
    }

    impl Acquisition for Gaussian {
        fn dim(&self) -> usize {
            self.mean.len()
        }

        fn value(&self, x: &[f64]) -> f64 {
            -0.5 * self.standardised(x).iter().map(|c| c * c).sum::<f64>()
        }
    }

    impl SmoothAcquisition for Gaussian {
        fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
            gradient.fill(0.0);
            let standardised = self.standardised(x);
            for ((axis, s), c) in self.axes.iter().zip(&self.deviations).zip(standardised) {
                gradient.iter_mut().zip(axis).for_each(|(g, a)| *g -= a * c / s);
            }
            self.value(x)
        }
    }

    fn random_points(dim: usize, len: usize, index: u64) -> Points {
        let mut rng = Seed(3).stream("points", index);
        let rows = (0..len).map(|_| (0..dim).map(|_| uniform(&mut rng)).collect::<Vec<_>>());
        Points::from_rows(dim, rows)
    }

    fn batch(pending: &Points, size: usize, index: u64) -> Points {
        let space =
            SearchSpace::new([Dimension::real("a", 0.0, 1.0), Dimension::real("b", 0.0, 1.0)])
                .unwrap();
        let (taken, incumbents) = (Taken::default(), Points::new(2));
        let domain = Domain { space: &space, taken: &taken, pending, incumbents: &incumbents };
        let rng = &mut Seed(5).stream("batch", index);
        SteinNewton::default().choose(&TWO_MODES, &domain, size, rng).unwrap()
    }

    #[test]
    fn steps_solve_the_system_of_the_method() {
        let (dim, moving) = (3, 5);
        let target = Gaussian::rotated(dim, 10.0, 1);
        let mut swarm = Swarm::new(random_points(dim, moving, 0), &random_points(dim, 2, 1));
        swarm.evaluate(&target, 9).unwrap();
        let Steps { steps, rate } = swarm.steps(9).unwrap();
        let (all, h) = (moving + 2, swarm.kernel.bandwidth());
        let curvatures: Vec<Vec<f64>> = (0..all).map(|i| swarm.curvature(i, 9)).collect();
        let metric = |r: usize, c: usize| {
            curvatures.iter().map(|n| n[r * dim + c]).sum::<f64>() / all as f64
        };
        let mut naive_rate = 0.0;
        for i in 0..moving {
            let (mut direction, mut product) = (vec![0.0; dim], vec![0.0; dim]);
            for (j, curvature) in curvatures.iter().enumerate() {
                let gap: Vec<f64> = (0..dim)
                    .map(|c| swarm.particles.row(j)[c] - swarm.particles.row(i)[c])
                    .collect();
                let image: Vec<f64> =
                    (0..dim).map(|r| (0..dim).map(|c| metric(r, c) * gap[c]).sum()).collect();
                let k = (-image.iter().zip(&gap).map(|(a, b)| a * b).sum::<f64>() / h).exp();
                let slope: Vec<f64> = image.iter().map(|a| -2.0 / h * k * a).collect();
                let along: f64 = slope.iter().zip(steps.row(i)).map(|(a, b)| a * b).sum();
                for r in 0..dim {
                    direction[r] += (k * swarm.gradients.row(j)[r] + slope[r]) / all as f64;
                    let bent: f64 =
                        (0..dim).map(|c| curvature[r * dim + c] * steps.row(i)[c]).sum();
                    product[r] += (k * k * bent + slope[r] * along) / all as f64;
                }
            }
            for r in 0..dim {
                let scale = 1.0 + direction[r].abs();
                assert!(
                    (product[r] - direction[r]).abs() < 1e-8 * scale,
                    "{product:?} {direction:?}"
                );
            }
            naive_rate += direction.iter().zip(steps.row(i)).map(|(d, s)| d * s).sum::<f64>();
        }
        assert!((rate - naive_rate).abs() < 1e-8 * naive_rate);
    }

    #[test]
    fn an_ill_conditioned_target_needs_far_fewer_steps_than_svgd() {
        let (dim, none) = (5, Points::new(5));
        for seed in 0..5 {
            let target = Gaussian::rotated(dim, 1e4, seed);
            let start = random_points(dim, 40, seed);
            let newton = SteinNewton { steps: 40, ..SteinNewton::default() };
            let moved = newton.transport(&target, start.clone(), &none).unwrap();
            let (off, least, most) = target.errors(&moved);
            // 40 particles in 5 dimensions settle at 0.6 of the variance, in every direction alike.
            assert!(off < 0.05 && least > 0.5 && most < 0.7, "seed {seed}: {off} {least} {most}");
            // SVGD is far off after a hundred times as many steps, with its own step size and with a tenth of it.
            for step_size in [1e-3, 1e-4] {
                let svgd = Svgd { steps: 4000, step_size, ..Svgd::default() };
                let moved = svgd.transport(&target, start.clone(), &none).unwrap();
                let (off, least, most) = target.errors(&moved);
                let near = off < 0.05 && least > 0.5 && most < 0.7;
                assert!(!near && most / least > 2.0, "seed {seed}: {off} {least} {most}");
            }
        }
    }

    #[test]
    fn on_a_round_target_particles_settle_as_those_of_svgd_do() {
        let (target, none) = (Gaussian::rotated(2, 1.0, 0), Points::new(2));
        let start = random_points(2, 10, 7);
        let newton = SteinNewton::default().transport(&target, start.clone(), &none).unwrap();
        let svgd = Svgd::default().transport(&target, start, &none).unwrap();
        let (a, b) = (target.errors(&newton), target.errors(&svgd));
        assert!(a.0 < 0.05 && b.0 < 0.05, "{a:?} {b:?}");
        assert!((a.1 - b.1).abs() < 0.05 && (a.2 - b.2).abs() < 0.05, "{a:?} {b:?}");
    }

    #[test]
    fn a_batch_covers_both_modes_of_a_bimodal_target() {
        for index in 0..20 {
            let batch = batch(&Points::new(2), 10, index);
            let near =
                |mode: &[f64; 2]| batch.rows().filter(|x| squared_distance(x, mode) < 0.09).count();
            let counts = TWO_MODES.modes.each_ref().map(near);
            assert!(counts.iter().all(|&count| count >= 2), "batch {index}: {counts:?}");
            assert!(counts.iter().sum::<usize>() >= 9, "batch {index}: {counts:?}");
        }
    }

    #[test]
    fn pending_points_repel_and_stay() {
        let rows: Vec<[f64; 2]> = (0..10).map(|i| [0.2 + 0.01 * f64::from(i), 0.25]).collect();
        let pending = Points::from_rows(2, rows);
        let closest = |points: &Points| {
            let gaps =
                points.rows().flat_map(|x| pending.rows().map(move |p| squared_distance(x, p)));
            gaps.fold(f64::INFINITY, f64::min)
        };
        let aware: f64 = (0..20).map(|index| closest(&batch(&pending, 4, index))).sum();
        let unaware: f64 = (0..20).map(|index| closest(&batch(&Points::new(2), 4, index))).sum();
        assert!(aware > unaware, "{aware} {unaware}");
        assert_eq!(batch(&pending, 4, 0).len(), 4);
    }

    #[test]
    fn one_particle_climbs_to_the_top_and_along_a_face() {
        let none = Points::new(3);
        let mut target = Gaussian::rotated(3, 100.0, 2);
        let top = SteinNewton::default().transport(&target, random_points(3, 1, 4), &none).unwrap();
        assert!(target.errors(&top).0 < 1e-3, "{top:?}");
        // The mean lies outside: the top of the cube is on a face, where only the outward slope is left.
        target.mean = vec![1.3, 0.5, 0.5];
        let top = SteinNewton::default().transport(&target, random_points(3, 1, 4), &none).unwrap();
        let mut gradient = [0.0; 3];
        target.value_and_gradient(top.row(0), &mut gradient);
        for (x, g) in top.row(0).iter().zip(gradient) {
            let held = (*x == 1.0 && g > 0.0) || (*x == 0.0 && g < 0.0);
            assert!(held || g.abs() < 0.5, "{top:?} {gradient:?}");
        }
        assert!(top.row(0).contains(&1.0), "{top:?}");
    }

    #[test]
    fn pairs_spread_as_the_target_is_give_its_hessian() {
        let target = Gaussian::rotated(4, 1e4, 3);
        let mut at = Points::new(4);
        for u in random_points(4, 41, 0).rows() {
            let mut x = target.mean.clone();
            for ((axis, s), u) in target.axes.iter().zip(&target.deviations).zip(u) {
                x.iter_mut().zip(axis).for_each(|(x, a)| *x += 3.0 * (u - 0.5) * s * a);
            }
            at.push(&x);
        }
        let gradient = |x: &[f64]| {
            let mut gradient = vec![0.0; 4];
            target.value_and_gradient(x, &mut gradient);
            gradient
        };
        let (first, rest) = (at.row(0), 1..41);
        let pairs: Vec<Pair> = rest
            .map(|i| Pair::between(first, at.row(i), &gradient(first), &gradient(at.row(i))))
            .map(Option::unwrap)
            .collect();
        let matrix = bfgs(4, &pairs.iter().collect::<Vec<_>>(), 1.0);
        for (axis, s) in target.axes.iter().zip(&target.deviations) {
            let mut image = [0.0; 4];
            multiply(&matrix, axis, &mut image);
            let curvature: f64 = axis.iter().zip(image).map(|(a, b)| a * b).sum();
            assert!((curvature * s * s - 1.0).abs() < 0.2, "{curvature} {s}");
        }
    }

    proptest! {
        #[test]
        fn curvature_is_positive_definite_whatever_the_pairs(
            rows in prop::collection::vec(prop::array::uniform6(-1.0..1.0_f64), 0..60),
        ) {
            let pairs: Vec<Pair> = rows
                .iter()
                .map(|row| Pair { step: row[..3].to_vec(), change: row[3..].to_vec() })
                .collect();
            let matrix = bfgs(3, &pairs.iter().collect::<Vec<_>>(), 1.0);
            let minor = matrix[0] * matrix[4] - matrix[1] * matrix[3];
            prop_assert!(matrix[0] > 0.0 && minor > 0.0, "{matrix:?}");
            prop_assert!(factor(&matrix, 3).is_ok());
        }
    }

    /// A linear target whose gradient is not a number below 0.1.
    struct Broken;

    impl Acquisition for Broken {
        fn dim(&self) -> usize {
            1
        }

        fn value(&self, x: &[f64]) -> f64 {
            -x[0]
        }
    }

    impl SmoothAcquisition for Broken {
        fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
            gradient[0] = if x[0] < 0.1 { f64::NAN } else { -1.0 };
            -x[0]
        }
    }

    #[test]
    fn a_gradient_that_is_not_finite_is_an_error() {
        let start = random_points(1, 4, 0);
        let result = SteinNewton::default().transport(&Broken, start, &Points::new(1));
        assert_eq!(result.unwrap_err(), DIVERGED);
    }

    #[test]
    fn bad_settings_are_refused_by_name_and_good_ones_read_back() {
        let refused =
            |rule: SteinNewton| BatchRule::<TwoModes>::check(&rule).unwrap_err().to_string();
        let good = SteinNewton::default();
        for (rule, part) in [
            (SteinNewton { steps: 0, ..good }, "stein newton steps is 0"),
            (SteinNewton { memory: 0, ..good }, "stein newton memory is 0"),
            (SteinNewton { max_move: 0.0, ..good }, "stein newton max move is 0"),
            (SteinNewton { tolerance: f64::NAN, ..good }, "stein newton tolerance is NaN"),
        ] {
            assert!(refused(rule).contains(part), "{}", refused(rule));
        }
        assert!(BatchRule::<TwoModes>::check(&good).is_ok());
        let text = serde_json::to_string(&good).unwrap();
        assert_eq!(serde_json::from_str::<SteinNewton>(&text).unwrap(), good, "{text}");
    }

    #[test]
    fn powell_s_damping_takes_in_pairs_of_negative_curvature() {
        let straight = Pair { step: vec![1.0, 0.0], change: vec![4.0, 0.0] };
        let bent = Pair { step: vec![0.0, 0.5], change: vec![0.3, -1.0] };
        // The last pair sets the scale; |change| over |step| of `straight` is 4.
        let along = |matrix: &[f64], s: &[f64]| {
            let mut image = vec![0.0; 2];
            multiply(matrix, s, &mut image);
            dot(s, &image)
        };
        let plain = bfgs(2, &[&straight], 1.0);
        let damped = bfgs(2, &[&bent, &straight], 1.0);
        let (before, after) = (along(&plain, &bent.step), along(&damped, &bent.step));
        // Without damping the pair is left out and the curvature stays 4; with it, a fifth of that is left.
        assert!((before - 1.0).abs() < 1e-6, "{before}");
        assert!((after - 0.2).abs() < 0.02, "{after}");
        // Damped updates stay positive definite, whatever the pairs.
        let mut rng = Seed(8).stream("pairs", 0);
        for _ in 0..200 {
            let mut draw = || (0..3).map(|_| 2.0 * uniform(&mut rng) - 1.0).collect::<Vec<f64>>();
            let pairs: Vec<Pair> = (0..6).map(|_| Pair { step: draw(), change: draw() }).collect();
            let matrix = bfgs(3, &pairs.iter().collect::<Vec<_>>(), 1.0);
            let factored = Cholesky::factor(3, |i, row| {
                row.copy_from_slice(&matrix[i * 3..=i * 3 + i]);
            });
            assert!(factored.is_ok(), "{matrix:?}");
        }
    }
}
