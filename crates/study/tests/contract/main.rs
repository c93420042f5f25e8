//! The contract of `store`, clause by clause, on every back end of this crate. The one behind a server is held to it where the
//! server is.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../server/mod.rs"]
mod server;
#[macro_use]
#[path = "suite.rs"]
mod suite;

use std::sync::Arc;

use wimble_study::{ManualClock, Memory, Postgres, Sqlite};

use suite::Place;

fn memory() -> Place {
    let clock = ManualClock::default();
    Place { store: Arc::new(Memory::new(clock.clone())), clock, kept: None }
}

fn sqlite() -> Place {
    let (clock, folder) = (ManualClock::default(), tempfile::tempdir().unwrap());
    let store = Sqlite::open(folder.path().join("studies.db"), clock.clone()).unwrap();
    Place { store: Arc::new(store), clock, kept: Some(Box::new(folder)) }
}

fn postgres() -> Option<Place> {
    server::schema("the contract").map(|address| at(&address))
}

/// Through PgBouncer in transaction mode, which has four connections for all tests that run at a time.
fn pooled() -> Option<Place> {
    server::pooled_schema("the contract through a pooler").map(|address| at(&address))
}

fn at(address: &str) -> Place {
    let clock = ManualClock::default();
    let store = Postgres::open(address, clock.clone()).unwrap();
    Place { store: Arc::new(store), clock, kept: None }
}

hold!(on_memory: Some(crate::memory()));
hold!(on_sqlite: Some(crate::sqlite()));
hold!(on_postgres: crate::postgres());
hold!(behind_a_pooler: crate::pooled());
