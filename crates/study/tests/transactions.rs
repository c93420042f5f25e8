//! Transactions on a real server that go wrong: what is left of them holds up nobody.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod connection;
mod server;

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};
use wimble::prelude::*;
use wimble_study::{Outcome, Postgres, Settings, Store, Study};

/// A connection of somebody else.
struct Other {
    runtime: Runtime,
    client: Client,
}

impl Other {
    /// To the database and the schema of an address of a test.
    fn connect(address: &str) -> Self {
        let (base, query) = address.split_once('?').unwrap();
        let schema = query.split('&').find_map(|pair| pair.strip_prefix("schema=")).unwrap();
        let (runtime, client) = connection::connect(base, schema);
        Self { runtime, client }
    }

    fn run(&self, statements: &str) {
        self.runtime.block_on(self.client.batch_execute(statements)).unwrap();
    }

    fn number(&self, query: &str) -> i64 {
        self.runtime.block_on(self.client.query_one(query, &[])).unwrap().get(0)
    }
}

fn settings() -> Settings {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    Settings::new("s", space, "random".parse().unwrap())
}

fn open(address: &str) -> Study {
    let store: Arc<dyn Store> = Arc::new(Postgres::at(address).unwrap().patience(Duration::ZERO));
    Study::open_or_create(store, settings()).unwrap()
}

#[test]
fn a_call_that_fails_in_its_transaction_leaves_none_open() {
    let Some(address) = server::schema("failed transactions") else { return };
    let study = open(&address);
    let claims = study.ask("w", "k", 3).unwrap();
    let (locker, watcher) = (Other::connect(&address), Other::connect(&address));
    let calls: [&(dyn Fn() -> wimble_study::Result<()> + Sync); 3] = [
        &|| study.heartbeat(claims[0].token),
        &|| study.tell(claims[1].token, &Outcome::from(1.0), "t"),
        &|| study.release(claims[2].token),
    ];
    for call in calls {
        locker.run("BEGIN; LOCK TABLE studies IN ACCESS EXCLUSIVE MODE");
        let failed = std::thread::scope(|scope| {
            let waiting = scope.spawn(call);
            // As a lock timeout ends it, but sooner.
            let since = Instant::now();
            while watcher.number(
                "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity \
                 WHERE application_name = 'wimble' AND wait_event_type = 'Lock' AND query LIKE '%studies%'",
            ) == 0
            {
                assert!(since.elapsed() < Duration::from_secs(30), "nobody waits for the lock");
                sleep(Duration::from_millis(20));
            }
            waiting.join().unwrap()
        });
        locker.run("COMMIT");
        let error = failed.unwrap_err().to_string();
        assert!(error.contains("canceling statement"), "{error}");
        // The connection is in no failed transaction.
        call().unwrap();
        study.counts().unwrap();
    }
}

#[test]
fn a_process_that_is_frozen_in_its_turn_to_propose_holds_up_nobody_for_long() {
    let Some(address) = server::schema("a frozen proposer") else { return };
    let study = open(&address);
    let frozen = Other::connect(&address);
    // What a worker holds while it adds its proposal.
    frozen.run("BEGIN; SELECT pg_advisory_xact_lock(1463897412, hashtext('s'))");
    let since = Instant::now();
    assert_eq!(study.ask("w", "k", 2).unwrap().len(), 2);
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    frozen.run("COMMIT");
}

#[test]
fn no_session_keeps_a_lock_between_calls() {
    let Some(address) = server::schema("locks between calls") else { return };
    let study = open(&address);
    let claim = study.ask("w", "k", 1).unwrap().remove(0);
    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    // Other tests work on the same server: only a session that is in no transaction, and stays so, keeps a lock of its own.
    let other = Other::connect(&address);
    let kept = || {
        other.number(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
             WHERE locktype = 'advisory' AND classid = 1463897412 AND state = 'idle'",
        )
    };
    let never = (0..40).all(|_| {
        sleep(Duration::from_millis(50));
        kept() > 0
    });
    assert!(!never, "a session that is in no transaction holds a lock");
}

#[test]
fn a_server_whose_defaults_are_read_only_or_serializable_is_met_with_the_right_ones() {
    let Some(address) = server::schema("other defaults") else { return };
    let options = "options=-c%20default_transaction_read_only=on%20-c%20default_transaction_isolation=serializable";
    let address = format!("{address}&{options}");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let address = &address;
            scope.spawn(move || {
                let (study, name) = (open(address), format!("w{worker}"));
                for i in 0..10 {
                    let claim = study.ask(&name, &format!("{name}-{i}"), 1).unwrap().remove(0);
                    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
                }
            });
        }
    });
    assert_eq!(open(&address).counts().unwrap().valued, 40);
}

#[test]
fn none_of_a_poolers_connections_keeps_anything_of_ours_and_schemas_do_not_meet() {
    let Some(address) = server::pooled_schema("what stays behind in a pooler") else { return };
    let other = server::pooled_schema("what stays behind in a pooler").unwrap();
    std::thread::scope(|scope| {
        for (worker, address) in
            [&address, &other, &address, &other, &address, &other].into_iter().enumerate()
        {
            scope.spawn(move || {
                let (study, name) = (open(address), format!("w{worker}"));
                for i in 0..10 {
                    let claim = study.ask(&name, &format!("{name}-{i}"), 1).unwrap().remove(0);
                    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
                }
            });
        }
    });
    for address in [&address, &other] {
        assert_eq!(open(address).counts().unwrap().valued, 30);
    }
    // All connections of the pool at once, as whoever else uses it finds them.
    let base = address.split_once('?').unwrap().0;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut clients = Vec::new();
        for _ in 0..4 {
            let (client, connection) = tokio_postgres::connect(base, NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute("BEGIN").await.unwrap();
            clients.push(client);
        }
        for client in &clients {
            let question = "SELECT current_setting('search_path') || ' ' || current_setting('enable_seqscan') \
                || ' ' || (SELECT count(*) FROM pg_prepared_statements)";
            let found = client.simple_query(question).await.unwrap();
            let found = found.iter().find_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
                _ => None,
            });
            assert_eq!(found, Some("\"$user\", public on 0"));
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    });
}
