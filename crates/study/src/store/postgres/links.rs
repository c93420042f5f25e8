//! The connections of a store: opened as calls need them, up to a number of them; a call beyond that waits until one is free.
//!
//! A call that waits for the server's disk holds its connection meanwhile. Where many threads share a store, as behind `wimble
//! serve`, one connection would make them wait for the disk one after the other; with several, the server flushes its log for
//! all of them at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::link::Link;

/// The connections of a store.
pub(super) struct Links {
    most: usize,
    kept: Mutex<Kept>,
    freed: Condvar,
}

#[derive(Default)]
struct Kept {
    /// Open, and in no call.
    idle: Vec<Link>,
    /// How many calls have a place.
    taken: usize,
}

/// The place of one call, which may have a connection. It is given back when dropped.
pub(super) struct Place<'s> {
    links: &'s Links,
    link: Option<Link>,
}

impl Links {
    /// At most so many connections.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), kept: Mutex::default(), freed: Condvar::new() }
    }

    /// With room for more, or fewer.
    pub fn limit(&mut self, most: usize) {
        self.most = most.max(1);
    }

    /// A place, once there is one.
    pub fn enter(&self) -> Place<'_> {
        let mut kept = self.lock();
        while kept.taken >= self.most {
            kept = self.freed.wait(kept).unwrap_or_else(PoisonError::into_inner);
        }
        kept.taken += 1;
        Place { links: self, link: kept.idle.pop() }
    }

    /// Every change under the lock is whole: a panic elsewhere leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// An open connection: its own, one that another call has left since, or a new one.
    pub fn link<E>(&mut self, connect: impl FnOnce() -> Result<Link, E>) -> Result<&mut Link, E> {
        let is_open = |link: &Link| !link.is_closed();
        let own = self.link.take().filter(is_open);
        let open = own.or_else(|| self.links.lock().idle.pop().filter(is_open));
        let link = match open {
            Some(link) => link,
            None => connect()?,
        };
        Ok(self.link.insert(link))
    }

    /// Closes the connection. Whatever it was in the middle of ends with it. What the server did to this one it probably did to
    /// the idle ones, which would only notice in their next call: these are closed, too.
    pub fn close(&mut self) {
        self.link = None;
        self.links.lock().idle.clear();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // A call that panicked may have left a transaction open.
        let link = self.link.take().filter(|link| !link.is_closed() && !std::thread::panicking());
        let mut kept = self.links.lock();
        kept.taken -= 1;
        kept.idle.extend(link);
        drop(kept);
        self.links.freed.notify_one();
    }
}
