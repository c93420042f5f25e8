//! Work without the interpreter's lock, during which Ctrl-C works.
//!
//! Python handles signals in its main thread, between two instructions. A call that computes or waits in Rust is no
//! instruction: so the work is done by a thread of its own, and the calling thread looks for signals every few milliseconds.
//!
//! # Shutting down
//! A thread that asks for the interpreter's lock while the interpreter ends is ended in the middle of its frames, which
//! aborts the process in Rust. `ending` runs when the interpreter begins to end; from then on, threads that come back from
//! their work stay where they are until the process is gone.

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How long a signal may have to wait.
const TICK: Duration = Duration::from_millis(50);

/// The thread in which the interpreter ends, once it does.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// The interpreter ends, in this thread.
#[pyfunction]
pub fn ending() {
    let _ = ENDING.set(thread::current().id());
}

/// Runs short work without the interpreter's lock. Signals wait for its end.
pub fn brief<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let done = work();
        stay_if_ending();
        done
    })
}

/// Runs work without the interpreter's lock, and handles signals meanwhile. If a signal's handler raises, that is
/// returned at once; the work goes on, and `undo` gets what comes of it.
pub fn long<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    undo: impl FnOnce(T) + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let run = move || {
        if let Err(unwanted) = sender.send(work()) {
            undo(unwanted.0);
        }
    };
    thread::Builder::new().name("wimble".to_owned()).spawn(run)?;
    loop {
        let (back, answer) = detached(py, receiver);
        match answer {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
        }
        receiver = back;
    }
}

/// Runs work without the interpreter's lock. A signal whose handler raises asks the work to stop, once for each; what was
/// raised first is returned when the work has ended.
pub fn stoppable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    stop: impl Fn(),
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let run = move || {
        let _ = sender.send(work());
    };
    thread::Builder::new().name("wimble".to_owned()).spawn(run)?;
    let mut raised = None;
    loop {
        let (back, answer) = detached(py, receiver);
        if let Err(error) = py.check_signals() {
            raised.get_or_insert(error);
            stop();
        }
        match answer {
            Ok(done) => return raised.map_or(Ok(done), Err),
            Err(RecvTimeoutError::Timeout) => receiver = back,
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
        }
    }
}

/// Waits for a moment without the interpreter's lock.
fn detached<T: Send>(
    py: Python<'_>,
    receiver: Receiver<T>,
) -> (Receiver<T>, Result<T, RecvTimeoutError>) {
    py.detach(move || {
        let answer = receiver.recv_timeout(TICK);
        stay_if_ending();
        (receiver, answer)
    })
}

fn panicked() -> PyErr {
    PyRuntimeError::new_err("wimble panicked; its message is on standard error")
}

fn stay_if_ending() {
    if ENDING.get().is_some_and(|&thread| thread != thread::current().id()) {
        loop {
            thread::park();
        }
    }
}
