//! Beyond what was measured: workers on virtual time, on the shipped rules of the store, with the measured costs of calls.
//!
//! The storage serves one call at a time, in the order in which calls come. A trial costs it as much as it does at the best
//! rate that was measured, shared between its ask and its tell; a heartbeat costs as much of a tell as its latency says.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

use wimble::internals::uniform;
use wimble::prelude::*;
use wimble_study::store::Ask;
use wimble_study::{ManualClock, Memory, Outcome, Settings, Store, Study, Timestamp, Token};

use super::measurement::Cost;
use super::{Done, say};

/// The length of a lease, and how often a worker sends heartbeats: those of a study by default, in milliseconds.
const LEASE: u64 = 60_000;
const BEAT: u64 = 15_000;
/// Evaluations that every worker makes.
const ROUNDS: u64 = 6;

/// What calls cost the storage, in milliseconds.
pub struct Costs {
    ask: f64,
    tell: f64,
    heartbeat: f64,
}

impl Costs {
    pub fn of(cost: &Cost, best_rate: f64) -> Self {
        let trial = 1e3 / best_rate;
        let share = cost.ask / (cost.ask + cost.tell);
        let tell = trial * (1.0 - share);
        Self { ask: trial * share, tell, heartbeat: tell * (cost.heartbeat / cost.tell).min(1.0) }
    }
}

/// What came of a simulation.
struct Outlook {
    rate: f64,
    /// The longest time that a heartbeat waited, in seconds.
    late: f64,
    /// Evaluations whose trials others had taken.
    wasted: u64,
}

/// `measured` has the costs at growing numbers of trials.
pub fn tables(costs: &Costs, measured: &[Cost]) -> Done<()> {
    say(
        "| workers | evaluation | trials/s | of what they could do | longest wait of a heartbeat | evaluations wasted |\n|---:|---:|---:|---:|---:|---:|",
    )?;
    for workers in [100, 1_000, 10_000] {
        for evaluation in [1, 10, 60, 600] {
            let Outlook { rate, late, wasted } = simulate(workers, evaluation * 1_000, costs)?;
            let possible = workers as f64 / evaluation as f64;
            say(&format!(
                "| {workers} | {evaluation} s | {rate:.1} | {:.0} % | {late:.1} s | {wasted} |",
                100.0 * rate / possible
            ))?;
        }
    }
    say(
        "\n| trials | size | first read of a process | memory of a process |\n|---:|---:|---:|---:|",
    )?;
    let [first, .., last] = measured else { return Ok(()) };
    // A process needs some memory without any trial.
    let each = (last.memory - first.memory) / (last.trials - first.trials) as f64;
    for trials in [1e7, 1e8] {
        let times = trials / last.trials as f64;
        say(&format!(
            "| {trials:.0e} | {:.0} GB | {:.0} min | {:.1} GB |",
            last.bytes_a_trial * trials / 1e9,
            last.first_read * times / 60.0,
            (last.memory + each * (trials - last.trials as f64)) / 1e9
        ))?;
    }
    Ok(())
}

/// What a worker does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Ask,
    Beat(Token),
    Tell(Token),
}

fn simulate(workers: u64, evaluation: u64, costs: &Costs) -> Done<Outlook> {
    let clock = ManualClock::default();
    let store: Arc<dyn Store> = Arc::new(Memory::new(clock.clone()));
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)])?;
    let settings = Settings::new("s", space, "random".parse()?)
        .budget(workers * ROUNDS)
        .batch_size(128)
        .retries(1_000)
        .lease(Duration::from_millis(LEASE));
    let study = Study::open_or_create(store, settings)?;
    // Times in microseconds, then who and what; the first comes first.
    let mut events = BinaryHeap::new();
    let mut rng = Seed(1).stream("scale", workers);
    let mut asks = vec![0_u64; workers as usize];
    for worker in 0..workers {
        let start = (uniform(&mut rng) * evaluation as f64 * 1e3) as u64;
        events.push(Reverse((start, worker, Step::Ask)));
    }
    let (mut free, mut told, mut wasted, mut late) = (0_u64, Vec::new(), 0, 0);
    while let Some(Reverse((at, worker, step))) = events.pop() {
        let cost = match step {
            Step::Ask => costs.ask,
            Step::Beat(_) => costs.heartbeat,
            Step::Tell(_) => costs.tell,
        };
        let done = free.max(at) + (cost * 1e3) as u64;
        free = done;
        clock.set(Timestamp((done / 1_000) as i64));
        let name = format!("w{worker}");
        match step {
            Step::Ask => {
                asks[worker as usize] += 1;
                let key = format!("{name}-{}", asks[worker as usize]);
                let ask = Ask {
                    worker: &name,
                    incarnation: None,
                    key: &key,
                    wanted: 1,
                    fresh: false,
                    plans: false,
                };
                if let Some(claim) = study.ask_with(&ask)?.first() {
                    let takes = (evaluation as f64 * (0.5 + uniform(&mut rng)) * 1e3) as u64;
                    events.push(Reverse((done + takes, worker, Step::Tell(claim.token))));
                    let mut beat = BEAT * 1_000;
                    while beat < takes {
                        events.push(Reverse((done + beat, worker, Step::Beat(claim.token))));
                        beat += BEAT * 1_000;
                    }
                }
            }
            Step::Beat(token) => {
                late = late.max(done - at);
                // A refusal is seen by the tell that follows.
                let _ = study.heartbeat(token);
            }
            Step::Tell(token) => {
                match study.tell(token, &Outcome::from(1.0), "t") {
                    Ok(()) => told.push(done),
                    Err(_) => wasted += 1,
                }
                events.push(Reverse((done, worker, Step::Ask)));
            }
        }
    }
    // Not at the beginning nor at the end, when not all workers are at work.
    let [from, to] = [told.len() / 4, told.len() / 2];
    let rate = (to - from) as f64 * 1e6 / (told[to] - told[from]).max(1) as f64;
    Ok(Outlook { rate, late: late as f64 / 1e6, wasted })
}
