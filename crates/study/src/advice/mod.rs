//! What a colleague would say who looks at a study: what to widen, what to drop, what to repeat, and when to stop.
//!
//! Each piece of advice is computed from the trials alone, with a test that keeps chance out. Nothing is said where the evidence
//! does not suffice: silence means that nothing was found, not that all is well.

mod edge;
mod effect;
mod failures;
mod gain;
mod noise;
mod stop_when;

use serde::Serialize;
use wimble::goal::Direction;
use wimble::importance::Importance;
use wimble::outcome::Outcome;
use wimble::space::{Dimension, Kind, Value};

use crate::error::Result;
use crate::settings::Settings;
use crate::store::{Filter, Reader, Stage};
use crate::study::Study;
use crate::trial::Trial;

pub use gain::{Gain, Gains};
pub use stop_when::StopWhen;

/// The most trials that are looked at: of a longer study, the latest.
const LARGEST: usize = 20_000;

/// A piece of advice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What it is about.
    pub kind: Topic,
    /// The parameter that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// What was found, and what to do.
    pub message: String,
    /// What more trials are expected to gain, for [`Topic::Gain`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<Gain>,
    /// How often to repeat each leader, for [`Topic::Noise`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u64>,
}

impl Advice {
    fn new(kind: Topic, parameter: Option<&str>, message: String) -> Self {
        Self { kind, parameter: parameter.map(str::to_owned), message, gain: None, repeats: None }
    }
}

/// What advice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The best values lie at the edge of a parameter's range.
    Edge,
    /// A parameter has no effect that can be seen.
    NoEffect,
    /// The noise is larger than what the leaders differ by.
    Noise,
    /// Failures cluster in a part of the space.
    Failures,
    /// What more trials are expected to gain.
    Gain,
}

/// A finished trial, with low values good.
pub(crate) struct Point {
    /// Places from 0 to 1 along each parameter; not a number where it is inactive.
    places: Vec<f64>,
    /// The value, turned; `None` if it has none.
    value: Option<f64>,
    /// The standard deviation of the noise, if it was told.
    deviation: Option<f64>,
    failed: bool,
}

/// The finished trials of a study, in the order in which they finished.
pub(crate) struct Evidence<'s> {
    settings: &'s Settings,
    points: Vec<Point>,
    /// Whether these are all.
    whole: bool,
}

/// Looks at a study. What is most urgent comes first.
///
/// Reads the history, and fits the models of [`Study::importance`].
pub fn advise(study: &Study) -> Result<Vec<Advice>> {
    let settings = study.settings();
    let evidence = Evidence::read(&**study.store(), settings)?;
    let mut advice = failures::look(&evidence);
    // What follows compares values: with several objectives, there is no one order.
    if let [objective] = settings.goal.objectives() {
        advice.extend(edge::look(&evidence));
        advice.extend(noise::look(&evidence));
        if evidence.ranked().len() >= Importance::FEWEST_TRIALS {
            match study.importance(&objective.name) {
                Ok(found) => advice.extend(effect::look(&found)),
                // Where all values are equal, no parameter can be told from another.
                Err(error) if error.is_refusal() => {}
                Err(error) => return Err(error),
            }
        }
        advice.extend(gain::look(&evidence));
    }
    Ok(advice)
}

impl<'s> Evidence<'s> {
    fn read(store: &dyn Reader, settings: &'s Settings) -> Result<Self> {
        let name = &settings.name;
        let whole = store.counts(name)?.finished() <= LARGEST as u64;
        let mut trials = if whole {
            store.trials(name, &Filter { stage: Some(Stage::Finished), ..Filter::default() })?
        } else {
            let since = store.sequence(name)?.saturating_sub(LARGEST as u64);
            let changes = store.changes_since(name, since, LARGEST)?;
            changes.into_iter().map(|change| change.trial).collect()
        };
        trials.sort_by_key(|trial| trial.sequence);
        let direction = settings.goal.first_direction();
        let points =
            trials.iter().filter_map(|trial| Point::of(trial, settings, direction)).collect();
        Ok(Self { settings, points, whole })
    }

    fn dimensions(&self) -> &[Dimension] {
        self.settings.space.dimensions()
    }

    /// The trials with a value, best first.
    fn ranked(&self) -> Vec<(f64, &Point)> {
        let mut ranked: Vec<(f64, &Point)> =
            self.points.iter().filter_map(|point| Some((point.value?, point))).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked
    }
}

impl Point {
    fn of(trial: &Trial, settings: &Settings, direction: Direction) -> Option<Self> {
        let outcome = trial.outcome()?;
        // What was stopped early or misses a constraint is no value to compare with.
        let told = outcome.measurement().filter(|told| {
            settings.goal.part(told).is_none() && !trial.is_violating(&settings.goal)
        });
        let measured = told.and_then(|told| told.objectives.first());
        let place = |dimension: &Dimension| {
            trial
                .configuration
                .get(&dimension.name)
                .map_or(f64::NAN, |value| place(&dimension.kind, value))
        };
        Some(Self {
            places: settings.space.dimensions().iter().map(place).collect(),
            value: measured.map(|measured| direction.turn(measured.value)),
            deviation: measured.and_then(|measured| measured.deviation),
            failed: matches!(outcome, Outcome::Failed(_)),
        })
    }
}

/// Where a value lies between 0 and 1; choices lie in the middle of equal parts.
fn place(kind: &Kind, value: &Value) -> f64 {
    use wimble::space::Scale;
    let along = |low: f64, high: f64, scale: Scale| {
        let value = value.as_real().unwrap_or(f64::NAN);
        match scale {
            _ if low >= high => 0.5,
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value / low).ln() / (high / low).ln(),
        }
    };
    match kind {
        Kind::Real { low, high, scale } => along(*low, *high, *scale),
        Kind::Integer { low, high, scale, .. } => along(*low as f64, *high as f64, *scale),
        Kind::Boolean => value.as_boolean().map_or(f64::NAN, |yes| if yes { 0.75 } else { 0.25 }),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            let found = values.iter().position(|other| other.to_string() == value.to_string());
            found.map_or(f64::NAN, |found| (found as f64 + 0.5) / values.len() as f64)
        }
        // They are several values.
        Kind::Shares { .. } => f64::NAN,
    }
}

/// Whether a parameter has numbers in order, of which there may be more beyond its range.
fn has_range(kind: &Kind) -> bool {
    matches!(kind, Kind::Real { .. } | Kind::Integer { .. })
}

/// A number in a few digits.
fn short(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = (4 - value.abs().max(1e-300).log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod fixtures {
    use std::sync::Arc;

    use wimble::prelude::*;
    use wimble::seed::Seed;

    use super::{Advice, Topic, advise};
    use crate::{Memory, Settings, Store, Study, SystemClock};

    /// A study of random trials in three parameters, with the outcome of each.
    pub fn study(
        trials: usize,
        seed: u64,
        outcome: impl Fn(f64, f64, &str) -> Outcome,
    ) -> Arc<dyn Store> {
        let space = SearchSpace::new([
            Dimension::real("x", 0.0, 1.0),
            Dimension::log_real("rate", 1e-4, 1.0),
            Dimension::categorical("kind", ["a", "b"]),
        ])
        .unwrap();
        let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
        let settings = Settings::new("s", space, "random".parse().unwrap())
            .seed(Seed(seed))
            .budget(trials as u64)
            .batch_size(trials.min(1_000));
        let study = Study::open_or_create(Arc::clone(&store), settings).unwrap();
        for i in 0..trials {
            let Some(claim) = study.ask("w", &format!("k{i}"), 1).unwrap().pop() else { break };
            let number =
                |name: &str| claim.configuration.get(name).and_then(Value::as_real).unwrap();
            let kind = claim.configuration.get("kind").and_then(Value::as_text).unwrap();
            let rate = (number("rate").log10() + 4.0) / 4.0;
            study.tell(claim.token, &outcome(number("x"), rate, kind), "t").unwrap();
        }
        store
    }

    pub fn of(store: &Arc<dyn Store>, topic: Topic) -> Vec<Advice> {
        let study = Study::open(Arc::clone(store), "s").unwrap();
        advise(&study).unwrap().into_iter().filter(|advice| advice.kind == topic).collect()
    }

    /// Numbers that look random, the same for the same seed.
    pub fn noise(seed: f64) -> f64 {
        let bits = (seed * 1e9).to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (1234.5, "1234.5"),
            (0.123_456_7, "0.12346"),
            (-3.0, "-3"),
            (1e-9, "1.000e-9"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
