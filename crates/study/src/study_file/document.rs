//! A TOML or JSON text as a tree whose every part knows where it stands.
//!
//! Both formats become the same tree, so that whatever reads it can point at the line and column of what it refuses.
//! TOML brings the places along. In JSON they come from the addresses of raw values inside the text, which costs a
//! pass over the text for each level of nesting, of which there are at most [`DEEPEST`].

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{Deserialize, MapAccess, Visitor};
use serde_json::value::RawValue;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistake;

/// Study files are nested three or four levels deep.
const DEEPEST: usize = 64;

/// Which language a study file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// TOML, the usual one.
    Toml,
    /// JSON.
    Json,
}

/// A value and its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    pub content: Content,
}

/// What stands there.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Table(Table),
    /// What no setting can be: a date, or null.
    Other(&'static str),
}

/// Entries in the order in which they are written. The order matters: a parameter stands before those that depend on it.
#[derive(Debug, Clone, Default)]
pub(super) struct Table(pub Vec<Entry>);

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Range<usize>,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }
}

impl Node {
    /// What it is, in the words of a message.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Boolean(_) => "a boolean",
            Content::Integer(_) => "a whole number",
            Content::Real(_) => "a number",
            Content::Text(_) => "text",
            Content::List(_) => "a list",
            Content::Table(_) => "a table",
            Content::Other(kind) => kind,
        }
    }

    /// The value without its place. A number that JSON does not have becomes text, which no number field accepts.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.content {
            Content::Boolean(value) => (*value).into(),
            Content::Integer(value) => (*value).into(),
            Content::Real(value) if value.is_finite() => (*value).into(),
            Content::Real(value) => value.to_string().into(),
            Content::Text(text) => text.clone().into(),
            Content::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Content::Table(table) => table
                .0
                .iter()
                .map(|entry| (entry.key.clone(), entry.node.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Content::Other(kind) => (*kind).into(),
        }
    }
}

/// The table that a text is.
pub(super) fn parse(text: &str, format: Format) -> Result<Table, Mistake> {
    if let Some(place) = opening_run(text) {
        return Err(too_deep(place..place + 1));
    }
    let node = match format {
        Format::Toml => {
            let table = DeTable::parse(text).map_err(|error| {
                Mistake::at(
                    error.span().unwrap_or(0..0),
                    format!("this is not TOML: {}", error.message()),
                )
            })?;
            let span = table.span();
            Node { span, content: Content::Table(toml_table(table.get_ref())?) }
        }
        Format::Json => {
            let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
                let place = offset(text, error.line(), error.column());
                Mistake::at(place..place, format!("this is not JSON: {error}"))
            })?;
            json_node(text, raw, 0)?
        }
    };
    match node.content {
        Content::Table(table) => Ok(table),
        _ => Err(Mistake::at(
            node.span.clone(),
            format!("a study file is a table, not {}", node.kind()),
        )),
    }
}

fn toml_table(table: &DeTable<'_>) -> Result<Table, Mistake> {
    let mut entries = table
        .iter()
        .map(|(key, value)| {
            let node = toml_node(value.get_ref(), value.span())?;
            Ok(Entry { key: key.get_ref().to_string(), key_span: key.span(), node })
        })
        .collect::<Result<Vec<_>, Mistake>>()?;
    entries.sort_by_key(|entry| entry.key_span.start);
    Ok(Table(entries))
}

fn toml_node(value: &DeValue<'_>, span: Range<usize>) -> Result<Node, Mistake> {
    let content = match value {
        DeValue::Boolean(value) => Content::Boolean(*value),
        DeValue::String(text) => Content::Text(text.to_string()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(value) => Content::Integer(value),
            Err(_) => {
                let message =
                    format!("{} is too large: whole numbers have 64 bits", digits.as_str());
                return Err(Mistake::at(span, message));
            }
        },
        DeValue::Float(digits) => match digits.as_str().parse() {
            Ok(value) => Content::Real(value),
            Err(_) => return Err(Mistake::at(span, format!("{} is no number", digits.as_str()))),
        },
        DeValue::Datetime(_) => Content::Other("a date"),
        DeValue::Array(values) => Content::List(
            values
                .iter()
                .map(|value| toml_node(value.get_ref(), value.span()))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Content::Table(toml_table(table)?),
    };
    Ok(Node { span, content })
}

fn too_deep(place: Range<usize>) -> Mistake {
    Mistake::at(place, format!("this is nested more than {DEEPEST} levels deep"))
}

/// Where more brackets open in a row than any file needs: parsers look through the rest of the text for each of them.
fn opening_run(text: &str) -> Option<usize> {
    let mut run = 0;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'[' => run += 1,
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => run = 0,
        }
        if run > DEEPEST {
            return Some(place);
        }
    }
    None
}

fn json_node(text: &str, raw: &RawValue, depth: usize) -> Result<Node, Mistake> {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    let span = start..start + raw.get().len();
    if depth > DEEPEST {
        return Err(too_deep(start..start + 1));
    }
    let unreadable = |error: serde_json::Error| {
        Mistake::at(span.clone(), format!("this cannot be read: {error}"))
    };
    let content = match raw.get().as_bytes().first() {
        Some(b'{') => {
            let entries = serde_json::Deserializer::from_str(raw.get())
                .deserialize_map(EntriesVisitor)
                .map_err(unreadable)?;
            let mut seen = BTreeSet::new();
            let mut table = Table::default();
            for (key, value) in entries {
                let node = json_node(text, value, depth + 1)?;
                let key_span = key_before(text, node.span.start);
                if !seen.insert(key.clone()) {
                    return Err(Mistake::at(key_span, format!("`{key}` is given twice")));
                }
                table.0.push(Entry { key, key_span, node });
            }
            Content::Table(table)
        }
        Some(b'[') => {
            let values: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(unreadable)?;
            Content::List(
                values
                    .into_iter()
                    .map(|value| json_node(text, value, depth + 1))
                    .collect::<Result<_, _>>()?,
            )
        }
        Some(b'"') => Content::Text(serde_json::from_str(raw.get()).map_err(unreadable)?),
        Some(b't') => Content::Boolean(true),
        Some(b'f') => Content::Boolean(false),
        Some(b'n') => Content::Other("null"),
        _ => match raw.get().parse() {
            Ok(value) => Content::Integer(value),
            Err(_) => Content::Real(serde_json::from_str(raw.get()).map_err(unreadable)?),
        },
    };
    Ok(Node { span, content })
}

/// Keys and raw values of an object, with repetitions.
struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            entries.push((key, map.next_value_seed(Raw)?));
        }
        Ok(entries)
    }
}

struct Raw;

impl<'de> serde::de::DeserializeSeed<'de> for Raw {
    type Value = &'de RawValue;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        <&RawValue>::deserialize(deserializer)
    }
}

/// The span of the key whose value starts at `value`, in a text that is known to be JSON.
fn key_before(text: &str, value: usize) -> Range<usize> {
    let end = text[..value].rfind('"').map_or(value, |end| end + 1);
    let bytes = text.as_bytes();
    let escaped =
        |at: usize| bytes[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
    let start = text[..end.saturating_sub(1)]
        .rmatch_indices('"')
        .map(|(at, _)| at)
        .find(|&at| !escaped(at))
        .unwrap_or(end);
    start..end
}

/// The place of a line and column as serde_json counts them: lines from 1, columns in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut place = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_give_one_tree_with_places() {
        let toml = "b = 1\na = [true, 2.5]\n[t]\nz = \"x\"\ny = 0x10\n";
        let json = "{\"b\": 1,\n \"a\": [true, 2.5], \"t\": {\"z\": \"x\",\n  \"y\": 16}}";
        let (toml_tree, json_tree) =
            (parse(toml, Format::Toml).unwrap(), parse(json, Format::Json).unwrap());
        for (text, tree, y) in [(toml, &toml_tree, "y"), (json, &json_tree, "\"y\"")] {
            let keys: Vec<&str> = tree.0.iter().map(|entry| entry.key.as_str()).collect();
            assert_eq!(keys, ["b", "a", "t"]);
            let Content::Table(inner) = &tree.get("t").unwrap().node.content else { panic!() };
            let entry = inner.get("y").unwrap();
            assert_eq!(&text[entry.key_span.clone()], y);
            assert!(matches!(entry.node.content, Content::Integer(16)));
            let Content::List(list) = &tree.get("a").unwrap().node.content else { panic!() };
            assert_eq!(&text[list[1].span.clone()], "2.5");
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_refused_at_its_place_and_soon() {
        let since = std::time::Instant::now();
        for (open, close) in [("{\"a\":", "}"), ("[", "]"), ("{\"a\":[", "]}")] {
            let text = format!("{{\"x\": {}1{}}}", open.repeat(10_000), close.repeat(10_000));
            let mistake = parse(&text, Format::Json).unwrap_err();
            assert!(mistake.message().contains("nested more than 64 levels"), "{mistake:?}");
        }
        for text in
            ["{".repeat(1 << 20), "[".repeat(1 << 20), format!("a = {}", "[ ".repeat(1 << 19))]
        {
            for format in [Format::Toml, Format::Json] {
                let mistake = parse(&text, format).unwrap_err();
                assert!(mistake.message().contains("nested more than 64 levels"), "{mistake:?}");
            }
        }
        assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
    }

    #[test]
    fn what_is_no_document_is_placed() {
        let place = |text, format| parse(text, format).unwrap_err().span().start;
        assert_eq!(place("a = 1\nb = = 2\n", Format::Toml), 10);
        assert_eq!(place("{\"a\": 1,\n \"b\" 2}", Format::Json), 14);
        assert_eq!(place("{\"a\": 1, \"a\": 2}", Format::Json), 9);
        assert_eq!(place("[1]", Format::Json), 0);
    }
}
