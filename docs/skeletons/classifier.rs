//! <What the classifier is, in one sentence, with the equation it comes from.>
//!
//! Here: a vote of the labels, weighted by their distance, π̂(x) = (½ + Σᵢ k(x, xᵢ) zᵢ) / (1 + Σᵢ k(x, xᵢ)).
//!
//! Cost: O(…) to fit, O(…) a value. Fails with <…>.

// Inside the engine, `crate::` stands for `wimble::`.
use serde::{Deserialize, Serialize};
use wimble::acquisition::Acquisition;
use wimble::classifier::{Classifier, Learner, Target};
use wimble::error::{Error, Result};
use wimble::labels::Labels;
use wimble::named::Named;
use wimble::points::Points;
use wimble::seed::Rng;

/// Settings of <the classifier>.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Noun {
    /// <What it is; its unit or range; what a larger value does; where its default comes from.>
    pub length: f64,
}

impl Named for Noun {
    const NAME: &'static str = "noun";
    const DESCRIPTION: &'static str = "a vote of the labels nearby";
}

impl Default for Noun {
    fn default() -> Self {
        Self { length: 0.2 }
    }
}

impl Learner for Noun {
    type Classifier = FittedNoun;

    fn fit(
        &self,
        labels: &Labels<'_>,
        _previous: Option<&FittedNoun>,
        _rng: &mut Rng,
    ) -> Result<FittedNoun> {
        self.check(labels.dim())?;
        let points = Points::from_rows(labels.dim(), labels.points());
        Ok(FittedNoun { length: self.length, points, labels: labels.to_vec() })
    }

    fn check(&self, _dim: usize) -> Result<()> {
        if !(self.length > 0.0 && self.length.is_finite()) {
            return Err(Error::invalid("noun length", self.length, "positive and finite"));
        }
        Ok(())
    }
}

/// A fitted <noun>.
#[derive(Debug, Clone)]
pub struct FittedNoun {
    length: f64,
    points: Points,
    labels: Vec<f64>,
}

impl Classifier for FittedNoun {
    type Acquisition<'c> = NounAcquisition<'c>;

    fn dim(&self) -> usize {
        self.points.dim()
    }

    fn probability(&self, x: &[f64]) -> f64 {
        let (mut good, mut all) = (0.5, 1.0);
        for (point, label) in self.points.rows().zip(&self.labels) {
            let squared: f64 = x.iter().zip(point).map(|(a, b)| (a - b).powi(2)).sum();
            let weight = (-squared / self.length.powi(2)).exp();
            good += weight * label;
            all += weight;
        }
        good / all
    }

    fn acquisition(&self, target: Target) -> NounAcquisition<'_> {
        NounAcquisition { fitted: self, target }
    }
}

/// A fitted <noun> on the scale of a target.
#[derive(Debug, Clone, Copy)]
pub struct NounAcquisition<'c> {
    fitted: &'c FittedNoun,
    target: Target,
}

impl Acquisition for NounAcquisition<'_> {
    fn dim(&self) -> usize {
        self.fitted.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        let probability = self.fitted.probability(x);
        match self.target {
            Target::Logit => (probability / (1.0 - probability)).ln(),
            Target::LogProbability => probability.ln(),
        }
    }
}

// `SmoothAcquisition`, if it has gradients; `Uncertain`, if the model knows its own uncertainty: the line in
// strategy/spec/table.rs says which. Tests: against the naive formula, gradients against finite differences; the
// conformance suite runs it by its name.
