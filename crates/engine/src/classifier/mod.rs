//! Classifiers π̂_t(x) ≈ p(y ≤ τ | x): settings are fitted to labels and give an immutable classifier.
//!
//! A classifier is read as an acquisition on one of two scales ([`Target`]); one that knows its own
//! uncertainty also gives the upper confidence bound π_{t,δ} of equation (19), which is all that BORE++
//! adds to BORE.

pub(crate) mod bayesian_logistic;
pub(crate) mod boosting;
pub(crate) mod ensemble;
pub(crate) mod forest;
pub(crate) mod fourier_features;
pub(crate) mod least_squares;
mod logistic;
pub(crate) mod parallel;
pub(crate) mod perceptron;
pub(crate) mod tree;

pub use bayesian_logistic::BayesianLogistic;
pub use boosting::Boosting;
pub use ensemble::Ensemble;
pub use forest::Forest;
pub use least_squares::LeastSquares;
pub use perceptron::Perceptron;

// Parts of settings, hidden as lib.rs has it.
#[doc(hidden)]
pub use bayesian_logistic::LengthScales;
#[doc(hidden)]
pub use least_squares::HyperParameters;
#[doc(hidden)]
pub use perceptron::{Activation, Inputs, Start};

#[doc(hidden)]
pub use crate::gaussian_process::MarginalLikelihood;
pub use crate::theory::Confidence;

use serde::{Deserialize, Serialize};

use crate::acquisition::Acquisition;
use crate::error::Result;
use crate::labels::Labels;
use crate::points::Points;
use crate::seed::Rng;

/// The function of the class probability whose gradient the batch follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// log π / (1 - π): what the paper's figures were made with. It keeps its gradient where π is near 1.
    #[default]
    Logit,
    /// log π: what the paper's text says, so that the batch is a sample from p̂ ∝ π.
    LogProbability,
}

impl Target {
    /// [`Acquisition::log_densities`] of a classifier whose values are never below log π: a probability is at most 1.
    fn log_densities(
        self,
        acquisition: &impl Acquisition,
        points: &Points,
        densities: &mut [f64],
    ) -> Option<f64> {
        acquisition.values(points, densities);
        match self {
            Self::Logit => None,
            Self::LogProbability => {
                densities.iter_mut().for_each(|density| *density = density.min(0.0));
                Some(0.0)
            }
        }
    }
}

/// Settings that can be fitted to labels.
pub trait Learner: Send + Sync {
    /// What a fit gives.
    type Classifier: Classifier;

    /// Fits `labels`, of which there is at least one.
    ///
    /// `previous` is the fit to an earlier part of the same history. A learner may continue from it (warm
    /// start) or reuse its work; one that starts anew ignores it.
    fn fit(
        &self,
        labels: &Labels<'_>,
        previous: Option<&Self::Classifier>,
        rng: &mut Rng,
    ) -> Result<Self::Classifier>;

    /// The number of trials after which a fit is kept for the next to continue from, if the learner does so.
    ///
    /// The kept fits are those to the first k, 2k, 3k, … trials, whenever batches were asked for: the
    /// suggestions stay a function of seed and history alone. `None`: every fit starts anew, or gives the
    /// same bits whether or not it reuses the previous one.
    fn kept_every(&self) -> Option<usize> {
        None
    }

    /// The settings for batches of this size, where they leave something for it to decide.
    fn for_batches(self, _batch_size: usize) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Whether a fit heeds [`Labels::weight`].
    fn takes_weights(&self) -> bool {
        false
    }

    /// Whether its classifiers have a posterior that can be drawn from ([`Acquisition::draw`]): what Thompson sampling needs.
    fn has_posterior(&self) -> bool {
        false
    }

    /// Refuses settings that no fit could use, for points of `dim` coordinates.
    fn check(&self, dim: usize) -> Result<()>;
}

/// A fitted, immutable classifier.
pub trait Classifier: Send + Sync + 'static {
    /// The classifier as an acquisition.
    type Acquisition<'c>: Acquisition;

    /// Coordinates of a point.
    fn dim(&self) -> usize;

    /// π̂_t(x), in [0, 1].
    fn probability(&self, x: &[f64]) -> f64;

    /// The classifier as an acquisition on the scale of `target`.
    fn acquisition(&self, target: Target) -> Self::Acquisition<'_>;
}

/// A classifier that knows its own uncertainty: what BORE++ needs.
pub trait Uncertain: Classifier {
    /// The upper confidence bound as an acquisition.
    type UpperBound<'c>: Acquisition;

    /// π_{t,δ} of equation (19) as an acquisition on the scale of `target`.
    fn upper_bound(&self, confidence: Confidence, target: Target) -> Result<Self::UpperBound<'_>>;
}
