//! Addresses of chance, each with a password: whatever is said about one, the password is not. The fuzz target `address` does the
//! same with inputs of its own.
//!
//! `WIMBLE_TEST_ADDRESSES=N` tries so many.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../world/dice.rs"]
#[allow(dead_code, reason = "not every test needs all of it")]
mod dice;
mod given;

use dice::Dice;

/// Those of `./test`.
const USUAL: u64 = 20_000;
/// What addresses are made of, and what they are not.
const PIECES: &[&str] = &[
    "",
    "@",
    ":",
    "/",
    "?",
    "&",
    "=",
    "#",
    "%",
    "%40",
    "%2F",
    "%3A",
    "%",
    "%zz",
    "'",
    "\"",
    "\\",
    " ",
    "\t",
    "\n",
    "é",
    "\u{202e}",
    "\u{1b}[31m",
    "a",
    "me",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "h:5432",
    ":5432",
    "//",
    "://",
    "password",
    "password=",
    "&password=x",
    "user=u",
    "sslmode=require",
    "sslmode",
    "host=/run",
    "options=-c%20a=b",
    "schema=s",
    "postgresql://",
    "x,y",
    "-",
    "..",
    "0",
    "999999",
    "application_name",
    "\u{0}",
    "passfile=p",
    "sslpassword=q",
];

fn part(dice: &mut Dice) -> String {
    let count = dice.between(0, 4);
    (0..count).map(|_| PIECES[dice.between(0, PIECES.len() as i64 - 1) as usize]).collect()
}

#[test]
fn nothing_that_is_said_of_any_address_has_its_password() {
    let count =
        std::env::var("WIMBLE_TEST_ADDRESSES").map_or(USUAL, |count| count.parse().unwrap());
    for seed in 0..count {
        let mut dice = Dice::new(seed);
        let place = dice.between(0, 8) as u8;
        let [user, odd, host, rest] = std::array::from_fn(|_| part(&mut dice));
        given::check((place, &user, &odd, &host, &rest));
    }
}
