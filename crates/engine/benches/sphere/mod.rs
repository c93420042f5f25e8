//! What the benchmarks measure on: random points whose value is the squared distance from a point of the cube.
#![allow(dead_code, reason = "each benchmark uses a part")]

use std::time::Instant;

use wimble::goal::Direction;
use wimble::history::History;
use wimble::internals::uniform;
use wimble::outcome::Outcome;
use wimble::points::Points;
use wimble::seed::{Rng, Seed};
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace};
use wimble::strategy::Strategy;

fn value(x: &[f64]) -> f64 {
    x.iter().map(|x| (x - 0.3).powi(2)).sum()
}

fn point(dim: usize, rng: &mut Rng) -> Vec<f64> {
    (0..dim).map(|_| uniform(rng)).collect()
}

/// Random points.
pub fn points(dim: usize, len: usize, rng: &mut Rng) -> Points {
    Points::from_rows(dim, (0..len).map(|_| point(dim, rng)))
}

/// A history of random points.
pub fn history(dim: usize, len: usize) -> History {
    let mut rng = Seed(1).stream("data", 0);
    let mut history = History::new(dim);
    for _ in 0..len {
        let x = point(dim, &mut rng);
        history.push(&x, Outcome::from(value(&x))).expect("the value is finite");
    }
    history
}

/// A session over reals that has been told `len` random points.
pub fn session(strategy: impl Strategy + 'static, dim: usize, len: usize) -> Session {
    let space = SearchSpace::new((0..dim).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))
        .expect("a legal space");
    let mut session =
        Session::new(space, strategy, Direction::Minimise, Seed(1)).expect("legal settings");
    let mut rng = Seed(2).stream("data", 0);
    for _ in 0..len {
        let x = point(dim, &mut rng);
        let configuration: Configuration =
            x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
        session.observe(&configuration, Outcome::from(value(&x))).expect("a legal observation");
    }
    session
}

/// Seconds to ask for ten trials, which are then told.
pub fn ask(session: &mut Session) -> f64 {
    let start = Instant::now();
    let trials = session.ask(10).expect("a batch");
    let seconds = start.elapsed().as_secs_f64();
    for trial in trials {
        let x = session.space().encode(&trial.configuration).expect("a legal configuration");
        session.tell(trial.id, Outcome::from(value(&x))).expect("an outcome");
    }
    seconds
}

/// The least and the median seconds of `rounds` asks of each session. They take turns, so that a busy machine slows both
/// alike.
pub fn in_turns(sessions: &mut [Session; 2], rounds: usize) -> [[f64; 2]; 2] {
    let mut seconds = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (session, seconds) in sessions.iter_mut().zip(&mut seconds) {
            seconds.push(ask(session));
        }
    }
    seconds.map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        [seconds[0], seconds[rounds / 2]]
    })
}

/// Whether to measure: `cargo test --benches` and `cargo bench` both run a benchmark, and only the second passes --bench.
pub fn is_bench() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
