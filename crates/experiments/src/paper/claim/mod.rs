//! What the paper says of a figure, beside what was measured.
//!
//! Rules:
//! - two methods are compared on the same trials by the mean difference of a metric at the last round that all trials of
//!   both reached; one is ahead if the 95 % bootstrap interval of that mean excludes zero;
//! - a comparison of fewer than five trials, or at less than half of the figure's rounds, decides nothing; where a time
//!   limit ends a method's trials sooner, it decides for the rounds up to there, and the verdict says so;
//! - a statement about single trials holds if it is true in nine tenths of them, and holds partly if in half.

pub(crate) mod real_data;
pub(crate) mod rosenbrock;

use std::collections::BTreeMap;
use std::fmt;

use crate::paper::figure::Figure;
use crate::paper::settings::{Settings, TheoryMethod};
use crate::record::{End, Records, Trial};
use crate::summary::{interval, mean};

/// A claim, what was measured, and whether it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// In the paper's sense, in our words.
    pub paper: String,
    /// The figures.
    pub measured: String,
    /// The rule's answer.
    pub verdict: Verdict,
}

/// Whether a claim holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// Under a condition.
    HoldsOnly(String),
    /// It does not.
    DoesNotHold,
    /// Too little was run to say.
    Open(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => f.write_str("holds"),
            Self::HoldsOnly(when) => write!(f, "holds only {when}"),
            Self::DoesNotHold => f.write_str("does not hold"),
            Self::Open(why) => write!(f, "open: {why}"),
        }
    }
}

/// The claims of a figure.
pub fn claims(figure: Figure, settings: &Settings, records: &Records) -> Vec<Claim> {
    let data = Data { records };
    match figure {
        Figure::Theory => theory_claims(settings, &data),
        Figure::Global => global_claims(settings, &data),
        Figure::RealData => real_data::claims(settings, &data),
        Figure::Rosenbrock => rosenbrock::claims(settings, &data),
    }
}

/// Fewer trials decide no comparison: a bootstrap interval of them is far too narrow.
const FEWEST_TRIALS: usize = 5;

pub(super) struct Data<'r> {
    pub records: &'r Records,
}

/// How one method compares with another, lower being better.
pub(super) struct Comparison {
    pub difference: f64,
    pub lower: f64,
    pub upper: f64,
    trials: usize,
    round: usize,
    problem: String,
}

impl Comparison {
    pub fn is_ahead(&self) -> bool {
        self.upper < 0.0
    }

    fn is_behind(&self) -> bool {
        self.lower > 0.0
    }

    /// Why this decides nothing, if it does not.
    fn too_little(&self, settings: &Settings) -> Option<String> {
        self.too_few().or_else(|| self.too_early(settings))
    }

    fn too_few(&self) -> Option<String> {
        let few = self.trials < FEWEST_TRIALS;
        few.then(|| format!("{} trials are too few, {FEWEST_TRIALS} the least", self.trials))
    }

    fn too_early(&self, settings: &Settings) -> Option<String> {
        let round = self.round;
        let subject = settings.problems.iter().find(|subject| subject.name == self.problem);
        let rounds = subject.map_or(settings.rounds, |subject| settings.rounds_on(subject));
        let early = 2 * round < rounds;
        early.then(|| format!("compared at round {round} of {rounds}"))
    }

    fn in_words(&self) -> String {
        let Self { trials, round, .. } = self;
        let [difference, lower, upper] = [self.difference, self.lower, self.upper].map(signed);
        format!("{difference} [{lower}, {upper}] at round {round}, {trials} trials")
    }
}

impl<'r> Data<'r> {
    /// By number.
    fn trials(&self, problem: &str, method: &str) -> BTreeMap<usize, &'r Trial> {
        let all = self.records.trials.iter();
        all.filter(|(key, trial)| {
            key.problem == problem && key.method == method && trial.end.is_some()
        })
        .map(|(key, trial)| (key.trial, trial))
        .collect()
    }

    /// A metric of `method` less that of `other`, trial by trial, at the last round all of them reached.
    fn compare(
        &self,
        problem: &str,
        metric: &str,
        method: &str,
        other: &str,
    ) -> Option<Comparison> {
        let pairs = self.pairs(problem, method, other);
        let round = pairs.iter().map(|(a, b)| a.rounds.len().min(b.rounds.len())).min()?;
        Self::difference(&pairs, problem, metric, round)
    }

    /// The same after a round; `None` if a trial did not reach it.
    pub fn compare_at(
        &self,
        problem: &str,
        metric: &str,
        method: &str,
        other: &str,
        round: usize,
    ) -> Option<Comparison> {
        let pairs = self.pairs(problem, method, other);
        let reached = pairs.iter().all(|(a, b)| a.rounds.len().min(b.rounds.len()) >= round);
        if reached { Self::difference(&pairs, problem, metric, round) } else { None }
    }

    /// The trials that both methods have.
    fn pairs(&self, problem: &str, method: &str, other: &str) -> Vec<(&'r Trial, &'r Trial)> {
        let (one, two) = (self.trials(problem, method), self.trials(problem, other));
        one.iter().filter_map(|(number, &trial)| Some((trial, *two.get(number)?))).collect()
    }

    fn difference(
        pairs: &[(&Trial, &Trial)],
        problem: &str,
        metric: &str,
        round: usize,
    ) -> Option<Comparison> {
        let differences: Vec<f64> = pairs
            .iter()
            .filter_map(|(a, b)| Some(at(a, round, metric)? - at(b, round, metric)?))
            .collect();
        if differences.is_empty() {
            return None;
        }
        let (lower, upper) = interval(&differences);
        let trials = differences.len();
        let (difference, problem) = (mean(&differences), problem.to_owned());
        Some(Comparison { difference, lower, upper, trials, round, problem })
    }

    /// Whether a time limit ended trials of a method on a problem.
    fn is_limited(&self, problem: &str, method: &str) -> bool {
        self.trials(problem, method).values().any(|trial| trial.end == Some(End::Aborted))
    }

    /// In how many trials something is true, and of how many.
    fn count(
        &self,
        problem: &str,
        method: &str,
        is_true: impl Fn(&Trial) -> bool,
    ) -> (usize, usize) {
        let trials = self.trials(problem, method);
        (trials.values().filter(|trial| is_true(trial)).count(), trials.len())
    }
}

fn at(trial: &Trial, round: usize, metric: &str) -> Option<f64> {
    trial.rounds.get(round.checked_sub(1)?)?.metrics.get(metric).copied()
}

fn last(trial: &Trial, metric: &str) -> f64 {
    at(trial, trial.rounds.len(), metric).unwrap_or(f64::NAN)
}

/// A statement about single trials.
fn by_share((yes, of): (usize, usize)) -> Verdict {
    let share = yes as f64 / of as f64;
    match share {
        _ if of == 0 => Verdict::Open("not run".to_owned()),
        share if share >= 0.9 => Verdict::Holds,
        share if share >= 0.5 => Verdict::HoldsOnly(format!("in {yes} of {of} trials")),
        _ => Verdict::DoesNotHold,
    }
}

/// A claim about several cases: it holds in all, in some that are named, or in none.
fn over_cases(
    settings: &Settings,
    cases: &[(String, Option<Comparison>)],
    when: &str,
) -> (String, Verdict) {
    let known: Vec<(&str, &Comparison)> =
        cases.iter().filter_map(|(name, case)| Some((name.as_str(), case.as_ref()?))).collect();
    let words: Vec<String> =
        known.iter().map(|(name, case)| format!("{name}: {}", case.in_words())).collect();
    let ahead: Vec<&str> =
        known.iter().filter(|(_, case)| case.is_ahead()).map(|(name, _)| *name).collect();
    let too_little = known.iter().find_map(|(_, case)| case.too_little(settings));
    let verdict = match (too_little, ahead.len()) {
        _ if known.is_empty() => Verdict::Open("not run".to_owned()),
        (Some(why), _) => Verdict::Open(why),
        (None, 0) => Verdict::DoesNotHold,
        (None, n) if n == known.len() => Verdict::Holds,
        _ => Verdict::HoldsOnly(format!("{when} {}", ahead.join(", "))),
    };
    (words.join("; "), verdict)
}

/// A difference with its sign, three digits.
pub(super) fn signed(value: f64) -> String {
    if value == 0.0 || (1e-2..1e4).contains(&value.abs()) {
        format!("{value:+.3}")
    } else {
        format!("{value:+.2e}")
    }
}

fn theory_claims(settings: &Settings, data: &Data<'_>) -> Vec<Claim> {
    let metric = "average_regret";
    let mut claims = Vec::new();
    for subject in &settings.problems {
        let problem = subject.name.as_str();
        let stuck = data.count(problem, "bore", |trial| last(trial, "points_visited") <= 2.0);
        claims.push(Claim {
            paper: "BORE with the optimal least-squares classifier gets stuck at its initial point: constant \
                    regret."
                .to_owned(),
            measured: format!("at most two points visited in {} of {} trials", stuck.0, stuck.1),
            verdict: by_share(stuck),
        });
        let progress = data.count(problem, "bore++", |trial| {
            let quarter = trial.rounds.len().div_ceil(4);
            let sum = |round: usize| at(trial, round, "cumulative_regret").unwrap_or(f64::NAN);
            let end = trial.rounds.len();
            let last_quarter = sum(end) - if end > quarter { sum(end - quarter) } else { 0.0 };
            last_quarter < sum(quarter)
        });
        let found = data.count(problem, "bore++", |trial| last(trial, "simple_regret") == 0.0);
        claims.push(Claim {
            paper: "BORE++ progresses towards the global optimum.".to_owned(),
            measured: format!(
                "less regret in the last quarter of the rounds than in the first in {} of {} trials; the optimum \
                 was visited in {}",
                progress.0, progress.1, found.0
            ),
            verdict: by_share(progress),
        });
        let case = [("BORE".to_owned(), data.compare(problem, metric, "bore++", "bore"))];
        let (measured, verdict) = over_cases(settings, &case, "against");
        claims.push(Claim {
            paper: "BORE++ has less regret than BORE.".to_owned(),
            measured: format!("average regret less that of {measured}"),
            verdict,
        });
        let rivals = settings.methods.iter().filter_map(|method| match method.theory {
            Some(TheoryMethod::GpUcb { jitter }) => Some((method.name.as_str(), jitter)),
            _ => None,
        });
        let rivals: Vec<(&str, f64)> = rivals.collect();
        for (name, paper) in [
            ("bore++", "BORE++ outperforms GP-UCB."),
            ("bore++-3", "(Not in the paper: BORE++ with a fixed width of 3 outperforms GP-UCB.)"),
        ] {
            let cases: Vec<(String, Option<Comparison>)> = rivals
                .iter()
                .map(|(rival, jitter)| {
                    (format!("{jitter:e}"), data.compare(problem, metric, name, rival))
                })
                .collect();
            let (measured, verdict) =
                over_cases(settings, &cases, "with the norm of f under jitter");
            claims.push(Claim {
                paper: paper.to_owned(),
                measured: format!("average regret less GP-UCB's, by jitter in (D.5): {measured}"),
                verdict,
            });
        }
        for (method, theorem) in [("bore", "Theorem 2"), ("bore++", "Theorem 3")] {
            let inside = |metric: &'static str| {
                data.count(problem, method, |trial| {
                    trial.rounds.iter().all(|round| {
                        let (regret, bound) =
                            (round.metrics.get("cumulative_regret"), round.metrics.get(metric));
                        matches!((regret, bound), (Some(regret), Some(bound)) if regret <= bound)
                    })
                })
            };
            let (printed, tight) = (inside("bound_printed"), inside("bound_tight"));
            let trials = data.trials(problem, method);
            let ratios: Vec<f64> = trials
                .values()
                .map(|trial| last(trial, "cumulative_regret") / last(trial, "bound_tight"))
                .collect();
            let ratio = if ratios.is_empty() { f64::NAN } else { mean(&ratios) };
            claims.push(Claim {
                paper: format!("{theorem}: cumulative regret stays below its bound with probability 0.9."),
                measured: format!(
                    "all rounds inside in {} of {} runs (printed), {} of {} (tight); the regret is {ratio:.1e} \
                     of the tight bound at the end, on average",
                    printed.0, printed.1, tight.0, tight.1
                ),
                verdict: by_share((printed.0.min(tight.0), printed.1)),
            });
        }
    }
    claims
}

fn global_claims(settings: &Settings, data: &Data<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (method, title, [lp_ei, q_ei]) in [
        ("batch-bore", "Batch BORE (logit)", ["lp-ei", "q-ei"]),
        ("batch-bore-log", "Batch BORE (log-probability)", ["lp-ei", "q-ei"]),
        (
            "batch-bore-driver",
            "With method and baselines as the authors' driver set them up, batch BORE",
            ["lp-ei-driver", "q-ei-driver"],
        ),
    ] {
        let (mut ahead, mut of, mut words) = (0, 0, Vec::new());
        let mut limited_at = Vec::new();
        for subject in &settings.problems {
            let compare = |other| data.compare(&subject.name, "simple_regret", method, other);
            let (Some(lp), Some(q)) = (compare(lp_ei), compare(q_ei)) else { continue };
            let mut open = lp.too_few().or(q.too_few());
            for (other, case) in [(lp_ei, &lp), (q_ei, &q)] {
                let Some(why) = case.too_early(settings) else { continue };
                if data.is_limited(&subject.name, other) {
                    limited_at.push(case.round);
                } else {
                    open = open.or(Some(why));
                }
            }
            if let Some(why) = open {
                words.push(format!("{}: open ({why})", subject.name));
                continue;
            }
            of += 1;
            let wins = lp.difference < 0.0 && q.difference < 0.0;
            ahead += usize::from(wins);
            words.push(format!(
                "{}: {} (against LP-EI {} at round {}, q-EI {} at round {})",
                subject.name,
                if wins { "ahead" } else { "not ahead" },
                signed(lp.difference),
                lp.round,
                signed(q.difference),
                q.round
            ));
        }
        let most = 2 * ahead > of;
        let verdict = match (ahead, limited_at.iter().min().zip(limited_at.iter().max())) {
            _ if of == 0 => Verdict::Open("no problem can be compared".to_owned()),
            (_, None) if most => Verdict::Holds,
            (_, Some((first, last))) if most => Verdict::HoldsOnly(format!(
                "up to rounds {first} to {last}, where the baselines reached their time limit"
            )),
            (0, _) => Verdict::DoesNotHold,
            (ahead, _) => Verdict::HoldsOnly(format!("on {ahead} of {of} problems")),
        };
        claims.push(Claim {
            paper: format!("{title} outperforms its baselines on most problems."),
            measured: format!(
                "mean simple regret below that of LP-EI and of q-EI, at the last round both reached, on {ahead} \
                 of {of} problems: {}",
                words.join("; ")
            ),
            verdict,
        });
    }
    let lp: Vec<&Trial> = data
        .records
        .trials
        .iter()
        .filter(|(key, trial)| key.method == "lp-ei" && trial.end.is_some())
        .map(|(_, trial)| trial)
        .collect();
    let aborted = lp.iter().filter(|trial| trial.end == Some(End::Aborted)).count();
    claims.push(Claim {
        paper: "In some cases LP-EI becomes computationally infeasible and has to be aborted."
            .to_owned(),
        measured: format!("{aborted} of {} trials of LP-EI reached their time limit", lp.len()),
        verdict: match aborted {
            _ if lp.is_empty() => Verdict::Open("not run".to_owned()),
            0 => Verdict::DoesNotHold,
            _ => Verdict::Holds,
        },
    });
    claims
}
