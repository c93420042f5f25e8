//! Numbers drawn from a stream.

use rand_xoshiro::rand_core::Rng as _;

use super::Rng;

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
    use super::super::Seed;
    use super::*;

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
