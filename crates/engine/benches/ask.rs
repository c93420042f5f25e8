//! A whole `ask(10)` of batch BORE with the paper's settings, at two lengths of history: its cost must stay flat.
//!
//! The two sessions take turns, so that a busy machine slows both alike; the least and the median time of each, their
//! ratio, and the memory of a trial are printed.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

use std::time::Instant;

use wimble::prelude::*;
use wimble::seed::uniform;

const LENGTHS: [(&str, usize); 2] =
    [("ask10_bore_svgd_6d_n2000", 2_000), ("ask10_bore_svgd_6d_n200000", 200_000)];
const ROUNDS: usize = 100;

fn main() {
    // `cargo test --benches` and `cargo bench` both run this; only the second passes --bench.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let before = resident_bytes();
    let mut sessions = LENGTHS.map(|(_, len)| session(len));
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let trials: usize = LENGTHS.iter().map(|(_, len)| len).sum();
        println!("memory: {} bytes a trial", (after - before) / trials);
    }
    // The first ask trains through the kept fits once.
    for session in &mut sessions {
        ask(session);
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
    for ((name, _), [least, median]) in LENGTHS.iter().zip([short, long]) {
        println!("{name}: least {:.2} ms, median {:.2} ms", 1e3 * least, 1e3 * median);
    }
    println!("ratio: least {:.2}, median {:.2}", long[0] / short[0], long[1] / short[1]);
}

/// A session over six reals that has been told `len` trials.
fn session(len: usize) -> Session {
    let space = SearchSpace::new((0..6).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))
        .expect("a legal space");
    let mut session =
        Session::new(space, Bore::batch(), Direction::Minimise, Seed(1)).expect("legal settings");
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

/// Seconds to ask for ten trials, which are then told.
fn ask(session: &mut Session) -> f64 {
    let start = Instant::now();
    let trials = session.ask(10).expect("a batch");
    let seconds = start.elapsed().as_secs_f64();
    for trial in trials {
        session.tell(trial.id, Outcome::from(trial.id as f64)).expect("an outcome");
    }
    seconds
}

/// The memory that this process holds, where the system says so.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kilobytes)
}
