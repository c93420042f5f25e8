//! Worlds on a real server: runners behind networks that fail, and somebody who locks tables, terminates back ends and
//! moves leases.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_postgres::Client;
use wimble_study::runner::{End, KeptResults, Runner, Stop, WorkerKey};
use wimble_study::store::Store;
use wimble_study::study_file::StudyFile;
use wimble_study::{Error, Postgres, Reader as _, Study};

use super::dice::Dice;
use super::ledger::{LEASE, Ledger};
use super::proxy::{Fault, Proxy};
use super::{connection, running, server};

/// Within this time a worker gets on that nothing keeps from the storage: the server ends the transaction of a frozen worker
/// after a second here, others wait two seconds for its turn, and pauses between attempts grow to five seconds.
const PROGRESS: Duration = Duration::from_secs(9);
/// How long a worker is frozen in its turn: others who wait for the end of that get nowhere for longer than the above, also
/// if they have some trials left to evaluate.
const FROZEN: Duration = Duration::from_secs(20);
/// No connection stays in a transaction that failed for this long.
const ROLLED_BACK: &str = "1500 milliseconds";
/// Longer than any fault: a run whose storage is there does not end by it.
const PATIENCE: Duration = Duration::from_secs(25);
/// The time after the last fault by which all is done.
const PEACE: Duration = Duration::from_secs(40);

/// A worker: its network, its state, and the process that is its runner.
struct Worker {
    proxy: Proxy,
    name: &'static str,
    state: Mutex<PathBuf>,
    stop: Mutex<Stop>,
    alive: AtomicBool,
}

struct World {
    dice: Dice,
    address: String,
    /// Also the name of the study, so that worlds do not wait for each other's locks.
    schema: String,
    folder: tempfile::TempDir,
    ledger: Arc<Ledger>,
    workers: Arc<Vec<Worker>>,
    saboteur: Saboteur,
    theme: Theme,
    /// Whether the budget is spent.
    over: bool,
}

/// Which faults a world has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    Everything,
    /// Statements are cancelled, back ends terminated, and nothing blocks for long.
    Failing,
    /// Tables are locked for longer than anybody waits, each time that a worker is about to add its proposal. Nothing else
    /// happens, and a worker has one command at a time: no other call of it can mend what its ask left behind.
    Locked,
    /// A worker is frozen in its turn to propose, and nothing else happens.
    Frozen,
}

/// Lives through the world of a seed; gives the promises that were broken.
pub fn live(seed: u64) -> Option<Vec<String>> {
    let server = std::env::var(server::ADDRESS).ok()?;
    let mut world = World::new(seed, &server);
    world.live();
    Some(world.ledger.broken())
}

impl World {
    fn new(seed: u64, server: &str) -> Self {
        let mut dice = Dice::new(seed);
        let schema = format!("w_{}_{seed}", std::process::id());
        let joint = if server.contains('?') { '&' } else { '?' };
        let address = format!("{server}{joint}schema={schema}");
        let count = dice.between(2, 3) as usize;
        let ledger = Arc::new(Ledger::new(count));
        let folder = tempfile::tempdir().unwrap();
        let socket = socket_of(server);
        let worker = |number: usize| Worker {
            proxy: Proxy::new(socket.clone(), Arc::clone(&ledger), number),
            // Containers of one image.
            name: ["same", "same", "other"][number],
            state: Mutex::new(folder.path().join(format!("state-{number}"))),
            stop: Mutex::new(Stop::default()),
            alive: AtomicBool::new(true),
        };
        let workers = Arc::new((0..count).map(worker).collect());
        let saboteur = Saboteur::connect(server, &schema);
        let theme = match seed % 4 {
            0 => Theme::Everything,
            1 => Theme::Failing,
            2 => Theme::Locked,
            _ => Theme::Frozen,
        };
        Self { dice, address, schema, folder, ledger, workers, saboteur, theme, over: false }
    }

    fn live(&mut self) {
        let file = file(&self.schema, self.folder.path(), 0, 1);
        let store: Arc<dyn Store> = Arc::new(Postgres::at(&self.address).unwrap());
        let settings = file.settings(None).batch_size(self.dice.between(1, 2) as usize);
        let study = Study::open_or_create(store, settings).unwrap();
        let over = AtomicBool::new(false);
        let peace = Instant::now() + Duration::from_millis(self.dice.between(8_000, 14_000) as u64);
        let theme = self.theme;
        let (workers, ledger) = (Arc::clone(&self.workers), Arc::clone(&self.ledger));
        let (schema, folder) = (self.schema.clone(), self.folder.path().to_owned());
        std::thread::scope(|scope| {
            for number in 0..workers.len() {
                let (workers, schema, folder, ledger, over) =
                    (&workers, &schema, &folder, &ledger, &over);
                scope.spawn(move || {
                    run(&workers[number], number, theme, schema, folder, ledger, over);
                });
            }
            match theme {
                Theme::Everything | Theme::Failing => self.trouble_until(peace, &study),
                Theme::Locked => self.lock_out_until(peace),
                Theme::Frozen => self.freeze(),
            }
            // No more than there are: the workers come to an end.
            self.saboteur.run("UPDATE studies SET budget = greatest(issued, 1)");
            over.store(true, Ordering::SeqCst);
            self.over = true;
            let last = Instant::now() + PEACE;
            while self.workers.iter().any(|worker| worker.alive.load(Ordering::SeqCst)) {
                sleep(Duration::from_millis(50));
                self.check();
                if Instant::now() > last {
                    let counts = self.saboteur.counts();
                    self.ledger.broke(format!("no end long after the last fault: {counts}"));
                    self.workers.iter().for_each(Worker::kill);
                    break;
                }
            }
        });
        if self.ledger.broken().is_empty() {
            self.ledger.balance(&study, &self.folder.path().join("log"));
        }
        drop(study);
        self.saboteur.run(&format!("DROP SCHEMA {} CASCADE", self.schema));
    }

    /// Faults, and what must hold in between.
    fn trouble_until(&mut self, peace: Instant, study: &Study) {
        let mut locked_until = None;
        while Instant::now() < peace {
            sleep(Duration::from_millis(self.dice.between(40, 160) as u64));
            if locked_until.is_some_and(|until| Instant::now() > until) {
                self.saboteur.run("COMMIT");
                locked_until = None;
            }
            self.check();
            let who = self.dice.between(0, self.workers.len() as i64 - 1) as usize;
            let worker = &self.workers[who];
            let messages = self.dice.between(0, 40) as u32;
            let now = Instant::now();
            let fault = match self.theme {
                // Nothing blocks for long: what fails must not stay behind.
                Theme::Failing => self.dice.between(10, 30),
                _ => self.dice.between(0, 90),
            };
            match fault {
                0 | 1 => worker.proxy.strike(messages, Fault::CutBefore),
                2 | 3 => worker.proxy.strike(messages, Fault::CutAfter),
                4..=6 => {
                    // Sometimes for longer than a study may stand still.
                    let time = match self.dice.one_in(2) {
                        true => self.dice.between(10_000, 14_000),
                        false => self.dice.between(500, 4_000),
                    };
                    let time = Duration::from_millis(time as u64);
                    worker.proxy.strike(messages, Fault::Freeze(time));
                }
                7 => {
                    let by = Duration::from_millis(self.dice.between(1, 150) as u64);
                    worker.proxy.delay(by, Duration::from_secs(2));
                }
                // Longer than the server lets anybody wait for a lock.
                8 | 9 if locked_until.is_none() => {
                    let table = ["studies", "trials", "asks"][self.dice.between(0, 2) as usize];
                    let time = Duration::from_millis(self.dice.between(300, 3_500) as u64);
                    self.ledger.block_all(now + time + Duration::from_secs(1));
                    let lock = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
                    self.saboteur.run(&lock);
                    locked_until = Some(Instant::now() + time);
                }
                10 | 19 => {
                    self.saboteur.signal("pg_terminate_backend", &self.schema, "true");
                    self.ledger.hit_all();
                }
                11 | 12 | 17 | 18 | 20..=22 => {
                    self.saboteur.signal("pg_cancel_backend", &self.schema, "state = 'active'");
                    self.ledger.hit_all();
                }
                // As if the server's clock had jumped: nobody loses anything for that. Not far back, for what is lost comes
                // back when its lease is due.
                13 | 14 if locked_until.is_none() => {
                    let by = self.dice.between(-1_000, 90_000);
                    let study = &self.schema;
                    self.saboteur.run(&format!(
                        "BEGIN; SELECT pg_advisory_xact_lock(1463897411, hashtext('{study}')); \
                         UPDATE trials SET due = due - {by}, notice = notice - {by} WHERE stage = 'running'; COMMIT"
                    ));
                }
                15 => {
                    self.ledger.block(who, now + Duration::from_secs(2));
                    if self.dice.one_in(4) {
                        let fresh = self.folder.path().join(format!("state-{who}-{messages}"));
                        *worker.state.lock().unwrap() = fresh;
                    }
                    worker.kill();
                }
                // Somebody looks, on a connection of his own.
                16 if locked_until.is_none() => {
                    study.counts().unwrap();
                }
                _ => {}
            }
        }
        if locked_until.is_some() {
            self.saboteur.run("COMMIT");
        }
    }

    /// Tables are locked each time that some worker is about to add its proposal, for longer than it waits for them.
    fn lock_out_until(&mut self, peace: Instant) {
        while Instant::now() < peace && self.ledger.broken().is_empty() {
            let who = self.dice.between(0, self.workers.len() as i64 - 1) as usize;
            let table = ["studies", "trials", "asks"][self.dice.between(0, 2) as usize];
            let time = Duration::from_millis(self.dice.between(2_200, 3_000) as u64);
            let proxy = &self.workers[who].proxy;
            proxy.strike(0, Fault::HoldInTurn);
            while !proxy.is_held() && Instant::now() < peace {
                sleep(Duration::from_millis(1));
            }
            self.ledger.block_all(Instant::now() + time + Duration::from_secs(1));
            self.saboteur.run(&format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"));
            proxy.let_go();
            sleep(time);
            self.saboteur.run("COMMIT");
            let rest = Instant::now() + Duration::from_millis(self.dice.between(500, 3_000) as u64);
            while Instant::now() < rest {
                sleep(Duration::from_millis(100));
                self.check();
                self.check_transactions();
            }
        }
    }

    /// A worker is frozen in its turn to propose; the others get on.
    fn freeze(&mut self) {
        let who = self.dice.between(0, self.workers.len() as i64 - 1) as usize;
        let messages = self.dice.between(0, 40) as u32;
        self.workers[who].proxy.strike(messages, Fault::FreezeInTurn(FROZEN));
        let latest = Instant::now() + PEACE;
        while self.workers[who].proxy.awaits_its_fault() {
            sleep(Duration::from_millis(20));
            self.check();
            if Instant::now() > latest {
                self.ledger.broke(format!("it is never the turn of worker {who}"));
                return;
            }
        }
        let thaw = Instant::now() + FROZEN + Duration::from_secs(1);
        while Instant::now() < thaw && self.ledger.broken().is_empty() {
            sleep(Duration::from_millis(100));
            self.check();
        }
    }

    /// No connection stays in a transaction that failed.
    fn check_transactions(&mut self) {
        let failed = self.saboteur.text(&format!(
            "SELECT concat_ws(' ', pid, state, left(query, 60)) FROM pg_stat_activity \
             WHERE application_name = '{}' AND state = 'idle in transaction (aborted)' \
             AND clock_timestamp() - state_change > interval '{ROLLED_BACK}'",
            self.schema
        ));
        if !failed.is_empty() {
            self.ledger.broke(format!("a connection stays in a failed transaction: {failed}"));
        }
    }

    /// What holds after every step: counts equal rows, and every worker gets on that can reach the storage.
    fn check(&mut self) {
        if !self.saboteur.counts_equal_rows() {
            let counts = self.saboteur.counts();
            self.ledger.broke(format!("counts are not those of the rows: {counts}"));
        }
        for number in 0..self.workers.len() {
            let is_working = !self.over && self.workers[number].alive.load(Ordering::SeqCst);
            if is_working && self.ledger.is_stuck(number, PROGRESS) {
                let activity = self.saboteur.activity(&self.schema);
                self.ledger.broke(format!("worker {number} gets nowhere: {activity}"));
                self.ledger.block(number, Instant::now() + PEACE);
            }
        }
    }
}

impl Worker {
    /// Its commands end with it, and it writes nothing more.
    fn kill(&self) {
        let stop = self.stop.lock().unwrap();
        stop.request();
        stop.request();
    }
}

/// Runs the study, again after each time that it was killed.
fn run(
    worker: &Worker,
    number: usize,
    theme: Theme,
    schema: &str,
    folder: &Path,
    ledger: &Ledger,
    over: &AtomicBool,
) {
    // Two that may have nothing in hand while they ask, and one that has.
    let slots = if number == 1 && theme != Theme::Locked { 2 } else { 1 };
    let file = file(schema, folder, number, slots);
    // Time-outs as an operator may set them, short; but a server that soon ends the transaction of a silent client would mend
    // what the client left behind.
    let (lock, idle) = if theme == Theme::Locked { (1, 10) } else { (2, 1) };
    let address = format!(
        "postgresql://wimble@127.0.0.1:{}/postgres?sslmode=disable&schema={schema}&application_name={schema}\
         &connect_timeout=1&tcp_user_timeout=2&options=-c%20lock_timeout={lock}s%20\
         -c%20idle_in_transaction_session_timeout={idle}s",
        worker.proxy.port
    );
    let attempt = || -> Result<End, Error> {
        let store = Arc::new(Postgres::at(&address)?.patience(Duration::from_secs(2)));
        let study = Study::open(Arc::clone(&store) as Arc<dyn Store>, schema)?;
        let identity = store.identity()?;
        let state = worker.state.lock().unwrap().clone();
        let stop = Stop::default();
        *worker.stop.lock().unwrap() = stop.clone();
        let runner = Runner {
            worker: WorkerKey::take(&state, &identity, schema, Some(worker.name)).unwrap(),
            patience: PATIENCE,
            kept: Some(KeptResults::new(&state, &identity, schema)),
            stop,
            ..running::runner(&file, "w")
        };
        let summary = runner.run(&study, &|event| ledger.hear(number, &event))?;
        Ok(summary.end)
    };
    loop {
        let ended = attempt();
        ledger.ended(number);
        match ended {
            Ok(End::BudgetSpent) if over.load(Ordering::SeqCst) => break,
            // The budget was set while it looked.
            Ok(End::BudgetSpent) => {}
            Ok(End::Stopped) => sleep(Duration::from_millis(300)),
            // A storage that is away when a run begins ends it; somebody starts it again.
            Err(Error::Backend { .. } | Error::Busy { .. }) => sleep(Duration::from_millis(200)),
            other => {
                ledger.broke(format!("the run of worker {number} ended: {other:?}"));
                break;
            }
        }
        if !ledger.broken().is_empty() {
            break;
        }
    }
    worker.alive.store(false, Ordering::SeqCst);
}

/// A study whose commands take as long as their parameter says, and leave a line when they end.
fn file(name: &str, folder: &Path, worker: usize, slots: usize) -> StudyFile {
    let log = folder.join("log");
    let script =
        format!("sleep \"$1\"; echo \"$WIMBLE_TRIAL $$ {worker}\" >> '{}'; echo $$", log.display());
    let more = format!(
        "trials = 100000\nworkers = {slots}\nlease = \"{}ms\"\nlost-retries = 1000\n\
         [space]\nx = {{ type = \"real\", low = 0.05, high = 2 }}\n",
        LEASE.as_millis()
    );
    StudyFile { name: name.to_owned(), ..running::file("random", &script, &more) }
}

/// The socket of a server whose address names the folder that it is in.
fn socket_of(server: &str) -> PathBuf {
    let (_, rest) = server.split_once('@').unwrap();
    let host = rest.split(['/', '?']).next().unwrap();
    Path::new(&host.replace("%2F", "/")).join(".s.PGSQL.5432")
}

/// A connection of somebody else, past all networks.
struct Saboteur {
    runtime: Runtime,
    client: Client,
}

impl Saboteur {
    fn connect(server: &str, schema: &str) -> Self {
        let (runtime, client) = connection::connect(server, schema);
        Self { runtime, client }
    }

    fn run(&self, statements: &str) {
        self.runtime.block_on(self.client.batch_execute(statements)).unwrap();
    }

    fn number(&self, query: &str) -> i64 {
        let rows = self.runtime.block_on(self.client.query(query, &[])).unwrap();
        rows.first().map_or(0, |row| row.get(0))
    }

    /// Terminates or cancels what the workers of a world do.
    fn signal(&self, function: &str, world: &str, which: &str) {
        self.number(&format!(
            "SELECT count({function}(pid)) FROM pg_stat_activity \
             WHERE application_name = '{world}' AND {which}"
        ));
    }

    fn counts_equal_rows(&self) -> bool {
        self.number(
            "SELECT count(*) FROM studies WHERE (queued, running, valued + failed + infeasible, issued) <> \
             (SELECT count(*) FILTER (WHERE stage = 'queued'), count(*) FILTER (WHERE stage = 'running'), \
              count(*) FILTER (WHERE stage = 'finished'), count(*) FROM trials)",
        ) == 0
    }

    fn text(&self, query: &str) -> String {
        let rows = self.runtime.block_on(self.client.query(query, &[])).unwrap();
        let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        lines.join("; ")
    }

    fn counts(&self) -> String {
        self.text("SELECT row_to_json(s)::text FROM (SELECT issued, budget, queued, running, valued, failed FROM studies) AS s")
    }

    fn activity(&self, world: &str) -> String {
        self.text(&format!(
            "SELECT concat_ws(' ', pid, state, wait_event, left(query, 60)) FROM pg_stat_activity \
             WHERE application_name = '{world}'"
        ))
    }
}
