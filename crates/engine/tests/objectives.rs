//! What every method that serves several objectives or constraints promises, through the public API. One objective alone is in
//! conformance.rs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod searches;
mod suite;

use std::collections::HashSet;

use suite::{SEVERAL, strategy};
use wimble::prelude::*;

fn goal(objectives: usize, constraints: usize) -> Goal {
    let all = (0..objectives).map(|i| match i % 2 {
        0 => Objective::minimise(format!("f{i}")),
        _ => Objective::maximise(format!("f{i}")),
    });
    let goal = Goal::new(all).unwrap();
    (0..constraints).fold(goal, |goal, k| {
        let bound = if k % 2 == 0 { Bound::AtMost(2.0) } else { Bound::AtLeast(-3.0) };
        goal.limit(format!("c{k}"), bound).unwrap()
    })
}

/// Methods that serve more than one objective, small enough for tests.
const METHODS: [&str; 7] = [
    "auto",
    "random",
    "sobol",
    "tpe",
    "bore rule=candidates rule.samples=64 rule.rounds=4 weights=improvement",
    "bore classifier=forest classifier.trees=10",
    "bore++ rule=ascent rule.samples=64 rule.restarts=2 rule.evaluations=20",
];

const GOALS: [(usize, usize); 5] = [(2, 0), (3, 0), (5, 0), (1, 2), (2, 1)];

/// Each goal with each method that serves it.
fn served() -> Vec<(Goal, &'static str)> {
    let goals = GOALS.map(|(objectives, constraints)| goal(objectives, constraints));
    let methods = METHODS.into_iter().chain(SEVERAL);
    let pairs = methods.flat_map(|method| goals.clone().map(|goal| (goal, method)));
    pairs.filter(|(goal, method)| strategy(method).serves(goal)).collect()
}

fn mixed_space() -> SearchSpace {
    SearchSpace::new(searches::mixed_dimensions()).unwrap()
}

fn real_space(dim: usize) -> SearchSpace {
    SearchSpace::new((0..dim).map(|k| Dimension::real(format!("x{k}"), -1.0, 1.0))).unwrap()
}

/// Smooth columns that trade off against each other; fails here and there.
fn measure(session: &Session, configuration: &Configuration) -> Outcome {
    let goal = session.goal();
    let x = session.space().encode(configuration).unwrap();
    if x[0] > 0.95 {
        return Outcome::failed();
    }
    if x[0] < 0.03 {
        return Outcome::Infeasible;
    }
    let bowl = |centre: f64| x.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
    let count = goal.objectives().len();
    let objectives = (0..count).map(|i| {
        let value = bowl(0.1 + 0.8 * i as f64 / count as f64);
        Measured::from(goal.objectives()[i].direction.turn(value))
    });
    let constraints = (0..goal.constraints().len()).map(|k| match k % 2 {
        0 => Measured::from(2.0 + x[0] - 0.6),
        _ => Measured::from(-3.0 + 1.2 - x[x.len() - 1]),
    });
    Outcome::Measured(Measurement {
        objectives: objectives.collect(),
        constraints: constraints.collect(),
        fidelity: None,
    })
}

fn run(session: &mut Session, batches: &[usize]) -> Vec<Trial> {
    searches::in_batches(session, batches, &measure)
}

#[test]
fn the_default_serves_every_goal_here() {
    for (objectives, constraints) in GOALS {
        assert!(strategy("auto").serves(&goal(objectives, constraints)));
    }
}

#[test]
fn suggestions_are_legal_and_never_repeat() {
    for (goal, method) in served() {
        let mut session =
            Session::new(mixed_space(), strategy(method), goal.clone(), Seed(1)).unwrap();
        let mut seen = HashSet::new();
        for trial in run(&mut session, &[7, 5, 1, 10, 3, 12]) {
            let legal = session.space().encode(&trial.configuration);
            assert!(legal.is_ok(), "{method}, {goal}: {legal:?}");
            assert!(seen.insert(trial.configuration.to_string()), "{method}, {goal}");
        }
    }
}

#[test]
fn saving_and_loading_changes_nothing() {
    for (goal, method) in served() {
        for space in [mixed_space, || real_space(3)] {
            let mut session =
                Session::new(space(), strategy(method), goal.clone(), Seed(4)).unwrap();
            // 33 trials: fits are in the middle of their interval; three trials stay pending.
            run(&mut session, &[10, 10, 3, 10]);
            session.ask(3).unwrap();
            let mut loaded = Session::load(&session.save().unwrap(), strategy(method)).unwrap();
            assert_eq!(loaded.ask(6).unwrap(), session.ask(6).unwrap(), "{method}, {goal}");
        }
    }
}

#[test]
fn a_finite_space_is_used_up_exactly_and_then_refused() {
    for (goal, method) in served() {
        let words = format!("{method}, {goal}");
        searches::until_used_up(strategy(method), goal, &measure, &words);
    }
}

#[test]
fn ties_constants_failures_and_huge_values_are_no_trouble() {
    type Kind = (&'static str, fn(u64, usize) -> Option<f64>);
    let kinds: [Kind; 5] = [
        ("constant", |_, _| Some(1.0)),
        ("ties", |id, _| Some((id % 2) as f64)),
        ("failures", |_, _| None),
        ("one value", |id, j| (id == 3).then_some(1e300 * (j as f64 - 0.5))),
        ("huge", |id, j| Some(if (id + j as u64).is_multiple_of(3) { 1e300 } else { -1e300 })),
    ];
    for (goal, method) in served() {
        for (kind, value) in kinds {
            let mut session =
                Session::new(mixed_space(), strategy(method), goal.clone(), Seed(1)).unwrap();
            for size in [1, 5, 6, 2, 12] {
                let trials = session
                    .ask(size)
                    .unwrap_or_else(|error| panic!("{method}, {goal}, {kind}: {error}"));
                for trial in trials {
                    let all: Option<Vec<Measured>> = (0..goal.objectives().len()
                        + goal.constraints().len())
                        .map(|j| value(trial.id, j).map(Measured::from))
                        .collect();
                    let outcome = match all {
                        None => Outcome::failed(),
                        Some(mut all) => {
                            let constraints = all.split_off(goal.objectives().len());
                            Measurement { objectives: all, constraints, fidelity: None }.into()
                        }
                    };
                    session.tell(trial.id, outcome).unwrap();
                }
            }
        }
    }
}

#[test]
fn one_dimension_and_thirty_and_batches_of_one_and_of_sixty() {
    for (dim, batches) in [(1, [10, 1, 60]), (30, [12, 1, 60])] {
        for (goal, method) in served() {
            let mut session =
                Session::new(real_space(dim), strategy(method), goal.clone(), Seed(3)).unwrap();
            let mut seen = HashSet::new();
            for trial in run(&mut session, &batches) {
                assert!(seen.insert(trial.configuration.to_string()), "{method}, {goal}, {dim}-D");
            }
        }
    }
}

#[test]
fn trials_may_be_told_in_any_order_while_others_are_asked_for() {
    for (goal, method) in served() {
        let words = format!("{method}, {goal}");
        let mut session = Session::new(mixed_space(), strategy(method), goal, Seed(1)).unwrap();
        searches::in_any_order(&mut session, 12, &measure, &words);
    }
}

#[test]
fn forecasts_are_finite_pure_and_change_no_suggestion() {
    for (goal, method) in served() {
        let session =
            || Session::new(mixed_space(), strategy(method), goal.clone(), Seed(4)).unwrap();
        searches::with_forecasts(session, &measure, &format!("{method}, {goal}"));
    }
}

/// One objective on the square whose optimum lies on a circle, which `names` all limit.
fn on_a_circle(names: &[&str]) -> Vec<Vec<f64>> {
    let goal = names.iter().fold(Goal::new([Objective::minimise("f")]).unwrap(), |goal, name| {
        goal.limit(*name, Bound::AtMost(0.0)).unwrap()
    });
    let mut session = Session::new(real_space(2), strategy("auto"), goal, Seed(7)).unwrap();
    let mut last = Vec::new();
    // The same evidence for all: only what is asked last is compared.
    let mut draws =
        Session::new(real_space(2), strategy("sobol"), Direction::Minimise, Seed(2)).unwrap();
    for trial in draws.ask(24).unwrap() {
        let x = session.space().encode(&trial.configuration).unwrap();
        let gap = (x[0] - 0.4).powi(2) + (x[1] - 0.6).powi(2) - 0.09;
        let scales = [1.0, 1000.0, 0.5];
        let constraints = names.iter().zip(scales).map(|(_, scale)| Measured::from(scale * gap));
        let measurement = Measurement {
            objectives: vec![(x[0] + 0.5 * x[1]).into()],
            constraints: constraints.collect(),
            fidelity: None,
        };
        session.observe(&trial.configuration, measurement).unwrap();
    }
    for trial in session.ask(10).unwrap() {
        last.push(session.space().encode(&trial.configuration).unwrap());
    }
    last
}

#[test]
fn a_constraint_given_twice_or_thrice_hardly_changes_suggestions() {
    let once = on_a_circle(&["a"]);
    for names in [&["a", "b"][..], &["a", "b", "c"][..]] {
        let again = on_a_circle(names);
        let gap = |a: &Vec<f64>, b: &Vec<f64>| {
            a.iter().zip(b).fold(0.0_f64, |gap, (a, b)| gap.max((a - b).abs()))
        };
        let same = once.iter().zip(&again).filter(|(a, b)| gap(a, b) < 1e-3).count();
        assert!(same >= 9, "{once:?} {again:?}");
    }
}

#[test]
fn auto_finds_a_constrained_optimum_and_spreads_over_a_front() {
    // The least x + y/2 on the disc of radius 0.3 about (0.4, 0.6) is 0.7 - 0.3 √1.25.
    let goal =
        Goal::new([Objective::minimise("f")]).unwrap().limit("c", Bound::AtMost(0.0)).unwrap();
    let mut session = Session::new(real_space(2), strategy("auto"), goal, Seed(1)).unwrap();
    for _ in 0..4 {
        for trial in session.ask(10).unwrap() {
            let x = session.space().encode(&trial.configuration).unwrap();
            let measurement = Measurement {
                objectives: vec![(x[0] + 0.5 * x[1]).into()],
                constraints: vec![((x[0] - 0.4).powi(2) + (x[1] - 0.6).powi(2) - 0.09).into()],
                fidelity: None,
            };
            session.tell(trial.id, measurement).unwrap();
        }
    }
    let best = session.recommend().unwrap().unwrap();
    let optimum = 0.7 - 0.3 * 1.25_f64.sqrt();
    assert!(
        best.value >= optimum - 1e-9 && best.value < optimum + 1e-3,
        "{} {optimum}",
        best.value
    );
    // Two bowls: the front is the line between their minima.
    let goal = Goal::new([Objective::minimise("a"), Objective::maximise("b")]).unwrap();
    let mut session = Session::new(real_space(3), strategy("auto"), goal, Seed(1)).unwrap();
    for _ in 0..4 {
        for trial in session.ask(10).unwrap() {
            let x = session.space().encode(&trial.configuration).unwrap();
            let bowl = |centre: f64| x.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
            let measurement = Measurement {
                objectives: vec![bowl(0.2).into(), (-bowl(0.8)).into()],
                constraints: Vec::new(),
                fidelity: None,
            };
            session.tell(trial.id, measurement).unwrap();
        }
    }
    let history = session.history();
    let rows = wimble::points::Points::from_rows(2, (0..history.len()).map(|i| history.row(i)));
    let front = wimble::pareto::front(&rows).unwrap();
    let mut rng = Seed(0).stream("test", 0);
    let reached = wimble::pareto::hypervolume(&rows, &[1.2, 1.2], &mut rng).unwrap().value;
    // The whole front a = 1.08 u², b = 1.08 (1 - u)²; its hypervolume by a fine grid.
    let grid = (0..=2000).map(|i| {
        let u = f64::from(i) / 2000.0;
        [1.08 * u * u, 1.08 * (1.0 - u) * (1.0 - u)]
    });
    let whole = wimble::points::Points::from_rows(2, grid);
    let whole = wimble::pareto::hypervolume(&whole, &[1.2, 1.2], &mut rng).unwrap().value;
    assert!(front.len() >= 15, "{}", front.len());
    assert!(reached > 0.97 * whole, "{reached} {whole}");
}

/// The least values of both objectives of ZDT1 in 12 dimensions after 100 trials; both are 0 at the ends of its front.
fn ends(seed: u64) -> [f64; 2] {
    let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")]).unwrap();
    let mut session = Session::new(real_space(12), strategy("auto"), goal, Seed(seed)).unwrap();
    for _ in 0..10 {
        for trial in session.ask(10).unwrap() {
            let x = session.space().encode(&trial.configuration).unwrap();
            let g = 1.0 + 9.0 * x[1..].iter().sum::<f64>() / 11.0;
            let measurement = Measurement {
                objectives: vec![x[0].into(), (g * (1.0 - (x[0] / g).sqrt())).into()],
                constraints: Vec::new(),
                fidelity: None,
            };
            session.tell(trial.id, measurement).unwrap();
        }
    }
    let history = session.history();
    [0, 1].map(|j| (0..history.len()).map(|i| history.row(i)[j]).fold(f64::INFINITY, f64::min))
}

#[test]
fn auto_reaches_the_ends_of_a_front_in_every_search() {
    for seed in 0..8 {
        let [a, b] = ends(seed);
        assert!(a < 0.02 && b < 0.05, "seed {seed}: {a} {b}");
    }
}

/// A search of 80 trials with noise on two bowls whose front is the line between their minima, and on a limit that cuts the line at a quarter of
/// its length. Of the front as told and of what is recommended: the mean of what each trial misses, its true distance from the line squared
/// and from the limit; and how many there are.
fn under_noise(seed: u64) -> [(f64, usize); 2] {
    let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")])
        .and_then(|goal| goal.limit("c", Bound::AtMost(0.0)))
        .unwrap();
    let mut session = Session::new(real_space(3), strategy("auto"), goal, Seed(seed)).unwrap();
    let mut rng = Seed(seed).stream("noise", 0);
    for _ in 0..8 {
        for trial in session.ask(10).unwrap() {
            let x = session.space().encode(&trial.configuration).unwrap();
            let mut noise = || {
                let uniform = wimble::internals::uniform(&mut rng).clamp(1e-9, 1.0 - 1e-9);
                0.1 * wimble::internals::normal::quantile(uniform)
            };
            let bowl = |centre: f64| x.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
            let measurement = Measurement {
                objectives: vec![(bowl(0.2) + noise()).into(), (bowl(0.8) + noise()).into()],
                constraints: vec![(0.35 - x[0] + noise()).into()],
                fidelity: None,
            };
            session.tell(trial.id, measurement).unwrap();
        }
    }
    let told: Vec<u64> =
        session.front().unwrap().trials.iter().map(|(trial, _)| trial.id).collect();
    let recommended = session.recommend_front().unwrap();
    let missed = |trials: &[u64]| {
        let points = session.history().points();
        let excess = |&trial: &u64| {
            // Trials are told in the order in which they are asked for.
            let x = points.row(trial as usize);
            let along = (x.iter().map(|x| x - 0.2).sum::<f64>() / 1.8).clamp(0.0, 1.0);
            let off = x.iter().map(|x| (x - 0.2 - 0.6 * along).powi(2)).sum::<f64>();
            off + (0.35 - x[0]).max(0.0)
        };
        (trials.iter().map(excess).sum::<f64>() / trials.len() as f64, trials.len())
    };
    [missed(&told), missed(&recommended)]
}

#[test]
fn under_noise_the_recommended_front_is_nearer_to_the_true_one() {
    let runs: Vec<[(f64, usize); 2]> = (0..3).map(under_noise).collect();
    let mean = |which: usize| runs.iter().map(|run| run[which].0).sum::<f64>() / 3.0;
    assert!(mean(1) < 0.75 * mean(0), "{runs:?}");
    assert!(runs.iter().all(|run| run[1].1 >= 2), "{runs:?}");
}
