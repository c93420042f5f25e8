//! A user's prior: it helps where it is right, and is overcome where it is wrong.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use wimble::prelude::*;
use wimble::space::Prior;

const DIM: usize = 4;

/// Numbers, or numbers and a choice; expected at `at` in every number, and at the first choice.
fn space(mixed: bool, at: Option<f64>) -> SearchSpace {
    let with = |dimension: Dimension, value: Value| match at {
        Some(_) => dimension.prior(Prior::at(value)),
        None => dimension,
    };
    let number = |k: usize| {
        with(Dimension::real(format!("x{k}"), 0.0, 1.0), Value::Real(at.unwrap_or_default()))
    };
    let choice = with(Dimension::categorical("c", ["a", "b", "d"]), "a".into());
    SearchSpace::new((0..DIM).map(number).chain(mixed.then_some(choice))).unwrap()
}

/// A bowl about 0.8, whose first choice is the best.
fn bowl(x: &Configuration) -> f64 {
    let numbers: f64 = (0..DIM).map(|k| (x.real(&format!("x{k}")).unwrap() - 0.8).powi(2)).sum();
    let choice = match x.get("c") {
        Some(value) if *value != Value::from("a") => 0.3,
        _ => 0.0,
    };
    numbers + choice
}

/// The best value of a search in batches of 5.
fn best(mixed: bool, at: Option<f64>, trials: usize, seed: u64) -> f64 {
    let mut session =
        Session::new(space(mixed, at), Auto::default(), Direction::Minimise, Seed(seed)).unwrap();
    for _ in 0..trials / 5 {
        for trial in session.ask(5).unwrap() {
            session.tell(trial.id, bowl(&trial.configuration)).unwrap();
        }
    }
    session.best().unwrap().value
}

#[test]
fn a_prior_near_the_optimum_is_ahead_and_a_wrong_one_is_overcome() {
    for mixed in [false, true] {
        let sum = |at: Option<f64>, trials| -> f64 {
            (0..8).map(|seed| best(mixed, at, trials, seed).max(1e-9).log10()).sum::<f64>() / 8.0
        };
        let (with, without) = (sum(Some(0.72), 15), sum(None, 15));
        assert!(with < without - 0.3, "mixed {mixed}: {with} with a prior, {without} without");
        // From the wrong corner, the same value as without a prior takes more trials, and is reached.
        let (wrong, alone) = (sum(Some(0.1), 80), sum(None, 40));
        assert!(wrong < alone + 0.3, "mixed {mixed}: {wrong} with a wrong prior, {alone} without");
    }
}

#[test]
fn the_first_trial_is_the_expected_one_and_half_of_the_others_are_drawn_from_there() {
    for method in ["auto", "bore", "tpe", "random"] {
        let strategy = method.parse::<Spec>().unwrap().build(10).unwrap();
        let space = space(true, Some(0.1));
        let mut session = Session::new(space, strategy, Direction::Minimise, Seed(3)).unwrap();
        let trials = session.ask(10).unwrap();
        let is_first = |x: &Configuration| {
            x.text("c") == Ok("a")
                && (0..DIM).all(|k| (x.real(&format!("x{k}")).unwrap() - 0.1).abs() < 1e-9)
        };
        let expects = method != "random";
        assert_eq!(is_first(&trials[0].configuration), expects, "{method}");
        let near = |x: &Configuration| x.real("x0").unwrap() < 0.5 && x.real("x1").unwrap() < 0.5;
        let even = (0..10).step_by(2).filter(|&i| near(&trials[i].configuration)).count();
        assert!(!expects || even >= 4, "{method}: {even}");
    }
}
