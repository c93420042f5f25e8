//! The result of a command: the last one in its output.
//!
//! A result is a line that is only a number, or a JSON object, on one line or several:
//!
//! ```text
//! epoch 1: loss 0.72
//! 0.31
//! {"value": 0.31}
//! {"value": 0.31, "deviation": 0.02}
//! {"objectives": {"error": 0.31}, "constraints": {"memory": 3.1}}
//! {"infeasible": true}
//! ```
//!
//! `deviation` is the standard deviation of the noise in the value. An entry of `objectives` or `constraints` is a
//! number, or an object with `value` and `deviation`; an entry that is unknown, missing or not finite makes the trial
//! fail, with a sentence that names it.
//!
//! The other fields of the object are kept with the trial as its attributes. If they are larger than [`LARGEST`], a
//! note takes their place and the value is kept.
//!
//! Under a goal with a fidelity, an object with the field `step` is a step and no result (see
//! [`live_steps`](super::live_steps)).
//!
//! The last result counts. Other lines, and objects without these fields, are ignored. A result that cannot be read, or
//! that is not finite, makes the trial fail: an earlier line must not take its place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use wimble::goal::Goal;

use wimble::outcome::{Measured, Measurement, Outcome};

use crate::attributes::{Attributes, LARGEST};
use crate::named_values::{NamedValues, number};

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

/// The fields of a result; an object with one of the first three is one.
const FIELDS: [&str; 5] = ["value", "infeasible", "objectives", "constraints", "deviation"];
const DECIDING: usize = 3;

/// The field that makes an object a step.
const STEP: &str = "step";

/// Reads the output of a command, or what it wrote to its result file, as a result under a goal.
pub fn read(text: &str, goal: &Goal) -> Result<Finding, Missing> {
    last(text, goal).unwrap_or_else(|| {
        Err(match goal.objectives().len() == 1 && goal.constraints().is_empty() {
            true => {
                "no result: print a number on a line of its own, or a JSON object with the field `value`"
                    .to_owned()
            }
            false => format!("no result: print a JSON object with the field `{}`", wanted(goal)),
        })
    })
}

/// The last result in a text, if there is one.
pub fn last(text: &str, goal: &Goal) -> Option<Result<Finding, Missing>> {
    let mut end = text.len();
    // Where the last of the words stands that make an object a result; looked for once, for a text may have many lines.
    let last_word =
        FIELDS[..DECIDING].iter().filter_map(|field| text.rfind(&format!("\"{field}\""))).max();
    // From the last line to the first; an object reaches from its first line to `end` at most.
    while end > 0 {
        let start = text[..end].trim_end_matches(['\n', '\r']).rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..end].trim();
        if let Ok(value) = line.parse::<f64>() {
            return Some(single(value.into(), goal).map(Finding::from));
        }
        if line.starts_with('{') {
            match first_object(&text[start..]) {
                Ok(fields) if goal.partial().is_some() && fields.contains_key(STEP) => {}
                Ok(fields)
                    if FIELDS[..DECIDING].iter().any(|field| fields.contains_key(*field)) =>
                {
                    return Some(of_fields(fields, goal));
                }
                Ok(_) => {}
                // A step that cannot be read is no result.
                Err(_) if goal.partial().is_some() && line.contains("\"step\"") => {}
                Err(reason) if last_word.is_some_and(|at| at >= start) => {
                    return Some(Err(not_json(&reason)));
                }
                Err(_) => {}
            }
        }
        end = start;
    }
    None
}

fn not_json(reason: &serde_json::Error) -> Missing {
    format!("the result is not JSON ({reason}); a value must be a finite number")
}

/// Reads a JSON object as a step under a goal with a fidelity; `None` if it has no field `step`. Its other fields are not
/// kept.
pub fn step(text: &str, goal: &Goal) -> Option<Result<Measurement, Missing>> {
    let mut fields = match first_object(text) {
        Ok(fields) => fields,
        Err(reason) => return Some(Err(not_json(&reason))),
    };
    let at = fields.remove(STEP)?;
    let measured = || match of_fields(fields, goal)?.outcome {
        Outcome::Measured(measurement) => {
            Ok(Measurement { fidelity: Some(number(STEP, &at)?), ..measurement })
        }
        Outcome::Failed(_) | Outcome::Infeasible => Err("a step needs a value".to_owned()),
    };
    Some(measured())
}

/// The field that a result under this goal must have.
fn wanted(goal: &Goal) -> &'static str {
    if goal.objectives().len() == 1 { "value" } else { "objectives" }
}

/// The object that a command prints under this goal, with three dots for its numbers.
pub fn example(goal: &Goal) -> String {
    let listed = |names: &[&str]| {
        let entries: Vec<String> = names.iter().map(|name| format!("{name:?}: …")).collect();
        format!("{{{}}}", entries.join(", "))
    };
    let objectives: Vec<&str> = goal.objectives().iter().map(|o| o.name.as_str()).collect();
    let constraints = goal.other_quantities();
    let first = match &objectives[..] {
        [_] => "\"value\": …".to_owned(),
        _ => format!("\"objectives\": {}", listed(&objectives)),
    };
    match constraints.is_empty() {
        true => format!("{{{first}}}"),
        false => format!("{{{first}, \"constraints\": {}}}", listed(&constraints)),
    }
}

/// The object at the beginning of a text.
fn first_object(text: &str) -> Result<Map<String, Json>, serde_json::Error> {
    let mut objects = serde_json::Deserializer::from_str(text).into_iter();
    Ok(objects.next().transpose()?.unwrap_or_default())
}

/// The result in the fields of an object; the others are attributes.
pub fn of_fields(mut fields: Map<String, Json>, goal: &Goal) -> Result<Finding, Missing> {
    let mut take = |name: &str| fields.remove(name).filter(|json| !json.is_null());
    let [value, infeasible, mut objectives, mut constraints, deviation] = FIELDS.map(&mut take);
    // A study of one value has no other objectives and constraints: beside its value these words mean nothing to it.
    if value.is_some() && goal.whole().as_direction().is_some() {
        let others = [("objectives", objectives.take()), ("constraints", constraints.take())];
        for (name, json) in others {
            fields.extend(json.map(|json| (name.to_owned(), json)));
        }
    }
    let attributes = kept(fields);
    let infeasible = match infeasible {
        None => false,
        Some(Json::Bool(infeasible)) => infeasible,
        Some(other) => return Err(format!("`infeasible` is {other}, but must be true or false")),
    };
    if infeasible {
        return Ok(Finding { outcome: Outcome::Infeasible, attributes });
    }
    let outcome = match (value, objectives) {
        (Some(_), Some(_)) => {
            return Err("the result has both `value` and `objectives`; give one".to_owned());
        }
        (None, None) => return Err(format!("the result has no `{}`", wanted(goal))),
        (Some(value), None) if constraints.is_none() => {
            let deviation = deviation.map(|json| number("deviation", &json)).transpose()?;
            single(Measured { value: number("value", &value)?, deviation }, goal)?
        }
        (value, objectives) => {
            let objectives = match (value, goal.objectives()) {
                (None, _) => objectives,
                (Some(value), [objective]) => {
                    Some(Map::from_iter([(objective.name.clone(), value)]).into())
                }
                (Some(_), _) => return Err(several(goal)),
            };
            several_of(goal, objectives, constraints, deviation)?
        }
    };
    Ok(Finding { outcome, attributes })
}

/// A result by the names of its objectives and constraints. A deviation beside them is that of the only objective.
fn several_of(
    goal: &Goal,
    objectives: Option<Json>,
    constraints: Option<Json>,
    deviation: Option<Json>,
) -> Result<Outcome, Missing> {
    let mut objectives = NamedValues::read("objectives", objectives)?.into_map();
    match (deviation, objectives.values_mut().next()) {
        (Some(json), Some(only)) if goal.objectives().len() == 1 && only.deviation.is_none() => {
            only.deviation = Some(number("deviation", &json)?);
        }
        (Some(_), _) => {
            let message = "`deviation` stands beside several values; write each as \
                           {\"value\": …, \"deviation\": …}";
            return Err(message.to_owned());
        }
        (None, _) => {}
    }
    let constraints = NamedValues::read("constraints", constraints)?.into_map();
    goal.measurement(objectives, constraints).map(Outcome::Measured)
}

/// The only value of a result.
fn single(measured: Measured, goal: &Goal) -> Result<Outcome, Missing> {
    let [objective] = goal.objectives() else { return Err(several(goal)) };
    measured.check().map_err(|reason| format!("the value {reason}"))?;
    // -0 becomes 0.
    let measured = Measured { value: measured.value + 0.0, ..measured };
    let objectives = [(objective.name.clone(), measured)].into();
    // Without constraints, or with limits on this objective only, there is nothing else to tell.
    goal.measurement(objectives, [].into()).map(Outcome::Measured).map_err(|_| several(goal))
}

fn several(goal: &Goal) -> Missing {
    format!("the goal has {goal}: give them by name, as in {}", example(goal))
}

/// The fields of an object that are no result, as attributes.
fn kept(fields: Map<String, Json>) -> Attributes {
    let attributes: Attributes = fields.into_iter().collect();
    let size = attributes.size();
    if size <= LARGEST {
        return attributes;
    }
    let note = format!("{size} bytes of attributes, more than {LARGEST}, were left out");
    [("wimble:left_out".to_owned(), Json::from(note))].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wimble::goal::{Bound, Objective};

    fn outcome(text: &str) -> Result<Outcome, Missing> {
        read(text, &Goal::default()).map(|finding| finding.outcome)
    }

    fn found(text: &str) -> Finding {
        read(text, &Goal::default()).unwrap()
    }

    fn goal() -> Goal {
        Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
            .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
            .unwrap()
    }

    #[test]
    fn a_value_may_have_a_deviation_and_several_have_names() {
        let measured = |value, deviation| Measured { value, deviation };
        let text = "{\"value\": 0.31, \"deviation\": 0.02, \"epochs\": 3}";
        let noisy = found(text);
        assert_eq!(noisy.outcome, measured(0.31, Some(0.02)).into());
        assert_eq!(noisy.attributes.get("deviation"), None);
        let text = "{\"objectives\": {\"speed\": {\"value\": 12, \"deviation\": 1}, \"error\": 0.5}, \
                    \"constraints\": {\"memory\": 3}, \"epochs\": 9}";
        let several = read(text, &goal()).unwrap();
        let expected = Measurement {
            objectives: vec![0.5.into(), measured(12.0, Some(1.0))],
            constraints: vec![3.0.into()],
            fidelity: None,
        };
        assert_eq!(several.outcome, expected.into());
        assert_eq!(several.attributes.get("epochs"), Some(&Json::from(9)));
        // A deviation beside one objective is its own; beside several it is nobody's.
        let error = Goal::new([Objective::minimise("error")]).unwrap();
        let text = "{\"objectives\": {\"error\": 0.31}, \"deviation\": 0.02}";
        assert_eq!(read(text, &error).unwrap().outcome, measured(0.31, Some(0.02)).into());
        let text = "{\"objectives\": {\"error\": 1, \"speed\": 2}, \"constraints\": {\"memory\": 1}, \
                    \"deviation\": 0.02}";
        assert!(read(text, &goal()).unwrap_err().contains("beside several values"));
        // To a study of one value these words are attributes, as they were before goals.
        let plain =
            found("{\"value\": 1, \"objectives\": {\"a\": 2}, \"constraints\": {\"m\": 3}}");
        assert_eq!(plain.outcome, 1.0.into());
        let names: Vec<&str> = plain.attributes.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["constraints", "objectives"]);
        assert_eq!(outcome("0.31\n{\"constraints\": {\"m\": 1}}\n"), Ok(0.31.into()));
        // One objective by its name, and a value with constraints.
        let named = read("{\"objectives\": {\"value\": 2}}", &Goal::default()).unwrap();
        assert_eq!(named.outcome, 2.0.into());
        let limited = Goal::default().limit("memory", Bound::AtMost(8.0)).unwrap();
        let text = "{\"value\": 2, \"constraints\": {\"memory\": 3}}";
        let limited = read(text, &limited).unwrap().outcome;
        assert_eq!(limited.measurement().unwrap().constraints, [3.0.into()]);
        // A limit on the only objective needs no other number.
        let bounded = Goal::default().limit("value", Bound::AtMost(8.0)).unwrap();
        assert_eq!(example(&bounded), "{\"value\": …}");
        for text in ["9", "{\"value\": 9}", "{\"objectives\": {\"value\": 9}}"] {
            let told = read(text, &bounded).unwrap().outcome;
            assert_eq!(told.measurement().unwrap().constraints, [9.0.into()], "{text}");
        }
    }

    #[test]
    fn what_is_wrong_among_several_is_named() {
        for (text, words) in [
            (
                "{\"objectives\": {\"error\": 1}, \"constraints\": {\"memory\": 1}}",
                "`speed` is missing",
            ),
            (
                "{\"objectives\": {\"error\": 1, \"speed\": 2}}",
                "the constraint `memory` is missing",
            ),
            ("{\"objectives\": {\"error\": \"low\", \"speed\": 2}}", "`error` is \"low\""),
            ("{\"objectives\": {\"error\": 1e999, \"speed\": 2}}", "the result is not JSON"),
            (
                "{\"objectives\": {\"error\": 1, \"speed\": 2, \"cost\": 3}, \"constraints\": {\"memory\": 1}}",
                "no objective `cost`",
            ),
            ("{\"objectives\": 3}", "must be an object of named numbers"),
            ("{\"value\": 1, \"objectives\": {}}", "both `value` and `objectives`"),
            (
                "0.5",
                "2 objectives and 1 constraint: give them by name, as in \
                 {\"objectives\": {\"error\": …, \"speed\": …}, \"constraints\": {\"memory\": …}}",
            ),
            ("{\"value\": 0.5}", "give them by name"),
            ("done", "with the field `objectives`"),
        ] {
            let error = read(text, &goal()).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        let negative = read("{\"value\": 1, \"deviation\": -2}", &Goal::default()).unwrap_err();
        assert!(negative.contains("the deviation -2"), "{negative}");
    }

    #[test]
    fn a_megabyte_of_anything_is_read_in_no_time() {
        let since = std::time::Instant::now();
        let deep = format!("{{\"value\": {}", "[".repeat(10_000));
        assert!(outcome(&deep).unwrap_err().contains("recursion limit"), "{deep:.80}");
        for line in ["{\n", "{", "[\n", "{\"a\":\n", "{\"value\":[\n", "0.5 x\n"] {
            let text = line.repeat((1 << 20) / line.len());
            assert!(outcome(&text).is_err(), "{line}");
        }
        // Without optimisation; it took minutes when each line looked through the rest.
        assert!(since.elapsed() < std::time::Duration::from_secs(30), "{:?}", since.elapsed());
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
            assert_eq!(outcome(text), Ok(Outcome::from(value)), "{text:?}");
        }
        assert_eq!(outcome("{\"infeasible\": true}"), Ok(Outcome::Infeasible));
        assert_eq!(outcome("{\"value\": null, \"infeasible\": true}"), Ok(Outcome::Infeasible));
    }

    #[test]
    fn other_fields_are_attributes_and_a_note_stands_in_for_what_is_too_large() {
        let said =
            found("{\"value\": 1, \"epochs\": 12, \"curve\": [1, 0.5], \"infeasible\": false}");
        let names: Vec<&str> = said.attributes.iter().map(|(name, _)| name).collect();
        assert_eq!((said.outcome, names), (Outcome::from(1.0), vec!["curve", "epochs"]));
        assert!(found("0.5").attributes.is_empty());
        let long = format!("{{\"value\": 2, \"log\": \"{}\"}}", "x".repeat(LARGEST));
        let said = found(&long);
        assert_eq!(said.outcome, Outcome::from(2.0));
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
            for goal in [Goal::default(), goal()] {
                if let Ok(Finding { outcome: Outcome::Measured(measurement), .. }) = read(&text, &goal) {
                    prop_assert!(goal.check(0, &measurement).is_ok());
                }
            }
        }

        #[test]
        fn what_is_written_is_read(value in -1e300..1e300_f64, noise in "[a-z {}\n]{0,40}") {
            prop_assert_eq!(outcome(&format!("{noise}\n{value:?}\n")), Ok(Outcome::from(value + 0.0)));
            let object = serde_json::json!({ "note": noise, "value": value });
            prop_assert_eq!(outcome(&format!("{noise}\n{object:#}\n")), Ok(Outcome::from(value + 0.0)));
        }
    }
}
