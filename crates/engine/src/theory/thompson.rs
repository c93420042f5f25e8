//! The expected regret of Thompson sampling (Appendix B; Russo and Van Roy 2014).
//!
//! A function g on a finite set of m configurations is drawn from the Gaussian process of the kernel, and is told with Gaussian noise whose variance is the
//! ridge. In round t each of M points maximises a draw of its own from the posterior of g given what was told before the round. With the mean over the points
//! of a batch, for every T,
//!
//! ```text
//! E Σ_t (1/M) Σᵢ (g(x*) - g(x_{t,i})) ≤ √s Σ_{t ≤ T} 1/(t² + 1) + √β_T √(2 T s ξ_T / ln(1 + s/λ)),
//! β_T = max(0, 2 ln((T² + 1) m / √(2π))).
//! ```
//!
//! # Why it holds
//! Let H be what is known before round t, and U(x) = μ(x) + √β_t σ(x) with the mean and the deviation given H. A draw from the posterior of g has the same
//! distribution as g given H, so that its maximiser x_{t,i} has the distribution of x*, and E[U(x_{t,i}) | H] = E[U(x*) | H]. Hence
//!
//! ```text
//! E[g(x*) - g(x_{t,i}) | H] = E[g(x*) - U(x*) | H] + E[U(x_{t,i}) - g(x_{t,i}) | H].
//! ```
//!
//! Given H the draw is independent of g, so that the second term is √β_t E[σ(x_{t,i}) | H]. The first is at most Σ_x E[(g(x) - U(x))₊ | H], and for a normal
//! number of mean -√β σ and deviation σ the positive part has at most the mean σ e^(-β/2)/√(2π): with β_t ≥ 2 ln((t² + 1) m/√(2π)), at most σ/((t² + 1) m). There are m
//! of them, and σ ≤ √s. β_t rises with t; and for each place i of the batch Lemma A.3 (drop the other places) and Lemma A.2 bound the sum of the deviations.
//!
//! The bound is about the mean over functions drawn from the prior, not about one function, and needs the true posterior: labels are no Gaussian numbers, so
//! that it does not cover `bore rule=thompson`, which imitates it.
//!
//! Cost: O(T).

use crate::error::{Error, Result};

use super::bound::{Assumption, Bound, Subject};
use super::regret::supplied_gain;
use super::run::Run;
use super::setting::Setting;

impl Setting {
    /// The expected regret of Thompson sampling on average over functions drawn from the Gaussian process of the kernel (Russo and Van Roy
    /// 2014): √s Σ 1/(t² + 1) + √β_T √(2 T s ξ_T / ln(1 + s/λ)), with β_T = 2 ln((T² + 1) m / √(2π)). In batches it is about the mean over
    /// the points of a batch.
    ///
    /// - `run`: its rounds T and ξ_T.
    /// - `configurations`: m, the size of the finite set, at least 1.
    ///
    /// ```
    /// use wimble::theory::{Run, Setting};
    ///
    /// let setting = Setting { ridge: 0.1, ..Setting::default() };
    /// let run = Run { max_information_gain: Some(12.0), ..Run::new(200, 12.0) };
    /// let bound = setting.thompson_cumulative(&run, 50)?;
    /// assert!(bound.is_informative() && bound.failure_probability.is_none());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or ξ_T was not given.
    pub fn thompson_cumulative(&self, run: &Run, configurations: usize) -> Result<Bound> {
        self.check()?;
        if configurations == 0 {
            return Err(Error::invalid("number of configurations", 0, "at least 1"));
        }
        let gain = supplied_gain(run.max_information_gain)?;
        let (scale, count) = (self.output_scale.sqrt(), configurations as f64);
        let missed: f64 = (1..=run.rounds).map(|t| 1.0 / ((t * t) as f64 + 1.0)).sum();
        let most = (run.rounds as f64).powi(2) + 1.0;
        let beta = 2.0 * (most * count / std::f64::consts::TAU.sqrt()).ln();
        let subject = Subject::ThompsonCumulative { rounds: run.rounds };
        Ok(Bound {
            subject,
            value: scale * missed + beta.max(0.0).sqrt() * self.deviation_sum(run.rounds, gain),
            // The greatest of m normal numbers of deviation √s is at most √(2 s ln m) on average, the least no less than its negative.
            trivial: run.rounds as f64 * 2.0 * scale * (2.0 * count.ln()).sqrt(),
            failure_probability: None,
            standing: self.tight_standing(subject),
            assumptions: [Assumption::GaussianPrior, Assumption::MaxInformationGain(gain)]
                .into_iter()
                .chain(self.fixed_beforehand())
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::normal;
    use crate::theory::setting::Choice;

    #[test]
    fn the_bound_is_its_formula() {
        let setting = Setting { ridge: 0.5, output_scale: 4.0, ..Setting::default() };
        let run = Run { max_information_gain: Some(2.0), ..Run::new(2, 1.0) };
        let beta: f64 = 2.0 * (5.0 * 7.0 / (2.0 * std::f64::consts::PI).sqrt()).ln();
        let sum = (2.0 * 2.0 * 4.0 * 2.0 / 9.0_f64.ln()).sqrt();
        let expected = 2.0 * (0.5 + 0.2) + beta.sqrt() * sum;
        let bound = setting.thompson_cumulative(&run, 7).unwrap();
        assert!((bound.value - expected).abs() < 1e-12, "{bound} {expected}");
        assert!((bound.trivial - 2.0 * 4.0 * (2.0 * 7.0_f64.ln()).sqrt()).abs() < 1e-12);
        assert!(setting.thompson_cumulative(&run, 0).is_err());
        assert!(setting.thompson_cumulative(&Run::new(2, 1.0), 7).is_err());
    }

    /// The step of the proof that is not an identity: E[(X)₊] for X ~ N(-√β σ, σ²) is at most σ e^(-β/2)/√(2π).
    #[test]
    fn the_positive_part_has_at_most_the_mean_of_the_proof() {
        for beta in [0.0, 0.1, 1.0, 4.0, 20.0] {
            let z: f64 = f64::sqrt(beta);
            // ∫ (x - z)₊ φ(x) dx = φ(z) - z (1 - Φ(z)).
            let exact = normal::density(z) - z * normal::cumulative(-z);
            let bound = (-0.5 * beta).exp() / std::f64::consts::TAU.sqrt();
            assert!(exact <= bound * (1.0 + 1e-12), "{beta}: {exact} {bound}");
        }
    }

    #[test]
    fn only_draws_from_the_posterior_with_everything_fixed_are_proven() {
        let run = Run { max_information_gain: Some(2.0), ..Run::new(9, 1.0) };
        let reasons = |setting: Setting| setting.thompson_cumulative(&run, 5).unwrap().reasons();
        let exact = Setting { choice: Choice::Posterior { exact: true }, ..Setting::default() };
        assert_eq!(reasons(exact), Vec::<String>::new());
        let approximate = Setting { choice: Choice::Posterior { exact: false }, ..exact };
        assert_eq!(reasons(approximate).len(), 1);
        assert_eq!(reasons(Setting::default()).len(), 1, "the maximiser of a bound is no draw");
        assert_eq!(reasons(Setting { fixed_kernel: false, thresholds: None, ..exact }).len(), 2);
        // Its width has no part in it, and neither form differs.
        let width = super::super::confidence::Confidence::Width(3.0);
        let printed = Setting { confidence: width, form: super::super::Form::Paper, ..exact };
        assert_eq!(reasons(printed), Vec::<String>::new());
    }
}
