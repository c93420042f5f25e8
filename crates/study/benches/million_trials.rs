//! What a study of 1,000,000 trials costs, beside one of 1,000: opening, asking for 10, telling, listing the best and
//! the counts.
//!
//! ```text
//! cargo bench --package wimble-study --bench million_trials [-- TRIALS]
//! ```
//!
//! SQLite in a temporary folder; also PostgreSQL where `WIMBLE_TEST_POSTGRES` names a server. The methods have a flat
//! cost of their own: `random`, and BORE with its perceptron. Medians of 21 calls, after the first, which reads the
//! history.

use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};

use wimble::prelude::*;
use wimble_study::{Addition, Outcome, Settings, Study};

const SMALL: u64 = 1_000;
const LARGE: u64 = 1_000_000;
const CALLS: usize = 21;
const ASKED: usize = 10;
const METHODS: [&str; 2] = ["random", "bore classifier=perceptron"];

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let large = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let folder = tempfile::tempdir()?;
    let mut places = vec![("SQLite", folder.path().join("studies.db").display().to_string())];
    if let Ok(server) = std::env::var("WIMBLE_TEST_POSTGRES") {
        let joint = if server.contains('?') { '&' } else { '?' };
        let schema = format!("million_{}", std::process::id());
        places.push(("PostgreSQL", format!("{server}{joint}schema={schema}")));
    }
    for (back_end, address) in places {
        for method in METHODS {
            let mut asks = Vec::new();
            for trials in [SMALL, large.unwrap_or(LARGE)] {
                let name = format!("{method} at {trials}");
                let start = Instant::now();
                fill(&address, &name, method, trials)?;
                say(&format!("{back_end}, {name} trials: filled in {:.1?}", start.elapsed()))?;
                asks.push(measure(&address, &name)?);
            }
            let ratio = asks[1].as_secs_f64() / asks[0].as_secs_f64();
            say(&format!("{back_end}, {method}: asking costs {ratio:.2} times as much\n"))?;
        }
    }
    Ok(())
}

fn say(line: &str) -> Done<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// A study of so many finished trials.
fn fill(address: &str, name: &str, method: &str, trials: u64) -> Done<()> {
    let space = SearchSpace::new([
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::integer("layers", 1, 8),
        Dimension::real("momentum", 0.0, 1.0),
    ])?;
    let settings = Settings::new(name, space, method.parse()?).budget(10_000).batch_size(ASKED);
    let study = Study::open_or_create(wimble_study::open(address)?, settings)?;
    let mut rng = Seed(1).stream("fill", 0);
    let mut next = 0;
    while next < trials {
        let chunk: Vec<Addition> = (next..trials.min(next + 5_000))
            .map(|trial| {
                let x = study.settings().space.sample(&mut rng);
                let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
                let configuration = study.settings().space.decode(&x);
                Addition::finished(trial.to_string(), configuration, Outcome::Value(value))
            })
            .collect();
        next += chunk.len() as u64;
        study.add(&chunk)?;
    }
    Ok(())
}

/// Prints medians; gives that of asking.
fn measure(address: &str, name: &str) -> Done<Duration> {
    let start = Instant::now();
    let study = Study::open(wimble_study::open(address)?, name)?;
    let opened = start.elapsed();
    let start = Instant::now();
    let first = study.ask("w", "first", ASKED)?;
    let loaded = start.elapsed();
    for claim in &first {
        study.tell(claim.token, &Outcome::Value(1.0), "t")?;
    }
    let (mut asks, mut tells, mut bests, mut counts) = (vec![], vec![], vec![], vec![]);
    for call in 0..CALLS {
        let start = Instant::now();
        let claims = study.ask("w", &format!("k{call}"), ASKED)?;
        asks.push(start.elapsed());
        for claim in &claims {
            let start = Instant::now();
            study.tell(claim.token, &Outcome::Value(1.0), "t")?;
            tells.push(start.elapsed());
        }
        let start = Instant::now();
        assert_eq!(study.best_trials(10)?.len(), 10);
        bests.push(start.elapsed());
        let start = Instant::now();
        study.counts()?;
        counts.push(start.elapsed());
    }
    let ask = median(&mut asks);
    say(&format!(
        "  open {opened:.1?}, first ask {loaded:.1?}; then ask(10) {ask:.1?}, tell {:.1?}, best(10) {:.1?}, \
         counts {:.1?}",
        median(&mut tells),
        median(&mut bests),
        median(&mut counts),
    ))?;
    Ok(ask)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
