//! What the theory says about a strategy: which conditions of the theorems its settings meet.
//!
//! ```
//! use wimble::prelude::*;
//! use wimble::strategy::Memory;
//! use wimble::theory::{Assumptions, Choice, Form, Noise, RegretBounds, Run};
//!
//! let space = SearchSpace::new([Dimension::integer("x", 0, 99)])?;
//! let strategy = BorePlusPlus::sequential();
//! let mut session = Session::new(space, strategy.clone(), Direction::Minimise, Seed(1))?;
//! for _ in 0..12 {
//!     for trial in session.ask(1)? {
//!         session.tell(trial.id, Outcome::from(trial.id as f64))?;
//!     }
//! }
//! let history = session.history();
//! let classifier = strategy.bore.classifier(history.points(), history.objective(), session.seed(), &mut Memory::default())?;
//! let classifier = classifier.expect("there are values to label");
//! let setting = strategy.setting(&classifier, Noise::Present, Choice::Exact);
//! let assumptions = Assumptions { noise_lipschitz: Some(0.5), ..Assumptions::default() };
//! let bounds = RegretBounds::new(setting, assumptions, Form::Tight)?;
//! let run = Run { rounds: 12, information_gain: classifier.information_gain(), max_information_gain: None };
//! let bound = bounds.bore_plus_cumulative(&run)?;
//! // A moving threshold, estimated hyper-parameters and a fixed width: a figure, no guarantee.
//! assert!(!bound.standing.is_proven());
//! println!("{bound}");
//! # Ok::<(), wimble::Error>(())
//! ```

use super::{Bore, BorePlusPlus};
use crate::classifier::Confidence;
use crate::classifier::least_squares::{HyperParameters, LeastSquares, LeastSquaresClassifier};
use crate::labels::{Threshold, Weights};
use crate::theory::{self, Choice, Estimator, LabelNoise, Noise, Setting, ThresholdRule, Width};

impl<R> Bore<LeastSquares, R> {
    /// The conditions of the theorems that BORE meets with this classifier. BORE has no confidence width of its own;
    /// its bounds (Theorem 2) use that of `confidence`.
    ///
    /// Whether values are noisy, and whether the rule chooses exactly, is for the caller to say: [`crate::batch::Ascent`]
    /// does on a small finite space that allows repeats.
    pub fn setting(
        &self,
        classifier: &LeastSquaresClassifier,
        confidence: Confidence,
        noise: Noise,
        choice: Choice,
    ) -> Setting {
        Setting {
            ridge: classifier.ridge(),
            output_scale: classifier.kernel().output_scale(),
            estimator: match self.weights {
                Weights::Uniform => Estimator::LeastSquares,
                Weights::Improvement => Estimator::Other,
            },
            threshold: match self.threshold {
                Threshold::Fixed { .. } => ThresholdRule::Fixed,
                Threshold::Quantile { .. } => ThresholdRule::Moving,
            },
            hyper_parameters: match self.learner.hyper_parameters {
                HyperParameters::Fixed { .. } => theory::HyperParameterRule::Fixed,
                HyperParameters::MarginalLikelihood(_) => theory::HyperParameterRule::Estimated,
            },
            width: match confidence {
                Confidence::Width(width) => Width::Fixed(width),
                Confidence::Level { failure_probability, .. } => {
                    Width::Level { failure_probability, label_noise: LabelNoise::Paper }
                }
            },
            noise,
            choice,
        }
    }
}

impl<R> BorePlusPlus<LeastSquares, R> {
    /// The conditions of the theorems that BORE++ meets with this classifier; see [`Bore::setting`].
    pub fn setting(
        &self,
        classifier: &LeastSquaresClassifier,
        noise: Noise,
        choice: Choice,
    ) -> Setting {
        self.bore.setting(classifier, self.confidence, noise, choice)
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
    use crate::theory::{Assumptions, Form, RegretBounds, Run};

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
        let assumptions = Assumptions {
            norm_bound: Some(1.0),
            noise_lipschitz: Some(0.5),
            ..Assumptions::default()
        };
        let run = Run {
            rounds: 9,
            information_gain: fitted.information_gain(),
            max_information_gain: None,
        };
        let standing = |setting| {
            RegretBounds::new(setting, assumptions, Form::Tight)
                .unwrap()
                .bore_plus_cumulative(&run)
                .unwrap()
                .standing
        };
        assert!(standing(theory.setting(&fitted, Noise::Present, Choice::Exact)).is_proven());
        assert!(!standing(theory.setting(&fitted, Noise::Absent, Choice::Exact)).is_proven());

        let practical = BorePlusPlus::sequential();
        let fitted =
            practical.bore.learner.fit(&labels, None, &mut Seed(1).stream("test", 0)).unwrap();
        let standing = standing(practical.setting(&fitted, Noise::Present, Choice::Approximate));
        // A fixed width, a moving threshold, estimated hyper-parameters, an inexact choice.
        assert_eq!(standing.reasons().len(), 4, "{standing:?}");
    }
}
