//! Random numbers that depend on words alone: what a variant's name says decides all of it.

use std::f64::consts::TAU;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A stream of random numbers.
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of these words and numbers.
    pub fn new(words: &str, numbers: &[u64]) -> Self {
        // FNV-1a; seeding spreads whatever structure it leaves.
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = words.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
        let hash = numbers.iter().flat_map(|number| number.to_le_bytes()).fold(hash, fold);
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Gaussian with mean 0 and deviation 1 (Box and Muller's).
    pub fn gaussian(&mut self) -> f64 {
        // 1 - u is in (0, 1]: its logarithm is finite.
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// A rotation of `dim` variables, possibly with a reflection, uniform among all of them: the rows are those of a
    /// Gaussian matrix made orthonormal one after the other (modified Gram-Schmidt, twice for full precision).
    pub fn rotation(&mut self, dim: usize) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(dim);
        while rows.len() < dim {
            let mut row: Vec<f64> = (0..dim).map(|_| self.gaussian()).collect();
            for other in rows.iter().chain(&rows) {
                let along = dot(&row, other);
                row.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
            }
            let length = dot(&row, &row).sqrt();
            // A row that was nearly in the span of the others has no digits left: draw it again.
            if length > 1e-8 {
                row.iter_mut().for_each(|x| *x /= length);
                rows.push(row);
            }
        }
        rows
    }
}

/// The inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_orthonormal() {
        for dim in [1, 2, 7, 40] {
            let rows = Stream::new("test", &[dim as u64]).rotation(dim);
            for (i, a) in rows.iter().enumerate() {
                for (j, b) in rows.iter().enumerate() {
                    assert!((dot(a, b) - f64::from(u8::from(i == j))).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn gaussians_have_their_mean_variance_and_tail() {
        let mut stream = Stream::new("test", &[0]);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| stream.gaussian()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|z| z * z).sum::<f64>() / f64::from(n);
        let tail = draws.iter().filter(|z| **z > 2.0).count() as f64 / f64::from(n);
        // Five standard errors each; the tail beyond two deviations is 0.02275.
        assert!(mean.abs() < 5.0 / f64::from(n).sqrt(), "{mean}");
        assert!((variance - 1.0).abs() < 5.0 * (2.0 / f64::from(n)).sqrt(), "{variance}");
        assert!((tail - 0.02275).abs() < 5.0 * (0.02275 / f64::from(n)).sqrt(), "{tail}");
    }

    #[test]
    fn words_and_numbers_both_matter() {
        let first = |words: &str, numbers: &[u64]| Stream::new(words, numbers).uniform();
        assert_eq!(first("a", &[1, 2]), first("a", &[1, 2]));
        assert_ne!(first("a", &[1, 2]), first("b", &[1, 2]));
        assert_ne!(first("a", &[1, 2]), first("a", &[2, 1]));
    }
}
