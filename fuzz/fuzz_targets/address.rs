//! Any address with a password in it: whatever is said about it, the password is not.

#![no_main]

#[path = "../../crates/study/tests/address/given.rs"]
mod given;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|parts: (u8, &str, &str, &str, &str)| given::check(parts));
