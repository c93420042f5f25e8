//! The written form of a spec: a name, or a table with a name and settings, in JSON, TOML or whatever serde reads.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::names::{self, CLASSIFIERS, METHODS, Name, RULES};
use super::{BoreSpec, ClassifierSpec, RuleSpec, Spec};
use crate::classifier::least_squares::LeastSquares;
use crate::classifier::perceptron::Perceptron;
use crate::classifier::{Confidence, Target};
use crate::error::{Error, Result};
use crate::labels::{Threshold, Weights};
use crate::strategy::Sobol;

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
    pub(super) fn from_json(json: Json) -> Result<Self> {
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
            "auto" => Self::Auto(entry.settings()?),
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
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Bore(spec) => entry(self.name(), &spec.document(None)),
            Self::BorePlusPlus(spec, confidence) => {
                entry(self.name(), &spec.document(Some(*confidence)))
            }
            Self::Auto(settings) => entry(self.name(), settings),
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
