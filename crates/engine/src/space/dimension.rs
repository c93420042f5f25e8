//! A dimension: a name, the values it takes, and when it exists.

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::document::DimensionDocument;
use super::kind::{Kind, Scale};
use super::prior::Prior;
use super::steps::stepped;
use super::value::Value;
use crate::error::{Error, Result};

/// One thing to choose. Nothing is checked until a [`SearchSpace`](super::SearchSpace) is made of it.
///
/// ```
/// use wimble::space::Dimension;
/// Dimension::log_real("learning rate", 1e-5, 1.0);
/// Dimension::integer("batch size", 16, 256).step(16);
/// Dimension::categorical("optimiser", ["adam", "sgd"]);
/// Dimension::real("momentum", 0.0, 1.0).when("optimiser", ["sgd"]);
/// Dimension::shares("mix", ["flour", "water", "salt"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "DimensionDocument", into = "DimensionDocument")]
pub struct Dimension {
    /// Unique among the dimensions of a space, and not empty.
    pub name: String,
    /// The values.
    pub kind: Kind,
    /// When it is active; always, if there is none.
    pub condition: Option<Condition>,
    /// Where the best value is expected, if anywhere.
    pub prior: Option<Prior>,
    /// A step that was refused, and what is accepted: remembered until the dimension is checked.
    stray_step: Option<(Value, String)>,
}

impl Dimension {
    /// A dimension of any kind, always active.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, condition: None, prior: None, stray_step: None }
    }

    /// Real numbers from `low` to `high`.
    pub fn real(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self::new(name, Kind::Real { low, high, scale: Scale::Linear })
    }

    /// Positive real numbers from `low` to `high`, of which ratios matter.
    pub fn log_real(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self::new(name, Kind::Real { low, high, scale: Scale::Log })
    }

    /// Integers from `low` to `high`.
    pub fn integer(name: impl Into<String>, low: i64, high: i64) -> Self {
        Self::new(name, Kind::Integer { low, high, scale: Scale::Linear, step: 1 })
    }

    /// Positive integers from `low` to `high`, of which ratios matter.
    pub fn log_integer(name: impl Into<String>, low: i64, high: i64) -> Self {
        Self::new(name, Kind::Integer { low, high, scale: Scale::Log, step: 1 })
    }

    /// True or false.
    pub fn boolean(name: impl Into<String>) -> Self {
        Self::new(name, Kind::Boolean)
    }

    /// Choices without order.
    pub fn categorical<V: Into<Value>>(
        name: impl Into<String>,
        choices: impl IntoIterator<Item = V>,
    ) -> Self {
        let choices = choices.into_iter().map(Into::into).collect();
        Self::new(name, Kind::Categorical { choices })
    }

    /// Levels in order.
    pub fn ordinal<V: Into<Value>>(
        name: impl Into<String>,
        levels: impl IntoIterator<Item = V>,
    ) -> Self {
        let levels = levels.into_iter().map(Into::into).collect();
        Self::new(name, Kind::Ordinal { levels })
    }

    /// Parts of a whole, which sum to one; each is a parameter of its own.
    pub fn shares<N: Into<String>>(
        name: impl Into<String>,
        of: impl IntoIterator<Item = N>,
    ) -> Self {
        let of = of.into_iter().map(Into::into).collect();
        Self::new(name, Kind::Shares { of })
    }

    /// Only every `step`-th number from `low`, on a linear scale. A real number with a step is an ordinal dimension: its
    /// levels are `low`, `low + step`, and so on.
    ///
    /// ```
    /// use wimble::space::Dimension;
    /// assert_eq!(Dimension::real("x", 0.0, 1.0).step(0.5), Dimension::ordinal("x", [0.0, 0.5, 1.0]));
    /// ```
    #[must_use]
    pub fn step(mut self, by: impl Into<Value>) -> Self {
        let by = by.into();
        let read = match (&self.kind, by.as_integer(), by.as_real()) {
            (Kind::Integer { low, high, scale, .. }, Some(step), _) => {
                Ok(Kind::Integer { low: *low, high: *high, scale: *scale, step })
            }
            (Kind::Integer { .. }, None, _) => Err("an integer".to_owned()),
            (Kind::Real { low, high, scale }, _, Some(step)) => stepped(*low, *high, *scale, step),
            (Kind::Real { .. }, _, None) => Err("a number".to_owned()),
            _ => Err("absent: only numbers have a step".to_owned()),
        };
        match read {
            Ok(kind) => self.kind = kind,
            Err(allowed) => self.stray_step = Some((by, allowed)),
        }
        self
    }

    /// Where its best value is expected. The first trials are drawn from there, and `auto` heeds it until evidence outweighs it.
    ///
    /// ```
    /// use wimble::space::{Dimension, Prior};
    /// Dimension::log_real("learning rate", 1e-5, 1.0).prior(Prior::at(1e-3));
    /// ```
    #[must_use]
    pub fn prior(mut self, prior: Prior) -> Self {
        self.prior = Some(prior);
        self
    }

    /// Active only where `parent`, a discrete dimension declared before, has one of `values`.
    #[must_use]
    pub fn when<V: Into<Value>>(
        mut self,
        parent: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.condition = Some(Condition { parent: parent.into(), values });
        self
    }

    /// The names of its parameters: its own, or those of its shares.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> + Clone {
        let names = match &self.kind {
            Kind::Shares { of } => &of[..],
            _ => std::slice::from_ref(&self.name),
        };
        names.iter().map(String::as_str)
    }

    /// Refuses what no dimension can be, whatever the others are.
    pub(super) fn check(&self) -> Result<()> {
        if let Some((step, allowed)) = &self.stray_step {
            return Err(Error::invalid(format!("{}.step", self.name), step.quoted(), allowed));
        }
        self.kind.check(&self.name)
    }
}
