//! A simulated world: workers, users and a storage on virtual time, driven by a seed.
//!
//! Every world is a few workers on one study. Their calls go to the shipped store and study through a connection that
//! fails: before a call took effect, or after. Meanwhile the storage is away, processes are frozen or killed and start again
//! with their state, without it or with a copy of it, workers share names, and the clock of the storage jumps. After every
//! step the promises of docs/guide/guarantees.md are checked; see [`World::check`] and [`World::excused`].
//!
//! `WIMBLE_TEST_WORLDS=FROM..TO` runs the worlds of these seeds instead of the usual ones, so that a long run can be
//! continued: `./test long`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

mod connection;
mod dice;
mod worker;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dice::Dice;
use wimble::prelude::{Dimension, SearchSpace, Seed};
use wimble_study::store::Stage;
use wimble_study::{
    Filter, ManualClock, Memory, Outcome, Reader as _, Settings, State, Store, Study, Timestamp,
    Token,
};
use worker::{Folder, User, Worker};

/// The length of a lease, in milliseconds, as all times here.
const LEASE: i64 = 1_000;
/// Whoever reached the storage within this time keeps its trials.
const SAFE: i64 = LEASE / 2;
/// The worlds of `./test`.
const USUAL: std::ops::Range<u64> = 0..4_000;
/// Worlds that broke a promise when incarnations of one name were taken for one worker, and when a lease that was due
/// ended its trial. `.ci/faults` puts these faults back.
const FOUND_NAMES: &[u64] = &[0, 1, 2, 4, 5];
const FOUND_LEASES: &[u64] = &[3, 5, 51, 53, 54];
/// Worlds in which two workers evaluated one trial: an ask whose answer was lost, and which was made again, did not count as a
/// sign of life.
const FOUND_ASKS: &[u64] = &[418_128, 526_400, 540_620];
/// How many worlds a thread takes at a time, and after how many a long run says where it is.
const SHARE: u64 = 50;
const PROGRESS: u64 = 50_000;

/// What happened to the evaluations of a trial.
#[derive(Debug, Default)]
struct Account {
    begun: u32,
    /// The values that the storage acknowledged.
    told: Vec<f64>,
    /// Those that were told without an answer: a worker that dies with its state never learns whether they count.
    unanswered: Vec<f64>,
}

struct World {
    dice: Dice,
    clock: ManualClock,
    /// The true time; the clock of the storage may be ahead of it or behind.
    now: i64,
    offset: i64,
    jumped: i64,
    store: Arc<Memory>,
    away_until: i64,
    /// When the faults end.
    peace: i64,
    folders: Vec<Folder>,
    workers: Vec<Worker>,
    users: Vec<User>,
    accounts: BTreeMap<u64, Account>,
    /// Whether anything happened for which a trial may be run twice.
    troubled: bool,
    /// Whether it says what happens.
    tells: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let clock = ManualClock::default();
        clock.set(Timestamp(1_000_000));
        let store = Arc::new(Memory::new(clock.clone()));
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let settings = Settings::new("s", space, "random".parse().unwrap())
            .budget(dice.between(3, 12) as u64)
            .batch_size(dice.between(1, 4) as usize)
            .retries(if dice.one_in(3) { 2 } else { 1_000 })
            .seed(Seed(seed))
            .lease(Duration::from_millis(LEASE as u64));
        Study::open_or_create(Arc::clone(&store) as Arc<dyn Store>, settings).unwrap();
        // Two of three workers have the same name: containers of one image.
        let names = ["same", "same", "other"];
        let count = dice.between(1, 3) as usize;
        let folders = (0..count).map(|_| Folder::default()).collect();
        let workers = (0..count).map(|i| Worker::new(names[i], i, dice.between(1, 3) as usize));
        let (workers, peace) = (workers.collect(), dice.between(2, 15) * LEASE);
        let users = (0..dice.between(0, 1)).map(|_| User::default()).collect();
        Self {
            dice,
            clock,
            now: 0,
            offset: 1_000_000,
            jumped: -10 * LEASE,
            store,
            away_until: 0,
            peace,
            folders,
            workers,
            users,
            accounts: BTreeMap::new(),
            troubled: false,
            tells: std::env::var_os("WIMBLE_TEST_STORY").is_some(),
        }
    }

    fn say(&self, line: impl FnOnce() -> String) {
        if self.tells {
            println!("{:>6} {}", self.now, line());
        }
    }

    /// Lives until every trial is finished.
    fn live(&mut self) {
        let last = self.peace + 60 * LEASE;
        loop {
            self.now += self.dice.between(20, 120);
            self.clock.set(Timestamp(self.now + self.offset));
            if self.now < self.peace {
                self.trouble();
            }
            let first = self.dice.between(0, self.workers.len() as i64 - 1) as usize;
            for i in 0..self.workers.len() {
                worker::act(self, (first + i) % self.workers.len());
                self.check();
            }
            for i in 0..self.users.len() {
                worker::use_by_hand(self, i);
                self.check();
            }
            let counts = self.store.counts("s").unwrap();
            let idle = counts.queued + counts.running == 0 && counts.total() > 0;
            if idle && self.now > self.peace && self.workers.iter().all(Worker::is_idle) {
                break;
            }
            assert!(self.now < last, "no progress: {counts:?} long after the last fault");
        }
        self.balance();
    }

    /// One of the faults, now and then.
    fn trouble(&mut self) {
        let who = self.dice.between(0, self.workers.len() as i64 - 1) as usize;
        match self.dice.between(0, 150) {
            0 => {
                self.away_until = self.now + self.dice.between(1, 4 * LEASE);
                self.troubled = true;
                self.say(|| "the storage is away".to_owned());
            }
            // Leases are short in proportion to how often clocks are set.
            1 if self.now - self.jumped > 3 * LEASE => {
                self.jumped = self.now;
                self.offset += self.dice.between(-3 * LEASE, 3 * LEASE);
                self.clock.set(Timestamp(self.now + self.offset));
                let offset = self.offset;
                self.say(|| format!("the clock is set to {offset} ahead"));
            }
            2 | 3 => {
                let until = self.now + self.dice.between(1, 4 * LEASE);
                if self.workers[who].freeze(until) {
                    self.troubled = true;
                    self.say(|| format!("worker {who} is frozen until {until}"));
                }
            }
            4 | 5 => {
                let keeps_state = !self.dice.one_in(4);
                let wait = self.dice.between(1, 3 * LEASE);
                self.troubled = true;
                self.say(|| format!("worker {who} is killed; it keeps its state: {keeps_state}"));
                if !keeps_state {
                    self.folders.push(Folder::default());
                }
                let fresh = self.folders.len() - 1;
                let folder = &mut self.folders[self.workers[who].folder];
                self.workers[who].kill(folder, self.now + wait);
                if !keeps_state {
                    self.workers[who].folder = fresh;
                }
            }
            // Somebody starts another with a copy of a state that is in use, or was.
            6 if self.workers.len() < 5 && self.dice.one_in(2) => {
                let copy = self.folders[self.workers[who].folder].copy();
                self.folders.push(copy);
                let (name, slots) = (self.workers[who].name, self.dice.between(1, 2) as usize);
                self.workers[who].was_copied();
                self.workers.push(Worker::new(name, self.folders.len() - 1, slots));
                self.troubled = true;
                self.say(|| format!("a copy of worker {who} starts"));
            }
            _ => {}
        }
    }

    fn is_away(&self) -> bool {
        self.now < self.away_until
    }

    /// What holds after every step.
    fn check(&self) {
        let trials = self.store.trials("s", &Filter::default()).unwrap();
        let counts = self.store.counts("s").unwrap();
        let count = |stage| trials.iter().filter(|t| Stage::of(&t.state) == stage).count() as u64;
        assert_eq!(counts.queued, count(Stage::Queued), "counts equal rows");
        assert_eq!(counts.running, count(Stage::Running), "counts equal rows");
        assert_eq!(counts.finished(), count(Stage::Finished), "counts equal rows");
        // No trial is evaluated by two workers that are alive and in touch.
        let mut evaluating = BTreeMap::new();
        for (number, worker) in self.workers.iter().enumerate() {
            for token in worker.evaluates(self.now) {
                if let Some(other) = evaluating.insert(token.trial, number) {
                    panic!("trial {} is evaluated by workers {other} and {number}", token.trial);
                }
            }
        }
    }

    /// Whether a worker that last reached the storage at `contact` may lose a trial: it was silent for so long that another
    /// could take it.
    fn excused(&self, contact: i64) -> bool {
        self.now - contact >= SAFE
    }

    /// A token was refused: somebody else must have, or have had, the trial.
    fn check_refusal(&self, token: Token) {
        let trial = self.store.trial("s", token.trial).unwrap();
        match &trial.state {
            State::Queued(_) | State::Paused(_) => {
                panic!("token {token} is refused, and nobody wants the trial")
            }
            State::Running(lease) => assert!(lease.fence > token.fence, "{token}: {lease:?}"),
            State::Finished(finish) => assert!(
                finish.lease.fence > token.fence || finish.key.is_none(),
                "{token}: {finish:?}"
            ),
        }
    }

    /// At the end: every acknowledged result is there once, and nothing was run twice without a cause.
    fn balance(&self) {
        for trial in self.store.trials("s", &Filter::default()).unwrap() {
            let account = &self.accounts[&trial.id];
            let State::Finished(finish) = &trial.state else { panic!("{trial:?}") };
            match (&finish.outcome, &account.told[..]) {
                (Outcome::Failed(_), []) if trial.lost > 0 => {}
                (outcome, [value]) => assert_eq!(outcome.value(), Some(*value)),
                (Outcome::Measured(_), [])
                    if finish.outcome.value().is_some_and(|v| account.unanswered.contains(&v)) => {}
                (outcome, told) => panic!("trial {}: {outcome}, told {told:?}", trial.id),
            }
            if !self.troubled {
                assert_eq!(account.begun, 1, "trial {} was run twice without a cause", trial.id);
            }
        }
    }
}

/// What worlds came to.
#[derive(Default)]
struct Tally {
    troubled: u64,
    /// The seeds of those that broke a promise, which promise, and after what time that was found.
    broken: Vec<(u64, String, Duration)>,
}

/// Lives through the worlds of these seeds.
fn live_through(seeds: std::ops::Range<u64>, began: Instant) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let lived = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let mut world = World::new(seed);
            world.live();
            world.troubled
        }));
        match lived {
            Ok(troubled) => tally.troubled += u64::from(troubled),
            Err(cause) => {
                let words = cause.downcast_ref::<String>().cloned();
                let words = words.or_else(|| cause.downcast_ref().map(|&s: &&str| s.to_owned()));
                tally.broken.push((seed, words.unwrap_or_default(), began.elapsed()));
            }
        }
    }
    tally
}

/// The same, shared by as many threads as the machine has processors, or as `WIMBLE_TEST_THREADS` says.
fn live_through_together(seeds: std::ops::Range<u64>) -> Tally {
    let (began, count) = (Instant::now(), seeds.end - seeds.start);
    let threads = std::env::var("WIMBLE_TEST_THREADS").map_or_else(
        |_| std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
        |number| number.parse().unwrap(),
    );
    let next = AtomicU64::new(seeds.start);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let work = || {
            let mut mine = Tally::default();
            loop {
                let from = next.fetch_add(SHARE, Ordering::Relaxed);
                if from >= seeds.end {
                    return mine;
                }
                let part = live_through(from..(from + SHARE).min(seeds.end), began);
                mine.troubled += part.troubled;
                mine.broken.extend(part.broken);
                if (from - seeds.start) / PROGRESS != (from + SHARE - seeds.start) / PROGRESS {
                    println!("up to world {from}: {:.0} s", began.elapsed().as_secs_f64());
                }
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for part in threads.into_iter().map(|thread| thread.join().unwrap()) {
            tally.troubled += part.troubled;
            tally.broken.extend(part.broken);
        }
    });
    tally.broken.sort_by_key(|(.., found)| *found);
    println!(
        "{count} worlds, {} of them with faults, {} broken, in {:.1} s",
        tally.troubled,
        tally.broken.len(),
        began.elapsed().as_secs_f64()
    );
    tally
}

fn check_none_is_broken(tally: &Tally) {
    for (seed, words, found) in tally.broken.iter().take(5) {
        let (after, next) = (found.as_secs_f64(), seed + 1);
        println!(
            "world {seed} broke a promise, found after {after:.1} s: {words}\n    \
             WIMBLE_TEST_STORY=1 WIMBLE_TEST_WORLDS={seed}..{next} tells its story"
        );
    }
    assert!(tally.broken.is_empty(), "{} worlds broke a promise", tally.broken.len());
}

#[test]
fn every_promise_holds_in_every_world() {
    let seeds = match std::env::var("WIMBLE_TEST_WORLDS") {
        Ok(range) => {
            let (from, to) = range.split_once("..").expect("FROM..TO");
            from.parse().unwrap()..to.parse().unwrap()
        }
        Err(_) => USUAL,
    };
    // Where faults are put back to see how soon they are found, thousands of worlds break.
    std::panic::set_hook(Box::new(|_| {}));
    let tally = live_through_together(seeds);
    let _ = std::panic::take_hook();
    check_none_is_broken(&tally);
}

#[test]
fn worlds_that_found_incarnations_taken_for_one_worker() {
    live_again(FOUND_NAMES);
}

#[test]
fn worlds_that_found_due_leases_that_ended_trials() {
    live_again(FOUND_LEASES);
}

#[test]
fn worlds_that_found_asks_that_were_no_sign_of_life() {
    live_again(FOUND_ASKS);
}

fn live_again(seeds: &[u64]) {
    for &seed in seeds {
        let broken = live_through(seed..seed + 1, Instant::now()).broken;
        assert!(broken.is_empty(), "{broken:?}");
    }
}
