//! Worlds on real back ends, each driven by a seed: PostgreSQL behind networks that fail (database.rs), SQLite on a disk
//! that fails (file.rs). The runners are the shipped ones, with real commands.
//!
//! The seed decides on the faults. When they strike is up to the machine, so that a world is not the same twice; what must
//! hold is. The simulated worlds of `tests/world` repeat exactly, and are many more.
//!
//! `WIMBLE_TEST_REAL_WORLDS=FROM..TO` runs the worlds of these seeds instead of the usual ones.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

#[path = "../connection/mod.rs"]
mod connection;
mod database;
#[path = "../world/dice.rs"]
mod dice;
mod file;
mod ledger;
mod proxy;
#[path = "../running/mod.rs"]
#[allow(dead_code, reason = "not every test needs all of it")]
mod running;
#[path = "../server/mod.rs"]
mod server;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Worlds of `./test` on a server and on a file, and how many there are at a time: they wait more than they compute.
const DATABASES: (Range<u64>, usize) = (0..24, 6);
const FILES: (Range<u64>, usize) = (0..24, 4);
/// Worlds that found what was wrong once, each a test of its own: a connection that stayed in a failed transaction, a turn to
/// propose that outlived its transaction, and a failed sync that was forgotten. `.ci/faults` puts these faults back.
const FOUND_TRANSACTIONS: &[u64] = &[2, 6];
const FOUND_TURNS: &[u64] = &[3, 7];
const FOUND_SYNCS: &[u64] = &[2, 5, 6];

/// One test at a time: each has the machine busy.
static ALONE: Mutex<()> = Mutex::new(());

/// The process that worlds on a file start; on its own it does nothing.
#[test]
fn runner() {
    file::runner();
}

#[test]
fn every_promise_holds_on_a_server_behind_networks_that_fail() {
    let found = [FOUND_TRANSACTIONS, FOUND_TURNS].concat();
    live_through("PostgreSQL", &seeds(DATABASES.0, &found), DATABASES.1, database::live);
}

#[test]
fn every_promise_holds_on_a_file_whose_disk_fails() {
    live_through("SQLite", &seeds(FILES.0, FOUND_SYNCS), FILES.1, file::live);
}

#[test]
fn worlds_that_found_a_connection_in_a_failed_transaction() {
    live_through("PostgreSQL", FOUND_TRANSACTIONS, DATABASES.1, database::live);
}

#[test]
fn worlds_that_found_a_turn_that_outlived_its_transaction() {
    live_through("PostgreSQL", FOUND_TURNS, DATABASES.1, database::live);
}

#[test]
fn worlds_that_found_a_failed_sync_that_was_forgotten() {
    live_through("SQLite", FOUND_SYNCS, FILES.1, file::live);
}

/// The worlds that the environment names; otherwise the usual ones but those that have tests of their own.
fn seeds(usual: Range<u64>, found: &[u64]) -> Vec<u64> {
    match std::env::var("WIMBLE_TEST_REAL_WORLDS") {
        Ok(range) => {
            let (from, to) = range.split_once("..").expect("FROM..TO");
            (from.parse().unwrap()..to.parse().unwrap()).collect()
        }
        Err(_) => usual.filter(|seed| !found.contains(seed)).collect(),
    }
}

fn live_through(
    back_end: &str,
    seeds: &[u64],
    at_a_time: usize,
    live: fn(u64) -> Option<Vec<String>>,
) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (began, next) = (Instant::now(), AtomicUsize::new(0));
    let broken = Mutex::new(Vec::new());
    let lived = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        return;
                    };
                    let Some(promises) = live(seed) else { return };
                    lived.fetch_add(1, Ordering::Relaxed);
                    if let Some(first) = promises.first() {
                        let after = began.elapsed().as_secs_f64();
                        println!("{back_end}, world {seed}, found after {after:.1} s: {first}");
                        broken.lock().unwrap().push(seed);
                    }
                }
            });
        }
    });
    let (lived, broken) = (lived.into_inner(), broken.into_inner().unwrap());
    if lived == 0 {
        eprintln!("skipped: worlds on {back_end}, which need a server or a C compiler");
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{back_end}: {lived} worlds, {} of them broken, in {seconds:.1} s", broken.len());
    assert!(broken.is_empty(), "worlds broke a promise: {broken:?}");
}
