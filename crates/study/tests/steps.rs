//! Steps through killed processes, on SQLite and PostgreSQL: every step that was acknowledged is there, once, in order.
//!
//! The test binary runs itself as a worker: with [`STORE`] in its environment, the test [`worker`] works on the study there
//! and prints a line for each step and each tell once that was acknowledged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

mod children;
mod server;

use std::io::Write as _;
use std::thread::sleep;
use std::time::Duration;

use children::{RUN, STORE, this_binary};
use wimble::internals::below;
use wimble::prelude::*;
use wimble::stopping::Rule;
use wimble_study::{Error, Filter, Follower, Settings, Study};

const LEASE: Duration = Duration::from_millis(500);
const HIGHEST: u32 = 20;

/// What every evaluation of a trial measures at a step.
fn step(trial: u64, at: u32) -> Measurement {
    Measurement { fidelity: Some(f64::from(at)), ..(trial as f64 + 1.0 / f64::from(at)).into() }
}

/// The worker that the tests below start; on its own it does nothing.
#[test]
fn worker() {
    let Ok(address) = std::env::var(STORE) else { return };
    let run = std::env::var(RUN).unwrap();
    let study = Study::open(wimble_study::open(&address).unwrap(), "s").unwrap();
    let say = |line: String| {
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
    };
    for i in 0.. {
        let claims = study.ask(&run, &format!("{run}-{i}"), 1).unwrap();
        let Some(claim) = claims.first() else { break };
        let trial = claim.trial;
        for at in 1..=HIGHEST {
            match study.report(claim.token, &[step(trial, at)]) {
                Ok(()) => say(format!("ack {trial} {at}\n")),
                // The lease ran out while the machine was busy.
                Err(Error::LeaseLost { .. }) => break,
                Err(error) => panic!("{error}"),
            }
        }
        match study.tell(claim.token, &step(trial, HIGHEST).into(), &run) {
            Ok(()) | Err(Error::LeaseLost { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

type Worker = children::Worker<u32>;

fn kill_workers(back_end: &str, address: &str, kills: usize) {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    let goal = Goal::default().fidelity("epochs", 1.0, f64::from(HIGHEST)).unwrap();
    let settings = Settings::new("s", space, "random".parse().unwrap())
        .goal(goal)
        .budget(1_000_000)
        .retries(1_000)
        .lease(LEASE)
        .stopping(Rule::Median);
    let store = wimble_study::open(address).unwrap();
    let study = Study::open_or_create(store, settings.clone()).unwrap();
    // One that follows while they work, and one that reads everything in the end.
    let mut eager = Follower::new(&settings);
    let mut rng = Seed(5).stream("kills", 0);
    let mut workers: Vec<Worker> =
        (0..4).map(|run| Worker::start(this_binary(), address, run)).collect();
    let mut acks = Vec::new();
    for kill in 0..kills {
        sleep(Duration::from_millis(50 + below(&mut rng, 200) as u64));
        let place = below(&mut rng, workers.len());
        let mut killed =
            std::mem::replace(&mut workers[place], Worker::start(this_binary(), address, kill + 4));
        killed.child.kill().unwrap();
        assert!(!killed.child.wait().unwrap().success(), "it was killed, and did not end itself");
        acks.extend(killed.acks.join().unwrap());
        eager.catch_up(&**study.store()).unwrap();
    }
    for mut worker in workers {
        worker.child.kill().unwrap();
        worker.child.wait().unwrap();
        acks.extend(worker.acks.join().unwrap());
    }
    assert!(acks.len() > 10 * kills, "only {} steps: the workers hardly worked", acks.len());
    eager.catch_up(&**study.store()).unwrap();
    let mut late = Follower::new(&settings);
    late.catch_up(&**study.store()).unwrap();
    assert_eq!(eager.told(), late.told());
    let (mut stored, mut begun_again) = (0, 0);
    for trial in study.trials(&Filter::default()).unwrap() {
        let steps = study.steps(trial.id).unwrap();
        let measured: Vec<Measurement> = steps.iter().map(|s| s.measurement.clone()).collect();
        // All measure the same, so that a trial that begins anew repeats what is there: no gap, no step twice.
        let expected: Vec<Measurement> =
            (1..=steps.len() as u32).map(|at| step(trial.id, at)).collect();
        assert_eq!(measured, expected, "trial {}", trial.id);
        if trial.outcome().is_some() {
            assert_eq!(steps.len() as u32, HIGHEST, "trial {} was told before its steps", trial.id);
        }
        for follower in [&eager, &late] {
            assert_eq!(follower.curve(trial.id), measured, "trial {}", trial.id);
        }
        let furthest = acks.iter().filter(|ack| ack.0 == trial.id).map(|ack| ack.1).max();
        assert!(furthest.unwrap_or(0) as usize <= steps.len(), "trial {} lost steps", trial.id);
        begun_again += usize::from(acks.iter().filter(|ack| **ack == (trial.id, 1)).count() > 1);
        stored += steps.len();
    }
    let all = study.store().steps_since("s", 0, usize::MAX).unwrap();
    assert_eq!(all.len(), stored);
    assert!(all.windows(2).all(|pair| pair[0].sequence + 1 == pair[1].sequence), "numbers skip");
    println!(
        "{back_end}: {} steps acknowledged through {kills} kills, {stored} stored; {begun_again} trials begun again",
        acks.len()
    );
    assert!(begun_again > 0, "no trial was begun again");
}

#[test]
fn killed_processes_lose_no_step_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    kill_workers("SQLite", folder.path().join("studies.db").to_str().unwrap(), 30);
}

#[test]
fn killed_processes_lose_no_step_of_a_database() {
    if let Some(address) = server::schema("steps and kills") {
        kill_workers("PostgreSQL", &address, 30);
    }
}
