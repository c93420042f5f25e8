//! The normal distribution of CMA-ES, and how ranked points change it.
//!
//! Points are x = m + σy with y ~ N(0, C). A generation of λ points, best first, moves all three (Hansen,
//! *The CMA evolution strategy: a tutorial*, 2016; numbers of its equations):
//! ```text
//! m   ← m + σ Σ_{i≤µ} w_i y_i                                              (42)
//! p_σ ← (1 - c_σ) p_σ + √(c_σ(2 - c_σ)µ_eff) C^{-½} ⟨y⟩                    (43)
//! σ   ← σ exp(c_σ/d_σ (‖p_σ‖/E‖N(0,I)‖ - 1))                               (44)
//! p_c ← (1 - c_c) p_c + h_σ √(c_c(2 - c_c)µ_eff) ⟨y⟩                       (45)
//! C   ← (1 + c_1 δ(h_σ) - c_1 - c_µ Σ w_j) C + c_1 p_c p_cᵀ + c_µ Σ w°_i y_i y_iᵀ   (47)
//! ```
//! Negative weights w°_i, of the worse half, shrink C where it led astray (46); constants are those of the
//! tutorial's Table 1.
//!
//! # Design
//! The points of a generation need not be draws of the distribution: initial points, points rounded to a
//! discrete value, or late results of an older distribution. As in Hansen, *Injecting external solutions
//! into CMA-ES* (2011), a step is shortened to Mahalanobis length √n + 2, which draws exceed three times in a
//! thousand, and ln σ grows by at most 1 a generation.
//!
//! Cost: O(λn²) a generation and O(n³) for the eigenvectors, which are computed every
//! max(1, 1/(10n(c_1 + c_µ))) generations.

use rand_distr::{Distribution as _, StandardNormal};

use crate::error::{Error, Result};
use crate::linalg::symmetric::{Eigen, eigen};
use crate::seed::Rng;

/// N(m, σ²C), with what it remembers of earlier generations.
#[derive(Debug, Clone, PartialEq)]
pub struct Evolution {
    constants: Constants,
    mean: Vec<f64>,
    step_size: f64,
    /// C, row after row.
    covariance: Vec<f64>,
    /// The eigenvectors of C, one after another, in ascending order of their eigenvalues.
    axes: Vec<f64>,
    /// The square roots of the eigenvalues.
    lengths: Vec<f64>,
    step_path: Vec<f64>,
    covariance_path: Vec<f64>,
    generation: usize,
    /// The generation of `axes` and `lengths`.
    decomposed: usize,
}

/// Table 1 of the tutorial.
#[derive(Debug, Clone, PartialEq)]
struct Constants {
    /// λ of them, those of the better half positive and summing to one.
    weights: Vec<f64>,
    parents: usize,
    effective_parents: f64,
    step_rate: f64,
    step_damping: f64,
    path_rate: f64,
    rank_one_rate: f64,
    rank_parents_rate: f64,
    /// E‖N(0, I)‖.
    normal_length: f64,
    decompose_every: usize,
}

impl Constants {
    fn new(dim: usize, population: usize) -> Self {
        let n = dim as f64;
        let parents = population / 2;
        let middle = ((population as f64 + 1.0) / 2.0).ln();
        let raw: Vec<f64> = (1..=population).map(|i| middle - (i as f64).ln()).collect();
        let effective = |weights: &[f64]| {
            let sum: f64 = weights.iter().sum();
            sum * sum / weights.iter().map(|w| w * w).sum::<f64>()
        };
        let mu = effective(&raw[..parents]);
        let mu_worse = effective(&raw[parents..]);
        let path_rate = (4.0 + mu / n) / (n + 4.0 + 2.0 * mu / n);
        let step_rate = (mu + 2.0) / (n + mu + 5.0);
        let excess = (((mu - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0);
        let rank_one_rate = 2.0 / ((n + 1.3).powi(2) + mu);
        let rank_parents_rate = (2.0 * (0.25 + mu + 1.0 / mu - 2.0) / ((n + 2.0).powi(2) + mu))
            .min(1.0 - rank_one_rate);
        let worse = (1.0 + rank_one_rate / rank_parents_rate)
            .min(1.0 + 2.0 * mu_worse / (mu + 2.0))
            .min((1.0 - rank_one_rate - rank_parents_rate) / (n * rank_parents_rate));
        let better_sum: f64 = raw.iter().filter(|w| **w > 0.0).sum();
        let worse_sum: f64 = -raw.iter().filter(|w| **w < 0.0).sum::<f64>();
        let scale = |&w: &f64| w * if w > 0.0 { 1.0 / better_sum } else { worse / worse_sum };
        let every = 1.0 / (10.0 * n * (rank_one_rate + rank_parents_rate));
        Self {
            weights: raw.iter().map(scale).collect(),
            parents,
            effective_parents: mu,
            step_rate,
            step_damping: 1.0 + 2.0 * excess + step_rate,
            path_rate,
            rank_one_rate,
            rank_parents_rate,
            normal_length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
            decompose_every: (every as usize).max(1),
        }
    }
}

impl Evolution {
    /// N(mean, step_size² I). `population`, the λ of a generation, is at least 2.
    pub fn new(mean: Vec<f64>, step_size: f64, population: usize) -> Self {
        assert!(population >= 2, "a generation needs a better and a worse half");
        let n = mean.len();
        let mut identity = vec![0.0; n * n];
        (0..n).for_each(|i| identity[i * n + i] = 1.0);
        Self {
            constants: Constants::new(n, population),
            mean,
            step_size,
            covariance: identity.clone(),
            axes: identity,
            lengths: vec![1.0; n],
            step_path: vec![0.0; n],
            covariance_path: vec![0.0; n],
            generation: 0,
            decomposed: 0,
        }
    }

    /// λ = 4 + ⌊3 ln n⌋, the tutorial's population for n coordinates.
    pub fn default_population(dim: usize) -> usize {
        4 + (3.0 * (dim as f64).ln()) as usize
    }

    /// λ, the number of points in a generation.
    pub fn population(&self) -> usize {
        self.constants.weights.len()
    }

    /// m, the mean of the distribution.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// σ, the step size: the overall scale of the distribution.
    #[cfg(test)]
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// The deviation of coordinate `i`.
    pub fn deviation(&self, i: usize) -> f64 {
        self.step_size * self.covariance[i * self.mean.len() + i].sqrt()
    }

    /// The condition number of C.
    pub fn condition(&self) -> f64 {
        let shortest = self.lengths.first().copied().unwrap_or(1.0);
        (self.lengths.last().copied().unwrap_or(1.0) / shortest).powi(2)
    }

    /// A draw.
    pub fn sample(&self, rng: &mut Rng) -> Vec<f64> {
        let mut x = self.mean.clone();
        for (axis, length) in self.axes.chunks_exact(x.len()).zip(&self.lengths) {
            let normal: f64 = StandardNormal.sample(rng);
            let step = self.step_size * length * normal;
            x.iter_mut().zip(axis).for_each(|(x, axis)| *x += step * axis);
        }
        x
    }

    /// Learns from a generation: λ points, best first. Afterwards no coordinate has a deviation below its
    /// entry of `least`.
    pub fn update<X: AsRef<[f64]>>(&mut self, ranked: &[X], least: &[f64]) -> Result<()> {
        assert_eq!(ranked.len(), self.population(), "a generation has as many points as weights");
        let n = self.mean.len();
        let c = self.constants.clone();
        let limit = (n as f64).sqrt() + 2.0;
        let steps: Vec<(Vec<f64>, f64)> = ranked
            .iter()
            .map(|x| {
                let mut y: Vec<f64> =
                    x.as_ref().iter().zip(&self.mean).map(|(x, m)| x - m).collect();
                y.iter_mut().for_each(|y| *y /= self.step_size);
                let length = norm(&self.whiten(&y));
                if length > limit {
                    y.iter_mut().for_each(|y| *y *= limit / length);
                }
                (y, length.min(limit))
            })
            .collect();

        let mut step = vec![0.0; n];
        for ((y, _), weight) in steps.iter().zip(&c.weights).take(c.parents) {
            add(&mut step, *weight, y);
        }
        add(&mut self.mean, self.step_size, &step);

        let gain = (c.step_rate * (2.0 - c.step_rate) * c.effective_parents).sqrt();
        let whitened = self.whiten(&step);
        self.step_path.iter_mut().for_each(|p| *p *= 1.0 - c.step_rate);
        add(&mut self.step_path, gain, &whitened);
        self.generation += 1;
        let length = norm(&self.step_path);
        let growth = c.step_rate / c.step_damping * (length / c.normal_length - 1.0);
        self.step_size *= growth.min(1.0).exp();

        // h_σ: while σ is about to grow a lot, the path of C waits.
        let settled = 1.0 - (1.0 - c.step_rate).powf(2.0 * self.generation as f64);
        let calm = length / settled.sqrt() < (1.4 + 2.0 / (n as f64 + 1.0)) * c.normal_length;
        let gain = (c.path_rate * (2.0 - c.path_rate) * c.effective_parents).sqrt();
        self.covariance_path.iter_mut().for_each(|p| *p *= 1.0 - c.path_rate);
        let missing = if calm {
            add(&mut self.covariance_path, gain, &step);
            0.0
        } else {
            c.path_rate * (2.0 - c.path_rate)
        };

        let kept = 1.0 + c.rank_one_rate * missing
            - c.rank_one_rate
            - c.rank_parents_rate * c.weights.iter().sum::<f64>();
        self.covariance.iter_mut().for_each(|entry| *entry *= kept);
        add_square(&mut self.covariance, c.rank_one_rate, &self.covariance_path);
        for ((y, length), &weight) in steps.iter().zip(&c.weights) {
            let weight = if weight >= 0.0 {
                weight
            } else if *length > 1e-15 {
                weight * n as f64 / (length * length)
            } else {
                // A point at the mean has no direction to shrink.
                0.0
            };
            add_square(&mut self.covariance, c.rank_parents_rate * weight, y);
        }
        self.widen(least)
    }

    /// Shrinks σ so that no coordinate has a deviation above `most`.
    pub fn cap_deviations(&mut self, most: f64) {
        let largest = (0..self.mean.len()).map(|i| self.deviation(i)).fold(0.0, f64::max);
        if largest > most {
            self.step_size *= most / largest;
        }
    }

    /// Raises deviations to at least `least`, then finds the eigenvectors if it is time to.
    fn widen(&mut self, least: &[f64]) -> Result<()> {
        let n = self.mean.len();
        let mut widened = false;
        for (i, least) in least.iter().enumerate() {
            let short = (least / self.step_size).powi(2) - self.covariance[i * n + i];
            if short > 0.0 {
                self.covariance[i * n + i] += short;
                widened = true;
            }
        }
        let finite = self.step_size.is_finite() && self.covariance.iter().all(|c| c.is_finite());
        if !finite {
            return Err(Error::Diverged { model: "CMA-ES", doing: "adapting its covariance" });
        }
        if widened || self.generation >= self.decomposed + self.constants.decompose_every {
            self.decompose()?;
        }
        Ok(())
    }

    fn decompose(&mut self) -> Result<()> {
        let n = self.mean.len();
        let Eigen { values, vectors } = eigen(&self.covariance, n)
            .ok_or(Error::Diverged { model: "CMA-ES", doing: "finding its axes" })?;
        // Rounding may leave an eigenvalue that is not positive: the condition number then says so.
        let floor = 1e-16 * values[n - 1].max(f64::MIN_POSITIVE);
        for (length, value) in self.lengths.iter_mut().zip(&values) {
            *length = value.max(floor).sqrt();
        }
        self.axes.copy_from_slice(&vectors);
        self.decomposed = self.generation;
        Ok(())
    }

    /// C^{-½} y.
    fn whiten(&self, y: &[f64]) -> Vec<f64> {
        let mut whitened = vec![0.0; y.len()];
        for (axis, length) in self.axes.chunks_exact(y.len()).zip(&self.lengths) {
            let along: f64 = axis.iter().zip(y).map(|(a, y)| a * y).sum();
            add(&mut whitened, along / length, axis);
        }
        whitened
    }
}

fn norm(y: &[f64]) -> f64 {
    y.iter().map(|y| y * y).sum::<f64>().sqrt()
}

fn add(sum: &mut [f64], factor: f64, y: &[f64]) {
    sum.iter_mut().zip(y).for_each(|(sum, y)| *sum += factor * y);
}

/// Adds factor · y yᵀ.
fn add_square(matrix: &mut [f64], factor: f64, y: &[f64]) {
    for (row, &entry) in matrix.chunks_exact_mut(y.len()).zip(y) {
        add(row, factor * entry, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    /// How many evaluations it takes to reach `target`, unbounded, from (3, …, 3) with σ = 1.
    fn evaluations(dim: usize, target: f64, seed: u64, f: impl Fn(&[f64]) -> f64) -> usize {
        let population = Evolution::default_population(dim);
        let mut evolution = Evolution::new(vec![3.0; dim], 1.0, population);
        let mut rng = Seed(seed).stream("test", 0);
        for generation in 1..=3000 {
            let mut points: Vec<(f64, Vec<f64>)> = (0..population)
                .map(|_| {
                    let x = evolution.sample(&mut rng);
                    (f(&x), x)
                })
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if points[0].0 < target {
                return generation * population;
            }
            let ranked: Vec<&[f64]> = points.iter().map(|(_, x)| &x[..]).collect();
            evolution.update(&ranked, &vec![0.0; dim]).unwrap();
        }
        usize::MAX
    }

    fn sphere(x: &[f64]) -> f64 {
        x.iter().map(|x| x * x).sum()
    }

    fn ellipsoid(x: &[f64]) -> f64 {
        let n = x.len() as f64 - 1.0;
        x.iter().enumerate().map(|(i, x)| 1e6_f64.powf(i as f64 / n) * x * x).sum()
    }

    fn rosenbrock(x: &[f64]) -> f64 {
        x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
    }

    #[test]
    fn classic_functions_are_solved_in_the_expected_number_of_evaluations() {
        // The Python package cmaes 0.13.1 from the same start: medians 1530, 4270 and 5360 over 11 seeds.
        for (f, low, high) in [
            (sphere as fn(&[f64]) -> f64, 1300, 1800),
            (ellipsoid, 3700, 4900),
            (rosenbrock, 4500, 6500),
        ] {
            let mut counts: Vec<usize> =
                (0..5).map(|seed| evaluations(10, 1e-8, seed, f)).collect();
            counts.sort_unstable();
            assert!((low..high).contains(&counts[2]), "{counts:?}");
        }
    }

    #[test]
    fn one_coordinate_and_a_generation_of_two_work() {
        assert!(evaluations(1, 1e-8, 1, sphere) < 1000);
        let mut evolution = Evolution::new(vec![0.5; 3], 0.3, 2);
        let mut rng = Seed(1).stream("test", 0);
        for _ in 0..50 {
            let points = [evolution.sample(&mut rng), evolution.sample(&mut rng)];
            evolution.update(&points, &[0.0; 3]).unwrap();
        }
        assert!(evolution.step_size().is_finite());
    }

    #[test]
    fn constants_are_those_of_the_tutorial() {
        // λ = 10 in ten dimensions: µ_eff of the tutorial's weights, and the sums it demands.
        let c = Constants::new(10, 10);
        assert_eq!(c.parents, 5);
        assert!((c.effective_parents - 3.167_299).abs() < 1e-5, "{}", c.effective_parents);
        assert!((c.weights[..5].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let worse: f64 = -c.weights[5..].iter().sum::<f64>();
        let definite = (1.0 - c.rank_one_rate - c.rank_parents_rate) / (10.0 * c.rank_parents_rate);
        assert!(worse > 0.0 && worse <= definite + 1e-12);
    }

    #[test]
    fn draws_have_the_covariance_that_was_learnt() {
        let mut evolution = Evolution::new(vec![0.0; 2], 1.0, 6);
        let mut rng = Seed(3).stream("test", 0);
        for _ in 0..15 {
            let mut points: Vec<Vec<f64>> = (0..6).map(|_| evolution.sample(&mut rng)).collect();
            let f = |x: &[f64]| (x[0] - x[1]).powi(2) * 100.0 + (x[0] + x[1] - 50.0).powi(2);
            points.sort_by(|a, b| f(a).total_cmp(&f(b)));
            evolution.update(&points, &[0.0; 2]).unwrap();
        }
        let n = 40_000;
        let mut moments = [0.0; 4];
        for _ in 0..n {
            let x = evolution.sample(&mut rng);
            let y: Vec<f64> =
                (0..2).map(|i| (x[i] - evolution.mean[i]) / evolution.step_size).collect();
            (0..4).for_each(|k| moments[k] += y[k / 2] * y[k % 2] / f64::from(n));
        }
        let scale = evolution.covariance[0].max(evolution.covariance[3]);
        for (moment, entry) in moments.iter().zip(&evolution.covariance) {
            assert!(
                (moment - entry).abs() < 0.05 * scale,
                "{moments:?} {:?}",
                evolution.covariance
            );
        }
    }

    #[test]
    fn outliers_are_shortened_and_deviations_kept_up() {
        let mut evolution = Evolution::new(vec![0.5; 2], 1e-3, 4);
        evolution.update(&[[1e6, 0.0]; 4], &[0.0, 0.1]).unwrap();
        // The mean moves by at most σ(√n + 2).
        assert!(evolution.mean()[0] - 0.5 <= 1e-3 * (2.0_f64.sqrt() + 2.0) + 1e-12);
        assert!(evolution.deviation(1) >= 0.1 - 1e-12);
        assert!(evolution.step_size() <= 1e-3 * 1.0_f64.exp());
        evolution.cap_deviations(0.05);
        assert!((evolution.deviation(1) - 0.05).abs() < 1e-12);
    }
}
