//! Given values of some parameters.

use wimble::internals::nearest;
use wimble::space::{Configuration, Fixed, SearchSpace, Value};

use super::super::document::Content;
use super::Reader;

impl Reader<'_> {
    pub(super) fn fixed(&mut self, space: Option<&SearchSpace>) -> Configuration {
        let mut values = Configuration::new();
        let Some(entry) = self.table.get("fixed") else { return values };
        let Content::Table(table) = &entry.node.content else {
            self.wrong_kind(entry, "a table of parameters and their values");
            return values;
        };
        // A space with mistakes of its own has no parameters to compare with.
        let Some(space) = space else { return values };
        for entry in &table.0 {
            let names = space.parameters().map(|parameter| parameter.name);
            if !names.clone().any(|name| name == entry.key) {
                let hint = nearest(&entry.key, names.clone()).map_or_else(
                    || format!("there are {}", names.collect::<Vec<_>>().join(", ")),
                    |near| format!("the nearest is `{near}`"),
                );
                let message = format!("there is no parameter `{}`; {hint}", entry.key);
                self.refuse(entry.key_span.clone(), message);
                continue;
            }
            let value = match &entry.node.content {
                Content::Boolean(value) => Value::Boolean(*value),
                Content::Integer(value) => Value::Integer(*value),
                Content::Real(value) => Value::Real(*value),
                Content::Text(text) => Value::Text(text.clone()),
                _ => {
                    self.wrong_kind(entry, "a value of the parameter");
                    continue;
                }
            };
            let one: Configuration = [(entry.key.clone(), value.clone())].into_iter().collect();
            match Fixed::new(space, one) {
                Ok(_) => {
                    values.insert(entry.key.clone(), value);
                }
                Err(error) => self.refuse(entry.node.span.clone(), error.to_string()),
            }
        }
        // Each may be possible, and all together not.
        if let Err(error) = Fixed::new(space, values.clone()) {
            self.refuse(entry.key_span.clone(), error.to_string());
        }
        values
    }
}
