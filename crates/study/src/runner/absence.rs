//! One outage of the storage, shared by all threads of a run.
//!
//! It begins with the first call that fails and ends with the first that is answered. The watcher hears of its beginning
//! and its end, and every minute in between. Meanwhile one thread at a time tries to reach the storage, because a call to
//! a server that is cut off may hang; the other threads wait.
//!
//! Once an outage has lasted longer than the patience, or the run is told to stop, calls return unanswered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::process::Urgency;
use super::{Event, SHORT_LOOK, Stop};
use crate::error::{Error, Result};

/// The pause between two attempts to reach the storage, at first and at most.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// Interval between reminders of an outage that lasts.
const REMINDER: Duration = Duration::from_secs(60);
/// How long a run that is told to stop still tries to reach a storage that may be restarting.
const LAST_LOOKS: Duration = Duration::from_secs(2);

/// Whether the storage answers, for all threads of a run.
pub(super) struct Absence<'r> {
    watch: &'r (dyn Fn(Event) + Sync),
    stop: &'r Stop,
    patience: Duration,
    away: Mutex<Option<Away>>,
    look: Mutex<()>,
    /// When the run was first seen to be told to stop.
    stopping: OnceLock<Instant>,
    over: AtomicBool,
}

#[derive(Clone)]
struct Away {
    since: Instant,
    said: Instant,
    reason: String,
}

impl<'r> Absence<'r> {
    pub fn new(watch: &'r (dyn Fn(Event) + Sync), stop: &'r Stop, patience: Duration) -> Self {
        Self {
            watch,
            stop,
            patience,
            away: Mutex::new(None),
            look: Mutex::new(()),
            stopping: OnceLock::new(),
            over: AtomicBool::new(false),
        }
    }

    /// Repeats a call until the storage answers it; `None` if the run gave up first. Calls `waiting` before the first wait.
    pub fn outlast<T>(
        &self,
        mut call: impl FnMut() -> Result<T>,
        waiting: impl FnOnce(),
    ) -> Option<Result<T>> {
        let [mut wait, longest] = BACK_OFF;
        if let Some(answer) = self.attempt(&mut call) {
            return Some(answer);
        }
        waiting();
        loop {
            let until = Instant::now() + wait;
            while Instant::now() < until && self.is_away() {
                if self.over.load(Ordering::SeqCst) || self.stop.urgency() == Urgency::Kill {
                    return None;
                }
                if self.stop.urgency() == Urgency::Ask
                    && self.stopping.get_or_init(Instant::now).elapsed() > LAST_LOOKS
                {
                    return None;
                }
                std::thread::sleep(SHORT_LOOK.min(wait));
            }
            if let Some(answer) = self.attempt(&mut call) {
                return Some(answer);
            }
            wait = (wait * 2).min(longest);
        }
    }

    /// Makes the call once; `None` if the storage did not answer, or if another thread is trying to reach it just now.
    fn attempt<T>(&self, call: &mut impl FnMut() -> Result<T>) -> Option<Result<T>> {
        let _look = match (self.is_away(), self.look.try_lock()) {
            (false, _) => None,
            (true, Ok(look)) => Some(look),
            (true, Err(TryLockError::Poisoned(look))) => Some(look.into_inner()),
            (true, Err(TryLockError::WouldBlock)) => return None,
        };
        let answer = call();
        self.hear(answer.as_ref().err());
        answer.as_ref().err().is_none_or(is_answer).then_some(answer)
    }

    /// Takes note of how a call ended.
    pub fn hear(&self, error: Option<&Error>) {
        match error {
            Some(error) if !is_answer(error) => self.begin_or_go_on(error.to_string()),
            _ => self.end(),
        }
    }

    /// Whether the storage is away.
    pub fn is_away(&self) -> bool {
        self.lock().is_some()
    }

    /// What the storage said when it was given up, if it was.
    pub fn given_up(&self) -> Option<String> {
        let over = self.over.load(Ordering::SeqCst);
        self.lock().as_ref().filter(|_| over).map(|away| away.reason.clone())
    }

    fn begin_or_go_on(&self, reason: String) {
        let now = Instant::now();
        let mut away = self.lock();
        let begins = away.is_none();
        let absence =
            away.get_or_insert_with(|| Away { since: now, said: now, reason: reason.clone() });
        absence.reason.clone_from(&reason);
        let lasted = now - absence.since;
        let say = begins || now - absence.said >= REMINDER;
        if say {
            absence.said = now;
        }
        drop(away);
        if say {
            (self.watch)(Event::StorageAway { reason, lasted, patience: self.patience });
        }
        if lasted > self.patience && !self.over.swap(true, Ordering::SeqCst) {
            // What runs can store nothing: it ends as if the user had asked.
            self.stop.request_once();
        }
    }

    fn end(&self) {
        let away = self.lock().take();
        if let Some(away) = away {
            (self.watch)(Event::StorageBack { lasted: away.since.elapsed() });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Away>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error comes from a storage that answers.
fn is_answer(error: &Error) -> bool {
    !matches!(error, Error::Busy { .. } | Error::Backend { .. })
}
