//! Servers that refuse, and servers that say nothing: both end in bounded time, with what to look at.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod server;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use server::Server;
use wimble::prelude::*;
use wimble_study::{Error, Postgres, Settings, Study};

fn settings() -> Settings {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    Settings::new("s", space, "random".parse().unwrap())
}

/// What is said of a server that cannot be opened, and how soon.
fn refused(address: &str) -> (String, Duration) {
    let since = Instant::now();
    let error = wimble_study::open(address).err().unwrap();
    assert!(matches!(error, Error::Backend { .. }), "{error:?}");
    (error.to_string(), since.elapsed())
}

#[test]
fn a_host_that_takes_connections_and_never_answers_is_given_up() {
    // The system takes connections for whoever listens, accepted or not.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for mode in ["disable", "require"] {
        let address =
            format!("postgresql://me:s3cret@127.0.0.1:{port}/d?sslmode={mode}&connect_timeout=1");
        let (said, took) = refused(&address);
        assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(20), "{took:?}");
        for words in ["me:…@127.0.0.1:", "connecting failed", "said nothing for 2 s", "network"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("s3cret"), "{said}");
    }
}

#[test]
fn a_password_that_is_wrong_or_missing_is_refused_at_once_and_never_shown() {
    if server::schema("passwords").is_none() {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start();
    server.require_password(port, "right");
    let address = |user: &str| format!("postgresql://{user}@localhost:{port}/postgres");
    wimble_study::open(&address("wimble:right")).map(drop).unwrap();
    for (user, words) in [
        ("wimble:wr0ng", "password authentication failed for user \"wimble\""),
        ("nobody:wr0ng", "password authentication failed for user \"nobody\""),
        ("wimble", "password missing"),
    ] {
        let (said, took) = refused(&address(user));
        assert!(took < Duration::from_secs(5), "it was tried again: {took:?}");
        for words in [words, "@localhost:", "connecting failed"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("wr0ng"), "{said}");
    }
}

#[test]
fn a_call_into_silence_ends_and_the_next_one_finds_the_server_again() {
    if server::schema("silence").is_none() {
        return;
    }
    let server = Server::start();
    let network = server.behind_network();
    let store = Arc::new(Postgres::at(&network.address()).unwrap().patience(Duration::ZERO));
    let study = Study::open_or_create(store, settings()).unwrap();
    network.swallow(true);
    let since = Instant::now();
    let error = study.set_budget(7).unwrap_err();
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert!(matches!(error, Error::Backend { .. }), "{error:?}");
    assert!(error.to_string().contains("the server said nothing for "), "{error}");
    network.swallow(false);
    study.set_budget(8).unwrap();
    assert_eq!(study.store().study("s").unwrap().settings.budget, 8);
}

#[test]
fn a_call_that_waits_for_another_s_lock_is_not_taken_for_silence() {
    if server::schema("locks").is_none() {
        return;
    }
    let server = Server::start();
    let network = server.behind_network();
    let store = Arc::new(Postgres::at(&network.address()).unwrap().patience(Duration::ZERO));
    let study = Study::open_or_create(store, settings()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (client, connection) =
        runtime.block_on(tokio_postgres::connect(&server.address, tokio_postgres::NoTls)).unwrap();
    runtime.spawn(connection);
    runtime
        .block_on(client.batch_execute("BEGIN; SELECT * FROM wimble.studies FOR UPDATE"))
        .unwrap();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| study.set_budget(7));
        // More than two silences.
        std::thread::sleep(Duration::from_secs(5));
        assert!(!call.is_finished(), "{:?}", call.join());
        runtime.block_on(client.batch_execute("COMMIT")).unwrap();
        call.join().unwrap().unwrap();
    });
    assert_eq!(study.store().study("s").unwrap().settings.budget, 7);
}

#[test]
fn calls_beside_one_that_waits_go_on_if_there_are_connections_and_lost_ones_are_opened_again() {
    if server::schema("several connections").is_none() {
        return;
    }
    let server = Server::start();
    let several = Postgres::at(&server.address).unwrap().patience(Duration::ZERO).connections(2);
    let study = Study::open_or_create(Arc::new(several), settings()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (client, connection) =
        runtime.block_on(tokio_postgres::connect(&server.address, tokio_postgres::NoTls)).unwrap();
    runtime.spawn(connection);
    let execute = |text: &str| runtime.block_on(client.batch_execute(text)).unwrap();
    execute("BEGIN; SELECT * FROM wimble.studies FOR UPDATE");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| study.set_budget(7));
        std::thread::sleep(Duration::from_millis(300));
        // It reads on a connection of its own.
        assert_ne!(study.store().study("s").unwrap().settings.budget, 7);
        assert!(!call.is_finished(), "{:?}", call.join());
        execute("COMMIT");
        call.join().unwrap().unwrap();
    });
    assert_eq!(study.store().study("s").unwrap().settings.budget, 7);
    // Both end while nothing is asked of them: the next call notices, and is made on a new one.
    execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wimble'",
    );
    std::thread::sleep(Duration::from_millis(100));
    study.set_budget(9).unwrap();
    assert_eq!(study.store().study("s").unwrap().settings.budget, 9);
}
