//! The comparison as a page in markdown.

mod far;
mod latency;
mod ranks;
mod regrets;
mod runs;

use std::fmt::Write as _;

use super::board::Board;
use super::figure;
use super::group::Group;
use super::latency::Latency;
use super::settings::{Settings, Suite, Tool};

/// The method whose merits the page is about.
const OURS: &str = "auto";
/// Evaluations at which one table has to say it all.
const MIDDLE: usize = 210;

/// What the page is made of.
pub(super) struct Report<'r> {
    pub settings: &'r Settings,
    /// By batch size, the published one first.
    pub boards: &'r [(usize, Board)],
    pub latencies: &'r [Latency],
    /// What failed, by the lines that other tools left in `not-installed.txt` and `failures/`.
    pub failures: &'r [String],
    pub figures: &'r [String],
    pub machine: String,
}

impl Report<'_> {
    /// The page.
    pub fn page(&self) -> String {
        let mut text = String::new();
        self.introduction(&mut text);
        for (batch_size, board) in self.boards {
            if *batch_size == self.settings.batch_size {
                self.functions(&mut text, *batch_size, board);
                self.real(&mut text, *batch_size, board, Suite::Racing);
                self.real(&mut text, *batch_size, board, Suite::Fcnet);
                self.far(&mut text, board);
            } else {
                self.in_brief(&mut text, *batch_size, board);
            }
        }
        self.latency(&mut text);
        self.runs(&mut text);
        text
    }

    fn introduction(&self, text: &mut String) {
        let Settings { initial, seeds, .. } = self.settings;
        let functions = Group::suite(self.settings, Suite::Functions).subjects;
        let held_out = functions.iter().filter(|subject| !subject.tuning).count();
        let sample = Group::sample(self.settings).subjects;
        let of_these = sample.iter().filter(|subject| !subject.tuning).count();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# Comparison with other tools\n\nThe same {} functions, {initial} initial points, noise and batch size for \
             every tool; {seeds} seeds are asked for, and the last table says how many runs there are. \
             Defaults of wimble were chosen by looking at problems marked *tuning* (or at \
             another variant or dimension of them); the other {held_out} functions were used for this page only. No \
             minimiser is at the centre of its box. Regret is the true value above the minimum, also where observations \
             are noisy. Noise is a share of the range of the values: where this spans orders of magnitude \
             (Goldstein-Price, Rosenbrock) it hides all that is near the minimum, and such a problem says little about a \
             tool.\n\nSome tools take too long to be run on all functions. These slow tools ({}) \
             run on a sample of {} functions, {of_these} of them held out, and to fewer evaluations. So ranks are \
             given twice: over all functions, with the tools that run on all of them; and over the sample, with all \
             tools. Racing lines and tables of trained networks have sections and ranks of their own.\n\n",
            functions.len(),
            titles(self.settings.tools.iter().filter(|tool| tool.slow)),
            sample.len(),
        );
    }

    fn functions(&self, text: &mut String, batch_size: usize, board: &Board) {
        let _ = write!(text, "## Functions, batches of {batch_size}\n\n");
        self.unread(text, board);
        self.figure(text, Suite::Functions, batch_size);
        let all = Group::suite(self.settings, Suite::Functions);
        let sample = Group::sample(self.settings);
        let whole = format!("All {} functions", all.subjects.len());
        let some = format!("The {} functions that slow tools run on too", sample.subjects.len());
        for evaluations in self.checkpoints(&all) {
            // Without a slow tool the second table would be a part of the first.
            let has_slow = board.tools(&sample, evaluations).iter().any(|tool| tool.slow);
            let tables = [
                self.ranks(board, &all, evaluations, &whole),
                has_slow.then(|| self.ranks(board, &sample, evaluations, &some)).flatten(),
            ];
            if tables.iter().any(Option::is_some) {
                let _ = write!(text, "### Average rank after {evaluations} evaluations\n\n");
            }
            text.extend(tables.into_iter().flatten());
        }
        self.tables(text, board, &all);
        self.incumbents(text, board, Suite::Functions);
    }

    /// A suite made of other people's data.
    fn real(&self, text: &mut String, batch_size: usize, board: &Board, suite: Suite) {
        let group = Group::suite(self.settings, suite);
        let (title, what) = match suite {
            Suite::Functions => return,
            Suite::Racing => (
                "Racing lines",
                "The lap time of a model car as a function of where its line crosses the track: 12 offsets for the track of \
                 UC Berkeley, 20 for the mobile track of ETH Zurich. No noise. Regret is in seconds above the best lap \
                 known. Figure 3 of the paper has the same problems.",
            ),
            Suite::Fcnet => (
                "Tables of trained networks",
                "FCNet: the validation errors of 62,208 networks over nine hyper-parameters, six of them ordered levels and \
                 three without order. What a tool is told is the error of one of four trainings, at random; regret is the \
                 mean of the four above the least mean of the table. *tuning*: the design of `auto` for mixed spaces was \
                 chosen by looking at these and other tables. Figure 3 of the paper has the same problems.",
            ),
        };
        let _ = write!(text, "## {title}, batches of {batch_size}\n\n{what}\n\n");
        let reason = |tool: &Tool| Some(format!("{} ({})", plain(tool), tool.not_on.get(&suite)?));
        let absent: Vec<String> = self.settings.tools.iter().filter_map(reason).collect();
        if !absent.is_empty() {
            let _ = write!(text, "Not run here: {}.\n\n", absent.join(", "));
        }
        if group.tools.iter().all(|tool| board.ended(&tool.name, &group.subjects).0 == 0) {
            *text += "There are no records. Their data are not part of this repository: name their folder with `--data` \
                      (or `WIMBLE_DATA` for `benches/peers/run`).\n\n";
            return;
        }
        self.figure(text, suite, batch_size);
        for evaluations in self.checkpoints(&group) {
            if let Some(table) = self.ranks(board, &group, evaluations, title) {
                let _ = write!(text, "### Average rank after {evaluations} evaluations\n\n{table}");
            }
        }
        self.tables(text, board, &group);
        self.incumbents(text, board, suite);
    }

    /// Another batch size than the published one: ranks at all checkpoints in one table, regrets at one of them.
    fn in_brief(&self, text: &mut String, batch_size: usize, board: &Board) {
        let _ = write!(text, "## Batches of {batch_size}, in brief\n\n");
        self.unread(text, board);
        for suite in Suite::ALL {
            let group = Group::suite(self.settings, suite);
            if group.tools.iter().any(|tool| board.ended(&tool.name, &group.subjects).0 > 0) {
                self.figure(text, suite, batch_size);
                self.ranks_in_brief(text, board, &group);
                self.medians(text, board, &group, MIDDLE);
            }
        }
    }

    fn unread(&self, text: &mut String, board: &Board) {
        if board.open_runs > 0 || board.corrupt_lines > 0 {
            let _ = write!(
                text,
                "{} runs have begun and not ended, and {} lines could not be read; they are left out.\n\n",
                board.open_runs, board.corrupt_lines
            );
        }
    }

    fn figure(&self, text: &mut String, suite: Suite, batch_size: usize) {
        let name = figure::name(suite, batch_size);
        if self.figures.contains(&name) {
            let _ = write!(text, "![Median simple regret against evaluations]({name}.svg)\n\n");
        }
    }

    /// Those that a run of the group reaches.
    fn checkpoints(&self, group: &Group<'_>) -> impl Iterator<Item = usize> {
        let last = group.evaluations(self.settings);
        self.settings.checkpoints.iter().copied().filter(move |&checkpoint| checkpoint <= last)
    }
}

/// The tool's title without emphasis.
fn plain(tool: &Tool) -> String {
    tool.title.replace('*', "")
}

fn titles<'t>(tools: impl Iterator<Item = &'t Tool>) -> String {
    tools.map(plain).collect::<Vec<_>>().join(", ")
}
