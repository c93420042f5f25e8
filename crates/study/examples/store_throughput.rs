//! How many trials a second can many worker processes ask and tell through one store?
//!
//! usage: store_throughput ADDRESS WORKERS TRIALS [BATCH]
//!
//! BATCH is the study's batch size; without it, as many as there are workers.
//!
//! Creates a study, starts the workers, lets them begin together once all are connected, and prints a line of JSON.
//! The method is `random` and the objective a parabola: what is measured is the store.

mod workers;

use std::error::Error;
use std::io::Write as _;
use std::time::SystemTime;

use wimble::prelude::*;
use wimble_study::{Outcome, Settings, Study};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", address, name, worker] => work(address, name, worker),
        [address, workers, trials] => {
            measure(address, workers.parse()?, trials.parse()?, workers.parse()?)
        }
        [address, workers, trials, batch] => {
            measure(address, workers.parse()?, trials.parse()?, batch.parse()?)
        }
        _ => Err("usage: store_throughput ADDRESS WORKERS TRIALS [BATCH]".into()),
    }
}

fn measure(address: &str, workers: usize, trials: u64, batch: usize) -> Result<(), Box<dyn Error>> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let name = format!("throughput-{}", since.as_millis());
    let space =
        SearchSpace::new([Dimension::real("x", -2.0, 2.0), Dimension::real("y", -2.0, 2.0)])?;
    let settings = Settings::new(&name, space, "random".parse()?).budget(trials).batch_size(batch);
    let study = Study::open_or_create(wimble_study::open(address)?, settings)?;
    let mut children = Vec::new();
    for worker in 0..workers {
        children.push(workers::spawn(["worker", address, &name, &format!("w{worker}")])?);
    }
    let start = workers::begin(&mut children)?;
    children.iter_mut().try_for_each(|(child, _)| workers::join(child))?;
    let seconds = start.elapsed().as_secs_f64();
    let counts = study.counts()?;
    if counts.valued != trials {
        return Err(format!("{} of {trials} trials have a value", counts.valued).into());
    }
    let rate = trials as f64 / seconds;
    writeln!(
        std::io::stdout(),
        r#"{{"workers":{workers},"batch":{batch},"trials":{trials},"seconds":{seconds:.3},"rate":{rate:.1}}}"#
    )?;
    Ok(())
}

fn work(address: &str, name: &str, worker: &str) -> Result<(), Box<dyn Error>> {
    let study = Study::open(wimble_study::open(address)?, name)?;
    writeln!(std::io::stdout(), "ready")?;
    std::io::stdin().read_line(&mut String::new())?;
    for i in 0.. {
        let claims = study.ask(worker, &format!("{worker}-{i}"), 1)?;
        let Some(claim) = claims.first() else { break };
        let square = |name: &str| match claim.configuration.get(name) {
            Some(Value::Real(value)) => value * value,
            _ => 0.0,
        };
        study.tell(claim.token, &Outcome::from(square("x") + square("y")), "t")?;
    }
    Ok(())
}
