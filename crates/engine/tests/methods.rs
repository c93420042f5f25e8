//! What the methods achieve, on functions with known minima.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod on_problem;

use wimble::classifier::HyperParameters;
use wimble::kernel::{Kernel, Profile};
use wimble::prelude::*;
use wimble_problems::problem;

use on_problem::median_regret;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn batch_bore_is_well_ahead_of_random_search() {
    for name in ["rosenbrock-4", "ackley-5"] {
        let problem = problem(name).unwrap();
        let bore = median_regret(problem.as_ref(), Bore::batch, 10, 20, 5);
        let random = median_regret(problem.as_ref(), || Random, 10, 20, 5);
        assert!(bore < 0.5 * random, "{name}: {bore} against {random}");
    }
}

#[test]
fn sequential_bore_plus_plus_finds_the_minimum_of_branin() {
    let problem = problem("branin").unwrap();
    let reached = median_regret(problem.as_ref(), BorePlusPlus::sequential, 1, 40, 3);
    assert!(reached < 0.1, "{reached}");
}

/// The paper's first experiment in small: 100 points, a fixed threshold, noise, and repeats allowed.
#[test]
fn least_squares_bore_gets_stuck_and_bore_plus_plus_does_not() {
    let visits = |strategy: Box<dyn Strategy>, seed: u64| {
        let points = (0..100)
            .map(|i| -> Configuration { [("x", f64::from(i) / 99.0)].into_iter().collect() });
        let space = SearchSpace::finite([Dimension::real("x", 0.0, 1.0)], points)
            .unwrap()
            .allow_repeats(true);
        let mut session = Session::new(space, strategy, Direction::Minimise, Seed(seed)).unwrap();
        let mut noise = Seed(seed).stream("noise", 0);
        let mut visited = std::collections::BTreeMap::<String, usize>::new();
        for _ in 0..60 {
            for trial in session.ask(1).unwrap() {
                let Some(Value::Real(x)) = trial.configuration.get("x") else { panic!() };
                *visited.entry(trial.configuration.to_string()).or_default() += 1;
                // A broad hill at 0.2 and a higher one at 0.8, as probabilities of a good label.
                let hill = |centre: f64, width: f64| (-((x - centre) / width).powi(2)).exp();
                let good = 0.6 * hill(0.2, 0.15) + 0.95 * hill(0.8, 0.08);
                let value = if wimble::internals::uniform(&mut noise) < good { -1.0 } else { 1.0 };
                session.tell(trial.id, Outcome::from(value)).unwrap();
            }
        }
        visited.len()
    };
    let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.1, 1.0).unwrap();
    let learner = || LeastSquares {
        ridge: 0.025,
        hyper_parameters: HyperParameters::Fixed { kernel: kernel.clone() },
    };
    let bore = || Bore {
        threshold: Threshold::Fixed { value: 0.0 },
        initial: 1,
        target: Target::LogProbability,
        ..Bore::new(learner(), Ascent::default())
    };
    let stuck = median((0..9).map(|seed| visits(Box::new(bore()), seed) as f64).collect());
    let plus_plus = |seed| {
        visits(Box::new(BorePlusPlus { bore: bore(), confidence: Confidence::Width(3.0) }), seed)
    };
    let exploring = median((0..9).map(|seed| plus_plus(seed) as f64).collect());
    assert!(stuck <= 5.0 && exploring >= 10.0, "{stuck} and {exploring} of 100 points visited");
}
