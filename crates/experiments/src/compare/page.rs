//! The comparison as a page in markdown.

use std::fmt::Write as _;

use super::board::Board;
use super::latency::Latency;
use super::rank::{AverageRank, SOLVED, average_ranks};
use super::settings::{Settings, Tool};
use crate::page::short;

/// How many times worse than the best peer is worth a line.
const FAR: f64 = 10.0;
/// Evaluations at which it is looked for.
const FAR_AT: usize = 210;
const OURS: &str = "auto";

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
        let Settings { initial, seeds, problems, .. } = self.settings;
        let held_out = problems.iter().filter(|subject| !subject.tuning).count();
        // Writing to a string cannot fail.
        let mut text = String::new();
        let _ = write!(
            text,
            "# Comparison with other tools\n\nThe same {} problems, {initial} initial points, noise and batch size for \
             every tool; {seeds} seeds are asked for, and the last table says how many runs there are. \
             Defaults of wimble were chosen by looking at problems marked *tuning* (or at \
             another variant or dimension of them); the other {held_out} were used for this page only. No minimiser is \
             at the centre of its box. Regret is the true value above the minimum, also where observations are noisy. \
             Noise is a share of the range of the values: where this spans orders of magnitude (Goldstein-Price, \
             Rosenbrock) it hides all that is near the minimum, and such a problem says little about a tool.\n\n",
            problems.len(),
        );
        for (batch_size, board) in self.boards {
            self.results(&mut text, *batch_size, board);
        }
        self.far(&mut text);
        self.latency(&mut text);
        self.tools(&mut text);
        text
    }

    fn results(&self, text: &mut String, batch_size: usize, board: &Board) {
        let _ = write!(text, "## Batches of {batch_size}\n\n");
        if board.open_runs > 0 || board.corrupt_lines > 0 {
            let _ = write!(
                text,
                "{} runs have begun and not ended, and {} lines could not be read; they are left out.\n\n",
                board.open_runs, board.corrupt_lines
            );
        }
        for figure in self.figures.iter().filter(|name| name.contains(&format!("-{batch_size}-"))) {
            let _ = write!(text, "![{figure}]({figure}.svg)\n\n");
        }
        for &evaluations in &self.settings.checkpoints {
            self.ranks(text, board, evaluations);
        }
        for &evaluations in &self.settings.checkpoints {
            self.regrets(text, board, evaluations);
        }
        self.incumbents(text, board);
    }

    fn ranks(&self, text: &mut String, board: &Board, evaluations: usize) {
        let tools = whole_tools(board, self.settings, evaluations);
        let cells = board.cells(self.settings, &tools, evaluations);
        let runs: usize = cells.iter().map(|(_, rows)| rows.len()).sum();
        if tools.len() < 2 || runs == 0 {
            return;
        }
        let problems = cells.len();
        let seeds = cells.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
        let missing: Vec<&str> = self
            .settings
            .problems
            .iter()
            .map(|subject| subject.name.as_str())
            .filter(|name| !cells.iter().any(|(subject, _)| subject.name == *name))
            .collect();
        let held_out: Vec<_> = cells
            .iter()
            .filter(|(subject, _)| !subject.tuning)
            .map(|(_, rows)| rows.clone())
            .collect();
        let all: Vec<_> = cells.into_iter().map(|(_, rows)| rows).collect();
        let (all, held_out) = (average_ranks(&all), average_ranks(&held_out));
        let mut order: Vec<usize> = (0..tools.len()).collect();
        order.sort_by(|&a, &b| all[a].mean.total_cmp(&all[b].mean));
        let _ = write!(
            text,
            "### Average rank after {evaluations} evaluations\n\nOver the {runs} runs on {problems} problems that all of \
             these {} tools have.\n\n| tool | average rank | 95 % | held out only | 95 % |\n|---|---|---|---|---|\n",
            tools.len()
        );
        for place in order {
            let interval =
                |rank: &AverageRank| format!("{:.2} to {:.2}", rank.lower95, rank.upper95);
            let other = held_out.get(place);
            let _ = writeln!(
                text,
                "| {} | {:.2} | {} | {} | {} |",
                tools[place].title,
                all[place].mean,
                interval(&all[place]),
                other.map_or_else(|| "-".to_owned(), |rank| format!("{:.2}", rank.mean)),
                other.map_or_else(|| "-".to_owned(), interval)
            );
        }
        if (seeds as u64) < self.settings.seeds || !missing.is_empty() {
            let _ = write!(
                text,
                "\n**Not for conclusions:** {seeds} of {} seeds at most",
                self.settings.seeds
            );
            if !missing.is_empty() {
                let _ = write!(text, "; without {}", missing.join(", "));
            }
            text.push_str(". What is missing is not a random part.\n");
        }
        let left: Vec<&str> = board
            .tools(self.settings, evaluations)
            .into_iter()
            .filter(|tool| !tools.iter().any(|ranked| ranked.name == tool.name))
            .map(|tool| tool.title.as_str())
            .collect();
        if !left.is_empty() {
            let _ = write!(
                text,
                "\nNot ranked, for too few of their runs are there: {}.\n",
                left.join(", ")
            );
        }
        text.push('\n');
    }

    fn regrets(&self, text: &mut String, board: &Board, evaluations: usize) {
        let tools = board.tools(self.settings, evaluations);
        if tools.is_empty() {
            return;
        }
        let _ = write!(text, "### Median simple regret after {evaluations} evaluations\n\n");
        self.table(text, board, &tools, evaluations, "simple_regret", |_| true);
    }

    /// On noisy problems: the regret of the point that a user would keep.
    fn incumbents(&self, text: &mut String, board: &Board) {
        let tools = board.tools(self.settings, FAR_AT);
        if tools.is_empty() {
            return;
        }
        let _ = write!(
            text,
            "### Noisy problems: median regret of the point with the lowest observation after {FAR_AT} evaluations\n\n"
        );
        self.table(text, board, &tools, FAR_AT, "incumbent_regret", |name| name.contains("+noise"));
    }

    fn table(
        &self,
        text: &mut String,
        board: &Board,
        tools: &[&Tool],
        evaluations: usize,
        metric: &str,
        is_shown: impl Fn(&str) -> bool,
    ) {
        let titles: Vec<&str> = tools.iter().map(|tool| tool.title.as_str()).collect();
        let _ = write!(
            text,
            "| problem | use | {} |\n|---|---|{}\n",
            titles.join(" | "),
            "---|".repeat(tools.len())
        );
        for subject in self.settings.problems.iter().filter(|subject| is_shown(&subject.name)) {
            let medians: Vec<Option<f64>> = tools
                .iter()
                .map(|tool| board.median(&tool.name, &subject.name, evaluations, metric))
                .collect();
            if medians.iter().all(Option::is_none) {
                continue;
            }
            let least = medians.iter().flatten().copied().fold(f64::INFINITY, f64::min);
            let cells: Vec<String> = medians
                .iter()
                .map(|median| match median {
                    None => "-".to_owned(),
                    Some(median) if median.max(SOLVED) <= least.max(SOLVED) => {
                        format!("**{}**", short(*median))
                    }
                    Some(median) => short(*median),
                })
                .collect();
            let role = if subject.tuning { "tuning" } else { "held out" };
            let _ = writeln!(text, "| {} | {role} | {} |", subject.name, cells.join(" | "));
        }
        text.push('\n');
    }

    /// Problems where ours is far behind the best peer.
    fn far(&self, text: &mut String) {
        let Some((_, board)) = self.boards.first() else { return };
        let is_peer = |tool: &&Tool| tool.spec.is_none();
        let peers: Vec<&Tool> =
            board.tools(self.settings, FAR_AT).into_iter().filter(is_peer).collect();
        let _ = write!(
            text,
            "## Where {OURS} is more than {FAR} times worse than the best peer after {FAR_AT} evaluations\n\n"
        );
        let mut lines = Vec::new();
        for subject in &self.settings.problems {
            let median = |tool: &str| board.median(tool, &subject.name, FAR_AT, "simple_regret");
            let best = peers
                .iter()
                .filter_map(|tool| Some((median(&tool.name)?, tool)))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let (Some(ours), Some((least, peer))) = (median(OURS), best)
                && ours.max(SOLVED) > FAR * least.max(SOLVED)
            {
                lines.push(format!(
                    "- {}: {} against {} of {}",
                    subject.name,
                    short(ours),
                    short(least),
                    peer.title
                ));
            }
        }
        match (lines.is_empty(), board.ended(OURS).0) {
            (_, 0) => *text += "There are no records of it.\n\n",
            (true, _) => *text += "Nowhere.\n\n",
            (false, _) => {
                let _ = write!(text, "{}\n\n", lines.join("\n"));
            }
        }
    }

    fn latency(&self, text: &mut String) {
        let Some(first) = self.latencies.first() else { return };
        let sizes = &self.settings.latency_sizes;
        let of = |latency: &Latency, size| {
            latency
                .at(size)
                .map_or_else(|| "-".to_owned(), |seconds| format!("{:.1}", 1e3 * seconds))
        };
        let header: Vec<String> = sizes.iter().map(|size| format!("N = {size}")).collect();
        let _ = write!(
            text,
            "## Time of one ask of {} points after N evaluations of {}, in milliseconds\n\nMedian CPU time of the \
             process over five asks, one thread for peers. A dash: too long, or not measured.\n\n\
             | tool | {} | ratio to {OURS} at 2000 |\n|---|{}---|\n",
            first.batch_size,
            first.problem,
            header.join(" | "),
            "---|".repeat(sizes.len())
        );
        let ours = self.latencies.iter().find(|latency| latency.tool == OURS);
        let ours = ours.and_then(|latency| latency.at(2000));
        for tool in &self.settings.tools {
            let Some(latency) = self.latencies.iter().find(|latency| latency.tool == tool.name)
            else {
                continue;
            };
            let cells: Vec<String> = sizes.iter().map(|&size| of(latency, size)).collect();
            let ratio = match (latency.at(2000), ours) {
                (Some(theirs), Some(ours)) if ours > 0.0 => format!("{:.1}", theirs / ours),
                _ => "-".to_owned(),
            };
            let _ = writeln!(text, "| {} | {} | {ratio} |", tool.title, cells.join(" | "));
        }
        text.push('\n');
    }

    fn tools(&self, text: &mut String) {
        let _ = write!(
            text,
            "## How it was run\n\nMachine: {}. Ours: `wimble compare run`, `wimble compare latency`; peers: \
             `benches/peers/run`; this page: `wimble compare report`. A run ends after its evaluations, or when asking \
             has taken {} s: CPU time for peers, the clock for ours. One that was stopped before N counts with the last \
             value it had; a tool is shown at N if at least half of its runs reached N. Tools whose ask takes seconds \
             were run to fewer evaluations. Ranks: 1 is best, mean over problems of the mean over seeds, regrets \
             below {SOLVED:e} are equal; intervals are percentile bootstraps over problems and seeds.\n\n\
             | tool | runs ended | stopped early | what was run |\n|---|---|---|---|\n",
            self.machine, self.settings.ask_seconds
        );
        let Some((_, board)) = self.boards.first() else { return };
        let all = self.settings.problems.len() as u64 * self.settings.seeds;
        for tool in &self.settings.tools {
            let (ended, aborted) = board.ended(&tool.name);
            let what = board.settings(&tool.name).unwrap_or("no records");
            let _ = writeln!(text, "| {} | {ended} of {all} | {aborted} | {what} |", tool.title);
        }
        if !self.failures.is_empty() {
            let _ = write!(text, "\nFailures:\n\n");
            for line in self.failures {
                let _ = writeln!(text, "- {line}");
            }
        }
    }
}

/// The tools on the board of which at least half of the runs of the comparison are there: one tool with three runs would
/// otherwise reduce all ranks to those three.
fn whole_tools<'s>(board: &Board, settings: &'s Settings, evaluations: usize) -> Vec<&'s Tool> {
    let all = settings.problems.len() * board.seeds();
    let mut tools = board.tools(settings, evaluations);
    tools.retain(|tool| 2 * board.ended(&tool.name).0 >= all);
    tools
}
