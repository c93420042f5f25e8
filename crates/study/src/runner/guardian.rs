//! Ends the command of a runner that was killed.
//!
//! A runner that ends as it should ends its commands itself. One that is killed cannot; its commands would go on beside those
//! of the next run. So each command has a guardian: a shell that leads a process group and waits at the other end of a
//! pipe. The command is born into that group, so that there is no moment at which it runs unguarded. When the pipe closes,
//! which the system does however the runner ends, the guardian kills its group, and before that what left the group and bears
//! the command's mark (mark.rs).
//!
//! Where there is no `sh`, or the guardian itself is killed, a command runs unguarded.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

use super::mark::{MARK, Mark};

/// Nothing is ever written to it: it reads the end of the pipe. Its argument is the variable that marks what the command started.
/// Where there is no `/proc`, or `grep` does not know lines that end with a zero byte, nothing is found.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r _
for environment in $(grep -lsxzF -e "$1" /proc/[0-9]*/environ); do
    process=${environment%/environ}
    kill -s KILL "${process#/proc/}"
done
kill -s KILL 0"#;

/// A process group under guard, until this is dropped.
pub(super) struct Guardian(Child);

impl Guardian {
    /// Has a group ready for a command that bears this mark.
    pub fn start(mark: &Mark) -> Option<Self> {
        let child = Command::new("sh")
            .args(["-c", SCRIPT, "guardian", &format!("{MARK}={}", mark.word())])
            // Where this runner is itself a command, it may be ended with all that bear its mark: the guardian stays, for it ends
            // what this runner started.
            .env_remove(MARK)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A Ctrl-C at the terminal is for the runner.
            .process_group(0)
            .spawn();
        child.ok().map(Self)
    }

    /// The group for a command to be born into.
    pub fn group(&self) -> Option<Pid> {
        i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Guardian {
    /// Ends the guardian alone: what is left of the group is let go. The pipe is closed after that.
    fn drop(&mut self) {
        // One that is gone already is as it should be.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    fn sleeper(guardian: &Guardian) -> Child {
        let group = guardian.group().unwrap().as_raw_nonzero().get();
        Command::new("sleep").arg("600").process_group(group).spawn().unwrap()
    }

    #[test]
    fn the_end_of_the_pipe_is_the_end_of_the_group() {
        let mut guardian = Guardian::start(&Mark::new()).unwrap();
        let mut child = sleeper(&guardian);
        drop(guardian.0.stdin.take());
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_end_of_the_pipe_is_the_end_of_what_left_the_group() {
        let mark = Mark::new();
        let mut guardian = Guardian::start(&mark).unwrap();
        let mut away = Command::new("sleep");
        let mut away = away.arg("600").env(MARK, mark.word()).process_group(0).spawn().unwrap();
        let mut other = Command::new("sleep");
        let mut other = other.arg("600").env(MARK, "another").process_group(0).spawn().unwrap();
        drop(guardian.0.stdin.take());
        assert_eq!(away.wait().unwrap().signal(), Some(9));
        guardian.0.wait().unwrap();
        assert!(other.try_wait().unwrap().is_none(), "it bears another mark");
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_guardian_that_is_no_longer_needed_lets_the_group_go() {
        let guardian = Guardian::start(&Mark::new()).unwrap();
        let mut child = sleeper(&guardian);
        drop(guardian);
        assert!(child.try_wait().unwrap().is_none(), "it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
