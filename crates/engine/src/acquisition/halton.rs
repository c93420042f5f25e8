//! Normal samples that fill space evenly: the Halton sequence with random digits (Owen 2017), through Φ⁻¹.
//!
//! Coordinate k of sample i is the number 0.π₁(a₁)π₂(a₂)… in the k-th prime base, where a₁a₂… are the digits of i
//! from the last and each π is a random permutation. Each sample alone is uniform on the cube, and means over
//! the sequence vary less than those over as many independent samples.
//!
//! Cost: O(log) digits a coordinate.

use crate::points::Points;
use crate::seed::{Rng, below};
use crate::theory::normal::quantile;

/// `count` standard normal samples of `dim` coordinates.
pub(super) fn normal_samples(dim: usize, count: usize, rng: &mut Rng) -> Points {
    let mut samples = Points::zeros(dim, count);
    for (k, base) in primes().take(dim).enumerate() {
        let column = radical_inverses(base, count, rng);
        for (i, u) in column.into_iter().enumerate() {
            // Away from 0 and 1, where Φ⁻¹ is infinite.
            samples.row_mut(i)[k] = quantile(u.clamp(f64::EPSILON, 1.0 - f64::EPSILON));
        }
    }
    samples
}

/// The first numbers of the sequence in one base, in [0, 1].
fn radical_inverses(base: usize, count: usize, rng: &mut Rng) -> Vec<f64> {
    let mut values = vec![0.0; count];
    let (mut place, mut shifted) = (1.0 / base as f64, 1_usize);
    // All places down to rounding: leading zeros of i are digits too, and are permuted.
    while place > f64::EPSILON {
        let digits = permutation(base, rng);
        for (i, value) in values.iter_mut().enumerate() {
            *value += place * digits[i / shifted % base] as f64;
        }
        shifted = shifted.saturating_mul(base);
        place /= base as f64;
    }
    values
}

/// A uniformly random order of 0..len (Fisher and Yates).
fn permutation(len: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    for i in (1..len).rev() {
        order.swap(i, below(rng, i + 1));
    }
    order
}

fn primes() -> impl Iterator<Item = usize> {
    let divides = |n: usize| move |d: usize| n.is_multiple_of(d);
    let is_prime = move |&n: &usize| !(2..).take_while(|d| d * d <= n).any(divides(n));
    (2..).filter(is_prime)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn each_digit_of_each_base_is_met_equally_often() {
        assert_eq!(primes().take(8).collect::<Vec<_>>(), [2, 3, 5, 7, 11, 13, 17, 19]);
        let mut rng = Seed(1).stream("halton", 0);
        for base in [2, 3, 5] {
            let values = radical_inverses(base, base * base, &mut rng);
            let mut cells: Vec<usize> =
                values.iter().map(|u| (u * (base * base) as f64) as usize).collect();
            cells.sort_unstable();
            // One number in each of base² cells of equal width.
            assert_eq!(cells, (0..base * base).collect::<Vec<_>>());
        }
    }

    #[test]
    fn moments_are_nearer_those_of_the_normal_than_independent_samples_are() {
        let (dim, count) = (6, 256);
        let mut rng = Seed(2).stream("halton", 0);
        let samples = normal_samples(dim, count, &mut rng);
        for k in 0..dim {
            let moment =
                |power: i32| samples.rows().map(|x| x[k].powi(power)).sum::<f64>() / count as f64;
            // A fifth and half of the standard error of independent samples, 1/16 and √2/16.
            assert!(moment(1).abs() < 0.0125, "{k}: {}", moment(1));
            assert!((moment(2) - 1.0).abs() < 0.044, "{k}: {}", moment(2));
        }
        for (j, k) in [(0, 1), (1, 2), (4, 5)] {
            let product = samples.rows().map(|x| x[j] * x[k]).sum::<f64>() / count as f64;
            assert!(product.abs() < 0.125, "{j} {k}: {product}");
        }
    }

    #[test]
    fn many_coordinates_stay_finite() {
        let samples = normal_samples(300, 64, &mut Seed(3).stream("halton", 0));
        assert!(samples.as_slice().iter().all(|z| z.abs() < 9.0));
    }
}
