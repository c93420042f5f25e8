//! Maximum information gain over a finite set of points, by greedy choice.
//!
//! ```text
//! ξ_N = max over x₁ … x_N of ½ log det(I + λ⁻¹K_N)          (16, eq:mig)
//! ```
//!
//! Points may repeat, since every observation has its own noise. The maximum itself is NP-hard; the greedy
//! choice, which adds the point of largest deviation each time, gives F(A_N) ≤ ξ_N. A regret bound needs the
//! other side. The information gain F is monotone and submodular (a further point never gains more than it
//! would have gained earlier), and with N copies of each point a choice with repeats is a choice of a set.
//! Hence, with Δᵢ the largest marginal gain once A_i is chosen,
//!
//! ```text
//! ξ_N ≤ F(A_N) / (1 - (1 - 1/N)^N) ≤ F(A_N) · e/(e - 1),
//! ξ_N ≤ F(A_i) + N Δᵢ        for each i = 0 … N,
//! ```
//!
//! the second because the best N points, added to A_i, gain at most Δᵢ each; i = 0 is (N/2) ln(1 + s/λ).
//! The least of all these is `upper`.
//!
//! Both numbers speak of the given set. On a continuous domain a grid gives `greedy` as a lower bound of the
//! domain's ξ_N, and `upper` only as close as the grid is dense.
//!
//! Cost: O(N² m) time and O(N m) memory for m points.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::points::Points;

use super::confidence::check_positive;
use super::information_gain::InformationGain;

/// Lower and upper bound of ξ_N over a finite set.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MaxInformationGain {
    /// F(A_N) ≤ ξ_N, the gain of the greedy choice.
    pub greedy: f64,
    /// An upper bound of ξ_N.
    pub upper: f64,
    /// The greedy choice, as indices into the set, in order.
    pub chosen: Vec<usize>,
}

impl InformationGain {
    /// The maximum information gain ξ_N = max ½ log det(I + λ⁻¹K_N) over a finite set (16), between two bounds: `greedy`, the gain of the
    /// greedy choice, and `upper`, which is what a regret bound needs. `chosen` is the greedy choice.
    ///
    /// - `kernel`, `ridge`: k and λ > 0.
    /// - `points`: the set, with repeats allowed in the choice. On a continuous domain a grid bounds ξ_N only as well as it is dense.
    /// - `observations`: N.
    ///
    /// ```
    /// use wimble::kernel::{Kernel, Profile};
    /// use wimble::points::Points;
    /// use wimble::theory::InformationGain;
    ///
    /// let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.2, 1.0)?;
    /// let grid = Points::from_rows(1, (0..50).map(|i| [f64::from(i) / 49.0]));
    /// let most = InformationGain::maximum(&kernel, 0.1, &grid, 20)?;
    /// assert!(most.greedy <= most.upper && most.upper <= 1.6 * most.greedy);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the set is empty, has another dimension than the kernel, or the ridge is not positive.
    pub fn maximum(
        kernel: &Kernel,
        ridge: f64,
        points: &Points,
        observations: usize,
    ) -> Result<MaxInformationGain> {
        check_positive("ridge", ridge)?;
        if points.is_empty() {
            return Err(Error::invalid("number of points", 0, "at least 1"));
        }
        if points.dim() != kernel.dim() {
            let allowed = format!("{}, as the kernel has it", kernel.dim());
            return Err(Error::invalid("number of coordinates", points.dim(), allowed));
        }
        let mut variances = vec![kernel.output_scale(); points.len()];
        // One column for each chosen point: its covariance with every point of the set, scaled.
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(observations);
        let mut chosen = Vec::with_capacity(observations);
        let mut greedy = 0.0;
        let mut upper = f64::INFINITY;
        let n = observations as f64;
        loop {
            let best = largest(&variances);
            let gain = 0.5 * (variances[best] / ridge).ln_1p();
            upper = upper.min(greedy + n * gain);
            if chosen.len() == observations {
                break;
            }
            let column = column(kernel, ridge, points, &columns, best, variances[best]);
            for (variance, entry) in variances.iter_mut().zip(&column) {
                *variance = (*variance - entry * entry).max(0.0);
            }
            columns.push(column);
            chosen.push(best);
            greedy += gain;
        }
        if observations > 0 {
            upper = upper.min(greedy / (1.0 - (1.0 - 1.0 / n).powf(n)));
        }
        // Where both meet, rounding may leave them an ulp the wrong way round.
        Ok(MaxInformationGain { greedy, upper: upper.max(greedy), chosen })
    }
}

/// The covariances of all points with point `pivot`, given the chosen ones, over √(λ + σ²(pivot)).
fn column(
    kernel: &Kernel,
    ridge: f64,
    points: &Points,
    columns: &[Vec<f64>],
    pivot: usize,
    variance: f64,
) -> Vec<f64> {
    let x = points.row(pivot);
    let mut column: Vec<f64> = points.rows().map(|other| kernel.value(other, x)).collect();
    for earlier in columns {
        let factor = earlier[pivot];
        for (entry, earlier) in column.iter_mut().zip(earlier) {
            *entry -= factor * earlier;
        }
    }
    let scale = 1.0 / (ridge + variance).sqrt();
    for entry in &mut column {
        *entry *= scale;
    }
    column
}

/// The first index of the largest value.
fn largest(values: &[f64]) -> usize {
    let mut best = 0;
    for (i, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = i;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Profile;
    use crate::seed::{Seed, uniform};

    fn random_points(seed: u64, n: usize) -> Points {
        let mut rng = Seed(seed).stream("points", 0);
        Points::from_rows(1, (0..n).map(|_| [uniform(&mut rng)]))
    }

    fn gain_of(kernel: &Kernel, ridge: f64, points: &Points, chosen: &[usize]) -> f64 {
        let mut gain = InformationGain::new(kernel.clone(), ridge).unwrap();
        for &i in chosen {
            gain.push(points.row(i)).unwrap();
        }
        gain.total()
    }

    #[test]
    fn the_greedy_value_is_the_gain_of_its_choice_and_each_choice_is_the_best() {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.1, 1.0).unwrap();
        let points = random_points(1, 30);
        let found = InformationGain::maximum(&kernel, 0.05, &points, 40).unwrap();
        let mut gain = InformationGain::new(kernel, 0.05).unwrap();
        for &i in &found.chosen {
            let chosen = gain.deviation(points.row(i)).unwrap();
            for x in points.rows() {
                assert!(gain.deviation(x).unwrap() <= chosen + 1e-7);
            }
            gain.push(points.row(i)).unwrap();
        }
        assert!((gain.total() - found.greedy).abs() < 1e-9);
    }

    #[test]
    fn the_true_maximum_lies_between_the_two_bounds() {
        for seed in 0..20 {
            let scale = 0.1 + 0.1 * seed as f64;
            let kernel = Kernel::isotropic(Profile::Matern32, 1, 0.3, scale).unwrap();
            let points = random_points(seed, 6);
            for ridge in [0.01, 1.0, 20.0] {
                let n: usize = 4;
                let mut best = 0.0_f64;
                // All 6^4 sequences, repeats included.
                for code in 0..6_usize.pow(n as u32) {
                    let chosen: Vec<usize> =
                        (0..n).map(|k| code / 6_usize.pow(k as u32) % 6).collect();
                    best = best.max(gain_of(&kernel, ridge, &points, &chosen));
                }
                let found = InformationGain::maximum(&kernel, ridge, &points, n).unwrap();
                assert!(found.greedy <= best + 1e-9, "{} {best}", found.greedy);
                assert!(best <= found.upper + 1e-9, "{best} {}", found.upper);
                assert!(found.upper <= found.greedy * std::f64::consts::E / 1.718 + 1e-9);
            }
        }
    }

    #[test]
    fn one_observation_is_exact_and_none_gains_nothing() {
        let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.3, 1.0).unwrap();
        let points = random_points(3, 10);
        let one = InformationGain::maximum(&kernel, 0.5, &points, 1).unwrap();
        assert!((one.greedy - 0.5 * 3.0_f64.ln()).abs() < 1e-12);
        assert!((one.upper - one.greedy).abs() < 1e-12);
        let none = InformationGain::maximum(&kernel, 0.5, &points, 0).unwrap();
        assert_eq!((none.greedy, none.upper), (0.0, 0.0));
    }

    #[test]
    fn an_empty_set_and_a_foreign_dimension_are_refused() {
        let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.3, 1.0).unwrap();
        assert!(InformationGain::maximum(&kernel, 0.5, &Points::new(1), 3).is_err());
        assert!(InformationGain::maximum(&kernel, 0.5, &Points::zeros(2, 4), 3).is_err());
        assert!(InformationGain::maximum(&kernel, 0.0, &Points::zeros(1, 4), 3).is_err());
    }
}
