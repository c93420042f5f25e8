//! What a command found: the last result in its output.
//!
//! A result is a line with a number, or a JSON object, on one line or several, that has the field `value` or
//! `infeasible`:
//!
//! ```text
//! epoch 1: loss 0.72
//! {"value": 0.31, "seconds": 12.5}
//! ```
//!
//! The other fields of the object are kept with the trial as its attributes. If they are too large ([`LARGEST`]), a note
//! takes their place: the value is worth keeping.
//!
//! The last result counts. Other lines, and objects without these fields, are ignored. A result that cannot be read, or
//! that is not finite, makes the trial fail: an earlier line must not take its place.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::attributes::{Attributes, LARGEST};
use crate::trial::Outcome;

/// What came of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The outcome of the trial.
    pub outcome: Outcome,
    /// The other fields of the result.
    #[serde(default)]
    pub attributes: Attributes,
}

impl From<Outcome> for Finding {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, attributes: Attributes::default() }
    }
}

/// Why there is no result, in words.
pub type Missing = String;

/// Reads the output of a command, or what it wrote to its result file.
pub fn read(text: &str) -> Result<Finding, Missing> {
    let mut end = text.len();
    // From the last line to the first; an object reaches from its first line to `end` at most.
    while end > 0 {
        let start = text[..end].trim_end_matches(['\n', '\r']).rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..end].trim();
        if let Ok(value) = line.parse::<f64>() {
            return finite(value).map(Finding::from);
        }
        if line.starts_with('{') {
            match object(&text[start..]) {
                Ok(Some(finding)) => return finding,
                Ok(None) => {}
                Err(reason)
                    if text[start..].contains("\"value\"")
                        || text[start..].contains("\"infeasible\"") =>
                {
                    return Err(format!(
                        "the result is not JSON ({reason}); a value must be a finite number"
                    ));
                }
                Err(_) => {}
            }
        }
        end = start;
    }
    Err("no result: print a number on a line of its own, or a JSON object with the field `value`"
        .to_owned())
}

/// The result in the object at the beginning of a text; `None` if the object is about something else.
fn object(text: &str) -> Result<Option<Result<Finding, Missing>>, serde_json::Error> {
    let Some(mut json) =
        serde_json::Deserializer::from_str(text).into_iter::<Json>().next().transpose()?
    else {
        return Ok(None);
    };
    let infeasible = match json.get("infeasible") {
        None | Some(Json::Null) => None,
        Some(Json::Bool(infeasible)) => Some(*infeasible),
        Some(other) => {
            return Ok(Some(Err(format!("`infeasible` is {other}, but must be true or false"))));
        }
    };
    if infeasible == Some(true) {
        return Ok(Some(Ok(Finding {
            outcome: Outcome::Infeasible,
            attributes: others(&mut json),
        })));
    }
    let value = json.get("value").cloned();
    Ok(match value {
        None if infeasible.is_none() => None,
        None => Some(Err("the result has no `value`".to_owned())),
        Some(value) => Some(match value.as_f64() {
            Some(value) => {
                finite(value).map(|outcome| Finding { outcome, attributes: others(&mut json) })
            }
            None => Err(format!("`value` is {value}, but must be a finite number")),
        }),
    })
}

/// The fields of an object that are no result.
fn others(json: &mut Json) -> Attributes {
    let Some(fields) = json.as_object_mut() else { return Attributes::default() };
    let is_result = |name: &str| name == "value" || name == "infeasible";
    let attributes: Attributes =
        std::mem::take(fields).into_iter().filter(|(name, _)| !is_result(name)).collect();
    let size = attributes.size();
    if size <= LARGEST {
        return attributes;
    }
    let note = format!("{size} bytes of attributes, more than {LARGEST}, were left out");
    [("wimble:left_out".to_owned(), Json::from(note))].into_iter().collect()
}

fn finite(value: f64) -> Result<Outcome, Missing> {
    if value.is_finite() {
        // One zero is enough.
        Ok(Outcome::Value(value + 0.0))
    } else {
        Err(format!("the value is {value}, which is not finite"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn outcome(text: &str) -> Result<Outcome, Missing> {
        read(text).map(|finding| finding.outcome)
    }

    #[test]
    fn the_last_result_counts() {
        for (text, value) in [
            ("0.5", 0.5),
            ("0.5\n", 0.5),
            ("0.5\r\n\r\n", 0.5),
            ("1\n2\nepoch 3\n", 2.0),
            ("loss 0.9\n{\"value\": 0.25}\n", 0.25),
            ("{\"value\": 3}\n0.125\nbye", 0.125),
            ("{\"value\": 1}\n{\"epoch\": 9}\n", 1.0),
            ("log\n{\n  \"value\": -2e3,\n  \"parts\": [\n    {\"a\": 1}\n  ]\n}\n", -2000.0),
            ("{\"value\": 4, \"infeasible\": false} trailing", 4.0),
            ("-0", 0.0),
        ] {
            assert_eq!(outcome(text), Ok(Outcome::Value(value)), "{text:?}");
        }
        assert_eq!(outcome("{\"infeasible\": true}"), Ok(Outcome::Infeasible));
        assert_eq!(outcome("{\"value\": null, \"infeasible\": true}"), Ok(Outcome::Infeasible));
    }

    #[test]
    fn other_fields_are_attributes_and_a_note_stands_in_for_what_is_too_large() {
        let said =
            read("{\"value\": 1, \"epochs\": 12, \"curve\": [1, 0.5], \"infeasible\": false}")
                .unwrap();
        let names: Vec<&str> = said.attributes.iter().map(|(name, _)| name).collect();
        assert_eq!((said.outcome, names), (Outcome::Value(1.0), vec!["curve", "epochs"]));
        assert!(read("0.5").unwrap().attributes.is_empty());
        let long = format!("{{\"value\": 2, \"log\": \"{}\"}}", "x".repeat(LARGEST));
        let said = read(&long).unwrap();
        assert_eq!(said.outcome, Outcome::Value(2.0));
        let note = said.attributes.get("wimble:left_out").unwrap().to_string();
        assert!(note.contains("16394 bytes"), "{note}");
    }

    #[test]
    fn nothing_stands_in_for_a_result_that_cannot_be_read() {
        for text in [
            "",
            "\n\n",
            "done",
            "0.5\nnan\n",
            "0.5\n-inf",
            "0.5\n{\"value\": NaN}\n",
            "0.5\n{\n  \"loss\": 1,\n  \"value\": Infinity\n}\n",
            "0.5\n{\"value\": \"0.3\"}",
            "0.5\n{\"value\": 1e999}",
            "0.5\n{\"infeasible\": \"no\"}",
            "0.5\n{\"infeasible\": false}",
            "{\"epoch\": 1}",
        ] {
            assert!(outcome(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic_and_every_value_is_finite(text in "[-{}\\[\\]\":,0-9a-zA-Z.\n\r é\\\\]{0,80}") {
            if let Ok(Outcome::Value(value)) = outcome(&text) {
                prop_assert!(value.is_finite());
            }
        }

        #[test]
        fn what_is_written_is_read(value in -1e300..1e300_f64, noise in "[a-z {}\n]{0,40}") {
            prop_assert_eq!(outcome(&format!("{noise}\n{value:?}\n")), Ok(Outcome::Value(value + 0.0)));
            let object = serde_json::json!({ "note": noise, "value": value });
            prop_assert_eq!(outcome(&format!("{noise}\n{object:#}\n")), Ok(Outcome::Value(value + 0.0)));
        }
    }
}
