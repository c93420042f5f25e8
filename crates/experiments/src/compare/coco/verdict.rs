//! Is a change better? The records of two folders, or of two methods, run by run.
//!
//! Differences are paired by function, dimension, instance and seed: what makes a run hard is the same on both sides. Intervals are 95 %
//! percentile bootstraps of the mean difference.

use std::fmt::Write as _;
use std::path::Path;

use super::Group;
use super::runs::{Runs, share};
use crate::error::{Error, Result};
use crate::summary::{interval, mean};

/// Runs from which on a difference is called better or worse.
const ENOUGH: usize = 10;

/// The mean of paired differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// Runs that both sides have.
    pub runs: usize,
    /// Mean shares, before and after.
    pub shares: (f64, f64),
    /// 95 % interval of the mean difference.
    pub interval: (f64, f64),
}

impl Difference {
    /// After less before.
    pub fn mean(&self) -> f64 {
        self.shares.1 - self.shares.0
    }

    /// Whether the interval is above or below 0; nothing is said of a few runs, whose bootstrap is too sure.
    fn word(&self) -> &'static str {
        match self.interval {
            _ if self.runs < ENOUGH => "",
            (lower, _) if lower > 0.0 => "better",
            (_, upper) if upper < 0.0 => "worse",
            _ => "",
        }
    }
}

/// Two sides: the runs of a method before, and those of one after.
#[derive(Clone, Copy)]
pub(super) struct Pair<'r> {
    pub before: (&'r Runs, &'r str),
    pub after: (&'r Runs, &'r str),
}

impl Pair<'_> {
    /// The difference on a group of functions within a budget; `None` if no run is on both sides.
    pub fn difference(&self, group: &Group, budget: usize) -> Option<Difference> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (key, trial) in self.after.0.of(self.after.1).filter(|(key, _)| group.holds(&key.1)) {
            let evaluations = budget * key.1.dim;
            let other = self.before.0.get(self.before.1, key);
            let pair =
                (other.and_then(|other| share(other, evaluations)), share(trial, evaluations));
            if let (Some(was), Some(is)) = pair {
                before.push(was);
                after.push(is);
            }
        }
        let differences: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        (!differences.is_empty()).then(|| Difference {
            runs: differences.len(),
            shares: (mean(&before), mean(&after)),
            interval: interval(&differences),
        })
    }
}

/// Whether the records of `after` are better than those of `before`, for each batch size and method that both have, as text. With `method` every
/// method of `after` is compared with that one of `before`, which may be the same folder.
pub fn against(before: &Path, after: &Path, method: Option<&str>) -> Result<String> {
    let mut text = String::new();
    for size in Runs::batch_sizes(after) {
        let (old, new) = (Runs::read(before, size)?, Runs::read(after, size)?);
        for name in new.methods() {
            let other = method.unwrap_or(name);
            if before == after && other == name {
                continue;
            }
            let pair = Pair { before: (&old, other), after: (&new, name) };
            let asks =
                if size == 1 { "one at a time".to_owned() } else { format!("batches of {size}") };
            let title = match method {
                Some(other) => format!("{name} against {other}, {asks}"),
                None => format!("{name}, {asks}"),
            };
            table(&mut text, &title, &pair);
        }
    }
    if text.is_empty() {
        return Err(Error::Nothing {
            path: after.to_owned(),
            missing: "no run that the other folder has too",
            remedy: "run the same functions, instances and batch sizes with `wimble-lab compare coco run` into both folders",
        });
    }
    Ok(text)
}

fn table(text: &mut String, title: &str, pair: &Pair<'_>) {
    let budgets = pair.after.0.budgets(pair.after.1);
    let mut heading = false;
    for group in &Group::ALL {
        for &budget in &budgets {
            let Some(found) = pair.difference(group, budget) else { continue };
            if !heading {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "{title}: share of targets reached\n{:24}{:>7}{:>6}{:>8}{:>8}{:>8}   95 %",
                    "functions", "budget", "runs", "before", "after", ""
                );
                heading = true;
            }
            let (lower, upper) = found.interval;
            let line = format!(
                "{:24}{:>7}{:>6}{:>8.3}{:>8.3}{:>+8.3}   {lower:+.3} to {upper:+.3}  {}",
                group.name,
                format!("{budget}d"),
                found.runs,
                found.shares.0,
                found.shares.1,
                found.mean(),
                found.word()
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::End;

    /// Gaps of ten runs on f1, one for each instance.
    fn write(dir: &Path, gap: impl Fn(u64) -> f64) {
        let folder = dir.join("records/coco-1");
        std::fs::create_dir_all(&folder).unwrap();
        for instance in 1..=10 {
            let problem = format!("bbob-f1-i{instance}-2");
            let run = super::super::runs::tests::trial(
                &problem,
                &[(6, 100.0), (10, gap(instance))],
                End::Finished,
            );
            let mut lines = vec![serde_json::json!({ "start": run.start })];
            lines.extend(run.rounds.iter().map(|round| serde_json::json!({ "round": round })));
            lines.push(serde_json::json!({ "end": { "end": "finished", "rounds": 2 } }));
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let path = folder.join(format!("{problem}__auto__0.jsonl"));
            std::fs::write(path, lines.join("\n") + "\n").unwrap();
        }
    }

    #[test]
    fn pairs_tell_a_small_gain_from_runs_that_differ_much() {
        let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // From 10² to 10^-8: a gain of one target each is small beside that.
        let gap = |instance: u64| 10.0_f64.powf(2.0 - instance as f64);
        write(before.path(), |instance| 1.01 * gap(instance));
        write(after.path(), gap);
        let text = against(before.path(), after.path(), None).unwrap();
        let line = text.lines().find(|line| line.contains("all") && line.contains(" 5d")).unwrap();
        assert!(line.contains("+0.020   +0.020 to +0.020  better"), "{text}");
        let back = against(after.path(), before.path(), None).unwrap();
        assert!(back.contains("-0.020   -0.020 to -0.020  worse"), "{back}");
        // At 3d all are equal, and no other group has runs.
        let early = text.lines().find(|line| line.contains("all") && line.contains(" 3d")).unwrap();
        assert!(early.ends_with("+0.000 to +0.000") && !text.contains("weak structure"), "{text}");
        let nothing = against(before.path(), tempfile::tempdir().unwrap().path(), None);
        assert!(nothing.unwrap_err().to_string().contains("wimble-lab compare coco run"));
    }
}
