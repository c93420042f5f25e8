//! The skeletons of docs/skeletons are what they say: a classifier, a batch rule and a strategy that run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../docs/skeletons/batch_rule.rs"]
mod batch_rule;
#[path = "../../../docs/skeletons/classifier.rs"]
mod classifier;
#[path = "../../../docs/skeletons/strategy.rs"]
mod strategy;

use wimble::classifier::Learner as _;
use wimble::named::Name;
use wimble::prelude::*;

/// The trials of a short search for the least (x - 0.7)².
fn search(strategy: impl Strategy + 'static) -> Session {
    let space =
        SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::integer("n", 0, 3)]).unwrap();
    let mut session = Session::new(space, strategy, Direction::Minimise, Seed(1)).unwrap();
    for _ in 0..8 {
        for trial in session.ask(5).unwrap() {
            let Some(Value::Real(x)) = trial.configuration.get("x") else { panic!("{trial:?}") };
            let value = (x - 0.7).powi(2);
            session.tell(trial.id, value).unwrap();
        }
    }
    session
}

#[test]
fn the_classifier_and_the_batch_rule_learn() {
    let session = search(Bore::new(classifier::Noun::default(), batch_rule::Noun::default()));
    let x = session.history().points();
    let near = |trials: std::ops::Range<usize>| {
        trials.filter(|&i| (x.row(i)[0] - 0.7).abs() < 0.2).count()
    };
    // Ten random trials, of which 40 % lie near the minimum, then those that the classifier likes.
    assert!(near(20..40) >= 16, "{} of the last 20 trials near the minimum", near(20..40));
}

#[test]
fn the_strategy_starts_in_its_corner_and_repeats_nothing() {
    let session = search(strategy::Noun::default());
    assert_eq!(session.history().points().row(0)[0], 0.0);
    assert_eq!(session.history().len(), 40);
}

#[test]
fn settings_are_checked_and_names_declared() {
    let narrow = classifier::Noun { length: 0.0 };
    assert!(narrow.check(1).unwrap_err().to_string().contains("noun length is 0"));
    let none = batch_rule::Noun { samples: 0 };
    let check = wimble::batch::BatchRule::<dyn wimble::acquisition::Acquisition>::check(&none);
    assert!(check.unwrap_err().to_string().contains("noun samples is 0"));
    for name in [
        Name::of::<classifier::Noun>(),
        Name::of::<batch_rule::Noun>(),
        Name::of::<strategy::Noun>(),
    ] {
        assert_eq!(name.name, "noun");
        assert!(!name.description.is_empty());
    }
}
