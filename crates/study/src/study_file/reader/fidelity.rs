//! Evaluations that are carried out in part: how far one may go, and which trials are stopped early.
//!
//! ```toml
//! stopping = "auto"
//! wrong-stop = 0.05
//!
//! [fidelity]
//! epochs = { low = 1, high = 81 }
//! ```

use wimble::goal::Goal;
use wimble::stopping::Rule;

use super::super::document::{Content, Entry, Node, Table};
use super::Reader;

impl Reader<'_> {
    /// The goal with its fidelity, if the file has one; `None` after a mistake.
    pub(super) fn fidelity(&mut self, goal: Option<Goal>) -> Option<Goal> {
        let Some(entry) = self.table.get("fidelity") else {
            for key in ["stopping", "wrong-stop", "budget"] {
                if let Some(entry) = self.table.get(key) {
                    let message = format!(
                        "{key} needs a fidelity: what a command counts as it goes on, as in \
                         [fidelity] epochs = {{ low = 1, high = 81 }}"
                    );
                    self.refuse(entry.key_span.clone(), message);
                }
            }
            return goal;
        };
        let Content::Table(Table(entries)) = &entry.node.content else {
            self.wrong_kind(entry, "a table such as { epochs = { low = 1, high = 81 } }");
            return None;
        };
        let [only] = &entries[..] else {
            let place = entries.get(1).map_or(&entry.key_span, |second| &second.key_span);
            let message = format!(
                "fidelity has {} entries, but must have one: what a command counts as it goes on, as in \
                 epochs = {{ low = 1, high = 81 }}",
                entries.len()
            );
            self.refuse(place.clone(), message);
            return None;
        };
        let (low, high) = self.range(only)?;
        match goal?.fidelity(&only.key, low, high) {
            Ok(goal) => Some(goal),
            Err(error) => {
                self.refuse(only.node.span.clone(), error.to_string());
                None
            }
        }
    }

    /// The ends of the range of a fidelity.
    fn range(&mut self, entry: &Entry) -> Option<(f64, f64)> {
        let name = &entry.key;
        let Content::Table(Table(fields)) = &entry.node.content else {
            self.wrong_kind(entry, "a table such as { low = 1, high = 81 }");
            return None;
        };
        let mut ends = [None, None];
        for field in fields {
            let Some(place) = ["low", "high"].iter().position(|known| *known == field.key) else {
                let message = format!(
                    "the fidelity `{name}` has no field `{}`; there are low and high",
                    field.key
                );
                self.refuse(field.key_span.clone(), message);
                return None;
            };
            let Some(end) = number(&field.node) else {
                self.wrong_kind(field, "a number");
                return None;
            };
            ends[place] = Some(end);
        }
        let [Some(low), Some(high)] = ends else {
            let message = format!("the fidelity `{name}` needs both low and high");
            self.refuse(entry.node.span.clone(), message);
            return None;
        };
        Some((low, high))
    }

    /// How much may be carried out in all: `{ epochs = 4000 }`.
    pub(super) fn spend(&mut self, goal: Option<&Goal>) -> Option<f64> {
        let entry = self.table.get("budget")?;
        let name = &goal?.partial()?.name;
        let given = match &entry.node.content {
            Content::Table(Table(entries)) => match &entries[..] {
                [only] if only.key == *name => number(&only.node),
                _ => None,
            },
            _ => None,
        };
        let spend = given.filter(|spend| *spend > 0.0 && spend.is_finite());
        if spend.is_none() {
            let text = self.text.get(entry.node.span.clone()).unwrap_or_default().trim();
            let message = format!("budget is {text}, but must be such as {{ {name} = 4000 }}");
            self.refuse(entry.node.span.clone(), message);
        }
        spend
    }

    pub(super) fn stopping(&mut self) -> Option<Rule> {
        let entry = self.table.get("stopping")?;
        match self.text_of(entry)?.parse() {
            Ok(rule) => Some(rule),
            Err(error) => {
                self.refuse(entry.node.span.clone(), error.to_string());
                None
            }
        }
    }

    pub(super) fn wrong_stop(&mut self) -> Option<f64> {
        let entry = self.table.get("wrong-stop")?;
        match number(&entry.node) {
            Some(share) if share > 0.0 && share < 1.0 => Some(share),
            Some(share) => {
                let message =
                    format!("wrong-stop is {share}, but must be strictly between 0 and 1");
                self.refuse(entry.node.span.clone(), message);
                None
            }
            None => {
                self.wrong_kind(entry, "a number strictly between 0 and 1");
                None
            }
        }
    }
}

fn number(node: &Node) -> Option<f64> {
    match node.content {
        Content::Integer(value) => Some(value as f64),
        Content::Real(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_file::{Format, StudyFile};
    use wimble::stopping::Stopping;

    fn read(text: &str) -> Result<StudyFile, String> {
        let space = "[space]\nx = { type = \"real\", low = 0, high = 1 }";
        let text = format!("name = \"s\"\nmethod = \"random\"\n{text}\n{space}\n");
        StudyFile::parse("s.toml", &text, Format::Toml).map_err(|mistakes| mistakes.to_string())
    }

    #[test]
    fn a_fidelity_is_part_of_the_goal_and_the_rule_of_the_settings() {
        let file = read("[fidelity]\nepochs = { low = 1, high = 81 }").unwrap();
        assert_eq!(file.goal, Goal::default().fidelity("epochs", 1.0, 81.0).unwrap());
        assert_eq!(file.settings(None).stopping, Stopping::default());
        let text = "stopping = \"median\"\nwrong-stop = 0.1\n[fidelity]\nshare = { low = 0.1, high = 1 }\n\
                    [objectives]\na = \"minimise\"\nb = \"maximise\"";
        let settings = read(text).unwrap().settings(None);
        assert_eq!(settings.stopping, Stopping { rule: Rule::Median, wrong_stop: 0.1 });
        assert_eq!(settings.goal.partial().unwrap().low, 0.1);
        let limited =
            read("budget = { epochs = 4000 }\n[fidelity]\nepochs = { low = 1, high = 81 }")
                .unwrap();
        assert_eq!(
            (limited.spend, limited.settings(None).budget),
            (Some(4_000.0), i64::MAX as u64)
        );
        // A study that exists keeps its rule where the file names none.
        let plain = read("[fidelity]\nepochs = { low = 1, high = 81 }").unwrap();
        let stored = plain.settings(None).stopping(Rule::None);
        assert_eq!(plain.settings(Some(&stored)).stopping, stored.stopping);
        let error = plain.settings(None).check_same(&stored).unwrap_err().to_string();
        assert!(error.contains("its stopping is none (wrong-stop 0.05), not auto"), "{error}");
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (text, words) in [
            ("fidelity = 3", "3:12: fidelity is 3, but must be a table such as"),
            ("[fidelity]\n", "3:2: fidelity has 0 entries, but must have one"),
            (
                "[fidelity]\na = { low = 1, high = 2 }\nb = { low = 1, high = 2 }",
                "5:1: fidelity has 2 entries",
            ),
            ("[fidelity]\nepochs = 81", "4:10: epochs is 81, but must be a table"),
            (
                "[fidelity]\nepochs = { high = 81 }",
                "4:10: the fidelity `epochs` needs both low and high",
            ),
            (
                "[fidelity]\nepochs = { low = 1, max = 81 }",
                "4:21: the fidelity `epochs` has no field `max`; there are low and high",
            ),
            (
                "[fidelity]\nepochs = { low = \"1\", high = 81 }",
                "4:18: low is \"1\", but must be a number",
            ),
            (
                "[fidelity]\nepochs = { low = 0, high = 81 }",
                "4:10: the range of fidelity `epochs` is 0 to 81",
            ),
            (
                "[fidelity]\nepochs = { low = 9, high = 9 }",
                "4:10: the range of fidelity `epochs` is 9 to 9",
            ),
            ("stopping = \"auto\"", "3:1: stopping needs a fidelity"),
            ("wrong-stop = 0.1", "3:1: wrong-stop needs a fidelity"),
            ("budget = { epochs = 9 }", "3:1: budget needs a fidelity"),
            (
                "budget = 4000\n[fidelity]\nepochs = { low = 1, high = 2 }",
                "3:10: budget is 4000, but must be such as { epochs = 4000 }",
            ),
            (
                "budget = { epoch = 9 }\n[fidelity]\nepochs = { low = 1, high = 2 }",
                "3:10: budget is { epoch = 9 }, but must be such as { epochs = 4000 }",
            ),
            ("stopping = \"medain\"\n[fidelity]\ne = { low = 1, high = 2 }", "3:12: "),
            (
                "wrong-stop = 1\n[fidelity]\ne = { low = 1, high = 2 }",
                "3:14: wrong-stop is 1, but must be strictly between 0 and 1",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
