//! Words about how far evaluations went, in studies with a fidelity.

use wimble::goal::{Fidelity, Goal};
use wimble::outcome::{Measurement, Outcome};
use wimble_study::{Filter, Stage, State, Step, Study, Trial};

use crate::plot;
use crate::progress::short;

/// ` at 9/81` for a measurement that was carried out in part, and nothing for a whole one.
pub fn part(goal: &Goal, measurement: &Measurement) -> String {
    match (goal.part(measurement), goal.partial()) {
        (Some(at), Some(Fidelity { high, .. })) => {
            format!(" at {}/{}", grouped(at), grouped(*high))
        }
        _ => String::new(),
    }
}

/// ` at 9/81` for a trial that is paused there, and nothing for others.
pub fn paused(goal: &Goal, trial: &Trial) -> String {
    match (&trial.state, trial.until) {
        (State::Paused(_), Some(_)) => {
            part(goal, &Measurement { fidelity: trial.until, ..0.0.into() })
        }
        _ => String::new(),
    }
}

/// How far the trials went that are compared, if none is whole yet.
pub fn so_far(goal: &Goal, reached: f64) -> String {
    match goal.partial() {
        Some(Fidelity { name, high, .. }) => {
            format!(
                "No trial has reached {} {name} yet; the furthest came to {}.",
                grouped(*high),
                grouped(reached)
            )
        }
        None => String::new(),
    }
}

/// What the finished and the paused trials of a study cost, against carrying all of them out in full.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// What was carried out.
    pub spent: f64,
    /// What would have been.
    pub in_full: f64,
    /// How many trials were stopped.
    pub stopped: u64,
    /// How many are paused, and may be continued.
    pub paused: u64,
}

impl Spent {
    /// Adds up the trials with values; `None` for a study without a fidelity, or without such trials.
    pub fn of(study: &Study) -> wimble_study::Result<Option<Self>> {
        let goal = &study.settings().goal;
        let Some(Fidelity { high, .. }) = goal.partial() else { return Ok(None) };
        let mut all = Self { spent: 0.0, in_full: 0.0, stopped: 0, paused: 0 };
        let finished = Filter { stage: Some(Stage::Finished), ..Filter::default() };
        for trial in study.each_trial(&finished) {
            let trial = trial?;
            if let Some(measurement) = trial.outcome().and_then(Outcome::measurement) {
                let part = goal.part(measurement);
                all.spent += part.unwrap_or(*high);
                all.in_full += high;
                all.stopped += u64::from(part.is_some());
            }
        }
        let paused = Filter { stage: Some(Stage::Paused), ..Filter::default() };
        for trial in study.each_trial(&paused) {
            all.spent += trial?.until.unwrap_or(0.0).min(*high);
            all.in_full += high;
            all.paused += 1;
        }
        Ok(Some(all).filter(|all| all.in_full > 0.0))
    }

    /// How many trials did not come to the end: `3 trials stopped early, 40 paused`.
    pub fn ended_early(&self) -> String {
        let trials = |count: u64| format!("{count} trial{}", if count == 1 { "" } else { "s" });
        match (self.stopped, self.paused) {
            (0, 0) => "No trial stopped early".to_owned(),
            (0, paused) => format!("{} paused", trials(paused)),
            (stopped, 0) => format!("{} stopped early", trials(stopped)),
            (stopped, paused) => format!("{} stopped early, {paused} paused", trials(stopped)),
        }
    }

    /// In words: `412 of 8,100 epochs, 19.7 times fewer`.
    pub fn text(&self, goal: &Goal) -> String {
        let name = goal.partial().map_or("", |fidelity| fidelity.name.as_str());
        let fewer = match self.in_full / self.spent {
            ratio if ratio >= 1.05 => format!(", {ratio:.1} times fewer"),
            _ => String::new(),
        };
        format!("{} of {} {name}{fewer}", grouped(self.spent), grouped(self.in_full))
    }
}

/// A number with commas between its thousands.
fn grouped(number: f64) -> String {
    if !(1_000.0..1e15).contains(&number) {
        return short(number);
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The curve of a trial as plots, one for each objective; empty before its second step.
pub fn curve(goal: &Goal, steps: &[Step]) -> String {
    let (Some(fidelity), true) = (goal.partial(), steps.len() > 1) else { return String::new() };
    let mut text = String::new();
    for (place, objective) in goal.objectives().iter().enumerate() {
        let point = |step: &Step| {
            step.measurement.objectives.get(place).map(|y| vec![step.fidelity(), y.value])
        };
        let points: Vec<Vec<f64>> = steps.iter().filter_map(point).collect();
        text.push('\n');
        text.push_str(&plot::scatter(&points, [&fidelity.name, &objective.name]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_said_in_words() {
        let goal = Goal::default().fidelity("epochs", 1.0, 81.0).unwrap();
        let spent = |spent, in_full| Spent { spent, in_full, stopped: 1, paused: 0 }.text(&goal);
        assert_eq!(spent(412.0, 8_100.0), "412 of 8,100 epochs, 19.7 times fewer");
        assert_eq!(spent(8_100.0, 8_100.0), "8,100 of 8,100 epochs");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!((grouped(999.5), grouped(0.25)), ("999.5".to_owned(), "0.25".to_owned()));
        let early =
            |stopped, paused| Spent { spent: 1.0, in_full: 2.0, stopped, paused }.ended_early();
        assert_eq!(early(0, 0), "No trial stopped early");
        assert_eq!(early(1, 0), "1 trial stopped early");
        assert_eq!(early(0, 48), "48 trials paused");
        assert_eq!(early(3, 40), "3 trials stopped early, 40 paused");
        let at = |fidelity| part(&goal, &Measurement { fidelity, ..1.0.into() });
        assert_eq!(
            (at(Some(9.0)), at(Some(81.0)), at(None)),
            (" at 9/81".to_owned(), String::new(), String::new())
        );
        let long = Goal::default().fidelity("rows", 1.0, 1e6).unwrap();
        let at = |fidelity| part(&long, &Measurement { fidelity, ..1.0.into() });
        assert_eq!(at(Some(44_000.0)), " at 44,000/1,000,000");
    }
}
