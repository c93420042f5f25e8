//! A whole `ask(10)` of `auto` at two lengths of history, in 6, 10 and 20 dimensions: its cost must stay flat.
//!
//! The two sessions take turns, so that a busy machine slows both alike; the least and the median time of each, their ratio, and
//! the time of the first ask, which reads all of history, are printed.
#![allow(clippy::print_stdout, reason = "the output is the benchmark's purpose")]

mod sphere;

use wimble::prelude::*;

use sphere::{ask, in_turns, session};

const DIMS: [usize; 3] = [6, 10, 20];
const LENGTHS: [usize; 2] = [2_000, 1_000_000];
const ROUNDS: usize = 60;

fn main() {
    if !sphere::is_bench() {
        return;
    }
    for dim in DIMS {
        let mut sessions = LENGTHS.map(|len| session(Auto::default(), dim, len));
        for (session, len) in sessions.iter_mut().zip(LENGTHS) {
            println!("auto_{dim}d_n{len}: first ask {:.2} s", ask(session));
        }
        let [short, long] = in_turns(&mut sessions, ROUNDS);
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
