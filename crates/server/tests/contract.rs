//! The contract of `store`, clause by clause, through a server: `--storage http://host:port` is a back end like the others.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
#[path = "../../study/tests/contract/suite.rs"]
mod suite;

use std::sync::Arc;

use suite::Place;
use wimble_server::{Options, Server, Tokens};
use wimble_study::{Http, ManualClock, Memory};

const TOKEN: &str = "a-token-that-is-long-enough";

fn http() -> Place {
    let clock = ManualClock::default();
    let tokens = Tokens { write: Some(TOKEN.to_owned()), ..Tokens::default() };
    let options = Options { tokens, ..Options::local(0) };
    let server = Server::start(Arc::new(Memory::new(clock.clone())), options).unwrap();
    let store = Http::at(&format!("http://:{TOKEN}@{}", server.address())).unwrap();
    Place { store: Arc::new(store), clock, kept: Some(Box::new(server)) }
}

hold!(through_a_server: Some(crate::http()));
