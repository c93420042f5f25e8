//! A whole `ask(10)` of `auto` at two lengths of history, in 6, 10 and 20 dimensions: its cost must stay flat.
//!
//! The two sessions take turns, so that a busy machine slows both alike; the least and the median time of each, their ratio, and
//! the time of the first ask, which reads all of history, are printed.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

use std::time::Instant;

use wimble::prelude::*;
use wimble::seed::uniform;

const DIMS: [usize; 3] = [6, 10, 20];
const LENGTHS: [usize; 2] = [2_000, 1_000_000];
const ROUNDS: usize = 60;

fn main() {
    // `cargo test --benches` and `cargo bench` both run this; only the second passes --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    for dim in DIMS {
        let mut sessions = LENGTHS.map(|len| session(dim, len));
        for (session, len) in sessions.iter_mut().zip(LENGTHS) {
            println!("auto_{dim}d_n{len}: first ask {:.2} s", ask(session));
        }
        let mut seconds = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (session, seconds) in sessions.iter_mut().zip(&mut seconds) {
                seconds.push(ask(session));
            }
        }
        let [short, long] = seconds.map(|mut seconds| {
            seconds.sort_by(f64::total_cmp);
            [seconds[0], seconds[ROUNDS / 2]]
        });
        for (len, [least, median]) in LENGTHS.iter().zip([short, long]) {
            println!(
                "ask10_auto_{dim}d_n{len}: least {:.2} ms, median {:.2} ms",
                1e3 * least,
                1e3 * median
            );
        }
        println!("ratio: least {:.2}, median {:.2}", long[0] / short[0], long[1] / short[1]);
    }
}

fn objective(x: impl Iterator<Item = f64>) -> f64 {
    x.map(|x| (x - 0.3).powi(2)).sum()
}

/// A session over reals that has been told `len` trials.
fn session(dim: usize, len: usize) -> Session {
    let space = SearchSpace::new((0..dim).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))
        .expect("a legal space");
    let mut session =
        Session::new(space, Auto::default(), Direction::Minimise, Seed(1)).expect("legal settings");
    let mut rng = Seed(2).stream("data", 0);
    for _ in 0..len {
        let x: Vec<f64> = (0..dim).map(|_| uniform(&mut rng)).collect();
        let value = objective(x.iter().copied());
        let configuration: Configuration =
            x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
        session.observe(&configuration, Outcome::from(value)).expect("a legal observation");
    }
    session
}

/// Seconds to ask for ten trials, which are then told.
fn ask(session: &mut Session) -> f64 {
    let start = Instant::now();
    let trials = session.ask(10).expect("a batch");
    let seconds = start.elapsed().as_secs_f64();
    for trial in trials {
        let x = session.space().encode(&trial.configuration).expect("a legal configuration");
        let value = objective(x.iter().copied());
        session.tell(trial.id, Outcome::from(value)).expect("an outcome");
    }
    seconds
}
