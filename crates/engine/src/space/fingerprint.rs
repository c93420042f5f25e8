//! Which configurations are taken: told, or asked and not yet told.
//!
//! Two configurations are the same when their legal encoded points are, bit for bit. A fingerprint is 128
//! bits of such a point: with 10^9 points, two of them share one with a probability below 10^-20.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A configuration's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64, u64);

impl Fingerprint {
    /// The fingerprint of a legal encoded point.
    pub fn of(x: &[f64]) -> Self {
        let mut low = 0x243f_6a88_85a3_08d3_u64;
        let mut high = 0x1319_8a2e_0370_7344_u64;
        for &coordinate in x {
            // Adding 0.0 makes one zero of the two.
            let bits = (coordinate + 0.0).to_bits();
            low = fold(low ^ bits, 0x9e37_79b9_7f4a_7c15);
            high = fold(high.rotate_left(23) ^ bits, 0xd6e8_feb8_6659_fd93);
        }
        Self(low, high)
    }
}

/// Multiplies to 128 bits and folds the halves together.
fn fold(a: u64, b: u64) -> u64 {
    // The low bit keeps a zero from absorbing everything after it.
    let product = u128::from(a | 1 << 63) * u128::from(b | 1);
    (product >> 64) as u64 ^ product as u64 ^ a.rotate_left(32)
}

/// A set of configurations.
pub type Taken = HashSet<Fingerprint, BuildHasherDefault<Pass>>;

/// Fingerprints are hashes already: this passes their first half on.
#[derive(Debug, Default, Clone, Copy)]
pub struct Pass(u64);

impl Hasher for Pass {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("fingerprints are written as u64 only");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 ^= word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_points_and_permuted_points_differ() {
        let mut taken = Taken::default();
        let mut count = 0;
        for i in 0..100 {
            for j in 0..100 {
                for tiny in [0.0, f64::EPSILON] {
                    count += 1;
                    taken.insert(Fingerprint::of(&[
                        i as f64 / 100.0 + tiny,
                        j as f64 / 100.0,
                        0.0,
                    ]));
                }
            }
        }
        // Below 1 the machine epsilon is at least one unit in the last place: every point is another.
        assert_eq!(taken.len(), count);
        assert_eq!(Fingerprint::of(&[0.0]), Fingerprint::of(&[-0.0]));
    }
}
