//! How many steps a second can many worker processes report through one store, and how long does a report take?
//!
//! usage: step_throughput ADDRESS WORKERS RATE SECONDS [KILLS]
//!
//! Creates a study with a fidelity, starts the workers, lets them begin together once all are connected, and prints a line of
//! JSON. Each worker has one trial and reports RATE / WORKERS steps a second, those of a fifth of a second in one call, as
//! the runner does; RATE 0 means as many as go through, one in each call. KILLS of the workers are killed on the way, and
//! replaced. In the end every step that was acknowledged must be there, once and in order.

mod workers;

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant, SystemTime};

use wimble::prelude::*;
use wimble_study::{Settings, Study};
use workers::Worker;

/// Between two calls of a worker.
const ROUND: Duration = Duration::from_millis(200);
const USAGE: &str = "usage: step_throughput ADDRESS WORKERS RATE SECONDS [KILLS]";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [address, workers, rate, seconds] => {
            measure(address, workers.parse()?, rate.parse()?, seconds.parse()?, 0)
        }
        [address, workers, rate, seconds, kills] => {
            measure(address, workers.parse()?, rate.parse()?, seconds.parse()?, kills.parse()?)
        }
        [address, name, worker, rate, seconds, "worker"] => {
            work(address, name, worker, rate.parse()?, Duration::from_secs_f64(seconds.parse()?))
        }
        _ => Err(USAGE.into()),
    }
}

/// What a worker says of its trial.
#[derive(Default)]
struct Said {
    trial: Option<u64>,
    /// Steps that were acknowledged.
    acknowledged: usize,
    /// How long each call took, in milliseconds.
    calls: Vec<f64>,
}

/// Reads what a worker prints after it began, so that it never waits for a reader.
fn listen((child, output): Worker) -> (std::process::Child, JoinHandle<Said>) {
    let reader = std::thread::spawn(move || {
        let mut said = Said::default();
        for line in output.lines().map_while(Result::ok) {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["trial", trial] => said.trial = trial.parse().ok(),
                ["call", count, millis] => {
                    said.acknowledged = count.parse().unwrap_or(0);
                    said.calls.extend(millis.parse::<f64>());
                }
                _ => {}
            }
        }
        said
    });
    (child, reader)
}

fn measure(
    address: &str,
    workers: usize,
    rate: f64,
    seconds: f64,
    kills: usize,
) -> Result<(), Box<dyn Error>> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let name = format!("steps-{}", since.as_millis());
    let space = SearchSpace::new([Dimension::real("x", -2.0, 2.0)])?;
    let settings = Settings::new(&name, space, "random".parse()?)
        .goal(Goal::default().fidelity("steps", 1.0, 1e9)?)
        .budget((workers + kills) as u64)
        .batch_size(workers);
    let study = Study::open_or_create(wimble_study::open(address)?, settings)?;
    let own_rate = (rate / workers as f64).to_string();
    let spawn = |worker: usize, seconds: f64| {
        let (worker, seconds) = (format!("w{worker}"), seconds.to_string());
        workers::spawn([address, &name, &worker, &own_rate, &seconds, "worker"])
    };
    let mut all: Vec<Worker> =
        (0..workers).map(|worker| spawn(worker, seconds)).collect::<Result<_, _>>()?;
    let start = workers::begin(&mut all)?;
    let mut running: Vec<_> = all.into_iter().map(listen).collect();
    let mut ended = Vec::new();
    for kill in 0..kills {
        let at = seconds * (kill + 1) as f64 / (kills + 1) as f64;
        sleep(Duration::from_secs_f64((at - start.elapsed().as_secs_f64()).max(0.0)));
        let left = (seconds - start.elapsed().as_secs_f64()).max(0.0);
        let mut other = [spawn(workers + kill, left)?];
        let place = kill % workers;
        running[place].0.kill()?;
        workers::begin(&mut other)?;
        let [other] = other;
        let (mut child, reader) = std::mem::replace(&mut running[place], listen(other));
        child.wait()?;
        ended.push((false, reader));
    }
    for (mut child, reader) in running {
        workers::join(&mut child)?;
        ended.push((true, reader));
    }
    let elapsed = start.elapsed().as_secs_f64();
    let (mut stored, mut took) = (0, Vec::new());
    for (ended_itself, reader) in ended {
        let Said { trial, acknowledged, calls } = reader.join().map_err(|_| "a reader failed")?;
        took.extend(calls);
        // One that was killed may not have said which trial it had.
        let Some(trial) = trial else { continue };
        let steps = study.steps(trial)?;
        let in_order = steps.iter().zip(1..).all(|(found, at)| found.measurement == step(at));
        let complete = match ended_itself {
            true => steps.len() == acknowledged,
            // The last call of one that was killed may have gone through.
            false => steps.len() >= acknowledged,
        };
        if !in_order || !complete {
            let found = steps.len();
            return Err(format!("trial {trial}: {acknowledged} acknowledged, {found} found").into());
        }
        stored += steps.len();
    }
    let mut sequence = 0;
    loop {
        let page = study.store().steps_since(&name, sequence, 10_000)?;
        let Some(last) = page.last() else { break };
        if page.iter().zip(sequence + 1..).any(|(step, number)| step.sequence != number) {
            return Err("the numbers of the steps skip".into());
        }
        sequence = last.sequence;
    }
    if stored as u64 != sequence {
        return Err(format!("trials have {stored} steps, the study has {sequence}").into());
    }
    took.sort_by(f64::total_cmp);
    let quantile = |share: f64| took.get((took.len() as f64 * share) as usize).copied();
    writeln!(
        std::io::stdout(),
        "{}",
        serde_json::json!({
            "workers": workers, "kills": kills, "steps": stored, "seconds": elapsed,
            "rate": stored as f64 / elapsed, "calls": took.len(), "median_ms": quantile(0.5),
            "p99_ms": quantile(0.99),
        })
    )?;
    Ok(())
}

/// What every trial measures at a step.
fn step(at: u64) -> Measurement {
    Measurement { fidelity: Some(at as f64), ..(1.0 / at as f64).into() }
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
    writeln!(out, "trial {}", claim.trial)?;
    let (start, mut reported) = (Instant::now(), 0_u64);
    while start.elapsed() < time {
        let due = match rate > 0.0 {
            true => (start.elapsed().as_secs_f64() * rate) as u64,
            false => reported + 1,
        };
        let steps: Vec<Measurement> = (reported + 1..=due).map(step).collect();
        if !steps.is_empty() {
            let called = Instant::now();
            study.report(claim.token, &steps)?;
            let millis = called.elapsed().as_secs_f64() * 1e3;
            writeln!(out, "call {due} {millis}")?;
            reported = due;
        }
        if rate > 0.0 {
            sleep(ROUND);
        }
    }
    Ok(())
}
