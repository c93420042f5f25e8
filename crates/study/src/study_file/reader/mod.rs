//! From a tree with places to a checked [`StudyFile`]: all mistakes are collected, each with its place.

mod evaluation;
mod fidelity;
mod fixed;
mod goal;
mod known;
mod notice;
mod shape;
mod space;

use std::ops::Range;
use std::time::Duration;

use wimble::goal::Goal;
use wimble::internals::nearest;
use wimble::seed::Seed;
use wimble::strategy::Spec;

use super::document::{Content, Entry, Node, Table};
use super::mistake::Mistake;
use super::{StudyFile, duration};
use crate::advice::StopWhen;
use crate::error::Error;

/// The settings of a study file, and what each is for.
pub const SETTINGS: [(&str, &str); 30] = [
    ("name", "the study's name, unique in a storage"),
    ("command", "the program and its arguments, with {name} for a parameter"),
    ("direction", "\"minimise\" (the default) or \"maximise\""),
    (
        "objectives",
        "a table instead of `direction`: each value's name, and \"minimise\" or \"maximise\"",
    ),
    ("constraints", "a table of limits on measured quantities, such as \"<= 8\""),
    (
        "fidelity",
        "a table with the one measure of how far an evaluation is, such as epochs = { low = 1, high = 81 }",
    ),
    ("stopping", "which trials are stopped early: none, median, halving, hyperband or auto [auto]"),
    ("wrong-stop", "how often the best configuration may be stopped by mistake [0.05]"),
    ("method", "as listed by `wimble methods`, with settings: \"bore++ rule=candidates\""),
    ("trials", "how many trials there will be [100]"),
    (
        "budget",
        "with a fidelity, in place of `trials`: how much is carried out in all, such as { epochs = 4000 }",
    ),
    ("time", "how long a run begins new trials, such as \"8h\""),
    (
        "stop-when",
        "ends a run once 100 more trials are expected to improve the best value by less: \"gain < 0.01\" or \"gain < 1 %\"",
    ),
    ("workers", "how many commands run at a time [1]"),
    ("batch-size", "how many points are proposed together [as many as workers]"),
    ("seed", "the same seed and the same results give the same suggestions [0]"),
    ("timeout", "how long a command may run"),
    ("grace", "time between asking a command to end and killing it [5s]"),
    ("retries", "how often a command that failed is run again [0]"),
    ("infeasible-exit", "the exit code of an infeasible configuration [77]"),
    ("folders", "where each trial has a folder with its parameters and logs"),
    ("start-in", "where commands start: \"study-file\" (its folder, the default) or \"trial\""),
    ("environment", "a table of further environment variables"),
    ("lease", "how long a worker keeps a trial without a heartbeat [60s]"),
    ("lost-retries", "how many times a trial may lose its worker before it counts as failed [3]"),
    ("space", "a table of the parameters"),
    (
        "known",
        "a list of constraints that every suggestion meets, such as \"batch * layers <= 4096\"",
    ),
    (
        "fixed",
        "a table of parameters with given values; the method chooses the rest, and another run may fix others",
    ),
    ("on", "a table of commands that are run at each `result` and at the `end` of a run"),
    ("repeats", "whether the same configuration may be tried again [false]"),
];

/// Bytes of a value that a message repeats.
const LONGEST_SHOWN: usize = 40;

/// More commands than any machine should run at the same time.
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
        let goal = self.goal();
        let goal = self.fidelity(goal);
        let (stopping, wrong_stop) = (self.stopping(), self.wrong_stop());
        let spend = self.spend(goal.as_ref());
        let stop_when = self.stop_when(goal.as_ref());
        let method = self.method();
        let whole = |(low, high): (i64, i64)| low..=high;
        let workers = self.integer("workers", whole((1, MOST_WORKERS)));
        let batch_size = self.integer("batch-size", whole((1, 10_000)));
        let seed = self.integer("seed", whole((0, i64::MAX)));
        let trials = self.integer("trials", whole((1, i64::MAX)));
        let lost_retries = self.integer("lost-retries", whole((0, 1_000_000)));
        let (time, lease) = (self.duration("time"), self.duration("lease"));
        let fixed = self.fixed(space.as_ref());
        let on = self.on();
        let evaluation = self.evaluation(space.as_ref());
        let file = StudyFile {
            name: name?,
            goal: goal?,
            space: space?,
            method,
            batch_size: batch_size.and_then(|size| usize::try_from(size).ok()),
            seed: seed.map(|seed| Seed(seed as u64)),
            trials: trials.map(|trials| trials as u64),
            time,
            spend,
            stop_when,
            workers: workers.and_then(|workers| usize::try_from(workers).ok()).unwrap_or(1),
            lease,
            lost_retries: lost_retries.and_then(|retries| u32::try_from(retries).ok()),
            stopping,
            wrong_stop,
            fixed,
            on,
            evaluation,
        };
        self.check_whole(&file);
        Some(file)
    }

    /// Checks what involves several settings: the method on the space, the budget of a finite space.
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
            .and_then(|method| method.check(&settings.space, &settings.goal));
        if let Err(error) = fits {
            // A method that the file does not name is refused where the goal is, which it does not serve.
            let keys = ["method", "objectives", "constraints", "fidelity"];
            let entry = keys.into_iter().find_map(|key| self.table.get(key));
            let place = entry.map_or(0..0, |entry| match entry.key.as_str() {
                "method" => entry.node.span.clone(),
                _ => entry.key_span.clone(),
            });
            self.refuse(place, format!("the method does not fit: {error}"));
        }
    }

    /// When the study has gained enough.
    fn stop_when(&mut self, goal: Option<&Goal>) -> Option<StopWhen> {
        let entry = self.table.get("stop-when")?;
        if goal?.objectives().len() > 1 {
            let message = "stop-when looks at the best value, but there are several objectives: leave it out, or keep one objective";
            self.refuse(entry.key_span.clone(), message.to_owned());
            return None;
        }
        match self.text_of(entry)?.parse() {
            Ok(rule) => Some(rule),
            Err(message) => {
                self.refuse(entry.node.span.clone(), message);
                None
            }
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
        let message =
            format!("{} is {}, but must be {allowed}", entry.key, self.shown(&entry.node));
        self.refuse(entry.node.span.clone(), message);
    }

    /// A value as it is written; of a list, a table or a long text, what it is.
    fn shown(&self, node: &Node) -> &'t str {
        let written = self.text.get(node.span.clone()).unwrap_or_default();
        match node.content {
            Content::List(_) | Content::Table(_) => node.kind(),
            _ if written.is_empty() || written.len() > LONGEST_SHOWN || written.contains('\n') => {
                node.kind()
            }
            _ => written,
        }
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

/// The entry that a message names: an unknown field, in serde's words or ours, or an unknown word.
fn named_in(table: &Table, message: &str) -> Option<Range<usize>> {
    table.0.iter().find_map(|field| {
        let unknown =
            [format!("unknown field `{}`", field.key), format!("there is no `{}`", field.key)];
        if unknown.iter().any(|words| message.contains(words)) {
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
