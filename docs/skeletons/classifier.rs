//! <What the classifier is, in one sentence, with the equation it comes from.>
//!
//! Cost: O(…) to fit, O(…) a value. Fails with <…>.

use serde::{Deserialize, Serialize};

use super::{Classifier, Learner, Target};
use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::error::{Error, Result};
use crate::labels::Labels;
use crate::seed::Rng;

/// Settings of <the classifier>.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Noun {
    /// <What it is; where its default comes from.>
    pub ridge: f64,
}

/// A fitted <noun>.
pub struct FittedNoun {}

/// A fitted <noun> on the scale of a target.
pub struct NounAcquisition<'c> {
    fitted: &'c FittedNoun,
    target: Target,
}

impl Learner for Noun {
    type Classifier = FittedNoun;

    fn fit(&self, labels: &Labels<'_>, previous: Option<&FittedNoun>, rng: &mut Rng) -> Result<FittedNoun> {}

    fn check(&self, dim: usize) -> Result<()> {}
}

impl Classifier for FittedNoun {
    type Acquisition<'c> = NounAcquisition<'c>;
    // dim, probability, acquisition
}

// Uncertain, if the model knows its own uncertainty; SmoothAcquisition, if it has gradients.
// Tests: against the naive formula, gradients against finite differences, and the conformance suite.
