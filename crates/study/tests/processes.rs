//! Many processes on one store, SQLite and PostgreSQL: each trial is told once, and killing any of them, or the server,
//! loses nothing that was acknowledged.
//!
//! The test binary runs itself as a worker: with [`STORE`] in its environment, the test [`worker`] works on the study
//! there, and prints a line for each tell once that was acknowledged.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

mod children;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use children::{RUN, STORE, this_binary};
use wimble::internals::below;
use wimble::prelude::*;
use wimble_study::store::Stage;
use wimble_study::{
    Address, Clock, Error, Filter, Outcome, Postgres, Settings, Sqlite, State, Store, Study,
    SystemClock, Timestamp,
};

const WORKER: &str = "WIMBLE_TEST_WORKER";
/// Whether the worker's clock jumps.
const JUMPS: &str = "WIMBLE_TEST_JUMPS";
/// How often the kill tests kill, if not as often as they say.
const KILLS: &str = "WIMBLE_TEST_KILLS";
/// How many processes they kill of, if not four.
const PROCESSES: &str = "WIMBLE_TEST_PROCESSES";

/// They need the machine for themselves.
static ALONE: Mutex<()> = Mutex::new(());

/// The worker that the tests below start; on its own it does nothing.
#[test]
fn worker() {
    let Ok(address) = std::env::var(STORE) else { return };
    let (worker, run) = (std::env::var(WORKER).unwrap(), std::env::var(RUN).unwrap());
    let jumps = std::env::var(JUMPS).is_ok();
    let study = patiently(|| Study::open(store(&address, jumps)?, "shared"));
    for i in 0.. {
        let claims = outlasting(|| study.ask(&worker, &format!("{run}-{i}"), 1)).unwrap();
        let Some(claim) = claims.first() else { break };
        // A value that no other tell has.
        let value = run.parse::<f64>().unwrap() * 1e6 + f64::from(i);
        match outlasting(|| study.tell(claim.token, &Outcome::from(value), &run)) {
            Ok(()) => {
                let line = format!("ack {} {value}\n", claim.trial);
                std::io::stdout().write_all(line.as_bytes()).unwrap();
                std::io::stdout().flush().unwrap();
            }
            // Under heavy load a lease can run out; its trial comes back. A worker that was restarted under its own
            // name may have got back what the old one was just telling.
            Err(Error::LeaseLost { .. } | Error::AlreadyTold { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// The store at an address, on a clock that jumps or on its own.
fn store(address: &str, jumps: bool) -> Result<Arc<dyn Store>, Error> {
    Ok(match address.parse()? {
        Address::Sqlite(path) if jumps => Arc::new(Sqlite::open(path, JumpingClock::default())?),
        Address::Postgres(url) if jumps => Arc::new(Postgres::open(&url, JumpingClock::default())?),
        address => address.open()?,
    })
}

/// Every eighth time it is some seconds wrong.
#[derive(Default)]
struct JumpingClock(AtomicU64);

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        match self.0.fetch_add(1, Ordering::Relaxed) % 16 {
            5 => Timestamp(now.0 - 7_000),
            13 => Timestamp(now.0 + 3_000),
            _ => now,
        }
    }
}

/// A call to a server that may be starting after a crash, which can take minutes on a busy machine.
fn outlasting<T>(mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        match call() {
            Err(Error::Backend { doing: "connecting", .. })
                if start.elapsed() < Duration::from_secs(300) =>
            {
                sleep(Duration::from_millis(50));
            }
            done => return done,
        }
    }
}

/// Opens what may be starting just now.
fn patiently<T>(mut open: impl FnMut() -> Result<T, Error>) -> T {
    let start = Instant::now();
    loop {
        match outlasting(&mut open) {
            Ok(done) => return done,
            Err(error) if error.is_refusal() => panic!("{error}"),
            Err(error) if start.elapsed() > Duration::from_secs(60) => panic!("{error}"),
            Err(_) => sleep(Duration::from_millis(50)),
        }
    }
}

type Worker = children::Worker<f64>;

fn start(address: &str, worker: &str, run: usize) -> Worker {
    run_worker(this_binary(), address, worker, run)
}

fn run_worker(mut command: Command, address: &str, worker: &str, run: usize) -> Worker {
    command.env(WORKER, worker);
    Worker::start(command, address, run)
}

fn settings(budget: u64, batch_size: usize, lease: Duration) -> Settings {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::integer("n", 0, 9)]);
    Settings::new("shared", space.unwrap(), "random".parse().unwrap())
        .budget(budget)
        .batch_size(batch_size)
        .retries(1_000)
        .lease(lease)
}

fn create(address: &str, settings: &Settings) -> Study {
    patiently(|| Study::open_or_create(wimble_study::open(address)?, settings.clone()))
}

/// Every acknowledged value is there, once; no point was given to two trials.
fn check(study: &Study, acks: &[(u64, f64)]) {
    let trials = study.trials(&Filter::default()).unwrap();
    let points: BTreeSet<String> = trials.iter().map(|t| t.configuration.to_string()).collect();
    assert_eq!(points.len(), trials.len(), "no point is given twice");
    let acked: BTreeMap<u64, f64> = acks.iter().copied().collect();
    assert_eq!(acked.len(), acks.len(), "no trial is acknowledged twice");
    for (&trial, &value) in &acked {
        assert_eq!(trials[trial as usize].outcome(), Some(&Outcome::from(value)));
    }
    let finished = trials.iter().filter(|trial| trial.outcome().is_some()).count();
    let counts = study.counts().unwrap();
    assert_eq!((counts.finished(), counts.total()), (finished as u64, trials.len() as u64));
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("studies.db")
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn eight_threads_with_connections_of_their_own_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    threads_share(&text(&file(&folder)));
}

#[test]
fn eight_threads_with_connections_of_their_own_share_one_database() {
    if let Some(address) = server::schema("threads that share a database") {
        threads_share(&address);
    }
}

#[test]
fn eight_threads_share_one_database_through_a_pooler() {
    if let Some(address) = server::pooled_schema("threads that share a database through a pooler") {
        threads_share(&address);
    }
}

#[test]
fn sixteen_processes_share_one_database_through_a_pooler() {
    if let Some(address) = server::pooled_schema("16 processes through a pooler") {
        processes_share("PostgreSQL behind PgBouncer", &address, 16, 1_000);
    }
}

fn threads_share(address: &str) {
    let settings = settings(200, 3, Duration::from_secs(60));
    let acks: Vec<(u64, f64)> = std::thread::scope(|scope| {
        let work = |thread: u32| {
            let settings = settings.clone();
            move || {
                // All make the schema and the study at once.
                let study = create(address, &settings);
                let (name, mut acks) = (format!("w{thread}"), Vec::new());
                for i in 0.. {
                    let claims = study.ask(&name, &format!("{name}-{i}"), 2).unwrap();
                    for claim in &claims {
                        let value = f64::from(thread * 1_000_000 + i) + claim.trial as f64 / 1024.0;
                        study.tell(claim.token, &Outcome::from(value), "t").unwrap();
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
    check(&create(address, &settings), &acks);
}

#[test]
fn thirty_two_processes_share_one_file() {
    let folder = tempfile::tempdir().unwrap();
    processes_share("SQLite", &text(&file(&folder)), 32, 5_000);
}

#[test]
fn sixty_four_processes_share_one_database() {
    if let Some(address) = server::schema("64 processes") {
        processes_share("PostgreSQL", &address, 64, 5_000);
    }
}

fn processes_share(back_end: &str, address: &str, processes: usize, trials: u64) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let study = create(address, &settings(trials, processes, Duration::from_secs(60)));
    let start_time = Instant::now();
    let workers: Vec<Worker> =
        (0..processes).map(|i| start(address, &format!("w{i}"), i + 1)).collect();
    let (mut acks, mut shares) = (Vec::new(), Vec::new());
    for mut worker in workers {
        assert!(worker.child.wait().unwrap().success(), "a worker failed");
        let told = worker.acks.join().unwrap();
        shares.push(told.len());
        acks.extend(told);
    }
    let seconds = start_time.elapsed().as_secs_f64();
    println!(
        "{back_end}: {trials} trials by {processes} processes in {seconds:.1} s, {:.0} a second with their start; \
         {} to {} each",
        trials as f64 / seconds,
        shares.iter().min().unwrap(),
        shares.iter().max().unwrap(),
    );
    assert_eq!(acks.len() as u64, trials);
    assert_eq!(study.counts().unwrap().finished(), trials);
    check(&study, &acks);
}

#[test]
fn killed_processes_lose_nothing_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(&folder);
    kill_workers("SQLite", &text(&file), 200, &mut |_| ());
    let connection = rusqlite::Connection::open(&file).unwrap();
    let sound: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[test]
fn killed_processes_and_servers_lose_nothing_of_a_database() {
    if server::schema("kills and crashes").is_none() {
        return;
    }
    let server = server::Server::start();
    let mut crashes = 0;
    kill_workers("PostgreSQL", &server.address, 200, &mut |kill| {
        if kill % 40 == 20 {
            server.crash();
            crashes += 1;
        }
    });
    println!("the server crashed {crashes} times");
    assert!(crashes > 0);
}

/// Kills workers at random moments; `disturb` is called before each of them.
fn kill_workers(back_end: &str, address: &str, kills: usize, disturb: &mut dyn FnMut(usize)) {
    const LEASE: Duration = Duration::from_millis(500);
    // More than are ever left behind: processes that find others proposing propose more at a time.
    const ALL: usize = 10_000;
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let kills = std::env::var(KILLS).map_or(kills, |number| number.parse().unwrap());
    let study = create(address, &settings(1_000_000, 3, LEASE));
    let mut rng = Seed(5).stream("kills", 0);
    // Workers in even places are restarted under their own name, the others leave their trials behind.
    let name = |place: usize, run: usize| match place % 2 {
        0 => format!("place-{place}"),
        _ => format!("run-{run}"),
    };
    // Every third worker has a clock that jumps.
    let start = |place: usize, run: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        if run.is_multiple_of(3) {
            command.env(JUMPS, "1");
        }
        run_worker(command, address, &name(place, run), run)
    };
    let count = std::env::var(PROCESSES).map_or(4, |number| number.parse().unwrap());
    let mut workers: Vec<Worker> = (0..count).map(|i| start(i, i + 1)).collect();
    let mut acks = Vec::new();
    for kill in 0..kills {
        disturb(kill);
        // Each of them lives as long as where there are four.
        sleep(Duration::from_millis(below(&mut rng, 25 * count) as u64));
        let (place, run) = (below(&mut rng, workers.len()), kill + count + 1);
        let next = start(place, run);
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
    // Past all leases, also those of clocks that were ahead: a worker that asks for all that is left gets it.
    sleep(LEASE + Duration::from_secs(4));
    study.set_budget(1).unwrap();
    study.ask("last", "notice", ALL).unwrap();
    sleep(LEASE);
    let lost = study.ask("last", "taken", ALL).unwrap();
    println!(
        "{back_end}: {} acknowledged through {kills} kills of {count} processes; {} trials left behind at the end",
        acks.len(),
        lost.len()
    );
    assert!(
        acks.len() > kills,
        "only {} tells: the workers were killed before they worked",
        acks.len()
    );
    check(&study, &acks);
    // What was told but not acknowledged in time may be there; nothing is left in between.
    let progress = study.progress().unwrap();
    assert!(progress.finished >= acks.len() as u64);
    assert!(progress.finished <= (acks.len() + kills + count) as u64);
    assert_eq!((progress.running, progress.queued), (lost.len() as u64, 0));
    let running = Filter { stage: Some(Stage::Running), ..Filter::default() };
    for trial in study.trials(&running).unwrap() {
        assert_eq!(trial.worker(), Some("last"));
        assert!(matches!(trial.state, State::Running(_)) && trial.outcome().is_none());
    }
}

#[test]
fn a_full_disk_stops_workers_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let address = text(&file(&folder));
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let study = create(&address, &settings(1_500, 10, Duration::from_millis(500)));
    // In place of the disk, the largest file is small: the log grows no further.
    let limited = |run: usize| {
        let mut shell = Command::new("sh");
        // Ignored, the signal becomes an error of the write.
        shell.args(["-c", "ulimit -f 6000; trap '' XFSZ; exec \"$0\" \"$@\""]);
        shell.arg(std::env::current_exe().unwrap());
        run_worker(shell, &address, &format!("full-{run}"), run)
    };
    let mut acks = Vec::new();
    for mut worker in [1, 2, 3].map(limited) {
        let success = worker.child.wait().unwrap().success();
        acks.extend(worker.acks.join().unwrap());
        assert!(!success, "a disk of 3 MB was enough for {} trials", acks.len());
    }
    let on_full = acks.len();
    assert!(on_full > 0, "no worker got anywhere");
    check(&study, &acks);
    sleep(Duration::from_millis(500));
    let mut worker = start(&address, "after", 4);
    assert!(worker.child.wait().unwrap().success());
    acks.extend(worker.acks.join().unwrap());
    println!("SQLite: {on_full} acknowledged until the disk was full, {} in the end", acks.len());
    check(&study, &acks);
    let counts = study.counts().unwrap();
    assert_eq!((counts.valued, counts.running), (1_500, 0));
}
