//! What a row adds to the hypervolume, by a sample of directions: for any number of objectives.
//!
//! ```text
//! gain(y) ≈ c_k / m Σ_λ max(0, ℓ_λ(y)^k - L_λ^k),     ℓ_λ(y) = max(0, min_i (r_i - y_i) / λ_i),   L_λ = max over the front of ℓ_λ
//! ```
//! for m directions λ, uniform on the positive part of the unit sphere: the difference of two hypervolumes as in
//! [`Scalarisation`], over the same directions. A gain only falls while rows are added, and is never negative, as the exact one.
//! Its error falls as 1/√m whatever the number of objectives, where the [`Boxes`](super::Boxes) of more than three are too many.
//!
//! Cost: O(m k) a gain.

use super::scalarisation::Scalarisation;
use crate::error::Result;
use crate::points::Points;
use crate::seed::Rng;

/// Directions from a reference point, and how far a front reaches in each.
#[derive(Debug, Clone, PartialEq)]
pub struct Rays {
    reference: Vec<f64>,
    /// 1 / λ, one direction a row.
    slopes: Points,
    /// L_λ^k.
    reach: Vec<f64>,
}

impl Rays {
    /// `count` random directions below `reference`, with no row yet.
    ///
    /// # Errors
    /// If the reference point is empty or not finite.
    pub fn draw(reference: &[f64], count: usize, rng: &mut Rng) -> Result<Self> {
        let mut slopes = Points::with_capacity(reference.len(), count);
        for _ in 0..count {
            let drawn = Scalarisation::draw(reference, rng)?;
            let slope: Vec<f64> = drawn.weights().iter().map(|weight| 1.0 / weight).collect();
            slopes.push(&slope);
        }
        Ok(Self { reference: reference.to_vec(), reach: vec![0.0; slopes.len()], slopes })
    }

    /// ℓ_λ(y)^k for each direction.
    fn reaches(&self, row: &[f64]) -> impl Iterator<Item = f64> {
        let gaps: Vec<f64> =
            self.reference.iter().zip(row).map(|(r, y)| (r - y).max(0.0)).collect();
        let power = gaps.len() as i32;
        self.slopes.rows().map(move |slopes| {
            let reached = gaps.iter().zip(slopes).map(|(gap, slope)| gap * slope);
            reached.fold(f64::INFINITY, f64::min).powi(power)
        })
    }

    /// What the row would add to the hypervolume.
    pub fn gain(&self, row: &[f64]) -> f64 {
        let gains = self.reaches(row).zip(&self.reach).map(|(to, from)| (to - from).max(0.0));
        let constant = Scalarisation::constant(self.reference.len());
        constant * gains.sum::<f64>() / self.reach.len().max(1) as f64
    }

    /// Adds a row to the front.
    pub fn add(&mut self, row: &[f64]) {
        let reaches: Vec<f64> = self.reaches(row).collect();
        for (reach, reached) in self.reach.iter_mut().zip(reaches) {
            *reach = reach.max(reached);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hypervolume;
    use super::*;
    use crate::seed::{Seed, uniform};

    #[test]
    fn gains_are_those_of_the_hypervolume_and_fall() {
        for objectives in [2, 4, 5] {
            let mut rng = Seed(objectives as u64).stream("test", 0);
            let reference = vec![1.1; objectives];
            let mut rays = Rays::draw(&reference, 100_000, &mut rng).unwrap();
            let mut front = Points::new(objectives);
            let volume = |front: &Points| {
                hypervolume(front, &reference, &mut Seed(1).stream("hv", 0)).unwrap().value
            };
            let probe = vec![0.6; objectives];
            let mut last = f64::INFINITY;
            for _ in 0..8 {
                let row: Vec<f64> = (0..objectives).map(|_| 1.2 * uniform(&mut rng)).collect();
                let mut with = front.clone();
                with.push(&row);
                let (gain, exact) = (rays.gain(&row), volume(&with) - volume(&front));
                // In five objectives a sample is at most (1.1 √5)⁵ c_5 = 15, so that the standard error of a mean of 1.6 is below 0.016.
                assert!((gain - exact).abs() < 0.05, "{objectives}: {gain} {exact}");
                rays.add(&row);
                front = with;
                assert_eq!(rays.gain(&row), 0.0);
                let gain = rays.gain(&probe);
                assert!(gain <= last);
                last = gain;
            }
        }
    }

    #[test]
    fn what_is_beyond_the_reference_point_gains_nothing() {
        let mut rng = Seed(1).stream("test", 0);
        let rays = Rays::draw(&[1.0; 4], 64, &mut rng).unwrap();
        assert_eq!(rays.gain(&[0.0, 0.0, 0.0, 1.0]), 0.0);
        assert!(rays.gain(&[0.0, 0.0, 0.0, 0.9]) > 0.0);
    }
}
