//! A study's evidence in another space: a range was widened, a parameter added.
//!
//! A finished trial keeps its values. A parameter that the old study did not have gets the value that was in force then,
//! which only the user knows ([`Extension::set`]). A trial that does not fit the new space is left out and counted: what is
//! outside a range cannot be evidence inside it. A parameter that the new space has no longer is refused, since its
//! effect would be taken for noise.

use wimble::space::{Configuration, Fixed, SearchSpace, Value};

use crate::addition::Addition;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::store::{Filter, Stage};
use crate::study::Study;
use crate::trial::Trial;

/// Trials read at a time.
const PAGE: usize = 1_000;

/// How the evidence of one study enters another.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extension {
    /// The value of each parameter that the old study did not have.
    pub set: Configuration,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extended {
    /// Trials that are evidence in the new study.
    pub added: u64,
    /// Trials that were there already, from an earlier call.
    pub known: u64,
    /// Trials that do not fit the new space.
    pub outside: u64,
}

impl Extension {
    /// With the value that a new parameter had in the old study.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.set.insert(name, value);
        self
    }

    /// Adds the finished trials of `old` to `new`. Doing so again adds those that finished since.
    pub fn apply(&self, old: &Study, new: &Study) -> Result<Extended> {
        self.check(old.settings(), new.settings())?;
        let mut extended = Extended::default();
        let (mut from, before) = (0, new.counts()?.total());
        let mut fitting = 0;
        loop {
            let filter = Filter {
                stage: Some(Stage::Finished),
                from,
                limit: Some(PAGE),
                ..Filter::default()
            };
            let trials = old.trials(&filter)?;
            let Some(last) = trials.last() else { break };
            from = last.id + 1;
            let mut additions = Vec::with_capacity(trials.len());
            for trial in &trials {
                match self.addition(old, trial, &new.settings().space) {
                    Some(addition) => additions.push(addition),
                    None => extended.outside += 1,
                }
            }
            new.add(&additions)?;
            fitting += additions.len() as u64;
        }
        extended.added = new.counts()?.total() - before;
        extended.known = fitting.saturating_sub(extended.added);
        Ok(extended)
    }

    /// The trial in the new space, if it fits.
    fn addition(&self, old: &Study, trial: &Trial, space: &SearchSpace) -> Option<Addition> {
        let mut configuration = trial.configuration.clone();
        for (name, value) in &self.set {
            configuration.insert(name.clone(), value.clone());
        }
        // A new parameter may be inactive here: then it has no value.
        while let Err(refused) = space.encode(&configuration) {
            match refused {
                wimble::Error::UnexpectedValue { dimension, .. }
                    if self.set.get(&dimension).is_some() =>
                {
                    let others = configuration.into_iter().filter(|(name, _)| *name != dimension);
                    configuration = others.collect();
                }
                _ => return None,
            }
        }
        space.check_known(&configuration).ok()?;
        let key = format!("extend-{}-{}", old.settings().name, trial.id);
        let addition = Addition::finished(key, configuration, trial.outcome()?.clone());
        Some(Addition {
            attributes: trial.attributes().cloned().unwrap_or_default(),
            worker: trial.worker().map(str::to_owned),
            started: trial.started(),
            finished: trial.finished(),
            ..addition
        })
    }

    /// Refuses what cannot be the evidence of the study `before` in the space of the study `after`, which need not exist yet.
    pub fn check(&self, before: &Settings, after: &Settings) -> Result<()> {
        let invalid = |field: &'static str, value: String, allowed: String| Error::Invalid {
            study: after.name.clone(),
            field,
            value,
            allowed,
        };
        if before.goal != after.goal {
            let (value, allowed) =
                (after.goal.to_string(), format!("that of `{}`: {}", before.name, before.goal));
            return Err(invalid("the goal", value, allowed));
        }
        let has = |space: &SearchSpace, name: &str| space.parameters().any(|one| one.name == name);
        for parameter in before.space.parameters() {
            if !has(&after.space, parameter.name) {
                let allowed = format!(
                    "a parameter of both studies, since `{}` was tried with it",
                    before.name
                );
                return Err(invalid("a parameter", format!("`{}`", parameter.name), allowed));
            }
        }
        for parameter in after.space.parameters() {
            let name = parameter.name;
            if !has(&before.space, name) && self.set.get(name).is_none() {
                let allowed = format!(
                    "set to the value that it had in `{}`: --set {name}=VALUE",
                    before.name
                );
                return Err(invalid("a new parameter", format!("`{name}`"), allowed));
            }
        }
        for (name, value) in &self.set {
            if !has(&after.space, name) || has(&before.space, name) {
                let value = format!("`{name}={value}`");
                let allowed = "that of a parameter which only the new study has".to_owned();
                return Err(invalid("a value that is set", value, allowed));
            }
            // Outside its range it would leave out every trial.
            let one: Configuration = [(name.clone(), value.clone())].into_iter().collect();
            if after.space.candidates().is_none() {
                Fixed::new(&after.space, one)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wimble::outcome::Outcome;
    use wimble::space::Dimension;

    use super::*;
    use crate::store::Store;
    use crate::{Memory, SystemClock};

    fn study(store: &Arc<dyn Store>, name: &str, space: SearchSpace) -> Study {
        let settings = Settings::new(name, space, "random".parse().unwrap());
        Study::open_or_create(Arc::clone(store), settings).unwrap()
    }

    fn old(store: &Arc<dyn Store>) -> Study {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let old = study(store, "old", space);
        for claim in old.ask("w", "k", 20).unwrap() {
            let outcome = match claim.trial {
                3 => Outcome::failed(),
                4 => Outcome::Infeasible,
                _ => claim.configuration.real("x").unwrap().into(),
            };
            old.tell(claim.token, &outcome, &format!("t{}", claim.trial)).unwrap();
        }
        old.ask("w", "k2", 2).unwrap();
        old
    }

    #[test]
    fn a_wider_range_and_a_new_parameter_keep_the_evidence() {
        let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
        let old = old(&store);
        let space = SearchSpace::new([
            Dimension::real("x", -1.0, 2.0),
            Dimension::categorical("c", ["a", "b"]),
            Dimension::real("r", 0.0, 1.0).when("c", ["b"]),
        ]);
        let new = study(&store, "new", space.unwrap());
        let extension = Extension::default().set("c", "a").set("r", 0.5);
        let extended = extension.apply(&old, &new).unwrap();
        assert_eq!(extended, Extended { added: 20, known: 0, outside: 0 });
        let (before, after) = (old.best().unwrap().unwrap(), new.best().unwrap().unwrap());
        assert_eq!(before.value, after.value);
        let x = |best: &crate::Best| best.configuration.real("x").unwrap();
        assert!((x(&before) - x(&after)).abs() < 1e-9);
        assert_eq!((after.configuration.text("c"), after.configuration.get("r")), (Ok("a"), None));
        let counts = new.counts().unwrap();
        assert_eq!((counts.valued, counts.failed, counts.infeasible), (18, 1, 1));
        // Again: only what finished since.
        let again = extension.apply(&old, &new).unwrap();
        assert_eq!(again, Extended { added: 0, known: 20, outside: 0 });
    }

    #[test]
    fn trials_outside_a_narrower_range_are_counted_and_left_out() {
        let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
        let old = old(&store);
        let space = SearchSpace::new([Dimension::real("x", 0.0, 0.5)]).unwrap();
        let new = study(&store, "new", space);
        let extended = Extension::default().apply(&old, &new).unwrap();
        assert!(extended.outside > 0 && extended.added > 0);
        assert_eq!(extended.added + extended.outside, 20);
    }

    #[test]
    fn what_is_no_extension_is_refused_and_nothing_is_added() {
        let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
        let old = old(&store);
        let x = || Dimension::real("x", 0.0, 1.0);
        let wide = SearchSpace::new([x(), Dimension::integer("n", 1, 9)]).unwrap();
        let wide = study(&store, "wide", wide);
        let other =
            study(&store, "other", SearchSpace::new([Dimension::real("y", 0.0, 1.0)]).unwrap());
        let said =
            |extension: Extension, new: &Study| extension.apply(&old, new).unwrap_err().to_string();
        for (refused, words) in [
            (
                said(Extension::default(), &wide),
                "a new parameter is `n`, but must be set to the value that it had in `old`",
            ),
            (
                said(Extension::default().set("n", 1).set("x", 0.5), &wide),
                "a value that is set is `x=0.5`",
            ),
            (
                said(Extension::default().set("n", 12), &wide),
                "n is 12, but must be an integer from 1 to 9",
            ),
            (
                said(Extension::default(), &other),
                "a parameter is `x`, but must be a parameter of both studies",
            ),
        ] {
            assert!(refused.contains(words), "{refused}");
        }
        assert_eq!(wide.counts().unwrap().total() + other.counts().unwrap().total(), 0);
    }
}
