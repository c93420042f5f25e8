//! What is kept with a trial beside its value: of the result `{"value": 0.31, "accuracy": 0.97}`, the accuracy.
//!
//! Attributes are kept with the outcome, shown and exchanged. No method reads them. They have a name and any JSON value,
//! and together [`LARGEST`] bytes at most: a storage is no place for curves and images.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};

/// The most that the attributes of a trial may have, in bytes of JSON.
pub const LARGEST: usize = 16 << 10;

/// Named JSON values, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attributes(Map<String, Json>);

impl Attributes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Their size as JSON, in bytes.
    pub fn size(&self) -> usize {
        self.to_json().map_or(0, |text| text.len())
    }

    /// As JSON; `None` if there are none.
    pub(crate) fn to_json(&self) -> Option<String> {
        (!self.is_empty()).then(|| Json::Object(self.0.clone()).to_string())
    }

    /// From what [`Self::to_json`] gave.
    pub(crate) fn from_json(text: Option<&str>) -> Result<Self, serde_json::Error> {
        text.map_or_else(|| Ok(Self::default()), serde_json::from_str)
    }

    /// Takes out the largest until the rest can be kept; gives their names and sizes.
    pub fn cut_to_size(&mut self) -> Vec<(String, usize)> {
        let mut taken = Vec::new();
        while self.size() > LARGEST {
            let size = |value: &Json| value.to_string().len();
            let sizes = self.0.iter().map(|(name, value)| (name.len() + size(value), name.clone()));
            let Some((size, name)) = sizes.max() else { break };
            self.0.remove(&name);
            taken.push((name, size));
        }
        taken
    }

    /// Refuses attributes that no store keeps.
    pub(crate) fn check(&self, study: &str) -> Result<()> {
        let size = self.size();
        if size <= LARGEST {
            return Ok(());
        }
        Err(Error::Invalid {
            study: study.to_owned(),
            field: "the size of a trial's attributes",
            value: format!("{size} bytes of JSON"),
            allowed: format!("{LARGEST} at most; write large things to a file and tell its name"),
        })
    }
}

impl FromIterator<(String, Json)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_is_too_large_is_refused_with_its_size() {
        let of = |length| -> Attributes {
            [("a".to_owned(), json!("x".repeat(length)))].into_iter().collect()
        };
        let frame = of(0).size();
        assert_eq!(frame, r#"{"a":""}"#.len());
        of(LARGEST - frame).check("s").unwrap();
        let refused = of(LARGEST - frame + 1).check("s").unwrap_err().to_string();
        assert!(
            refused.contains("16385 bytes of JSON") && refused.contains("16384 at most"),
            "{refused}"
        );
    }

    proptest! {
        #[test]
        fn attributes_come_back_from_their_text(name in ".{0,20}", number in any::<f64>(), text in ".{0,40}", whole in any::<u64>()) {
            prop_assume!(number.is_finite());
            let attributes: Attributes =
                [(name, json!({ "n": number, "t": text, "w": [whole, null, true] }))].into_iter().collect();
            let again = Attributes::from_json(attributes.to_json().as_deref()).unwrap();
            prop_assert_eq!(again, attributes);
        }
    }
}
