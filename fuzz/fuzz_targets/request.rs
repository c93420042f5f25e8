//! Any bytes that a client may send: the server answers as HTTP or not at all, never fails, and never panics.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wimble_server::http::Inside;

#[path = "../../crates/server/tests/requests/body.rs"]
mod body;

static INSIDE: LazyLock<Inside> = LazyLock::new(|| body::inside().0);

fuzz_target!(|data: &[u8]| {
    body::check(&INSIDE, data);
});
