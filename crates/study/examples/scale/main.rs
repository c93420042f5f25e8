//! How far do SQLite and PostgreSQL go, in workers, trials a second and trials in all?
//!
//! usage: scale [--trials N] [--processes N] [--seconds S] ADDRESS...
//!        scale rate ADDRESS PROCESSES THREADS BATCH SECONDS
//!
//! Measures each storage with up to N processes (64) and up to N trials (a million), and goes on from there by a simulation
//! on virtual time with the measured costs. Prints the tables of docs/guide/scale.md.

mod extrapolation;
mod measurement;
#[path = "../workers/mod.rs"]
mod workers;

use std::error::Error;
use std::io::Write as _;

use extrapolation::Costs;
use measurement::{Cost, Place, Rate};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", address, study, name, threads, seconds] => {
            return measurement::work(address, study, name, threads.parse()?, seconds.parse()?);
        }
        ["rate", address, processes, threads, batch, seconds] => {
            let (processes, threads) = (processes.parse()?, threads.parse()?);
            let rate =
                Place::new(address).rate(processes, threads, batch.parse()?, seconds.parse()?)?;
            return say(&format!(
                "{processes} processes with {threads} threads, batches of {batch}: {rate:.0} trials/s"
            ));
        }
        ["reader", address, study] => return measurement::read(address, study),
        _ => {}
    }
    let (mut trials, mut processes, mut seconds, mut places) = (1_000_000, 64, 5.0, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().ok_or(format!("{argument} needs a number"));
        match argument.as_str() {
            "--trials" => trials = number()?.parse()?,
            "--processes" => processes = number()?.parse()?,
            "--seconds" => seconds = number()?.parse()?,
            _ => places.push(Place::new(argument)),
        }
    }
    if places.is_empty() {
        return Err("usage: scale [--trials N] [--processes N] [--seconds S] ADDRESS...".into());
    }
    for place in &places {
        let name = place.name();
        say(&format!("### {name}: trials a second\n"))?;
        let rates = place.rates(processes, seconds)?;
        rate_table(&rates)?;
        say(&format!("\n### {name}: calls, size and memory\n"))?;
        let mut costs = Vec::new();
        for size in [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|size| *size <= trials) {
            costs.push(place.costs(size)?);
        }
        cost_table(&costs)?;
        let (Some(last), Some(best)) =
            (costs.last(), rates.iter().map(|rate| rate.rate).max_by(f64::total_cmp))
        else {
            continue;
        };
        say(&format!("\n### {name}, beyond what was measured: extrapolated\n"))?;
        extrapolation::tables(&Costs::of(last, best), &costs)?;
        say("")?;
    }
    Ok(())
}

pub(crate) fn say(line: &str) -> Done<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

fn rate_table(rates: &[Rate]) -> Done<()> {
    say("| processes | batch | trials/s |\n|---:|---:|---:|")?;
    for Rate { processes, batch, rate } in rates {
        say(&format!("| {processes} | {batch} | {rate:.0} |"))?;
    }
    Ok(())
}

fn cost_table(costs: &[Cost]) -> Done<()> {
    say(
        "| trials | ask, queued | ask, proposed | tell | heartbeat | bytes a trial | first read | memory of a reader |\n|---:|---:|---:|---:|---:|---:|---:|---:|",
    )?;
    let ms = |seconds: f64| format!("{:.1} ms", seconds * 1e3);
    for cost in costs {
        say(&format!(
            "| {} | {} | {} | {} | {} | {:.0} | {:.1} s | {:.0} MB |",
            cost.trials,
            ms(cost.ask),
            ms(cost.propose),
            ms(cost.tell),
            ms(cost.heartbeat),
            cost.bytes_a_trial,
            cost.first_read,
            cost.memory / 1e6,
        ))?;
    }
    Ok(())
}
