//! What a run looks like, and whether the theory covers it.
//!
//! The theorems speak of kernel least squares with a kernel, a ridge and a threshold fixed beforehand, of
//! noisy values, of a width β_t(δ), and of an exact choice of the next points. Real runs seldom meet all of
//! this. A [`Setting`] says which parts are met; from it follows the [`Standing`] of every bound: proven
//! under its assumptions, or a heuristic, with each reason spelled out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Result;

use super::bound::Subject;
use super::confidence::{LabelNoise, check_not_negative, check_positive, check_probability};
use super::deviation_sum::paper_constant_follows;
use super::regret::Form;

/// The parts of a run that the theorems make conditions on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// λ, the ridge of least squares, positive. More of it smooths the estimate and widens the deviations.
    pub ridge: f64,
    /// s = k(x, x). The paper has s ≤ 1; the tighter forms hold for any s.
    pub output_scale: f64,
    /// How π̂ is estimated.
    pub estimator: Estimator,
    /// Where τ comes from.
    pub threshold: ThresholdRule,
    /// Where the kernel's length scales, its output scale and the ridge come from.
    pub hyper_parameters: HyperParameterRule,
    /// Where the confidence width β comes from.
    pub width: Width,
    /// Whether the observed values are noisy.
    pub noise: Noise,
    /// How the next points are chosen.
    pub choice: Choice,
    /// Whether trials failed.
    pub failures: Failures,
    /// Whether all results are known when the next points are chosen.
    pub rounds: Rounds,
}

/// How π̂ is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Kernel least squares on unweighted labels (13, `eq:pls-estimator`).
    LeastSquares,
    /// Anything else: a network, a forest, …
    Other,
}

/// Where τ comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdRule {
    /// Given before the run.
    Fixed,
    /// Chosen from the data, in every round, among values given before the run: Theorem 1 holds for each of them with
    /// δ/J, and so for whichever is chosen.
    Grid {
        /// J, how many there are.
        count: usize,
    },
    /// A quantile of the values seen so far: past labels change with it.
    Moving,
}

/// Where hyper-parameters come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HyperParameterRule {
    /// Given before the run.
    Fixed,
    /// Estimated from the values of the run.
    Estimated,
}

/// Where the confidence width β comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Width {
    /// β_t(δ) of Theorem 1.
    Level {
        /// δ, strictly between 0 and 1.
        failure_probability: f64,
        /// What is said of the label noise.
        label_noise: LabelNoise,
    },
    /// A fixed β, such as the 3 of the paper's experiments on real data.
    Fixed(f64),
}

/// Whether the observed values are noisy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Independent noise with a strictly increasing distribution function.
    Present,
    /// None: π jumps between 0 and 1, and no L_ε exists.
    Absent,
}

/// How the next points are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The maximiser over all configurations, exactly: Theorems 2 and 3.
    Maximum,
    /// The maximiser over the configurations that were not tried yet, exactly.
    UntriedMaximum,
    /// A search that may miss the maximiser, or several maxima of one fit.
    ApproximateMaximum,
    /// A sample.
    Draws {
        /// Whether the points are independent draws; particles and draws without replacement are not.
        independent: bool,
        /// Whether the density is p̂ ∝ π_{t,δ}; that of the logit, or a power of it, is another.
        of_bound: bool,
    },
}

impl Choice {
    /// Independent draws from p̂: Theorem 4.
    pub const EXACT_DRAWS: Self = Self::Draws { independent: true, of_bound: true };
}

/// Whether trials failed or were infeasible. Their label is 0, whatever their value would have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failures {
    /// None did: a label of 0 means y > τ.
    Absent,
    /// Some did: the classifier learns P(success and y ≤ τ | x), whose maximum need not be where f is least.
    Present,
}

/// Whether all results are known when the next points are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounds {
    /// Yes: a batch is told before the next is asked for.
    Complete,
    /// No: points are asked for while others are pending. The sum of deviations then has no bound by Lemma A.2.
    Overlapping,
}

/// How a search is run, as far as the theorems ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The points of one ask.
    pub batch_size: usize,
    /// Whether a batch is told before the next is asked for.
    pub rounds: Rounds,
    /// Whether trials failed.
    pub failures: Failures,
}

impl Default for Plan {
    /// One at a time, and none has failed.
    fn default() -> Self {
        Self { batch_size: 1, rounds: Rounds::Complete, failures: Failures::Absent }
    }
}

/// Whether a bound is a guarantee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It follows from its assumptions.
    Proven,
    /// It does not, for these reasons; it may still be a useful figure.
    Heuristic(Vec<Reason>),
}

impl Standing {
    /// Whether the bound follows from its assumptions.
    pub fn is_proven(&self) -> bool {
        *self == Self::Proven
    }

    /// Why it does not; empty if it does.
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::Proven => &[],
            Self::Heuristic(reasons) => reasons,
        }
    }
}

/// Why a bound is not a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The classifier is not kernel least squares.
    OtherEstimator,
    /// τ moves with the data.
    MovingThreshold,
    /// Hyper-parameters are estimated from the data.
    EstimatedHyperParameters,
    /// β is fixed.
    FixedWidth(f64),
    /// The values have no noise.
    NoiseFree,
    /// k(x, x) exceeds the 1 of the paper's form.
    OutputScale(f64),
    /// The point is not known to be the exact maximiser.
    ApproximateMaximum,
    /// The point is the maximiser among untried configurations only.
    UntriedMaximum,
    /// The points are draws, not the maximiser.
    NoMaximum,
    /// The particles are not independent draws from p̂.
    ApproximateSampling,
    /// The batch follows another density than p̂ ∝ π_{t,δ}.
    OtherDensity,
    /// The goal is not one objective without constraints.
    OtherGoal,
    /// Trials failed.
    Failures,
    /// Points were chosen while others were pending.
    Overlapping,
    /// The paper's constant in Lemma A.2 does not follow for this ridge and number of rounds.
    DeviationSum {
        /// λ, the ridge of least squares.
        ridge: f64,
        /// T, the number of rounds.
        rounds: usize,
    },
    /// The paper bounds the expected sum of a batch run's deviations, not the sum of the run at hand.
    ExpectedSum,
    /// An expectation was estimated from samples.
    Estimated {
        /// The standard error of the bound.
        standard_error: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherEstimator => "the classifier is not kernel least squares, the only one Theorem 1 covers",
            Self::MovingThreshold => "the threshold moves with the data, so past labels change; Theorem 1 needs it fixed",
            Self::EstimatedHyperParameters => "kernel or ridge are estimated from the data; Theorem 1 needs them fixed beforehand",
            Self::FixedWidth(width) => return write!(f, "the confidence width is fixed at {width}, not the width of Theorem 1"),
            Self::NoiseFree => "the values have no noise, so that no noise Lipschitz constant exists",
            Self::OutputScale(scale) => return write!(f, "the kernel's output scale is {scale}; the paper's form needs at most 1"),
            Self::ApproximateMaximum => "the chosen point is not known to be the exact maximiser of the acquisition",
            Self::UntriedMaximum => "no configuration is tried twice: once the best one was tried, later rounds have no bound",
            Self::NoMaximum => "the points are a sample; Theorems 2 and 3 need the maximiser",
            Self::ApproximateSampling => "the batch is not made of independent draws from the target distribution",
            Self::OtherDensity => "the batch follows another density than the upper bound itself; Theorem 4 needs p ∝ π_{t,δ}",
            Self::OtherGoal => "the theorems are about one objective, without constraints and fidelity",
            Self::Failures => "failed trials are labelled 0, so that the class probability may be largest where \
                 the objective is not least (Lemma 1)",
            Self::Overlapping => "points are chosen while others are pending, so that Lemma A.2 does not bound the \
                 sum of deviations",
            Self::DeviationSum { ridge, rounds } => return write!(
                f,
                "the paper's bound on the sum of deviations does not follow for ridge {ridge} and \
                 {rounds} rounds",
            ),
            Self::ExpectedSum => "the paper bounds the expected sum of deviations, not the sum in this run; the \
                 tighter form adds the missing term",
            Self::Estimated { standard_error } => return write!(
                f,
                "an expectation was estimated from samples, with standard error {standard_error:.3e}",
            ),
        })
    }
}

impl Setting {
    /// Refuses values that no run can have.
    pub fn check(&self) -> Result<()> {
        check_positive("ridge", self.ridge)?;
        check_positive("output scale", self.output_scale)?;
        match self.width {
            Width::Level { failure_probability, .. } => {
                check_probability("failure probability", failure_probability)
            }
            Width::Fixed(width) => check_not_negative("confidence width", width),
        }
    }

    /// δ, if the width comes from one.
    pub fn failure_probability(&self) -> Option<f64> {
        match self.width {
            Width::Level { failure_probability, .. } => Some(failure_probability),
            Width::Fixed(_) => None,
        }
    }

    /// J: how many thresholds share δ.
    pub(super) fn thresholds(&self) -> usize {
        match self.threshold {
            ThresholdRule::Grid { count } => count.max(1),
            ThresholdRule::Fixed | ThresholdRule::Moving => 1,
        }
    }

    /// Whether the bound on `subject` in the given form is proven for such a run.
    pub fn standing(&self, subject: Subject, form: Form) -> Standing {
        let mut reasons = Vec::new();
        if self.estimator == Estimator::Other {
            reasons.push(Reason::OtherEstimator);
        }
        if self.threshold == ThresholdRule::Moving {
            reasons.push(Reason::MovingThreshold);
        }
        if self.hyper_parameters == HyperParameterRule::Estimated {
            reasons.push(Reason::EstimatedHyperParameters);
        }
        if let Width::Fixed(width) = self.width {
            reasons.push(Reason::FixedWidth(width));
        }
        if self.noise == Noise::Absent && !subject.is_integrated() {
            reasons.push(Reason::NoiseFree);
        }
        if self.failures == Failures::Present {
            reasons.push(Reason::Failures);
        }
        reasons.extend(self.gaps_of_the_choice(subject));
        let allows_pending = matches!(subject, Subject::OverlappingCumulative { .. });
        if self.rounds == Rounds::Overlapping && subject.rounds().is_some() && !allows_pending {
            reasons.push(Reason::Overlapping);
        }
        if form == Form::Paper {
            reasons.extend(self.gaps_of_the_paper(subject));
        }
        if reasons.is_empty() { Standing::Proven } else { Standing::Heuristic(reasons) }
    }

    /// Whether the points are chosen as the theorem on `subject` has it.
    fn gaps_of_the_choice(&self, subject: Subject) -> Vec<Reason> {
        if subject == Subject::SamplerInstant {
            // How far the sampler is from p̂ is part of the bound.
            return Vec::new();
        }
        let batch = matches!(subject, Subject::BatchInstant | Subject::BatchCumulative { .. });
        match (batch, self.choice) {
            (false, Choice::Maximum) | (true, Choice::EXACT_DRAWS) => Vec::new(),
            (false, Choice::UntriedMaximum) => vec![Reason::UntriedMaximum],
            (false, Choice::ApproximateMaximum) => vec![Reason::ApproximateMaximum],
            (false, Choice::Draws { .. }) => vec![Reason::NoMaximum],
            (true, Choice::Draws { independent, of_bound }) => {
                let sampling = (!independent).then_some(Reason::ApproximateSampling);
                let density = (!of_bound).then_some(Reason::OtherDensity);
                sampling.into_iter().chain(density).collect()
            }
            (true, _) => vec![Reason::ApproximateSampling],
        }
    }

    /// What the paper's form lacks and the tighter form mends.
    fn gaps_of_the_paper(&self, subject: Subject) -> Vec<Reason> {
        let mut reasons = Vec::new();
        if self.output_scale > 1.0 {
            reasons.push(Reason::OutputScale(self.output_scale));
        }
        if let Some(rounds) = subject.rounds()
            && !paper_constant_follows(rounds, self.ridge, self.output_scale)
        {
            reasons.push(Reason::DeviationSum { ridge: self.ridge, rounds });
        }
        if matches!(subject, Subject::BatchCumulative { .. }) {
            reasons.push(Reason::ExpectedSum);
        }
        reasons
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The theory experiment of the paper (appendix D.1).
    pub(in crate::theory) fn covered() -> Setting {
        Setting {
            ridge: 0.025,
            output_scale: 1.0,
            estimator: Estimator::LeastSquares,
            threshold: ThresholdRule::Fixed,
            hyper_parameters: HyperParameterRule::Fixed,
            width: Width::Level { failure_probability: 0.1, label_noise: LabelNoise::Paper },
            noise: Noise::Present,
            choice: Choice::Maximum,
            failures: Failures::Absent,
            rounds: Rounds::Complete,
        }
    }

    /// The same, chosen as the theorem on `subject` has it.
    fn covered_for(subject: Subject) -> Setting {
        let batch = matches!(subject, Subject::BatchInstant | Subject::BatchCumulative { .. });
        Setting { choice: if batch { Choice::EXACT_DRAWS } else { Choice::Maximum }, ..covered() }
    }

    const SUBJECTS: [Subject; 6] = [
        Subject::BoreInstant,
        Subject::BoreCumulative { rounds: 50 },
        Subject::BorePlusInstant,
        Subject::BorePlusCumulative { rounds: 50 },
        Subject::BatchInstant,
        Subject::BatchCumulative { rounds: 50 },
    ];

    #[test]
    fn a_covered_run_is_proven_but_for_the_printed_batch_sum() {
        for subject in SUBJECTS {
            assert!(covered_for(subject).standing(subject, Form::Tight).is_proven());
            let printed = covered_for(subject).standing(subject, Form::Paper);
            if matches!(subject, Subject::BatchCumulative { .. }) {
                assert_eq!(printed.reasons(), [Reason::ExpectedSum]);
            } else {
                assert!(printed.is_proven());
            }
        }
    }

    #[test]
    fn each_departure_is_named_whatever_the_subject() {
        let departures = [
            (Setting { estimator: Estimator::Other, ..covered() }, Reason::OtherEstimator),
            (Setting { threshold: ThresholdRule::Moving, ..covered() }, Reason::MovingThreshold),
            (
                Setting { hyper_parameters: HyperParameterRule::Estimated, ..covered() },
                Reason::EstimatedHyperParameters,
            ),
            (Setting { width: Width::Fixed(3.0), ..covered() }, Reason::FixedWidth(3.0)),
            (Setting { noise: Noise::Absent, ..covered() }, Reason::NoiseFree),
            (Setting { failures: Failures::Present, ..covered() }, Reason::Failures),
        ];
        for (setting, reason) in departures {
            for subject in SUBJECTS {
                for form in [Form::Paper, Form::Tight] {
                    let standing = setting.standing(subject, form);
                    assert!(standing.reasons().contains(&reason), "{subject:?} {standing:?}");
                }
            }
        }
    }

    #[test]
    fn the_paper_s_form_is_heuristic_for_large_scales_and_large_ridges() {
        let large = Setting { output_scale: 2.0, ..covered() };
        let standing = large.standing(Subject::BorePlusInstant, Form::Paper);
        assert_eq!(standing.reasons(), [Reason::OutputScale(2.0)]);
        let ridged = Setting { ridge: 10.0, ..covered() };
        let standing = ridged.standing(Subject::BorePlusCumulative { rounds: 50 }, Form::Paper);
        assert_eq!(standing.reasons(), [Reason::DeviationSum { ridge: 10.0, rounds: 50 }]);
        for setting in [large, ridged] {
            for subject in SUBJECTS {
                let setting = Setting { choice: covered_for(subject).choice, ..setting };
                assert!(setting.standing(subject, Form::Tight).is_proven());
            }
        }
    }

    #[test]
    fn each_theorem_needs_its_own_way_of_choosing() {
        let reasons = |subject, choice| {
            let standing = Setting { choice, ..covered() }.standing(subject, Form::Tight);
            standing.reasons().to_vec()
        };
        let draws = |independent, of_bound| Choice::Draws { independent, of_bound };
        for subject in [Subject::BoreInstant, Subject::BorePlusCumulative { rounds: 9 }] {
            assert_eq!(reasons(subject, Choice::Maximum), []);
            assert_eq!(reasons(subject, Choice::UntriedMaximum), [Reason::UntriedMaximum]);
            assert_eq!(reasons(subject, Choice::ApproximateMaximum), [Reason::ApproximateMaximum]);
            assert_eq!(reasons(subject, Choice::EXACT_DRAWS), [Reason::NoMaximum]);
        }
        for subject in [Subject::BatchInstant, Subject::BatchCumulative { rounds: 9 }] {
            assert_eq!(reasons(subject, Choice::EXACT_DRAWS), []);
            assert_eq!(reasons(subject, Choice::Maximum), [Reason::ApproximateSampling]);
            assert_eq!(reasons(subject, draws(false, true)), [Reason::ApproximateSampling]);
            assert_eq!(reasons(subject, draws(true, false)), [Reason::OtherDensity]);
            let both = [Reason::ApproximateSampling, Reason::OtherDensity];
            assert_eq!(reasons(subject, draws(false, false)), both);
        }
    }

    #[test]
    fn pending_points_leave_the_bounds_of_a_round_and_take_those_of_sums() {
        for subject in SUBJECTS {
            let setting = Setting { rounds: Rounds::Overlapping, ..covered_for(subject) };
            let standing = setting.standing(subject, Form::Tight);
            let expected: &[Reason] =
                if subject.rounds().is_some() { &[Reason::Overlapping] } else { &[] };
            assert_eq!(standing.reasons(), expected, "{subject:?}");
        }
    }

    #[test]
    fn impossible_settings_are_refused() {
        assert!(covered().check().is_ok());
        assert!(Setting { ridge: 0.0, ..covered() }.check().is_err());
        assert!(Setting { output_scale: f64::NAN, ..covered() }.check().is_err());
        assert!(Setting { width: Width::Fixed(-1.0), ..covered() }.check().is_err());
    }
}
