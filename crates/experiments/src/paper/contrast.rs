//! Methods compared at several rounds and by several metrics: what a claim about one metric at one round rests on.

use std::fmt::Write as _;

use serde::Deserialize;

use super::claim::{Data, signed};
use super::settings::Settings;
use crate::record::Records;

/// A method beside its rivals.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// The method.
    pub method: String,
    /// What it is compared with, each with its own row.
    pub rivals: Vec<String>,
    /// By what.
    pub metrics: Vec<String>,
    /// After which rounds; those that were not reached are left empty.
    pub rounds: Vec<usize>,
}

/// A line of a table: what is compared, and a cell for each round.
struct Line {
    words: String,
    cells: Vec<Option<String>>,
}

/// The contrasts as tables, one for all neighbours with the same rounds: differences on the same trials, with 95 % bootstrap
/// intervals. Empty without contrasts.
pub(super) fn tables(settings: &Settings, records: &Records) -> String {
    let data = Data { records };
    let mut text = String::new();
    for group in settings.contrasts.chunk_by(|one, next| one.rounds == next.rounds) {
        let lines = group.iter().flat_map(|contrast| contrast.lines(settings, &data));
        let lines: Vec<Line> = lines.collect();
        let Some(first) = group.first().filter(|_| !lines.is_empty()) else { continue };
        // Rounds that nothing reached have no column.
        let reached = |place: &usize| lines.iter().any(|line| line.cells[*place].is_some());
        let places: Vec<usize> = (0..first.rounds.len()).filter(reached).collect();
        let titles: String =
            places.iter().map(|&place| format!(" round {} |", first.rounds[place])).collect();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n| problem | metric | method | less |{titles}\n|---|---|---|---|{}\n",
            "---|".repeat(places.len())
        );
        for line in &lines {
            let cell = |&place: &usize| line.cells[place].as_deref().unwrap_or("-");
            let cells: Vec<&str> = places.iter().map(cell).collect();
            let _ = writeln!(text, "| {} | {} |", line.words, cells.join(" | "));
        }
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "## By round and metric\n\nThe mean of a method less that of another on the same trials, with 95 % bootstrap intervals; \
             **bold** where the method is ahead.\n{text}\n"
        ),
    }
}

impl Contrast {
    /// A line for each problem, metric and rival with a cell at least.
    fn lines(&self, settings: &Settings, data: &Data<'_>) -> Vec<Line> {
        let mut lines = Vec::new();
        for subject in &settings.problems {
            for metric in &self.metrics {
                for rival in &self.rivals {
                    let cell = |&round| self.cell(data, &subject.name, metric, rival, round);
                    let cells: Vec<Option<String>> = self.rounds.iter().map(cell).collect();
                    if cells.iter().any(Option::is_some) {
                        let words = [
                            &subject.name,
                            &*metric.replace('_', " "),
                            settings.title_of(&self.method),
                            settings.title_of(rival),
                        ];
                        lines.push(Line { words: words.join(" | "), cells });
                    }
                }
            }
        }
        lines
    }

    fn cell(
        &self,
        data: &Data<'_>,
        problem: &str,
        metric: &str,
        rival: &str,
        round: usize,
    ) -> Option<String> {
        let case = data.compare_at(problem, metric, &self.method, rival, round)?;
        let [difference, lower, upper] = [case.difference, case.lower, case.upper].map(signed);
        let words = format!("{difference} [{lower}, {upper}]");
        Some(if case.is_ahead() { format!("**{words}**") } else { words })
    }
}
