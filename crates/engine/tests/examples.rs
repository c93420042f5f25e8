//! The examples that show how to use the engine run, and end.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/threads.rs"]
mod threads;

#[test]
fn threads_share_one_search() {
    threads::main().unwrap();
}
