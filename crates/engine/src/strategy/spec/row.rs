//! One row of a table: a name, and how the settings behind it are read and written.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};
use crate::named::serde_words::serde_words;
use crate::named::{self, Name, Named};

/// A row of the table of `T`, which is one of the object traits beside this file.
pub(super) struct Row<T: ?Sized + 'static> {
    /// The name and its description.
    pub name: Name,
    /// Reads settings; what is left out has its default.
    pub read: fn(Map<String, Json>) -> Result<Arc<T>>,
}

/// Settings that are read from a table of keys and values, and written as one.
pub(super) trait Written: Named + fmt::Debug + Send + Sync + Sized {
    /// Reads settings; unknown keys are refused.
    fn read(settings: Map<String, Json>) -> Result<Self>;

    /// Every setting with its value. What is not given and has no default is left out.
    fn write(&self) -> Map<String, Json>;
}

impl<T: Named + fmt::Debug + Send + Sync + Serialize + DeserializeOwned> Written for T {
    fn read(settings: Map<String, Json>) -> Result<Self> {
        from_table(Self::NAME, settings)
    }

    fn write(&self) -> Map<String, Json> {
        to_table(self)
    }
}

/// Reads the settings of `name` by serde.
pub(super) fn from_table<T: DeserializeOwned>(name: &str, table: Map<String, Json>) -> Result<T> {
    serde_json::from_value(Json::Object(table)).map_err(|error| Error::Corrupt {
        what: "method",
        reason: format!("{name}: {}", serde_words(&error.to_string())),
    })
}

/// Writes settings by serde.
pub(super) fn to_table<T: Serialize>(settings: &T) -> Map<String, Json> {
    match serde_json::to_value(settings).map(without_nulls) {
        Ok(Json::Object(table)) => table,
        _ => Map::new(),
    }
}

/// What is not given is left out: TOML has no null.
fn without_nulls(json: Json) -> Json {
    match json {
        Json::Object(table) => {
            let given = table.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(given.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        other => other,
    }
}

/// Settings of which only the kind is known.
pub(super) trait Part: Any + fmt::Debug + Send + Sync {
    /// The name in the table.
    fn name(&self) -> &'static str;

    /// Every setting with its value.
    fn table(&self) -> Map<String, Json>;

    /// The settings themselves, to ask for their type.
    fn settings(&self) -> &dyn Any;
}

impl<T: Written> Part for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn table(&self) -> Map<String, Json> {
        self.write()
    }

    fn settings(&self) -> &dyn Any {
        self
    }
}

/// The table of `part` with its name beside the settings.
pub(super) fn named_table(part: &(impl Part + ?Sized)) -> Json {
    let mut table = part.table();
    table.insert("name".to_owned(), Json::String(part.name().to_owned()));
    Json::Object(table)
}

/// Reads what `field` is: a name, or a table with the key `name` and settings beside it.
pub(super) fn read_part<T: ?Sized>(field: &str, json: Json, rows: &[Row<T>]) -> Result<Arc<T>> {
    let (name, settings) = match json {
        Json::String(name) => (name, Map::new()),
        Json::Object(mut settings) => match settings.remove("name") {
            Some(Json::String(name)) => (name, settings),
            Some(other) => return Err(Error::invalid(format!("{field} name"), other, "text")),
            None => {
                let allowed = "present, as in { name = \"…\" }";
                return Err(Error::invalid(format!("{field} name"), "missing", allowed));
            }
        },
        other => return Err(Error::invalid(field, other, "a name, or a table with a name")),
    };
    match rows.iter().find(|row| row.name.name == name) {
        Some(row) => (row.read)(settings),
        None => Err(named::unknown(field, &name, rows.iter().map(|row| row.name.name))),
    }
}
