//! What it costs to ask for ten points, for every method and classifier, at three lengths of history.
//!
//! Prints the table of docs/guide/methods.md. The first ask after a history is loaded ("cold") and the next one, which
//! may reuse its work, are timed once each: the figures are for orders of magnitude. A method whose ask at one length
//! takes too long is not tried at the next.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

use std::time::Instant;

use wimble::prelude::*;
use wimble::seed::uniform;
use wimble::strategy::Spec;

const LENGTHS: [usize; 3] = [100, 1_000, 10_000];
/// An ask longer than this many seconds ends a row: at ten times the length it might take a thousand times as long.
const PATIENCE: f64 = 0.5;

const METHODS: [&str; 17] = [
    "bore",
    "bore rule=ascent",
    "bore rule=candidates",
    "bore classifier=ensemble",
    "bore classifier=forest",
    "bore classifier=boosting",
    "bore++",
    "bore++ classifier=bayesian-logistic",
    "bore++ classifier=bayesian-logistic rule=stein-newton",
    "bore++ classifier=ensemble",
    "gp-ucb",
    "gp-ei",
    "q-ei",
    "lp-ei",
    "tpe",
    "cma-es",
    "sobol",
];

fn main() {
    // `cargo test --benches` and `cargo bench` both run this; only the second passes --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("| method | n = 100 | n = 1,000 | n = 10,000 |\n|---|---|---|---|");
    for method in METHODS {
        let mut cells = Vec::new();
        let mut last = 0.0;
        for len in LENGTHS {
            if last > PATIENCE {
                cells.push("-".to_owned());
                continue;
            }
            let mut session = session(method, len);
            let (cold, next) = (ask(&mut session), ask(&mut session));
            last = f64::max(cold, next);
            cells.push(format!("{} / {}", readable(cold), readable(next)));
        }
        println!("| `{method}` | {} |", cells.join(" | "));
    }
}

/// A session over six reals that has been told `len` trials.
fn session(method: &str, len: usize) -> Session {
    let strategy = method.parse::<Spec>().and_then(|spec| spec.build(10)).expect("a legal method");
    let space = SearchSpace::new((0..6).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))
        .expect("a legal space");
    let mut session =
        Session::new(space, strategy, Direction::Minimise, Seed(1)).expect("legal settings");
    let mut rng = Seed(2).stream("data", 0);
    for _ in 0..len {
        let x: Vec<f64> = (0..6).map(|_| uniform(&mut rng)).collect();
        let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
        let configuration: Configuration =
            x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
        session.observe(&configuration, Outcome::from(value)).expect("a legal observation");
    }
    session
}

/// Seconds to ask for ten points, which are then told.
fn ask(session: &mut Session) -> f64 {
    let start = Instant::now();
    let trials = session.ask(10).expect("a batch");
    let seconds = start.elapsed().as_secs_f64();
    for trial in trials {
        let x = session.space().encode(&trial.configuration).expect("a legal suggestion");
        let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
        session.tell(trial.id, Outcome::from(value)).expect("an outcome");
    }
    seconds
}

fn readable(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} ms", 1e3 * s),
        s if s < 1e-2 => format!("{:.1} ms", 1e3 * s),
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s => format!("{s:.1} s"),
    }
}
