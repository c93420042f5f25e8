//! How long does the first ask of a process take after so many trials? Prints seconds for `bore`, batches of ten.
//!
//! `cargo run --release -p wimble --example first_ask -- 10000 100000 1000000`

use std::error::Error;
use std::io::Write as _;
use std::time::Instant;

use wimble::history::History;
use wimble::points::Points;
use wimble::prelude::*;
use wimble::strategy::{Evidence, Memory};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let space = SearchSpace::new((0..3).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))?;
    for words in std::env::args().skip(1) {
        let Ok(trials) = words.parse::<usize>() else {
            eprintln!("{words} is no number of trials");
            continue;
        };
        let mut history = History::new(space.dim());
        let mut rng = Seed(1).stream("example", 0);
        for _ in 0..trials {
            let x = space.sample(&mut rng);
            let value: f64 = x.iter().map(|u| (u - 0.3).powi(2)).sum();
            history.push(&x, value)?;
        }
        let pending = Points::new(space.dim());
        let strategy = "bore".parse::<Spec>()?.build(10)?;
        let evidence =
            Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
        let mut memory = Memory::default();
        let mut seconds = [0.0; 2];
        for second in &mut seconds {
            let before = Instant::now();
            strategy.propose(evidence, 10, &mut memory)?;
            *second = before.elapsed().as_secs_f64();
        }
        let [first, next] = seconds;
        writeln!(out, "{trials:>8} trials: first ask {first:.2} s, next {next:.4} s")?;
    }
    Ok(())
}
