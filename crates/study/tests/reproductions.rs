//! What once ended runs, killed healthy commands or had trials run twice, each as it was found: with a real server, the
//! runner and real commands. Short in `./test`; with `WIMBLE_TEST_LONG` at the lengths and with the leases and
//! timeouts that users have (`./test long`).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

#[allow(dead_code, reason = "not every test needs all of it")]
mod running;
mod server;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use server::Server;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};
use wimble_study::runner::{End, Event, Runner, WorkerKey};
use wimble_study::study_file::StudyFile;
use wimble_study::{Postgres, Store, Study};

/// What differs between the short and the long tests.
struct Length {
    lease: &'static str,
    /// Of every command.
    command: f64,
    /// More of the address.
    options: &'static str,
    seconds: f64,
}

fn is_long() -> bool {
    std::env::var_os("WIMBLE_TEST_LONG").is_some()
}

/// For so many seconds in the long tests, with the leases and timeouts of a study by default.
fn length(short: f64, long: f64) -> Length {
    let (lease, command, options, seconds) = match is_long() {
        true => ("60s", 20.0, "", long),
        false => ("1s", 0.7, "options=-c%20lock_timeout=1s", short),
    };
    Length { lease, command, options, seconds }
}

/// Runs a study with two runners at once, while `attack` goes on; every trial is run once, and has its value.
fn survive(name: &str, what: &str, address: &str, length: &Length, attack: impl FnOnce()) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!(
        "echo \"$WIMBLE_TRIAL\" >> '{}'; sleep {}; echo \"$1\"",
        log.display(),
        length.command
    );
    // Enough for some rounds before, during and after the attack.
    let rounds = (length.seconds / length.command) as u64 + 4;
    let trials = 4 * rounds;
    let more = format!(
        "trials = {trials}\nworkers = 2\nlease = \"{}\"\n[space]\nx = {{ type = \"real\", low = 0, high = 1 }}\n",
        length.lease
    );
    // Of its own name: locks of studies go by that.
    let name = name.to_owned();
    let file = StudyFile { name, ..running::file("sobol", &script, &more) };
    let joint = if address.contains('?') { '&' } else { '?' };
    let address = format!("{address}{joint}{}", length.options);
    let open = || -> Study {
        let store: Arc<dyn Store> =
            Arc::new(Postgres::at(&address).unwrap().patience(Duration::ZERO));
        Study::open_or_create(store, file.settings(None)).unwrap()
    };
    let study = open();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let runners: Vec<_> = ["first", "second"]
            .map(|name| {
                let (study, file) = (open(), &file);
                scope.spawn(move || {
                    let worker = WorkerKey::passing(Some(name.to_owned()));
                    let runner = Runner { worker, ..running::runner(file, name) };
                    let lost = std::sync::Mutex::new(Vec::new());
                    let summary = runner.run(&study, &|event| {
                        if let Event::Dropped { trial, reason } = event {
                            lost.lock().unwrap().push(format!("{trial}: {reason}"));
                        }
                    });
                    (summary, lost.into_inner().unwrap())
                })
            })
            .into_iter()
            .collect();
        while !log.exists() {
            sleep(Duration::from_millis(20));
        }
        sleep(Duration::from_secs_f64(length.command / 2.0));
        attack();
        for runner in runners {
            let (summary, lost) = runner.join().unwrap();
            assert_eq!(summary.unwrap().end, End::BudgetSpent, "{what}");
            assert!(lost.is_empty(), "{what}: {lost:?}");
        }
    });
    let runs = std::fs::read_to_string(&log).unwrap().lines().count() as u64;
    println!(
        "{what} for {} s, leases of {}: {trials} trials, {runs} executions, {:.0} s in all",
        length.seconds,
        length.lease,
        began.elapsed().as_secs_f64()
    );
    assert_eq!((study.counts().unwrap().valued, runs), (trials, trials), "{what}");
}

/// A connection of somebody else.
struct Other {
    runtime: Runtime,
    client: Client,
}

impl Other {
    fn connect(address: &str) -> Self {
        let base = address.split_once('?').map_or(address, |(base, _)| base);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(base, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Self { runtime, client }
    }

    fn run(&self, statements: &str) {
        self.runtime.block_on(self.client.batch_execute(statements)).unwrap();
    }
}

fn hold(seconds: f64) {
    sleep(Duration::from_secs_f64(seconds));
}

#[test]
fn tables_that_are_locked_for_longer_than_anybody_waits_end_no_run() {
    let Some(address) = server::schema("locked tables") else { return };
    let schema = address.split("schema=").nth(1).unwrap().to_owned();
    let length = length(3.0, 85.0);
    survive("locked", "LOCK TABLE", &address, &length, || {
        let other = Other::connect(&address);
        other.run(&format!("BEGIN; LOCK TABLE {schema}.studies IN ACCESS EXCLUSIVE MODE"));
        hold(length.seconds);
        other.run("COMMIT");
    });
}

#[test]
fn a_proposer_that_is_frozen_in_its_turn_holds_up_nobody() {
    let Some(address) = server::schema("a frozen proposer, at length") else { return };
    let length = length(3.0, 90.0);
    survive("frozen", "a frozen proposer", &address, &length, || {
        let other = Other::connect(&address);
        other.run("BEGIN; SELECT pg_advisory_xact_lock(1463897412, hashtext('frozen'))");
        hold(length.seconds);
        other.run("COMMIT");
    });
}

#[test]
fn a_server_that_is_away_for_longer_than_a_lease_costs_no_result() {
    if server::schema("a server that is away").is_none() {
        return;
    }
    let (server, length) = (Server::start(), length(2.5, 72.0));
    survive("away", "a server that is away", &server.address, &length, || {
        server.halt();
        hold(length.seconds);
        server.resume();
    });
}

#[test]
fn a_server_whose_clock_is_set_takes_no_trial_from_anybody() {
    if server::schema("a server whose clock is set").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(clock) = Clock::make(folder.path()) else {
        eprintln!("skipped: a server whose clock is set, which needs a C compiler and Linux");
        return;
    };
    let server = Server::start_with(&clock.environment());
    let length = length(3.0, 90.0);
    survive("clock", "a clock that is set 90 s ahead, then back", &server.address, &length, || {
        clock.set(90);
        let other = Other::connect(&server.address);
        let ahead = "SELECT abs(extract(epoch FROM clock_timestamp()) - $1::float8)::float8";
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
        let row = other.runtime.block_on(other.client.query_one(ahead, &[&now])).unwrap();
        assert!((row.get::<_, f64>(0) - 90.0).abs() < 10.0, "the server's clock was not set");
        hold(length.seconds / 2.0);
        clock.set(0);
        hold(length.seconds / 2.0);
        clock.set(-90);
        hold(length.seconds / 4.0);
    });
}

/// A clock for a server, by a library that is loaded before all others.
struct Clock {
    library: std::path::PathBuf,
    offset: std::path::PathBuf,
}

impl Clock {
    /// In a folder that the user of the server can look into; `None` if it cannot be made.
    fn make(folder: &Path) -> Option<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        if !cfg!(target_os = "linux") {
            return None;
        }
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        let clock = Self { library: folder.join("clock.so"), offset: folder.join("offset") };
        clock.set(0);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&clock.library);
        let done = compiler.arg(source).arg("-ldl").output().ok()?;
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Some(clock)
    }

    fn environment(&self) -> [(&'static str, &Path); 2] {
        [("LD_PRELOAD", &self.library), ("WIMBLE_TEST_CLOCK", &self.offset)]
    }

    /// So many seconds ahead of the machine's.
    fn set(&self, seconds: i64) {
        std::fs::write(&self.offset, format!("{seconds:+04}")).unwrap();
    }
}
