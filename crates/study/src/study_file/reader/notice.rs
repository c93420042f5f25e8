//! The commands that are run at results and at the end: `[on]`.

use wimble::internals::nearest;

use super::super::document::{Content, Entry};
use super::Reader;
use crate::notice::On;

/// What commands may be run at.
const EVENTS: [&str; 2] = ["result", "end"];

impl Reader<'_> {
    pub(super) fn on(&mut self) -> On {
        let mut on = On::default();
        let Some(entry) = self.table.get("on") else { return on };
        let Content::Table(table) = &entry.node.content else {
            self.wrong_kind(entry, "a table with `result`, `end` or both");
            return on;
        };
        for entry in &table.0 {
            let place = match entry.key.as_str() {
                "result" => &mut on.result,
                "end" => &mut on.end,
                other => {
                    let near = nearest(other, EVENTS).unwrap_or("result` or `end");
                    let message = format!("nothing is run at `{other}`; write `{near}`");
                    self.refuse(entry.key_span.clone(), message);
                    continue;
                }
            };
            *place = self.arguments(entry);
        }
        on
    }

    fn arguments(&mut self, entry: &Entry) -> Option<Vec<String>> {
        let allowed = "a list of arguments such as [\"sh\", \"notify.sh\"]; there is no shell";
        let Content::List(nodes) = &entry.node.content else {
            self.wrong_kind(entry, allowed);
            return None;
        };
        let words: Option<Vec<String>> = nodes
            .iter()
            .map(|node| match &node.content {
                Content::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        match words.filter(|words| words.first().is_some_and(|word| !word.trim().is_empty())) {
            Some(words) => Some(words),
            None => {
                let message = format!("{} must be {allowed}", entry.key);
                self.refuse(entry.node.span.clone(), message);
                None
            }
        }
    }
}
