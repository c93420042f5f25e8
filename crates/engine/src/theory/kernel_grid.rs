//! BORE++ whose kernel, threshold and region change with the data, each within what was fixed beforehand.
//!
//! Appendix C, answered for τ (guide, "A threshold that follows the data"), holds for kernels as well. Let K kernels with their ridges and J thresholds be
//! fixed before the run, with ‖π_j‖ ≤ b_k for each pair. In round t some pair (k_t, j_t) and some set A_t of configurations are chosen in any way from the
//! past, and x_t maximises the upper bound of that pair over A_t. With probability at least 1 - δ, for all t and T,
//!
//! ```text
//! f(x_t) - min over A_t of f ≤ 2 L_ε β^k_{t-1}(δ/(JK)) σ^k_{t-1}(x_t),      k = k_t
//! Σ_t (f(x_t) - min over A_t of f) ≤ 2 L_ε max_k β^k_T(δ/(JK)) √(Σ_k 2 T s_k γ^k_T / ln(1 + s_k/λ_k))
//! ```
//!
//! because Theorem 1 holds for each pair with δ/(JK), however x_t is chosen; and Σ_t σ^{k_t}_{t-1}(x_t) ≤ √(T Σ_k Σ_t σ^k_{t-1}(x_t)²) by Cauchy's inequality, each
//! inner sum being that of Lemma A.2 for one kernel over all points. A_t enters through what it is compared with alone: rounds with A_t = X, or with x* in A_t,
//! have the regret of Theorem 3.
//!
//! Cost: O(K).

use crate::error::{Error, Result};

use super::bound::{Bound, Subject};
use super::setting::Setting;
use super::standing::{Reason, Standing};

impl Setting {
    /// Theorem 3 for a kernel that is chosen from the data among some that were fixed beforehand: 2 L_ε max_k β^k_T √(Σ_k 2 T s γ^k_T / ln(1 + s/λ)), over
    /// the regret to the best of the configurations that each round looked at.
    ///
    /// - `kernels`: for each kernel its setting, whose [`thresholds`](Self::thresholds) count the pairs of threshold and kernel, and γ^k_T of the points
    ///   of the run under that kernel.
    /// - `rounds`: T.
    ///
    /// ```
    /// use wimble::theory::{Run, Setting};
    ///
    /// let one = Setting { noise_lipschitz: Some(0.5), thresholds: Some(2), ..Setting::default() };
    /// let either = Setting::kernels_cumulative(&[(one, 4.0), (one, 6.0)], 1_000_000)?;
    /// assert!(either.is_proven());
    /// // A single kernel has Theorem 3.
    /// let alone = Setting::kernels_cumulative(&[(one, 6.0)], 1_000_000)?;
    /// assert_eq!(alone.value, one.bore_plus_cumulative(&Run::new(1_000_000, 6.0))?.value);
    /// assert!(either.value > alone.value);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no kernel, a number is out of range, or L_ε was not given.
    pub fn kernels_cumulative(kernels: &[(Self, f64)], rounds: usize) -> Result<Bound> {
        let [(first, _), ..] = kernels else {
            return Err(Error::invalid("number of kernels", 0, "at least 1"));
        };
        let (mut width, mut squares, mut lipschitz) = (0.0_f64, 0.0, 0.0_f64);
        let subject = Subject::BorePlusCumulative { rounds };
        let (mut reasons, mut assumptions) = (Vec::<Reason>::new(), Vec::new());
        for (setting, gain) in kernels {
            width = width.max(setting.width(*gain)?);
            squares += setting.deviation_sum(rounds, *gain).powi(2);
            lipschitz = lipschitz.max(setting.lipschitz()?);
            reasons.extend(setting.tight_standing(subject).reasons());
            for assumption in setting.common_assumptions()? {
                if !assumptions.contains(&assumption) {
                    assumptions.push(assumption);
                }
            }
        }
        let (gap, most) = (2.0 * width * squares.sqrt(), rounds as f64);
        Ok(Bound {
            subject,
            value: lipschitz * gap.min(most),
            trivial: lipschitz * most,
            failure_probability: first.confidence.failure_probability(),
            standing: Standing::of(reasons),
            assumptions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::Run;

    #[test]
    fn one_kernel_is_theorem_3_and_more_add_their_squares() {
        let known = Setting { noise_lipschitz: Some(0.5), ridge: 1.0, ..Setting::default() };
        let rounds = 100_000_000;
        let one = known.bore_plus_cumulative(&Run::new(rounds, 3.0)).unwrap();
        let alone = Setting::kernels_cumulative(&[(known, 3.0)], rounds).unwrap();
        assert!((alone.value - one.value).abs() < 1e-9 * one.value && alone.is_informative());
        let other = Setting { ridge: 0.5, ..known };
        let both = Setting::kernels_cumulative(&[(known, 3.0), (other, 2.0)], rounds).unwrap();
        let width = known.width(3.0).unwrap().max(other.width(2.0).unwrap());
        let squares =
            known.deviation_sum(rounds, 3.0).powi(2) + other.deviation_sum(rounds, 2.0).powi(2);
        let expected = 2.0 * 0.5 * width * squares.sqrt();
        assert!((both.value - expected).abs() < 1e-9 * expected, "{both} {expected}");
        let short = Setting::kernels_cumulative(&[(known, 3.0)], 4).unwrap();
        assert_eq!(short.value, short.trivial);
        assert!(Setting::kernels_cumulative(&[], 4).is_err());
        let moving = Setting { thresholds: None, ..known };
        let heuristic = Setting::kernels_cumulative(&[(known, 3.0), (moving, 3.0)], 4).unwrap();
        assert_eq!(heuristic.standing.reasons(), [Reason::MovingThreshold]);
    }
}
