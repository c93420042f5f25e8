//! When a running trial is stopped. A verdict is a pure function of curves, goal, settings and seed.
//!
//! | rule | a trial is stopped if |
//! |---|---|
//! | `none` | never |
//! | `median` | its best value so far is worse than the median of the others' running averages |
//! | `halving` | it is not among the best third of those that came to a rung before it |
//! | `hyperband` | the same, within its bracket: brackets begin at different rungs |
//! | `auto` | it does worse at some rung than 95 % of good trials did there (see [`Stopping::wrong_stop`]) |
//!
//! All of them compare trials at equal fidelity. With several objectives or constraints, rows are compared by their
//! merit: non-domination level, contribution, violation. No rule waits for other trials: each looks at what
//! is there.
//!
//! A rule looks at all curves for each verdict. A search asks a [`Judge`], which says the same and keeps what it compares with.

mod auto;
mod halving;
mod hyperband;
mod judge;
mod median;
mod schedule;

#[doc(hidden)]
pub use judge::Judge;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::goal::{Fidelity, Goal};
use crate::history::History;
use crate::merit::merit;
use crate::named::{Name, unknown};
use crate::outcome::{Measured, Measurement};
use crate::seed::Seed;

/// Whether a trial goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It goes on.
    GoOn,
    /// It is to be stopped; its last step is its outcome.
    Stop,
}

/// A rule by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Rule {
    /// No trial is stopped.
    None,
    /// The median rule (Golovin et al. 2017).
    Median,
    /// Asynchronous successive halving (Li et al. 2020).
    Halving,
    /// Brackets of successive halving (Li et al. 2018), asynchronously.
    Hyperband,
    /// Ranks at equal fidelity, calibrated on trials that are never stopped.
    #[default]
    Auto,
}

/// The rules as users write them, each with a line about it.
const RULES: [Name; 5] = [
    Name { name: "none", description: "no trial is stopped" },
    Name { name: "median", description: "stops what is worse than the median of earlier trials" },
    Name { name: "halving", description: "asynchronous successive halving, ASHA" },
    Name { name: "hyperband", description: "successive halving in brackets, asynchronous" },
    Name { name: "auto", description: "stops what does worse than good trials did (wrong-stop)" },
];

const ALL: [Rule; 5] = [Rule::None, Rule::Median, Rule::Halving, Rule::Hyperband, Rule::Auto];

impl Rule {
    /// The name as users write it.
    pub fn name(self) -> &'static str {
        RULES[self as usize].name
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = ALL.into_iter().find(|rule| rule.name() == text);
        found.ok_or_else(|| unknown("stopping", text, RULES.iter().map(|rule| rule.name)))
    }
}

impl TryFrom<String> for Rule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.name().to_owned()
    }
}

/// A rule with its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stopping {
    /// The rule.
    pub rule: Rule,
    /// How often `auto` may stop the best configuration by mistake, strictly between 0 and 1. A smaller one stops fewer
    /// trials, and later: 1/wrong-stop trials are carried out in full before the first is stopped. Other rules
    /// promise nothing and do not read it.
    pub wrong_stop: f64,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { rule: Rule::default(), wrong_stop: 0.05 }
    }
}

impl From<Rule> for Stopping {
    fn from(rule: Rule) -> Self {
        Self { rule, ..Self::default() }
    }
}

impl Stopping {
    /// How many trials `auto` carries out in full before it stops any: ⌈1/wrong-stop⌉. Other rules wait for none.
    #[doc(hidden)]
    pub fn carried_out_first(&self) -> u64 {
        match self.rule {
            Rule::Auto => schedule::carried_out_first(self.wrong_stop),
            Rule::None | Rule::Median | Rule::Halving | Rule::Hyperband => 0,
        }
    }

    /// Refuses a probability outside (0, 1).
    pub fn check(&self) -> Result<()> {
        if self.wrong_stop > 0.0 && self.wrong_stop < 1.0 {
            return Ok(());
        }
        Err(Error::invalid("wrong-stop", self.wrong_stop, "strictly between 0 and 1"))
    }

    /// Whether a trial goes on after its last step. Under a goal without a fidelity, and before the first step, every
    /// trial does; so does one that has reached the highest fidelity. A trial that was to be stopped at an earlier step
    /// by `halving`, `hyperband` or `auto` still is.
    pub fn verdict(&self, history: &History, trial: u64, seed: Seed) -> Result<Verdict> {
        self.check()?;
        let Some(range) = history.goal().partial() else { return Ok(Verdict::GoOn) };
        let curve = history.curves().get(trial).filter(|curve| !curve.is_empty());
        let Some(curve) = curve.filter(|curve| curve.reached() < range.high) else {
            return Ok(Verdict::GoOn);
        };
        let matter = Matter { history, range, trial, curve };
        let stop = match self.rule {
            Rule::None => false,
            Rule::Median => median::stops(&matter)?,
            Rule::Halving => halving::stops(&matter)?,
            Rule::Hyperband => hyperband::stops(&matter, seed)?,
            Rule::Auto => auto::stops(&matter, self.wrong_stop)?,
        };
        Ok(if stop { Verdict::Stop } else { Verdict::GoOn })
    }
}

/// What a rule judges: a trial with a curve that has a step, and all that is known.
struct Matter<'a> {
    history: &'a History,
    range: &'a Fidelity,
    trial: u64,
    curve: &'a crate::curves::Curve,
}

/// How many of `rows` are better than `row` under a goal.
fn better<'r>(goal: &Goal, row: &'r [f64], rows: impl Iterator<Item = &'r [f64]>) -> Result<usize> {
    if goal.objectives().len() == 1 && goal.constraints().is_empty() {
        return Ok(rows.filter(|other| other[0] < row[0]).count());
    }
    let order = order(goal, std::iter::once(row).chain(rows))?;
    Ok(order.iter().skip(1).filter(|other| **other < order[0]).count())
}

/// A number for each row, lower is better: the value of a single objective, or the merit among the rows.
fn order<'r>(goal: &Goal, rows: impl Iterator<Item = &'r [f64]>) -> Result<Vec<f64>> {
    let objectives = goal.objectives().len();
    if objectives == 1 && goal.constraints().is_empty() {
        return Ok(rows.map(|row| row[0]).collect());
    }
    let mut compared = History::of(1, goal.whole());
    for row in rows {
        let all = |part: &[f64]| part.iter().map(|value| Measured::from(*value)).collect();
        let (objectives, constraints) = (all(&row[..objectives]), all(&row[objectives..]));
        compared.push(&[0.0], Measurement { objectives, constraints, fidelity: None })?;
    }
    Ok(merit(&compared)?.values().map(|place| place.unwrap_or(f64::INFINITY)).collect())
}

/// `first`, times `factor`, and so on, below `high`.
fn rungs(first: f64, factor: f64, high: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(first), move |at| Some(at * factor)).take_while(move |at| *at < high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Direction, Objective};

    /// A history of one objective from 1 to 81 epochs, in which steps come one by one.
    pub(super) fn epochs() -> History {
        let goal = Goal::from(Direction::Minimise).fidelity("epochs", 1.0, 81.0).unwrap();
        History::of(1, goal)
    }

    pub(super) fn step(history: &mut History, trial: u64, at: f64, value: f64) {
        let step = Measurement { fidelity: Some(at), ..Measurement::from(value) };
        history.report(trial, &[trial as f64 / 1000.0], &step).unwrap();
    }

    pub(super) fn verdict(history: &History, trial: u64, rule: Rule) -> Verdict {
        Stopping::from(rule).verdict(history, trial, Seed(1)).unwrap()
    }

    #[test]
    fn rules_are_written_and_read_by_name() {
        for rule in ALL {
            assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
            let text = serde_json::to_string(&Stopping::from(rule)).unwrap();
            assert_eq!(text, format!(r#"{{"rule":"{rule}","wrong-stop":0.05}}"#));
            assert_eq!(serde_json::from_str::<Stopping>(&text).unwrap(), rule.into());
        }
        assert_eq!(serde_json::from_str::<Stopping>("{}").unwrap(), Stopping::default());
        let error = "havling".parse::<Rule>().unwrap_err().to_string();
        assert_eq!(
            error,
            "stopping is `havling`, but must be one of none, median, halving, hyperband, auto; the nearest is `halving`"
        );
        for wrong_stop in [0.0, 1.0, -0.1, f64::NAN] {
            let error = Stopping { wrong_stop, ..Stopping::default() }.check().unwrap_err();
            assert!(error.to_string().contains("strictly between 0 and 1"), "{error}");
        }
    }

    #[test]
    fn nobody_is_stopped_without_steps_or_at_the_end() {
        let mut history = epochs();
        for trial in 0..40 {
            step(&mut history, trial, 1.0, trial as f64);
        }
        step(&mut history, 40, 81.0, 1e9);
        for rule in ALL {
            assert_eq!(verdict(&history, 40, rule), Verdict::GoOn, "{rule}");
            assert_eq!(verdict(&history, 99, rule), Verdict::GoOn, "{rule}");
        }
        assert_eq!(verdict(&history, 39, Rule::None), Verdict::GoOn);
        assert_eq!(verdict(&history, 39, Rule::Halving), Verdict::Stop);
    }

    #[test]
    fn rows_of_larger_goals_are_ordered_by_merit() {
        let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")])
            .and_then(|goal| goal.limit("c", Bound::AtMost(0.0)))
            .and_then(|goal| goal.fidelity("epochs", 1.0, 9.0))
            .unwrap();
        // On the front, dominated, violating.
        let rows: [[f64; 3]; 4] =
            [[0.0, 1.0, -1.0], [1.0, 0.0, -1.0], [2.0, 2.0, -1.0], [-9.0, -9.0, 1.0]];
        let count = |i: usize| {
            let others = rows.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, row)| &row[..]);
            better(&goal, &rows[i], others).unwrap()
        };
        assert_eq!([count(0), count(1), count(2), count(3)], [0, 0, 2, 3]);
    }
}
