//! The socket through which `wimble report` speaks to the runner of its command.
//!
//! One a run, in a folder that only this user can enter; its path is in the environment of every command as
//! [`REPORT`]. A caller sends one line, a step with the number of its trial, and gets one line: a [`Reply`]. The answer
//! says what is known at that moment, so that no command waits for the storage.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tempfile::TempDir;

use super::live_steps::LONGEST_LINE;
use super::slots::Shared;
use super::trial_folder;

/// The environment variable with the path of the socket.
pub const REPORT: &str = "WIMBLE_REPORT";
/// Interval between looks for callers.
const LOOK: Duration = Duration::from_millis(10);
/// How long a caller may take to say its line, and a runner to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The answer to a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The step is taken, and the evaluation should go on.
    GoOn,
    /// The evaluation should end: its trial is to be stopped.
    Stop,
    /// The step was left out, and why. The evaluation may go on.
    Refused(String),
}

/// Sends a step to the runner at a socket. `step` is an object with the field `step`.
pub fn send(socket: &Path, trial: u64, step: Map<String, Json>) -> io::Result<Reply> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let said = Said { trial, step };
    stream.write_all(format!("{}\n", serde_json::to_string(&said)?).as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).take(LONGEST_LINE as u64).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}

#[derive(Serialize, Deserialize)]
struct Said {
    trial: u64,
    step: Map<String, Json>,
}

/// A socket that is listened at.
pub(super) struct ReportSocket {
    listener: UnixListener,
    path: PathBuf,
    over: AtomicBool,
    /// Removed with the socket; by a later run, if this one is killed.
    _folder: (TempDir, File),
}

impl ReportSocket {
    /// Makes a socket.
    pub fn new() -> io::Result<Self> {
        // The path of a socket has little room: not below the folder of a study.
        let folder = trial_folder::temporary()?;
        let path = folder.0.path().join("report");
        let listener = UnixListener::bind(&path)?;
        // It looks whether it is over between callers, and depends on nobody who wakes it.
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path, over: AtomicBool::new(false), _folder: folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Answers callers until [`Self::end`].
    pub fn listen<'s>(&'s self, scope: &'s Scope<'s, '_>, shared: &'s Shared<'s>) {
        while !self.over.load(Ordering::SeqCst) {
            let Ok((caller, _)) = self.listener.accept() else {
                // Nobody calls, or there are no file descriptors left: that passes.
                std::thread::sleep(LOOK);
                continue;
            };
            // A caller that says nothing holds up nobody else. One that is gone, or for whom there is no thread, gets no answer.
            let served = move || drop(answer(&caller, shared));
            drop(std::thread::Builder::new().spawn_scoped(scope, served));
        }
    }

    /// Ends the listening.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

fn answer(mut caller: &UnixStream, shared: &Shared<'_>) -> io::Result<()> {
    caller.set_nonblocking(false)?;
    caller.set_read_timeout(Some(PATIENCE))?;
    caller.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(caller).take(LONGEST_LINE as u64).read_line(&mut line)?;
    let reply = match serde_json::from_str::<Said>(&line) {
        Ok(said) => reply(&said, shared),
        Err(error) => Reply::Refused(format!("the report cannot be read: {error}")),
    };
    caller.write_all(format!("{}\n", serde_json::to_string(&reply)?).as_bytes())
}

fn reply(Said { trial, step }: &Said, shared: &Shared<'_>) -> Reply {
    let held = shared.held.lock().ok();
    let held = held.and_then(|held| {
        let mut all = held.iter().rev();
        all.find(|(token, _)| token.trial == *trial).map(|(_, held)| held.clone())
    });
    let Some(held) = held else {
        return Reply::Refused(format!("trial {trial} does not run here any more"));
    };
    if held.is_lost() {
        return Reply::Stop;
    }
    let Some(live) = &held.steps else {
        return Reply::Refused("the study has no fidelity".to_owned());
    };
    let taken = live.take(&serde_json::json!(step).to_string());
    match taken {
        _ if live.is_stopped() => Reply::Stop,
        Ok(()) => Reply::GoOn,
        Err(reason) => Reply::Refused(reason),
    }
}
