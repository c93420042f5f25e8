//! The goal: `direction` for one value, or tables of objectives and constraints.
//!
//! ```toml
//! [objectives]
//! error = "minimise"
//! latency = { direction = "minimise", reference = 100 }
//!
//! [constraints]
//! memory = "<= 8"
//! humidity = [">= 20", "<= 60"]
//! ```

use wimble::goal::{Bound, Direction, Goal, Objective};

use super::super::document::{Content, Entry, Node, Table};
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
        let bounds: Vec<(&Entry, &Node, Bound)> =
            self.entries("constraints").into_iter().flat_map(|entry| self.bounds(entry)).collect();
        if self.mistakes.len() > before {
            return None;
        }
        let mut goal = match (direction, objectives.is_empty()) {
            (direction, true) => Goal::from(direction.unwrap_or_default()),
            (None, false) => {
                if let [(entry, Objective { reference: Some(_), .. })] = &objectives[..] {
                    let message = "a reference belongs to two objectives or more: it is where their hypervolume ends";
                    self.refuse(entry.node.span.clone(), message);
                    return None;
                }
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
        for (entry, node, bound) in bounds {
            goal = match goal.limit(&entry.key, bound) {
                Ok(goal) => goal,
                Err(error) => {
                    self.refuse(node.span.clone(), error.to_string());
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

    /// `error = "minimise"`, or a table with a reference too.
    fn objective(&mut self, entry: &'t Entry) -> Option<Objective> {
        let name = entry.key.clone();
        let fields = match &entry.node.content {
            Content::Text(_) => {
                let direction = self.direction_of(&name, &entry.node)?;
                return Some(Objective { name, direction, reference: None });
            }
            Content::Table(fields) => fields,
            _ => {
                self.wrong_kind(entry, "\"minimise\", \"maximise\", or a table with `direction`");
                return None;
            }
        };
        for Entry { key, key_span, .. } in &fields.0 {
            if !["direction", "reference"].contains(&key.as_str()) {
                let message = format!(
                    "the objective `{name}` has no field `{key}`; there are direction and reference"
                );
                self.refuse(key_span.clone(), message);
            }
        }
        let direction = match fields.get("direction") {
            Some(entry) => self.direction_of(&name, &entry.node),
            None => {
                let message = format!(
                    "the objective `{name}` needs a direction, \"minimise\" or \"maximise\""
                );
                self.refuse(entry.node.span.clone(), message);
                None
            }
        };
        let reference = match fields.get("reference").map(|entry| &entry.node) {
            None => None,
            Some(Node { content: Content::Integer(value), .. }) => Some(*value as f64),
            Some(Node { content: Content::Real(value), .. }) if value.is_finite() => Some(*value),
            Some(node) => {
                let given = self.text.get(node.span.clone()).unwrap_or_default();
                let message = format!(
                    "the reference of objective `{name}` is {given}, but must be a finite number"
                );
                self.refuse(node.span.clone(), message);
                return None;
            }
        };
        Some(Objective { name, direction: direction?, reference })
    }

    fn direction_of(&mut self, objective: &str, node: &Node) -> Option<Direction> {
        let found = match &node.content {
            Content::Text(text) => DIRECTIONS.iter().find(|(word, _)| word == text),
            _ => None,
        };
        if found.is_none() {
            let given = self.text.get(node.span.clone()).unwrap_or_default();
            let message = format!(
                "the objective `{objective}` is {given}, but must be \"minimise\" or \"maximise\""
            );
            self.refuse(node.span.clone(), message);
        }
        found.map(|(_, direction)| *direction)
    }

    /// The limits of a quantity: one as text, or a list.
    fn bounds(&mut self, entry: &'t Entry) -> Vec<(&'t Entry, &'t Node, Bound)> {
        let nodes = match &entry.node.content {
            Content::List(nodes) if !nodes.is_empty() => nodes.iter().collect(),
            _ => vec![&entry.node],
        };
        let bound = |node| self.bound(entry, node).map(|bound| (entry, node, bound));
        nodes.into_iter().filter_map(bound).collect()
    }

    fn bound(&mut self, entry: &'t Entry, node: &'t Node) -> Option<Bound> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let bound = match &node.content {
            Content::Text(text) => match text.trim().split_at_checked(2) {
                Some(("<=", rest)) => number(rest).map(Bound::AtMost),
                Some((">=", rest)) => number(rest).map(Bound::AtLeast),
                _ => None,
            },
            _ => None,
        };
        if bound.is_none() {
            let given = self.text.get(node.span.clone()).unwrap_or_default();
            let message = format!(
                "the constraint `{}` is {given}, but must be a limit such as \"<= 8\" or \">= 0.5\"",
                entry.key
            );
            self.refuse(node.span.clone(), message);
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
        let text = format!("name = \"s\"\nmethod = \"sobol\"\n{goal}\n{space}\n");
        let file = StudyFile::parse("s.toml", &text, Format::Toml);
        file.map(|file| file.goal).map_err(|mistakes| mistakes.to_string())
    }

    #[test]
    fn a_direction_and_named_objectives_are_goals() {
        assert_eq!(read("").unwrap(), Direction::Minimise.into());
        assert_eq!(read("direction = \"maximize\"").unwrap(), Direction::Maximise.into());
        let named = Goal::new([Objective::maximise("speed")]).unwrap();
        assert_eq!(read("[objectives]\nspeed = \"maximise\"").unwrap(), named);
        let text = "[objectives]\nerror = \"minimise\"\n\
                    speed = { direction = \"maximize\", reference = 0.5 }\n\
                    [constraints]\nmemory = [\"<= 8\", \">=1.5\"]\nspeed = \">= 2\"";
        let both =
            Goal::new([Objective::minimise("error"), Objective::maximise("speed").reference(0.5)]);
        let limits = both
            .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
            .and_then(|goal| goal.limit("memory", Bound::AtLeast(1.5)))
            .and_then(|goal| goal.limit("speed", Bound::AtLeast(2.0)));
        assert_eq!(read(text).unwrap(), limits.unwrap());
        let limited = Goal::default().limit("memory", Bound::AtMost(8.0)).unwrap();
        assert_eq!(read("[constraints]\nmemory = \"<= 8\"").unwrap(), limited);
    }

    #[test]
    fn mistakes_are_shown_at_their_place() {
        for (goal, words) in [
            ("[objectives]\ne = \"smaller\"", "s.toml:4:5: the objective `e` is \"smaller\""),
            ("[objectives]\ne = 3", "4:5: e is 3, but must be \"minimise\""),
            ("objectives = 3", "objectives is 3, but must be a table"),
            ("[objectives]\n", "objectives is empty; leave it out"),
            (
                "direction = \"minimise\"\n[objectives]\ne = \"minimise\"",
                "s.toml:3:13: direction belongs to a study of one value",
            ),
            ("[constraints]\nm = \"< 8\"", "s.toml:4:5: the constraint `m` is \"< 8\""),
            ("[constraints]\nm = [\"<= 8\", 3]", "4:14: the constraint `m` is 3"),
            ("[constraints]\nm = []", "4:5: the constraint `m` is []"),
            ("[constraints]\nm = [\"<= 8\", \"<= 9\"]", "4:14: the name of a constraint is m"),
            (
                "[constraints]\nm = [\"<= 8\", \">= 9\"]",
                "4:14: the bound of constraint `m` is >= 9, but must be one that some value meets together with <= 8",
            ),
            (
                "[objectives]\na = { reference = 3 }",
                "4:5: the objective `a` needs a direction, \"minimise\" or \"maximise\"",
            ),
            (
                "[objectives]\na = { direction = \"minimise\", ref = 3 }",
                "4:31: the objective `a` has no field `ref`; there are direction and reference",
            ),
            (
                "[objectives]\na = { direction = \"down\" }",
                "4:19: the objective `a` is \"down\", but must be \"minimise\" or \"maximise\"",
            ),
            (
                "[objectives]\na = \"minimise\"\nb = { direction = \"minimise\", reference = inf }",
                "5:43: the reference of objective `b` is inf, but must be a finite number",
            ),
            (
                "[objectives]\na = { direction = \"minimise\", reference = 3 }",
                "4:5: a reference belongs to two objectives or more",
            ),
            (
                "[objectives]\na = \"minimise\"\nb = { direction = \"minimise\", reference = 10 }\n\
                 [constraints]\nb = \">= 20\"",
                "7:5: the reference of objective `b` is 10, but must be worse than the best value",
            ),
        ] {
            let error = read(goal).unwrap_err();
            assert!(error.contains(words), "{goal}: {error}");
        }
    }

    #[test]
    fn a_method_that_does_not_serve_the_goal_is_refused_with_those_that_do() {
        let two = "[objectives]\na = \"minimise\"\nb = \"maximise\"";
        let text = |method: &str| {
            let space = "[space]\nx = { type = \"real\", low = 0, high = 1 }";
            format!("name = \"s\"\nmethod = \"{method}\"\n{two}\n{space}\n")
        };
        let read = |method| StudyFile::parse("s.toml", &text(method), Format::Toml);
        assert!(read("sobol").is_ok());
        let error = read("cma-es").unwrap_err().to_string();
        assert!(error.contains("s.toml:2:10: the method does not fit: `cma-es`"), "{error}");
        assert!(error.contains("random"), "{error}");
    }
}
