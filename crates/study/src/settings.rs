//! What a study is: fixed when it is created, and the same for every worker.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wimble::goal::Direction;
use wimble::seed::Seed;
use wimble::space::SearchSpace;
use wimble::strategy::Spec;

use crate::error::{Error, Result};

/// The version of what is stored about a study. Another one is refused.
pub const FORMAT: u32 = 1;

/// The version of the engine, which shares its number with this crate.
pub const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// More points than any batch can mean.
const LARGEST_BATCH: usize = 10_000;
/// The longest name or key, in bytes.
const LONGEST_NAME: usize = 200;

/// The settings of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Its name, unique in a store.
    pub name: String,
    /// Where to search.
    pub space: SearchSpace,
    /// Whether low or high values are good.
    pub direction: Direction,
    /// The method.
    pub method: Spec,
    /// How many points are proposed together. What the asking worker does not take waits in the queue.
    pub batch_size: usize,
    /// The seed.
    pub seed: Seed,
    /// How many trials there will be.
    pub budget: u64,
    /// How often a trial whose worker was lost goes back to the queue before it counts as failed.
    pub retries: u32,
    /// How long a claim lasts without a heartbeat.
    pub lease: Duration,
}

impl Settings {
    /// A study that minimises one point at a time, of 100 trials, each tried again 3 times if its worker is
    /// not heard of for a minute.
    pub fn new(name: impl Into<String>, space: SearchSpace, method: Spec) -> Self {
        Self {
            name: name.into(),
            space,
            direction: Direction::Minimise,
            method,
            batch_size: 1,
            seed: Seed(0),
            budget: 100,
            retries: 3,
            lease: Duration::from_secs(60),
        }
    }

    /// With another direction.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// With another batch size.
    #[must_use]
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = batch_size;
        self
    }

    /// With another seed.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// With another number of trials.
    #[must_use]
    pub fn budget(mut self, budget: u64) -> Self {
        self.budget = budget;
        self
    }

    /// With another number of retries.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// With another length of lease.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Refuses what no study can have. The method is checked against the space when it is built.
    pub fn check(&self) -> Result<()> {
        check_name(&self.name, "name", &self.name)?;
        let refuse = |field, value: &dyn std::fmt::Display, allowed: String| {
            let (study, value) = (self.name.clone(), value.to_string());
            Err(Error::Invalid { study, field, value, allowed })
        };
        if !(1..=LARGEST_BATCH).contains(&self.batch_size) {
            return refuse("batch size", &self.batch_size, format!("from 1 to {LARGEST_BATCH}"));
        }
        if !(1..=i64::MAX as u64).contains(&self.budget) {
            return refuse("budget", &self.budget, format!("from 1 to {} trials", i64::MAX));
        }
        if let Some(all) = self.space.cardinality()
            && !self.space.repeats()
            && u128::from(self.budget) > all
        {
            let allowed = format!(
                "at most {all}, the configurations of the space, unless the space allows repeats"
            );
            return refuse("budget", &self.budget, allowed);
        }
        // A whole number of milliseconds, so that what is stored is what was set.
        let milliseconds = self.lease.as_millis();
        if Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)) != self.lease
            || !(1..=i64::MAX as u128 / 2).contains(&milliseconds)
        {
            let allowed = "a whole number of milliseconds, 1 at least".to_owned();
            return refuse("lease", &format!("{:?}", self.lease), allowed);
        }
        Ok(())
    }

    /// A value as one to be minimised. Not −0 for 0.
    pub(crate) fn minimised(&self, value: f64) -> f64 {
        minimised(self.direction, value)
    }

    /// Refuses to open the study `stored` as this one, and says what differs.
    pub fn check_same(&self, stored: &Self) -> Result<()> {
        let mut differences = Vec::new();
        let mut compare = |field: &str, stored: String, given: String| {
            if stored != given {
                differences.push(format!("its {field} is {stored}, not {given}"));
            }
        };
        let direction = |settings: &Self| match settings.direction {
            Direction::Minimise => "minimise".to_owned(),
            Direction::Maximise => "maximise".to_owned(),
        };
        compare("space", space_text(&stored.space), space_text(&self.space));
        compare("direction", direction(stored), direction(self));
        // The same method may be written with or without its defaults.
        if stored.method != self.method {
            compare("method", stored.method.to_string(), self.method.to_string());
        }
        compare("batch size", stored.batch_size.to_string(), self.batch_size.to_string());
        compare("seed", stored.seed.0.to_string(), self.seed.0.to_string());
        compare("budget", stored.budget.to_string(), self.budget.to_string());
        compare("retry limit", stored.retries.to_string(), self.retries.to_string());
        compare("lease", format!("{:?}", stored.lease), format!("{:?}", self.lease));
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::Differs { study: self.name.clone(), differences: differences.join("; ") })
    }
}

/// A study as a store holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its settings.
    pub settings: Settings,
    /// The version of the stored form that it was created in.
    pub format: u32,
    /// The version of the engine that it was created with.
    pub engine: String,
}

impl Record {
    /// The record of a new study.
    pub fn new(settings: Settings) -> Self {
        Self { settings, format: FORMAT, engine: ENGINE.to_owned() }
    }

    /// Refuses a study that [`check_version`] refuses.
    pub fn check_version(&self) -> Result<()> {
        check_version(&self.settings.name, self.format, &self.engine)
    }
}

/// Refuses a study of another format, or of an engine whose suggestions may differ from this one's.
pub fn check_version(study: &str, format: u32, engine: &str) -> Result<()> {
    let refuse = |what, found: String, supported: String| {
        Err(Error::Version { study: study.to_owned(), what, found, supported })
    };
    if format != FORMAT {
        return refuse("format", format.to_string(), FORMAT.to_string());
    }
    if series(engine) != series(ENGINE) {
        return refuse("engine", engine.to_owned(), ENGINE.to_owned());
    }
    Ok(())
}

/// The part of a version within which suggestions do not change: `1` of `1.4.2`, `0.3` of `0.3.1`.
fn series(version: &str) -> &str {
    let parts = if version.starts_with("0.") { 2 } else { 1 };
    let end = version.match_indices('.').nth(parts - 1).map_or(version.len(), |(at, _)| at);
    &version[..end]
}

/// A value as one to be minimised. Not −0 for 0.
pub(crate) fn minimised(direction: Direction, value: f64) -> f64 {
    match direction {
        Direction::Minimise => value,
        Direction::Maximise => 0.0 - value,
    }
}

/// Refuses names, worker keys and client keys that are empty, or too long to be meant.
pub(crate) fn check_name(study: &str, field: &'static str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
        let value = if name.is_empty() {
            "empty".to_owned()
        } else {
            format!("`{}`", name.chars().take(40).collect::<String>().escape_debug())
        };
        let allowed = format!("text of 1 to {LONGEST_NAME} bytes without zero bytes");
        return Err(Error::Invalid { study: study.to_owned(), field, value, allowed });
    }
    Ok(())
}

/// A space in words, for messages and for telling two apart.
fn space_text(space: &SearchSpace) -> String {
    serde_json::to_string(space).unwrap_or_else(|_| format!("{space:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::space::Dimension;

    fn settings() -> Settings {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        Settings::new("s", space, "random".parse().unwrap())
    }

    #[test]
    fn a_patch_continues_a_study_and_a_new_series_does_not() {
        assert_eq!(series("0.1.0"), series("0.1.9"));
        assert_ne!(series("0.1.0"), series("0.2.0"));
        assert_eq!(series("1.1.0"), series("1.2.0"));
        assert_ne!(series("1.1.0"), series("2.1.0"));
        let mut record = Record::new(settings());
        record.check_version().unwrap();
        record.engine = "99.0.0".into();
        let error = record.check_version().unwrap_err().to_string();
        assert!(error.contains("`s` was created by engine 99.0.0"), "{error}");
        record = Record { format: 7, ..Record::new(settings()) };
        let error = record.check_version().unwrap_err().to_string();
        assert!(error.contains("format 7"), "{error}");
    }

    #[test]
    fn what_no_study_can_have_is_refused_by_name() {
        settings().check().unwrap();
        let few = SearchSpace::new([Dimension::integer("n", 1, 5)]).unwrap();
        let finite = Settings { space: few, ..settings() };
        for (bad, words) in [
            (settings().batch_size(0), "batch size is 0"),
            (settings().budget(0), "budget is 0"),
            (finite.budget(6), "budget is 6, but must be at most 5"),
            (settings().lease(Duration::ZERO), "lease is 0ns"),
            (settings().lease(Duration::from_micros(1500)), "whole number of milliseconds"),
            (Settings { name: String::new(), ..settings() }, "name is empty"),
        ] {
            let error = bad.check().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
