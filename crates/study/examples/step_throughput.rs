//! How many steps a second can many worker processes report through one store, and how long does a report take?
//!
//! usage: step_throughput ADDRESS WORKERS RATE SECONDS
//!
//! Creates a study with a fidelity, starts the workers, lets them begin together once all are connected, and prints a line of
//! JSON. Each worker has one trial and reports RATE / WORKERS steps a second, those of a fifth of a second in one call, as
//! the runner does; RATE 0 means as many as go through, one in each call. Every step is checked in the end.

mod workers;

use std::error::Error;
use std::io::{BufRead as _, Read as _, Write as _};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use wimble::prelude::*;
use wimble_study::{Settings, Study};

/// Between two calls of a worker.
const ROUND: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [address, workers, rate, seconds] => {
            measure(address, workers.parse()?, rate.parse()?, seconds.parse()?)
        }
        [address, name, worker, rate, seconds, "worker"] => {
            work(address, name, worker, rate.parse()?, Duration::from_secs_f64(seconds.parse()?))
        }
        _ => Err("usage: step_throughput ADDRESS WORKERS RATE SECONDS".into()),
    }
}

fn measure(address: &str, workers: usize, rate: f64, seconds: f64) -> Result<(), Box<dyn Error>> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let name = format!("steps-{}", since.as_millis());
    let space = SearchSpace::new([Dimension::real("x", -2.0, 2.0)])?;
    let settings = Settings::new(&name, space, "random".parse()?)
        .goal(Goal::default().fidelity("steps", 1.0, 1e9)?)
        .budget(workers as u64)
        .batch_size(workers);
    let study = Study::open_or_create(wimble_study::open(address)?, settings)?;
    let own_rate = rate / workers as f64;
    let mut children = Vec::new();
    for worker in 0..workers {
        let (worker, rate, seconds) =
            (format!("w{worker}"), own_rate.to_string(), seconds.to_string());
        children.push(workers::spawn([address, &name, &worker, &rate, &seconds, "worker"])?);
    }
    let start = workers::begin(&mut children)?;
    let (mut reported, mut took) = (0, Vec::new());
    for child in &mut children {
        for line in child.1.by_ref().lines() {
            let line = line?;
            match line.split_once(' ') {
                Some(("steps", count)) => reported += count.parse::<u64>()?,
                Some(("call", millis)) => took.push(millis.parse::<f64>()?),
                _ => {}
            }
        }
        workers::join(child)?;
    }
    let elapsed = start.elapsed().as_secs_f64();
    let (mut stored, mut sequence) = (0, 0);
    loop {
        let page = study.store().steps_since(&name, sequence, 10_000)?;
        let Some(last) = page.last() else { break };
        if page.iter().zip(sequence + 1..).any(|(step, number)| step.sequence != number) {
            return Err("the numbers of the steps skip".into());
        }
        (stored, sequence) = (stored + page.len() as u64, last.sequence);
    }
    if stored != reported {
        return Err(format!("{reported} steps were acknowledged, {stored} are stored").into());
    }
    took.sort_by(f64::total_cmp);
    let quantile = |share: f64| took.get((took.len() as f64 * share) as usize).copied();
    writeln!(
        std::io::stdout(),
        "{}",
        serde_json::json!({
            "workers": workers, "steps": stored, "seconds": elapsed, "rate": stored as f64 / elapsed,
            "calls": took.len(), "median_ms": quantile(0.5), "p99_ms": quantile(0.99),
        })
    )?;
    Ok(())
}

fn work(
    address: &str,
    name: &str,
    worker: &str,
    rate: f64,
    time: Duration,
) -> Result<(), Box<dyn Error>> {
    let study = Study::open(wimble_study::open(address)?, name)?;
    let claim = study.ask(worker, worker, 1)?.pop().ok_or("no trial")?;
    let mut out = std::io::stdout();
    writeln!(out, "ready")?;
    std::io::stdin().read_line(&mut String::new())?;
    let (start, mut reported) = (Instant::now(), 0_u64);
    let mut calls = Vec::new();
    while start.elapsed() < time {
        let due = match rate > 0.0 {
            true => (start.elapsed().as_secs_f64() * rate) as u64,
            false => reported + 1,
        };
        let step = |at: u64| Measurement { fidelity: Some(at as f64), ..(1.0 / at as f64).into() };
        let steps: Vec<Measurement> = (reported + 1..=due).map(step).collect();
        if !steps.is_empty() {
            let called = Instant::now();
            study.report(claim.token, &steps)?;
            calls.push(called.elapsed());
            reported = due;
        }
        if rate > 0.0 {
            sleep(ROUND);
        }
    }
    writeln!(out, "steps {reported}")?;
    for call in calls {
        writeln!(out, "call {}", call.as_secs_f64() * 1e3)?;
    }
    Ok(())
}
