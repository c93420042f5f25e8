//! What asking and telling cost, at 1,000 and at 100,000 trials: the same. So it is at 1,000 and at 100,000 steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wimble::prelude::*;

use super::Sqlite;
use crate::attributes::Attributes;
use crate::settings::{ENGINE, Record, Settings};
use crate::step::Report;
use crate::store::memory::Memory;
use crate::store::{Ask, Proposal, Reply, Store, Tell};
use crate::study::Study;
use crate::{Follower, SystemClock};

/// Trials that one ask adds while a store is filled.
const CHUNK: usize = 1_000;

fn settings(name: &str) -> Settings {
    let space = SearchSpace::new([
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::integer("layers", 1, 8),
        Dimension::real("momentum", 0.0, 1.0),
    ]);
    Settings::new(name, space.unwrap(), "random".parse().unwrap()).budget(1_000_000)
}

/// Points for the next chunk.
fn points(settings: &Settings, known: u64) -> Proposal {
    let mut rng = Seed(1).stream("fill", known);
    let draw = |_| settings.space.decode(&settings.space.sample(&mut rng));
    let configurations = (0..CHUNK).map(draw).collect();
    Proposal { known, configurations, engine: ENGINE.to_owned(), ..Proposal::default() }
}

/// For so many trials at once.
fn ask(key: &str, wanted: usize) -> Ask<'_> {
    Ask { worker: "filler", incarnation: None, key, wanted, fresh: false, plans: false }
}

/// `trials` finished trials, in one transaction: nobody waits for the disk 200,000 times.
fn fill_sqlite(store: &Sqlite, settings: &Settings, trials: usize) {
    let fill = |rules: &mut super::Rules<'_, super::Table<'_>>| {
        for chunk in 0..trials / CHUNK {
            let proposal = points(settings, (chunk * CHUNK) as u64);
            let key = format!("fill-{chunk}");
            let ask = ask(&key, CHUNK);
            let Reply::Claims(claims) = rules.ask(&ask, Some(&proposal))? else { unreachable!() };
            for claim in claims {
                let outcome = &Outcome::from(claim.trial as f64);
                let attributes = &Attributes::default();
                rules.tell(&Tell { token: claim.token, outcome, attributes, key: "t" })?;
            }
        }
        Ok(())
    };
    store.write(&settings.name, fill).unwrap();
}

fn fill_memory(store: &Memory, settings: &Settings, trials: usize) {
    for chunk in 0..trials / CHUNK {
        let proposal = points(settings, (chunk * CHUNK) as u64);
        let key = format!("fill-{chunk}");
        let ask = ask(&key, CHUNK);
        let reply = store.ask(&settings.name, &ask, Some(&proposal)).unwrap();
        let Reply::Claims(claims) = reply else { unreachable!() };
        for claim in claims {
            let outcome = Outcome::from(claim.trial as f64);
            store.tell(&settings.name, claim.token, &outcome, "t").unwrap();
        }
    }
}

/// The median cost of an ask for one trial with its tell, once the history is read.
fn steady(study: &Study) -> (Duration, Duration) {
    let (mut asks, mut tells) = (Vec::new(), Vec::new());
    for i in 0..101 {
        let start = Instant::now();
        let claim = study.ask("w", &format!("k{i}"), 1).unwrap().remove(0);
        asks.push(start.elapsed());
        let start = Instant::now();
        study.tell(claim.token, &Outcome::from(f64::from(i)), "t").unwrap();
        tells.push(start.elapsed());
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    (median(&mut asks), median(&mut tells))
}

fn measure(back_end: &str, fill: &dyn Fn(&Settings, usize) -> Arc<dyn Store>) {
    let mut sums = Vec::new();
    for trials in [1_000, 100_000] {
        let settings = settings(&format!("of-{trials}"));
        let store = fill(&settings, trials);
        let start = Instant::now();
        let mut follower = Follower::new(&settings);
        follower.catch_up(&*store).unwrap();
        let catch_up = start.elapsed();
        assert_eq!(follower.history().len(), trials);
        let study = Study::open_or_create(store, settings).unwrap();
        study.progress().unwrap();
        let (ask, tell) = steady(&study);
        println!(
            "{back_end} at {trials} trials: ask {ask:?}, tell {tell:?} (medians of 101); first read of all {catch_up:?}"
        );
        sums.push(ask + tell);
    }
    assert_same(&sums);
}

/// A cost in proportion to what is stored would be a hundred times higher; the rest is the noise of a disk that others use.
fn assert_same(sums: &[Duration]) {
    assert!(sums[1] < sums[0] * 5 + Duration::from_millis(5), "{sums:?}");
}

/// So many steps of a hundred running trials, in one transaction.
fn fill_steps(store: &Sqlite, settings: &Settings, steps: usize) {
    const RUNNING: usize = 100;
    let fill = |rules: &mut super::Rules<'_, super::Table<'_>>| {
        let proposal = points(settings, 0);
        let ask = ask("fill", RUNNING);
        let Reply::Claims(claims) = rules.ask(&ask, Some(&proposal))? else { unreachable!() };
        for claim in claims {
            let step = |at: usize| Measurement { fidelity: Some(at as f64), ..0.5.into() };
            let steps = (1..=steps / RUNNING).map(step).collect();
            rules.report(&[Report { token: claim.token, steps }])?;
        }
        Ok(())
    };
    store.write(&settings.name, fill).unwrap();
}

#[test]
fn asking_and_telling_costs_the_same_at_a_hundred_times_the_steps() {
    let folder = tempfile::tempdir().unwrap();
    let mut sums = Vec::new();
    for steps in [1_000, 100_000] {
        let goal = Goal::default().fidelity("steps", 1.0, 1e9).unwrap();
        let settings = settings(&format!("of-{steps}")).goal(goal);
        let store = Sqlite::at(folder.path().join("studies.db")).unwrap();
        store.create(&Record::new(settings.clone())).unwrap();
        fill_steps(&store, &settings, steps);
        let store: Arc<dyn Store> = Arc::new(store);
        let start = Instant::now();
        let mut follower = Follower::new(&settings);
        follower.catch_up(&*store).unwrap();
        let catch_up = start.elapsed();
        assert_eq!(follower.curve(0).len(), steps / 100);
        let study = Study::open_or_create(store, settings).unwrap();
        study.ask("first", "reads all", 1).unwrap();
        let (ask, tell) = steady(&study);
        println!(
            "sqlite at {steps} steps: ask {ask:?}, tell {tell:?}; first read of all {catch_up:?}"
        );
        sums.push(ask + tell);
    }
    assert_same(&sums);
}

#[test]
fn asking_and_telling_costs_the_same_at_a_hundred_times_the_trials() {
    measure("memory", &|settings, trials| {
        let store = Memory::new(SystemClock);
        store.create(&Record::new(settings.clone())).unwrap();
        fill_memory(&store, settings, trials);
        Arc::new(store)
    });
    let folder = tempfile::tempdir().unwrap();
    measure("sqlite", &|settings, trials| {
        let store = Sqlite::at(folder.path().join("studies.db")).unwrap();
        store.create(&Record::new(settings.clone())).unwrap();
        fill_sqlite(&store, settings, trials);
        Arc::new(store)
    });
}
