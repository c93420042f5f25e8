//! What a method believes of a configuration: the class probability of its classifier, and the bound of BORE++.

use anyhow::Result;
use serde::Serialize;
use wimble::acquisition::Acquisition as _;
use wimble::batch::Candidates;
use wimble::classifier::{Classifier as _, Confidence, Learner, Target, Uncertain};
use wimble::prelude::{BayesianLogistic, Boosting, Ensemble, Forest, LeastSquares, Perceptron};
use wimble::space::Configuration;
use wimble::strategy::spec::{BorePlusPlusSpec, BoreSpec};
use wimble::strategy::{Bore, Memory};
use wimble_study::{Follower, Settings};

/// The class probability at a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Belief {
    /// π̂(x), the probability of a good value.
    pub probability: f64,
    /// Its upper confidence bound, with bore++.
    pub upper_bound: Option<f64>,
}

/// Fits the classifier of the study to all that is known. `None` for a method without one, and while there is nothing to
/// learn from.
pub fn at(
    settings: &Settings,
    follower: &Follower,
    configuration: &Configuration,
) -> Result<Option<Belief>> {
    let x = settings.space.encode(configuration)?;
    let fit = Fit { settings, follower, x: &x };
    let bound = settings.method.settings::<BorePlusPlusSpec>();
    let (spec, confidence) = match settings.method.settings::<BoreSpec>() {
        Some(spec) => (spec, None),
        None => match bound {
            Some(spec) => (&spec.bore, Some(spec.confidence)),
            None => return Ok(None),
        },
    };
    let classifier = &spec.classifier;
    if let Some(learner) = classifier.settings::<Perceptron>() {
        fit.probability(spec, learner)
    } else if let Some(learner) = classifier.settings::<LeastSquares>() {
        fit.bound(spec, learner, confidence)
    } else if let Some(learner) = classifier.settings::<BayesianLogistic>() {
        fit.bound(spec, learner, confidence)
    } else if let Some(learner) = classifier.settings::<Ensemble>() {
        fit.bound(spec, learner, confidence)
    } else if let Some(learner) = classifier.settings::<Forest>() {
        fit.bound(spec, learner, confidence)
    } else if let Some(learner) = classifier.settings::<Boosting>() {
        fit.bound(spec, learner, confidence)
    } else {
        Ok(None)
    }
}

struct Fit<'f> {
    settings: &'f Settings,
    follower: &'f Follower,
    x: &'f [f64],
}

impl Fit<'_> {
    fn classifier<L: Learner + Clone>(
        &self,
        spec: &BoreSpec,
        learner: &L,
    ) -> Result<Option<std::sync::Arc<L::Classifier>>> {
        let bore = Bore {
            threshold: spec.threshold,
            weights: spec.weights,
            learner: learner.clone(),
            // The rule chooses points; the classifier is the same under any.
            rule: Candidates::default(),
            target: spec.target,
            initial: spec.initial,
        };
        Ok(bore.classifier(self.follower.history(), self.settings.seed, &mut Memory::default())?)
    }

    fn probability<L: Learner + Clone>(
        &self,
        spec: &BoreSpec,
        learner: &L,
    ) -> Result<Option<Belief>> {
        let classifier = self.classifier(spec, learner)?;
        Ok(classifier.map(|classifier| Belief {
            probability: classifier.probability(self.x),
            upper_bound: None,
        }))
    }

    fn bound<L>(
        &self,
        spec: &BoreSpec,
        learner: &L,
        confidence: Option<Confidence>,
    ) -> Result<Option<Belief>>
    where
        L: Learner<Classifier: Uncertain> + Clone,
    {
        let Some(confidence) = confidence else { return self.probability(spec, learner) };
        let Some(classifier) = self.classifier(spec, learner)? else { return Ok(None) };
        let bound = classifier.upper_bound(confidence, Target::LogProbability)?.value(self.x).exp();
        Ok(Some(Belief { probability: classifier.probability(self.x), upper_bound: Some(bound) }))
    }
}
