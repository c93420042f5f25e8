//! The trials nearest to another: what was tried close by, and what came of it.

use serde::Serialize;
use wimble::outcome::Outcome;

use crate::error::Result;
use crate::exchange::row;
use crate::named_values::NamedValues;
use crate::settings::Settings;
use crate::store::{Filter, Reader, Stage};
use crate::trial::Trial;

/// The most trials among which neighbours are searched.
const SEARCHED: usize = 10_000;

/// A trial near another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbour {
    /// Its number.
    pub trial: u64,
    /// In the unit cube, as a share of its diagonal.
    pub distance: f64,
    /// Its state in a word.
    pub state: &'static str,
    /// Its value, if it has one and the goal has one objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Its values by name, if the goal has several objectives.
    #[serde(skip_serializing_if = "NamedValues::is_empty")]
    pub objectives: NamedValues,
}

/// The finished trials among which neighbours are searched.
pub struct Neighbours {
    /// These trials.
    pub trials: Vec<Trial>,
    /// Whether they are only the best of a large study.
    pub only_the_best: bool,
}

impl Neighbours {
    /// All of a study; of a large one the best, which the store has in order, so that a look at one trial of a million does
    /// not read them all.
    pub fn read(store: &dyn Reader, study: &str) -> Result<Self> {
        let only_the_best = store.counts(study)?.finished() > SEARCHED as u64;
        let trials = if only_the_best {
            // By the first objective, whatever else the goal has: these are evidence and no recommendation.
            store.best(study, SEARCHED)?
        } else {
            store.trials(study, &Filter { stage: Some(Stage::Finished), ..Filter::default() })?
        };
        Ok(Self { trials, only_the_best })
    }

    /// The `count` nearest to a trial, itself left out.
    pub fn nearest(
        &self,
        settings: &Settings,
        trial: &Trial,
        count: usize,
    ) -> Result<Vec<Neighbour>> {
        let (space, goal) = (&settings.space, &settings.goal);
        let several = goal.objectives().len() > 1;
        let x = space.encode(&trial.configuration)?;
        let diagonal = (space.dim() as f64).sqrt();
        let mut near = Vec::with_capacity(self.trials.len());
        for other in self.trials.iter().filter(|other| other.id != trial.id) {
            let y = space.encode(&other.configuration)?;
            let squares: f64 = x.iter().zip(&y).map(|(x, y)| (x - y).powi(2)).sum();
            near.push((squares.sqrt() / diagonal, other));
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id)));
        near.truncate(count);
        let neighbour = |(distance, trial): (f64, &Trial)| Neighbour {
            trial: trial.id,
            distance,
            state: row::state(trial, goal),
            value: trial.outcome().and_then(Outcome::value).filter(|_| !several),
            objectives: trial
                .outcome()
                .and_then(Outcome::measurement)
                .filter(|_| several)
                .map(|values| NamedValues::objectives(goal, values))
                .unwrap_or_default(),
        };
        Ok(near.into_iter().map(neighbour).collect())
    }
}
