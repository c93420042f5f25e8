//! Regret bounds of Theorems 2 to 4, as printed and in a tighter form.
//!
//! With probability at least 1 - δ, for all rounds at once:
//!
//! ```text
//! BORE     r_t ≤ L_ε β_{t-1} (σ_{t-1}(x_t) + σ_{t-1}(x*))                 (17)
//!          R_T ≤ L_ε β_T (√(4 (T+2) ξ_T) + Σ σ_{t-1}(x*))                 (18)
//! BORE++   r_t ≤ 2 L_ε β_{t-1} σ_{t-1}(x_t)                              (21, as its proof has it)
//!          R_T ≤ 4 L_ε β_T √((T+2) ξ_T)                                   (22)
//! batch    r̄_t ≤ 2 L_ε L_π β_{t-1} E_p̂[σ_{t-1}]                          (27)
//!          R̄_T ≤ 4 L_ε L_π β_T √((T+2) ξ_T)                               (28)
//! ```
//!
//! The printed (21) has β_t σ_t(x); what its proof gives, and what is computed here, is the width and the
//! deviation known when x_t was chosen.
//!
//! # The tighter form
//! - √(4 (T+2) ξ_T) becomes √(2 T s γ_T / ln(1 + s/λ)), for any λ and any output scale s, with the gain γ_T
//!   of the run's own points instead of ξ_T (see `deviation_sum.rs`).
//! - Probabilities differ by at most 1, so a round's regret is at most L_ε; in a batch, where π ≥ 1/L_π, the
//!   spread of f is at most L_ε (1 - 1/L_π), which replaces the first factor.
//! - (27) holds with the printed constant although the printed proof does not give it; the proof is in
//!   `certificate.rs`.
//! - (28): the printed proof bounds the *expectation* over all batches of S = Σ E_p̂[σ_{t-1}], while β_T and
//!   the claim are about one run. For the run at hand, let s_t = (1/M) Σᵢ σ_{t-1}(x_{t,i}) be the mean over
//!   the batch. For each place i, Lemma A.3 (drop the other places) and Lemma A.2 bound Σ_t σ_{t-1}(x_{t,i}) by
//!   D = √(2 T s ξ_T / ln(1 + s/λ)), hence Σ s_t ≤ D. Given the past, s_t is a mean of M independent numbers in
//!   [0, √s] with mean E_p̂[σ_{t-1}], so that E_p̂[σ_{t-1}] - s_t is sub-Gaussian with the variance proxy s/(4M) by
//!   Hoeffding's lemma. With the boundary W of `uniform_boundary.rs`, with probability at least 1 - δ',
//!
//!   ```text
//!   S ≤ Σ s_t + W(T s/(4M)) ≤ D + W(T s/(4M)),      W(v) = √((v + ρ)(2 ln(1/δ') + ln(1 + v/ρ))),
//!   ```
//!
//!   for all T at once (ρ is the variance of 16 rounds), and R̄_T ≤ 2 L_ε L_π β_T S fails with probability at
//!   most δ + δ' over the whole run. The Hoeffding-Azuma inequality, √(s T ln(1/δ') / (2M)), would hold for one T
//!   that was fixed beforehand.
//!
//! Cost: O(1). Fails with `Error::MissingAssumption` where a constant that only the user knows is not given.

use crate::error::{Error, Result};

use super::bound::{Assumption, Bound, Subject};
use super::confidence::{Confidence, check_not_negative, check_probability};
use super::run::Run;
use super::setting::{Choice, Form, Setting, given};
use super::uniform_boundary::uniform_boundary;

impl Setting {
    /// Theorem 2 for one round of BORE (17): r_t ≤ L_ε β_{t-1} (σ_{t-1}(x_t) + σ_{t-1}(x*)).
    ///
    /// - `information_gain`: γ_{t-1}, before the round.
    /// - `chosen_deviation`: σ_{t-1}(x_t) at the chosen point.
    /// - `optimum_deviation`: σ_{t-1}(x*) at the optimum; where that is unknown, the largest deviation over the domain.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let setting = Setting { noise_lipschitz: Some(0.5), ..Setting::default() };
    /// let bound = setting.bore_instant(1.5, 0.001, 0.002)?;
    /// assert!((bound.value - 0.5 * setting.width(1.5)? * 0.003).abs() < 1e-12);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε was not given.
    pub fn bore_instant(
        &self,
        information_gain: f64,
        chosen_deviation: f64,
        optimum_deviation: f64,
    ) -> Result<Bound> {
        check_not_negative("deviation at the chosen point", chosen_deviation)?;
        check_not_negative("deviation at the optimum", optimum_deviation)?;
        let gap = self.width(information_gain)? * (chosen_deviation + optimum_deviation);
        self.sequential(Subject::BoreInstant, gap, 1.0, None)
    }

    /// Theorem 2 for the sum of all rounds of BORE (18): R_T ≤ L_ε β_T (D + Σ σ_{t-1}(x*)), where D bounds Σ σ_{t-1}(x_t) by Lemma A.2. The
    /// second sum need not vanish on average.
    ///
    /// - `run`: its rounds and gain.
    /// - `optimum_deviations`: Σ σ_{t-1}(x*), or the sum of the largest deviations over the domain.
    ///
    /// ```
    /// use wimble::theory::{Run, Setting};
    ///
    /// let setting = Setting { noise_lipschitz: Some(0.5), ..Setting::default() };
    /// let bound = setting.bore_cumulative(&Run::new(20, 4.0), 3.0)?;
    /// assert!(bound.is_proven() && bound.value <= bound.trivial);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε was not given; the printed form also needs ξ_T.
    pub fn bore_cumulative(&self, run: &Run, optimum_deviations: f64) -> Result<Bound> {
        check_not_negative("sum of deviations at the optimum", optimum_deviations)?;
        let (sum, gain) = self.sum_of_deviations(run)?;
        let gap = self.width(run.information_gain)? * (sum + optimum_deviations);
        let subject = Subject::BoreCumulative { rounds: run.rounds };
        self.sequential(subject, gap, run.rounds as f64, gain)
    }

    /// Theorem 3 for one round of BORE++ (21): r_t ≤ 2 L_ε β_{t-1} σ_{t-1}(x_t).
    ///
    /// - `information_gain`: γ_{t-1}, before the round.
    /// - `chosen_deviation`: σ_{t-1}(x_t) at the chosen point.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let setting = Setting { noise_lipschitz: Some(0.5), ..Setting::default() };
    /// let bound = setting.bore_plus_instant(1.5, 0.001)?;
    /// assert!((bound.value - 2.0 * 0.5 * setting.width(1.5)? * 0.001).abs() < 1e-12);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε was not given.
    pub fn bore_plus_instant(&self, information_gain: f64, chosen_deviation: f64) -> Result<Bound> {
        check_not_negative("deviation at the chosen point", chosen_deviation)?;
        let gap = 2.0 * self.width(information_gain)? * chosen_deviation;
        self.sequential(Subject::BorePlusInstant, gap, 1.0, None)
    }

    /// Theorem 3 for the sum of all rounds of BORE++ (22): R_T ≤ 2 L_ε β_T √(2 T s γ_T / ln(1 + s/λ)); printed, 4 L_ε β_T √((T + 2) ξ_T).
    ///
    /// ```
    /// use wimble::theory::{Run, Setting};
    ///
    /// let setting = Setting { noise_lipschitz: Some(0.5), ridge: 1.0, ..Setting::default() };
    /// let run = Run::new(1_000_000, 20.0);
    /// let bound = setting.bore_plus_cumulative(&run)?;
    /// let expected = 2.0 * 0.5 * setting.width(20.0)? * setting.deviation_sum(1_000_000, 20.0);
    /// assert!((bound.value - expected).abs() < 1e-9 * expected);
    /// assert!(bound.is_informative());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε was not given; the printed form also needs ξ_T.
    pub fn bore_plus_cumulative(&self, run: &Run) -> Result<Bound> {
        let (sum, gain) = self.sum_of_deviations(run)?;
        let gap = 2.0 * self.width(run.information_gain)? * sum;
        let subject = Subject::BorePlusCumulative { rounds: run.rounds };
        self.sequential(subject, gap, run.rounds as f64, gain)
    }

    /// Theorem 3 with pending points: R_N ≤ 2 L_ε β_N e^C √(2 N s γ_N / ln(1 + s/λ)) over N points of BORE++ that were chosen while others
    /// were pending, in batches or asynchronously. The regret of a single point has the bound of
    /// [`bore_plus_instant`](Self::bore_plus_instant), with the gain and the deviation of what was told.
    ///
    /// - `run`: its `rounds` are N, and its gain is that of all points asked for.
    /// - `overlap`: e^C ≥ 1, the largest [`InformationGain::overlap_factor`](super::InformationGain::overlap_factor) of the run.
    ///
    /// ```
    /// use wimble::theory::{Plan, Run, Setting};
    ///
    /// let plan = Plan { pending: true, ..Plan::default() };
    /// let setting = Setting { noise_lipschitz: Some(0.5), plan, ..Setting::default() };
    /// assert!(setting.overlapping_cumulative(&Run::new(60, 8.0), 2.3)?.is_proven());
    /// assert!(!setting.bore_plus_cumulative(&Run::new(60, 8.0))?.is_proven());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε was not given.
    pub fn overlapping_cumulative(&self, run: &Run, overlap: f64) -> Result<Bound> {
        if !(overlap >= 1.0 && overlap.is_finite()) {
            return Err(Error::invalid("overlap factor", overlap, "finite and at least 1"));
        }
        let (sum, gain) = self.sum_of_deviations(run)?;
        let gap = 2.0 * self.width(run.information_gain)? * overlap * sum;
        let subject = Subject::OverlappingCumulative { rounds: run.rounds };
        let mut bound = self.sequential(subject, gap, run.rounds as f64, gain)?;
        bound.assumptions.push(Assumption::Overlap(overlap));
        Ok(bound)
    }

    /// Theorem 4 for any sampler q: E_q\[f\] - E_ℓ\[f\] ≤ 2 L_ε L_π β_{t-1} E_p̂[σ_{t-1}] + L_ε TV(q, p̂), because E_q\[f\] - E_p̂\[f\] is at most
    /// osc(f) TV(q, p̂).
    ///
    /// - `information_gain`: γ_{t-1}, before the round.
    /// - `expected_deviation`: E_p̂[σ_{t-1}], over p̂, not q.
    /// - `total_variation`: TV(q, p̂), between 0 and 1 ([`Certificate::distance`](super::Certificate::distance) on a finite set).
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let known = Setting { noise_lipschitz: Some(0.5), inverse_probability: Some(4.0), ..Setting::default() };
    /// let (exact, near) = (known.sampler_instant(1.5, 0.001, 0.0)?, known.sampler_instant(1.5, 0.001, 0.1)?);
    /// assert!((near.value - exact.value - 0.5 * 0.75 * 0.1).abs() < 1e-12);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε or L_π was not given.
    pub fn sampler_instant(
        &self,
        information_gain: f64,
        expected_deviation: f64,
        total_variation: f64,
    ) -> Result<Bound> {
        check_not_negative("expected deviation", expected_deviation)?;
        if !(0.0..=1.0).contains(&total_variation) {
            return Err(Error::invalid("total variation", total_variation, "between 0 and 1"));
        }
        let exact = self.batch_instant(information_gain, expected_deviation)?;
        let lipschitz = self.lipschitz()?;
        let spread = match (self.form, self.inverse_probability) {
            (Form::Tight, Some(inverse)) => 1.0 - inverse.recip(),
            _ => 1.0,
        };
        let subject = Subject::SamplerInstant;
        let mut assumptions = exact.assumptions;
        assumptions.retain(|assumption| *assumption != Assumption::ExactSampling);
        assumptions.push(Assumption::TotalVariation(total_variation));
        Ok(Bound {
            subject,
            value: exact.value + lipschitz * spread * total_variation,
            trivial: lipschitz * spread,
            standing: self.standing(subject),
            assumptions,
            ..exact
        })
    }

    /// Theorem 4 for one batch (27): r̄_t = E_p̂\[f\] - E_ℓ\[f\] ≤ 2 L_ε L_π β_{t-1} E_p̂[σ_{t-1}], for a batch drawn from p̂ ∝ π_{t-1,δ} and compared with
    /// ℓ ∝ π.
    ///
    /// - `information_gain`: γ_{t-1}, before the round.
    /// - `expected_deviation`: E_p̂[σ_{t-1}], exactly.
    ///
    /// ```
    /// use wimble::theory::Setting;
    ///
    /// let known = Setting { noise_lipschitz: Some(0.5), inverse_probability: Some(4.0), ..Setting::default() };
    /// let bound = known.batch_instant(1.5, 0.001)?;
    /// // 1 - 1/L_π bounds the spread of f: a factor of the tighter form.
    /// assert!((bound.value - 0.75 * 2.0 * 0.5 * 4.0 * known.width(1.5)? * 0.001).abs() < 1e-12);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε or L_π was not given.
    pub fn batch_instant(&self, information_gain: f64, expected_deviation: f64) -> Result<Bound> {
        check_not_negative("expected deviation", expected_deviation)?;
        let sum = self.width(information_gain)? * expected_deviation;
        self.batch(Subject::BatchInstant, sum, 1.0, None, None)
    }

    /// Theorem 4 for the sum of all batches (28), for the run at hand: R̄_T ≤ 2 L_ε L_π β_T (√(2 T s ξ_T / ln(1 + s/λ)) + W), where W
    /// covers the draw of the batches with probability 1 - δ' at all T at once. Batches have [`Plan::batch_size`](super::Plan::batch_size) points.
    ///
    /// ```
    /// use wimble::theory::{Plan, Run, Setting};
    ///
    /// let plan = Plan { batch_size: 5, ..Plan::default() };
    /// let known = Setting { noise_lipschitz: Some(0.5), inverse_probability: Some(4.0), plan, ..Setting::default() };
    /// let run = Run { max_information_gain: Some(3.0), ..Run::new(10, 4.0) };
    /// let bound = known.batch_cumulative(&run)?;
    /// assert!((bound.failure_probability.unwrap_or(0.0) - 0.15).abs() < 1e-12); // δ + δ'
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a number is out of range, or L_ε, L_π or ξ_T was not given.
    pub fn batch_cumulative(&self, run: &Run) -> Result<Bound> {
        let gain = supplied_gain(run.max_information_gain)?;
        let rounds = run.rounds as f64;
        let (sum, sampling) = match self.form {
            Form::Paper => (Self::printed_deviation_sum(run.rounds, gain), None),
            Form::Tight => {
                let delta = run.sampling_failure_probability;
                (self.expected_deviation_sum(run.rounds, gain, delta)?, Some(delta))
            }
        };
        let subject = Subject::BatchCumulative { rounds: run.rounds };
        let sum = self.width(run.information_gain)? * sum;
        self.batch(subject, sum, rounds, Some(gain), sampling)
    }

    /// S = Σ E_p̂[σ_{t-1}] of a run in batches is at most this with probability 1 - δ', at all T at once.
    pub(super) fn expected_deviation_sum(
        &self,
        rounds: usize,
        max_information_gain: f64,
        sampling_failure: f64,
    ) -> Result<f64> {
        check_probability("sampling failure probability", sampling_failure)?;
        let size = self.plan.batch_size;
        if size == 0 {
            return Err(Error::invalid("batch size", 0, "at least 1"));
        }
        let one_round = self.output_scale / (4.0 * size as f64);
        let drawn = uniform_boundary(one_round, rounds, sampling_failure);
        Ok(self.deviation_sum(rounds, max_information_gain) + drawn)
    }

    /// Lemma A.2 for a sequential run, and the ξ_T that was used, if any.
    fn sum_of_deviations(&self, run: &Run) -> Result<(f64, Option<f64>)> {
        check_not_negative("information gain", run.information_gain)?;
        match self.form {
            Form::Paper => {
                let gain = supplied_gain(run.max_information_gain)?;
                Ok((Self::printed_deviation_sum(run.rounds, gain), Some(gain)))
            }
            Form::Tight => Ok((self.deviation_sum(run.rounds, run.information_gain), None)),
        }
    }

    /// L_ε times a gap in probability, which over `rounds` rounds is at most `rounds`.
    fn sequential(
        &self,
        subject: Subject,
        gap: f64,
        rounds: f64,
        gain: Option<f64>,
    ) -> Result<Bound> {
        let lipschitz = self.lipschitz()?;
        let gap = match self.form {
            Form::Paper => gap,
            Form::Tight => gap.min(rounds),
        };
        let mut assumptions = self.common_assumptions()?;
        assumptions.extend(gain.map(Assumption::MaxInformationGain));
        if self.choice == Choice::Maximum {
            assumptions.push(Assumption::ExactMaximum);
        }
        Ok(Bound {
            subject,
            value: lipschitz * gap,
            trivial: lipschitz * rounds,
            failure_probability: self.confidence.failure_probability(),
            standing: self.standing(subject),
            assumptions,
        })
    }

    /// osc(f) times a total variation of at most 2 L_π `sum`, where `sum` is Σ β E_p̂[σ] over `rounds` rounds.
    fn batch(
        &self,
        subject: Subject,
        sum: f64,
        rounds: f64,
        gain: Option<f64>,
        sampling: Option<f64>,
    ) -> Result<Bound> {
        let lipschitz = self.lipschitz()?;
        let inverse = self.inverse()?;
        let variation = 2.0 * inverse * sum;
        let (spread, variation) = match self.form {
            Form::Paper => (1.0, variation),
            // 1 - π/u ≤ 1 - 1/L_π as well, since u ≤ 1.
            Form::Tight => {
                let most = 1.0 - inverse.recip();
                (most, variation.min(rounds * most))
            }
        };
        let mut assumptions = self.common_assumptions()?;
        assumptions.push(Assumption::InverseProbabilityBound(inverse));
        assumptions.extend(gain.map(Assumption::MaxInformationGain));
        if self.choice == Choice::EXACT_DRAWS {
            assumptions.push(Assumption::ExactSampling);
        }
        let failure = self.confidence.failure_probability();
        Ok(Bound {
            subject,
            value: lipschitz * spread * variation,
            trivial: lipschitz * (1.0 - inverse.recip()).powi(2) * rounds,
            failure_probability: failure.map(|delta| (delta + sampling.unwrap_or(0.0)).min(1.0)),
            standing: self.standing(subject),
            assumptions,
        })
    }

    /// The assumptions behind every bound.
    pub(super) fn common_assumptions(&self) -> Result<Vec<Assumption>> {
        let mut assumptions = Vec::new();
        if let Confidence::Level { norm_bound, .. } = self.confidence {
            assumptions.push(Assumption::NormBound(norm_bound));
        }
        assumptions.push(Assumption::NoiseLipschitz(self.lipschitz()?));
        assumptions.extend(self.fixed_beforehand());
        Ok(assumptions)
    }

    /// That thresholds, kernel and ridge were fixed before the run, if they were.
    pub(super) fn fixed_beforehand(&self) -> Option<Assumption> {
        match self.thresholds.filter(|_| self.least_squares && self.fixed_kernel)? {
            0 | 1 => Some(Assumption::FixedBeforehand),
            count => Some(Assumption::GridBeforehand(count)),
        }
    }
}

/// ξ_T; an error if it was not given.
pub(super) fn supplied_gain(gain: Option<f64>) -> Result<f64> {
    let gain = given(gain, "an upper bound of the maximum information gain")?;
    check_not_negative("maximum information gain", gain)?;
    Ok(gain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Plan, Standing};

    /// The paper's theory experiment in batches of five, with constants.
    fn known() -> Setting {
        Setting {
            noise_lipschitz: Some(0.5),
            inverse_probability: Some(4.0),
            plan: Plan { batch_size: 5, ..Plan::default() },
            ..Setting::default()
        }
    }

    const RUN: Run = Run {
        rounds: 10,
        information_gain: 2.0,
        max_information_gain: Some(3.0),
        sampling_failure_probability: 0.05,
    };
    const BATCHES: Run = Run { information_gain: 4.0, ..RUN };

    fn bounds(form: Form) -> Setting {
        Setting { form, ..known() }
    }

    fn close(got: &Bound, expected: f64) {
        assert!((got.value - expected).abs() < 1e-12 * expected, "{got} {expected}");
    }

    #[test]
    fn the_paper_s_form_is_the_printed_formula() {
        let bounds = bounds(Form::Paper);
        let beta = |gain: f64| 1.0 + (80.0 * (gain + 10.0_f64.ln())).sqrt();
        close(&bounds.bore_instant(1.5, 0.2, 0.3).unwrap(), 0.5 * beta(1.5) * 0.5);
        let root = (12.0 * 3.0_f64).sqrt();
        close(&bounds.bore_cumulative(&RUN, 7.0).unwrap(), 0.5 * beta(2.0) * (2.0 * root + 7.0));
        close(&bounds.bore_plus_instant(1.5, 0.2).unwrap(), 2.0 * 0.5 * beta(1.5) * 0.2);
        close(&bounds.bore_plus_cumulative(&RUN).unwrap(), 4.0 * 0.5 * beta(2.0) * root);
        close(&bounds.batch_instant(1.5, 0.2).unwrap(), 2.0 * 0.5 * 4.0 * beta(1.5) * 0.2);
        close(&bounds.batch_cumulative(&BATCHES).unwrap(), 4.0 * 0.5 * 4.0 * beta(4.0) * root);
    }

    #[test]
    fn the_tighter_form_is_never_above_the_printed_one_nor_the_trivial_one() {
        for deviation in [0.0, 1e-4, 0.01, 0.3, 1.0] {
            let both = [Form::Paper, Form::Tight].map(bounds);
            let [paper, tight] = both.map(|b| b.bore_plus_instant(1.0, deviation).unwrap());
            assert!(tight.value <= paper.value && tight.value <= tight.trivial);
            let [paper, tight] = both.map(|b| b.batch_instant(1.0, deviation).unwrap());
            assert!(tight.value <= paper.value && tight.value <= tight.trivial);
        }
        let both = [Form::Paper, Form::Tight].map(bounds);
        let [paper, tight] = both.map(|b| b.bore_plus_cumulative(&RUN).unwrap());
        assert!(tight.value <= paper.value && tight.standing == Standing::Proven);
        let sampled = |form| Setting { choice: Choice::EXACT_DRAWS, form, ..known() };
        let both = [Form::Paper, Form::Tight].map(sampled);
        let [paper, tight] = both.map(|b| b.batch_cumulative(&BATCHES).unwrap());
        assert!(tight.value <= paper.value && !paper.standing.is_proven());
        assert!(tight.standing.is_proven());
        assert!(tight.assumptions.contains(&Assumption::ExactSampling));
        let particles = Choice::Draws { independent: false, of_bound: true };
        let particles = Setting { choice: particles, ..sampled(Form::Tight) };
        let approximate = particles.batch_cumulative(&BATCHES).unwrap();
        assert!(!approximate.assumptions.contains(&Assumption::ExactSampling));
        let exact = bounds(Form::Tight).bore_plus_instant(1.0, 0.1).unwrap();
        assert!(exact.assumptions.contains(&Assumption::ExactMaximum));
        let searched = particles.bore_plus_instant(1.0, 0.1).unwrap();
        assert!(!searched.assumptions.contains(&Assumption::ExactMaximum));
        assert!((tight.failure_probability.unwrap() - 0.15).abs() < 1e-12);
    }

    #[test]
    fn small_deviations_leave_the_tighter_sums_below_their_caps() {
        let bounds = Setting { confidence: Confidence::Width(0.01), ..known() };
        let sum = (2.0 * 10.0 * 3.0 / 41.0_f64.ln()).sqrt();
        let drawn = (26.0 / 20.0 * (2.0 * 20.0_f64.ln() + (26.0 / 16.0_f64).ln())).sqrt();
        let expected = 0.5 * 0.75 * 2.0 * 4.0 * 0.01 * (sum + drawn);
        close(&bounds.batch_cumulative(&BATCHES).unwrap(), expected);
        let sum = (2.0 * 10.0 * 2.0 / 41.0_f64.ln()).sqrt();
        close(&bounds.bore_plus_cumulative(&RUN).unwrap(), 0.5 * 2.0 * 0.01 * sum);
        close(&bounds.bore_cumulative(&RUN, 3.0).unwrap(), 0.5 * 0.01 * (sum + 3.0));
        let overlapping = |factor| bounds.overlapping_cumulative(&RUN, factor).unwrap();
        close(&overlapping(1.5), 0.5 * 2.0 * 0.01 * 1.5 * sum);
        close(&overlapping(1.0), bounds.bore_plus_cumulative(&RUN).unwrap().value);
        assert!(overlapping(1.5).assumptions.contains(&Assumption::Overlap(1.5)));
        // The least sure of all samplers is one that shares no point with the target.
        let exact = bounds.batch_instant(2.0, 0.1).unwrap().value;
        let foreign = bounds.sampler_instant(2.0, 0.1, 1.0).unwrap();
        close(&foreign, exact + 0.5 * 0.75);
        assert!(foreign.assumptions.contains(&Assumption::TotalVariation(1.0)));
        assert!(!foreign.assumptions.contains(&Assumption::ExactSampling));
    }

    #[test]
    fn a_missing_constant_is_an_error_that_names_it() {
        let missing =
            |setting: Setting| setting.batch_cumulative(&BATCHES).unwrap_err().to_string();
        let text = missing(Setting { noise_lipschitz: None, ..known() });
        assert!(text.contains("noise distribution"), "{text}");
        let text = missing(Setting { inverse_probability: None, ..known() });
        assert!(text.contains("inverse of the class probability"), "{text}");
        let bounds = bounds(Form::Paper);
        let run = Run { max_information_gain: None, ..RUN };
        let text = bounds.bore_plus_cumulative(&run).unwrap_err().to_string();
        assert!(text.contains("maximum information gain"), "{text}");
    }

    #[test]
    fn a_fixed_width_needs_no_norm_bound_and_promises_no_probability() {
        let bounds = Setting { confidence: Confidence::Width(3.0), ..known() };
        let bound = bounds.bore_plus_instant(1.0, 0.1).unwrap();
        assert!((bound.value - 0.5 * 0.6).abs() < 1e-12);
        assert_eq!(bound.failure_probability, None);
        assert!(!bound.standing.is_proven());
        assert!(!bound.assumptions.iter().any(|a| matches!(a, Assumption::NormBound(_))));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let bounds = bounds(Form::Tight);
        assert!(bounds.bore_plus_instant(1.0, -0.1).is_err());
        assert!(bounds.bore_plus_instant(f64::NAN, 0.1).is_err());
        assert!(bounds.bore_instant(1.0, 0.1, -0.1).is_err());
        assert!(bounds.overlapping_cumulative(&RUN, 0.9).is_err());
        assert!(bounds.sampler_instant(1.0, 0.1, 1.1).is_err());
        let empty = Setting { plan: Plan { batch_size: 0, ..Plan::default() }, ..bounds };
        assert!(empty.batch_cumulative(&BATCHES).is_err());
        let certain = Run { sampling_failure_probability: 0.0, ..BATCHES };
        assert!(bounds.batch_cumulative(&certain).is_err());
        assert!(Setting { ridge: -1.0, ..bounds }.bore_plus_instant(1.0, 0.1).is_err());
    }
}
