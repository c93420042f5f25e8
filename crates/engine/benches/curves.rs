//! Verdicts and asks after many steps: 2,000 trials of 50 steps.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::time::Instant;

use wimble::prelude::*;

const TRIALS: u64 = 2_000;
const STEPS: u32 = 50;
const ROUNDS: usize = 20;

fn session(strategy: impl Strategy + 'static) -> Session {
    let goal = Goal::from(Direction::Minimise).fidelity("epochs", 1.0, f64::from(STEPS)).unwrap();
    let space =
        SearchSpace::new((0..6).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0))).unwrap();
    let mut rng = Seed(1).stream("bench", 0);
    let points: Vec<Configuration> =
        (0..TRIALS).map(|_| space.decode(&space.sample(&mut rng))).collect();
    let mut session = Session::new(space, strategy, goal, Seed(1)).unwrap();
    for (trial, point) in points.iter().enumerate() {
        let sum: f64 = (0..6).map(|i| (point.real(&format!("x{i}")).unwrap() - 0.4).powi(2)).sum();
        // Every fifth goes to the end.
        let last = if trial % 5 == 0 { STEPS } else { 1 + trial as u32 % (STEPS - 1) };
        let step = |at: u32| Measurement {
            fidelity: Some(f64::from(at)),
            ..Measurement::from(sum + 1.0 / f64::from(at))
        };
        session.observe_curve(point, (1..=last).map(step)).unwrap();
    }
    session
}

fn timed(name: &str, mut work: impl FnMut()) {
    let mut seconds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    println!(
        "{name}: least {:.3} ms, median {:.3} ms",
        1e3 * seconds[0],
        1e3 * seconds[ROUNDS / 2]
    );
}

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut search = session(Auto::default());
    println!("{} steps", search.history().curves().steps());
    let trial = search.ask(1).unwrap().remove(0).id;
    for at in 1..STEPS {
        let step = Measurement { fidelity: Some(f64::from(at)), ..Measurement::from(0.5) };
        search.report(trial, step).unwrap();
    }
    for rule in [Rule::Median, Rule::Halving, Rule::Hyperband, Rule::Auto] {
        timed(&format!("verdict_{rule}_n2000_s50"), || {
            search.verdict(trial, &rule.into()).unwrap();
        });
    }
    timed("plan1_auto_6d_n2000_s50", || {
        search.plan(&[], 1).unwrap();
    });
    let mut search = session(Tpe::default());
    timed("ask1_tpe_levelled_6d_n2000_s50", || {
        search.ask(1).unwrap();
    });
}
