//! The Gaussian posterior of logistic regression, by expectation maximisation of a bound on the evidence.
//!
//! The model has weights v ~ N(0, I), logits aᵢ = vᵀψᵢ and labels zᵢ ~ Bernoulli(σ(aᵢ)) that count wᵢ times; a point that
//! is wᵢzᵢ times good and wᵢ(1 - zᵢ) times bad has a zᵢ between 0 and 1. The bound
//! of Jaakkola and Jordan (2000), which touches each likelihood at aᵢ = ±ξᵢ,
//!
//! ```text
//! log p(zᵢ | aᵢ) ≥ (zᵢ - ½) aᵢ - λᵢ (aᵢ² - ξᵢ²) - log 2cosh(ξᵢ/2),    λᵢ = tanh(ξᵢ/2) / 4ξᵢ
//! ```
//!
//! is quadratic in v, so that its posterior is Gaussian. With ψᵢ the columns of Ψ and D = diag(2wᵢλᵢ),
//!
//! ```text
//! expectation    v ~ N(m, A⁻¹),   A = I + ΨDΨᵀ,   m = A⁻¹Ψc,   cᵢ = wᵢ(zᵢ - ½)
//! maximisation   ξᵢ² = E[aᵢ²] = (mᵀψᵢ)² + ψᵢᵀA⁻¹ψᵢ
//! bound          -½ log det A + ½ cᵀΨᵀm + Σᵢ wᵢ (λᵢξᵢ² - log 2cosh(ξᵢ/2))
//! ```
//!
//! # Design
//! With one Pólya-Gamma variable of shape wᵢ a label, mean-field updates of variables and weights are these very steps
//! (Durante and Rigon 2019): 2wᵢλᵢ is the mean of PG(wᵢ, ξᵢ). So the bound is an evidence bound proper, which rises at
//! every step, also for weights that are not whole; and there is nothing to choose between the two names. Jaakkola and
//! Jordan's is implemented as it needs no distribution that Rust has no library for.
//!
//! Steps are accelerated ([`Anderson`]); where an accelerated ξ has a lower bound than the one before, the plain step
//! is taken instead, so that the bound still only rises.
//!
//! With fewer points than features the same numbers come from the matrix of points I + D^½ΨᵀΨD^½, whose determinant
//! is that of A.
//!
//! Cost a step, for n points and F features: O(n F² + F³), or O(n³) if n ≤ F; the posterior O(n F² + F³) once.
//! Fails with [`Error::Diverged`] if a number is not finite.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Llt;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par, Side};

use super::acceleration::Anderson;
use crate::classifier::logistic::log_sigmoid;
use crate::error::{Error, Result};

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stopping {
    /// The rise of the bound in one step, per unit of weight, below which the fit has converged.
    pub tolerance: f64,
    pub max_steps: usize,
}

/// What is fitted: features, labels and weights.
#[derive(Debug)]
pub(super) struct Regression {
    /// F, the number of features.
    width: usize,
    /// ψᵢ, point after point.
    features: Vec<f64>,
    /// ΨᵀΨ, if there are no more points than features.
    gram: Option<Vec<f64>>,
    /// zᵢ: 0 or 1, or the share of a point's weight that is in class 1.
    targets: Vec<f64>,
    /// cᵢ = wᵢ(zᵢ - ½), the pull of each label on its logit.
    pulls: Vec<f64>,
    /// wᵢ, how much each point counts.
    weights: Vec<f64>,
}

/// Where expectation maximisation arrived.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    /// ξ, which determines the posterior.
    pub contacts: Vec<f64>,
    /// The bound on the log evidence.
    pub bound: f64,
    /// Steps made.
    pub steps: usize,
    /// Whether the bound had stopped rising.
    pub converged: bool,
}

/// N(m, A⁻¹).
#[derive(Debug, Clone)]
pub(super) struct Gaussian {
    /// m, the mean of the weights.
    pub mean: Vec<f64>,
    /// A⁻¹, symmetric.
    pub covariance: Vec<f64>,
}

/// What a step needs to know of the posterior.
struct Moments {
    /// log det A.
    log_determinant: f64,
    /// mᵀψᵢ.
    means: Vec<f64>,
    /// ψᵢᵀA⁻¹ψᵢ.
    variances: Vec<f64>,
}

impl Regression {
    /// A regression on `features`, `width` for each of the labels, given as zᵢ and its weight.
    pub fn new(width: usize, features: Vec<f64>, labels: impl Iterator<Item = (f64, f64)>) -> Self {
        let (targets, weights): (Vec<f64>, Vec<f64>) = labels.unzip();
        let pulls = targets.iter().zip(&weights).map(|(z, w)| (z - 0.5) * w).collect();
        let len = weights.len();
        assert_eq!(features.len(), len * width, "each label must have all features");
        let gram = (len <= width).then(|| {
            let mut gram = vec![0.0; len * len];
            let psi = MatRef::from_column_major_slice(&features, width, len);
            let product = MatMut::from_column_major_slice_mut(&mut gram, len, len);
            matmul(product, Accum::Replace, psi.transpose(), psi, 1.0, Par::Seq);
            gram
        });
        Self { width, features, gram, targets, pulls, weights }
    }

    /// Raises the bound, from the prior's E[aᵢ²] on, until it rises no more.
    pub fn maximise(&self, stopping: Stopping) -> Result<Fit> {
        let enough = stopping.tolerance * self.weights.iter().sum::<f64>();
        let rows = self.features.chunks_exact(self.width);
        let contacts: Vec<f64> = rows.map(|psi| dot(psi, psi).sqrt()).collect();
        let (mut plain, bound) = self.step(&contacts)?;
        let mut fit = Fit { contacts, bound, steps: 1, converged: false };
        let mut anderson = Anderson::default();
        while !fit.converged && fit.steps < stopping.max_steps {
            let mut next = anderson.next(&fit.contacts, &plain);
            // The bound is even in each ξ.
            next.iter_mut().for_each(|xi| *xi = xi.abs());
            let (mut image, mut bound) = self.step(&next)?;
            fit.steps += 1;
            if bound < fit.bound {
                anderson = Anderson::default();
                next = plain;
                (image, bound) = self.step(&next)?;
                fit.steps += 1;
            }
            fit.converged = bound - fit.bound <= enough;
            (fit.contacts, fit.bound, plain) = (next, bound, image);
        }
        Ok(fit)
    }

    /// Σᵢ wᵢ log p(zᵢ | all other labels), for given ξ.
    ///
    /// In the bound, label i is a Gaussian factor of precision Dᵢ and shift cᵢ in aᵢ. Without it aᵢ has variance
    /// h/(1 - Dh) and mean (a - hc)/(1 - Dh), where a and h are those with it.
    pub fn leave_one_out(&self, contacts: &[f64]) -> Result<f64> {
        let precisions = self.precisions(contacts);
        let Moments { means, variances, .. } = self.moments(&precisions)?;
        let mut sum = 0.0;
        for (i, (mean, variance)) in means.iter().zip(&variances).enumerate() {
            let pull = self.pulls[i];
            // Dh < 1 but for rounding.
            let left = (1.0 - precisions[i] * variance).max(f64::EPSILON);
            let (mean, variance) = ((mean - variance * pull) / left, variance.max(0.0) / left);
            let (logit, z) = (mean * shrinkage(variance.sqrt()), self.targets[i]);
            sum += self.weights[i] * (z * log_sigmoid(logit) + (1.0 - z) * log_sigmoid(-logit));
        }
        if sum.is_finite() { Ok(sum) } else { Err(DIVERGED) }
    }

    /// The posterior for given ξ.
    pub fn posterior(&self, contacts: &[f64]) -> Result<Gaussian> {
        let factor = self.factor(&self.precisions(contacts))?;
        let mean = self.mean(&factor);
        let mut covariance = vec![0.0; self.width * self.width];
        covariance.iter_mut().step_by(self.width + 1).for_each(|diagonal| *diagonal = 1.0);
        solve(&factor, &mut covariance);
        if mean.iter().chain(&covariance).any(|entry| !entry.is_finite()) {
            return Err(DIVERGED);
        }
        Ok(Gaussian { mean, covariance })
    }

    /// One expectation and one maximisation: the next ξ, and the bound at the present one.
    fn step(&self, contacts: &[f64]) -> Result<(Vec<f64>, f64)> {
        let precisions = self.precisions(contacts);
        let Moments { log_determinant, means, variances } = self.moments(&precisions)?;
        let mut bound = 0.5 * (dot(&self.pulls, &means) - log_determinant);
        for ((w, d), xi) in self.weights.iter().zip(&precisions).zip(contacts) {
            // log 2cosh(ξ/2) = ξ/2 + log(1 + exp(-ξ)).
            bound += 0.5 * d * xi * xi - w * (0.5 * xi + (-xi).exp().ln_1p());
        }
        if !bound.is_finite() {
            return Err(DIVERGED);
        }
        let second_moments = means.iter().zip(&variances).map(|(m, v)| m * m + v.max(0.0));
        Ok((second_moments.map(f64::sqrt).collect(), bound))
    }

    /// D's diagonal 2wᵢλᵢ.
    fn precisions(&self, contacts: &[f64]) -> Vec<f64> {
        self.weights.iter().zip(contacts).map(|(w, &xi)| 2.0 * w * curvature(xi)).collect()
    }

    fn moments(&self, precisions: &[f64]) -> Result<Moments> {
        match &self.gram {
            Some(gram) => self.moments_by_points(gram, precisions),
            None => self.moments_by_features(precisions),
        }
    }

    /// From A, F by F.
    fn moments_by_features(&self, precisions: &[f64]) -> Result<Moments> {
        let factor = self.factor(precisions)?;
        let mean = self.mean(&factor);
        let means = self.features.chunks_exact(self.width).map(|psi| dot(psi, &mean)).collect();
        let mut variances = Vec::with_capacity(self.weights.len());
        let mut whitened = Vec::with_capacity(BLOCK * self.width);
        for block in self.features.chunks(BLOCK * self.width) {
            whitened.clear();
            whitened.extend_from_slice(block);
            solve_lower(&factor, &mut whitened);
            variances.extend(whitened.chunks_exact(self.width).map(|row| dot(row, row)));
        }
        Ok(Moments { log_determinant: log_determinant(&factor), means, variances })
    }

    /// From B = I + D^½KD^½ with K = ΨᵀΨ, n by n: A⁻¹ = I - ΨD^½B⁻¹D^½Ψᵀ and det A = det B.
    fn moments_by_points(&self, gram: &[f64], precisions: &[f64]) -> Result<Moments> {
        let len = self.weights.len();
        let roots: Vec<f64> = precisions.iter().map(|d| d.sqrt()).collect();
        let mut matrix = gram.to_vec();
        for (i, column) in matrix.chunks_exact_mut(len).enumerate() {
            column.iter_mut().zip(&roots).for_each(|(entry, root)| *entry *= roots[i] * root);
            column[i] += 1.0;
        }
        let factor = factor(&matrix, len)?;
        // The columns of D^½K, and D^½Kc after them; L⁻¹ of each.
        let mut scaled = gram.to_vec();
        for column in scaled.chunks_exact_mut(len) {
            column.iter_mut().zip(&roots).for_each(|(entry, root)| *entry *= root);
        }
        let prior_means: Vec<f64> = gram.chunks_exact(len).map(|k| dot(k, &self.pulls)).collect();
        scaled.extend(prior_means.iter().zip(&roots).map(|(mean, root)| mean * root));
        solve_lower(&factor, &mut scaled);
        let (columns, pull) = scaled.split_at(len * len);
        let columns = || columns.chunks_exact(len);
        let means = columns().zip(&prior_means).map(|(v, mean)| mean - dot(v, pull)).collect();
        let variances = columns().enumerate().map(|(i, v)| gram[i * len + i] - dot(v, v)).collect();
        Ok(Moments { log_determinant: log_determinant(&factor), means, variances })
    }

    /// The factor of A.
    fn factor(&self, precisions: &[f64]) -> Result<Llt<f64>> {
        let width = self.width;
        let mut matrix = vec![0.0; width * width];
        matrix.iter_mut().step_by(width + 1).for_each(|diagonal| *diagonal = 1.0);
        let mut scaled = vec![0.0; BLOCK * width];
        for (block, precisions) in self.features.chunks(BLOCK * width).zip(precisions.chunks(BLOCK))
        {
            let scaled = &mut scaled[..block.len()];
            let rows = scaled.chunks_exact_mut(width).zip(block.chunks_exact(width));
            for ((scaled, psi), d) in rows.zip(precisions) {
                let root = d.sqrt();
                scaled.iter_mut().zip(psi).for_each(|(scaled, psi)| *scaled = root * psi);
            }
            let scaled = MatRef::from_column_major_slice(scaled, width, precisions.len());
            triangular::matmul(
                MatMut::from_column_major_slice_mut(&mut matrix, width, width),
                BlockStructure::TriangularLower,
                Accum::Add,
                scaled,
                BlockStructure::Rectangular,
                scaled.transpose(),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        factor(&matrix, width)
    }

    /// m = A⁻¹Ψc.
    fn mean(&self, factor: &Llt<f64>) -> Vec<f64> {
        let mut mean = vec![0.0; self.width];
        for (psi, c) in self.features.chunks_exact(self.width).zip(&self.pulls) {
            mean.iter_mut().zip(psi).for_each(|(m, psi)| *m += c * psi);
        }
        solve(factor, &mut mean);
        mean
    }
}

/// Points that are worked on together, so that they stay in cache.
const BLOCK: usize = 256;

/// The factor of a symmetric matrix, of which the lower triangle is read.
fn factor(matrix: &[f64], len: usize) -> Result<Llt<f64>> {
    // Every matrix here is I and a positive semi-definite one: a lost pivot means that an entry is not finite.
    Llt::new(MatRef::from_column_major_slice(matrix, len, len), Side::Lower).map_err(|_| DIVERGED)
}

fn log_determinant(factor: &Llt<f64>) -> f64 {
    let lower = factor.L();
    2.0 * (0..lower.nrows()).map(|i| lower[(i, i)].ln()).sum::<f64>()
}

/// Replaces each right-hand side b by L⁻¹b; they stand one after another.
fn solve_lower(factor: &Llt<f64>, batch: &mut [f64]) {
    let (lower, len) = (factor.L(), factor.L().nrows());
    let batch = MatMut::from_column_major_slice_mut(batch, len, batch.len() / len);
    solve_lower_triangular_in_place(lower, batch, Par::Seq);
}

/// Replaces each right-hand side b by A⁻¹b; they stand one after another.
fn solve(factor: &Llt<f64>, batch: &mut [f64]) {
    solve_lower(factor, batch);
    let (lower, len) = (factor.L(), factor.L().nrows());
    let batch = MatMut::from_column_major_slice_mut(batch, len, batch.len() / len);
    solve_upper_triangular_in_place(lower.transpose(), batch, Par::Seq);
}

const DIVERGED: Error =
    Error::Diverged { model: "Bayesian logistic regression", doing: "fitting its posterior" };

/// λ(ξ) = tanh(ξ/2) / 4ξ.
fn curvature(xi: f64) -> f64 {
    // Below 1e-4 the next term of the series, ξ⁴/960, is beyond the last bit.
    if xi < 1e-4 { 0.125 - xi * xi / 96.0 } else { (0.5 * xi).tanh() / (4.0 * xi) }
}

/// π/8, of MacKay's approximation E[σ(a)] ≈ σ(μ/√(1 + π s²/8)) for a ~ N(μ, s²).
pub(super) const EIGHTH_OF_PI: f64 = std::f64::consts::PI / 8.0;

/// 1/√(1 + π s²/8).
pub(super) fn shrinkage(deviation: f64) -> f64 {
    1.0 / (1.0 + EIGHTH_OF_PI * deviation * deviation).sqrt()
}

/// aᵀb, in eight sums that the compiler keeps in vector registers. [`crate::points::dot`] is one sum, in order: the two
/// round differently, and here, over hundreds of features, the order would cost much time.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 8];
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    const UNTIL_STILL: Stopping = Stopping { tolerance: 1e-14, max_steps: 3000 };

    /// Random features, labels that lean on the first of them, and random weights, some of them 0.
    fn regression(len: usize, width: usize, seed: u64) -> Regression {
        let mut rng = Seed(seed).stream("regression", 0);
        let features: Vec<f64> = (0..len * width).map(|_| 4.0 * uniform(&mut rng) - 2.0).collect();
        let labels: Vec<(f64, f64)> = (0..len)
            .map(|i| {
                let is_good = features[i * width] > 2.0 * uniform(&mut rng) - 1.0;
                // One in five is good and bad at once.
                let z = if i % 5 == 2 { 0.3 } else { f64::from(u8::from(is_good)) };
                (z, if i % 7 == 3 { 0.0 } else { 2.0 * uniform(&mut rng) })
            })
            .collect();
        Regression::new(width, features, labels.into_iter())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn the_bound_rises_at_every_step(
            len in 1..60_usize, width in 1..30_usize, seed in 0..1000_u64,
        ) {
            let regression = regression(len, width, seed);
            let mut contacts = vec![1.0; len];
            let mut bound = f64::NEG_INFINITY;
            for _ in 0..30 {
                let before = bound;
                (contacts, bound) = regression.step(&contacts).unwrap();
                prop_assert!(bound >= before - 1e-10 * (1.0 + bound.abs()), "{before} {bound}");
                // The likelihood of labels is at most 1.
                prop_assert!(bound < 0.0);
            }
        }

        #[test]
        fn points_and_features_give_the_same_moments(
            len in 1..30_usize, width in 1..30_usize, seed in 0..1000_u64,
        ) {
            let regression = regression(len, width, seed);
            let mut gram = vec![0.0; len * len];
            for (entry, index) in gram.iter_mut().zip(0..) {
                let row = |i: usize| &regression.features[i * width..(i + 1) * width];
                *entry = dot(row(index / len), row(index % len));
            }
            let contacts: Vec<f64> = (0..len).map(|i| 0.3 * i as f64).collect();
            let precisions = regression.precisions(&contacts);
            let a = regression.moments_by_features(&precisions).unwrap();
            let b = regression.moments_by_points(&gram, &precisions).unwrap();
            prop_assert!((a.log_determinant - b.log_determinant).abs() < 1e-9);
            for i in 0..len {
                prop_assert!((a.means[i] - b.means[i]).abs() < 1e-8);
                prop_assert!((a.variances[i] - b.variances[i]).abs() < 1e-8);
            }
        }

        #[test]
        fn the_likelihood_lies_above_the_bound_and_touches_it(
            xi in prop_oneof![Just(0.0), 0.0..1e-3_f64, 0.0..20.0_f64],
            a in -20.0..20.0_f64,
        ) {
            let bound = |a: f64| {
                0.5 * a - curvature(xi) * (a * a - xi * xi) - (2.0 * (0.5 * xi).cosh()).ln()
            };
            prop_assert!(log_sigmoid(a) >= bound(a) - 1e-9);
            prop_assert!((log_sigmoid(xi) - bound(xi)).abs() < 1e-9);
            prop_assert!((log_sigmoid(-xi) - bound(-xi)).abs() < 1e-9);
        }
    }

    /// The log evidence of a one-dimensional model, and the mean and variance of its posterior, by quadrature.
    fn by_quadrature(regression: &Regression) -> (f64, f64, f64) {
        let (mut evidence, mut mean, mut square) = (0.0, 0.0, 0.0);
        let step = 1e-3;
        for i in -10_000..=10_000 {
            let v = f64::from(i) * step;
            let mut log = -0.5 * v * v - 0.5 * std::f64::consts::TAU.ln();
            for ((psi, z), w) in
                regression.features.iter().zip(&regression.targets).zip(&regression.weights)
            {
                let a = psi * v;
                log -= w * (z * (-a).exp().ln_1p() + (1.0 - z) * a.exp().ln_1p());
            }
            let mass = log.exp() * step;
            evidence += mass;
            mean += mass * v;
            square += mass * v * v;
        }
        (evidence.ln(), mean / evidence, square / evidence - (mean / evidence).powi(2))
    }

    #[test]
    fn one_weight_has_nearly_the_exact_mean_and_a_variance_at_most_half_too_small() {
        for seed in 0..10 {
            let regression = regression(20, 1, seed);
            let fit = regression.maximise(UNTIL_STILL).unwrap();
            let posterior = regression.posterior(&fit.contacts).unwrap();
            let (evidence, mean, variance) = by_quadrature(&regression);
            assert!(fit.bound < evidence && fit.bound > evidence - 0.5, "{} {evidence}", fit.bound);
            assert!((posterior.mean[0] - mean).abs() < 0.2 * variance.sqrt());
            // The bound is known to be too sure of itself.
            let ratio = posterior.covariance[0] / variance;
            assert!((0.5..1.05).contains(&ratio), "{ratio}");
        }
    }

    #[test]
    fn more_steps_reach_a_higher_bound_and_acceleration_saves_most_of_them() {
        let regression = regression(400, 10, 2);
        let reached = |max_steps| {
            regression.maximise(Stopping { tolerance: 1e-300, max_steps }).unwrap().bound
        };
        let bounds: Vec<f64> = (1..40).map(reached).collect();
        assert!(bounds.windows(2).all(|pair| pair[1] >= pair[0] - 1e-10), "{bounds:?}");
        let (mut contacts, mut bound) = (vec![1.0; 400], 0.0);
        for _ in 0..1000 {
            (contacts, bound) = regression.step(&contacts).unwrap();
        }
        assert!((bound - bounds[20]).abs() < 1e-6, "{bound} {}", bounds[20]);
    }

    #[test]
    fn a_label_of_weight_two_is_two_labels_and_one_of_weight_zero_none() {
        let (a, b, c) = ([0.5, -1.0], [1.5, 0.3], [0.2, 0.9]);
        let fit = |rows: &[[f64; 2]], labels: Vec<(f64, f64)>| {
            let regression = Regression::new(2, rows.concat(), labels.into_iter());
            let fit = regression.maximise(UNTIL_STILL).unwrap();
            (fit.bound, regression.posterior(&fit.contacts).unwrap())
        };
        let same = |weighted: (f64, Gaussian), repeated: (f64, Gaussian)| {
            assert!((weighted.0 - repeated.0).abs() < 1e-10);
            let pairs = weighted.1.mean.iter().zip(&repeated.1.mean);
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5));
        };
        let weighted = fit(&[a, b, c], vec![(1.0, 2.0), (0.0, 1.0), (1.0, 0.0)]);
        same(weighted, fit(&[a, a, b], vec![(1.0, 1.0), (1.0, 1.0), (0.0, 1.0)]));
        // Good twice and bad once, at the same point.
        let both = fit(&[a, b], vec![(2.0 / 3.0, 3.0), (0.0, 1.0)]);
        same(both, fit(&[a, a, b], vec![(1.0, 2.0), (0.0, 1.0), (0.0, 1.0)]));
    }

    #[test]
    fn leaving_a_label_out_is_fitting_without_it_but_for_its_own_contact() {
        for (len, width) in [(6, 9), (12, 3)] {
            let regression = regression(len, width, 4);
            let contacts = regression.maximise(UNTIL_STILL).unwrap().contacts;
            let mut sum = 0.0;
            for left_out in 0..len {
                let others = || (0..len).filter(|&i| i != left_out);
                let row = |i: usize| &regression.features[i * width..(i + 1) * width];
                let others_rows: Vec<f64> = others().flat_map(|i| row(i).to_vec()).collect();
                let labels = others().map(|i| (regression.targets[i], regression.weights[i]));
                let without = Regression::new(width, others_rows, labels);
                let contacts: Vec<f64> = others().map(|i| contacts[i]).collect();
                let Gaussian { mean, covariance } = without.posterior(&contacts).unwrap();
                let psi = row(left_out);
                let image: Vec<f64> = covariance.chunks_exact(width).map(|c| dot(c, psi)).collect();
                let logit = dot(&mean, psi) * shrinkage(dot(&image, psi).sqrt());
                let z = regression.targets[left_out];
                let both = z * log_sigmoid(logit) + (1.0 - z) * log_sigmoid(-logit);
                sum += regression.weights[left_out] * both;
            }
            let fast = regression.leave_one_out(&contacts).unwrap();
            assert!((fast - sum).abs() < 1e-9 * (1.0 + sum.abs()), "{fast} {sum}");
        }
    }

    #[test]
    fn features_that_are_not_finite_are_an_error() {
        for bad in [f64::NAN, f64::INFINITY] {
            let labels = || [(1.0, 1.0), (0.0, 1.0)].into_iter();
            let few = Regression::new(2, vec![1.0, bad, 0.5, 0.5], labels());
            assert_eq!(few.maximise(UNTIL_STILL).unwrap_err(), DIVERGED);
            let many = Regression::new(1, vec![1.0, bad], labels());
            assert_eq!(many.maximise(UNTIL_STILL).unwrap_err(), DIVERGED);
        }
    }

    #[test]
    fn the_bound_rises_with_every_step_that_is_allowed() {
        let mut rng = Seed(14).stream("labels", 0);
        for instance in 0..60 {
            let (width, len) = (1 + instance % 6, 4 + instance % 17);
            let features: Vec<f64> =
                (0..width * len).map(|_| 12.0 * uniform(&mut rng) - 6.0).collect();
            let label = |_| (f64::from(u8::from(uniform(&mut rng) < 0.3)), 1.0);
            let labels: Vec<(f64, f64)> = (0..len).map(label).collect();
            let regression = Regression::new(width, features, labels.into_iter());
            let mut before = f64::NEG_INFINITY;
            for max_steps in 1..40 {
                let fit = regression.maximise(Stopping { tolerance: 1e-12, max_steps }).unwrap();
                let slack = 1e-9 * (1.0 + before.abs().min(1e6));
                assert!(fit.bound >= before - slack, "{instance}: {} {before}", fit.bound);
                before = fit.bound;
            }
        }
    }
}
