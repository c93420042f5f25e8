//! Many processes on one file of SQLite: each trial is told once, and killing any of them loses nothing that was
//! acknowledged.
//!
//! The test binary runs itself as a worker: with [`FILE`] in its environment, the test [`worker`] works on the study
//! there, and prints a line for each tell once that was acknowledged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use wimble::prelude::*;
use wimble::seed::below;
use wimble_study::store::Stage;
use wimble_study::{Filter, Outcome, Settings, Sqlite, State, Study};

const FILE: &str = "WIMBLE_TEST_FILE";
const WORKER: &str = "WIMBLE_TEST_WORKER";
const RUN: &str = "WIMBLE_TEST_RUN";

/// The worker that the tests below start; on its own it does nothing.
#[test]
fn worker() {
    let Ok(file) = std::env::var(FILE) else { return };
    let (worker, run) = (std::env::var(WORKER).unwrap(), std::env::var(RUN).unwrap());
    let study = Study::open(Arc::new(Sqlite::at(file).unwrap()), "shared").unwrap();
    for i in 0.. {
        let claims = study.ask(&worker, &format!("{run}-{i}"), 1).unwrap();
        let Some(claim) = claims.first() else { break };
        // A value that no other tell has.
        let value = run.parse::<f64>().unwrap() * 1e6 + f64::from(i);
        match study.tell(claim.token, &Outcome::Value(value), &run) {
            Ok(()) => {
                let line = format!("ack {} {value}\n", claim.trial);
                std::io::stdout().write_all(line.as_bytes()).unwrap();
                std::io::stdout().flush().unwrap();
            }
            // Under heavy load a lease can run out; its trial comes back.
            Err(wimble_study::Error::LeaseLost { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

struct Worker {
    child: Child,
    acks: JoinHandle<Vec<(u64, f64)>>,
}

fn start(file: &Path, worker: &str, run: usize) -> Worker {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["worker", "--exact", "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .env(WORKER, worker)
        .env(RUN, run.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let acks = std::thread::spawn(move || {
        let (mut acks, mut line) = (Vec::new(), String::new());
        // The harness prints before and after; what was cut off by a kill was not acknowledged.
        while lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            if let Some((_, ack)) = line.trim_end().split_once("ack ") {
                let (trial, value) = ack.split_once(' ').unwrap();
                acks.push((trial.parse().unwrap(), value.parse().unwrap()));
            }
            line.clear();
        }
        acks
    });
    Worker { child, acks }
}

fn study(file: &Path, budget: u64, lease: Duration) -> Study {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::integer("n", 0, 9)]);
    let settings = Settings::new("shared", space.unwrap(), "random".parse().unwrap())
        .budget(budget)
        .batch_size(3)
        .retries(1_000)
        .lease(lease);
    Study::open_or_create(Arc::new(Sqlite::at(file).unwrap()), settings).unwrap()
}

/// Every acknowledged value is there, once; no point was given to two trials.
fn check(study: &Study, acks: &[(u64, f64)]) {
    let trials = study.trials(&Filter::default()).unwrap();
    let points: BTreeSet<String> = trials.iter().map(|t| t.configuration.to_string()).collect();
    assert_eq!(points.len(), trials.len(), "no point is given twice");
    let acked: BTreeMap<u64, f64> = acks.iter().copied().collect();
    assert_eq!(acked.len(), acks.len(), "no trial is acknowledged twice");
    for (&trial, &value) in &acked {
        assert_eq!(trials[trial as usize].outcome(), Some(&Outcome::Value(value)));
    }
}

#[test]
fn eight_threads_with_connections_of_their_own_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("studies.db");
    let acks: Vec<(u64, f64)> = std::thread::scope(|scope| {
        let work = |thread: u32| {
            let file = &file;
            move || {
                // All make the file and the study at once.
                let study = study(file, 200, Duration::from_secs(60));
                let (name, mut acks) = (format!("w{thread}"), Vec::new());
                for i in 0.. {
                    let claims = study.ask(&name, &format!("{name}-{i}"), 2).unwrap();
                    for claim in &claims {
                        let value = f64::from(thread * 1_000_000 + i) + claim.trial as f64 / 1024.0;
                        study.tell(claim.token, &Outcome::Value(value), "t").unwrap();
                        acks.push((claim.trial, value));
                    }
                    if claims.is_empty() {
                        break;
                    }
                }
                acks
            }
        };
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(acks.len(), 200);
    check(&study(&file, 200, Duration::from_secs(60)), &acks);
}

#[test]
fn eight_processes_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("studies.db");
    let study = study(&file, 800, Duration::from_secs(60));
    let start_time = Instant::now();
    let workers: Vec<Worker> = (0..8).map(|i| start(&file, &format!("w{i}"), i + 1)).collect();
    let (mut acks, mut shares) = (Vec::new(), Vec::new());
    for mut worker in workers {
        assert!(worker.child.wait().unwrap().success(), "a worker failed");
        let told = worker.acks.join().unwrap();
        shares.push(told.len());
        acks.extend(told);
    }
    println!("800 trials by 8 processes, {shares:?}, in {:?}", start_time.elapsed());
    assert_eq!(acks.len(), 800);
    assert_eq!(study.progress().unwrap().finished, 800);
    check(&study, &acks);
}

#[test]
fn killed_processes_lose_nothing_that_was_acknowledged() {
    const KILLS: usize = 30;
    const LEASE: Duration = Duration::from_millis(500);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("studies.db");
    let study = study(&file, 1_000_000, LEASE);
    let mut rng = Seed(5).stream("kills", 0);
    // Workers in even places are restarted under their own name, the others leave their trials behind.
    let name = |place: usize, run: usize| match place % 2 {
        0 => format!("place-{place}"),
        _ => format!("run-{run}"),
    };
    let mut workers: Vec<Worker> = (0..4).map(|i| start(&file, &name(i, i + 1), i + 1)).collect();
    let mut acks = Vec::new();
    for kill in 0..KILLS {
        sleep(Duration::from_millis(30 + below(&mut rng, 150) as u64));
        let (place, run) = (below(&mut rng, workers.len()), kill + 5);
        let next = start(&file, &name(place, run), run);
        let mut killed = std::mem::replace(&mut workers[place], next);
        killed.child.kill().unwrap();
        assert!(
            !killed.child.wait().unwrap().success(),
            "it was killed, and did not end by itself"
        );
        acks.extend(killed.acks.join().unwrap());
    }
    for mut worker in workers {
        worker.child.kill().unwrap();
        worker.child.wait().unwrap();
        acks.extend(worker.acks.join().unwrap());
    }
    sleep(LEASE);
    let lost = study.expire_leases().unwrap();
    println!(
        "{} acknowledged through {KILLS} kills; {lost} trials left behind at the end",
        acks.len()
    );
    assert!(
        acks.len() > KILLS,
        "only {} tells: the workers were killed before they worked",
        acks.len()
    );
    check(&study, &acks);
    // What was told but not acknowledged in time may be there; nothing is left in between.
    let progress = study.progress().unwrap();
    assert!(progress.finished >= acks.len() as u64);
    assert!(progress.finished <= (acks.len() + KILLS + 4) as u64);
    assert_eq!(progress.running, 0);
    let queued = Filter { stage: Some(Stage::Queued), ..Filter::default() };
    for trial in study.trials(&queued).unwrap() {
        assert!(matches!(trial.state, State::Queued(_)));
        assert!(trial.outcome().is_none());
    }
    let file = rusqlite::Connection::open(&file).unwrap();
    let sound: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}
