//! `bore` and `bore++` in words: a classifier and a rule by name, and what the two methods share.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::classifier::smooth_search;
use super::method::AnyMethod;
use super::row::{Written, from_table, named_table, read_part, to_table};
use super::table::{CLASSIFIERS, RULES};
use super::{ClassifierSpec, RuleSpec};
use crate::classifier::least_squares::LeastSquares;
use crate::classifier::perceptron::Perceptron;
use crate::classifier::{Confidence, Target};
use crate::error::{Error, Result};
use crate::labels::{DEFAULT_FRACTION, Grid, Threshold, Weights};
use crate::named::Named;
use crate::space::SearchSpace;
use crate::strategy::{Bore, Strategy};
use crate::theory::{Choice, Plan};

/// What the settings are that nobody gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// What did best at the same cost: the rule `candidates`; with a perceptron, inputs between -1 and 1, a learning rate of 0.002,
    /// `weights=improvement` and `target=log-probability`.
    #[default]
    Best,
    /// The paper's: `svgd` for batches and `ascent` for single points, labels of equal weight, the logit.
    Paper,
}

/// What `bore` and `bore++` have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct BoreSpec {
    /// What the settings are that nobody gave.
    pub preset: Preset,
    /// The classifier that is fitted to the labels.
    pub classifier: ClassifierSpec,
    /// How points are chosen. `None`: as the preset says, or `candidates` for a classifier without gradients.
    pub rule: Option<RuleSpec>,
    /// The threshold τ: values up to it are good.
    pub threshold: Threshold,
    /// How much each label counts.
    pub weights: Weights,
    /// The scale on which the rule sees the class probability.
    pub target: Target,
    /// How many trials are drawn at random first.
    pub initial: usize,
}

/// `bore++`: all that it shares with `bore`, and a confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct BorePlusPlusSpec {
    /// What it shares with `bore`.
    pub bore: BoreSpec,
    /// How far above the estimate the bound lies. A wider one explores more.
    pub confidence: Confidence,
}

impl Named for BoreSpec {
    const NAME: &'static str = "bore";
    const DESCRIPTION: &'static str =
        "a classifier's probability of a good value (paper, Algorithm 1 and section 5)";
}

impl Named for BorePlusPlusSpec {
    const NAME: &'static str = "bore++";
    const DESCRIPTION: &'static str =
        "an upper confidence bound of that probability (section 4 and section 5)";
}

impl BoreSpec {
    /// BORE with these parts and the other settings of this spec.
    pub(super) fn bore<L, R>(&self, learner: L, rule: R) -> Bore<L, R> {
        Bore {
            threshold: self.threshold,
            weights: self.weights,
            learner,
            rule,
            target: self.target,
            initial: self.initial,
        }
    }

    /// How the rule chooses under a classifier that has gradients; see [`crate::batch::BatchRule::choice`].
    pub(in crate::strategy) fn choice(&self, space: &SearchSpace, plan: Plan) -> Choice {
        smooth_search(self, plan.batch_size).choice(space, self.target, plan)
    }

    fn keys(&self, confidence: Option<Confidence>) -> Keys {
        let (fraction, threshold, thresholds) = match self.threshold {
            Threshold::Quantile { fraction } => (Some(fraction), None, None),
            Threshold::Grid { fraction, grid } => (Some(fraction), None, Some(grid)),
            Threshold::Fixed { value } => (None, Some(value), None),
        };
        let (width, level, norm_bound) = match confidence {
            None => (None, None, None),
            Some(Confidence::Width(width)) => (Some(width), None, None),
            Some(Confidence::Level { failure_probability, norm_bound }) => {
                (None, Some(failure_probability), Some(norm_bound))
            }
        };
        Keys {
            preset: Some(self.preset),
            classifier: Some(named_table(&*self.classifier.0)),
            rule: self.rule.as_ref().map(|rule| named_table(&*rule.0)),
            fraction,
            threshold,
            thresholds,
            weights: Some(self.weights),
            target: Some(self.target),
            initial: Some(self.initial),
            width,
            level,
            norm_bound,
        }
    }
}

impl Written for BoreSpec {
    fn read(settings: Map<String, Json>) -> Result<Self> {
        let keys: Keys = from_table(Self::NAME, settings)?;
        if let Some(confidence) = keys.confidence()? {
            let value = format!("given as {confidence:?}");
            let allowed = "left out with bore; bore++ has one";
            return Err(Error::invalid("confidence", value, allowed));
        }
        keys.spec(Perceptron::NAME)
    }

    fn write(&self) -> Map<String, Json> {
        to_table(&self.keys(None))
    }
}

impl Written for BorePlusPlusSpec {
    fn read(settings: Map<String, Json>) -> Result<Self> {
        let keys: Keys = from_table(Self::NAME, settings)?;
        let confidence = keys.confidence()?.unwrap_or_default();
        Ok(Self { bore: keys.spec(LeastSquares::NAME)?, confidence })
    }

    fn write(&self) -> Map<String, Json> {
        to_table(&self.bore.keys(Some(self.confidence)))
    }
}

impl AnyMethod for BoreSpec {
    fn build(&self, batch_size: usize) -> Result<Box<dyn Strategy>> {
        self.classifier.0.bore(self, batch_size)
    }
}

impl AnyMethod for BorePlusPlusSpec {
    fn build(&self, batch_size: usize) -> Result<Box<dyn Strategy>> {
        self.bore.classifier.0.bore_plus_plus(&self.bore, self.confidence, batch_size)
    }
}

/// The keys of `bore` and `bore++` as they are written.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Keys {
    preset: Option<Preset>,
    classifier: Option<Json>,
    rule: Option<Json>,
    fraction: Option<f64>,
    threshold: Option<f64>,
    thresholds: Option<Grid>,
    weights: Option<Weights>,
    target: Option<Target>,
    initial: Option<usize>,
    width: Option<f64>,
    level: Option<f64>,
    norm_bound: Option<f64>,
}

/// How many trials are drawn at random first, if nothing is said; the paper's number.
const INITIAL: usize = 10;

impl Keys {
    fn threshold(&self) -> Result<Threshold> {
        match (self.fraction, self.threshold, self.thresholds) {
            (Some(_), Some(value), _) => {
                Err(Error::invalid("threshold", value, "left out where fraction is given"))
            }
            (None, Some(value), Some(_)) => {
                Err(Error::invalid("threshold", value, "left out where thresholds are given"))
            }
            (None, Some(value), None) => Ok(Threshold::Fixed { value }),
            (fraction, None, Some(grid)) => {
                Ok(Threshold::Grid { fraction: fraction.unwrap_or(DEFAULT_FRACTION), grid })
            }
            (Some(fraction), None, None) => Ok(Threshold::Quantile { fraction }),
            (None, None, None) => Ok(Threshold::default()),
        }
    }

    /// The confidence of `bore++`; `None` if nothing is said about it.
    fn confidence(&self) -> Result<Option<Confidence>> {
        match (self.width, self.level, self.norm_bound) {
            (None, None, None) => Ok(None),
            (Some(width), None, None) => Ok(Some(Confidence::Width(width))),
            (None, Some(failure_probability), norm_bound) => {
                let norm_bound = norm_bound.unwrap_or(1.0);
                Ok(Some(Confidence::Level { failure_probability, norm_bound }))
            }
            (None, None, Some(bound)) => {
                Err(Error::invalid("norm-bound", bound, "given together with level"))
            }
            (Some(width), ..) => {
                Err(Error::invalid("width", width, "left out where level or norm-bound is given"))
            }
        }
    }

    /// The preset: the one that is named. A table with all other settings was stored by a version that had the paper's only.
    fn preset(&self) -> Preset {
        let threshold = self.fraction.is_some() || self.threshold.is_some();
        let learner = self.classifier.as_ref().and_then(Json::as_object);
        let complete = self.weights.is_some() && self.target.is_some() && self.initial.is_some();
        let stored = complete && threshold && learner.is_some_and(|settings| settings.len() > 1);
        self.preset.unwrap_or(if stored { Preset::Paper } else { Preset::Best })
    }

    /// What is written, with this classifier if none is named.
    fn spec(self, default_classifier: &str) -> Result<BoreSpec> {
        let (threshold, preset) = (self.threshold()?, self.preset());
        let mut classifier = match self.classifier {
            None => Map::new(),
            Some(Json::String(name)) => Map::from_iter([("name".to_owned(), name.into())]),
            Some(Json::Object(settings)) => settings,
            Some(other) => {
                return Err(Error::invalid("classifier", other, "a name, or a table of settings"));
            }
        };
        // Settings without a name are those of the default classifier.
        let name = classifier.entry("name").or_insert_with(|| default_classifier.into());
        let (mut weights, mut target) = (Weights::default(), Target::default());
        if preset == Preset::Best && *name == Perceptron::NAME {
            (weights, target) = (Weights::Improvement, Target::LogProbability);
            let Perceptron { inputs, learning_rate, .. } = Perceptron::best();
            classifier.entry("inputs").or_insert_with(|| json!(inputs));
            classifier.entry("learning-rate").or_insert_with(|| json!(learning_rate));
        }
        let classifier = read_part("classifier", Json::Object(classifier), CLASSIFIERS)?;
        let rule = self.rule.map(|rule| read_part("rule", rule, RULES).map(RuleSpec));
        Ok(BoreSpec {
            preset,
            classifier: ClassifierSpec(classifier),
            rule: rule.transpose()?,
            threshold,
            weights: self.weights.unwrap_or(weights),
            target: self.target.unwrap_or(target),
            initial: self.initial.unwrap_or(INITIAL),
        })
    }
}
