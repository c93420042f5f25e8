//! The claims of Figure 3, and the figures that the original BORE's authors show for the same problems.
//!
//! A claim over several problems says for each of them whether one method is ahead of another, behind it, or neither; it
//! holds if it is true on all that it is about, and otherwise holds only on those named. Problems of too few trials are open.

use super::{Claim, Comparison, Data, Verdict, last, signed};
use crate::paper::settings::{Settings, Task};
use crate::summary::{mean, quantile};

const METRIC: &str = "simple_regret";

/// Where one of two methods stands on a problem.
struct Standing {
    problem: String,
    comparison: Comparison,
}

impl Standing {
    fn in_words(&self) -> String {
        let place = match &self.comparison {
            case if case.is_ahead() => "ahead",
            case if case.is_behind() => "behind",
            _ => "level",
        };
        let Comparison { difference, lower, upper, .. } = &self.comparison;
        let [difference, lower, upper] = [*difference, *lower, *upper].map(signed);
        format!("{}: {place} ({difference} [{lower}, {upper}])", self.problem)
    }
}

pub(super) fn claims(settings: &Settings, data: &Data<'_>) -> Vec<Claim> {
    let all: Vec<&str> = settings.problems.iter().map(|subject| subject.name.as_str()).collect();
    let of = |wanted: fn(Task) -> bool| -> Vec<&str> {
        let subjects = settings.problems.iter().filter(|subject| subject.task.is_some_and(wanted));
        subjects.map(|subject| subject.name.as_str()).collect()
    };
    let tables = of(|task| matches!(task, Task::Fcnet(_)));
    let races = of(|task| matches!(task, Task::Racing(_)));
    let networks = of(|task| matches!(task, Task::Mnist | Task::Lcbench(_)));
    let others: Vec<&str> = races.iter().chain(&networks).copied().collect();
    let judge = |paper: &str,
                 method: &str,
                 rival: &str,
                 problems: &[&str],
                 holds: fn(&Comparison) -> bool| {
        let (measured, verdict) = judge(settings, data, (method, rival), problems, holds);
        Claim {
            paper: paper.to_owned(),
            measured: format!("regret of {method} less that of {rival}: {measured}"),
            verdict,
        }
    };
    let mut claims = vec![
        judge(
            "BORE++ is significantly better than BORE (PLS).",
            "bore++",
            "bore-pls",
            &all,
            Comparison::is_ahead,
        ),
        judge(
            "BORE (PLS) is comparable to random search, or worse.",
            "bore-pls",
            "random",
            &all,
            |case| !case.is_ahead(),
        ),
        top(settings, data, &all),
    ];
    for (rival, name) in [("bore", "BORE (perceptron)"), ("bore++", "BORE++")] {
        claims.push(judge(
            &format!("GP-based optimisation surpasses {name} on the racing line (here: GP-EI)."),
            "gp-ei",
            rival,
            &races,
            Comparison::is_ahead,
        ));
    }
    claims.extend([
        judge(
            "BORE++ surpasses BORE (perceptron) on the tuning problems slice and Parkinson's.",
            "bore++",
            "bore",
            &tables,
            Comparison::is_ahead,
        ),
        judge(
            "BORE++ maintains a performance similar to BORE (perceptron) in the other tasks.",
            "bore++",
            "bore",
            &others,
            |case| !case.is_behind(),
        ),
        judge(
            "In the last iterations GP-EI surpasses BORE (perceptron) in tuning on MNIST.",
            "gp-ei",
            "bore",
            &networks,
            Comparison::is_ahead,
        ),
    ]);
    claims
}

/// Whether `holds` on the problems, each decided by its own comparison.
fn judge(
    settings: &Settings,
    data: &Data<'_>,
    (method, rival): (&str, &str),
    problems: &[&str],
    holds: fn(&Comparison) -> bool,
) -> (String, Verdict) {
    let (mut words, mut yes, mut decided) = (Vec::new(), Vec::new(), 0);
    for &problem in problems {
        let Some(comparison) = data.compare(problem, METRIC, method, rival) else { continue };
        if let Some(why) = comparison.too_little(settings) {
            words.push(format!("{problem}: open ({why})"));
            continue;
        }
        decided += 1;
        if holds(&comparison) {
            yes.push(problem);
        }
        words.push(Standing { problem: problem.to_owned(), comparison }.in_words());
    }
    let verdict = match yes.len() {
        _ if words.is_empty() => Verdict::Open("not run".to_owned()),
        _ if decided == 0 => Verdict::Open("too little was run".to_owned()),
        0 if decided == problems.len() => Verdict::DoesNotHold,
        0 => Verdict::Open(format!("not so on the {decided} of {} decided", problems.len())),
        count if count == problems.len() => Verdict::Holds,
        _ if decided < problems.len() => {
            let open = problems.len() - decided;
            Verdict::HoldsOnly(format!("on {} so far; {open} are open", yes.join(", ")))
        }
        _ => Verdict::HoldsOnly(format!("on {}", yes.join(", "))),
    };
    (words.join("; "), verdict)
}

/// Whether no method is ahead of BORE on most problems.
fn top(settings: &Settings, data: &Data<'_>, problems: &[&str]) -> Claim {
    let (mut words, mut first, mut decided) = (Vec::new(), 0, 0);
    for &problem in problems {
        let rivals = settings.methods.iter().filter(|method| method.name != "bore");
        let cases: Vec<(&str, Comparison)> = rivals
            .filter_map(|rival| {
                let case = data.compare(problem, METRIC, "bore", &rival.name)?;
                Some((rival.title.as_str(), case))
            })
            .filter(|(_, case)| case.too_little(settings).is_none())
            .collect();
        if cases.is_empty() {
            continue;
        }
        decided += 1;
        let better: Vec<&str> =
            cases.iter().filter(|(_, case)| case.is_behind()).map(|(name, _)| *name).collect();
        first += usize::from(better.is_empty());
        words.push(match better[..] {
            [] => format!("{problem}: none is ahead of it"),
            _ => format!("{problem}: behind {}", better.join(", ")),
        });
    }
    Claim {
        paper: "BORE with a network achieves top performance in most benchmarks.".to_owned(),
        measured: words.join("; "),
        verdict: match first {
            _ if decided == 0 => Verdict::Open("too little was run".to_owned()),
            count if 2 * count > problems.len() => Verdict::Holds,
            _ if decided < problems.len() => {
                let open = problems.len() - decided;
                Verdict::Open(format!("{first} of {decided} so far, {open} problems are open"))
            }
            0 => Verdict::DoesNotHold,
            count => Verdict::HoldsOnly(format!("on {count} of {decided} problems")),
        },
    }
}

/// What the slides of the original BORE's authors show for a problem and a method, read off their curves.
fn published(problem: &str, method: &str) -> Option<&'static str> {
    Some(match (problem, method) {
        ("parkinsons", "bore") => "zero regret after about 166",
        ("slice", "bore") => "zero regret after about 143",
        ("parkinsons", "tpe" | "hyperopt-tpe") => "zero regret after about 159",
        ("slice", "tpe" | "hyperopt-tpe") => "2e-5 left at 500",
        ("parkinsons", "gp-ei") => "zero regret after about 191",
        ("slice", "gp-ei") => "5e-5 left at 500",
        ("parkinsons", "random") => "2.6e-3 left at 500",
        ("slice", "random") => "1e-4 left at 500",
        ("racing-ucb", "bore" | "gp-ei") => "4.59 s at 50",
        ("racing-ucb", "tpe" | "hyperopt-tpe") => "4.89 s at 50",
        ("racing-ucb", "random") => "5.02 s at 50",
        _ => return None,
    })
}

/// A table of what was reached, beside what the authors of the original BORE show.
pub(crate) fn reached(settings: &Settings, records: &crate::record::Records) -> String {
    let data = Data { records };
    let mut text = String::from(
        "| problem | method | mean best value | evaluations until y ≤ y*, median | least rank, median | original BORE's slides |\n\
         |---|---|---|---|---|---|\n",
    );
    for subject in &settings.problems {
        for method in &settings.methods {
            let trials = data.trials(&subject.name, &method.name);
            if trials.is_empty() {
                continue;
            }
            let best: Vec<f64> = trials.values().map(|trial| last(trial, "best_value")).collect();
            let is_table = matches!(subject.task, Some(Task::Fcnet(_)));
            let median = |mut values: Vec<f64>| {
                values.sort_by(f64::total_cmp);
                quantile(&values, 0.5)
            };
            let (mut until, mut rank) = ("-".to_owned(), "-".to_owned());
            if let (true, Some(optimum)) = (is_table, subject.optimum) {
                let first = |trial: &&crate::record::Trial| {
                    let hit = trial.rounds.iter().find(|round| {
                        round.metrics.get("best_value").is_some_and(|&value| value <= optimum)
                    });
                    hit.map_or(f64::INFINITY, |round| round.evaluations as f64)
                };
                let hits: Vec<f64> = trials.values().map(first).collect();
                let hit = hits.iter().filter(|hit| hit.is_finite()).count();
                until = match median(hits) {
                    middle if middle.is_finite() => {
                        format!("{middle:.0} ({hit} of {})", best.len())
                    }
                    _ => format!("not reached ({hit} of {})", best.len()),
                };
                let ranks = trials.values().map(|trial| last(trial, "rank"));
                rank = format!("{:.0}", median(ranks.collect()));
            }
            text += &format!(
                "| {} | {} | {} | {until} | {rank} | {} |\n",
                subject.name,
                method.title,
                digits(mean(&best)),
                published(&subject.name, &method.name).unwrap_or("-")
            );
        }
    }
    text
}

/// Four digits.
fn digits(value: f64) -> String {
    if value.abs() < 1e-2 { format!("{value:.3e}") } else { format!("{value:.3}") }
}
