//! What earlier studies teach a new one before its first trial: a portfolio of configurations that served them.
//!
//! The best trials of each earlier study are candidates. Each earlier study judges all of them, its own by their values and those of others
//! by what its method expects, and a few are chosen so that every earlier study has a good one among them
//! ([`wimble::portfolio`]). They are tried first in the new study and are evidence there like any other: where the earlier studies
//! mislead, that is what they cost.
//!
//! Studies need not have the same space. A value that the new study has no parameter for is left out; a parameter that the earlier study
//! did not have gets the middle of its range; a candidate with a value outside a range is left out and counted.

use wimble::outcome::Outcome;
use wimble::portfolio::{costs, portfolio};
use wimble::space::{Configuration, SearchSpace};

use crate::error::{Error, Result};
use crate::store::{Filter, Stage};
use crate::study::Study;

/// The best trials of each earlier study that are candidates.
const BEST: usize = 10;

/// What to try first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lessons {
    /// The most useful first.
    pub configurations: Vec<Configuration>,
    /// Candidates that do not fit the new space.
    pub outside: usize,
}

impl Lessons {
    /// At most `count` configurations of `space` that served the earlier studies.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an earlier study with several objectives or constraints, or without a finished trial.
    pub fn learn(earlier: &[Study], space: &SearchSpace, count: usize) -> Result<Self> {
        let (mut candidates, mut outside) = (Vec::<Configuration>::new(), 0);
        for study in earlier {
            if !study.settings().goal.is_single() {
                let goal = study.settings().goal.to_string();
                return Err(invalid(study, "the goal", goal, "one objective without constraints"));
            }
            let best = study.best_trials(BEST)?;
            if best.is_empty() {
                let trials = "0".to_owned();
                return Err(invalid(
                    study,
                    "the number of trials with a value",
                    trials,
                    "at least 1",
                ));
            }
            for trial in best {
                match fitted(&trial.configuration, space) {
                    Some(fits) if candidates.contains(&fits) => {}
                    Some(fits) => candidates.push(fits),
                    None => outside += 1,
                }
            }
        }
        let judged = earlier.iter().map(|study| judge(study, &candidates));
        let chosen = portfolio(&judged.collect::<Result<Vec<_>>>()?, count);
        let configurations = chosen.into_iter().map(|i| candidates[i].clone()).collect();
        Ok(Self { configurations, outside })
    }
}

fn invalid(study: &Study, field: &'static str, value: String, allowed: &str) -> Error {
    Error::Invalid {
        study: study.settings().name.clone(),
        field,
        value,
        allowed: allowed.to_owned(),
    }
}

/// The configuration in another space; `None` if a value is not legal there.
fn fitted(configuration: &Configuration, space: &SearchSpace) -> Option<Configuration> {
    let mut middle = vec![0.5; space.dim()];
    space.snap(&mut middle);
    let middle = space.decode(&middle);
    let value = |name: &str| configuration.get(name).or_else(|| middle.get(name)).cloned();
    let mut fitted: Configuration = space
        .parameters()
        .filter_map(|parameter| {
            value(parameter.name).map(|value| (parameter.name.to_owned(), value))
        })
        .collect();
    // A parameter that is inactive here has no value.
    while let Err(refused) = space.encode(&fitted) {
        match refused {
            wimble::Error::UnexpectedValue { dimension, .. } => {
                let others = fitted.into_iter().filter(|(name, _)| *name != dimension);
                fitted = others.collect();
            }
            _ => return None,
        }
    }
    space.check_known(&fitted).is_ok().then_some(fitted)
}

/// What a study thinks of each candidate: 0 as good as its best trial, 1 as its median or worse.
fn judge(study: &Study, candidates: &[Configuration]) -> Result<Vec<f64>> {
    let space = &study.settings().space;
    let direction = study.settings().goal.objectives()[0].direction;
    let mut told = Vec::new();
    let mut values = vec![None; candidates.len()];
    let fits: Vec<Option<Configuration>> = candidates.iter().map(|c| fitted(c, space)).collect();
    let finished = Filter { stage: Some(Stage::Finished), ..Filter::default() };
    for trial in study.each_trial(&finished) {
        let trial = trial?;
        let Some(value) = trial.outcome().and_then(Outcome::value) else { continue };
        let value = direction.turn(value);
        told.push(value);
        let same = fits.iter().position(|fits| fits.as_ref() == Some(&trial.configuration));
        if let Some(place) = same {
            values[place] = Some(value);
        }
    }
    let open: Vec<usize> =
        (0..fits.len()).filter(|&i| values[i].is_none() && fits[i].is_some()).collect();
    let asked: Vec<Configuration> = open.iter().filter_map(|&i| fits[i].clone()).collect();
    if let Some(forecasts) = study.predict(&asked)? {
        for (&i, forecast) in open.iter().zip(forecasts) {
            values[i] = forecast.mean.map(|mean| direction.turn(mean));
        }
    }
    Ok(costs(values, &told))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wimble::goal::{Direction, Goal};
    use wimble::space::Dimension;

    use super::*;
    use crate::settings::Settings;
    use crate::store::Store;
    use crate::{Addition, Memory, SystemClock};

    fn store() -> Arc<dyn Store> {
        Arc::new(Memory::new(SystemClock))
    }

    fn cube() -> SearchSpace {
        SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)]).unwrap()
    }

    /// A study of 25 trials on a grid; high values are good, and the best is at (x, 0.5).
    fn peak(store: &Arc<dyn Store>, name: &str, x: f64) -> Study {
        let mut settings = Settings::new(name, cube(), "auto".parse().unwrap());
        settings.goal = Goal::from(Direction::Maximise);
        let study = Study::open_or_create(Arc::clone(store), settings).unwrap();
        let grid = (0..25).map(|i| (f64::from(i / 5) / 4.0, f64::from(i % 5) / 4.0));
        let additions: Vec<Addition> = grid
            .enumerate()
            .map(|(i, (a, b))| {
                let value = -(a - x).powi(2) - (b - 0.5).powi(2);
                let mut configuration = Configuration::new();
                configuration.insert("x", a);
                configuration.insert("y", b);
                Addition::finished(format!("a{i}"), configuration, value.into())
            })
            .collect();
        study.add(&additions).unwrap();
        study
    }

    fn at(configuration: &Configuration) -> (f64, f64) {
        (configuration.real("x").unwrap(), configuration.real("y").unwrap())
    }

    #[test]
    fn every_earlier_study_has_its_best_among_the_first() {
        let store = store();
        let earlier = [peak(&store, "left", 0.0), peak(&store, "right", 1.0)];
        let found = Lessons::learn(&earlier, &cube(), 3).unwrap();
        assert_eq!((found.configurations.len(), found.outside), (3, 0));
        // The middle is good for both; then the best of each.
        let mut first: Vec<(f64, f64)> = found.configurations.iter().map(at).collect();
        first.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(first[0] == (0.0, 0.5) && first[2] == (1.0, 0.5), "{first:?}");
        // Alone, a study begins with its best.
        let alone = Lessons::learn(&earlier[1..], &cube(), 1).unwrap();
        assert_eq!(at(&alone.configurations[0]), (1.0, 0.5));
    }

    #[test]
    fn spaces_may_differ_and_what_lies_outside_is_counted() {
        let store = store();
        let earlier = [peak(&store, "right", 1.0)];
        let space = SearchSpace::new([
            Dimension::real("x", 0.0, 0.8),
            Dimension::categorical("c", ["a", "b"]),
            Dimension::integer("n", 1, 9).when("c", ["b"]),
        ]);
        let found = Lessons::learn(&earlier, &space.unwrap(), 20).unwrap();
        assert!(found.outside > 0 && !found.configurations.is_empty());
        for configuration in &found.configurations {
            assert!(configuration.real("x").unwrap() <= 0.8 && configuration.get("c").is_some());
            assert_eq!(configuration.get("y"), None);
        }
    }

    #[test]
    fn studies_that_teach_nothing_are_refused_by_name() {
        let store = store();
        let empty = Settings::new("empty", cube(), "auto".parse().unwrap());
        let empty = Study::open_or_create(Arc::clone(&store), empty).unwrap();
        let said = Lessons::learn(&[empty], &cube(), 3).unwrap_err().to_string();
        assert!(said.contains("study `empty`: the number of trials with a value is 0"), "{said}");
    }
}
