//! What kind of value each field of a parameter has.
//!
//! Looked at before a parameter is read, so that a list where a number belongs is refused at its place and in words of study files.

use super::super::document::{Content, Node, Table};
use super::Reader;

/// A kind of value.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Number,
    /// Values of a parameter.
    Values,
    Table,
}

/// The fields of a parameter, the kind of each, and an example in words.
const FIELDS: [(&str, Shape, &str); 9] = [
    ("type", Shape::Text, "text such as \"real\""),
    ("scale", Shape::Text, "\"linear\" or \"log\""),
    ("low", Shape::Number, "a number"),
    ("high", Shape::Number, "a number"),
    ("step", Shape::Number, "a number"),
    ("choices", Shape::Values, "a list of values such as [\"a\", \"b\"]"),
    ("levels", Shape::Values, "a list of values such as [\"low\", \"high\"]"),
    ("of", Shape::Values, "a list of names such as [\"flour\", \"water\"]"),
    ("when", Shape::Table, WHEN),
];

/// The fields of a condition.
const CONDITION: [(&str, Shape, &str); 2] = [
    ("parent", Shape::Text, "the name of a parameter, in quotes"),
    ("values", Shape::Values, "a list of values such as [\"sgd\"]"),
];

const WHEN: &str = "a table such as { parent = \"optimiser\", values = [\"sgd\"] }";

impl Reader<'_> {
    /// Whether the fields of the parameter `name` are of their kinds; refuses those that are not.
    pub(super) fn has_shape(&mut self, name: &str, fields: &Table) -> bool {
        let before = self.mistakes.len();
        self.check_shapes(name, fields, &FIELDS);
        if let Some(entry) = fields.get("when")
            && let Content::Table(condition) = &entry.node.content
        {
            self.check_shapes(&format!("{name}.when"), condition, &CONDITION);
            // A condition with an unknown field is refused for that.
            let is_complete = CONDITION.iter().all(|(field, _, _)| condition.get(field).is_some());
            if condition.0.len() < CONDITION.len() && !is_complete {
                let known = |key: &str| CONDITION.iter().any(|(field, _, _)| *field == key);
                if condition.0.iter().all(|entry| known(&entry.key)) {
                    let message = format!("{name}.when is incomplete; it must be {WHEN}");
                    self.refuse(entry.node.span.clone(), message);
                }
            }
        }
        self.mistakes.len() == before
    }

    fn check_shapes(&mut self, path: &str, table: &Table, fields: &[(&str, Shape, &str)]) {
        for (field, shape, allowed) in fields {
            let Some(entry) = table.get(field) else { continue };
            if let Some(wrong) = shape.refused(&entry.node) {
                let given = self.shown(wrong);
                let message = match std::ptr::eq(wrong, &entry.node) {
                    true => format!("{path}.{field} is {given}, but must be {allowed}"),
                    false => format!("{path}.{field} has {given}, but must be {allowed}"),
                };
                self.refuse(wrong.span.clone(), message);
            }
        }
    }
}

impl Shape {
    /// The part of a value that is not of this kind.
    fn refused(self, node: &Node) -> Option<&Node> {
        let is_number = |node: &Node| match node.content {
            Content::Real(value) => value.is_finite(),
            Content::Integer(_) => true,
            _ => false,
        };
        match (self, &node.content) {
            (Self::Text, Content::Text(_)) | (Self::Table, Content::Table(_)) => None,
            (Self::Number, _) if is_number(node) => None,
            (Self::Values, Content::List(values)) => values.iter().find(|value| {
                !is_number(value)
                    && !matches!(value.content, Content::Text(_) | Content::Boolean(_))
            }),
            _ => Some(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::study_file::{Format, StudyFile};

    /// The first mistake of a file with the parameter `x`.
    fn said(x: &str) -> String {
        let text = format!("name = \"s\"\n[space]\nc = {{ type = \"boolean\" }}\nx = {x}\n");
        StudyFile::parse("s.toml", &text, Format::Toml).unwrap_err().to_string()
    }

    #[test]
    fn a_field_of_another_kind_is_refused_at_its_place_in_words_of_study_files() {
        for (x, words) in [
            ("{ type = 3 }", "4:14: x.type is 3, but must be text such as \"real\""),
            (
                "{ type = \"real\", low = [0], high = 1 }",
                "4:28: x.low is a list, but must be a number",
            ),
            (
                "{ type = \"real\", low = 0, high = nan }",
                "4:38: x.high is nan, but must be a number",
            ),
            (
                "{ type = \"real\", low = 0, high = 1, scale = 3 }",
                "4:49: x.scale is 3, but must be \"linear\" or \"log\"",
            ),
            (
                "{ type = \"categorical\", choices = \"a\" }",
                "4:39: x.choices is \"a\", but must be a list of values such as",
            ),
            (
                "{ type = \"categorical\", choices = [nan, \"a\"] }",
                "4:40: x.choices has nan, but must be a list of values",
            ),
            (
                "{ type = \"categorical\", choices = [[1], \"a\"] }",
                "4:40: x.choices has a list, but must be a list of values",
            ),
            (
                "{ type = \"boolean\", when = \"c == true\" }",
                "4:32: x.when is \"c == true\", but must be a table such as { parent",
            ),
            (
                "{ type = \"boolean\", when = { parent = \"c\" } }",
                "4:32: x.when is incomplete; it must be a table such as { parent",
            ),
            (
                "{ type = \"boolean\", when = { parent = \"c\", values = true } }",
                "4:57: x.when.values is true, but must be a list of values",
            ),
            (
                "{ type = \"boolean\", when = { parent = 3, values = [true] } }",
                "4:43: x.when.parent is 3, but must be the name of a parameter",
            ),
            (
                "{ type = \"boolean\", when = { c = true } }",
                "there is no `c`; there are parent, values",
            ),
            (
                "{ type = \"categorical\", options = [1, 2] }",
                "there is no `options`; write `choices`",
            ),
        ] {
            let said = said(x);
            assert!(said.contains(words), "{x}: {said}");
            assert!(!said.contains("expected"), "{said}");
        }
    }
}
