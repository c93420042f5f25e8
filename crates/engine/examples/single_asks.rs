//! How long do pairs of a single ask and a tell of `auto` take? Prints seconds for each of five parts of them, in three real dimensions.
//!
//! `cargo run --release -p wimble --example single_asks -- 10000`

use std::error::Error;
use std::io::Write as _;
use std::time::Instant;

use wimble::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let pairs: usize = std::env::args().nth(1).map_or(Ok(10_000), |word| word.parse())?;
    let names = ["x", "y", "z"];
    let space = SearchSpace::new(names.map(|name| Dimension::real(name, -1.0, 1.0)))?;
    let mut session = Session::new(space, Auto::default(), Direction::Minimise, Seed(0))?;
    let began = Instant::now();
    for part in 1..=5 {
        let before = Instant::now();
        for _ in 0..pairs / 5 {
            let trial = session.ask(1)?.remove(0);
            let mut value = 0.0;
            for name in names {
                value += (trial.configuration.real(name)? - 0.3).powi(2);
            }
            session.tell(trial.id, value)?;
        }
        let (done, seconds) = (part * (pairs / 5), before.elapsed().as_secs_f64());
        writeln!(out, "{done:>8} pairs: {seconds:.2} s for the last fifth")?;
    }
    let best = session.best().map_or(f64::NAN, |best| best.value);
    writeln!(out, "{:.2} s in all, best {best:e}", began.elapsed().as_secs_f64())?;
    Ok(())
}
