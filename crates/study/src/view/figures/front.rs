//! The trials that no other trial beats in every objective.

use crate::Result;
use serde::Serialize;
use wimble::pareto;
use wimble::points::Points;

use crate::view::chronicle::{Chronicle, Standing};

/// The most trials of a front, and the most other trials, that are sent.
const MOST: usize = 2_000;

/// The front of a study.
#[derive(Debug, Serialize)]
pub struct Front {
    /// The names of the objectives.
    pub objectives: Vec<String>,
    /// The numbers of its trials.
    pub trial: Vec<usize>,
    /// Their values, a list for each objective.
    pub values: Vec<Vec<f64>>,
    /// Other trials, thinned where there are many.
    pub other_trial: Vec<usize>,
    /// Their values.
    pub other_values: Vec<Vec<f64>>,
    /// How many complete trials keep all constraints.
    pub feasible: usize,
    /// How many complete trials there are.
    pub of: usize,
}

/// The front of a study. With one objective, it is the best trial.
pub fn front(chronicle: &Chronicle) -> Result<Front> {
    let goal = chronicle.goal();
    let measured: Vec<usize> = (0..chronicle.len())
        .filter(|&id| matches!(chronicle.standings()[id], Standing::Complete | Standing::Violating))
        .collect();
    let feasible: Vec<usize> = measured
        .iter()
        .copied()
        .filter(|&id| chronicle.standings()[id] == Standing::Complete)
        .collect();
    let mut turned = Points::new(goal.objectives().len());
    let mut row = vec![0.0; goal.objectives().len()];
    for &id in &feasible {
        for ((cell, objective), column) in
            row.iter_mut().zip(goal.objectives()).zip(chronicle.objectives())
        {
            *cell = objective.direction.turn(column[id]);
        }
        turned.push(&row);
    }
    let places = if feasible.is_empty() { Vec::new() } else { pareto::front(&turned)? };
    let mut on_front = vec![false; chronicle.len()];
    let mut trial: Vec<usize> = places.into_iter().map(|place| feasible[place]).collect();
    for &id in &trial {
        on_front[id] = true;
    }
    trial.truncate(MOST);
    let others: Vec<usize> = measured.iter().copied().filter(|&id| !on_front[id]).collect();
    let every = others.len().div_ceil(MOST).max(1);
    let other_trial: Vec<usize> = others.into_iter().step_by(every).collect();
    let values = |ids: &[usize]| -> Vec<Vec<f64>> {
        let of = |column: &Vec<f64>| ids.iter().map(|&id| column[id]).collect();
        chronicle.objectives().iter().map(of).collect()
    };
    Ok(Front {
        objectives: goal.objectives().iter().map(|objective| objective.name.clone()).collect(),
        values: values(&trial),
        other_values: values(&other_trial),
        trial,
        other_trial,
        feasible: feasible.len(),
        of: measured.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Addition, Memory, Record, Settings, Store, SystemClock};
    use std::sync::Arc;
    use wimble::prelude::*;

    #[test]
    fn the_front_is_of_those_that_keep_the_limits() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let goal = Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
            .unwrap()
            .limit("memory", Bound::AtMost(8.0))
            .unwrap();
        let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
        let settings = Settings::new("two", space, "random".parse().unwrap()).goal(goal);
        store.create(&Record::new(settings)).unwrap();
        let rows = [(1.0, 1.0, 1.0), (2.0, 5.0, 8.0), (0.5, 9.0, 9.0), (2.0, 2.0, 1.0)];
        let additions: Vec<Addition> = (0..)
            .zip(rows)
            .map(|(i, (error, speed, memory))| {
                let x = 0.1 * f64::from(i);
                let outcome = Measurement {
                    objectives: vec![error.into(), speed.into()],
                    constraints: vec![memory.into()],
                    fidelity: None,
                };
                let configuration = [("x", x)].into_iter().collect();
                Addition::finished(format!("a{i}"), configuration, outcome.into())
            })
            .collect();
        store.add("two", &additions).unwrap();
        let mut chronicle = Chronicle::new(store.study("two").unwrap());
        chronicle.catch_up(&*store).unwrap();
        let front = front(&chronicle).unwrap();
        assert_eq!((front.trial, front.other_trial), (vec![0, 1], vec![2, 3]));
        assert_eq!(front.values, [[1.0, 2.0], [1.0, 5.0]]);
        assert_eq!((front.feasible, front.of), (3, 4));
    }
}
