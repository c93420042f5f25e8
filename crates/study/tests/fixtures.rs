//! Storages that earlier versions wrote are opened, migrated and continued: see `fixtures/README.md`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use wimble::prelude::*;
use wimble_study::settings::ENGINE;
use wimble_study::trial::Ended;
use wimble_study::{
    Counts, EngineSpan, Error, Failure, Filter, ManualClock, Origin, Outcome, Postgres, Sqlite,
    State, Store, Study, Timestamp, Token,
};

/// When the storages of version 0.1 were left: 2026-11-01 12:00 UTC, and 333 seconds.
const LEFT: Timestamp = Timestamp(1_793_534_400_000 + 333_000);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn clock() -> ManualClock {
    let clock = ManualClock::default();
    clock.set(LEFT);
    clock
}

#[test]
fn a_sqlite_file_of_version_0_1_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    std::fs::copy(fixture("0.1/studies.db"), &path).unwrap();
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path, clock()).unwrap());
    continue_all(&store);
    // Once migrated, it stays so.
    drop(store);
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&path, clock()).unwrap());
    assert_eq!(Study::open(store, "minimise").unwrap().counts().unwrap().running, 0);
}

#[test]
fn a_postgresql_database_of_version_0_1_is_continued() {
    let Some(address) = server::schema("a database of version 0.1") else { return };
    let (server, schema) = address.split_once("schema=").unwrap();
    restore(server.trim_end_matches(['?', '&']), schema, &fixture("0.1/studies.sql"));
    let store: Arc<dyn Store> = Arc::new(Postgres::open(&address, clock()).unwrap());
    continue_all(&store);
}

/// Loads a dump of the schema `wimble` under another name.
fn restore(server: &str, schema: &str, dump: &Path) {
    let dump = std::fs::read_to_string(dump).unwrap();
    let lines = dump.lines().filter(|line| !line.starts_with('\\'));
    let dump = lines.collect::<Vec<_>>().join("\n");
    let dump = dump.replace("SCHEMA wimble", &format!("SCHEMA {schema}"));
    let dump = dump.replace("wimble.", &format!("{schema}."));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(server, tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        client.batch_execute(&dump).await.unwrap();
        drop(client);
        connection.await.unwrap().unwrap();
    });
}

fn continue_all(store: &Arc<dyn Store>) {
    let methods = store.studies().unwrap().into_iter().filter(|name| name.starts_with("method-"));
    let methods: Vec<String> = methods.collect();
    assert_eq!(methods.len(), 19);
    minimise(store);
    maximise(store);
    // Who opens a study with the same words as before continues it as it was created.
    let old = store.study("method-00").unwrap().settings;
    assert_eq!(old.method.to_string(), "auto initial=10");
    let words = wimble_study::Settings { method: "auto".parse().unwrap(), ..old.clone() };
    let again = Study::open_or_create(Arc::clone(store), words).unwrap();
    assert_eq!(again.settings(), &old);
    let other = wimble_study::Settings { method: "auto width=2".parse().unwrap(), ..old };
    assert!(matches!(Study::open_or_create(Arc::clone(store), other), Err(Error::Differs { .. })));
    // What followed the batch size still does, though it was stored as a number.
    let network = store.study("method-01").unwrap().settings.method;
    assert_eq!(network, "bore preset=paper".parse().unwrap(), "{network}");
    let old = store.study("method-01").unwrap().settings;
    let words = wimble_study::Settings { method: "bore".parse().unwrap(), ..old.clone() };
    let again = Study::open_or_create(Arc::clone(store), words).unwrap();
    assert_eq!(again.settings(), &old);
    let other = wimble_study::Settings { method: "bore preset=best".parse().unwrap(), ..old };
    assert!(matches!(Study::open_or_create(Arc::clone(store), other), Err(Error::Differs { .. })));
    for name in methods {
        let study = Study::open(Arc::clone(store), &name).unwrap();
        let claims = study.ask("w", "again", 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(claims[0].trial, 2, "{name}");
        study.tell(claims[0].token, &Outcome::from(0.5), "told").unwrap();
        assert_eq!(study.counts().unwrap().valued, 3, "{name}");
    }
    // The fencing numbers of a study that was deleted go on.
    let settings = Study::open(Arc::clone(store), "method-00").unwrap().settings().clone();
    let settings = wimble_study::Settings { name: "deleted".to_owned(), ..settings };
    let study = Study::open_or_create(Arc::clone(store), settings).unwrap();
    assert_eq!(study.ask("w", "k", 1).unwrap()[0].token, Token { trial: 0, fence: 4 });
}

/// Every state of a trial, as it was left; then the study goes on.
fn minimise(store: &Arc<dyn Store>) {
    let study = Study::open(Arc::clone(store), "minimise").unwrap();
    assert_eq!(study.settings().seed, Seed(u64::MAX));
    assert_eq!(study.settings().lease, Duration::from_secs(90));
    let left = Counts {
        queued: 2,
        running: 2,
        valued: 11,
        failed: 3,
        infeasible: 2,
        imported: 3,
        paused: 0,
    };
    assert_eq!(study.counts().unwrap(), left);
    let before = study.trials(&Filter::default()).unwrap();
    assert_eq!(before.len(), 20);
    assert_eq!(before[0].origin, Origin::Imported);
    assert_eq!(before[0].outcome(), Some(&Outcome::from(0.75)));
    assert_eq!(before[0].worker(), Some("elsewhere"));
    assert_eq!(before[0].started(), Some(Timestamp(1_793_534_400_000 - 7_200_000)));
    let curve = before[0].attributes().unwrap().get("curve").unwrap();
    assert_eq!(*curve, json!([1, 0.5, null, "naïve"]));
    let failure = Failure {
        reason: "exit status: 3".to_owned(),
        output: "epoch 1\nTraceback: «diverged»\n".to_owned(),
    };
    assert_eq!(before[7].outcome(), Some(&Outcome::Failed(failure)));
    assert_eq!(before[10].outcome(), Some(&Outcome::Infeasible));
    let twice = &before[15];
    assert_eq!((twice.origin, twice.lost), (Origin::Enqueued, 2));
    assert!(
        matches!(twice.outcome(), Some(Outcome::Failed(failure)) if failure.reason.contains("lost 2 times"))
    );
    let ended = |ended| {
        let queued = State::Queued(Some(ended));
        before.iter().filter(|trial| trial.state == queued).count()
    };
    assert_eq!((ended(Ended::RanOut), ended(Ended::Released)), (1, 1));
    let best = study.best().unwrap().unwrap();
    assert_eq!(before[best.trial as usize].outcome(), Some(&Outcome::from(best.value)));
    assert!(study.recommend().unwrap().is_some());

    // A worker of the old version asks again, and tells under the token that it has.
    let running = study.ask("w4", "running", 2).unwrap();
    assert_eq!(running.len(), 2);
    for claim in &running {
        assert_eq!(claim.configuration, before[claim.trial as usize].configuration);
        study.heartbeat(claim.token).unwrap();
        study.tell(claim.token, &Outcome::from(5.0), "told").unwrap();
    }
    // What it told before is acknowledged again, and a token that it lost is not honoured.
    let State::Finished(told) = &before[3].state else { panic!("{:?}", before[3]) };
    let token = Token { trial: 3, fence: told.lease.fence };
    let key = told.key.as_ref().unwrap();
    study.tell_with(token, &told.outcome, &told.attributes, key).unwrap();
    let lost = study.tell(Token { trial: 15, fence: 13 }, &Outcome::from(1.0), "late");
    assert!(matches!(lost, Err(Error::LeaseLost { .. })), "{lost:?}");

    // The queue first, then new proposals: the present engine's.
    let first = before.len() as u64;
    let claims = study.ask("new", "new", 5).unwrap();
    assert_eq!(claims.len(), 5);
    assert_eq!(claims.iter().filter(|claim| claim.trial >= first).count(), 3);
    for claim in &claims {
        study.tell(claim.token, &Outcome::from(-1.0 - claim.trial as f64), "told").unwrap();
    }
    let newest = study.trials(&Filter { from: first, ..Filter::default() }).unwrap();
    let last = newest.iter().filter(|trial| trial.outcome().is_some()).map(|trial| trial.id).max();
    assert_eq!(study.best().unwrap().map(|best| best.trial), last);
    assert!(study.recommend().unwrap().is_some());
    let mut engines = vec![EngineSpan { version: "0.1.0".to_owned(), first_trial: 0 }];
    if ENGINE != "0.1.0" {
        engines.push(EngineSpan { version: ENGINE.to_owned(), first_trial: first });
    }
    assert_eq!(store.study("minimise").unwrap().engines, engines);
}

/// A model that has something to learn from.
fn maximise(store: &Arc<dyn Store>) {
    let study = Study::open(Arc::clone(store), "maximise").unwrap();
    assert_eq!(study.settings().goal, Direction::Maximise.into());
    let best = study.best().unwrap().unwrap();
    let values = study.trials(&Filter::default()).unwrap();
    let values = values.iter().filter_map(|trial| trial.outcome()?.value());
    assert_eq!(best.value, values.fold(f64::NEG_INFINITY, f64::max));
    let claims = study.ask("new", "new", 5).unwrap();
    assert_eq!(claims.iter().map(|claim| claim.trial).collect::<Vec<_>>(), [20, 21, 22, 23, 24]);
    for claim in &claims {
        study.tell(claim.token, &Outcome::from(2.0 + claim.trial as f64), "told").unwrap();
    }
    assert_eq!(study.best().unwrap().unwrap().trial, 24);
    assert!(study.recommend().unwrap().is_some());
}
