//! The command `wimble`.
fn main() {}
