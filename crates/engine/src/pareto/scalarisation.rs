//! Random scalarisations whose average is the hypervolume.
//!
//! For weights λ, uniform on the part of the unit sphere where all are positive, and a reference point r,
//! ```text
//! s_λ(y) = min_i (max(0, r_i - y_i) / λ_i)^k
//! hv(Y; r) = c_k E_λ[ max over y in Y of s_λ(y) ],   c_k = π^(k/2) / (2^k Γ(k/2 + 1))
//! ```
//! for k objectives: in polar coordinates around r, the k-th root of the maximum is how far the dominated region reaches
//! in direction λ, and c_k is the volume of the part of the unit ball that the directions fill. So whoever maximises
//! s_λ for a fresh λ each time maximises hypervolume on average, and an upper bound of -y_i for every i is an upper
//! bound of s_λ.
//!
//! D. Golovin and Q. Zhang, "Random hypervolume scalarizations for provable multi-objective black box optimization",
//! *ICML* 2020, lemma 5.

use std::f64::consts::PI;

use rand_distr::{Distribution as _, StandardNormal};

use super::check_reference;
use crate::error::Result;
use crate::seed::Rng;

/// One scalarisation: a reference point and a direction from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalarisation {
    reference: Vec<f64>,
    /// λ, of length 1 and positive.
    weights: Vec<f64>,
}

impl Scalarisation {
    /// A scalarisation of as many objectives as `reference` has, in a random direction.
    ///
    /// # Errors
    /// If the reference point is empty or not finite.
    pub fn draw(reference: &[f64], rng: &mut Rng) -> Result<Self> {
        check_reference(reference, reference.len().max(1))?;
        // The direction of a Gaussian vector is uniform; its absolute values are uniform on the positive part.
        loop {
            let normals: Vec<f64> =
                reference.iter().map(|_| f64::abs(StandardNormal.sample(rng))).collect();
            let norm = normals.iter().map(|value| value * value).sum::<f64>().sqrt();
            // A weight of 0 has probability 0 but for rounding, and would divide by it.
            if normals.iter().all(|&value| value > 0.0) {
                let weights = normals.into_iter().map(|value| value / norm).collect();
                return Ok(Self { reference: reference.to_vec(), weights });
            }
        }
    }

    /// λ, one weight an objective.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// s_λ(y), at least 0; higher is better.
    pub fn value(&self, y: &[f64]) -> f64 {
        (-self.column(y)).max(0.0).powi(self.weights.len() as i32)
    }

    /// max_i (y_i - r_i) / λ_i; lower is better. Where it is negative, s_λ is its absolute value to the power of k, so
    /// that both put rows in the same order; beyond the reference point, where s_λ is 0, it still tells rows apart.
    pub fn column(&self, y: &[f64]) -> f64 {
        let terms = y.iter().zip(&self.reference).zip(&self.weights);
        terms.map(|((y, r), weight)| (y - r) / weight).fold(f64::NEG_INFINITY, f64::max)
    }

    /// c_k: what the average of the maximum of s_λ is to be multiplied by.
    pub fn constant(objectives: usize) -> f64 {
        let half = 0.5 * objectives as f64;
        PI.powf(half) / (2_f64.powi(objectives as i32) * libm::tgamma(half + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hypervolume;
    use super::*;
    use crate::points::Points;
    use crate::seed::{Seed, uniform};

    #[test]
    fn constants_are_parts_of_the_unit_ball() {
        // Half of [-1, 1], a quarter of the disc, an eighth of the ball.
        let parts = [1.0, PI / 4.0, PI / 6.0];
        for (objectives, part) in (1..).zip(parts) {
            assert!((Scalarisation::constant(objectives) - part).abs() < 1e-14);
        }
    }

    #[test]
    fn the_mean_of_the_best_scalarisation_is_the_hypervolume() {
        for objectives in [1, 2, 3, 5] {
            let mut rng = Seed(8).stream("rows", objectives as u64);
            let row = |_| (0..objectives).map(|_| 1.3 * uniform(&mut rng)).collect::<Vec<f64>>();
            let rows = Points::from_rows(objectives, (0..20).map(row));
            let reference: Vec<f64> = (0..objectives).map(|i| 1.0 + 0.2 * i as f64).collect();
            let rng = &mut Seed(8).stream("weights", objectives as u64);
            let exact = hypervolume(&rows, &reference, rng).unwrap();
            let n = 20_000;
            let best = |_| {
                let scalarisation = Scalarisation::draw(&reference, rng).unwrap();
                rows.rows().map(|row| scalarisation.value(row)).fold(0.0, f64::max)
            };
            let draws: Vec<f64> = (0..n).map(best).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / f64::from(n - 1);
            let constant = Scalarisation::constant(objectives);
            let error = constant * (variance / f64::from(n)).sqrt();
            let gap = (constant * mean - exact.value).abs();
            // Five standard errors; in one objective there is only one direction, and no error but rounding.
            assert!(gap < 5.0 * error + 1e-12 * exact.value, "{objectives}: {gap} {error}");
            assert!(error < 0.02 * exact.value, "the test has no power: {error}");
        }
    }

    #[test]
    fn the_column_orders_as_the_value_does_and_beyond_it() {
        let rng = &mut Seed(9).stream("test", 0);
        let scalarisation = Scalarisation::draw(&[1.0, 2.0], rng).unwrap();
        assert!((scalarisation.weights().iter().map(|w| w * w).sum::<f64>() - 1.0).abs() < 1e-14);
        let (inside, better, beyond, farther) = ([0.5, 1.0], [0.2, 0.7], [1.5, 1.0], [1.7, 1.0]);
        assert!(scalarisation.value(&better) > scalarisation.value(&inside));
        assert!(scalarisation.column(&better) < scalarisation.column(&inside));
        let root = -scalarisation.column(&inside);
        assert!((scalarisation.value(&inside) - root * root).abs() < 1e-14);
        assert_eq!(scalarisation.value(&beyond), 0.0);
        assert!(0.0 < scalarisation.column(&beyond));
        assert!(scalarisation.column(&beyond) < scalarisation.column(&farther));
        assert!(Scalarisation::draw(&[], rng).is_err());
    }
}
