//! The written form of a space, in JSON, TOML or any other format of serde.
//!
//! ```json
//! { "dimensions": [
//!     {"name": "rate", "type": "real", "low": 1e-5, "high": 1, "scale": "log"},
//!     {"name": "optimiser", "type": "categorical", "choices": ["adam", "sgd"]},
//!     {"name": "momentum", "type": "real", "low": 0, "high": 1,
//!      "when": {"parent": "optimiser", "values": ["sgd"]}} ] }
//! ```
//!
//! `prior`, such as `{"at": 0.01, "spread": 0.1}`, says where the best value is expected.
//! `scale` is linear, `step` 1 for integers and `repeats` false unless written; `candidates`, a list of configurations,
//! makes a finite space; `known` is a list of constraints. Unknown fields, and fields of another type, are refused. What is read becomes a
//! checked type at once: no other module sees these.

use serde::{Deserialize, Serialize};

use super::SearchSpace;
use super::condition::Condition;
use super::configuration::Configuration;
use super::dimension::Dimension;
use super::kind::{Kind, Scale};
use super::prior::Prior;
use super::value::{Value, list};
use crate::error::{Error, Result};

/// A search space as written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpaceDocument {
    #[serde(default)]
    repeats: bool,
    dimensions: Vec<Dimension>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidates: Option<Vec<Configuration>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known: Vec<String>,
}

impl TryFrom<SpaceDocument> for SearchSpace {
    type Error = Error;

    fn try_from(document: SpaceDocument) -> Result<Self> {
        let SpaceDocument { repeats, dimensions, candidates, known } = document;
        let space = match candidates {
            Some(candidates) => Self::finite(dimensions, candidates),
            None => Self::new(dimensions),
        };
        space?.known(known).map(|space| space.allow_repeats(repeats))
    }
}

impl From<SearchSpace> for SpaceDocument {
    fn from(space: SearchSpace) -> Self {
        let known = space.known_constraints().to_vec();
        Self {
            known,
            repeats: space.repeats,
            dimensions: space.dimensions,
            candidates: space.candidates.map(|candidates| candidates.configurations),
        }
    }
}

/// A dimension as written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DimensionDocument {
    name: String,
    #[serde(rename = "type")]
    kind: KindName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    low: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choices: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prior: Option<Prior>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<Condition>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    Real,
    Integer,
    Boolean,
    Categorical,
    Ordinal,
    Shares,
}

impl KindName {
    /// The fields that belong to it, besides `name`, `type`, `prior` and `when`.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Real => &["low", "high", "scale", "step"],
            Self::Integer => &["low", "high", "scale", "step"],
            Self::Boolean => &[],
            Self::Categorical => &["choices"],
            Self::Ordinal => &["levels"],
            Self::Shares => &["of"],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Categorical => "categorical",
            Self::Ordinal => "ordinal",
            Self::Shares => "shares",
        }
    }
}

impl DimensionDocument {
    fn blank(name: String, kind: KindName, when: Option<Condition>) -> Self {
        Self {
            name,
            kind,
            low: None,
            high: None,
            scale: None,
            step: None,
            choices: None,
            levels: None,
            of: None,
            prior: None,
            when,
        }
    }

    /// Refuses a field that belongs to another type of dimension.
    fn check_fields(&self) -> Result<()> {
        let scale = self.scale.map(|scale| match scale {
            Scale::Linear => "linear".to_owned(),
            Scale::Log => "log".to_owned(),
        });
        let written = [
            ("low", self.low.as_ref().map(Value::quoted)),
            ("high", self.high.as_ref().map(Value::quoted)),
            ("scale", scale),
            ("step", self.step.as_ref().map(Value::quoted)),
            ("choices", self.choices.as_deref().map(list)),
            ("levels", self.levels.as_deref().map(list)),
            ("of", self.of.as_ref().map(|of| format!("{of:?}"))),
        ];
        let fields = self.kind.fields();
        for (field, value) in written {
            if let Some(value) = value
                && !fields.contains(&field)
            {
                let kind = self.kind.word();
                let allowed = match fields {
                    [] => format!("absent: the type `{kind}` has no fields of its own"),
                    _ => format!("absent: the type `{kind}` has {}", fields.join(", ")),
                };
                return Err(Error::invalid(format!("{}.{field}", self.name), value, allowed));
            }
        }
        Ok(())
    }

    /// A field that must be there and that `read` must understand.
    fn required<'v, V, T>(
        &self,
        field: &str,
        value: Option<&'v V>,
        allowed: &str,
        show: impl Fn(&V) -> String,
        read: impl Fn(&'v V) -> Option<T>,
    ) -> Result<T> {
        value.and_then(read).ok_or_else(|| {
            let value = value.map_or_else(|| "missing".to_owned(), show);
            Error::invalid(format!("{}.{field}", self.name), value, allowed)
        })
    }

    fn real(&self, field: &str, value: Option<&Value>) -> Result<f64> {
        self.required(field, value, "a number", Value::quoted, Value::as_real)
    }

    fn integer(&self, field: &str, value: Option<&Value>) -> Result<i64> {
        self.required(field, value, "an integer", Value::quoted, Value::as_integer)
    }

    fn values(&self, field: &str, values: Option<&Vec<Value>>) -> Result<Vec<Value>> {
        let allowed = "a list of at least two different values";
        self.required(field, values, allowed, |values| list(values), |values| Some(values.clone()))
    }
}

impl TryFrom<DimensionDocument> for Dimension {
    type Error = Error;

    fn try_from(document: DimensionDocument) -> Result<Self> {
        document.check_fields()?;
        let scale = document.scale.unwrap_or_default();
        let kind = match document.kind {
            KindName::Real => Kind::Real {
                low: document.real("low", document.low.as_ref())?,
                high: document.real("high", document.high.as_ref())?,
                scale,
            },
            KindName::Integer => Kind::Integer {
                low: document.integer("low", document.low.as_ref())?,
                high: document.integer("high", document.high.as_ref())?,
                scale,
                step: match &document.step {
                    None => 1,
                    step => document.integer("step", step.as_ref())?,
                },
            },
            KindName::Boolean => Kind::Boolean,
            KindName::Categorical => Kind::Categorical {
                choices: document.values("choices", document.choices.as_ref())?,
            },
            KindName::Ordinal => {
                Kind::Ordinal { levels: document.values("levels", document.levels.as_ref())? }
            }
            KindName::Shares => Kind::Shares {
                of: document.required(
                    "of",
                    document.of.as_ref(),
                    "a list of names, two at least",
                    |of| format!("{of:?}"),
                    |of| Some(of.clone()),
                )?,
            },
        };
        let is_real = matches!(kind, Kind::Real { .. });
        let mut dimension = Self::new(document.name, kind);
        dimension.condition = document.when;
        dimension.prior = document.prior;
        if let Some(step) = document.step.filter(|_| is_real) {
            dimension.kind.check(&dimension.name)?;
            dimension = dimension.step(step);
            dimension.check()?;
        }
        Ok(dimension)
    }
}

impl From<Dimension> for DimensionDocument {
    fn from(dimension: Dimension) -> Self {
        let Dimension { name, kind, condition, prior, .. } = dimension;
        let written = |scale: Scale| (scale != Scale::default()).then_some(scale);
        let document = match kind {
            Kind::Real { low, high, scale } => Self {
                low: Some(low.into()),
                high: Some(high.into()),
                scale: written(scale),
                ..Self::blank(name, KindName::Real, condition)
            },
            Kind::Integer { low, high, scale, step } => Self {
                low: Some(low.into()),
                high: Some(high.into()),
                scale: written(scale),
                step: (step != 1).then(|| step.into()),
                ..Self::blank(name, KindName::Integer, condition)
            },
            Kind::Boolean => Self::blank(name, KindName::Boolean, condition),
            Kind::Categorical { choices } => Self {
                choices: Some(choices),
                ..Self::blank(name, KindName::Categorical, condition)
            },
            Kind::Ordinal { levels } => {
                Self { levels: Some(levels), ..Self::blank(name, KindName::Ordinal, condition) }
            }
            Kind::Shares { of } => {
                Self { of: Some(of), ..Self::blank(name, KindName::Shares, condition) }
            }
        };
        Self { prior, ..document }
    }
}
