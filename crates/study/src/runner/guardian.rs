//! Ends the commands of a runner that was killed.
//!
//! A runner that ends as it should ends its commands itself. One that is killed cannot; its commands would go on beside those
//! of the next run. So a shell waits at the other end of a pipe: it is told which process groups begin and end, and when
//! the pipe closes, which the system does however this process ends, it kills the groups that are left.
//!
//! There is one guardian a process, started before the first command. Where there is no `sh`, or the guardian itself is killed,
//! commands run unguarded.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use rustix::process::Pid;

/// Reads `begin GROUP` and `end GROUP`; nothing but numbers is ever written to it.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=
while read -r what group; do
    case $what in
    begin) groups="$groups $group" ;;
    end)
        left=
        for other in $groups; do
            if [ "$other" != "$group" ]; then left="$left $other"; fi
        done
        groups=$left
        ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

static GUARDIAN: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Has the guardian there before a command begins: starting it takes longer than starting a command.
pub(super) fn prepare() {
    GUARDIAN.get_or_init(start);
}

/// A process group under guard, until this is dropped.
pub(super) struct Guarded(Pid);

impl Guarded {
    /// Puts a group under guard.
    pub fn new(group: Pid) -> Self {
        say("begin", group);
        Self(group)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        say("end", self.0);
    }
}

fn say(what: &str, group: Pid) {
    let Some(guardian) = GUARDIAN.get_or_init(start) else { return };
    if let Ok(mut pipe) = guardian.lock() {
        // A guardian that is gone guards nothing; the command runs all the same.
        let line = format!("{what} {}\n", group.as_raw_nonzero());
        drop(pipe.write_all(line.as_bytes()));
    }
}

fn start() -> Option<Mutex<ChildStdin>> {
    let child = Command::new("sh")
        .args(["-c", SCRIPT])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A Ctrl-C at the terminal is for the runner.
        .process_group(0)
        .spawn();
    child.ok()?.stdin.map(Mutex::new)
}
