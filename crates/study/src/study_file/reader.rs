//! From a tree with places to a checked [`StudyFile`]: all mistakes are collected, each with its place.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use wimble::seed::Seed;
use wimble::session::Direction;
use wimble::space::{Configuration, Dimension, SearchSpace};
use wimble::strategy::Spec;

use super::document::{Content, Entry, Node, Table};
use super::mistake::{Mistake, nearest};
use super::{
    Argument, CommandLine, DEFAULT_GRACE, Evaluation, INFEASIBLE_EXIT, StartIn, StudyFile,
    Template, Unreadable, duration, variable,
};
use crate::error::Error;

/// The settings of a study file, and what each is for.
pub const SETTINGS: [(&str, &str); 20] = [
    ("name", "the study's name, unique in a storage"),
    ("command", "the program and its arguments, with {name} for a parameter"),
    ("direction", "\"minimise\" (the default) or \"maximise\""),
    ("method", "as listed by `wimble methods`, with settings: \"bore++ rule=candidates\""),
    ("trials", "how many trials there will be [100]"),
    ("time", "after how long a run begins no more trials, such as \"8h\""),
    ("workers", "how many commands run at a time [1]"),
    ("batch-size", "how many points are proposed together [as many as workers]"),
    ("seed", "the same seed and the same results give the same suggestions [0]"),
    ("timeout", "how long a command may run"),
    ("grace", "how long a command has to end after it was asked to [5s]"),
    ("retries", "how often a command that failed is run again [0]"),
    ("infeasible-exit", "the exit code of an infeasible configuration [77]"),
    ("folders", "where each trial has a folder with its parameters and logs"),
    ("start-in", "where commands start: \"study-file\" (its folder, the default) or \"trial\""),
    ("environment", "a table of further environment variables"),
    ("lease", "how long a trial stays with a worker that is not heard of [60s]"),
    ("lost-retries", "how often a trial whose worker was lost goes back to the queue [3]"),
    ("space", "a table of the parameters"),
    ("repeats", "whether a configuration may be tried again [false]"),
];

/// More commands at a time than any machine should start.
const MOST_WORKERS: i64 = 4_096;

pub(super) fn read(text: &str, table: &Table) -> Result<StudyFile, Vec<Mistake>> {
    let mut reader = Reader { text, table, mistakes: Vec::new() };
    let file = reader.study_file();
    match file {
        Some(file) if reader.mistakes.is_empty() => Ok(file),
        _ => Err(reader.mistakes),
    }
}

struct Reader<'t> {
    text: &'t str,
    table: &'t Table,
    mistakes: Vec<Mistake>,
}

impl<'t> Reader<'t> {
    fn study_file(&mut self) -> Option<StudyFile> {
        self.unknown_settings();
        let name = self.name();
        let space = self.space();
        let direction = self.word(
            "direction",
            &[
                ("minimise", Direction::Minimise),
                ("maximise", Direction::Maximise),
                ("minimize", Direction::Minimise),
                ("maximize", Direction::Maximise),
            ],
        );
        let method = self.method();
        let whole = |(low, high): (i64, i64)| low..=high;
        let workers = self.integer("workers", whole((1, MOST_WORKERS)));
        let batch_size = self.integer("batch-size", whole((1, 10_000)));
        let seed = self.integer("seed", whole((0, i64::MAX)));
        let trials = self.integer("trials", whole((1, i64::MAX)));
        let lost_retries = self.integer("lost-retries", whole((0, 1_000_000)));
        let (time, lease) = (self.duration("time"), self.duration("lease"));
        let evaluation = self.evaluation(space.as_ref());
        let file = StudyFile {
            name: name?,
            direction: direction.unwrap_or_default(),
            space: space?,
            method,
            batch_size: batch_size.and_then(|size| usize::try_from(size).ok()),
            seed: seed.map(|seed| Seed(seed as u64)),
            trials: trials.map(|trials| trials as u64),
            time,
            workers: workers.and_then(|workers| usize::try_from(workers).ok()).unwrap_or(1),
            lease,
            lost_retries: lost_retries.and_then(|retries| u32::try_from(retries).ok()),
            evaluation,
        };
        self.check_whole(&file);
        Some(file)
    }

    /// What no part shows by itself: the method on the space, the budget of a finite space.
    fn check_whole(&mut self, file: &StudyFile) {
        let settings = file.settings(None);
        if let Err(error) = settings.check() {
            let key = match &error {
                Error::Invalid { field: "budget", .. } => "trials",
                Error::Invalid { field: "lease", .. } => "lease",
                Error::Invalid { field: "batch size", .. } => "batch-size",
                _ => "name",
            };
            let message = match error {
                Error::Invalid { value, allowed, .. } => {
                    format!("{key} is {value}, but must be {allowed}")
                }
                other => other.to_string(),
            };
            self.refuse(self.place(key), message);
        }
        let fits = settings
            .method
            .build(settings.batch_size)
            .and_then(|method| method.check(&settings.space));
        if let Err(error) = fits {
            self.refuse(self.place("method"), format!("the method does not fit: {error}"));
        }
    }

    fn unknown_settings(&mut self) {
        for entry in &self.table.0 {
            if SETTINGS.iter().any(|(name, _)| *name == entry.key) {
                continue;
            }
            let names = SETTINGS.iter().map(|(name, _)| *name);
            let message = match nearest(&entry.key, names.clone()) {
                Some(near) => format!("unknown setting `{}`; the nearest is `{near}`", entry.key),
                None => {
                    format!(
                        "unknown setting `{}`; there are {}",
                        entry.key,
                        names.collect::<Vec<_>>().join(", ")
                    )
                }
            };
            self.refuse(entry.key_span.clone(), message);
        }
    }

    fn name(&mut self) -> Option<String> {
        let Some(entry) = self.table.get("name") else {
            self.refuse(0..0, "`name` is missing; give the study a name: name = \"…\"");
            return None;
        };
        self.text_of(entry).map(str::to_owned)
    }

    fn method(&mut self) -> Option<Spec> {
        let entry = self.table.get("method")?;
        let (read, place) = match &entry.node.content {
            Content::Text(words) => {
                (words.parse::<Spec>().map_err(|error| error.to_string()), None)
            }
            Content::Table(table) => {
                let read = serde_json::from_value::<Spec>(entry.node.to_json())
                    .map_err(|error| error.to_string());
                let place = read.as_ref().err().and_then(|message| named_in(table, message));
                (read, place)
            }
            _ => {
                (Err(format!("method is {}, but must be text or a table", entry.node.kind())), None)
            }
        };
        match read {
            Ok(spec) => Some(spec),
            Err(message) => {
                self.refuse(place.unwrap_or_else(|| entry.node.span.clone()), message);
                None
            }
        }
    }

    fn space(&mut self) -> Option<SearchSpace> {
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
        for entry in &table.0 {
            match (&entry.node.content, entry.key.as_str()) {
                (Content::Table(fields), _) => {
                    if let Some(field) = fields.get("name") {
                        let message =
                            format!("the name of the parameter is `{}`; leave this out", entry.key);
                        self.refuse(field.key_span.clone(), message);
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
                (Content::List(_), "candidates") => {
                    match serde_json::from_value::<Vec<Configuration>>(entry.node.to_json()) {
                        Ok(list) => candidates = Some(list),
                        Err(error) => {
                            self.refuse(entry.node.span.clone(), format!("candidates: {error}"))
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
                Some(space.allow_repeats(repeats.unwrap_or(false)))
            }
            Err(error) => {
                let message = error.to_string();
                let place = parameters
                    .iter()
                    .filter(|(name, _, _)| {
                        message.starts_with(&format!("{name}."))
                            || message.contains(&format!("`{name}`"))
                    })
                    .map(|(name, entry, _)| field_of(entry, name, &message))
                    .next();
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
                    format!("parameter `{}`: {}", entry.key, with_nearest(&message))
                };
                self.refuse(place, message);
                None
            }
        }
    }

    /// Two parameters must not share an environment variable.
    fn check_variables(&mut self, parameters: &[(String, &Entry, Dimension)]) {
        let mut seen: BTreeMap<String, &str> = BTreeMap::new();
        for (name, entry, _) in parameters {
            if let Some(first) = seen.insert(variable(name), name) {
                let message = format!(
                    "`{first}` and `{name}` would both be {} in the environment; rename one",
                    variable(name)
                );
                self.refuse(entry.key_span.clone(), message);
            }
        }
    }

    fn evaluation(&mut self, space: Option<&SearchSpace>) -> Option<Evaluation> {
        let timeout = self.duration("timeout");
        let grace = self.duration("grace");
        let retries = self.integer("retries", 0..=1_000_000);
        let infeasible_exit = self.integer("infeasible-exit", 1..=125);
        let start_in =
            self.word("start-in", &[("study-file", StartIn::StudyFile), ("trial", StartIn::Trial)]);
        let folders = self.table.get("folders").and_then(|entry| self.text_of(entry));
        if start_in == Some(StartIn::Trial) && self.table.get("folders").is_none() {
            let message = "start-in = \"trial\" needs `folders`, where each trial has its own";
            self.refuse(self.place("start-in"), message);
        }
        let environment = self.environment(space);
        let command = self.command(space)?;
        Some(Evaluation {
            command,
            environment,
            timeout,
            grace: grace.unwrap_or(DEFAULT_GRACE),
            retries: retries.and_then(|retries| u32::try_from(retries).ok()).unwrap_or(0),
            infeasible_exit: infeasible_exit
                .and_then(|code| i32::try_from(code).ok())
                .unwrap_or(INFEASIBLE_EXIT),
            folders: folders.map(Into::into),
            start_in: start_in.unwrap_or_default(),
        })
    }

    fn command(&mut self, space: Option<&SearchSpace>) -> Option<CommandLine> {
        let entry = self.table.get("command")?;
        let allowed = "a list of arguments such as [\"python3\", \"train.py\", \"{rate}\"]; there is no shell";
        let Content::List(nodes) = &entry.node.content else {
            self.wrong_kind(entry, allowed);
            return None;
        };
        if nodes.is_empty() {
            self.refuse(
                entry.node.span.clone(),
                format!("command is empty, but must be {allowed}"),
            );
            return None;
        }
        let arguments: Vec<Option<Argument>> = nodes
            .iter()
            .map(|node| match &node.content {
                Content::Text(text) => {
                    let template = self.template(node, text, space)?;
                    self.check_always_there(node, &template, space);
                    Some(Argument::One(template))
                }
                Content::List(group) => {
                    let templates: Vec<Option<Template>> = group
                        .iter()
                        .map(|node| match &node.content {
                            Content::Text(text) => self.template(node, text, space),
                            _ => {
                                let message = format!(
                                    "an argument is text, not {}; put it in quotes",
                                    node.kind()
                                );
                                self.refuse(node.span.clone(), message);
                                None
                            }
                        })
                        .collect();
                    Some(Argument::Group(templates.into_iter().collect::<Option<_>>()?))
                }
                _ => {
                    let message =
                        format!("an argument is text, not {}; put it in quotes", node.kind());
                    self.refuse(node.span.clone(), message);
                    None
                }
            })
            .collect();
        if let Some(Argument::Group(_)) = arguments.first().and_then(Option::as_ref) {
            self.refuse(nodes[0].span.clone(), "the program, which comes first, cannot be a group");
        }
        if let Content::Text(program) = &nodes[0].content
            && program.trim().is_empty()
        {
            self.refuse(nodes[0].span.clone(), "the program, which comes first, has no name");
        }
        arguments.into_iter().collect::<Option<_>>().map(CommandLine)
    }

    /// A conditional parameter outside a group would leave a flag without its value.
    fn check_always_there(
        &mut self,
        node: &Node,
        template: &Template,
        space: Option<&SearchSpace>,
    ) {
        let conditional = |name: &&str| {
            space.is_some_and(|space| {
                space
                    .dimensions()
                    .iter()
                    .any(|dimension| dimension.name == *name && dimension.condition.is_some())
            })
        };
        if let Some(name) = template.placeholders().find(conditional) {
            let message = format!(
                "`{name}` has a value only where its condition holds; put the argument, with its flag, in a list of \
                 its own, which is left out otherwise: [\"--{name}\", \"{{{name}}}\"]"
            );
            self.refuse(self.within(&node.span, &format!("{{{name}}}")), message);
        }
    }

    fn environment(&mut self, space: Option<&SearchSpace>) -> BTreeMap<String, Template> {
        let Some(entry) = self.table.get("environment") else { return BTreeMap::new() };
        let Content::Table(table) = &entry.node.content else {
            self.wrong_kind(entry, "a table of names and texts");
            return BTreeMap::new();
        };
        let mut variables = BTreeMap::new();
        for entry in &table.0 {
            if entry.key.is_empty()
                || entry.key.contains(['=', '\0'])
                || entry.key.starts_with("WIMBLE_")
            {
                let message = "an environment variable has a name without `=`, and WIMBLE_… are set by wimble";
                self.refuse(entry.key_span.clone(), message);
            }
            if let Some(text) = self.text_of(entry)
                && let Some(template) = self.template(&entry.node, text, space)
            {
                variables.insert(entry.key.clone(), template);
            }
        }
        variables
    }

    fn template(
        &mut self,
        node: &Node,
        text: &str,
        space: Option<&SearchSpace>,
    ) -> Option<Template> {
        let read = Template::parse(text).and_then(|template| {
            if let Some(space) = space {
                template.check(space)?;
            }
            Ok(template)
        });
        match read {
            Ok(template) => Some(template),
            Err(Unreadable { part, message }) => {
                self.refuse(self.within(&node.span, &part), message);
                None
            }
        }
    }

    fn text_of(&mut self, entry: &'t Entry) -> Option<&'t str> {
        match &entry.node.content {
            Content::Text(text) => Some(text),
            _ => {
                self.wrong_kind(entry, "text in quotes");
                None
            }
        }
    }

    fn word<T: Copy>(&mut self, key: &str, words: &[(&str, T)]) -> Option<T> {
        let entry = self.table.get(key)?;
        let text = self.text_of(entry)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let legal: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            let message = format!("{key} is {text:?}, but must be one of {}", legal.join(", "));
            self.refuse(entry.node.span.clone(), message);
        }
        found
    }

    fn integer(&mut self, key: &str, allowed: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let entry = self.table.get(key)?;
        let words = match *allowed.end() {
            i64::MAX => format!("a whole number, {} at least", allowed.start()),
            end => format!("a whole number from {} to {end}", allowed.start()),
        };
        match entry.node.content {
            Content::Integer(value) if allowed.contains(&value) => Some(value),
            Content::Integer(value) => {
                self.refuse(
                    entry.node.span.clone(),
                    format!("{key} is {value}, but must be {words}"),
                );
                None
            }
            _ => {
                self.wrong_kind(entry, &words);
                None
            }
        }
    }

    fn duration(&mut self, key: &str) -> Option<Duration> {
        let entry = self.table.get(key)?;
        let read = match &entry.node.content {
            Content::Text(text) => duration::parse(text),
            Content::Integer(seconds) => duration::from_seconds(*seconds as f64),
            Content::Real(seconds) => duration::from_seconds(*seconds),
            _ => None,
        };
        if read.is_none() {
            let given = self.text.get(entry.node.span.clone()).unwrap_or_default();
            let message = format!("{key} is {given}, but must be {}", duration::ALLOWED);
            self.refuse(entry.node.span.clone(), message);
        }
        read
    }

    fn wrong_kind(&mut self, entry: &Entry, allowed: &str) {
        let message = format!("{} is {}, but must be {allowed}", entry.key, entry.node.kind());
        self.refuse(entry.node.span.clone(), message);
    }

    fn refuse(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.mistakes.push(Mistake::at(span, message));
    }

    /// The place of a setting; the beginning if it is not there.
    fn place(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or(0..0, |entry| entry.node.span.clone())
    }

    /// The place of a part of a text, if it stands there as it is.
    fn within(&self, span: &Range<usize>, part: &str) -> Range<usize> {
        let written = self.text.get(span.clone()).unwrap_or_default();
        match written.find(part) {
            Some(at) => span.start + at..span.start + at + part.len(),
            None => span.clone(),
        }
    }
}

/// The field of a parameter that a message is about.
fn field_of(entry: &Entry, name: &str, message: &str) -> Range<usize> {
    let Content::Table(table) = &entry.node.content else { return entry.key_span.clone() };
    let about = table.0.iter().find(|field| {
        message.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| {
            rest.strip_prefix(field.key.as_str())
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    });
    match about {
        Some(field) => field.node.span.clone(),
        None => named_in(table, message).unwrap_or_else(|| entry.key_span.clone()),
    }
}

/// The entry that serde's message names: an unknown field, or an unknown word.
fn named_in(table: &Table, message: &str) -> Option<Range<usize>> {
    table.0.iter().find_map(|field| {
        if message.contains(&format!("unknown field `{}`", field.key)) {
            return Some(field.key_span.clone());
        }
        match &field.node.content {
            Content::Text(text) if message.contains(&format!("`{text}`")) => {
                Some(field.node.span.clone())
            }
            Content::Table(inner) => named_in(inner, message),
            _ => None,
        }
    })
}

/// serde's message about an unknown name, with the nearest that is known.
fn with_nearest(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let hint = quoted
        .next()
        .filter(|_| message.starts_with("unknown "))
        .and_then(|given| nearest(given, quoted))
        .map_or_else(String::new, |near| format!("; the nearest is `{near}`"));
    format!("{message}{hint}")
}
