//! The outcome of a trial: a measurement, a failure, or a configuration that cannot be evaluated.
//!
//! A number alone is the measurement of a goal with one objective: `Outcome::from(0.31)`.
//!
//! # Design
//! Sessions and stored studies use the same type. Only stores keep the texts of failures; a session remembers no more
//! than that a trial failed, so that a million failures cost a million bytes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A measured value, with the standard deviation of its noise where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// The standard deviation of the noise in `value`, in its unit; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
}

impl Measured {
    /// Refuses a value that is not finite, and a deviation that is negative or not finite. The reason continues a
    /// sentence about the value: "is NaN, but must be a finite number".
    pub fn check(&self) -> Result<(), String> {
        if !self.value.is_finite() {
            return Err(format!("is {}, but must be a finite number", self.value));
        }
        match self.deviation {
            Some(deviation) if !(deviation >= 0.0 && deviation.is_finite()) => {
                Err(format!("has the deviation {deviation}, which must be finite and not negative"))
            }
            _ => Ok(()),
        }
    }
}

impl From<f64> for Measured {
    fn from(value: f64) -> Self {
        Self { value, deviation: None }
    }
}

/// The values of one evaluation, in the order of the goal's objectives and constraints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// A value for each objective.
    pub objectives: Vec<Measured>,
    /// A value for each constraint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Measured>,
    /// How much of the evaluation was carried out; `None` for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<f64>,
}

impl Measurement {
    /// The value of the first objective.
    pub fn value(&self) -> Option<f64> {
        self.objectives.first().map(|measured| measured.value)
    }

    /// The value, if the measurement is one number and nothing else.
    pub fn as_number(&self) -> Option<f64> {
        match &self.objectives[..] {
            [Measured { value, deviation: None }]
                if self.constraints.is_empty() && self.fidelity.is_none() =>
            {
                Some(*value)
            }
            _ => None,
        }
    }
}

impl From<f64> for Measurement {
    fn from(value: f64) -> Self {
        Measured::from(value).into()
    }
}

impl From<Measured> for Measurement {
    fn from(measured: Measured) -> Self {
        Self { objectives: vec![measured], constraints: Vec::new(), fidelity: None }
    }
}

/// How a trial failed. A text alone is a reason: `Failure::from("it diverged")`.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Why, in one line; empty if unknown.
    #[serde(default)]
    pub reason: String,
    /// The end of what the trial printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl<T: Into<String>> From<T> for Failure {
    fn from(reason: T) -> Self {
        Self { reason: reason.into(), output: String::new() }
    }
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The evaluation gave a measurement.
    Measured(Measurement),
    /// The evaluation failed and gave no value. Another attempt might give one. A text alone is a reason:
    /// `Outcome::Failed("it diverged".into())`; [`Outcome::failed`] gives none.
    Failed(Failure),
    /// The configuration cannot be evaluated, and another attempt would not change that.
    Infeasible,
}

impl Outcome {
    /// A failure without a reason.
    pub fn failed() -> Self {
        Self::Failed(Failure::default())
    }

    /// The value of the first objective, if there is one.
    pub fn value(&self) -> Option<f64> {
        self.measurement().and_then(Measurement::value)
    }

    /// The measurement, if there is one.
    pub fn measurement(&self) -> Option<&Measurement> {
        match self {
            Self::Measured(measurement) => Some(measurement),
            Self::Failed(_) | Self::Infeasible => None,
        }
    }
}

impl From<f64> for Outcome {
    fn from(value: f64) -> Self {
        Self::Measured(value.into())
    }
}

impl From<Measured> for Outcome {
    fn from(measured: Measured) -> Self {
        Self::Measured(measured.into())
    }
}

impl From<Measurement> for Outcome {
    fn from(measurement: Measurement) -> Self {
        Self::Measured(measurement)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.deviation {
            Some(deviation) => write!(f, "{} ± {deviation}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, measured) in self.objectives.iter().chain(&self.constraints).enumerate() {
            let before = match place {
                0 => "",
                place if place == self.objectives.len() => "; ",
                _ => ", ",
            };
            write!(f, "{before}{measured}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured(measurement) => write!(f, "{measurement}"),
            Self::Failed(failure) if failure.reason.is_empty() => f.write_str("failed"),
            Self::Failed(failure) => write!(f, "failed ({})", failure.reason),
            Self::Infeasible => f.write_str("infeasible"),
        }
    }
}

/// The stored form: a word, or an object with one field. One number, and a failure without a reason, look as in the
/// first version of the format.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Word(Word),
    Field(Field),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Failed,
    Infeasible,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Field {
    Value(f64),
    Measured(Measurement),
    Failed(Failure),
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = match self {
            Self::Measured(measurement) => Stored::Field(match measurement.as_number() {
                Some(value) => Field::Value(value),
                None => Field::Measured(measurement.clone()),
            }),
            Self::Failed(failure) if *failure == Failure::default() => Stored::Word(Word::Failed),
            Self::Failed(failure) => Stored::Field(Field::Failed(failure.clone())),
            Self::Infeasible => Stored::Word(Word::Infeasible),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Field(Field::Value(value)) => value.into(),
            Stored::Field(Field::Measured(measurement)) => measurement.into(),
            Stored::Field(Field::Failed(failure)) => failure.into(),
            Stored::Word(Word::Failed) => Self::failed(),
            Stored::Word(Word::Infeasible) => Self::Infeasible,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_stored_form_is_short_where_it_can_be_and_that_of_the_first_version_is_read() {
        let deviating = Outcome::from(Measured { value: 0.5, deviation: Some(0.1) });
        let both = Outcome::Measured(Measurement {
            objectives: vec![1.0.into(), 2.0.into()],
            constraints: vec![3.0.into()],
            fidelity: Some(9.0),
        });
        for (outcome, text, shown) in [
            (Outcome::from(3.0), r#"{"value":3.0}"#, "3"),
            (Outcome::failed(), r#""failed""#, "failed"),
            (Outcome::Infeasible, r#""infeasible""#, "infeasible"),
            (
                Outcome::Failed("it diverged".into()),
                r#"{"failed":{"reason":"it diverged"}}"#,
                "failed (it diverged)",
            ),
            (
                deviating,
                r#"{"measured":{"objectives":[{"value":0.5,"deviation":0.1}]}}"#,
                "0.5 ± 0.1",
            ),
            (
                both,
                r#"{"measured":{"objectives":[{"value":1.0},{"value":2.0}],"constraints":[{"value":3.0}],"fidelity":9.0}}"#,
                "1, 2; 3",
            ),
        ] {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
            assert_eq!(serde_json::from_str::<Outcome>(text).unwrap(), outcome);
            assert_eq!(outcome.to_string(), shown);
        }
        assert!(serde_json::from_str::<Outcome>(r#"{"value":"low"}"#).is_err());
        assert!(serde_json::from_str::<Outcome>(r#""lost""#).is_err());
    }

    proptest! {
        #[test]
        fn a_number_comes_back_with_all_its_bits(value in any::<f64>()) {
            prop_assume!(value.is_finite());
            let text = serde_json::to_string(&Outcome::from(value)).unwrap();
            let again: Outcome = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(again.value().map(f64::to_bits), Some(value.to_bits()));
        }
    }
}
