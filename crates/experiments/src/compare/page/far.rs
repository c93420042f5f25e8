//! Where ours is far behind the best peer, with all figures.

use std::fmt::Write as _;

use super::{MIDDLE, OURS, Report, plain};
use crate::compare::board::Board;
use crate::compare::rank::SOLVED;
use crate::compare::settings::{Subject, Tool};
use crate::summary::short;

/// How many times worse than the best peer is worth a line.
const FAR: f64 = 10.0;

impl Report<'_> {
    /// Problems where ours is far behind the best peer.
    pub(super) fn far(&self, text: &mut String, board: &Board) {
        let _ = write!(
            text,
            "## Where {OURS} is more than {FAR} times worse than the best peer after {MIDDLE} evaluations\n\n"
        );
        let all: Vec<&Subject> = self.settings.problems.iter().collect();
        if board.ended(OURS, &all).0 == 0 {
            *text += "There are no records of it.\n\n";
            return;
        }
        let lines: Vec<String> =
            all.iter().filter_map(|subject| self.behind(board, subject)).collect();
        if lines.is_empty() {
            *text += "Nowhere.\n\n";
            return;
        }
        let _ = write!(
            text,
            "Medians of the simple regret over the seeds, with the least and the greatest. *within*: the seeds in which {OURS} \
             is at most {FAR} times worse than the peer's median.\n\n\
             | problem | use | {OURS} | from, to | within | best peer | its median | from, to | times worse | reason |\n\
             |---|---|---|---|---|---|---|---|---|---|\n{}\n\n",
            lines.join("\n")
        );
    }

    /// The line of a problem, if ours is far behind there.
    fn behind(&self, board: &Board, subject: &Subject) -> Option<String> {
        let sorted = |tool: &str| board.sorted(tool, &subject.name, MIDDLE, "simple_regret");
        let median = |tool: &str| board.median(tool, &subject.name, MIDDLE, "simple_regret");
        let is_peer = |tool: &&Tool| tool.spec.is_none();
        let (least, peer) = self
            .settings
            .tools
            .iter()
            .filter(is_peer)
            .filter_map(|tool| Some((median(&tool.name)?, tool)))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        let ours = median(OURS)?;
        let limit = FAR * least.max(SOLVED);
        if ours.max(SOLVED) <= limit {
            return None;
        }
        let seeds = sorted(OURS);
        let within = seeds.iter().filter(|regret| regret.max(SOLVED) <= limit).count();
        let range = |values: &[f64]| match (values.first(), values.last()) {
            (Some(first), Some(last)) => format!("{}, {}", short(*first), short(*last)),
            _ => "-".to_owned(),
        };
        Some(format!(
            "| {} | {} | {} | {} | {within} of {} | {} | {} | {} | {:.0} | {} |",
            subject.name,
            if subject.tuning { "tuning" } else { "held out" },
            short(ours),
            range(&seeds),
            seeds.len(),
            plain(peer),
            short(least),
            range(&sorted(&peer.name)),
            ours / least.max(SOLVED),
            subject.behind.as_deref().unwrap_or("not known")
        ))
    }
}
