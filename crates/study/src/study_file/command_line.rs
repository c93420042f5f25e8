//! The command of a study: an argument list with placeholders.
//!
//! `{name}` stands for the value of a parameter, `{{` and `}}` for a brace. An argument that is a list is a group: it
//! is left out as a whole where one of its parameters is inactive, which is how a flag goes with its value:
//!
//! ```toml
//! command = ["./train", "--rate", "{rate}", ["--momentum", "{momentum}"]]
//! ```
//!
//! In a study with a fidelity its name stands for the fidelity up to which the trial is evaluated now: `{epochs}`. A command that takes
//! it can be continued later.
//!
//! A filled argument reaches the program as one argument, whatever is in it: there is no shell between.

use wimble::space::{Configuration, SearchSpace};

/// What else may stand in braces. A parameter of the same name comes first.
pub const FACTS: [(&str, &str); 6] = [
    ("trial", "the trial's number"),
    ("study", "the study's name"),
    ("slot", "the worker's number, from 0, as for choosing a GPU"),
    ("params_file", "a JSON file with the parameters"),
    ("result_file", "where the result may be written"),
    ("folder", "the trial's own folder"),
];

/// What the placeholders that are no parameters stand for.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "see FACTS")]
pub struct Facts {
    pub trial: u64,
    pub study: String,
    pub slot: usize,
    pub params_file: String,
    pub result_file: String,
    pub folder: String,
    /// The name of the fidelity, and up to where the trial is evaluated.
    pub until: Option<(String, f64)>,
}

impl Facts {
    fn get(&self, name: &str) -> Option<String> {
        if let Some((_, until)) = self.until.as_ref().filter(|(fidelity, _)| fidelity == name) {
            return Some(until.to_string());
        }
        Some(match name {
            "trial" => self.trial.to_string(),
            "study" => self.study.clone(),
            "slot" => self.slot.to_string(),
            "params_file" => self.params_file.clone(),
            "result_file" => self.result_file.clone(),
            "folder" => self.folder.clone(),
            _ => return None,
        })
    }
}

/// Text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Placeholder(String),
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The part that is wrong.
    pub part: String,
    /// What is wrong, and the remedy.
    pub message: String,
}

impl Template {
    /// Reads placeholders. Whether they exist is checked by [`Self::check`].
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            if rest[at + 1..].starts_with(brace) {
                literal.push_str(brace);
                rest = &rest[at + 2..];
                continue;
            }
            let name = rest[at + 1..].split(['{', '}']).next().unwrap_or_default();
            let closed = rest[at + 1 + name.len()..].starts_with('}');
            if brace == "}" || !closed || name.is_empty() {
                let part = if brace == "{" && closed { "{}" } else { brace };
                return Err(Unreadable {
                    part: part.to_owned(),
                    message: format!(
                        "`{part}` is no placeholder; write {{name}} for a parameter, or {{{{ and }}}} for braces"
                    ),
                });
            }
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Placeholder(name.to_owned()));
            rest = &rest[at + 2 + name.len()..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        if let Some(Piece::Text(text)) =
            pieces.iter().find(|piece| matches!(piece, Piece::Text(text) if text.contains('\0')))
        {
            let message = "no argument of a program can have a zero byte".to_owned();
            return Err(Unreadable { part: text.clone(), message });
        }
        Ok(Self(pieces))
    }

    /// The names in braces.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Placeholder(name) => Some(name.as_str()),
        })
    }

    /// Refuses a name that stands for nothing: neither for a parameter nor for the fidelity of the study nor for a fact.
    pub fn check(&self, space: &SearchSpace, fidelity: Option<&str>) -> Result<(), Unreadable> {
        let parameters = || space.parameters().map(|parameter| parameter.name).chain(fidelity);
        for name in self.placeholders() {
            if parameters().any(|known| known == name)
                || FACTS.iter().any(|(fact, _)| *fact == name)
            {
                continue;
            }
            let known: Vec<&str> =
                parameters().chain(FACTS.iter().map(|(fact, _)| *fact)).collect();
            let hint = wimble::internals::nearest(name, known.iter().copied())
                .map_or_else(String::new, |near| format!("; the nearest is {{{near}}}"));
            return Err(Unreadable {
                part: format!("{{{name}}}"),
                message: format!(
                    "{{{name}}} is no parameter; there are {}{hint}. For a brace as such, write {{{{ or }}}}",
                    known.join(", ")
                ),
            });
        }
        Ok(())
    }

    /// The text with its values; `None` where a parameter is inactive.
    pub fn fill(&self, configuration: &Configuration, facts: &Facts) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Placeholder(name) => match configuration.get(name) {
                    Some(value) => text.push_str(&value.to_string()),
                    None => text.push_str(&facts.get(name)?),
                },
            }
        }
        Some(text)
    }
}

/// Part of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// One argument.
    One(Template),
    /// Arguments that go together: left out where one of their parameters is inactive.
    Group(Vec<Template>),
}

impl Argument {
    fn templates(&self) -> &[Template] {
        match self {
            Self::One(template) => std::slice::from_ref(template),
            Self::Group(templates) => templates,
        }
    }
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(pub Vec<Argument>);

impl CommandLine {
    /// The arguments with their values, the program first.
    pub fn fill(&self, configuration: &Configuration, facts: &Facts) -> Vec<String> {
        self.0
            .iter()
            .filter_map(|argument| {
                argument
                    .templates()
                    .iter()
                    .map(|template| template.fill(configuration, facts))
                    .collect::<Option<Vec<_>>>()
            })
            .flatten()
            .collect()
    }

    /// The names in braces, with repetitions.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(Argument::templates).flat_map(Template::placeholders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::space::{Dimension, Value};

    fn facts() -> Facts {
        Facts {
            trial: 7,
            study: "s".into(),
            slot: 0,
            params_file: "p.json".into(),
            result_file: "r".into(),
            folder: "f".into(),
            until: Some(("epochs".into(), 9.0)),
        }
    }

    fn filled(text: &str, configuration: &Configuration) -> Option<String> {
        Template::parse(text).unwrap().fill(configuration, &facts())
    }

    #[test]
    fn values_are_put_in_exactly_as_they_are() {
        let nasty = "; rm -rf ~ $(reboot) `x` \n\"quoted\" {lr} {{";
        let configuration: Configuration =
            [("lr", Value::Real(1e-5)), ("text", nasty.into()), ("n", 3.into())]
                .into_iter()
                .collect();
        assert_eq!(filled("--lr={lr}", &configuration).unwrap(), "--lr=1e-5");
        assert_eq!(filled("{text}", &configuration).unwrap(), nasty);
        assert_eq!(filled("{{{n}}}", &configuration).unwrap(), "{3}");
        assert_eq!(filled("{{n}}", &configuration).unwrap(), "{n}");
        assert_eq!(filled("t{trial}-{lr}{n}", &configuration).unwrap(), "t7-1e-53");
        assert_eq!(filled("--epochs={epochs}", &configuration).unwrap(), "--epochs=9");
        let own = [("epochs", 3)].into_iter().collect();
        assert_eq!(filled("{epochs}", &own).unwrap(), "3", "a parameter comes first");
        assert_eq!(filled("", &configuration).unwrap(), "");
        assert_eq!(filled("{other}", &configuration), None);
    }

    #[test]
    fn a_group_goes_with_its_parameter() {
        let template = |text| Template::parse(text).unwrap();
        let command = CommandLine(vec![
            Argument::One(template("train")),
            Argument::Group(vec![template("--momentum"), template("{momentum}")]),
            Argument::One(template("end")),
        ]);
        let with = [("momentum", 0.5)].into_iter().collect();
        assert_eq!(command.fill(&with, &facts()), ["train", "--momentum", "0.5", "end"]);
        assert_eq!(command.fill(&Configuration::new(), &facts()), ["train", "end"]);
        assert_eq!(command.placeholders().collect::<Vec<_>>(), ["momentum"]);
    }

    #[test]
    fn what_stands_for_nothing_is_refused() {
        let space = SearchSpace::new([Dimension::real("rate", 0.0, 1.0)]).unwrap();
        let refused =
            |text: &str| Template::parse(text).unwrap().check(&space, None).unwrap_err().message;
        let epochs = Template::parse("{epochs}").unwrap();
        assert_eq!(epochs.check(&space, Some("epochs")), Ok(()));
        assert!(epochs.check(&space, None).is_err());
        assert!(refused("{rat}").contains("the nearest is {rate}"));
        assert!(refused("{x y}").contains("there are rate, trial, study"));
        for (text, part) in [("{", "{"), ("a}b", "}"), ("{}", "{}"), ("{a{b}", "{"), ("{rate", "{")]
        {
            assert_eq!(Template::parse(text).unwrap_err().part, part, "{text}");
        }
    }
}
