//! One seed, and from it named and indexed random streams.
//!
//! Every random choice of the engine draws from `seed.stream(name, index)`, so that a choice depends on
//! what it is for and on how much evidence there is, never on what was drawn before it or on which thread
//! drew it. Same seed and same evidence therefore give the same batch.

use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

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

/// The 64-bit FNV-1a hash of `bytes`: the same on every machine and in every version, unlike the standard library's
/// hashes.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64: a bijection in which every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A uniform number in [0, 1) with 53 random bits.
pub fn uniform(rng: &mut Rng) -> f64 {
    const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
    (rng.next_u64() >> 11) as f64 * SCALE
}

/// A uniform whole number in 0..`bound` (Lemire's multiply, without the rejection: the bias is below
/// `bound` / 2^64). `bound` must be positive.
pub fn below(rng: &mut Rng, bound: usize) -> usize {
    debug_assert!(bound > 0);
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn uniform_has_the_mean_and_variance_of_the_unit_interval() {
        let mut rng = Seed(7).stream("test", 0);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| uniform(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / n as f64;
        // Five standard errors of the mean and of the variance.
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0_f64 / n as f64).sqrt());
        assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0_f64 / n as f64).sqrt());
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
    }

    #[test]
    fn below_reaches_every_number_under_the_bound_and_none_else() {
        let mut rng = Seed(7).stream("test", 1);
        let mut counts = [0; 7];
        for _ in 0..7_000 {
            counts[below(&mut rng, 7)] += 1;
        }
        assert!(counts.iter().all(|&count| (800..1200).contains(&count)), "{counts:?}");
    }
}
