//! A whole `ask(10)` of batch BORE with the paper's settings, at two lengths of history: its cost must stay flat.
//!
//! The two sessions take turns, so that a busy machine slows both alike; the least and the median time of each, their
//! ratio, and the memory of a trial are printed.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

mod sphere;

use wimble::prelude::*;

use sphere::{ask, in_turns, session};

const LENGTHS: [(&str, usize); 2] =
    [("ask10_bore_svgd_6d_n2000", 2_000), ("ask10_bore_svgd_6d_n200000", 200_000)];
const ROUNDS: usize = 100;

fn main() {
    if !sphere::is_bench() {
        return;
    }
    let before = resident_bytes();
    let mut sessions = LENGTHS.map(|(_, len)| session(Bore::batch(), 6, len));
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let trials: usize = LENGTHS.iter().map(|(_, len)| len).sum();
        println!("memory: {} bytes a trial", (after - before) / trials);
    }
    // The first ask trains through the kept fits once.
    for session in &mut sessions {
        ask(session);
    }

    let [short, long] = in_turns(&mut sessions, ROUNDS);
    for ((name, _), [least, median]) in LENGTHS.iter().zip([short, long]) {
        println!("{name}: least {:.2} ms, median {:.2} ms", 1e3 * least, 1e3 * median);
    }
    println!("ratio: least {:.2}, median {:.2}", long[0] / short[0], long[1] / short[1]);
}

/// The memory that this process holds, where the system says so.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kilobytes)
}
