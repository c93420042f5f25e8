//! The sum of deviations Σᵢ σ_{i-1}(xᵢ) bounded by an information gain (Lemma A.2).
//!
//! The printed lemma is Σ σ_{i-1}(xᵢ) ≤ √(4 (N + 2) ξ_N) for k(x, x) ≤ 1. Its source proves it for
//! λ = 1 + 2/N; for other λ it need not hold, and for large λ it fails. What holds for every λ > 0 and every
//! output scale s ≥ k(x, x): u ↦ ln(1 + u/λ) is concave, so on [0, s] it lies above its chord,
//!
//! ```text
//! σ² ≤ s ln(1 + σ²/λ) / ln(1 + s/λ),
//! ```
//!
//! and with Lemma A.1 and Cauchy's inequality
//!
//! ```text
//! Σ σ_{i-1}(xᵢ) ≤ √(N Σ σ²) ≤ √(2 N s γ_N / ln(1 + s/λ)),      γ_N ≤ ξ_N.
//! ```
//!
//! The printed constant follows from this one whenever 2 N s / ln(1 + s/λ) ≤ 4 (N + 2): for s = 1 and every N
//! if λ ≤ 1.54, for small N a little beyond.
//!
//! Cost: O(1).

/// √(2 N s γ / ln(1 + s/λ)): an upper bound of Σ σ_{i-1}(xᵢ) over `observations` = N points.
///
/// `information_gain` is that of the very points (γ_N), or an upper bound of it such as ξ_N.
pub fn deviation_sum(
    observations: usize,
    information_gain: f64,
    ridge: f64,
    output_scale: f64,
) -> f64 {
    (constant(observations, ridge, output_scale) * information_gain).sqrt()
}

/// √(4 (N + 2) ξ_N), the paper's bound; see [`paper_constant_follows`].
pub fn paper_deviation_sum(observations: usize, max_information_gain: f64) -> f64 {
    (paper_constant(observations) * max_information_gain).sqrt()
}

/// Whether the paper's bound is at least the one that holds for every ridge.
pub fn paper_constant_follows(observations: usize, ridge: f64, output_scale: f64) -> bool {
    constant(observations, ridge, output_scale) <= paper_constant(observations)
}

fn constant(observations: usize, ridge: f64, output_scale: f64) -> f64 {
    2.0 * observations as f64 * output_scale / (output_scale / ridge).ln_1p()
}

fn paper_constant(observations: usize) -> f64 {
    4.0 * (observations as f64 + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_constant_follows_up_to_a_ridge_of_1_54_for_every_length() {
        assert!(paper_constant_follows(usize::MAX, 1.54, 1.0));
        assert!(!paper_constant_follows(usize::MAX, 1.55, 1.0));
        assert!((1..1000).all(|n| paper_constant_follows(n, 0.025, 1.0)));
        // The source's own ridge.
        assert!((1..1000).all(|n| paper_constant_follows(n, 1.0 + 2.0 / n as f64, 1.0)));
        assert!(!paper_constant_follows(50, 10.0, 1.0));
        assert!(!paper_constant_follows(50, 0.025, 20.0));
    }

    #[test]
    fn a_single_point_meets_its_bound() {
        // σ₀ = √s, and the gain is ½ ln(1 + s/λ): equality.
        let (ridge, scale) = (0.3, 2.0_f64);
        let gain = 0.5 * (scale / ridge).ln_1p();
        assert!((deviation_sum(1, gain, ridge, scale) - scale.sqrt()).abs() < 1e-12);
    }
}
