//! Heartbeats for the trials that this process holds, sent by a thread of Rust: also while Python computes.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wimble_study::{Refused, Study, Token};

/// How many heartbeats are sent within the length of a lease.
const BEATS: u32 = 4;
/// The shortest interval between heartbeats, however short the lease.
const SHORTEST: Duration = Duration::from_millis(20);
/// The longest interval between heartbeats.
const LONGEST: Duration = Duration::from_secs(15);

/// The trials in hand; `Some` says why a trial was lost.
type Held = Arc<Mutex<BTreeMap<Token, Option<String>>>>;

/// Renews the leases of trials until it is dropped.
#[derive(Default)]
pub struct Heartbeats {
    held: Held,
    /// The thread, once it is needed: it ends when this is dropped.
    thread: Mutex<Option<Sender<()>>>,
}

impl Heartbeats {
    /// Renews the leases of these trials from now on.
    pub fn hold(&self, study: &Arc<Study>, tokens: impl IntoIterator<Item = Token>) {
        lock(&self.held).extend(tokens.into_iter().map(|token| (token, None)));
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() && !lock(&self.held).is_empty() {
            let (sender, rest) = channel::<()>();
            let (study, held) = (Arc::clone(study), Arc::clone(&self.held));
            let pause = (study.settings().lease / BEATS).clamp(SHORTEST, LONGEST);
            let beat = move || {
                while rest.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    renew(&study, &held);
                }
            };
            // Without a thread, trials go back to the queue when their lease is over: nothing is lost.
            if thread::Builder::new().name("wimble-heartbeats".to_owned()).spawn(beat).is_ok() {
                *thread = Some(sender);
            }
        }
    }

    /// No longer renews the lease of a trial.
    pub fn let_go(&self, token: Token) {
        lock(&self.held).remove(&token);
    }

    /// Why a trial no longer belongs to this process, if that is known.
    pub fn lost(&self, token: Token) -> Option<String> {
        lock(&self.held).get(&token).cloned().flatten()
    }

    /// The trials in hand.
    pub fn tokens(&self) -> Vec<Token> {
        let held = lock(&self.held);
        held.iter().filter(|(_, lost)| lost.is_none()).map(|(token, _)| *token).collect()
    }
}

fn renew(study: &Study, held: &Held) {
    let in_hand = |held: &BTreeMap<Token, Option<String>>| -> Vec<Token> {
        held.iter().filter(|(_, lost)| lost.is_none()).map(|(token, _)| *token).collect()
    };
    let tokens = in_hand(&lock(held));
    if tokens.is_empty() {
        return;
    }
    // If the storage does not answer, the next heartbeat may reach it.
    for Refused { token, error } in study.heartbeats(&tokens).unwrap_or_default() {
        if let Some(lost) = lock(held).get_mut(&token) {
            *lost = Some(error.to_string());
        }
    }
}

fn lock(held: &Held) -> MutexGuard<'_, BTreeMap<Token, Option<String>>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
