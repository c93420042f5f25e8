//! The goal: `direction` for one value, or tables of objectives and constraints.
//!
//! ```toml
//! [objectives]
//! error = "minimise"
//!
//! [constraints]
//! memory = "<= 8"
//! ```

use wimble::goal::{Bound, Direction, Goal, Objective};

use super::super::document::{Content, Entry, Table};
use super::Reader;

/// The words for a direction. Both spellings are read; the first is the one that messages name.
const DIRECTIONS: [(&str, Direction); 4] = [
    ("minimise", Direction::Minimise),
    ("maximise", Direction::Maximise),
    ("minimize", Direction::Minimise),
    ("maximize", Direction::Maximise),
];

impl<'t> Reader<'t> {
    /// What the study is for; `None` after a mistake.
    pub(super) fn goal(&mut self) -> Option<Goal> {
        let before = self.mistakes.len();
        let direction = self.word("direction", &DIRECTIONS);
        let objectives: Vec<(&Entry, Objective)> = self
            .entries("objectives")
            .into_iter()
            .filter_map(|entry| self.objective(entry).map(|objective| (entry, objective)))
            .collect();
        let bounds: Vec<(&Entry, Bound)> = self
            .entries("constraints")
            .into_iter()
            .filter_map(|entry| self.bound(entry).map(|bound| (entry, bound)))
            .collect();
        if self.mistakes.len() > before {
            return None;
        }
        let mut goal = match (direction, objectives.is_empty()) {
            (direction, true) => Goal::from(direction.unwrap_or_default()),
            (None, false) => {
                let place = objectives[0].0.key_span.clone();
                let all = objectives.into_iter().map(|(_, objective)| objective);
                match Goal::new(all) {
                    Ok(goal) => goal,
                    Err(error) => {
                        self.refuse(place, error.to_string());
                        return None;
                    }
                }
            }
            (Some(_), false) => {
                let message = "direction belongs to a study of one value; under [objectives], \
                               give each objective its own";
                self.refuse(self.place("direction"), message);
                return None;
            }
        };
        for (entry, bound) in bounds {
            goal = match goal.limit(&entry.key, bound) {
                Ok(goal) => goal,
                Err(error) => {
                    self.refuse(entry.key_span.clone(), error.to_string());
                    return None;
                }
            };
        }
        Some(goal)
    }

    /// The entries of a table; none where there is no such table.
    fn entries(&mut self, key: &str) -> Vec<&'t Entry> {
        let Some(entry) = self.table.get(key) else { return Vec::new() };
        match &entry.node.content {
            Content::Table(Table(entries)) if !entries.is_empty() => entries.iter().collect(),
            Content::Table(_) => {
                self.refuse(entry.key_span.clone(), format!("{key} is empty; leave it out"));
                Vec::new()
            }
            _ => {
                self.wrong_kind(entry, "a table");
                Vec::new()
            }
        }
    }

    fn objective(&mut self, entry: &'t Entry) -> Option<Objective> {
        let text = self.text_of(entry)?;
        let direction = DIRECTIONS.iter().find(|(word, _)| *word == text).map(|found| found.1);
        if direction.is_none() {
            let message = format!(
                "the objective `{}` is {text:?}, but must be \"minimise\" or \"maximise\"",
                entry.key
            );
            self.refuse(entry.node.span.clone(), message);
        }
        Some(Objective { name: entry.key.clone(), direction: direction? })
    }

    fn bound(&mut self, entry: &'t Entry) -> Option<Bound> {
        let text = self.text_of(entry)?;
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let bound = match text.trim().split_at_checked(2) {
            Some(("<=", rest)) => number(rest).map(Bound::AtMost),
            Some((">=", rest)) => number(rest).map(Bound::AtLeast),
            _ => None,
        };
        if bound.is_none() {
            let message = format!(
                "the constraint `{}` is {text:?}, but must be a limit such as \"<= 8\" or \">= 0.5\"",
                entry.key
            );
            self.refuse(entry.node.span.clone(), message);
        }
        bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_file::{Format, StudyFile};

    fn read(goal: &str) -> Result<Goal, String> {
        let space = "[space]\nx = { type = \"real\", low = 0, high = 1 }";
        let text = format!("name = \"s\"\n{goal}\n{space}\n");
        let file = StudyFile::parse("s.toml", &text, Format::Toml);
        file.map(|file| file.goal).map_err(|mistakes| mistakes.to_string())
    }

    #[test]
    fn a_direction_and_a_named_objective_are_goals() {
        assert_eq!(read("").unwrap(), Direction::Minimise.into());
        assert_eq!(read("direction = \"maximize\"").unwrap(), Direction::Maximise.into());
        let named = Goal::new([Objective::maximise("speed")]).unwrap();
        assert_eq!(read("[objectives]\nspeed = \"maximise\"").unwrap(), named);
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (goal, words) in [
            ("[objectives]\ne = \"smaller\"", "s.toml:3:5: the objective `e` is \"smaller\""),
            ("[objectives]\ne = 3", "3:5"),
            ("objectives = 3", "objectives is a whole number, but must be a table"),
            ("[objectives]\n", "objectives is empty; leave it out"),
            (
                "direction = \"minimise\"\n[objectives]\ne = \"minimise\"",
                "s.toml:2:13: direction belongs to a study of one value",
            ),
            ("[constraints]\nm = \"< 8\"", "the constraint `m` is \"< 8\""),
            (
                "[constraints]\nm = \"<= 8\"",
                "the goal has 1 objective and 1 constraint, but a study has one objective for now",
            ),
            ("[objectives]\na = \"minimise\"\nb = \"maximise\"", "the goal has 2 objectives"),
        ] {
            let error = read(goal).unwrap_err();
            assert!(error.contains(words), "{goal}: {error}");
        }
    }
}
