//! What it costs to ask for ten points, for every method and classifier, at three lengths of history.
//!
//! Prints the table of docs/guide/methods.md. The first ask after a history is loaded ("cold") and the next one, which
//! may reuse its work, are timed once each: the figures are for orders of magnitude. A method whose ask at one length
//! takes too long is not tried at the next.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

mod sphere;

use wimble::strategy::Spec;

use sphere::{ask, session};

const LENGTHS: [usize; 3] = [100, 1_000, 10_000];
/// An ask longer than this many seconds ends a row: at ten times the length it might take a thousand times as long.
const PATIENCE: f64 = 0.5;

const METHODS: [&str; 18] = [
    "bore",
    "bore preset=paper",
    "bore preset=paper rule=ascent",
    "bore preset=paper classifier=ensemble",
    "bore classifier=forest",
    "bore classifier=boosting",
    "bore++",
    "bore++ preset=paper",
    "bore++ preset=paper classifier=bayesian-logistic",
    "bore++ classifier=bayesian-logistic rule=stein-newton",
    "bore++ preset=paper classifier=ensemble",
    "gp-ucb",
    "gp-ei",
    "q-ei",
    "lp-ei",
    "tpe",
    "cma-es",
    "sobol",
];

fn main() {
    if !sphere::is_bench() {
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
            let spec = method.parse::<Spec>().and_then(|spec| spec.build(10));
            let mut session = session(spec.expect("a legal method"), 6, len);
            let (cold, next) = (ask(&mut session), ask(&mut session));
            last = f64::max(cold, next);
            cells.push(format!("{} / {}", readable(cold), readable(next)));
        }
        println!("| `{method}` | {} |", cells.join(" | "));
    }
}

fn readable(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} ms", 1e3 * s),
        s if s < 1e-2 => format!("{:.1} ms", 1e3 * s),
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s => format!("{s:.1} s"),
    }
}
