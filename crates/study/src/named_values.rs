//! Values by the names of a goal, as result lines, tells and rows write them:
//! `{"error": 0.31, "latency": {"value": 12, "deviation": 0.5}}`.

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use wimble::goal::Goal;
use wimble::outcome::{Measured, Measurement};

/// Values by name, in the order of the goal where they come from one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamedValues(Vec<(String, Measured)>);

impl NamedValues {
    /// The objectives of a measurement.
    pub fn objectives(goal: &Goal, measurement: &Measurement) -> Self {
        let names = goal.objectives().iter().map(|objective| objective.name.clone());
        Self(names.zip(measurement.objectives.iter().copied()).collect())
    }

    /// The quantities of a measurement that have limits and are not among the objectives, each once.
    pub fn constraints(goal: &Goal, measurement: &Measurement) -> Self {
        let value = |name: &str| {
            let mut all = goal.constraints().iter().zip(&measurement.constraints);
            all.find(|(constraint, _)| constraint.name == name).map(|(_, measured)| *measured)
        };
        let names = goal.other_quantities().into_iter();
        Self(names.filter_map(|name| Some((name.to_owned(), value(name)?))).collect())
    }

    /// Reads the field of an object. The error is a sentence that names the entry that is wrong.
    pub fn read(field: &str, json: Option<Json>) -> Result<Self, String> {
        let entries = match json {
            None => return Ok(Self::default()),
            Some(Json::Object(entries)) => entries,
            Some(other) => {
                return Err(format!(
                    "`{field}` is {other}, but must be an object of named numbers"
                ));
            }
        };
        let read = |(name, json): (String, Json)| {
            let mut measured = match &json {
                Json::Object(_) => serde_json::from_value(json.clone())
                    .map_err(|error| format!("`{name}` in `{field}`: {error}"))?,
                _ => Measured::from(number(&name, &json)?),
            };
            measured.value += 0.0;
            Ok((name, measured))
        };
        entries.into_iter().map(read).collect()
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Measured> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, measured)| measured)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Measured)> {
        self.0.iter().map(|(name, measured)| (name.as_str(), measured))
    }

    /// By name, for [`Goal::measurement`].
    pub fn into_map(self) -> BTreeMap<String, Measured> {
        self.0.into_iter().collect()
    }
}

/// A number of an object.
pub(crate) fn number(name: &str, json: &Json) -> Result<f64, String> {
    json.as_f64().ok_or_else(|| format!("`{name}` is {json}, but must be a finite number"))
}

impl FromIterator<(String, Measured)> for NamedValues {
    fn from_iter<I: IntoIterator<Item = (String, Measured)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Serialize for NamedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, measured) in &self.0 {
            match measured.deviation {
                None => map.serialize_entry(name, &measured.value)?,
                Some(_) => map.serialize_entry(name, measured)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for NamedValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Self::read("values", Some(json)).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::goal::{Bound, Objective};

    #[test]
    fn a_quantity_that_is_an_objective_or_has_two_limits_is_written_once() {
        let goal = Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
            .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
            .and_then(|goal| goal.limit("speed", Bound::AtLeast(1.0)))
            .and_then(|goal| goal.limit("memory", Bound::AtLeast(2.0)))
            .unwrap();
        let told = Measurement {
            objectives: vec![0.5.into(), Measured { value: 12.0, deviation: Some(1.0) }],
            constraints: vec![
                3.0.into(),
                Measured { value: 12.0, deviation: Some(1.0) },
                3.0.into(),
            ],
            fidelity: None,
        };
        let objectives = NamedValues::objectives(&goal, &told);
        let constraints = NamedValues::constraints(&goal, &told);
        let texts = [&objectives, &constraints].map(|v| serde_json::to_string(v).unwrap());
        assert_eq!(texts[0], r#"{"error":0.5,"speed":{"value":12.0,"deviation":1.0}}"#);
        assert_eq!(texts[1], r#"{"memory":3.0}"#);
        let again: NamedValues = serde_json::from_str(&texts[0]).unwrap();
        assert_eq!(again, objectives);
        let back = goal.measurement(objectives.into_map(), constraints.into_map()).unwrap();
        assert_eq!(back, told);
        let error = serde_json::from_str::<NamedValues>(r#"{"a": "low"}"#).unwrap_err();
        assert!(error.to_string().contains("`a` is \"low\", but must be a finite number"));
    }
}
