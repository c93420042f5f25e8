//! The parameters: a table of tables, or the list that the other forms of a space have.

use std::collections::BTreeMap;
use std::ops::Range;

use wimble::internals::{nearest, serde_words};
use wimble::space::{Configuration, Dimension, Kind, SearchSpace};

use super::super::document::{Content, Entry, Table};
use super::super::variable;
use super::{Reader, named_in};

impl Reader<'_> {
    pub(super) fn space(&mut self) -> Option<SearchSpace> {
        let Some(entry) = self.table.get("space") else {
            self.refuse(0..0, "`space` is missing; list the parameters under [space]");
            return None;
        };
        let Content::Table(table) = &entry.node.content else {
            let message =
                format!("space is {}, but must be a table of parameters", entry.node.kind());
            self.refuse(entry.node.span.clone(), message);
            return None;
        };
        let before = self.mistakes.len();
        let mut parameters: Vec<(String, &Entry, Dimension)> = Vec::new();
        let (mut repeats, mut candidates) = (None, None);
        let mut known: Vec<&Entry> = self.table.get("known").into_iter().collect();
        for entry in &table.0 {
            match (&entry.node.content, entry.key.as_str()) {
                (Content::Table(fields), _) => {
                    if let Some(field) = fields.get("name") {
                        let message =
                            format!("the name of the parameter is `{}`; leave this out", entry.key);
                        self.refuse(field.key_span.clone(), message);
                        continue;
                    }
                    if !self.has_shape(&entry.key, fields) {
                        continue;
                    }
                    let mut json = entry.node.to_json();
                    json["name"] = entry.key.clone().into();
                    if let Some(dimension) = self.dimension(json, entry) {
                        parameters.push((entry.key.clone(), entry, dimension));
                    }
                }
                (Content::List(nodes), "dimensions") => {
                    for node in nodes {
                        let json = node.to_json();
                        if let Some(dimension) = self.dimension(json, entry) {
                            parameters.push((dimension.name.clone(), entry, dimension));
                        }
                    }
                }
                (Content::Boolean(value), "repeats") => repeats = Some(*value),
                (Content::List(_), "known") => known.push(entry),
                (Content::List(_), "candidates") => {
                    match serde_json::from_value::<Vec<Configuration>>(entry.node.to_json()) {
                        Ok(list) => candidates = Some(list),
                        Err(error) => {
                            self.refuse(entry.node.span.clone(), format!("candidates: {error}"));
                        }
                    }
                }
                _ => {
                    let message = format!(
                        "parameter `{}` is {}, but must be a table such as {{ type = \"real\", low = 0, high = 1 }}",
                        entry.key,
                        entry.node.kind()
                    );
                    self.refuse(entry.node.span.clone(), message);
                }
            }
        }
        if let Some(entry) = self.table.get("repeats") {
            match entry.node.content {
                Content::Boolean(value) => repeats = Some(value),
                _ => self.wrong_kind(entry, "true or false"),
            }
        }
        let known = self.constraints(&known);
        if self.mistakes.len() > before {
            return None;
        }
        let dimensions = parameters.iter().map(|(_, _, dimension)| dimension.clone());
        let space = match candidates {
            Some(candidates) => SearchSpace::finite(dimensions, candidates),
            None => SearchSpace::new(dimensions),
        };
        match space {
            Ok(space) => {
                self.check_variables(&parameters);
                let space = self.with_known(space, &known)?;
                Some(space.allow_repeats(repeats.unwrap_or(false)))
            }
            Err(error) => {
                let message = error.to_string();
                // The parameter that the message begins with; otherwise the first that it names.
                let about = |sign: fn(&str, &str) -> bool| {
                    parameters.iter().find(|(name, _, _)| sign(&message, name))
                };
                let place = about(|message, name| message.starts_with(&format!("{name}.")))
                    .or_else(|| about(|message, name| message.contains(&format!("`{name}`"))))
                    .map(|(name, entry, _)| field_of(entry, name, &message));
                self.refuse(place.unwrap_or_else(|| entry.key_span.clone()), message);
                None
            }
        }
    }

    fn dimension(&mut self, json: serde_json::Value, entry: &Entry) -> Option<Dimension> {
        match serde_json::from_value::<Dimension>(json) {
            Ok(dimension) => Some(dimension),
            Err(error) => {
                let message = error.to_string();
                let place = field_of(entry, &entry.key, &message);
                let message = if message.starts_with(&format!("{}.", entry.key)) {
                    message
                } else {
                    format!("parameter `{}`: {}", entry.key, in_our_words(&message, entry))
                };
                self.refuse(place, message);
                None
            }
        }
    }

    /// Two parameters must not share an environment variable.
    fn check_variables(&mut self, parameters: &[(String, &Entry, Dimension)]) {
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        let names = parameters.iter().flat_map(|(name, entry, dimension)| {
            let names = match &dimension.kind {
                Kind::Shares { of } => &of[..],
                _ => std::slice::from_ref(name),
            };
            names.iter().map(move |name| (name, entry))
        });
        for (name, entry) in names {
            if let Some(first) = seen.insert(variable(name), name) {
                let message = format!(
                    "`{first}` and `{name}` would both be {} in the environment; rename one",
                    variable(name)
                );
                self.refuse(entry.key_span.clone(), message);
            }
        }
    }
}

/// The field of a parameter that a message is about, such as `momentum.when.parent is …`.
fn field_of(entry: &Entry, name: &str, message: &str) -> Range<usize> {
    let Content::Table(table) = &entry.node.content else { return entry.key_span.clone() };
    let path = message.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
    match path.and_then(|path| field_at(table, path)) {
        Some(place) => place,
        None => named_in(table, message).unwrap_or_else(|| entry.key_span.clone()),
    }
}

/// The place of the field that a text begins with, as deep as the text goes.
fn field_at(table: &Table, text: &str) -> Option<Range<usize>> {
    let (field, rest) = table.0.iter().find_map(|field| {
        let rest = text.strip_prefix(field.key.as_str())?;
        (!rest.starts_with(char::is_alphanumeric)).then_some((field, rest))
    })?;
    let deeper = match &field.node.content {
        Content::Table(inner) => rest.strip_prefix('.').and_then(|rest| field_at(inner, rest)),
        _ => None,
    };
    Some(deeper.unwrap_or_else(|| field.node.span.clone()))
}

/// What other tools call our types, scales and fields.
const ELSEWHERE: [(&str, &str); 23] = [
    ("float", "real"),
    ("double", "real"),
    ("number", "real"),
    ("continuous", "real"),
    ("uniform", "real"),
    ("int", "integer"),
    ("discrete", "integer"),
    ("bool", "boolean"),
    ("switch", "boolean"),
    ("choice", "categorical"),
    ("category", "categorical"),
    ("enum", "categorical"),
    ("string", "categorical"),
    ("text", "categorical"),
    ("simplex", "shares"),
    ("logarithmic", "log"),
    ("log10", "log"),
    ("lin", "linear"),
    ("uniform", "linear"),
    ("values", "choices"),
    ("options", "choices"),
    ("min", "low"),
    ("max", "high"),
];

/// serde's message about an unknown or missing name, in the words of a study file.
fn in_our_words(message: &str, entry: &Entry) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((given, known)) = quoted.split_first() else { return message.to_owned() };
    // The name of a parameter stands before its table.
    let known: Vec<&str> = known.iter().copied().filter(|word| *word != "name").collect();
    let elsewhere = ELSEWHERE
        .iter()
        .find(|(word, ours)| word.eq_ignore_ascii_case(given) && known.contains(ours));
    let hint = elsewhere.map(|(_, ours)| *ours).or_else(|| nearest(given, known.iter().copied()));
    let list = known.join(", ");
    if message.starts_with("unknown variant") {
        let field = match &entry.node.content {
            Content::Table(table) => table
                .0
                .iter()
                .find(|field| matches!(&field.node.content, Content::Text(text) if text == given)),
            _ => None,
        };
        let field = field.map_or("type", |field| field.key.as_str());
        let hint = hint.map_or_else(String::new, |hint| format!("; write \"{hint}\""));
        return format!("{field} is \"{given}\", but must be one of {list}{hint}");
    }
    if message.starts_with("unknown field") {
        let hint =
            hint.map_or_else(|| format!("there are {list}"), |hint| format!("write `{hint}`"));
        return format!("there is no `{given}`; {hint}");
    }
    if message.starts_with("missing field `type`") {
        return "`type` is missing: one of real, integer, boolean, categorical, ordinal, shares"
            .to_owned();
    }
    serde_words(message)
}
