//! What the tests of the forest and of boosting share.

use std::fmt::Debug;

use crate::classifier::Learner;
use crate::history::History;
use crate::labels::{Labels, Threshold};
use crate::outcome::Outcome;
use crate::seed::{Rng, Seed, uniform};

/// Random points of a bowl with its bottom at 0.3 in every coordinate.
pub(in crate::classifier) fn history(dim: usize, len: usize) -> History {
    let mut rng = Seed(1).stream("history", 0);
    let mut history = History::new(dim);
    for _ in 0..len {
        let x: Vec<f64> = (0..dim).map(|_| uniform(&mut rng)).collect();
        let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
        history.push(&x, Outcome::from(value)).unwrap();
    }
    history
}

/// Labels by the default threshold.
pub(in crate::classifier) fn labels(history: &History) -> Labels<'_> {
    Threshold::default().label(history.points(), history.objective()).unwrap()
}

/// The classifier of these labels.
pub(in crate::classifier) fn fit<L: Learner>(learner: &L, history: &History) -> L::Classifier {
    learner.fit(&labels(history), None, &mut Seed(2).stream("fit", 0)).unwrap()
}

/// Fits by any number of threads are the same, and that of the learner; `by` fits with so many.
pub(in crate::classifier) fn check_threads<L: Learner>(
    learner: &L,
    by: impl Fn(usize, &Labels<'_>, &mut Rng) -> L::Classifier,
) where
    L::Classifier: PartialEq + Debug,
{
    let history = history(3, 200);
    let by = |threads| by(threads, &labels(&history), &mut Seed(2).stream("fit", 0));
    let alone = by(1);
    assert_eq!(alone, by(4));
    assert_eq!(alone, fit(learner, &history));
}
