//! The page of a comparison with several objectives or constraints.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::game::MISSED;
use super::{LOSS, Set};
use crate::compare::board::Board;
use crate::compare::rank::average_ranks;
use crate::compare::settings::{Settings, Subject, Tool};
use crate::error::{Error, Result};

/// A value within this share of the optimum counts as found.
const FOUND: f64 = 1e-3;
/// A share that is this part of another one counts as level with it.
const NEAR: f64 = 0.98;

/// Writes the page into `dir`, from the records there; its path.
pub fn report(set: Set, dir: &Path) -> Result<Vec<PathBuf>> {
    let settings = set.settings()?;
    let board = Board::of_figure(dir, &set.figure(settings.batch_size))?;
    if board.is_empty() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no records of a run that has ended",
            remedy: "run ours with `wimble-lab compare objectives run` (or constraints) and others with benches/peers/run --set first",
        });
    }
    let path = dir.join(format!("{}.md", set.name()));
    fs::write(&path, Page { set, settings: &settings, board: &board }.text())
        .map_err(Error::file(&path))?;
    Ok(vec![path])
}

/// The tools that are meant to run on all problems, and whether there are others.
fn split<'t>(tools: &[&'t Tool]) -> (Vec<&'t Tool>, bool) {
    let fast: Vec<&Tool> = tools.iter().copied().filter(|tool| !tool.slow).collect();
    let some_slow = fast.len() < tools.len();
    (fast, some_slow)
}

struct Page<'p> {
    set: Set,
    settings: &'p Settings,
    board: &'p Board,
}

impl<'p> Page<'p> {
    fn text(&self) -> String {
        let mut text = String::new();
        let Settings { initial, batch_size, seeds, problems, .. } = self.settings;
        let (title, measure) = match self.set {
            Set::Objectives => (
                "Several objectives",
                "The share of the known front's hypervolume (ideal and nadir scaled to 0 and 1, reference 1.1), \
                 medians over the seeds; 1 is the whole front.",
            ),
            Set::Constraints => (
                "Constraints measured with the trial",
                "The best value that meets all constraints, above the known optimum and relative to it, medians over the \
                 seeds; `-` where in the median run no trial meets them.",
            ),
        };
        let held_out = match problems.iter().filter(|subject| !subject.tuning).count() {
            0 => "All problems were looked at when the design of wimble's methods was chosen"
                .to_owned(),
            count => format!(
                "Problems marked *tuning* were looked at when the design of wimble's methods was chosen; the other {count} \
                 were used for this page only"
            ),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# {title}\n\nThe same problems, {initial} initial points and batches of {batch_size} for every tool; {seeds} \
             seeds are asked for. {measure} {held_out}.\n\n"
        );
        for &evaluations in &self.settings.checkpoints {
            let tools = self.tools(evaluations);
            if tools.is_empty() {
                continue;
            }
            let _ = write!(text, "## After {evaluations} evaluations\n\n");
            let all: Vec<&Subject> = self.settings.problems.iter().collect();
            let (fast, some_slow) = split(&tools);
            self.ranks(&mut text, &fast, &all, evaluations);
            if some_slow {
                let sample: Vec<&Subject> =
                    all.into_iter().filter(|subject| subject.sample).collect();
                let names: Vec<&str> = sample.iter().map(|subject| &*subject.name).collect();
                let _ = write!(
                    text,
                    "With the tools that ran on a sample only ({}):\n\n",
                    names.join(", ")
                );
                self.ranks(&mut text, &tools, &sample, evaluations);
            }
            self.medians(&mut text, &tools, evaluations);
            self.beside_the_best(&mut text, &tools, evaluations);
        }
        self.runs(&mut text);
        text
    }

    /// Those with a run that reaches so far.
    fn tools(&self, evaluations: usize) -> Vec<&'p Tool> {
        let reaches = |tool: &&Tool| {
            let problems = self.settings.problems.iter();
            problems.into_iter().any(|subject| !self.losses(tool, subject, evaluations).is_empty())
        };
        self.settings.tools.iter().filter(reaches).collect()
    }

    fn losses(&self, tool: &Tool, subject: &Subject, evaluations: usize) -> Vec<f64> {
        self.board.sorted(&tool.name, &subject.name, evaluations, LOSS)
    }

    fn ranks(&self, text: &mut String, tools: &[&Tool], subjects: &[&Subject], evaluations: usize) {
        let cells = self.board.cells(subjects, tools, evaluations, LOSS);
        if tools.len() < 2 || cells.is_empty() {
            return;
        }
        let all: Vec<_> = cells.iter().map(|(_, rows)| rows.clone()).collect();
        let held_out: Vec<_> = cells
            .iter()
            .filter(|(subject, _)| !subject.tuning)
            .map(|(_, rows)| rows.clone())
            .collect();
        let (ranks, held_out) = (average_ranks(&all), average_ranks(&held_out));
        let mut order: Vec<usize> = (0..tools.len()).collect();
        order.sort_by(|&a, &b| ranks[a].mean.total_cmp(&ranks[b].mean));
        let runs: usize = all.iter().map(Vec::len).sum();
        let _ = write!(
            text,
            "{} tools with {runs} runs on {} problems in common:\n\n\
             | tool | average rank | 95 % | behind the first, 95 % | held out only |\n|---|---|---|---|---|\n",
            tools.len(),
            all.len()
        );
        for place in order {
            let rank = &ranks[place];
            let behind = match rank.behind95 {
                (0.0, 0.0) => "-".to_owned(),
                (lower, upper) => format!("{lower:.2} to {upper:.2}"),
            };
            let held_out =
                held_out.get(place).map_or("-".to_owned(), |rank| format!("{:.2}", rank.mean));
            let _ = writeln!(
                text,
                "| {} | {:.2} | {:.2} to {:.2} | {behind} | {held_out} |",
                tools[place].title, rank.mean, rank.lower95, rank.upper95
            );
        }
        let meant = subjects.len() * self.settings.seeds;
        if runs < meant {
            let _ = write!(
                text,
                "\n**Not for conclusions:** {runs} of the {meant} runs that each of these tools is meant to have.\n"
            );
        }
        text.push('\n');
    }

    fn medians(&self, text: &mut String, tools: &[&Tool], evaluations: usize) {
        let titles: Vec<&str> = tools.iter().map(|tool| tool.title.as_str()).collect();
        let _ = write!(
            text,
            "| problem | {} |\n|---|{}\n",
            titles.join(" | "),
            "---|".repeat(tools.len())
        );
        let mut found = vec![0; tools.len()];
        let some_held_out = self.settings.problems.iter().any(|subject| !subject.tuning);
        for subject in &self.settings.problems {
            let medians: Vec<Option<f64>> = tools
                .iter()
                .map(|tool| self.board.median(&tool.name, &subject.name, evaluations, LOSS))
                .collect();
            let best = medians.iter().flatten().copied().fold(f64::INFINITY, f64::min);
            let cells: Vec<String> = medians
                .iter()
                .map(|median| match median {
                    None => String::new(),
                    Some(loss) if *loss >= MISSED / 2.0 => "-".to_owned(),
                    Some(loss) if *loss <= best => format!("**{}**", self.shown(*loss)),
                    Some(loss) => self.shown(*loss),
                })
                .collect();
            for (count, median) in found.iter_mut().zip(&medians) {
                *count += usize::from(median.is_some_and(|loss| loss <= FOUND));
            }
            let mark = if subject.tuning && some_held_out { " *(tuning)*" } else { "" };
            let _ = writeln!(text, "| {}{mark} | {} |", subject.name, cells.join(" | "));
        }
        if self.set == Set::Constraints {
            let cells: Vec<String> = found.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "| within 0.1 % | {} |", cells.join(" | "));
        }
        text.push('\n');
    }

    /// How the first tool's share compares with the best share of a tool of others, problem by problem.
    fn beside_the_best(&self, text: &mut String, tools: &[&Tool], evaluations: usize) {
        let Some(ours) = tools.first().filter(|_| self.set == Set::Objectives) else { return };
        let share = |tool: &Tool, subject: &Subject| {
            let loss = self.board.median(&tool.name, &subject.name, evaluations, LOSS);
            loss.map(|loss| 1.0 - loss)
        };
        let (mut compared, mut near, mut above) = (0, 0, 0);
        for subject in &self.settings.problems {
            let others = tools.iter().filter(|tool| tool.spec.is_none());
            let best = others.filter_map(|tool| share(tool, subject)).reduce(f64::max);
            if let (Some(ours), Some(best)) = (share(ours, subject), best) {
                compared += 1;
                near += usize::from(ours >= NEAR * best);
                above += usize::from(ours > best);
            }
        }
        let _ = write!(
            text,
            "{} has at least {NEAR} of the best other tool's median on {near} of {compared} problems, and is above it on {above}.\n\n",
            ours.title
        );
    }

    fn shown(&self, loss: f64) -> String {
        match self.set {
            Set::Objectives => format!("{:.3}", 1.0 - loss),
            Set::Constraints => format!("{loss:.1e}"),
        }
    }

    /// How many runs of each tool there are, and what was run.
    fn runs(&self, text: &mut String) {
        let subjects: Vec<&Subject> = self.settings.problems.iter().collect();
        *text += "## Runs\n\n| tool | ended | of them at their limit | what was run |\n|---|---|---|---|\n";
        for tool in &self.settings.tools {
            let (ended, aborted) = self.board.ended(&tool.name, &subjects);
            let what = self.board.settings(&tool.name, &subjects).join("<br>");
            let _ = writeln!(text, "| {} | {ended} | {aborted} | {what} |", tool.title);
        }
    }
}
