//! Strategies as text: from names and settings to a strategy, and back.
//!
//! A spec is a line of text, or a table in TOML or JSON. A setting that is left out has its default.
//!
//! ```text
//! bore++ classifier=ensemble classifier.members=3 rule=svgd rule.steps=500 fraction=0.2 width=2
//! ```
//! ```json
//! { "name": "bore++", "classifier": { "name": "ensemble", "members": 3 },
//!   "rule": { "name": "svgd", "steps": 500 }, "fraction": 0.2, "width": 2.0 }
//! ```
//!
//! Both forms become the same JSON value; the tables in table.rs say how to read it, and how to print it again.
//!
//! # Design
//! The JSON form has every setting, so that a stored study stays what it is when a default changes. The text form has
//! the settings that differ from today's defaults and those that were given, even if they equal the default. Some
//! settings may stay open, so that the batch size decides them (the rule, the interval of a warm start). Both forms
//! leave open settings out, because open is not the same as a value that happens to be the default.

mod bore;
mod classifier;
mod method;
pub(crate) mod names;
mod row;
mod rule;
mod table;
mod text;

use std::any::Any;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

pub use bore::{BorePlusPlusSpec, BoreSpec, Preset};

use super::{Auto, Strategy};
use crate::error::Result;
use classifier::AnyClassifier;
use method::AnyMethod;
use row::{named_table, read_part};
use rule::AnyRule;
use table::METHODS;

/// A method by name, with all its settings.
#[derive(Debug, Clone)]
pub struct Spec {
    method: Arc<dyn AnyMethod>,
    /// The settings that the user gave, as a table. Empty for a table with every setting, as a store keeps it: that
    /// does not say which ones a user gave.
    given: Map<String, Json>,
}

/// The table with `-` for `_` in its keys: version 0.1 wrote some of them with `_`.
fn kebab_keys(table: Map<String, Json>) -> Map<String, Json> {
    let entries = table.into_iter().map(|(key, value)| {
        let value = match value {
            Json::Object(table) => Json::Object(kebab_keys(table)),
            other => other,
        };
        (key.replace('_', "-"), value)
    });
    entries.collect()
}

/// Whether `given` has every setting of `all`, with its value. Those that are newer than a stored study may be left out.
fn is_all(given: &Map<String, Json>, all: &Map<String, Json>) -> bool {
    let newer = |key: &str| ["inputs", "preset"].contains(&key);
    all.iter().all(|(key, value)| match (given.get(key), value) {
        (None, _) => newer(key),
        (Some(Json::Object(given)), Json::Object(all)) => is_all(given, all),
        (Some(given), value) => given == value,
    })
}

/// A classifier by name, with its settings.
#[derive(Debug, Clone)]
pub struct ClassifierSpec(Arc<dyn AnyClassifier>);

/// A batch rule by name, with its settings.
#[derive(Debug, Clone)]
pub struct RuleSpec(Arc<dyn AnyRule>);

impl Default for Spec {
    /// `auto`.
    fn default() -> Self {
        Self { method: Arc::new(Auto::default()), given: Map::new() }
    }
}

/// Two specs are equal if their names and all settings are, however they were written.
impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Spec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        self.method.name()
    }

    /// The method's one-line description.
    pub fn description(&self) -> &'static str {
        let row = METHODS.iter().find(|row| row.name.name == self.name());
        row.map_or("", |row| row.name.description)
    }

    /// How many trials are drawn at random before the method begins: its setting `initial`; 0 if it has none.
    pub fn initial(&self) -> usize {
        let initial = self.method.table().get("initial").and_then(Json::as_u64).unwrap_or(0);
        usize::try_from(initial).unwrap_or(usize::MAX)
    }

    /// The settings, if they are of this type.
    pub fn settings<T: Any>(&self) -> Option<&T> {
        self.method.settings().downcast_ref()
    }

    /// This method as it is read where `stored` was made: a spec that names no preset has that of `stored`.
    pub fn as_in(&self, stored: &Self) -> Result<Self> {
        let preset = stored.method.table().get("preset").cloned();
        match preset.filter(|_| self.name() == stored.name() && !self.given.is_empty()) {
            Some(preset) if !self.given.contains_key("preset") => {
                let mut given = self.given.clone();
                given.insert("preset".to_owned(), preset);
                Self::from_json(Json::Object(given))
            }
            _ => Ok(self.clone()),
        }
    }

    /// The settings that this method has if nothing but its preset and its classifier is given. Its classifier and its preset are compared
    /// with those that it has by itself.
    fn defaults(&self) -> Json {
        let table = self.method.table();
        let mut given = Map::from_iter([("name".to_owned(), Json::from(self.name()))]);
        given.extend(table.get("preset").map(|preset| ("preset".to_owned(), preset.clone())));
        let read = |given: &Map<String, Json>| {
            Self::from_json(given.clone().into()).map_or(Json::Null, |spec| spec.to_json())
        };
        let plain = read(&given);
        let Some(classifier) = table.get("classifier") else { return plain };
        given.insert("classifier".to_owned(), classifier["name"].clone());
        let mut defaults = read(&given);
        defaults["classifier"] = plain["classifier"].clone();
        defaults["preset"] = json!(Preset::default());
        defaults
    }

    /// The method of this name with its default settings.
    pub fn named(name: &str) -> Result<Self> {
        Self::from_json(json!({ "name": name }))
    }

    /// The strategy, for batches of `batch_size`.
    ///
    /// The batch size decides what the spec leaves open: the rule, and the interval of a warm start.
    pub fn build(&self, batch_size: usize) -> Result<Box<dyn Strategy>> {
        self.method.build(batch_size)
    }

    /// Reads a spec from its JSON form.
    fn from_json(json: Json) -> Result<Self> {
        let given = json.as_object().cloned().map(kebab_keys).unwrap_or_default();
        let mut spec = Self { method: read_part("method", json, METHODS)?, given };
        if spec.to_json().as_object().is_some_and(|all| is_all(&spec.given, all)) {
            spec.given.clear();
        }
        Ok(spec)
    }

    /// The JSON form, with every setting.
    fn to_json(&self) -> Json {
        named_table(&*self.method)
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let read = match json {
            Json::String(text) => text.parse(),
            table => Self::from_json(table),
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl ClassifierSpec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The settings, if they are of this type.
    pub fn settings<T: Any>(&self) -> Option<&T> {
        self.0.settings().downcast_ref()
    }
}

impl PartialEq for ClassifierSpec {
    fn eq(&self, other: &Self) -> bool {
        named_table(&*self.0) == named_table(&*other.0)
    }
}

impl RuleSpec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// The settings, if they are of this type.
    pub fn settings<T: Any>(&self) -> Option<&T> {
        self.0.settings().downcast_ref()
    }
}

impl PartialEq for RuleSpec {
    fn eq(&self, other: &Self) -> bool {
        named_table(&*self.0) == named_table(&*other.0)
    }
}
