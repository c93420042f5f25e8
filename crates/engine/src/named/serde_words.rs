//! serde's messages about text that users wrote, in words that users know.
//!
//! serde speaks of fields, variants, sequences and `f64`, and of line 1 of what is one line anyway. A user wrote a setting, a list or a
//! number. What a message says in no known form is passed on as it is.

use super::spelling::nearest;

/// A message of serde or serde_json, such as ``unknown field `stepz`, expected `steps` or `samples` ``, for a user.
pub fn serde_words(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or(message);
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, [field, ..]) = (message.starts_with("missing field"), &quoted[..]) {
        return format!("`{field}` is missing");
    }
    let is_unknown =
        ["unknown field", "unknown variant"].iter().any(|one| message.starts_with(one));
    if let (true, Some((given, known))) = (is_unknown, quoted.split_first()) {
        let there = match (nearest(given, known.iter().copied()), known.len()) {
            (Some(near), _) => format!("the nearest is `{near}`"),
            (None, 0) => "leave it out".to_owned(),
            (None, _) => format!("there are {}", known.join(", ")),
        };
        return format!("there is no `{given}`; {there}");
    }
    let kinds = ["invalid type: ", "invalid value: "];
    if let Some(rest) = kinds.iter().find_map(|kind| message.strip_prefix(kind))
        && let Some((given, expected)) = rest.rsplit_once(", expected ")
    {
        return format!("{} stands where {} is expected", value(given), expectation(expected));
    }
    let unfinished = [
        "EOF while",
        "expected ",
        "trailing ",
        "key must be",
        "invalid number",
        "control character",
    ];
    match unfinished.iter().any(|start| message.starts_with(start)) {
        true => format!("this is not JSON: {message}"),
        false => message.to_owned(),
    }
}

/// What serde found: `string "abc"`, ``integer `3` ``, `sequence`.
fn value(given: &str) -> String {
    match given {
        "map" => return "an object".to_owned(),
        "sequence" => return "a list".to_owned(),
        _ => {}
    }
    let kinds = ["string ", "integer ", "floating point ", "boolean "];
    let value = kinds.iter().find_map(|kind| given.strip_prefix(kind)).unwrap_or(given);
    value.replace('`', "")
}

/// What serde expected.
fn expectation(expected: &str) -> &str {
    match expected {
        "f64" | "f32" => "a number",
        "u64" | "u32" | "u16" | "u8" | "usize" | "i64" | "i32" => "a whole number",
        "a sequence" => "a list",
        "a map" => "an object, such as {\"name\": 3},",
        "a string" | "string or map" => "text",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read by serde")]
    struct Settings {
        steps: usize,
        #[serde(default)]
        rate: f64,
        #[serde(default)]
        layers: Vec<usize>,
    }

    fn said(json: &str) -> String {
        serde_words(&serde_json::from_str::<Settings>(json).unwrap_err().to_string())
    }

    #[test]
    fn serde_speaks_in_words_that_users_know() {
        for (json, words) in [
            (r#"{"setps": 3}"#, "there is no `setps`; the nearest is `steps`"),
            (r#"{"colour": 3}"#, "there is no `colour`; there are steps, rate, layers"),
            (r#"{"rate": 3}"#, "`steps` is missing"),
            (r#"{"steps": "many"}"#, "\"many\" stands where a whole number is expected"),
            (r#"{"steps": -3}"#, "-3 stands where a whole number is expected"),
            (r#"{"steps": 1, "rate": [2]}"#, "a list stands where a number is expected"),
            (r#"{"steps": 1, "layers": true}"#, "true stands where a list is expected"),
            ("3", "3 stands where a table is expected"),
            ("many", "this is not JSON: expected value"),
            (r#"{"steps": 1"#, "this is not JSON: EOF while parsing an object"),
            (r#"{"steps": 1} x"#, "this is not JSON: trailing characters"),
        ] {
            assert_eq!(said(json), words, "{json}");
        }
        assert_eq!(serde_words("anything else"), "anything else");
    }
}
