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
//!   of the run's own points instead of ξ_T (see [`deviation_sum`]).
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

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

use super::bound::{Assumption, Bound, Subject};
use super::confidence::{
    check_not_negative, check_positive, check_probability, confidence_width_for,
};
use super::deviation_sum::{deviation_sum, paper_deviation_sum};
use super::setting::{Choice, Estimator, HyperParameterRule, Setting, ThresholdRule, Width};
use super::uniform_boundary::uniform_boundary;

/// Which form of a bound is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As printed.
    Paper,
    /// Tighter, and free of the paper's conditions on ridge and output scale.
    #[default]
    Tight,
}

/// Constants that only the user can know. What is `None` was not given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Assumptions {
    /// b ≥ ‖π‖ₖ.
    pub norm_bound: Option<f64>,
    /// L_ε, a Lipschitz constant of the inverse noise distribution over the range of π.
    pub noise_lipschitz: Option<f64>,
    /// L_π ≥ 1/π(x) for all x; at least 1.
    pub inverse_probability_bound: Option<f64>,
}

/// What a sequential run leaves behind after T rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// T, the number of rounds.
    pub rounds: usize,
    /// γ_T of the observed points, or an upper bound of it. It enters β_T.
    pub information_gain: f64,
    /// An upper bound of ξ_T over the whole domain. The paper's form needs it; the tighter one does not.
    pub max_information_gain: Option<f64>,
}

/// What a batch run leaves behind after T rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchRun {
    /// T, the number of rounds.
    pub rounds: usize,
    /// M, the points of a batch.
    pub batch_size: usize,
    /// γ of all observed points, M·T of them, or an upper bound of it. It enters β_T.
    pub information_gain: f64,
    /// An upper bound of ξ_T (T points, not M·T) over the whole domain.
    pub max_information_gain: Option<f64>,
    /// δ', what the tighter form spends on the draw of the batches. The paper's form ignores it.
    pub sampling_failure_probability: f64,
}

/// Computes bounds for one setting under the user's assumptions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegretBounds {
    setting: Setting,
    assumptions: Assumptions,
    form: Form,
}

impl RegretBounds {
    /// Checks the setting and those constants that were given.
    pub fn new(setting: Setting, assumptions: Assumptions, form: Form) -> Result<Self> {
        setting.check()?;
        if let Some(bound) = assumptions.norm_bound {
            check_not_negative("norm bound", bound)?;
        }
        if let Some(constant) = assumptions.noise_lipschitz {
            check_positive("noise Lipschitz constant", constant)?;
        }
        if let Some(bound) = assumptions.inverse_probability_bound
            && !(bound >= 1.0 && bound.is_finite())
        {
            return Err(Error::invalid(
                "inverse probability bound",
                bound,
                "finite and at least 1",
            ));
        }
        Ok(Self { setting, assumptions, form })
    }

    /// β at an information gain: that of Theorem 1, or the fixed one.
    pub fn width(&self, information_gain: f64) -> Result<f64> {
        check_not_negative("information gain", information_gain)?;
        match self.setting.width {
            Width::Fixed(width) => Ok(width),
            Width::Level { failure_probability, label_noise } => confidence_width_for(
                label_noise,
                self.norm_bound()?,
                self.setting.ridge,
                information_gain,
                failure_probability / self.setting.thresholds() as f64,
            ),
        }
    }

    /// r_t of BORE (17): the information gain before round t, σ_{t-1} at the chosen point and at the optimum.
    ///
    /// Where the optimum is unknown, the largest deviation over the domain takes its place.
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

    /// R_T of BORE (18); `optimum_deviations` is Σ σ_{t-1}(x*), or the sum of the domain's largest.
    pub fn bore_cumulative(&self, run: &Run, optimum_deviations: f64) -> Result<Bound> {
        check_not_negative("sum of deviations at the optimum", optimum_deviations)?;
        let (sum, gain) = self.sum_of_deviations(run)?;
        let gap = self.width(run.information_gain)? * (sum + optimum_deviations);
        let subject = Subject::BoreCumulative { rounds: run.rounds };
        self.sequential(subject, gap, run.rounds as f64, gain)
    }

    /// r_t of BORE++ (21): the information gain before round t, and σ_{t-1} at the chosen point.
    pub fn bore_plus_instant(&self, information_gain: f64, chosen_deviation: f64) -> Result<Bound> {
        check_not_negative("deviation at the chosen point", chosen_deviation)?;
        let gap = 2.0 * self.width(information_gain)? * chosen_deviation;
        self.sequential(Subject::BorePlusInstant, gap, 1.0, None)
    }

    /// R_T of BORE++ (22).
    pub fn bore_plus_cumulative(&self, run: &Run) -> Result<Bound> {
        let (sum, gain) = self.sum_of_deviations(run)?;
        let gap = 2.0 * self.width(run.information_gain)? * sum;
        let subject = Subject::BorePlusCumulative { rounds: run.rounds };
        self.sequential(subject, gap, run.rounds as f64, gain)
    }

    /// R_N of BORE++ over points that were chosen while others were pending, in batches or asynchronously; see
    /// `overlap.rs`. The gain of `run` is that of all points asked for, and `overlap` the largest
    /// [`overlap_factor`](super::overlap_factor) of the run. The regret of a single point has the bound of
    /// [`bore_plus_instant`](Self::bore_plus_instant), with the gain and the deviation of what was told.
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

    /// E_q\[f\] - E_ℓ\[f\] for any sampler q: that of p̂ (27) and L_ε TV(q, p̂), because E_q\[f\] - E_p̂\[f\] is at most
    /// osc(f) TV(q, p̂). `expected_deviation` is E_p̂[σ_{t-1}].
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
        let lipschitz = self.noise_lipschitz()?;
        let spread = match (self.form, self.assumptions.inverse_probability_bound) {
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
            standing: self.setting.standing(subject, self.form),
            assumptions,
            ..exact
        })
    }

    /// r̄_t of batch BORE++ (27): the information gain before round t, and E_p̂[σ_{t-1}], exactly.
    pub fn batch_instant(&self, information_gain: f64, expected_deviation: f64) -> Result<Bound> {
        check_not_negative("expected deviation", expected_deviation)?;
        let sum = self.width(information_gain)? * expected_deviation;
        self.batch(Subject::BatchInstant, sum, 1.0, None, None)
    }

    /// R̄_T of batch BORE++ (28).
    pub fn batch_cumulative(&self, run: &BatchRun) -> Result<Bound> {
        let gain = supplied_gain(run.max_information_gain)?;
        let rounds = run.rounds as f64;
        let (sum, sampling) = match self.form {
            Form::Paper => (paper_deviation_sum(run.rounds, gain), None),
            Form::Tight => {
                let delta = run.sampling_failure_probability;
                check_probability("sampling failure probability", delta)?;
                if run.batch_size == 0 {
                    return Err(Error::invalid("batch size", 0, "at least 1"));
                }
                let Setting { ridge, output_scale, .. } = self.setting;
                let one_round = output_scale / (4.0 * run.batch_size as f64);
                let drawn = uniform_boundary(one_round, run.rounds, delta);
                (deviation_sum(run.rounds, gain, ridge, output_scale) + drawn, Some(delta))
            }
        };
        let subject = Subject::BatchCumulative { rounds: run.rounds };
        let sum = self.width(run.information_gain)? * sum;
        self.batch(subject, sum, rounds, Some(gain), sampling)
    }

    /// Lemma A.2 for a sequential run, and the ξ_T that was used, if any.
    fn sum_of_deviations(&self, run: &Run) -> Result<(f64, Option<f64>)> {
        check_not_negative("information gain", run.information_gain)?;
        let Setting { ridge, output_scale, .. } = self.setting;
        match self.form {
            Form::Paper => {
                let gain = supplied_gain(run.max_information_gain)?;
                Ok((paper_deviation_sum(run.rounds, gain), Some(gain)))
            }
            Form::Tight => {
                Ok((deviation_sum(run.rounds, run.information_gain, ridge, output_scale), None))
            }
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
        let lipschitz = self.noise_lipschitz()?;
        let gap = match self.form {
            Form::Paper => gap,
            Form::Tight => gap.min(rounds),
        };
        let mut assumptions = self.common_assumptions()?;
        assumptions.extend(gain.map(Assumption::MaxInformationGain));
        if self.setting.choice == Choice::Maximum {
            assumptions.push(Assumption::ExactMaximum);
        }
        Ok(Bound {
            subject,
            value: lipschitz * gap,
            trivial: lipschitz * rounds,
            failure_probability: self.setting.failure_probability(),
            standing: self.setting.standing(subject, self.form),
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
        let lipschitz = self.noise_lipschitz()?;
        let inverse = given(
            self.assumptions.inverse_probability_bound,
            "a bound on the inverse of the class probability",
        )?;
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
        if self.setting.choice == Choice::EXACT_DRAWS {
            assumptions.push(Assumption::ExactSampling);
        }
        let failure = self.setting.failure_probability();
        Ok(Bound {
            subject,
            value: lipschitz * spread * variation,
            trivial: lipschitz * (1.0 - inverse.recip()).powi(2) * rounds,
            failure_probability: failure.map(|delta| (delta + sampling.unwrap_or(0.0)).min(1.0)),
            standing: self.setting.standing(subject, self.form),
            assumptions,
        })
    }

    /// L_ε, the Lipschitz constant of Φ_ε⁻¹; an error if it was not given.
    pub(super) fn noise_lipschitz(&self) -> Result<f64> {
        given(
            self.assumptions.noise_lipschitz,
            "a Lipschitz constant of the inverse noise distribution",
        )
    }

    /// b, which β_t(δ) needs and a fixed width does not.
    fn norm_bound(&self) -> Result<f64> {
        given(
            self.assumptions.norm_bound,
            "a bound on the kernel norm of the true class probability",
        )
    }

    /// The setting.
    pub(super) fn setting(&self) -> &Setting {
        &self.setting
    }

    /// The assumptions behind every bound.
    pub(super) fn common_assumptions(&self) -> Result<Vec<Assumption>> {
        let mut assumptions = Vec::new();
        if matches!(self.setting.width, Width::Level { .. }) {
            assumptions.push(Assumption::NormBound(self.norm_bound()?));
        }
        assumptions.push(Assumption::NoiseLipschitz(self.noise_lipschitz()?));
        let Setting { estimator, threshold, hyper_parameters, .. } = self.setting;
        if (estimator, hyper_parameters) == (Estimator::LeastSquares, HyperParameterRule::Fixed) {
            assumptions.extend(match threshold {
                ThresholdRule::Fixed => Some(Assumption::FixedBeforehand),
                ThresholdRule::Grid { count } => Some(Assumption::GridBeforehand(count)),
                ThresholdRule::Moving => None,
            });
        }
        Ok(assumptions)
    }
}

fn given(constant: Option<f64>, assumption: &'static str) -> Result<f64> {
    constant.ok_or(Error::MissingAssumption { quantity: "the regret bound", assumption })
}

fn supplied_gain(gain: Option<f64>) -> Result<f64> {
    let gain = given(gain, "an upper bound of the maximum information gain")?;
    check_not_negative("maximum information gain", gain)?;
    Ok(gain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::setting::tests::covered;
    use crate::theory::{LabelNoise, Standing};

    const KNOWN: Assumptions = Assumptions {
        norm_bound: Some(1.0),
        noise_lipschitz: Some(0.5),
        inverse_probability_bound: Some(4.0),
    };
    const RUN: Run = Run { rounds: 10, information_gain: 2.0, max_information_gain: Some(3.0) };
    const BATCHES: BatchRun = BatchRun {
        rounds: 10,
        batch_size: 5,
        information_gain: 4.0,
        max_information_gain: Some(3.0),
        sampling_failure_probability: 0.05,
    };

    fn bounds(form: Form) -> RegretBounds {
        RegretBounds::new(covered(), KNOWN, form).unwrap()
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
        let sampled = Setting { choice: Choice::EXACT_DRAWS, ..covered() };
        let both = [Form::Paper, Form::Tight];
        let both = both.map(|form| RegretBounds::new(sampled, KNOWN, form).unwrap());
        let [paper, tight] = both.map(|b| b.batch_cumulative(&BATCHES).unwrap());
        assert!(tight.value <= paper.value && !paper.standing.is_proven());
        assert!(tight.standing.is_proven());
        assert!((tight.failure_probability.unwrap() - 0.15).abs() < 1e-12);
    }

    #[test]
    fn small_deviations_leave_the_tighter_sums_below_their_caps() {
        let setting = Setting { width: Width::Fixed(0.01), ..covered() };
        let bounds = RegretBounds::new(setting, KNOWN, Form::Tight).unwrap();
        let sum = (2.0 * 10.0 * 3.0 / 41.0_f64.ln()).sqrt();
        let drawn = (26.0 / 20.0 * (2.0 * 20.0_f64.ln() + (26.0 / 16.0_f64).ln())).sqrt();
        let expected = 0.5 * 0.75 * 2.0 * 4.0 * 0.01 * (sum + drawn);
        close(&bounds.batch_cumulative(&BATCHES).unwrap(), expected);
        let sum = (2.0 * 10.0 * 2.0 / 41.0_f64.ln()).sqrt();
        close(&bounds.bore_plus_cumulative(&RUN).unwrap(), 0.5 * 2.0 * 0.01 * sum);
        close(&bounds.bore_cumulative(&RUN, 3.0).unwrap(), 0.5 * 0.01 * (sum + 3.0));
    }

    #[test]
    fn a_missing_constant_is_an_error_that_names_it() {
        let missing = |assumptions: Assumptions, setting: Setting| {
            let bounds = RegretBounds::new(setting, assumptions, Form::Paper).unwrap();
            bounds.batch_cumulative(&BATCHES).unwrap_err().to_string()
        };
        let text = missing(Assumptions { norm_bound: None, ..KNOWN }, covered());
        assert!(text.contains("kernel norm"), "{text}");
        let text = missing(Assumptions { noise_lipschitz: None, ..KNOWN }, covered());
        assert!(text.contains("noise distribution"), "{text}");
        let text = missing(Assumptions { inverse_probability_bound: None, ..KNOWN }, covered());
        assert!(text.contains("inverse of the class probability"), "{text}");
        let bounds = bounds(Form::Paper);
        let run = Run { max_information_gain: None, ..RUN };
        let text = bounds.bore_plus_cumulative(&run).unwrap_err().to_string();
        assert!(text.contains("maximum information gain"), "{text}");
    }

    #[test]
    fn a_fixed_width_needs_no_norm_bound_and_promises_no_probability() {
        let setting = Setting { width: Width::Fixed(3.0), ..covered() };
        let assumptions = Assumptions { norm_bound: None, ..KNOWN };
        let bounds = RegretBounds::new(setting, assumptions, Form::Tight).unwrap();
        let bound = bounds.bore_plus_instant(1.0, 0.1).unwrap();
        assert!((bound.value - 0.5 * 0.6).abs() < 1e-12);
        assert_eq!(bound.failure_probability, None);
        assert!(!bound.standing.is_proven());
        assert!(!bound.assumptions.iter().any(|a| matches!(a, Assumption::NormBound(_))));
    }

    #[test]
    fn bounded_labels_narrow_the_width_of_the_setting() {
        let level = |label_noise| Width::Level { failure_probability: 0.1, label_noise };
        let width = |label_noise| {
            let setting = Setting { width: level(label_noise), ..covered() };
            RegretBounds::new(setting, KNOWN, Form::Tight).unwrap().width(2.0).unwrap()
        };
        let (paper, bounded) = (width(LabelNoise::Paper), width(LabelNoise::Bounded));
        assert!(((paper - 1.0) / (bounded - 1.0) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let new = |assumptions| RegretBounds::new(covered(), assumptions, Form::Tight);
        assert!(new(Assumptions { norm_bound: Some(-1.0), ..KNOWN }).is_err());
        assert!(new(Assumptions { noise_lipschitz: Some(f64::INFINITY), ..KNOWN }).is_err());
        assert!(new(Assumptions { inverse_probability_bound: Some(0.5), ..KNOWN }).is_err());
        let bounds = bounds(Form::Tight);
        assert!(bounds.bore_plus_instant(1.0, -0.1).is_err());
        assert!(bounds.bore_plus_instant(f64::NAN, 0.1).is_err());
        assert!(bounds.batch_cumulative(&BatchRun { batch_size: 0, ..BATCHES }).is_err());
    }
}
