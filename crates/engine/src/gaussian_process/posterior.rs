//! The posterior of a zero-mean Gaussian process with noise variance λ, which is also kernel ridge
//! regression with ridge λ (paper, equation 13, eq:pls-estimator, and Theorem 1):
//!
//! ```text
//! mean(x)       = k(x)ᵀ (K + λI)⁻¹ z
//! deviation²(x) = k(x, x) - k(x)ᵀ (K + λI)⁻¹ k(x)
//! ```
//!
//! The factor of K + λI depends on the points alone, so that the targets z may change at no cost: they come
//! in as weights α = (K + λI)⁻¹ z.
//!
//! Cost for n points of d coordinates: O(n³/3) to fit, O(n²) for a few more points, O(nd) a mean, O(n²) a
//! deviation. Many points at once share their passes over the factor.
//! Fails with `Error::NotPositiveDefinite` once the jitter policy of [`Cholesky`] is exhausted.

use crate::error::{Error, Result};
use crate::kernel::{Columns, Kernel};
use crate::linalg::Cholesky;
use crate::points::{Points, dot, dots, squared_norms};

/// Points whose kernel rows are held at a time when many are predicted.
const CHUNK: usize = 64;
/// The least variance, as a part of k(x, x).
const VARIANCE_FLOOR: f64 = 1e-12;

/// What the posterior says of one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the function, noise left out; positive.
    pub deviation: f64,
}

/// The factored kernel matrix of some points. Growing it gives the same bits as fitting it at once.
#[derive(Debug, Clone)]
pub struct Posterior {
    kernel: Kernel,
    ridge: f64,
    points: Points,
    /// The points in units of the length scales: saves divisions in every kernel row.
    scaled: Points,
    /// The same, coordinate by coordinate, for whole kernel rows.
    columns: Columns,
    factor: Cholesky,
}

impl Posterior {
    /// Factors K + λI for `points`; λ is `ridge`.
    pub fn fit<'p>(
        kernel: Kernel,
        ridge: f64,
        points: impl IntoIterator<Item = &'p [f64]>,
    ) -> Result<Self> {
        if !(ridge > 0.0 && ridge.is_finite()) {
            return Err(Error::invalid("ridge", ridge, "positive and finite"));
        }
        let none = Points::new(kernel.dim());
        let (columns, factor) = (Columns::new(&none), Cholesky::default());
        Self { kernel, ridge, points: none.clone(), scaled: none, columns, factor }.extend(points)
    }

    /// The posterior with `more` points after its own.
    pub fn extend<'p>(&self, more: impl IntoIterator<Item = &'p [f64]>) -> Result<Self> {
        let (mut points, mut scaled) = (self.points.clone(), self.scaled.clone());
        for point in more {
            points.push(point);
            scaled.push(&self.kernel.scale(point));
        }
        let columns = Columns::new(&scaled);
        let factor = self.factor.extend(points.len(), |i, row| {
            columns.fill(&self.kernel, scaled.row(i), row);
            row[i] = self.kernel.output_scale() + self.ridge;
        })?;
        Ok(Self { kernel: self.kernel.clone(), ridge: self.ridge, points, scaled, columns, factor })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// λ, the ridge.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// The points, in order.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Coordinates of a point.
    pub fn dim(&self) -> usize {
        self.kernel.dim()
    }

    /// The factor of K + λI.
    pub(super) fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// α = (K + λI)⁻¹ z for the targets z, one a point.
    pub fn weights(&self, targets: &[f64]) -> Vec<f64> {
        let mut weights = targets.to_vec();
        self.factor.solve(&mut weights);
        weights
    }

    /// ½ log det(I + K/λ): what the points tell about the function.
    pub fn information_gain(&self) -> f64 {
        let half_log_ridge = 0.5 * self.ridge.ln();
        self.factor.diagonal().map(|pivot| pivot.ln() - half_log_ridge).sum()
    }

    /// The mean at x, given the weights of the targets.
    pub fn mean(&self, weights: &[f64], x: &[f64]) -> f64 {
        dot(weights, &self.row(x))
    }

    /// The mean at x; its gradient with respect to x goes to `gradient`.
    pub fn mean_and_gradient(&self, weights: &[f64], x: &[f64], gradient: &mut [f64]) -> f64 {
        let x = self.kernel.scale(x);
        let row = SlopedRow::new(self, &x);
        row.gradient(&x, self, weights, gradient);
        dot(weights, &row.values)
    }

    /// The deviation at x.
    pub fn deviation(&self, x: &[f64]) -> f64 {
        let mut row = self.row(x);
        self.factor.solve_lower(&mut row);
        self.deviation_without(dot(&row, &row))
    }

    /// The deviation at x; its gradient with respect to x goes to `gradient`.
    pub fn deviation_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let x = self.kernel.scale(x);
        let row = SlopedRow::new(self, &x);
        let mut solved = row.values.clone();
        self.factor.solve_lower(&mut solved);
        let deviation = self.deviation_without(dot(&solved, &solved));
        self.factor.solve_upper(&mut solved);
        self.deviation_gradient(&x, &row, deviation, &solved, gradient);
        deviation
    }

    /// Mean and deviation at x, given the weights of the targets.
    pub fn predict(&self, weights: &[f64], x: &[f64]) -> Prediction {
        let mut row = self.row(x);
        let mean = dot(weights, &row);
        self.factor.solve_lower(&mut row);
        Prediction { mean, deviation: self.deviation_without(dot(&row, &row)) }
    }

    /// Mean and deviation at x; their gradients with respect to x go to the two slices.
    pub fn predict_with_gradients(
        &self,
        weights: &[f64],
        x: &[f64],
        mean_gradient: &mut [f64],
        deviation_gradient: &mut [f64],
    ) -> Prediction {
        let x = self.kernel.scale(x);
        let row = SlopedRow::new(self, &x);
        let mean = dot(weights, &row.values);
        row.gradient(&x, self, weights, mean_gradient);
        let mut solved = row.values.clone();
        self.factor.solve_lower(&mut solved);
        let deviation = self.deviation_without(dot(&solved, &solved));
        self.factor.solve_upper(&mut solved);
        self.deviation_gradient(&x, &row, deviation, &solved, deviation_gradient);
        Prediction { mean, deviation }
    }

    /// Mean and deviation at each of `at`. They may differ from those of [`Self::predict`] in the last bits.
    pub fn predict_all(&self, weights: &[f64], at: &Points) -> Vec<Prediction> {
        let n = self.len();
        let mut predictions = Vec::with_capacity(at.len());
        let mut rows = vec![0.0; n * CHUNK.min(at.len())];
        for chunk in at.as_slice().chunks(CHUNK * self.dim()) {
            let points = chunk.chunks_exact(self.dim());
            let rows = &mut rows[..n * points.len()];
            let done = predictions.len();
            // Without a row, the prior remains.
            let prior = Prediction { mean: 0.0, deviation: self.deviation_without(0.0) };
            predictions.resize(done + points.len(), prior);
            for (x, row) in points.zip(rows.chunks_exact_mut(n.max(1))) {
                self.fill_row(x, row);
            }
            for (prediction, mean) in predictions[done..].iter_mut().zip(dots(rows, weights)) {
                prediction.mean = mean;
            }
            self.factor.solve_lower_batch(rows);
            let explained = squared_norms(rows, n);
            for (prediction, explained) in predictions[done..].iter_mut().zip(explained) {
                prediction.deviation = self.deviation_without(explained);
            }
        }
        predictions
    }

    /// Mean and deviation at each of `at` with their gradients, row by row in the two [`Points`]. They may
    /// differ from those of [`Self::predict_with_gradients`] in the last bits.
    pub fn predict_all_with_gradients(
        &self,
        weights: &[f64],
        at: &Points,
        mean_gradients: &mut Points,
        deviation_gradients: &mut Points,
    ) -> Vec<Prediction> {
        let n = self.len();
        let mut predictions = Vec::with_capacity(at.len());
        for chunk in at.as_slice().chunks(CHUNK * self.dim()) {
            let done = predictions.len();
            let points: Vec<Vec<f64>> =
                chunk.chunks_exact(self.dim()).map(|x| self.kernel.scale(x)).collect();
            let rows: Vec<SlopedRow> = points.iter().map(|x| SlopedRow::new(self, x)).collect();
            let mut solved: Vec<f64> =
                rows.iter().flat_map(|row| row.values.iter().copied()).collect();
            self.factor.solve_lower_batch(&mut solved);
            for (p, row) in rows.iter().enumerate() {
                let lower = &solved[p * n..(p + 1) * n];
                let deviation = self.deviation_without(dot(lower, lower));
                predictions.push(Prediction { mean: dot(weights, &row.values), deviation });
                row.gradient(&points[p], self, weights, mean_gradients.row_mut(done + p));
            }
            self.factor.solve_upper_batch(&mut solved);
            for (p, row) in rows.iter().enumerate() {
                let deviation = predictions[done + p].deviation;
                let solved = &solved[p * n..(p + 1) * n];
                let gradient = deviation_gradients.row_mut(done + p);
                self.deviation_gradient(&points[p], row, deviation, solved, gradient);
            }
        }
        predictions
    }

    /// Writes k(x), one entry a point.
    pub(crate) fn fill_row(&self, x: &[f64], row: &mut [f64]) {
        self.columns.fill(&self.kernel, &self.kernel.scale(x), row);
    }

    /// The least variance under a prior one: rounding can make the difference of two near numbers negative.
    pub(super) fn least_variance(prior: f64) -> f64 {
        VARIANCE_FLOOR * prior
    }

    /// k(x), one entry a point.
    fn row(&self, x: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; self.len()];
        self.fill_row(x, &mut row);
        row
    }

    /// The deviation where the points explain the part `explained` of the variance.
    fn deviation_without(&self, explained: f64) -> f64 {
        let prior = self.kernel.output_scale();
        (prior - explained).max(Self::least_variance(prior)).sqrt()
    }

    /// ∇σ = -(1/σ) Σᵢ vᵢ ∇k(x, xᵢ) with v = (K + λI)⁻¹ k(x); zero where the variance is at its floor.
    fn deviation_gradient(
        &self,
        x: &[f64],
        row: &SlopedRow,
        deviation: f64,
        solved: &[f64],
        gradient: &mut [f64],
    ) {
        row.gradient(x, self, solved, gradient);
        let at_floor = self.deviation_without(f64::INFINITY) >= deviation;
        let factor = if at_floor { 0.0 } else { -1.0 / deviation };
        for g in gradient {
            *g *= factor;
        }
    }
}

/// A kernel row k(x) with the factors that its gradient is made of.
struct SlopedRow {
    values: Vec<f64>,
    /// Twice the slopes of the kernel in r², one a point.
    slopes: Vec<f64>,
}

impl SlopedRow {
    /// For x in units of the length scales.
    fn new(posterior: &Posterior, x: &[f64]) -> Self {
        let n = posterior.len();
        let (mut values, mut slopes) = (vec![0.0; n], vec![0.0; n]);
        posterior.columns.fill_with_slopes(&posterior.kernel, x, &mut values, &mut slopes);
        Self { values, slopes }
    }

    /// Σᵢ wᵢ ∇k(x, xᵢ), for x in units of the length scales.
    fn gradient(&self, x: &[f64], posterior: &Posterior, weights: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
        let kernel = &posterior.kernel;
        for ((point, slope), weight) in posterior.scaled.rows().zip(&self.slopes).zip(weights) {
            kernel.add_gradient(x, point, *slope, *weight, gradient);
        }
        for (g, scale) in gradient.iter_mut().zip(kernel.length_scales()) {
            *g /= scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Profile;
    use crate::kernel::fixtures::profiles;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    const DIM: usize = 3;

    fn kernel(profile: Profile) -> Kernel {
        Kernel::new(profile, vec![0.3, 0.8, 1.4], 1.7).unwrap()
    }

    /// The same with and without a sum over coordinates.
    fn kernels() -> impl Strategy<Value = Kernel> {
        let share = prop_oneof![Just(0.0), 0.1..1.0_f64];
        (profiles(), share)
            .prop_map(|(profile, share)| kernel(profile).with_additive(share).unwrap())
    }

    fn points(len: usize, seed: u64) -> Points {
        let mut rng = Seed(seed).stream("points", 0);
        Points::from_rows(DIM, (0..len).map(|_| [(); DIM].map(|()| uniform(&mut rng))))
    }

    fn targets(len: usize) -> Vec<f64> {
        (0..len).map(|i| f64::from(u8::from(i % 3 == 0))).collect()
    }

    /// Solves Ax = b by Gaussian elimination with partial pivoting.
    fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            a.swap(k, pivot);
            b.swap(k, pivot);
            let (above, below) = a.split_at_mut(k + 1);
            for (row, i) in below.iter_mut().zip(k + 1..) {
                let factor = row[k] / above[k][k];
                row.iter_mut().zip(&above[k]).for_each(|(x, p)| *x -= factor * p);
                b[i] -= factor * b[k];
            }
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
            b[k] = (b[k] - sum) / a[k][k];
        }
        b
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn predictions_are_those_of_the_textbook(
            kernel in kernels(),
            len in 1..40_usize,
            seed in 0..1000_u64,
            ridge in 0.01..1.0_f64,
        ) {
            let (xs, z) = (points(len, seed), targets(len));
            let posterior = Posterior::fit(kernel.clone(), ridge, xs.rows()).unwrap();
            let weights = posterior.weights(&z);
            let gram: Vec<Vec<f64>> = xs
                .rows()
                .enumerate()
                .map(|(i, a)| {
                    xs.rows()
                        .enumerate()
                        .map(|(j, b)| kernel.value(a, b) + if i == j { ridge } else { 0.0 })
                        .collect()
                })
                .collect();
            let at = points(5, seed + 1);
            let all = posterior.predict_all(&weights, &at);
            for (x, batched) in at.rows().zip(all) {
                let row: Vec<f64> = xs.rows().map(|p| kernel.value(x, p)).collect();
                let mean = dot(&row, &eliminate(gram.clone(), z.clone()));
                let explained = dot(&row, &eliminate(gram.clone(), row.clone()));
                let deviation = (kernel.output_scale() - explained).sqrt();
                let got = posterior.predict(&weights, x);
                prop_assert!((got.mean - mean).abs() < 1e-9, "{} {}", got.mean, mean);
                prop_assert!((got.deviation - deviation).abs() < 1e-9);
                prop_assert_eq!(got.mean, posterior.mean(&weights, x));
                prop_assert_eq!(got.deviation, posterior.deviation(x));
                prop_assert!((batched.mean - mean).abs() < 1e-9);
                prop_assert!((batched.deviation - deviation).abs() < 1e-9);
            }
            // The gain of one more point is ½ log(1 + σ²/λ).
            let mut gain = 0.0;
            let mut grown = Posterior::fit(kernel, ridge, []).unwrap();
            for x in xs.rows() {
                gain += 0.5 * (grown.deviation(x).powi(2) / ridge).ln_1p();
                grown = grown.extend([x]).unwrap();
            }
            prop_assert!((posterior.information_gain() - gain).abs() < 1e-9);
        }

        #[test]
        fn gradients_are_those_of_finite_differences(
            kernel in kernels(),
            len in 1..30_usize,
            seed in 0..1000_u64,
        ) {
            let (xs, z) = (points(len, seed), targets(len));
            let posterior = Posterior::fit(kernel, 0.025, xs.rows()).unwrap();
            let weights = posterior.weights(&z);
            let at = points(3, seed + 1);
            let (mut means, mut deviations) = (Points::zeros(DIM, 3), Points::zeros(DIM, 3));
            let all =
                posterior.predict_all_with_gradients(&weights, &at, &mut means, &mut deviations);
            for (p, x) in at.rows().enumerate() {
                let (mut mean, mut deviation) = ([0.0; DIM], [0.0; DIM]);
                let got =
                    posterior.predict_with_gradients(&weights, x, &mut mean, &mut deviation);
                prop_assert_eq!(got, posterior.predict(&weights, x));
                prop_assert!((all[p].mean - got.mean).abs() < 1e-11);
                prop_assert!((all[p].deviation - got.deviation).abs() < 1e-11);
                let mut alone = [0.0; DIM];
                posterior.mean_and_gradient(&weights, x, &mut alone);
                prop_assert_eq!(alone, mean);
                posterior.deviation_and_gradient(x, &mut alone);
                prop_assert_eq!(alone, deviation);
                for k in 0..DIM {
                    let moved = |step: f64| {
                        let mut x = x.to_vec();
                        x[k] += step;
                        posterior.predict(&weights, &x)
                    };
                    let (after, before) = (moved(1e-5), moved(-1e-5));
                    let numeric = (after.mean - before.mean) / 2e-5;
                    prop_assert!((mean[k] - numeric).abs() < 1e-4 * (1.0 + numeric.abs()));
                    prop_assert!((means.row(p)[k] - mean[k]).abs() < 1e-9);
                    let numeric = (after.deviation - before.deviation) / 2e-5;
                    prop_assert!(
                        (deviation[k] - numeric).abs() < 1e-4 * (1.0 + numeric.abs()),
                        "{} {}", deviation[k], numeric
                    );
                    prop_assert!((deviations.row(p)[k] - deviation[k]).abs() < 1e-8);
                }
            }
        }

        #[test]
        fn a_grown_posterior_has_the_bits_of_one_fitted_at_once(
            steps in prop::collection::vec(1..25_usize, 1..5),
            seed in 0..1000_u64,
        ) {
            let len = steps.iter().sum();
            let (kernel, xs, z) = (kernel(Profile::Matern52), points(len, seed), targets(len));
            let mut grown = Posterior::fit(kernel.clone(), 0.025, []).unwrap();
            for step in steps {
                let more: Vec<&[f64]> = xs.rows().skip(grown.len()).take(step).collect();
                grown = grown.extend(more).unwrap();
            }
            let fitted = Posterior::fit(kernel, 0.025, xs.rows()).unwrap();
            prop_assert_eq!(grown.weights(&z), fitted.weights(&z));
            prop_assert_eq!(grown.information_gain(), fitted.information_gain());
            prop_assert_eq!(grown.deviation(&[0.5; DIM]), fitted.deviation(&[0.5; DIM]));
        }
    }

    #[test]
    fn many_points_are_predicted_like_single_ones_across_chunks() {
        let (xs, at) = (points(50, 0), points(2 * CHUNK + 7, 1));
        let posterior = Posterior::fit(kernel(Profile::Matern32), 0.025, xs.rows()).unwrap();
        let weights = posterior.weights(&targets(50));
        for (x, batched) in at.rows().zip(posterior.predict_all(&weights, &at)) {
            let single = posterior.predict(&weights, x);
            assert!((single.mean - batched.mean).abs() < 1e-12);
            assert!((single.deviation - batched.deviation).abs() < 1e-12);
        }
    }

    #[test]
    fn without_points_the_prior_remains() {
        let posterior = Posterior::fit(kernel(Profile::Matern32), 0.1, []).unwrap();
        let prediction = posterior.predict(&[], &[0.1; DIM]);
        assert_eq!(prediction, Prediction { mean: 0.0, deviation: 1.7_f64.sqrt() });
        assert_eq!(posterior.predict_all(&[], &points(2, 0)), [prediction, prediction]);
        let mut gradient = [1.0; DIM];
        posterior.deviation_and_gradient(&[0.1; DIM], &mut gradient);
        assert_eq!(gradient.map(f64::abs), [0.0; DIM]);
        assert_eq!(posterior.information_gain(), 0.0);
    }

    #[test]
    fn a_vanishing_ridge_at_repeated_points_keeps_the_deviation_positive() {
        let posterior =
            Posterior::fit(kernel(Profile::SquaredExponential), 1e-14, [&[0.5; DIM][..]; 4])
                .unwrap();
        let mut gradient = [0.0; DIM];
        let deviation = posterior.deviation_and_gradient(&[0.5; DIM], &mut gradient);
        assert!(deviation > 0.0 && gradient.iter().all(|g| g.is_finite()));
    }

    #[test]
    fn a_ridge_that_is_not_positive_is_refused() {
        for ridge in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Posterior::fit(kernel(Profile::Matern32), ridge, []).unwrap_err();
            assert!(error.to_string().contains("ridge"), "{error}");
        }
    }
}
