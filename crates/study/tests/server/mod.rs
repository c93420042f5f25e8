//! The PostgreSQL that tests run on: `./test` starts one, and names it in [`ADDRESS`].

use std::sync::atomic::{AtomicUsize, Ordering};

/// The variable with the server's address.
pub const ADDRESS: &str = "WIMBLE_TEST_POSTGRES";

/// The address of a schema that no other test has; without a server `None`, and a line that says what is skipped.
pub fn schema(skipped: &str) -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let Ok(server) = std::env::var(ADDRESS) else {
        eprintln!("skipped: {skipped} on PostgreSQL, for {ADDRESS} names none; ./test starts one");
        return None;
    };
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let joint = if server.contains('?') { '&' } else { '?' };
    Some(format!("{server}{joint}schema=t_{process}_{number}"))
}
