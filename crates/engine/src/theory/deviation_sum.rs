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

use super::setting::Setting;

impl Setting {
    /// Lemma A.2 for every ridge: Σ σ_{i-1}(xᵢ) ≤ √(2 N s γ / ln(1 + s/λ)).
    ///
    /// - `observations`: N, the number of points.
    /// - `information_gain`: that of the very points (γ_N), or an upper bound of it such as ξ_N.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let setting = Setting { ridge: 0.3, output_scale: 2.0, ..Setting::default() };
    /// // A single point: σ₀ = √s, its gain is ½ ln(1 + s/λ), and the bound is met.
    /// let gain = 0.5 * (1.0 + 2.0_f64 / 0.3).ln();
    /// assert!((setting.deviation_sum(1, gain) - 2.0_f64.sqrt()).abs() < 1e-12);
    /// ```
    pub fn deviation_sum(&self, observations: usize, information_gain: f64) -> f64 {
        (self.constant(observations) * information_gain).sqrt()
    }

    /// Lemma A.2 as printed: √(4 (N + 2) ξ_N). It follows only where [`printed_sum_follows`](Self::printed_sum_follows).
    pub fn printed_deviation_sum(observations: usize, max_information_gain: f64) -> f64 {
        (printed_constant(observations) * max_information_gain).sqrt()
    }

    /// Whether the printed bound on a sum of `observations` deviations is at least the one that holds for every ridge.
    pub fn printed_sum_follows(&self, observations: usize) -> bool {
        self.constant(observations) <= printed_constant(observations)
    }

    fn constant(&self, observations: usize) -> f64 {
        let Self { ridge, output_scale, .. } = self;
        2.0 * observations as f64 * output_scale / (output_scale / ridge).ln_1p()
    }
}

fn printed_constant(observations: usize) -> f64 {
    4.0 * (observations as f64 + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_constant_follows_up_to_a_ridge_of_1_54_for_every_length() {
        let follows = |observations, ridge, output_scale| {
            let setting = Setting { ridge, output_scale, ..Setting::default() };
            setting.printed_sum_follows(observations)
        };
        assert!(follows(usize::MAX, 1.54, 1.0));
        assert!(!follows(usize::MAX, 1.55, 1.0));
        assert!((1..1000).all(|n| follows(n, 0.025, 1.0)));
        // The source's own ridge.
        assert!((1..1000).all(|n| follows(n, 1.0 + 2.0 / n as f64, 1.0)));
        assert!(!follows(50, 10.0, 1.0));
        assert!(!follows(50, 0.025, 20.0));
    }

    #[test]
    fn the_sums_are_their_formulas() {
        let setting = Setting { ridge: 0.5, output_scale: 2.0, ..Setting::default() };
        let expected = (2.0 * 7.0 * 2.0 * 3.0 / 5.0_f64.ln()).sqrt();
        assert!((setting.deviation_sum(7, 3.0) - expected).abs() < 1e-12);
        assert!((Setting::printed_deviation_sum(7, 3.0) - 108.0_f64.sqrt()).abs() < 1e-12);
    }
}
