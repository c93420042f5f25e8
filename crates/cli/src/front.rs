//! The trials that stand out in a study with several objectives or constraints, as `run` and `best` print them.

use anyhow::Result;
use serde_json::{Value as Json, json};
use wimble::goal::{Fidelity, Goal, Objective};
use wimble::outcome::Measurement;
use wimble::pareto::Hypervolume;
use wimble::standing::{Nearest, Standing};
use wimble_study::exchange::Row;
use wimble_study::{Outcome, Study, Trial};

use crate::progress::short;
use crate::{fidelity, plot, table};

/// How many trials of a front fit a screen.
pub const SCREEN: usize = 20;

/// What stands out in a study.
pub struct Outlook {
    goal: Goal,
    /// The front or, under one objective, the best trial; as many as were asked for, spread over the front.
    pub trials: Vec<Trial>,
    /// How many trials are on the front.
    size: usize,
    /// The values of the front, for the plot.
    values: Vec<Vec<f64>>,
    reference: Vec<f64>,
    hypervolume: Hypervolume,
    beyond: Vec<u64>,
    meeting: u64,
    violating: u64,
    /// The trial that comes nearest, as long as none meets all constraints.
    nearest: Option<(Trial, f64)>,
    /// How far the trials went that are compared, if none is whole yet.
    reached: Option<f64>,
}

impl Outlook {
    /// Looks at a study, and reads at most `count` trials of its front.
    pub fn of(study: &Study, count: usize) -> Result<Self> {
        let goal = study.settings().goal.clone();
        let look = |standing: &Standing| Found {
            front: standing.front(),
            nearest: standing.nearest(),
            values: values(standing),
            reference: standing.reference().unwrap_or_default(),
            hypervolume: standing.hypervolume(),
            beyond: standing.beyond_reference(),
            counts: (standing.meeting(), standing.violating()),
            reached: standing.reached(),
        };
        let found = study.standing(look)?;
        let trials = if goal.objectives().len() == 1 && !found.front.is_empty() {
            study.best_trials(count)?
        } else {
            let spread = spread(found.front.len(), count).into_iter();
            spread.map(|place| study.trial(found.front[place])).collect::<Result<_, _>>()?
        };
        let nearest = match found.nearest {
            Some(Nearest { trial, violation }) => Some((study.trial(trial)?, violation)),
            None => None,
        };
        Ok(Self {
            goal,
            trials,
            size: found.front.len(),
            values: found.values,
            reference: found.reference,
            hypervolume: found.hypervolume?,
            beyond: found.beyond,
            meeting: found.counts.0,
            violating: found.counts.1,
            nearest,
            reached: found.reached,
        })
    }

    /// Whether there is a trial to show.
    pub fn is_empty(&self) -> bool {
        self.trials.is_empty() && self.nearest.is_none()
    }

    /// In words, a table and a plot.
    pub fn text(&self, study: &Study) -> String {
        if let Some((trial, violation)) = &self.nearest {
            return format!(
                "No trial meets all constraints yet; {}.\n{}",
                match self.violating {
                    1 => "the only one is violating".to_owned(),
                    count => format!("all {count} are violating"),
                },
                describe(
                    &format!("Nearest (total violation {})", short(*violation)),
                    trial,
                    &self.goal
                )
            );
        }
        if let ([_], [best]) = (self.goal.objectives(), &self.trials[..]) {
            return format!("{}{}\n", describe("Best", best, &self.goal), self.met());
        }
        let listed = table::values(study.settings(), &self.trials).text;
        if self.goal.objectives().len() == 1 {
            return listed;
        }
        let mut text = format!("Front: {}. {}\n", trials(self.size as u64), self.met());
        if self.trials.len() < self.size {
            text.push_str(&format!("{}\n", some_of(self.trials.len(), self.size)));
        }
        text.push_str(&format!("\n{listed}"));
        if let [first, second] = self.goal.objectives()
            && self.values.len() > 1
        {
            text.push('\n');
            text.push_str(&plot::scatter(&self.values, [&first.name, &second.name]));
        }
        text.push_str(&format!("\n{}\n", self.extent()));
        if let Some(warning) = self.warning() {
            text.push_str(&format!("{warning}\n"));
        }
        text
    }

    /// How many trials meet all constraints, in words.
    fn met(&self) -> String {
        let meet = if self.meeting == 1 { "meets" } else { "meet" };
        let violating = match self.violating {
            0 => "none is violating".to_owned(),
            1 => "1 is violating".to_owned(),
            count => format!("{count} are violating"),
        };
        if let Some(reached) = self.reached {
            return fidelity::so_far(&self.goal, reached);
        }
        if let (Some(Fidelity { name, high, .. }), true) =
            (self.goal.partial(), self.goal.constraints().is_empty())
        {
            let (trials, high) = (trials(self.meeting), short(*high));
            return format!("{trials} reached {high} {name}.");
        }
        match self.goal.constraints().is_empty() {
            true => format!(
                "{} {} values.",
                trials(self.meeting),
                if self.meeting == 1 { "has" } else { "have" }
            ),
            false => format!("{} {meet} all constraints, {violating}.", trials(self.meeting)),
        }
    }

    /// The hypervolume and its reference point, in words.
    fn extent(&self) -> String {
        let objectives = self.goal.objectives().iter().zip(&self.reference);
        let coordinate = |(objective, value): (&Objective, &f64)| {
            let inferred = if objective.reference.is_none() { " (inferred)" } else { "" };
            format!("{} {}{inferred}", objective.name, short(*value))
        };
        let point: Vec<String> = objectives.map(coordinate).collect();
        let error = match self.hypervolume.deviation {
            0.0 => String::new(),
            deviation => format!(" ± {}", short(deviation)),
        };
        let volume = short(self.hypervolume.value);
        format!("Hypervolume {volume}{error} up to {}", point.join(", "))
    }

    /// That a given reference point lies inside the front, so that a part of the front or all of it does not count.
    fn warning(&self) -> Option<String> {
        let count = self.beyond.len();
        let listed: Vec<String> = self.beyond.iter().take(5).map(ToString::to_string).collect();
        let listed = listed.join(", ") + if count > listed.len() { ", …" } else { "" };
        match count {
            0 => None,
            _ if count == self.size => Some(
                "warning: no trial of the front is better than the reference point in every objective, so that the \
                 hypervolume is 0. A reference is a value just worse than any that should count"
                    .to_owned(),
            ),
            1 => Some(format!("note: trial {listed} is beyond the reference point and adds nothing to it")),
            _ => Some(format!("note: trials {listed} are beyond the reference point and add nothing to it")),
        }
    }

    /// As the fields of a JSON object.
    pub fn json(&self) -> Result<serde_json::Map<String, Json>> {
        let mut fields = serde_json::Map::new();
        let rows = |trials: &[Trial]| -> Result<Vec<Json>> {
            trials
                .iter()
                .map(|trial| Ok(serde_json::to_value(Row::new(trial, &self.goal))?))
                .collect()
        };
        if self.goal.objectives().len() > 1 {
            fields.insert("front".to_owned(), rows(&self.trials)?.into());
            fields.insert("front_trials".to_owned(), self.size.into());
            let objectives = self.goal.objectives().iter().zip(&self.reference);
            let reference: serde_json::Map<String, Json> = objectives
                .map(|(objective, value)| (objective.name.clone(), (*value).into()))
                .collect();
            fields.insert("reference".to_owned(), reference.into());
            fields.insert("hypervolume".to_owned(), self.hypervolume.value.into());
            if self.hypervolume.deviation > 0.0 {
                let deviation = self.hypervolume.deviation.into();
                fields.insert("hypervolume_deviation".to_owned(), deviation);
            }
            fields.insert("beyond_reference".to_owned(), json!(self.beyond));
        }
        if let Some(reached) = self.reached {
            fields.insert("fidelity_reached".to_owned(), reached.into());
        }
        fields.insert("feasible_trials".to_owned(), self.meeting.into());
        fields.insert("violating_trials".to_owned(), self.violating.into());
        if let Some((trial, violation)) = &self.nearest {
            let mut row = serde_json::to_value(Row::new(trial, &self.goal))?;
            row["violation"] = (*violation).into();
            fields.insert("nearest".to_owned(), row);
        }
        Ok(fields)
    }
}

pub fn trials(count: u64) -> String {
    format!("{count} trial{}", if count == 1 { "" } else { "s" })
}

/// That a table has some trials of a front only.
pub fn some_of(shown: usize, all: usize) -> String {
    format!("Here are {shown}, spread over it; -n {all} shows all.")
}

/// What is taken from a standing while it is at hand.
struct Found {
    front: Vec<u64>,
    nearest: Option<Nearest>,
    values: Vec<Vec<f64>>,
    reference: Vec<f64>,
    hypervolume: wimble::Result<Hypervolume>,
    beyond: Vec<u64>,
    counts: (u64, u64),
    reached: Option<f64>,
}

/// The values of the front, as the user gives them.
fn values(standing: &Standing) -> Vec<Vec<f64>> {
    let directions: Vec<_> =
        standing.goal().objectives().iter().map(|objective| objective.direction).collect();
    let turned = |row: &[f64]| row.iter().zip(&directions).map(|(y, to)| to.turn(*y)).collect();
    standing.values().rows().map(turned).collect()
}

/// At most `count` places of `size`, the first and the last among them.
pub fn spread(size: usize, count: usize) -> Vec<usize> {
    if size <= count {
        return (0..size).collect();
    }
    (0..count).map(|k| if count == 1 { 0 } else { k * (size - 1) / (count - 1) }).collect()
}

/// What stands out, in a few words for a line of progress; `None` as long as nothing does.
pub fn in_short(study: &Study) -> Result<Option<String>, wimble_study::Error> {
    if study.settings().goal.objectives().len() > 1 {
        return study.standing(front_in_short);
    }
    Ok(study.best()?.map(|best| match best.violating {
        false => {
            let measurement = Measurement { fidelity: best.fidelity, ..best.value.into() };
            let part = fidelity::part(&study.settings().goal, &measurement);
            format!("best {}{part} (trial {})", short(best.value), best.trial)
        }
        true => "none meets all constraints yet".to_owned(),
    }))
}

/// The same for a front.
pub fn front_in_short(standing: &Standing) -> Option<String> {
    if standing.is_empty() {
        let violating = standing.violating() > 0;
        return violating.then(|| "none meets all constraints yet".to_owned());
    }
    let hypervolume = standing.hypervolume().ok()?.value;
    Some(format!("front {}, hypervolume {}", standing.len(), short(hypervolume)))
}

/// A measurement by the names of its values, and whether it is violating.
pub fn named(goal: &Goal, measurement: &Measurement) -> String {
    let part = fidelity::part(goal, measurement);
    if goal.whole().as_direction().is_some() {
        return format!("{measurement}{part}");
    }
    let objectives = goal.objectives().iter().map(|objective| objective.name.as_str());
    let objectives = objectives.zip(&measurement.objectives);
    let others = goal.other_quantities();
    let constraints = goal.constraints().iter().zip(&measurement.constraints);
    let mut constraints: Vec<_> =
        constraints.map(|(constraint, measured)| (constraint.name.as_str(), measured)).collect();
    constraints.retain(|(name, _)| others.contains(name));
    constraints.dedup_by_key(|(name, _)| *name);
    let all = objectives.chain(constraints).map(|(name, measured)| format!("{name} {measured}"));
    let violating = if goal.is_violated_by(measurement) { " (violating)" } else { "" };
    format!("{}{part}{violating}", all.collect::<Vec<_>>().join(", "))
}

/// The values of a measurement, one a line, with the limits that it misses.
pub fn value_lines(goal: &Goal, measurement: &Measurement) -> Vec<(String, String)> {
    let missed = |name: &str| -> String {
        let limits = goal.constraints().iter().zip(&measurement.constraints);
        let limits = limits.filter(|(limit, measured)| {
            limit.name == name && limit.bound.violation(measured.value) > 0.0
        });
        limits.map(|(limit, _)| format!(", violating {}", limit.bound)).collect()
    };
    let objectives = goal.objectives().iter().zip(&measurement.objectives);
    let mut lines: Vec<(String, String)> = objectives
        .map(|(objective, measured)| {
            (objective.name.clone(), format!("{measured}{}", missed(&objective.name)))
        })
        .collect();
    for name in goal.other_quantities() {
        let mut limits = goal.constraints().iter().zip(&measurement.constraints);
        if let Some((_, measured)) = limits.find(|(limit, _)| limit.name == name) {
            lines.push((name.to_owned(), format!("{measured}{}", missed(name))));
        }
    }
    lines
}

/// A trial under a heading, with its values and parameters, one a line. The only value stands in the heading.
pub fn describe(heading: &str, trial: &Trial, goal: &Goal) -> String {
    let measurement = trial.outcome().and_then(Outcome::measurement);
    let mut values =
        measurement.map(|measurement| value_lines(goal, measurement)).unwrap_or_default();
    let part = measurement.map(|told| fidelity::part(goal, told)).unwrap_or_default();
    let title = match goal.objectives() {
        [_] if !values.is_empty() => format!("{}{part} (trial {})", values.remove(0).1, trial.id),
        _ => format!("trial {}{part}", trial.id),
    };
    let parameters =
        trial.configuration.iter().map(|(name, value)| (name.to_owned(), value.to_string()));
    let lines: Vec<(String, String)> = values.into_iter().chain(parameters).collect();
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{heading}: {title}\n");
    for (name, value) in lines {
        text.push_str(&format!("  {name:width$}  {value}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::goal::{Bound, Objective};

    #[test]
    fn a_long_front_is_thinned_and_keeps_its_ends() {
        assert_eq!(spread(3, 20), [0, 1, 2]);
        assert_eq!(spread(100, 4), [0, 33, 66, 99]);
        assert_eq!(spread(100, 1), [0]);
        assert_eq!(spread(0, 5), Vec::<usize>::new());
    }

    #[test]
    fn values_are_called_by_name_and_limits_that_are_missed_are_named() {
        let goal = Goal::new([Objective::minimise("error"), Objective::minimise("latency")])
            .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
            .and_then(|goal| goal.limit("latency", Bound::AtMost(20.0)))
            .unwrap();
        let told = Measurement {
            objectives: vec![0.5.into(), 21.0.into()],
            constraints: vec![3.0.into(), 21.0.into()],
            fidelity: None,
        };
        assert_eq!(named(&goal, &told), "error 0.5, latency 21, memory 3 (violating)");
        let lines = value_lines(&goal, &told);
        assert_eq!(lines[1], ("latency".to_owned(), "21, violating <= 20".to_owned()));
        assert_eq!(lines[2], ("memory".to_owned(), "3".to_owned()));
        assert_eq!(named(&Goal::default(), &1.5.into()), "1.5");
    }
}
