//! The mark of one run of a command: a variable of its environment that nobody else has.
//!
//! Whatever a command starts inherits its environment. So a process that left the command's group, by `setsid` or as a daemon, is
//! found by the mark and ends with the command: when that is cancelled, runs out of time, or loses its runner. What a
//! command leaves behind when it ends by itself is let go.
//!
//! Linux only: elsewhere no process can be asked for its environment. A process that clears its environment, or belongs to
//! another user, is not found.

use rustix::process::{Pid, Signal};

use crate::random::random_word;

/// The variable.
pub(super) const MARK: &str = "WIMBLE_EVALUATION";

/// How often to look for processes that others started while they were ended.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 5;

/// A mark that nobody else has.
pub(super) struct Mark(String);

impl Mark {
    pub fn new() -> Self {
        Self(random_word())
    }

    pub fn word(&self) -> &str {
        &self.0
    }

    /// Signals what bears the mark and is in no group that was signalled. Says whether there was any.
    pub fn signal(&self, signal: Signal, group: Option<Pid>) -> bool {
        let mut found = false;
        for process in self.outside(group) {
            found = true;
            process.signal(signal);
        }
        found
    }

    /// Ends what bears the mark.
    #[cfg(target_os = "linux")]
    pub fn kill(&self) {
        for _ in 0..ROUNDS {
            if !self.signal(Signal::KILL, None) {
                return;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn kill(&self) {}

    /// Whether anything that bears the mark is left.
    pub fn is_borne(&self) -> bool {
        !self.outside(None).is_empty()
    }

    #[cfg(target_os = "linux")]
    fn outside(&self, group: Option<Pid>) -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let numbers =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        numbers
            .filter_map(Pid::from_raw)
            .filter_map(|pid| Some((pid, Process::bearing(pid, &self.0)?)))
            // Asked of those that bear the mark only: the system's own processes have no group.
            .filter(|(pid, _)| {
                group.is_none() || rustix::process::getpgid(Some(*pid)).ok() != group
            })
            .map(|(_, process)| process)
            .collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn outside(&self, _: Option<Pid>) -> Vec<Process> {
        Vec::new()
    }
}

/// A process that cannot be mistaken for a later one of the same number.
#[cfg(target_os = "linux")]
struct Process(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Process {
    fn bearing(pid: Pid, word: &str) -> Option<Self> {
        use rustix::process::{PidfdFlags, pidfd_open};
        // Most processes bear no mark: only those that do are opened, and then looked at again.
        let is_marked = || {
            let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
            let environment = std::fs::read(path).unwrap_or_default();
            let bears = |variable: &[u8]| {
                let rest = variable.strip_prefix(MARK.as_bytes());
                rest.and_then(|rest| rest.strip_prefix(b"=")) == Some(word.as_bytes())
            };
            environment.split(|byte| *byte == 0).any(bears)
        };
        if !is_marked() {
            return None;
        }
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        is_marked().then_some(Self(process))
    }

    /// That it is gone is what was wanted.
    fn signal(&self, signal: Signal) {
        let _gone = rustix::process::pidfd_send_signal(&self.0, signal);
    }
}

#[cfg(not(target_os = "linux"))]
struct Process;

#[cfg(not(target_os = "linux"))]
impl Process {
    fn signal(&self, _: Signal) {}
}
