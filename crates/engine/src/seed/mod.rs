//! One seed, and from it named and indexed random streams.
//!
//! Every random choice of the engine draws from `seed.stream(name, index)`, so that a choice depends on
//! what it is for and on how much evidence there is, never on what was drawn before it or on which thread
//! drew it. Same seed and same evidence therefore give the same batch.

pub(crate) mod draw;
pub(crate) mod fnv;

use rand_xoshiro::rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

pub(crate) use draw::{below, uniform};
pub(crate) use fnv::fnv1a;

/// The engine's random generator: xoshiro256++, whose stream is fixed by its published definition.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

/// The seed of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The random stream for one purpose at one point of the run.
    pub fn stream(self, name: &str, index: u64) -> Rng {
        // FNV-1a over the name; the mixing below spreads whatever structure it leaves.
        Rng::seed_from_u64(mix(mix(mix(self.0) ^ fnv1a(name.bytes())) ^ index))
    }
}

/// The finaliser of SplitMix64: a bijection in which every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::Rng as _;

    use super::*;

    #[test]
    fn streams_differ_by_seed_name_and_index_and_repeat_otherwise() {
        let first = |seed: u64, name: &str, index: u64| Seed(seed).stream(name, index).next_u64();
        assert_eq!(first(1, "svgd", 3), first(1, "svgd", 3));
        let all =
            [first(1, "svgd", 3), first(2, "svgd", 3), first(1, "train", 3), first(1, "svgd", 4)];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }
}
