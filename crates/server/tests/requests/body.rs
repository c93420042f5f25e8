//! What must hold of any request, for the fuzz target and for the test that sends a million of them.

use std::sync::Arc;

use wimble::prelude::*;
use wimble_server::http::Inside;
use wimble_server::{Options, Tokens};
use wimble_study::{Memory, Settings, Store, Study, SystemClock};

/// The token that may do anything; requests of the seeds bring it.
pub const TOKEN: &str = "write-token-of-the-fuzz-target";

/// A server without sockets over a store with two short studies, one with curves.
pub fn inside() -> (Inside, Arc<dyn Store>) {
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let space = || {
        SearchSpace::new([
            Dimension::real("x", -2.0, 2.0),
            Dimension::categorical("kind", ["a", "b"]),
        ])
        .unwrap()
    };
    let curved = Goal::default().fidelity("epochs", 1.0, 9.0).unwrap();
    for (name, goal) in [("s", Goal::default()), ("c", curved)] {
        let settings = Settings::new(name, space(), "random".parse().unwrap()).goal(goal);
        let study = Study::open_or_create(Arc::clone(&store), settings.budget(1_000)).unwrap();
        for i in 0..20 {
            let claim = study.ask("w", &format!("k{i}"), 1).unwrap().remove(0);
            study.tell(claim.token, &f64::from(i).into(), "t").unwrap();
        }
    }
    let tokens = Tokens { write: Some(TOKEN.to_owned()), ..Tokens::default() };
    let inside = Inside::new(Arc::clone(&store), Options { tokens, ..Options::local(8765) });
    (inside.unwrap(), store)
}

/// Any bytes are answered as HTTP or not at all, and never with a failure of the server.
pub fn check(inside: &Inside, bytes: &[u8]) -> u16 {
    let answer = inside.send(bytes);
    let head = String::from_utf8_lossy(&answer[..answer.len().min(400)]).into_owned();
    let sent = || String::from_utf8_lossy(bytes).into_owned();
    if head.is_empty() {
        return 0;
    }
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    let Some(status) = status else { panic!("{head:?} to {:?}", sent()) };
    assert!(status != 500, "{head:?} to {:?}", sent());
    // What the router refuses is a sentence as JSON; what the parser refuses has no body.
    let is_json = head.to_lowercase().contains("content-type: application/json");
    let is_bare = head.to_lowercase().contains("content-length: 0");
    assert!(status < 400 || is_json || is_bare, "{head:?} to {:?}", sent());
    status
}
