//! Whether the theory covers a run: the standing of a bound, proven or heuristic, with each reason spelled out.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bound::Subject;
use super::confidence::Confidence;
use super::setting::{Choice, Form, Setting};

/// Whether a bound is a guarantee.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It follows from its assumptions.
    Proven,
    /// It does not, for these reasons; it may still be a useful figure.
    Heuristic(Vec<Reason>),
}

impl Standing {
    /// Proven if there is no reason against it; each reason counts once.
    pub(super) fn of(reasons: Vec<Reason>) -> Self {
        let mut distinct: Vec<Reason> = Vec::with_capacity(reasons.len());
        for reason in reasons {
            if !distinct.contains(&reason) {
                distinct.push(reason);
            }
        }
        if distinct.is_empty() { Self::Proven } else { Self::Heuristic(distinct) }
    }

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
#[doc(hidden)]
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
    /// The points maximise draws from the posterior.
    PosteriorDraw,
    /// The points do not maximise draws from the posterior.
    NoPosterior,
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
            Self::PosteriorDraw => "each point maximises a draw from the posterior: that has a bound on average over functions drawn \
                 from its prior, not for one function",
            Self::NoPosterior => "the points do not maximise draws from the posterior, of which the theorem speaks",
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
    /// Whether the bound on `subject` is proven for such a run.
    #[doc(hidden)]
    pub fn standing(&self, subject: Subject) -> Standing {
        let mut reasons = Vec::new();
        if !self.least_squares {
            reasons.push(Reason::OtherEstimator);
        }
        if self.thresholds.is_none() {
            reasons.push(Reason::MovingThreshold);
        }
        if !self.fixed_kernel {
            reasons.push(Reason::EstimatedHyperParameters);
        }
        if let Confidence::Width(width) = self.confidence
            && !subject.is_expected()
        {
            reasons.push(Reason::FixedWidth(width));
        }
        if !self.noisy && !subject.is_integrated() && !subject.is_expected() {
            reasons.push(Reason::NoiseFree);
        }
        if self.plan.failures {
            reasons.push(Reason::Failures);
        }
        reasons.extend(self.gaps_of_the_choice(subject));
        let allows_pending = matches!(subject, Subject::OverlappingCumulative { .. });
        if self.plan.pending && subject.rounds().is_some() && !allows_pending {
            reasons.push(Reason::Overlapping);
        }
        if self.form == Form::Paper {
            reasons.extend(self.gaps_of_the_paper(subject));
        }
        Standing::of(reasons)
    }

    /// [`standing`](Self::standing) of the tighter form, whichever form was asked for.
    pub(super) fn tight_standing(&self, subject: Subject) -> Standing {
        Self { form: Form::Tight, ..*self }.standing(subject)
    }

    /// Whether the points are chosen as the theorem on `subject` has it.
    fn gaps_of_the_choice(&self, subject: Subject) -> Vec<Reason> {
        if subject == Subject::SamplerInstant {
            // How far the sampler is from p̂ is part of the bound.
            return Vec::new();
        }
        if subject.is_expected() {
            return match self.choice {
                Choice::Posterior { exact: true } => Vec::new(),
                Choice::Posterior { exact: false } => vec![Reason::ApproximateMaximum],
                _ => vec![Reason::NoPosterior],
            };
        }
        let batch = matches!(subject, Subject::BatchInstant | Subject::BatchCumulative { .. });
        match (batch, self.choice) {
            (_, Choice::Posterior { .. }) => vec![Reason::PosteriorDraw],
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
            && !self.printed_sum_follows(rounds)
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
mod tests {
    use super::*;
    use crate::theory::Plan;

    /// The paper's theory experiment, chosen as the theorem on `subject` has it.
    fn covered_for(subject: Subject) -> Setting {
        let batch = matches!(subject, Subject::BatchInstant | Subject::BatchCumulative { .. });
        let choice = if batch { Choice::EXACT_DRAWS } else { Choice::Maximum };
        Setting { choice, ..Setting::default() }
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
            let covered = covered_for(subject);
            assert!(covered.standing(subject).is_proven());
            let printed = Setting { form: Form::Paper, ..covered }.standing(subject);
            assert!(Setting { form: Form::Paper, ..covered }.tight_standing(subject).is_proven());
            if matches!(subject, Subject::BatchCumulative { .. }) {
                assert_eq!(printed.reasons(), [Reason::ExpectedSum]);
            } else {
                assert!(printed.is_proven());
            }
        }
    }

    #[test]
    fn each_departure_is_named_whatever_the_subject() {
        let covered = Setting::default();
        let failed = Plan { failures: true, ..Plan::default() };
        let departures = [
            (Setting { least_squares: false, ..covered }, Reason::OtherEstimator),
            (Setting { thresholds: None, ..covered }, Reason::MovingThreshold),
            (Setting { fixed_kernel: false, ..covered }, Reason::EstimatedHyperParameters),
            (Setting { confidence: Confidence::Width(3.0), ..covered }, Reason::FixedWidth(3.0)),
            (Setting { noisy: false, ..covered }, Reason::NoiseFree),
            (Setting { plan: failed, ..covered }, Reason::Failures),
        ];
        for (setting, reason) in departures {
            for subject in SUBJECTS {
                for form in [Form::Paper, Form::Tight] {
                    let standing = Setting { form, ..setting }.standing(subject);
                    assert!(standing.reasons().contains(&reason), "{subject:?} {standing:?}");
                }
            }
        }
    }

    #[test]
    fn the_paper_s_form_is_heuristic_for_large_scales_and_large_ridges() {
        let printed = Setting { form: Form::Paper, ..Setting::default() };
        let large = Setting { output_scale: 2.0, ..printed };
        assert_eq!(large.standing(Subject::BorePlusInstant).reasons(), [Reason::OutputScale(2.0)]);
        let ridged = Setting { ridge: 10.0, ..printed };
        let standing = ridged.standing(Subject::BorePlusCumulative { rounds: 50 });
        assert_eq!(standing.reasons(), [Reason::DeviationSum { ridge: 10.0, rounds: 50 }]);
        for setting in [large, ridged] {
            for subject in SUBJECTS {
                let setting = Setting { choice: covered_for(subject).choice, ..setting };
                assert!(setting.tight_standing(subject).is_proven());
            }
        }
    }

    #[test]
    fn each_theorem_needs_its_own_way_of_choosing() {
        let reasons = |subject, choice| {
            Setting { choice, ..Setting::default() }.standing(subject).reasons().to_vec()
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
            let plan = Plan { pending: true, ..Plan::default() };
            let standing = Setting { plan, ..covered_for(subject) }.standing(subject);
            let expected: &[Reason] =
                if subject.rounds().is_some() { &[Reason::Overlapping] } else { &[] };
            assert_eq!(standing.reasons(), expected, "{subject:?}");
        }
    }
}
