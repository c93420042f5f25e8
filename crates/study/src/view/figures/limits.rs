//! How many trials keep each constraint, and all of them.

use serde::Serialize;
use wimble::goal::Bound;

use crate::view::chronicle::{Chronicle, Standing};

/// Which constraints the measured trials keep.
#[derive(Debug, PartialEq, Serialize)]
pub struct Limits {
    /// How many trials were measured to the end.
    pub of: usize,
    /// How many of them keep all constraints.
    pub feasible: usize,
    /// Each constraint, in the order of the goal.
    pub limits: Vec<Limit>,
}

/// A constraint, and who keeps it.
#[derive(Debug, PartialEq, Serialize)]
pub struct Limit {
    /// The quantity.
    pub name: String,
    /// What is allowed of it.
    pub bound: Bound,
    /// How many of the measured trials keep it.
    pub kept: usize,
    /// Its value in the best trial that keeps all constraints.
    pub best: Option<f64>,
}

/// The constraints of a study; empty if it has none.
pub fn limits(chronicle: &Chronicle) -> Limits {
    let measured: Vec<usize> = (0..chronicle.len())
        .filter(|&id| matches!(chronicle.standings()[id], Standing::Complete | Standing::Violating))
        .collect();
    let columns = chronicle.goal().constraints().iter().zip(chronicle.constraints());
    let keeps = |bound: Bound, value: f64| value.is_finite() && bound.violation(value) == 0.0;
    let limits = columns.map(|(constraint, column)| Limit {
        name: constraint.name.clone(),
        bound: constraint.bound,
        kept: measured.iter().filter(|&&id| keeps(constraint.bound, column[id])).count(),
        best: chronicle.best().map(|id| column[id]).filter(|value| value.is_finite()),
    });
    Limits {
        limits: limits.collect(),
        feasible: chronicle.count(Standing::Complete) as usize,
        of: measured.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::parabola;
    use crate::{Addition, Memory, Record, Settings, Store, SystemClock};
    use std::sync::Arc;
    use wimble::prelude::*;

    #[test]
    fn each_limit_counts_those_that_keep_it() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let goal = Goal::new([Objective::minimise("error")])
            .unwrap()
            .limit("memory", Bound::AtMost(8.0))
            .unwrap()
            .limit("speed", Bound::AtLeast(2.0))
            .unwrap();
        let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
        let settings = Settings::new("two", space, "random".parse().unwrap()).goal(goal);
        store.create(&Record::new(settings)).unwrap();
        let rows = [(3.0, 8.0, 2.0), (2.0, 5.0, 9.0), (0.5, 9.0, 3.0), (0.1, 1.0, 1.0)];
        let mut additions: Vec<Addition> = (0..)
            .zip(rows)
            .map(|(i, (error, memory, speed))| {
                let outcome = Measurement {
                    objectives: vec![error.into()],
                    constraints: vec![memory.into(), speed.into()],
                    fidelity: None,
                };
                let configuration = [("x", 0.1 * f64::from(i))].into_iter().collect();
                Addition::finished(format!("a{i}"), configuration, outcome.into())
            })
            .collect();
        let configuration = [("x", 0.9)].into_iter().collect();
        additions.push(Addition::finished("bad".to_owned(), configuration, Outcome::failed()));
        store.add("two", &additions).unwrap();
        let mut chronicle = Chronicle::new(store.study("two").unwrap());
        chronicle.catch_up(&*store).unwrap();
        let drawn = limits(&chronicle);
        assert_eq!((drawn.feasible, drawn.of), (2, 4));
        let found: Vec<(&str, usize, Option<f64>)> =
            drawn.limits.iter().map(|one| (one.name.as_str(), one.kept, one.best)).collect();
        assert_eq!(found, [("memory", 3, Some(5.0)), ("speed", 3, Some(9.0))]);

        let study = parabola(3);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        assert!(limits(&chronicle).limits.is_empty());
    }
}
