//! What is guaranteed: which theorem covers a method in a space, and under which conditions.
//!
//! [`Spec::guarantee`] decides it, for `wimble check`, for the guide and for everybody else. It turns the method, the
//! space and the [`Plan`] into a [`Setting`], and the setting's standing is the answer.
//!
//! ```
//! use wimble::prelude::*;
//! use wimble::strategy::Promise;
//! use wimble::theory::Plan;
//!
//! let theory = "bore++ level=0.1 threshold=0.3 target=log-probability rule=independent \
//!               classifier.hyper-parameters.fixed.kernel.profile=squared-exponential \
//!               classifier.hyper-parameters.fixed.kernel.length-scales=[0.2] \
//!               classifier.hyper-parameters.fixed.kernel.output-scale=1";
//! let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)])?;
//! let goal = Goal::default();
//! let plan = Plan { batch_size: 10, ..Plan::default() };
//! let guarantee = theory.parse::<Spec>()?.guarantee(&space, &goal, plan);
//! assert_eq!(guarantee.promise, Some(Promise::Batches));
//! // SVGD's particles only resemble draws from p̂.
//! let svgd = theory.replace("independent", "svgd").parse::<Spec>()?.guarantee(&space, &goal, plan);
//! assert_eq!(svgd.promise, None);
//! println!("{svgd}");
//! # Ok::<(), wimble::Error>(())
//! ```

use std::fmt;

use serde::Serialize;

use super::spec::{BorePlusPlusSpec, BoreSpec};
use super::{Bore, BorePlusPlus, Spec};
use crate::batch::BatchRule;
use crate::classifier::Confidence;
use crate::classifier::least_squares::{
    Bound, HyperParameters, LeastSquares, LeastSquaresClassifier,
};
use crate::goal::Goal;
use crate::labels::{Threshold, Weights};
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan, Reason, Setting, Standing, Subject};

/// What a theorem promises, each after the first random trials.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// Theorem 2: the regret of every round and of their sum is bounded, by a sum that need not vanish on average.
    Bore,
    /// The same for every round, but not for their sum.
    BoreRounds,
    /// Theorem 3: the regret of every round and of their sum is bounded.
    Regret,
    /// The same while other points are pending: the bound on the sum has a factor for them.
    Overlapping,
    /// Theorem 3 until the best configuration is tried: the regret of the best trial so far is bounded.
    BestSoFar,
    /// Theorem 4: the distributional regret of every batch and of their sum is bounded.
    Batches,
    /// The same for every batch, but not for their sum.
    BatchesRounds,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bore => {
                "Theorem 2 bounds the regret of every round and of their sum; the average need not vanish"
            }
            Self::BoreRounds => "Theorem 2 bounds the regret of every round, but not of their sum",
            Self::Regret => {
                "Theorem 3 bounds the regret of every round and of their sum"
            }
            Self::Overlapping => {
                "Theorem 3 bounds the regret of every round and, times the overlap factor, of their sum"
            }
            Self::BestSoFar => {
                "Theorem 3 bounds the regret of the best trial so far; no configuration is tried twice"
            }
            Self::Batches => {
                "Theorem 4 bounds the distributional regret of every batch and of their sum"
            }
            Self::BatchesRounds => {
                "Theorem 4 bounds the distributional regret of every batch, but not of their sum"
            }
        })
    }
}

/// What is guaranteed for a method in a space.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guarantee {
    /// What is promised, which prints as a sentence; `None` if nothing is. After the first random trials:
    ///
    /// | `Promise::` | theorem | what is bounded |
    /// |---|---|---|
    /// | `Bore` | 2 | the regret of every round and of their sum, which need not vanish on average |
    /// | `BoreRounds` | 2 | the regret of every round, but not of their sum |
    /// | `Regret` | 3 | the regret of every round and of their sum |
    /// | `Overlapping` | 3 | the same while other points are pending, with a factor for them |
    /// | `BestSoFar` | 3 | the regret of the best trial so far, where no configuration is tried twice |
    /// | `Batches` | 4 | the distributional regret of every batch and of their sum |
    /// | `BatchesRounds` | 4 | the distributional regret of every batch, but not of their sum |
    pub promise: Option<Promise>,
    /// Why no more is promised; each prints as a sentence.
    pub reasons: Vec<Reason>,
    /// What must hold for the promise, which only the user can know.
    pub conditions: Vec<String>,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.promise {
            None if self.reasons.is_empty() => return f.write_str("none"),
            None => f.write_str("none, because")?,
            Some(promise) => write!(f, "{promise}")?,
        }
        for reason in &self.reasons {
            write!(f, "\n- {reason}")?;
        }
        if self.promise.is_some() {
            f.write_str(if self.reasons.is_empty() { ", if" } else { "\nif" })?;
        }
        for condition in &self.conditions {
            write!(f, "\n- {condition}")?;
        }
        Ok(())
    }
}

impl Spec {
    /// What is guaranteed for this method in `space`. The theorems are about one objective without constraints.
    pub fn guarantee(&self, space: &SearchSpace, goal: &Goal, plan: Plan) -> Guarantee {
        let none = |reasons| Guarantee { promise: None, reasons, conditions: Vec::new() };
        let (bore, confidence) = match (self.settings(), self.settings()) {
            (Some(BorePlusPlusSpec { bore, confidence }), _) => (bore, Some(*confidence)),
            (None, Some(bore)) => (bore, None),
            (None, None) => return none(Vec::new()),
        };
        match goal.is_single() {
            true => bore.guarantee(confidence, space, plan),
            false => none(vec![Reason::OtherGoal]),
        }
    }
}

impl BoreSpec {
    /// The guarantee of `bore++` with this confidence, or of `bore` without one.
    fn guarantee(
        &self,
        confidence: Option<Confidence>,
        space: &SearchSpace,
        plan: Plan,
    ) -> Guarantee {
        let none = |reasons| Guarantee { promise: None, reasons, conditions: Vec::new() };
        let Some(learner) = self.classifier.settings::<LeastSquares>() else {
            return none(vec![Reason::OtherEstimator]);
        };
        // Theorem 2 is about BORE, whose choice has no width: its bound holds for every δ.
        let theorem_2 = Confidence::Level { failure_probability: 0.1, norm_bound: 1.0 };
        let parts = Parts {
            learner,
            threshold: self.threshold,
            weights: self.weights,
            confidence: confidence.unwrap_or(theorem_2),
        };
        let output_scale = match &learner.hyper_parameters {
            HyperParameters::Fixed { kernel } => kernel.output_scale(),
            HyperParameters::MarginalLikelihood(_) => 1.0,
        };
        let choice = self.choice(space, plan);
        let setting = parts.setting(learner.ridge, output_scale, choice, plan);
        let sampled = matches!(choice, Choice::Draws { .. });
        // Theorems 2 and 3 for rules that maximise, Theorem 4 for those that sample.
        let (round, sum, whole, rounds) = match (confidence.is_some(), sampled) {
            (false, _) => (
                Subject::BoreInstant,
                Subject::BoreCumulative { rounds: 1 },
                Promise::Bore,
                Promise::BoreRounds,
            ),
            (true, false) => match plan.pending {
                false => (
                    Subject::BorePlusInstant,
                    Subject::BorePlusCumulative { rounds: 1 },
                    Promise::Regret,
                    Promise::Regret,
                ),
                true => (
                    Subject::BorePlusInstant,
                    Subject::OverlappingCumulative { rounds: 1 },
                    Promise::Overlapping,
                    Promise::Overlapping,
                ),
            },
            (true, true) => (
                Subject::BatchInstant,
                Subject::BatchCumulative { rounds: 1 },
                Promise::Batches,
                Promise::BatchesRounds,
            ),
        };
        let standing = |subject| setting.standing(subject);
        let promised = |promise, reasons: &[Reason]| Guarantee {
            promise: Some(promise),
            reasons: reasons.to_vec(),
            conditions: self.conditions(confidence, plan),
        };
        match (standing(round), standing(sum)) {
            (Standing::Proven, Standing::Proven) => promised(whole, &[]),
            (Standing::Proven, Standing::Heuristic(reasons)) => promised(rounds, &reasons),
            // Until the best configuration is tried it is among those compared, so that every round has its bound;
            // from then on it is the best so far.
            (Standing::Heuristic(reasons), _)
                if confidence.is_some() && reasons == [Reason::UntriedMaximum] =>
            {
                promised(Promise::BestSoFar, &[])
            }
            (Standing::Heuristic(reasons), _) => none(reasons),
        }
    }
}

impl BoreSpec {
    /// What only the user can know.
    fn conditions(&self, confidence: Option<Confidence>, plan: Plan) -> Vec<String> {
        let norm = match confidence {
            Some(Confidence::Level { norm_bound, .. }) => format!("of at most {norm_bound}"),
            _ => "with a known bound".to_owned(),
        };
        let each = match self.threshold.choices() {
            Some(1) | None => String::new(),
            Some(count) => format!(" for each of the {count} thresholds"),
        };
        let mut conditions = vec![
        format!("the class probability has a norm {norm} in the kernel's function space{each}"),
        "the values have independent noise with a strictly increasing distribution, and the class \
         probability stays away from 0 and 1"
            .to_owned(),
        "no trial fails: a failed trial is labelled 0, which breaks Lemma 1".to_owned(),
    ];
        if plan.pending {
            conditions.push("how long a trial takes says nothing about its noise".to_owned());
        }
        if self.initial > 0 {
            let initial = self.initial;
            conditions.push(format!("rounds are counted after the first {initial} random trials"));
        }
        conditions
    }
}

/// The parts of BORE and BORE++ with least squares that the theorems make conditions on.
struct Parts<'a> {
    learner: &'a LeastSquares,
    threshold: Threshold,
    weights: Weights,
    confidence: Confidence,
}

impl Parts<'_> {
    /// The setting of a run whose values are noisy.
    fn setting(&self, ridge: f64, output_scale: f64, choice: Choice, plan: Plan) -> Setting {
        Setting {
            ridge,
            output_scale,
            confidence: self.confidence,
            thresholds: self.threshold.choices(),
            least_squares: self.weights == Weights::Uniform,
            fixed_kernel: matches!(self.learner.hyper_parameters, HyperParameters::Fixed { .. }),
            choice,
            plan,
            ..Setting::default()
        }
    }
}

impl<R: for<'c> BatchRule<Bound<'c>>> Bore<LeastSquares, R> {
    /// The conditions of the theorems that BORE meets in `space` with this classifier. BORE has no confidence width of
    /// its own; its bounds (Theorem 2) use that of `confidence`.
    ///
    /// Whether values are noisy is for the caller to say, as are the constants that only the caller can know:
    /// `Setting { noisy: false, ..bore.setting(…) }`.
    pub fn setting(
        &self,
        space: &SearchSpace,
        plan: Plan,
        classifier: &LeastSquaresClassifier,
        confidence: Confidence,
    ) -> Setting {
        let Self { learner, threshold, weights, .. } = self;
        let parts = Parts { learner, threshold: *threshold, weights: *weights, confidence };
        let choice = self.rule.choice(space, self.target, plan);
        let output_scale = classifier.kernel().output_scale();
        parts.setting(classifier.ridge(), output_scale, choice, plan)
    }
}

impl<R: for<'c> BatchRule<Bound<'c>>> BorePlusPlus<LeastSquares, R> {
    /// The conditions of the theorems that BORE++ meets in `space` with this classifier; see [`Bore::setting`].
    pub fn setting(
        &self,
        space: &SearchSpace,
        plan: Plan,
        classifier: &LeastSquaresClassifier,
    ) -> Setting {
        self.bore.setting(space, plan, classifier, self.confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Ascent;
    use crate::classifier::Learner as _;
    use crate::history::History;
    use crate::kernel::{Kernel, Profile};
    use crate::outcome::Outcome;
    use crate::seed::Seed;
    use crate::space::Dimension;
    use crate::theory::Run;

    #[test]
    fn the_paper_s_theory_experiment_is_proven_and_its_practical_settings_are_not() {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.1, 1.0).unwrap();
        let learner =
            LeastSquares { ridge: 0.025, hyper_parameters: HyperParameters::Fixed { kernel } };
        let mut theory = BorePlusPlus::new(learner, Ascent::default());
        theory.bore.threshold = Threshold::Fixed { value: 0.0 };
        theory.confidence = Confidence::Level { failure_probability: 0.1, norm_bound: 1.0 };
        let mut history = History::new(1);
        for i in 0..9 {
            history.push(&[f64::from(i) / 9.0], Outcome::from(f64::from(i - 4))).unwrap();
        }
        let labels = theory.bore.threshold.label(history.points(), history.objective()).unwrap();
        let fitted =
            theory.bore.learner.fit(&labels, None, &mut Seed(1).stream("test", 0)).unwrap();
        let run = Run::new(9, fitted.information_gain());
        let standing = |setting| {
            let known = Setting { noise_lipschitz: Some(0.5), ..setting };
            known.bore_plus_cumulative(&run).unwrap().standing
        };
        let finite = SearchSpace::new([Dimension::integer("n", 0, 9)]).unwrap().allow_repeats(true);
        let plan = Plan::default();
        let covered = theory.setting(&finite, plan, &fitted);
        assert!(standing(covered).is_proven());
        assert!(!standing(Setting { noisy: false, ..covered }).is_proven());
        let failed = Plan { failures: true, ..plan };
        let found = standing(theory.setting(&finite, failed, &fitted));
        assert_eq!(found.reasons(), [Reason::Failures]);

        let practical = BorePlusPlus::sequential();
        let real = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let fitted =
            practical.bore.learner.fit(&labels, None, &mut Seed(1).stream("test", 0)).unwrap();
        let standing = standing(practical.setting(&real, plan, &fitted));
        // A fixed width, a moving threshold, estimated hyper-parameters, an inexact choice.
        assert_eq!(standing.reasons().len(), 4, "{standing:?}");
    }
}
