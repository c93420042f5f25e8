//! Trials as lines across all parameters: the best, and some of the others.

use serde::Serialize;

use super::slices::share;
use super::{Range, telling_range};
use crate::view::chronicle::{Chronicle, Standing};

/// How many of the best, and how many others.
const BEST: usize = 150;
const OTHERS: usize = 350;

/// Lines across parameters, in columns.
#[derive(Debug, Serialize)]
pub struct Parallel {
    /// The numbers of the trials, the best last, so that they are drawn on top.
    pub trial: Vec<usize>,
    /// Their values.
    pub value: Vec<f64>,
    /// For each parameter, the place of each trial from 0 to 1; `null` where it is inactive.
    pub places: Vec<Vec<Option<f64>>>,
    /// The range of the values.
    pub y: Range,
    /// How many complete trials there are.
    pub of: usize,
}

/// The lines of a study.
pub fn parallel(chronicle: &Chronicle) -> Parallel {
    let values = chronicle.objective(0);
    let direction = chronicle.goal().first_direction();
    let mut complete: Vec<usize> = (0..chronicle.len())
        .filter(|&id| chronicle.standings()[id] == Standing::Complete)
        .collect();
    let of = complete.len();
    let low_is_good = direction.turn(1.0) > 0.0;
    let y = telling_range(&complete.iter().map(|&id| values[id]).collect::<Vec<_>>(), low_is_good);
    let better = |a: &usize, b: &usize| {
        direction.turn(values[*a]).total_cmp(&direction.turn(values[*b])).then(a.cmp(b))
    };
    if of > BEST {
        complete.select_nth_unstable_by(BEST - 1, better);
    }
    let (best, rest) = complete.split_at_mut(BEST.min(of));
    best.sort_unstable_by(better);
    rest.sort_unstable();
    let every = rest.len().div_ceil(OTHERS).max(1);
    let mut trial: Vec<usize> = rest.iter().copied().step_by(every).collect();
    trial.extend(best.iter().rev());
    let column = |(place, axis): (usize, &wimble::space::Dimension)| {
        let column = chronicle.parameter(place);
        let shown = |&id: &usize| Some(share(&axis.kind, column[id])).filter(|x| x.is_finite());
        trial.iter().map(shown).collect()
    };
    Parallel {
        places: chronicle.axes().iter().enumerate().map(column).collect(),
        value: trial.iter().map(|&id| values[id]).collect(),
        trial,
        y,
        of,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::parabola;

    #[test]
    fn the_best_are_all_there_and_last() {
        let study = parabola(900);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        let drawn = parallel(&chronicle);
        assert!(drawn.trial.len() <= BEST + OTHERS && drawn.of == 900);
        let best: Vec<usize> =
            study.best_trials(BEST).unwrap().iter().map(|trial| trial.id as usize).collect();
        let last: Vec<usize> = drawn.trial.iter().rev().take(BEST).copied().collect();
        assert_eq!(last, best);
        assert_eq!(drawn.places.len(), 3);
        assert!(drawn.places.iter().flatten().flatten().all(|place| (0.0..=1.0).contains(place)));
    }
}
