//! What known constraints cost: `ask(10)` in a space of numbers and in a mixed one, with and without constraints.
//!
//! The sessions with and without take turns, so that a busy machine slows both alike. The time to create a space with
//! constraints is printed too.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

mod sphere;

use std::time::Instant;

use sphere::in_turns;
use wimble::prelude::*;

fn numbers() -> Vec<Dimension> {
    (0..6).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)).collect()
}

fn mixed() -> Vec<Dimension> {
    vec![
        Dimension::log_integer("batch", 16, 1024),
        Dimension::integer("layers", 1, 16),
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::real("dropout", 0.0, 0.5),
        Dimension::categorical("optimiser", ["adam", "sgd", "lion"]),
        Dimension::real("momentum", 0.0, 1.0).when("optimiser", ["sgd"]),
    ]
}

fn main() {
    if !sphere::is_bench() {
        return;
    }
    let mix = &["batch * layers <= 4096", "if optimiser == \"sgd\" then momentum >= 0.5"][..];
    let cases = [
        ("numbers", numbers(), &["x0 + x1 + x2 <= 1.2"][..]),
        ("numbers, rare", numbers(), &["x0 + x1 + x2 + x3 + x4 + x5 <= 0.8"][..]),
        ("mixed", mixed(), mix),
    ];
    for (name, dimensions, constraints) in cases {
        let free = SearchSpace::new(dimensions).expect("legal dimensions");
        let start = Instant::now();
        let known = free.clone().known(constraints.iter().copied()).expect("legal constraints");
        let share = known.legal_share();
        let made = start.elapsed().as_secs_f64();
        println!("{name}: {:.3} % legal, created in {:.1} ms", 100.0 * share, 1e3 * made);
        for (method, rounds) in
            [("random", 300), ("sobol", 300), ("tpe", 30), ("auto", 20), ("bore", 10)]
        {
            let session = |space: &SearchSpace| {
                let spec: Spec = method.parse().expect("a method");
                let strategy = spec.build(10).expect("its settings");
                Session::new(space.clone(), strategy, Direction::Minimise, Seed(1))
                    .expect("a session")
            };
            let mut sessions = [session(&free), session(&known)];
            let [without, with] = in_turns(&mut sessions, rounds);
            println!(
                "  ask(10) {method}: {:.1} µs without, {:.1} µs with (medians), ratio {:.2}; a suggestion costs {:.2} µs more",
                1e6 * without[1],
                1e6 * with[1],
                with[1] / without[1],
                1e5 * (with[1] - without[1]),
            );
        }
    }
}
