//! Constraints that are known beforehand: a list of texts, whose mistakes are shown where they stand in the file.

use std::ops::Range;

use wimble::Error;
use wimble::space::SearchSpace;

use super::super::document::{Content, Entry, Node};
use super::Reader;

/// A constraint and where it stands.
pub(super) struct Written<'t> {
    text: &'t str,
    span: Range<usize>,
}

impl<'t> Reader<'t> {
    /// The texts of the lists.
    pub(super) fn constraints(&mut self, lists: &[&'t Entry]) -> Vec<Written<'t>> {
        let mut constraints = Vec::new();
        for entry in lists {
            let Content::List(nodes) = &entry.node.content else {
                self.wrong_kind(entry, "a list of texts, such as [\"batch * layers <= 4096\"]");
                continue;
            };
            for Node { span, content } in nodes {
                match content {
                    Content::Text(text) => constraints.push(Written { text, span: span.clone() }),
                    _ => self.refuse(span.clone(), "a known constraint is text in quotes"),
                }
            }
        }
        constraints
    }

    /// The space with its constraints.
    pub(super) fn with_known(
        &mut self,
        space: SearchSpace,
        constraints: &[Written<'_>],
    ) -> Option<SearchSpace> {
        let error = match space.known(constraints.iter().map(|written| written.text)) {
            Ok(space) => return Some(space),
            Err(error) => error,
        };
        let find = |text: &str| constraints.iter().find(|written| written.text == text);
        let (place, message) = match &error {
            Error::Expression { constraint, offset, length, reason, .. } => {
                let place = find(constraint).map(|written| {
                    let raw = self.text.get(written.span.clone()).unwrap_or_default();
                    let start = written.span.start + within(raw, *offset);
                    start..(start + (*length).max(1)).min(written.span.end)
                });
                (place, reason.clone())
            }
            Error::Contradiction { constraints } => {
                let last = constraints.last().and_then(|text| find(text));
                (last.map(|written| written.span.clone()), error.to_string())
            }
            _ => (None, error.to_string()),
        };
        self.refuse(place.unwrap_or_else(|| self.place("known")), message);
        None
    }
}

/// Where in a quoted text, as it is written, the byte `offset` of its meaning stands.
fn within(raw: &str, offset: usize) -> usize {
    let quote = raw.chars().next().unwrap_or('"');
    let triple: String = [quote; 3].iter().collect();
    let mut at = if raw.starts_with(&triple) { 3 } else { 1 };
    if at == 3 {
        // A line break right behind the quotes does not count.
        let rest = &raw[3..];
        at += if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
    }
    let mut meant = 0;
    loop {
        let rest = raw.get(at..).unwrap_or_default();
        if quote == '"'
            && rest.strip_prefix('\\').is_some_and(|rest| rest.starts_with(char::is_whitespace))
        {
            // A backslash at the end of a line takes the white space behind it along.
            at += 1 + rest[1..].len() - rest[1..].trim_start().len();
            continue;
        }
        if meant >= offset {
            break;
        }
        let Some(next) = raw.get(at..).and_then(|rest| rest.chars().next()) else { break };
        if next != '\\' || quote == '\'' {
            at += next.len_utf8();
            meant += next.len_utf8();
            continue;
        }
        let escaped = raw[at + 1..].chars().next().unwrap_or('\\');
        let digits = match escaped {
            'u' => 4,
            'U' => 8,
            'x' => 2,
            _ => 0,
        };
        let code = raw.get(at + 2..at + 2 + digits).unwrap_or_default();
        let meaning = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        at += 1 + escaped.len_utf8() + digits;
        meant += meaning.map_or(1, char::len_utf8);
    }
    at.min(raw.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_text_is_found_behind_quotes_and_escapes() {
        for (raw, offset, at) in [
            ("\"abc\"", 2, 3),
            ("'a\\bc'", 3, 4),
            (r#""c == \"x\" and d""#, 13, 16),
            (r#""\u00e9 + d""#, 5, 10),
            ("\"\"\"\na\nb\"\"\"", 2, 6),
            ("\"\"\"a \\\n   b\"\"\"", 2, 10),
            ("\"abc\"", 99, 5),
        ] {
            assert_eq!(within(raw, offset), at, "{raw}");
        }
    }
}
