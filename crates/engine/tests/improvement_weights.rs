//! `weights=improvement` is LFBO: on a discrete problem, every learner that takes weights comes to the closed form
//! π(x) = s/(1 + s), s = E[w | x], w = (τ - y)₊ over its mean among the good (Song, Yu, Neiswanger and Ermon 2022).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests panic, and print what they measure"
)]

use wimble::classifier::{
    BayesianLogistic, Boosting, Classifier, Ensemble, Forest, Learner, LengthScales, Perceptron,
    Start,
};
use wimble::history::History;
use wimble::labels::{Labels, Threshold, Weights};
use wimble::outcome::Outcome;
use wimble::seed::Seed;

const PLACES: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const EACH: usize = 8;

/// Eight values at each of six places: far below τ = 1 at the left, above it at the right, with an edge between.
fn history() -> History {
    let mut history = History::new(1);
    for (place, &x) in PLACES.iter().enumerate() {
        for k in 0..EACH {
            // Without noise but for the third place, where some values are very good and others bad.
            let noise = if place == 2 { 2.5 * (k as f64 - 3.5) / 3.5 } else { 0.0 };
            let value = [-1.0, 0.4, 0.5, 1.5, 2.0, 3.0][place] + noise;
            history.push(&[x], Outcome::from(value)).unwrap();
        }
    }
    history
}

const THRESHOLD: Threshold = Threshold::Fixed { value: 1.0 };

fn labels(history: &History) -> Labels<'_> {
    THRESHOLD.label_weighted(Weights::Improvement, history.points(), history.objective()).unwrap()
}

/// s/(1 + s) at each place, from the values alone.
fn closed_form(history: &History) -> Vec<f64> {
    let values: Vec<f64> =
        (0..history.len()).map(|i| history.objective().value(i).unwrap()).collect();
    let improvement = |y: &f64| (1.0 - y).max(0.0);
    let good = values.iter().filter(|y| **y <= 1.0).count() as f64;
    let mean = values.iter().map(improvement).sum::<f64>() / good;
    let place = |values: &[f64]| {
        let s = values.iter().map(improvement).sum::<f64>() / mean / EACH as f64;
        s / (1.0 + s)
    };
    values.chunks(EACH).map(place).collect()
}

fn check<L: Learner>(name: &str, learner: &L, tolerance: f64) {
    assert!(learner.takes_weights(), "{name}");
    let history = history();
    let fitted = learner.fit(&labels(&history), None, &mut Seed(1).stream("fit", 0)).unwrap();
    let found: Vec<f64> = PLACES.iter().map(|&x| fitted.probability(&[x])).collect();
    let expected = closed_form(&history);
    println!("{name}: {found:.3?}, closed form {expected:.3?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < tolerance, "{name}: {found} {expected}");
    }
}

#[test]
fn the_closed_form_tells_good_places_apart() {
    let expected = closed_form(&history());
    // With only bad points in class 0, both would be 1: none of their points is bad.
    assert!(expected[0] > 0.55 && expected[1] < 0.45, "{expected:?}");
    assert!(expected[3..].iter().all(|p| *p == 0.0));
}

#[test]
fn every_learner_that_takes_weights_comes_to_the_closed_form() {
    let perceptron = Perceptron {
        steps: 4000,
        learning_rate: 0.003,
        start: Start::Cold,
        ..Perceptron::default()
    };
    check("perceptron", &perceptron, 0.03);
    let ensemble = Ensemble { members: 2, perceptron };
    check("ensemble", &ensemble, 0.03);
    let forest = Forest { trees: 400, smoothing: 1e-3, ..Forest::default() };
    check("forest", &forest, 0.03);
    let boosting =
        Boosting { rounds: 400, members: 1, ridge: 1e-3, min_leaf: 1, ..Boosting::default() };
    check("boosting", &boosting, 0.03);
    let logistic = BayesianLogistic {
        length_scales: LengthScales::Fixed { length_scales: vec![0.1] },
        prior_variance: 50.0,
        intercept_variance: 4.0,
        ..BayesianLogistic::default()
    };
    check("bayesian-logistic", &logistic, 0.05);
}
