//! What every strategy promises, through the public API: legal and distinct suggestions, the same ones from the same
//! seed and evidence, and nothing lost.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod searches;
mod suite;

use std::collections::HashSet;

use suite::{FINITE, METHODS, SEVERAL, strategy};
use wimble::internals;
use wimble::prelude::*;

/// Every strategy, with the words that name it.
fn strategies() -> Vec<(&'static str, Box<dyn Strategy>)> {
    METHODS.into_iter().map(|method| (method, strategy(method))).collect()
}

#[test]
fn the_list_has_every_name_of_the_table() {
    for name in internals::METHODS.iter().chain(internals::CLASSIFIERS).chain(internals::RULES) {
        // The perceptron is what `bore` has by default.
        let named = |method: &&str| method.split([' ', '=']).any(|word| word == name.name);
        let listed = METHODS.iter().chain(&SEVERAL).chain(&FINITE).any(named);
        assert!(name.name == "perceptron" || listed, "{}", name.name);
    }
}

fn mixed_space() -> SearchSpace {
    let ordinal = Dimension::ordinal("precision", ["low", "high"]);
    SearchSpace::new(searches::mixed_dimensions().into_iter().chain([ordinal])).unwrap()
}

/// A smooth objective on the mixed space that fails here and there.
fn objective(_: &Session, configuration: &Configuration) -> Outcome {
    let real = |name: &str| match configuration.get(name) {
        Some(Value::Real(x)) => *x,
        Some(Value::Integer(x)) => *x as f64,
        _ => 0.5,
    };
    let adam = configuration.get("optimiser") == Some(&"adam".into());
    let value =
        (real("rate").log10() + 2.0).powi(2) + (real("layers") - 3.0).abs() + real("momentum");
    match configuration.get("augment") {
        Some(Value::Boolean(true)) if real("layers") > 4.5 => Outcome::Infeasible,
        _ if real("rate") > 0.9 => Outcome::failed(),
        _ => Outcome::from(value - f64::from(u8::from(adam))),
    }
}

fn run(session: &mut Session, batches: &[usize]) -> Vec<Trial> {
    searches::in_batches(session, batches, &objective)
}

#[test]
fn suggestions_are_legal_and_never_repeat() {
    for (name, strategy) in strategies() {
        let mut session =
            Session::new(mixed_space(), strategy, Direction::Minimise, Seed(1)).unwrap();
        let trials = run(&mut session, &[7, 5, 1, 10, 3, 12]);
        let mut seen = HashSet::new();
        for trial in trials {
            session
                .space()
                .encode(&trial.configuration)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(
                seen.insert(trial.configuration.to_string()),
                "{name} repeats {}",
                trial.configuration
            );
        }
    }
}

#[test]
fn forecasts_are_finite_pure_and_change_no_suggestion() {
    let modelled = |method: &str| !["random", "sobol", "cma-es"].contains(&method);
    for method in METHODS {
        let session = || {
            let goal = Direction::Maximise;
            Session::new(mixed_space(), strategy(method), goal, Seed(4)).unwrap()
        };
        let forecasts = searches::with_forecasts(session, &objective, method);
        assert_eq!(forecasts.is_some(), modelled(method), "{method}");
    }
}

#[test]
fn a_goal_that_is_not_served_is_refused_with_the_methods_that_can() {
    for method in METHODS {
        let goal = Goal::new([Objective::minimise("a"), Objective::maximise("b")]).unwrap();
        let served = Session::new(mixed_space(), strategy(method), goal, Seed(1));
        let name = method.split(' ').next().unwrap_or_default();
        if ["auto", "bore", "bore++", "tpe", "random", "sobol"].contains(&name) {
            assert!(served.is_ok(), "{method}");
            continue;
        }
        let error = served.err().unwrap().to_string();
        assert!(error.contains("cannot work towards a goal of 2 objectives"), "{error}");
        let serving = "methods that can: auto, bore, bore++, tpe, ehvi, nsga2, random, sobol, grid";
        assert!(error.ends_with(serving), "{error}");
    }
    for method in SEVERAL {
        let served = Session::new(mixed_space(), strategy(method), Direction::Minimise, Seed(1));
        let error = served.err().unwrap().to_string();
        assert!(error.contains("it serves"), "{error}");
    }
    let fixed = strategy("bore threshold=0.5");
    let goal = Goal::new([Objective::minimise("a"), Objective::maximise("b")]).unwrap();
    let error = Session::new(mixed_space(), fixed, goal, Seed(1)).err().unwrap().to_string();
    assert!(error.contains("must be a quantile for a goal of 2 objectives"), "{error}");
}

#[test]
fn the_same_seed_and_evidence_give_the_same_suggestions_on_any_number_of_threads() {
    for method in METHODS {
        let run_once = move || {
            let mut session =
                Session::new(mixed_space(), strategy(method), Direction::Minimise, Seed(9))
                    .unwrap();
            run(&mut session, &[10, 4, 4, 9])
        };
        let alone = run_once();
        let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(run_once)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone, "{method}");
        }
    }
}

#[test]
fn a_session_that_was_saved_and_loaded_goes_on_as_if_it_had_not_been() {
    for method in METHODS {
        let mut session =
            Session::new(mixed_space(), strategy(method), Direction::Minimise, Seed(4)).unwrap();
        // 33 trials: the warm start is in the middle of its interval; three of them stay pending.
        run(&mut session, &[10, 10, 3, 10]);
        session.ask(3).unwrap();
        let mut loaded = Session::load(&session.save().unwrap(), strategy(method)).unwrap();
        assert_eq!(loaded.ask(6).unwrap(), session.ask(6).unwrap(), "{method}");
        assert_eq!(loaded.save().unwrap(), session.save().unwrap());
    }
}

#[test]
fn a_finite_space_is_used_up_exactly_and_then_refused() {
    let evaluate = |_: &Session, at: &Configuration| Outcome::from(at.integer("a").unwrap() as f64);
    for (name, strategy) in strategies() {
        searches::until_used_up(strategy, Direction::Maximise, &evaluate, name);
    }
}

#[test]
fn ties_constants_failures_and_a_single_observation_are_no_trouble() {
    type Objective = fn(u64) -> Outcome;
    let objectives: [(&str, Objective); 4] = [
        ("constant", |_| Outcome::from(1.0)),
        ("ties", |id| Outcome::from((id % 2) as f64)),
        ("failures", |_| Outcome::failed()),
        ("one value", |id| if id == 3 { Outcome::from(1e300) } else { Outcome::Infeasible }),
    ];
    for method in METHODS {
        for (kind, outcome) in objectives {
            let mut session =
                Session::new(mixed_space(), strategy(method), Direction::Minimise, Seed(1))
                    .unwrap();
            for size in [1, 5, 6, 2] {
                let trials =
                    session.ask(size).unwrap_or_else(|error| panic!("{method}, {kind}: {error}"));
                for trial in trials {
                    session.tell(trial.id, outcome(trial.id)).unwrap();
                }
            }
        }
    }
}

#[test]
fn labels_that_are_all_good_or_all_bad_are_no_trouble() {
    for method in METHODS.into_iter().filter(|method| method.starts_with("bore")) {
        for threshold in ["threshold=1e9", "threshold=-1e9"] {
            let strategy = strategy(&format!("{method} {threshold}"));
            let mut session =
                Session::new(mixed_space(), strategy, Direction::Minimise, Seed(1)).unwrap();
            let trials = run(&mut session, &[10, 4, 3]);
            assert_eq!(trials.len(), 17, "{method} {threshold}");
        }
    }
}

#[test]
fn one_dimension_and_fifty_and_batches_of_one_and_of_a_hundred() {
    for (dim, batches) in [(1, [10, 1, 100]), (50, [12, 1, 100])] {
        for (name, strategy) in strategies() {
            let space =
                SearchSpace::new((0..dim).map(|k| Dimension::real(format!("x{k}"), -1.0, 1.0)))
                    .unwrap();
            let mut session = Session::new(space, strategy, Direction::Minimise, Seed(3)).unwrap();
            let mut seen = HashSet::new();
            for size in batches {
                let trials =
                    session.ask(size).unwrap_or_else(|error| panic!("{name}, {dim}-D: {error}"));
                assert_eq!(trials.len(), size);
                for trial in trials {
                    assert!(seen.insert(trial.configuration.to_string()), "{name}, {dim}-D");
                    let x = session.space().encode(&trial.configuration).unwrap();
                    session
                        .tell(
                            trial.id,
                            Outcome::from(x.iter().map(|x| (x - 0.3).powi(2)).sum::<f64>()),
                        )
                        .unwrap();
                }
            }
        }
    }
}

#[test]
fn duplicates_in_history_are_no_trouble() {
    for (name, strategy) in strategies() {
        let space = mixed_space().allow_repeats(true);
        let first: Vec<Configuration> = (0..3)
            .map(|index| space.decode(&space.sample(&mut Seed(index).stream("test", 0))))
            .collect();
        let mut session = Session::new(space, strategy, Direction::Minimise, Seed(3)).unwrap();
        for index in 0..18 {
            session.observe(&first[index % 3], Outcome::from(index as f64)).unwrap();
        }
        let trials = session.ask(5).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(trials.len(), 5);
    }
}

#[test]
fn trials_may_be_told_in_any_order_while_others_are_asked_for() {
    for (name, strategy) in strategies() {
        let mut session =
            Session::new(mixed_space(), strategy, Direction::Minimise, Seed(1)).unwrap();
        searches::in_any_order(&mut session, 15, &objective, name);
    }
}

#[test]
fn bad_settings_are_refused_before_the_first_ask() {
    let refused = |strategy: Box<dyn Strategy>| {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        Session::new(space, strategy, Direction::Minimise, Seed(0)).err().unwrap().to_string()
    };
    for fraction in [0.0, 1.0, 1.5, f64::NAN] {
        let bore = Bore { threshold: Threshold::Quantile { fraction }, ..Bore::batch() };
        assert!(refused(Box::new(bore)).contains("threshold fraction"));
    }
    let negative =
        BorePlusPlus { confidence: Confidence::Width(-1.0), ..BorePlusPlus::sequential() };
    assert_eq!(
        refused(Box::new(negative)),
        "confidence width is -1, but must be finite and not negative"
    );
    let learner = Perceptron { minibatch: 0, ..Perceptron::default() };
    assert!(refused(Box::new(Bore::new(learner, Svgd::default()))).contains("minibatch"));
    let learner = LeastSquares { ridge: 0.0, ..LeastSquares::default() };
    assert!(refused(Box::new(Bore::new(learner, Svgd::default()))).contains("ridge"));
    let rule = Svgd { steps: 0, ..Svgd::default() };
    assert!(refused(Box::new(Bore::new(Perceptron::default(), rule))).contains("svgd steps"));
}
