//! The Gaussian-process baselines from end to end: what they achieve, what they promise, and how they are written down.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking, its helpers too")]

mod on_problem;

use wimble::goal::Direction;
use wimble::history::History;
use wimble::internals::{rkhs_norm, uniform};
use wimble::kernel::{Kernel, Profile};
use wimble::outcome::Outcome;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble::strategy::Regression;
use wimble::strategy::{Evidence, GpEi, GpUcb, LpEi, Memory, Optimism, QEi, Strategy};
use wimble_problems::problem;

use on_problem::median_regret;

fn all() -> Vec<Box<dyn Strategy>> {
    vec![
        Box::new(GpUcb::default()),
        Box::new(GpEi::default()),
        Box::new(QEi::default()),
        Box::new(LpEi::default()),
    ]
}

#[test]
fn single_points_find_the_minimum_of_branin() {
    let branin = problem("branin").unwrap();
    let reached = median_regret(branin.as_ref(), GpEi::default, 1, 50, 3);
    assert!(reached < 1e-3, "gp-ei: {reached}");
    // β = 3 explores all of the square before it settles.
    let reached = median_regret(branin.as_ref(), GpUcb::default, 1, 50, 3);
    assert!(reached < 1e-2, "gp-ucb: {reached}");
}

#[test]
fn batches_of_five_find_the_minimum_of_branin() {
    let branin = problem("branin").unwrap();
    for index in 0..4 {
        let reached = median_regret(branin.as_ref(), || all().swap_remove(index), 5, 10, 3);
        assert!(reached < 0.05, "{}: {reached}", all()[index].name());
    }
}

fn mixed() -> SearchSpace {
    SearchSpace::new([
        Dimension::log_real("rate", 1e-4, 1.0),
        Dimension::integer("layers", 1, 4),
        Dimension::categorical("kind", ["a", "b", "c"]),
        Dimension::real("decay", 0.0, 1.0).when("kind", ["b"]),
    ])
    .unwrap()
}

fn some_history(space: &SearchSpace, len: usize) -> History {
    let mut rng = Seed(9).stream("history", 0);
    let mut history = History::new(space.dim());
    for i in 0..len {
        let x = space.sample(&mut rng);
        let outcome = match i % 7 {
            5 => Outcome::failed(),
            6 => Outcome::Infeasible,
            _ => Outcome::from(x.iter().map(|x| (x - 0.3).powi(2)).sum::<f64>()),
        };
        history.push(&x, outcome).unwrap();
    }
    history
}

#[test]
fn proposals_are_legal_distinct_and_the_same_with_and_without_memory() {
    let space = mixed();
    let mut rng = Seed(2).stream("pending", 0);
    let pending = Points::from_rows(space.dim(), (0..3).map(|_| space.sample(&mut rng)));
    for strategy in all() {
        strategy.check(&space, &Direction::Minimise.into()).unwrap();
        let mut memory = Memory::default();
        for len in [1, 9, 12, 20] {
            let history = some_history(&space, len);
            let evidence =
                Evidence { space: &space, history: &history, pending: &pending, seed: Seed(5) };
            let batch = strategy.propose(evidence, 4, &mut memory).unwrap();
            let anew = strategy.propose(evidence, 4, &mut Memory::default()).unwrap();
            assert_eq!(batch, anew, "{} at {len}", strategy.name());
            assert_eq!(batch.len(), 4);
            let mut seen: Vec<Vec<f64>> =
                history.points().rows().chain(pending.rows()).map(<[f64]>::to_vec).collect();
            for x in batch.rows() {
                let mut snapped = x.to_vec();
                space.snap(&mut snapped);
                assert_eq!(x, snapped, "{}", strategy.name());
                assert!(!seen.contains(&snapped), "{} repeats a point", strategy.name());
                seen.push(snapped);
            }
        }
    }
}

#[test]
fn failures_alone_leave_random_search_and_a_used_up_space_is_named() {
    let space = SearchSpace::new([Dimension::integer("a", 0, 5), Dimension::boolean("b")]).unwrap();
    for index in 0..4 {
        let strategy = all().swap_remove(index);
        let name = strategy.name();
        let mut session =
            Session::new(space.clone(), strategy, Direction::Minimise, Seed(1)).unwrap();
        // 12 configurations: all of them are suggested, none twice, whatever comes of them.
        for i in 0..12 {
            let trial = session.ask(1).unwrap().remove(0);
            let outcome = if i < 11 { Outcome::failed() } else { Outcome::from(1.0) };
            session.tell(trial.id, outcome).unwrap();
        }
        assert!(matches!(session.ask(1), Err(wimble::Error::Exhausted { .. })), "{name}");
    }
}

/// The paper's first experiment: an objective of known norm on 100 points, noise, and repeats allowed.
#[test]
fn gp_ucb_under_its_theory_finds_the_minimum_on_a_finite_set() {
    let mut rng = Seed(4).stream("objective", 0);
    let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.1, 1.0).unwrap();
    let xs: Vec<f64> = (0..100).map(|_| uniform(&mut rng)).collect();
    let objective = |x: f64| (9.0 * x).sin() + 0.5 * (17.0 * x).cos();
    let points = Points::from_rows(1, xs.iter().map(|x| [*x]));
    let values: Vec<f64> = xs.iter().map(|&x| objective(x)).collect();
    let norm_bound = rkhs_norm(&kernel, &points, &values, 1e-6).unwrap();
    assert!(norm_bound > 1.0 && norm_bound < 20.0, "{norm_bound}");

    let configurations = xs.iter().map(|x| -> Configuration { [("x", *x)].into_iter().collect() });
    let space = SearchSpace::finite([Dimension::real("x", 0.0, 1.0)], configurations)
        .unwrap()
        .allow_repeats(true);
    let strategy = GpUcb {
        regression: Regression::Fixed { kernel, noise: 0.01 },
        optimism: Optimism::Assumed { norm_bound, noise_deviation: 0.1, failure_probability: 0.1 },
        initial: 1,
        ..GpUcb::default()
    };
    let mut session = Session::new(space, strategy, Direction::Minimise, Seed(1)).unwrap();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let mut regrets = Vec::new();
    for _ in 0..120 {
        let trial = session.ask(1).unwrap().remove(0);
        let Some(Value::Real(x)) = trial.configuration.get("x") else { panic!() };
        let value = objective(*x);
        regrets.push(value - least);
        // Uniform noise, whose sub-Gaussian parameter is its standard deviation, 0.1.
        let noise = 0.1 * 12.0_f64.sqrt() * (uniform(&mut rng) - 0.5);
        session.tell(trial.id, Outcome::from(value + noise)).unwrap();
    }
    let mean = |regrets: &[f64]| regrets.iter().sum::<f64>() / regrets.len() as f64;
    let (early, late) = (mean(&regrets[..20]), mean(&regrets[100..]));
    assert!(late < 0.2 * early, "{early} {late}");
}

#[test]
fn settings_are_written_and_read_by_name() {
    let text = r#"{"regression": {"fitted": {"profile": {"rational-quadratic": {"alpha": 1.0}}}}, "initial": 5}"#;
    let read: GpEi = serde_json::from_str(text).unwrap();
    let expected =
        GpEi { regression: Regression::rational_quadratic(), initial: 5, ..GpEi::default() };
    assert_eq!(read, expected);
    let text = r#"{"optimism": {"assumed": {"norm-bound": 2, "noise-deviation": 0.1, "failure-probability": 0.1}}}"#;
    let read: GpUcb = serde_json::from_str(text).unwrap();
    assert!(matches!(read.optimism, Optimism::Assumed { norm_bound: 2.0, .. }));
    assert!(serde_json::from_str::<QEi>(r#"{"sample": 3}"#).is_err());
    let back: LpEi =
        serde_json::from_str(&serde_json::to_string(&LpEi::default()).unwrap()).unwrap();
    assert_eq!(back, LpEi::default());
    assert_eq!(
        all().iter().map(Strategy::name).collect::<Vec<_>>(),
        ["gp-ucb", "gp-ei", "q-ei", "lp-ei"]
    );
    let space = mixed();
    let refused = |strategy: &dyn Strategy| {
        strategy.check(&space, &Direction::Minimise.into()).unwrap_err().to_string()
    };
    assert!(refused(&QEi { samples: 0, ..QEi::default() }).contains("q-ei samples is 0"));
    let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.3, 1.0).unwrap();
    let regression = Regression::Fixed { kernel, noise: 0.1 };
    assert!(refused(&LpEi { regression, ..LpEi::default() }).contains("length scales is 1"));
}
