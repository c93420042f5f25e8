//! Strategies in words: from names and settings to a strategy, and back.
//!
//! A spec is written as text, or as a table in TOML or JSON; what is left out has its default.
//!
//! ```text
//! bore++ classifier=ensemble classifier.members=3 rule=svgd rule.steps=500 fraction=0.2 width=2
//! ```
//! ```json
//! { "name": "bore++", "classifier": { "name": "ensemble", "members": 3 },
//!   "rule": { "name": "svgd", "steps": 500 }, "fraction": 0.2, "width": 2.0 }
//! ```
//!
//! Both forms become the same JSON value, which is read by one function; printing goes the other way. The names are in
//! [`names`].

pub mod names;
mod text;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use self::names::{CLASSIFIERS, METHODS, Name, RULES};
use super::{Bore, BorePlusPlus, CmaEs, GpEi, GpUcb, LpEi, QEi, Random, Sobol, Strategy, Tpe};
use crate::acquisition::SmoothAcquisition;
use crate::batch::{Ascent, Candidates, Softmax, SteinNewton, Svgd};
use crate::classifier::bayesian_logistic::BayesianLogistic;
use crate::classifier::boosting::Boosting;
use crate::classifier::ensemble::Ensemble;
use crate::classifier::forest::Forest;
use crate::classifier::least_squares::LeastSquares;
use crate::classifier::perceptron::{Perceptron, Start};
use crate::classifier::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::error::{Error, Result};
use crate::labels::{Threshold, Weights};

/// A strategy with all its settings, in words.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a spec is built once a run")]
pub enum Spec {
    /// `bore`.
    Bore(BoreSpec),
    /// `bore++`, with its confidence.
    BorePlusPlus(BoreSpec, Confidence),
    /// `gp-ucb`.
    GpUcb(GpUcb),
    /// `gp-ei`.
    GpEi(GpEi),
    /// `q-ei`.
    QEi(QEi),
    /// `lp-ei`.
    LpEi(LpEi),
    /// `tpe`.
    Tpe(Tpe),
    /// `random`.
    Random,
    /// `sobol`.
    Sobol(Sobol),
    /// `cma-es`.
    CmaEs(CmaEs),
}

/// What `bore` and `bore++` have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct BoreSpec {
    /// What is fitted to the labels.
    pub classifier: ClassifierSpec,
    /// How points are chosen. `None`: `svgd` for batches and `ascent` for single points, or `candidates` for a
    /// classifier without gradients.
    pub rule: Option<RuleSpec>,
    /// Where good ends.
    pub threshold: Threshold,
    /// How much each label counts.
    pub weights: Weights,
    /// The scale on which the rule sees the class probability.
    pub target: Target,
    /// How many trials are drawn at random first.
    pub initial: usize,
}

/// A classifier by name.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ClassifierSpec {
    Perceptron(Perceptron),
    LeastSquares(LeastSquares),
    BayesianLogistic(BayesianLogistic),
    Ensemble(Ensemble),
    Forest(Forest),
    Boosting(Boosting),
}

/// A batch rule by name.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RuleSpec {
    Svgd(Svgd),
    SteinNewton(SteinNewton),
    Ascent(Ascent),
    Candidates(Candidates),
    Softmax(Softmax),
}

impl ClassifierSpec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Perceptron(_) => "perceptron",
            Self::LeastSquares(_) => "least-squares",
            Self::BayesianLogistic(_) => "bayesian-logistic",
            Self::Ensemble(_) => "ensemble",
            Self::Forest(_) => "forest",
            Self::Boosting(_) => "boosting",
        }
    }
}

impl RuleSpec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Svgd(_) => "svgd",
            Self::SteinNewton(_) => "stein-newton",
            Self::Ascent(_) => "ascent",
            Self::Candidates(_) => "candidates",
            Self::Softmax(_) => "softmax",
        }
    }
}

impl Spec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bore(_) => "bore",
            Self::BorePlusPlus(..) => "bore++",
            Self::GpUcb(_) => "gp-ucb",
            Self::GpEi(_) => "gp-ei",
            Self::QEi(_) => "q-ei",
            Self::LpEi(_) => "lp-ei",
            Self::Tpe(_) => "tpe",
            Self::Random => "random",
            Self::Sobol(_) => "sobol",
            Self::CmaEs(_) => "cma-es",
        }
    }

    /// How many trials are drawn at random before the method begins.
    pub fn initial(&self) -> usize {
        match self {
            Self::Bore(spec) | Self::BorePlusPlus(spec, _) => spec.initial,
            Self::GpUcb(settings) => settings.initial,
            Self::GpEi(settings) => settings.initial,
            Self::QEi(settings) => settings.initial,
            Self::LpEi(settings) => settings.initial,
            Self::Tpe(settings) => settings.initial,
            Self::CmaEs(settings) => settings.initial,
            Self::Random | Self::Sobol(_) => 0,
        }
    }

    /// The method of this name with its default settings.
    pub fn named(name: &str) -> Result<Self> {
        Self::from_json(Json::String(name.to_owned()))
    }

    /// The strategy, for batches of `batch_size`.
    ///
    /// The batch size decides what the spec leaves open: the rule, and the interval of a warm start, which follows the
    /// batches unless another than the default is given.
    pub fn build(&self, batch_size: usize) -> Result<Box<dyn Strategy>> {
        Ok(match self {
            Self::Bore(spec) => {
                let classifier = following_batches(&spec.classifier, batch_size);
                match classifier {
                    ClassifierSpec::Perceptron(learner) => smooth_bore(spec, learner, batch_size),
                    ClassifierSpec::LeastSquares(learner) => smooth_bore(spec, learner, batch_size),
                    ClassifierSpec::BayesianLogistic(learner) => {
                        smooth_bore(spec, learner, batch_size)
                    }
                    ClassifierSpec::Ensemble(learner) => smooth_bore(spec, learner, batch_size),
                    ClassifierSpec::Forest(learner) => rough_bore(spec, learner)?,
                    ClassifierSpec::Boosting(learner) => rough_bore(spec, learner)?,
                }
            }
            Self::BorePlusPlus(spec, confidence) => {
                let (classifier, c) =
                    (following_batches(&spec.classifier, batch_size), *confidence);
                match classifier {
                    ClassifierSpec::Perceptron(_) => return Err(no_uncertainty()),
                    ClassifierSpec::LeastSquares(learner) => {
                        smooth_plus(spec, learner, c, batch_size)
                    }
                    ClassifierSpec::BayesianLogistic(learner) => {
                        smooth_plus(spec, learner, c, batch_size)
                    }
                    ClassifierSpec::Ensemble(learner) => smooth_plus(spec, learner, c, batch_size),
                    ClassifierSpec::Forest(learner) => rough_plus(spec, learner, c)?,
                    ClassifierSpec::Boosting(learner) => rough_plus(spec, learner, c)?,
                }
            }
            Self::GpUcb(settings) => Box::new(settings.clone()),
            Self::GpEi(settings) => Box::new(settings.clone()),
            Self::QEi(settings) => Box::new(settings.clone()),
            Self::LpEi(settings) => Box::new(settings.clone()),
            Self::Tpe(settings) => Box::new(settings.clone()),
            Self::Random => Box::new(Random),
            Self::Sobol(settings) => Box::new(*settings),
            Self::CmaEs(settings) => Box::new(settings.clone()),
        })
    }
}

/// A warm start of the default interval learns once a batch.
fn following_batches(classifier: &ClassifierSpec, batch_size: usize) -> ClassifierSpec {
    let follow = |perceptron: &mut Perceptron| {
        if perceptron.start == Start::default() {
            perceptron.start = Start::Warm { every: batch_size };
        }
    };
    let mut classifier = classifier.clone();
    match &mut classifier {
        ClassifierSpec::Perceptron(perceptron) => follow(perceptron),
        ClassifierSpec::Ensemble(ensemble) => follow(&mut ensemble.perceptron),
        _ => {}
    }
    classifier
}

fn no_uncertainty() -> Error {
    let allowed = "least-squares, bayesian-logistic, ensemble, forest or boosting with bore++, which needs a classifier \
                   that knows its own uncertainty";
    Error::invalid("classifier", "perceptron", allowed)
}

impl BoreSpec {
    fn bore<L, R>(&self, learner: L, rule: R) -> Bore<L, R> {
        Bore {
            threshold: self.threshold,
            weights: self.weights,
            learner,
            rule,
            target: self.target,
            initial: self.initial,
        }
    }

    fn smooth_rule(&self, batch_size: usize) -> RuleSpec {
        let open = if batch_size == 1 {
            RuleSpec::Ascent(Ascent::default())
        } else {
            RuleSpec::Svgd(Svgd::default())
        };
        self.rule.unwrap_or(open)
    }

    fn rough_rule(&self) -> Result<RuleSpec> {
        match self.rule {
            None => Ok(RuleSpec::Candidates(Candidates::default())),
            Some(rule @ (RuleSpec::Candidates(_) | RuleSpec::Softmax(_))) => Ok(rule),
            Some(rule) => {
                let classifier = self.classifier.name();
                let allowed = format!(
                    "candidates or softmax with the classifier {classifier}, which has no gradients"
                );
                Err(Error::invalid("rule", rule.name(), allowed))
            }
        }
    }
}

fn smooth_bore<L>(spec: &BoreSpec, learner: L, batch_size: usize) -> Box<dyn Strategy>
where
    L: Learner + 'static,
    for<'c> <L::Classifier as Classifier>::Acquisition<'c>: SmoothAcquisition,
{
    match spec.smooth_rule(batch_size) {
        RuleSpec::Svgd(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::SteinNewton(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Ascent(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Candidates(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Softmax(rule) => Box::new(spec.bore(learner, rule)),
    }
}

fn rough_bore<L: Learner + 'static>(spec: &BoreSpec, learner: L) -> Result<Box<dyn Strategy>> {
    Ok(match spec.rough_rule()? {
        RuleSpec::Softmax(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Candidates(rule) => Box::new(spec.bore(learner, rule)),
        _ => unreachable!("rough_rule returns no rule that needs gradients"),
    })
}

fn smooth_plus<L>(
    spec: &BoreSpec,
    learner: L,
    confidence: Confidence,
    batch_size: usize,
) -> Box<dyn Strategy>
where
    L: Learner<Classifier: Uncertain> + 'static,
    for<'c> <L::Classifier as Uncertain>::UpperBound<'c>: SmoothAcquisition,
{
    match spec.smooth_rule(batch_size) {
        RuleSpec::Svgd(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::SteinNewton(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Ascent(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Candidates(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Softmax(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
    }
}

fn rough_plus<L>(spec: &BoreSpec, learner: L, confidence: Confidence) -> Result<Box<dyn Strategy>>
where
    L: Learner<Classifier: Uncertain> + 'static,
{
    Ok(match spec.rough_rule()? {
        RuleSpec::Softmax(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Candidates(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        _ => unreachable!("rough_rule returns no rule that needs gradients"),
    })
}

/// A name with the settings beside it: `"svgd"`, or a table with the key `name`.
struct Entry {
    name: String,
    settings: Map<String, Json>,
}

impl Entry {
    fn read(field: &str, json: Json, table: &[Name]) -> Result<Self> {
        let (name, settings) = match json {
            Json::String(name) => (name, Map::new()),
            Json::Object(mut settings) => match settings.remove("name") {
                Some(Json::String(name)) => (name, settings),
                Some(other) => return Err(Error::invalid(format!("{field} name"), other, "text")),
                None => {
                    let allowed = "present, as in { name = \"…\" }";
                    return Err(Error::invalid(format!("{field} name"), "missing", allowed));
                }
            },
            other => return Err(Error::invalid(field, other, "a name, or a table with a name")),
        };
        names::check(field, &name, table)?;
        Ok(Self { name, settings })
    }

    /// The settings as a type of their own; unknown keys are refused by it.
    fn settings<T: DeserializeOwned>(self) -> Result<T> {
        let Self { name, settings } = self;
        serde_json::from_value(Json::Object(settings)).map_err(|error| unreadable(&name, &error))
    }
}

fn unreadable(what: &str, error: &serde_json::Error) -> Error {
    Error::Corrupt { what: "method", reason: format!("{what}: {error}") }
}

fn entry<T: Serialize>(name: &str, settings: &T) -> Json {
    let mut map = Map::from_iter([("name".to_owned(), Json::String(name.to_owned()))]);
    if let Ok(Json::Object(settings)) = serde_json::to_value(settings) {
        map.extend(settings);
    }
    without_nulls(Json::Object(map))
}

/// What is not given is left out: TOML has no null.
fn without_nulls(json: Json) -> Json {
    match json {
        Json::Object(table) => {
            let given = table.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(given.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        other => other,
    }
}

/// The keys of `bore` and `bore++` as they are written.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    classifier: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    weights: Weights,
    target: Target,
    initial: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    norm_bound: Option<f64>,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            classifier: None,
            rule: None,
            fraction: None,
            threshold: None,
            weights: Weights::default(),
            target: Target::default(),
            initial: 10,
            width: None,
            level: None,
            norm_bound: None,
        }
    }
}

impl Document {
    fn threshold(&self) -> Result<Threshold> {
        match (self.fraction, self.threshold) {
            (Some(_), Some(value)) => {
                Err(Error::invalid("threshold", value, "left out where fraction is given"))
            }
            (None, Some(value)) => Ok(Threshold::Fixed { value }),
            (Some(fraction), None) => Ok(Threshold::Quantile { fraction }),
            (None, None) => Ok(Threshold::default()),
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

    fn spec(&mut self, classifier: ClassifierSpec) -> Result<BoreSpec> {
        let classifier = match self.classifier.take() {
            None => classifier,
            Some(Json::Object(mut settings)) => {
                // Settings without a name are those of the default classifier.
                settings.entry("name").or_insert_with(|| classifier.name().into());
                classifier_from(Json::Object(settings))?
            }
            Some(json) => classifier_from(json)?,
        };
        Ok(BoreSpec {
            classifier,
            rule: self.rule.take().map(rule_from).transpose()?,
            threshold: self.threshold()?,
            weights: self.weights,
            target: self.target,
            initial: self.initial,
        })
    }
}

fn classifier_from(json: Json) -> Result<ClassifierSpec> {
    let entry = Entry::read("classifier", json, &CLASSIFIERS)?;
    Ok(match entry.name.as_str() {
        "perceptron" => ClassifierSpec::Perceptron(entry.settings()?),
        "least-squares" => ClassifierSpec::LeastSquares(entry.settings()?),
        "bayesian-logistic" => ClassifierSpec::BayesianLogistic(entry.settings()?),
        "ensemble" => ClassifierSpec::Ensemble(entry.settings()?),
        "forest" => ClassifierSpec::Forest(entry.settings()?),
        "boosting" => ClassifierSpec::Boosting(entry.settings()?),
        other => unreachable!("{other} is in the table of classifiers"),
    })
}

fn rule_from(json: Json) -> Result<RuleSpec> {
    let entry = Entry::read("rule", json, &RULES)?;
    Ok(match entry.name.as_str() {
        "svgd" => RuleSpec::Svgd(entry.settings()?),
        "stein-newton" => RuleSpec::SteinNewton(entry.settings()?),
        "ascent" => RuleSpec::Ascent(entry.settings()?),
        "candidates" => RuleSpec::Candidates(entry.settings()?),
        "softmax" => RuleSpec::Softmax(entry.settings()?),
        other => unreachable!("{other} is in the table of rules"),
    })
}

impl Spec {
    /// Reads a spec from its JSON form.
    fn from_json(json: Json) -> Result<Self> {
        let entry = Entry::read("method", json, &METHODS)?;
        Ok(match entry.name.as_str() {
            "bore" => {
                let mut document: Document = entry.settings()?;
                if let Some(confidence) = document.confidence()? {
                    let value = format!("given as {confidence:?}");
                    return Err(Error::invalid(
                        "confidence",
                        value,
                        "left out with bore; bore++ has one",
                    ));
                }
                Self::Bore(document.spec(ClassifierSpec::Perceptron(Perceptron::default()))?)
            }
            "bore++" => {
                let mut document: Document = entry.settings()?;
                let confidence = document.confidence()?.unwrap_or_default();
                let spec = document.spec(ClassifierSpec::LeastSquares(LeastSquares::default()))?;
                Self::BorePlusPlus(spec, confidence)
            }
            "gp-ucb" => Self::GpUcb(entry.settings()?),
            "gp-ei" => Self::GpEi(entry.settings()?),
            "q-ei" => Self::QEi(entry.settings()?),
            "lp-ei" => Self::LpEi(entry.settings()?),
            "tpe" => Self::Tpe(entry.settings()?),
            "random" => {
                let Sobol {} = entry.settings()?;
                Self::Random
            }
            "sobol" => Self::Sobol(entry.settings()?),
            "cma-es" => Self::CmaEs(entry.settings()?),
            other => unreachable!("{other} is in the table of methods"),
        })
    }

    /// The JSON form, with every setting.
    fn to_json(&self) -> Json {
        match self {
            Self::Bore(spec) => entry(self.name(), &spec.document(None)),
            Self::BorePlusPlus(spec, confidence) => {
                entry(self.name(), &spec.document(Some(*confidence)))
            }
            Self::GpUcb(settings) => entry(self.name(), settings),
            Self::GpEi(settings) => entry(self.name(), settings),
            Self::QEi(settings) => entry(self.name(), settings),
            Self::LpEi(settings) => entry(self.name(), settings),
            Self::Tpe(settings) => entry(self.name(), settings),
            Self::Random => entry(self.name(), &()),
            Self::Sobol(settings) => entry(self.name(), settings),
            Self::CmaEs(settings) => entry(self.name(), settings),
        }
    }
}

impl BoreSpec {
    fn document(&self, confidence: Option<Confidence>) -> Document {
        let classifier = match &self.classifier {
            ClassifierSpec::Perceptron(settings) => entry("perceptron", settings),
            ClassifierSpec::LeastSquares(settings) => entry("least-squares", settings),
            ClassifierSpec::BayesianLogistic(settings) => entry("bayesian-logistic", settings),
            ClassifierSpec::Ensemble(settings) => entry("ensemble", settings),
            ClassifierSpec::Forest(settings) => entry("forest", settings),
            ClassifierSpec::Boosting(settings) => entry("boosting", settings),
        };
        let rule = self.rule.map(|rule| match &rule {
            RuleSpec::Svgd(settings) => entry("svgd", settings),
            RuleSpec::SteinNewton(settings) => entry("stein-newton", settings),
            RuleSpec::Ascent(settings) => entry("ascent", settings),
            RuleSpec::Candidates(settings) => entry("candidates", settings),
            RuleSpec::Softmax(settings) => entry("softmax", settings),
        });
        let (fraction, threshold) = match self.threshold {
            Threshold::Quantile { fraction } => (Some(fraction), None),
            Threshold::Fixed { value } => (None, Some(value)),
        };
        let (width, level, norm_bound) = match confidence {
            None => (None, None, None),
            Some(Confidence::Width(width)) => (Some(width), None, None),
            Some(Confidence::Level { failure_probability, norm_bound }) => {
                (None, Some(failure_probability), Some(norm_bound))
            }
        };
        Document {
            classifier: Some(classifier),
            rule,
            fraction,
            threshold,
            weights: self.weights,
            target: self.target,
            initial: self.initial,
            width,
            level,
            norm_bound,
        }
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let read = match json {
            Json::String(text) => text.parse(),
            table => Self::from_json(table),
        };
        read.map_err(serde::de::Error::custom)
    }
}
