//! Information gain γ_n = ½ log det(I + λ⁻¹K_n) of a growing set of points, one point at a time.
//!
//! ```text
//! γ_n = ½ Σᵢ ln(1 + λ⁻¹ σ²_{i-1}(xᵢ))          (Lemma A.1)
//! ```
//!
//! σ²_{i-1}(x) = k(x, x) - k_{i-1}(x)ᵀ (K_{i-1} + λI)⁻¹ k_{i-1}(x) is the variance left at x by the points
//! before it. Points may repeat. The rows of the triangular factor of K + λI are kept; the pivot of a new
//! row is √(λ + σ²) ≥ √λ, so that the factor can always grow, however close the points.
//!
//! Cost: O(n²) a point or a deviation, O(n²) memory.

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::points::Points;

use super::confidence::check_positive;

/// The information gain γ_n = ½ log det(I + λ⁻¹K_n) of the points pushed so far (Lemma A.1), and the deviations that they leave.
///
/// ```
/// use wimble::kernel::{Kernel, Profile};
/// use wimble::theory::{InformationGain, Run, Setting};
///
/// let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.2, 1.0)?;
/// let mut gain = InformationGain::new(kernel, 0.025)?;
/// for x in [0.1, 0.5, 0.5, 0.9] {
///     gain.push(&[x])?;
/// }
/// assert!(gain.deviation(&[0.5])? < gain.deviation(&[0.3])?);
/// // What the theorems need of a run:
/// let run = Run::new(gain.len(), gain.total());
/// let known = Setting { ridge: 0.025, noise_lipschitz: Some(0.5), ..Setting::default() };
/// println!("{}", known.bore_plus_cumulative(&run)?);
/// # Ok::<(), wimble::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct InformationGain {
    kernel: Kernel,
    ridge: f64,
    points: Points,
    /// Rows of the lower triangular factor of K + λI, one after another: row i has i + 1 entries.
    factor: Vec<f64>,
    total: f64,
}

impl InformationGain {
    /// No points yet.
    ///
    /// - `kernel`: k, that of least squares.
    /// - `ridge`: λ, positive.
    ///
    /// # Errors
    /// If the ridge is not positive.
    pub fn new(kernel: Kernel, ridge: f64) -> Result<Self> {
        check_positive("ridge", ridge)?;
        let points = Points::new(kernel.dim());
        Ok(Self { kernel, ridge, points, factor: Vec::new(), total: 0.0 })
    }

    /// Adds a point and returns its marginal gain ½ ln(1 + λ⁻¹ σ²(x)), with σ as it was before.
    pub fn push(&mut self, x: &[f64]) -> Result<f64> {
        self.check(x)?;
        let (mut row, variance) = self.row_and_variance(x);
        row.push((self.ridge + variance).sqrt());
        self.factor.append(&mut row);
        self.points.push(x);
        let gain = 0.5 * (variance / self.ridge).ln_1p();
        self.total += gain;
        Ok(gain)
    }

    /// γ_n of all points pushed so far.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// σ_n(x), given the points pushed so far.
    pub fn deviation(&self, x: &[f64]) -> Result<f64> {
        self.check(x)?;
        Ok(self.row_and_variance(x).1.sqrt())
    }

    /// How many points were pushed.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether no point was pushed.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The new row of the factor without its pivot, by forward substitution, and σ²(x).
    fn row_and_variance(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let mut row = Vec::with_capacity(self.points.len() + 1);
        let mut start = 0;
        for (i, other) in self.points.rows().enumerate() {
            let known = &self.factor[start..start + i];
            let explained: f64 = known.iter().zip(&row).map(|(l, w): (&f64, &f64)| l * w).sum();
            row.push((self.kernel.value(other, x) - explained) / self.factor[start + i]);
            start += i + 1;
        }
        let explained: f64 = row.iter().map(|w| w * w).sum();
        // Rounding can leave a variance of about -n·ε where the points pin the function down.
        let variance = (self.kernel.output_scale() - explained).max(0.0);
        (row, variance)
    }

    fn check(&self, x: &[f64]) -> Result<()> {
        if x.len() != self.kernel.dim() {
            let allowed = format!("{}, as the kernel has it", self.kernel.dim());
            return Err(Error::invalid("number of coordinates", x.len(), allowed));
        }
        match x.iter().position(|coordinate| !coordinate.is_finite()) {
            Some(k) => Err(Error::invalid(format!("coordinate {k}"), x[k], "finite")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Profile;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    /// log det(I + λ⁻¹K) by elimination.
    fn log_determinant(kernel: &Kernel, ridge: f64, points: &Points) -> f64 {
        let n = points.len();
        let mut matrix: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| {
                        kernel.value(points.row(i), points.row(j)) / ridge
                            + f64::from(u8::from(i == j))
                    })
                    .collect()
            })
            .collect();
        let mut sum = 0.0;
        for i in 0..n {
            sum += matrix[i][i].ln();
            let (above, below) = matrix.split_at_mut(i + 1);
            let pivot_row = &above[i];
            for row in below {
                let factor = row[i] / pivot_row[i];
                for (entry, pivot) in row.iter_mut().zip(pivot_row) {
                    *entry -= factor * pivot;
                }
            }
        }
        sum
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_total_is_half_the_log_determinant(
            seed in 0..1000_u64,
            n in 1..12_usize,
            ridge in 1e-3..10.0_f64,
            scale in 0.2..3.0_f64,
        ) {
            let mut rng = Seed(seed).stream("points", 0);
            let kernel = Kernel::isotropic(Profile::Matern52, 2, 0.4, scale).unwrap();
            let mut gain = InformationGain::new(kernel.clone(), ridge).unwrap();
            let mut points = Points::new(2);
            for _ in 0..n {
                let x = [uniform(&mut rng), uniform(&mut rng)];
                let deviation = gain.deviation(&x).unwrap();
                let marginal = gain.push(&x).unwrap();
                prop_assert!((marginal - 0.5 * (deviation * deviation / ridge).ln_1p()).abs() < 1e-12);
                points.push(&x);
            }
            let naive = 0.5 * log_determinant(&kernel, ridge, &points);
            prop_assert!((gain.total() - naive).abs() < 1e-9 * (1.0 + naive), "{} {}", gain.total(), naive);
        }
    }

    #[test]
    fn repeated_points_with_a_tiny_ridge_stay_finite() {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.1, 1.0).unwrap();
        let mut gain = InformationGain::new(kernel, 1e-14).unwrap();
        for _ in 0..50 {
            assert!(gain.push(&[0.5]).unwrap() >= 0.0);
        }
        assert!(gain.total().is_finite());
        assert!(gain.deviation(&[0.5]).unwrap() < 1e-6);
    }

    #[test]
    fn foreign_points_are_refused_and_leave_no_trace() {
        let kernel = Kernel::isotropic(Profile::Matern32, 2, 0.1, 1.0).unwrap();
        let mut gain = InformationGain::new(kernel, 0.1).unwrap();
        assert!(gain.push(&[0.5]).unwrap_err().to_string().contains("coordinates is 1"));
        assert!(gain.push(&[0.5, f64::NAN]).unwrap_err().to_string().contains("coordinate 1"));
        assert!(gain.is_empty() && gain.total() == 0.0);
    }
}
