//! How many trials a second workers get through: directly in SQLite and PostgreSQL, and through a server before each of them, which
//! has one connection to PostgreSQL, or eight as `wimble serve` has.
//!
//! `WIMBLE_TEST_TRIALS=2000` takes more of them; the figures are printed. PostgreSQL is skipped where there is none.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

#[path = "../../study/tests/server/mod.rs"]
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use wimble::prelude::*;
use wimble_server::{Options, Server, Tokens};
use wimble_study::{Http, Postgres, Settings, Sqlite, Store, Study, SystemClock};

const TOKEN: &str = "a-token-that-is-long-enough";
/// Workers at a time, each with a connection of its own.
const WORKERS: usize = 8;

/// Trials a second of workers that ask for one, and tell it at once. Each worker opens the store for itself.
fn measure(open: &(dyn Fn() -> Arc<dyn Store> + Sync), name: &str, trials: usize) -> f64 {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    let settings =
        Settings::new(name, space, "random".parse().unwrap()).budget(trials as u64).batch_size(64);
    Study::open_or_create(open(), settings).unwrap();
    let (told, start) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let told = &told;
            scope.spawn(move || {
                let study = Study::open(open(), name).unwrap();
                let worker = format!("w{worker}");
                for i in 0.. {
                    let claims = study.ask(&worker, &format!("{worker}-{i}"), 1).unwrap();
                    let Some(claim) = claims.first() else { break };
                    study.tell(claim.token, &1.0.into(), "t").unwrap();
                    told.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let rate = trials as f64 / start.elapsed().as_secs_f64();
    // Every trial once, whatever the way.
    assert_eq!(told.into_inner(), trials);
    assert_eq!(open().counts(name).unwrap().valued, trials as u64);
    rate
}

/// The same store directly and through a server that has `served`, side by side, twice each.
fn compare(
    place: &str,
    open: &(dyn Fn() -> Arc<dyn Store> + Sync),
    served: Arc<dyn Store>,
    trials: usize,
) -> (f64, f64) {
    let tokens = Tokens { write: Some(TOKEN.to_owned()), ..Tokens::default() };
    let server = Server::start(served, Options { tokens, ..Options::local(0) }).unwrap();
    let address = format!("http://:{TOKEN}@{}", server.address());
    let remote = || -> Arc<dyn Store> { Arc::new(Http::at(&address).unwrap()) };
    let (mut direct, mut through) = (0.0, 0.0);
    for round in 0..2 {
        direct += measure(open, &format!("{place}, direct, {round}"), trials) / 2.0;
        through += measure(&remote, &format!("{place}, through, {round}"), trials) / 2.0;
    }
    println!(
        "{place}: {direct:.0} trials a second directly, {through:.0} through a server ({:.2} times), {WORKERS} workers, {trials} trials",
        through / direct
    );
    (direct, through)
}

#[test]
fn workers_behind_a_server_keep_up_with_those_at_the_storage() {
    let trials = std::env::var("WIMBLE_TEST_TRIALS").ok().and_then(|text| text.parse().ok());
    let trials: usize = trials.unwrap_or(300);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let sqlite = || -> Arc<dyn Store> { Arc::new(Sqlite::open(&path, SystemClock).unwrap()) };
    let (direct, through) = compare("SQLite", &sqlite, sqlite(), trials);
    // Other processes may take the machine for a while: a server that is broken is slower than this.
    assert!(through > direct / 10.0, "{through} behind {direct}");
    if let Some(address) = server::schema("throughput") {
        let postgres = || -> Arc<dyn Store> { Arc::new(Postgres::at(&address).unwrap()) };
        let several =
            || -> Arc<dyn Store> { Arc::new(Postgres::at(&address).unwrap().connections(WORKERS)) };
        let (direct, through) =
            compare("PostgreSQL, one connection", &postgres, postgres(), trials);
        assert!(through > direct / 10.0, "{through} behind {direct}");
        let (_, more) = compare("PostgreSQL, several connections", &postgres, several(), trials);
        // With one, all workers wait for the disk one after the other.
        assert!(more > through / 2.0, "{more} with several connections, {through} with one");
    }
}
