//! One run of a command: a process group of its own, output read as it comes, an end in any case.
//!
//! The child has a process group to itself, so that whatever it starts ends with it; what leaves the group is found by a mark
//! (mark.rs). It is asked to end with SIGTERM, and after
//! a grace time ended with SIGKILL. Standard output and error are read by two threads, which keep the last
//! [`KEPT`] bytes of each and copy all of it to log files if there are any: a child never waits for a full pipe, and a
//! talkative one costs no memory. The group also dies with this process, however that ends (guardian.rs).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::evaluator::STOP_FILE;
use super::guardian::Guardian;
use super::live_steps::{Lines, LiveSteps};
use super::mark::{MARK, Mark};
use super::report_socket::REPORT;

/// How much of each stream is kept, in bytes.
pub const KEPT: usize = 64 * 1024;

/// The variable that names the storage of this program. Commands do not get it.
const STORAGE: &str = "WIMBLE_STORAGE";
/// Interval between checks whether to stop.
const LOOK: Duration = Duration::from_millis(25);
/// Interval between checks for the end of a child whose output has ended.
const SHORT_LOOK: Duration = Duration::from_millis(1);

/// What to start, and where.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// Environment variables beside the inherited ones.
    pub environment: Vec<(String, OsString)>,
    /// Where it starts.
    pub folder: PathBuf,
    /// Where its output goes as well: files for standard output and error.
    pub logs: Option<[PathBuf; 2]>,
}

/// How urgently a child must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Not at all.
    None,
    /// It is asked to, and has a grace time.
    Ask,
    /// At once.
    Kill,
}

/// Limits of a run.
pub struct Limits<'l> {
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Time between asking it to end and killing it.
    pub grace: Duration,
    /// Whether it must end for another reason.
    pub urgency: &'l (dyn Fn() -> Urgency + Sync),
}

/// How a child ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// Whether it was ended because its timeout was over.
    pub timed_out: bool,
    /// Whether it was told to end for another reason.
    pub stopped: bool,
    /// The end of its standard output.
    pub stdout: String,
    /// The end of its standard error.
    pub stderr: String,
}

/// Starts a child and waits for its end. Steps that it prints go to `steps`. Fails only if it cannot be started or its logs cannot be written.
pub fn run(
    invocation: &Invocation,
    limits: &Limits<'_>,
    steps: Option<&Arc<LiveSteps>>,
) -> io::Result<Ended> {
    let mut logs = match &invocation.logs {
        None => [None, None],
        Some([out, err]) => [Some(create(out)?), Some(create(err)?)],
    };
    let mark = Mark::new();
    let guardian = Guardian::start(&mark);
    let guarded = guardian.as_ref().and_then(Guardian::group);
    let mut child = spawn(invocation, guarded, &mark)?;
    let group = guarded.or_else(|| i32::try_from(child.id()).ok().and_then(Pid::from_raw));
    let (sender, receiver) = channel();
    let stdout = child
        .stdout
        .take()
        .map(|stream| follow(stream, logs[0].take(), steps.cloned(), sender.clone()));
    let stderr = child.stderr.take().map(|stream| follow(stream, logs[1].take(), None, sender));
    let (status, timed_out, stopped) = attend(&mut child, group, &mark, &receiver, limits)?;
    if timed_out || stopped {
        end_what_is_left(&mark, limits);
    }
    // What the child left behind may still hold its output open: it has the grace time to finish, too.
    if !drained(&receiver, limits.grace) {
        signal(group, Signal::KILL);
        drained(&receiver, Duration::from_secs(1));
    }
    let text =
        |tail: Option<Arc<Mutex<Tail>>>| tail.map_or_else(String::new, |tail| Tail::text(&tail));
    Ok(Ended { status, timed_out, stopped, stdout: text(stdout), stderr: text(stderr) })
}

fn create(path: &Path) -> io::Result<File> {
    File::create(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Starts a child in a group, or at the head of a new one.
fn spawn(invocation: &Invocation, group: Option<Pid>, mark: &Mark) -> io::Result<Child> {
    let Some((program, arguments)) = invocation.arguments.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        // What gives the right to tell is not for the command that is evaluated.
        .env_remove("WIMBLE_TOKEN")
        // It may hold a password, and what a command knows ends up in its logs.
        .env_remove(STORAGE)
        // Those of a run in which this one is a command.
        .env_remove(REPORT)
        .env_remove(STOP_FILE)
        .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
        .env(MARK, mark.word())
        .current_dir(&invocation.folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group.map_or(0, |group| group.as_raw_nonzero().get()));
    command.spawn().map_err(|error| {
        // The system does not say whether the program or the folder was not found.
        let what = if invocation.folder.is_dir() {
            format!("the program `{program}` cannot be started: {error}")
        } else {
            format!("there is no folder {} to start in", invocation.folder.display())
        };
        io::Error::new(error.kind(), what)
    })
}

/// Waits for the end of a child, and brings it about when its time is over.
fn attend(
    child: &mut Child,
    group: Option<Pid>,
    mark: &Mark,
    receiver: &Receiver<()>,
    limits: &Limits<'_>,
) -> io::Result<(ExitStatus, bool, bool)> {
    let started = Instant::now();
    let (mut timed_out, mut stopped, mut asked, mut killed) = (false, false, None, false);
    let mut look = LOOK;
    let mut open = 2;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, timed_out, stopped));
        }
        let urgency = (limits.urgency)();
        if asked.is_none() {
            stopped = urgency > Urgency::None;
            timed_out =
                !stopped && limits.timeout.is_some_and(|timeout| started.elapsed() >= timeout);
            if stopped || timed_out {
                signal(group, Signal::TERM);
                // Those of the group have it already.
                mark.signal(Signal::TERM, group);
                asked = Some(Instant::now());
            }
        }
        let overdue = asked.is_some_and(|since: Instant| since.elapsed() >= limits.grace);
        if !killed && (overdue || urgency == Urgency::Kill) {
            signal(group, Signal::KILL);
            mark.kill();
            killed = true;
        }
        // The end of both streams is the usual sign of the end of the child.
        if open > 0 {
            match receiver.recv_timeout(look) {
                Ok(()) => open -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = 0,
            }
            look = if open == 0 { SHORT_LOOK } else { LOOK };
        } else {
            std::thread::sleep(look);
            // A child that closed its output and works on is looked at less and less often.
            look = (look * 2).min(LOOK);
        }
    }
}

/// Ends what a child that had to end left behind: it was asked to end too, and has the same grace time.
fn end_what_is_left(mark: &Mark, limits: &Limits<'_>) {
    let until = Instant::now() + limits.grace;
    while mark.is_borne() {
        if Instant::now() >= until || (limits.urgency)() == Urgency::Kill {
            mark.kill();
            return;
        }
        std::thread::sleep(4 * LOOK);
    }
}

/// Signals a group. That there is none any more is what was wanted.
fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        let _gone = kill_process_group(group, signal);
    }
}

/// Waits until both readers have seen the end of their stream and let go of their senders.
fn drained(receiver: &Receiver<()>, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        match receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return true,
            Err(RecvTimeoutError::Timeout) => return false,
        }
    }
}

/// The last bytes of a stream.
#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(KEPT);
        self.cut |= over > 0;
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// As text; what was cut begins with a whole line.
    fn text(tail: &Mutex<Self>) -> String {
        let Ok(tail) = tail.lock() else { return String::new() };
        let bytes: Vec<u8> = tail.bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        match text.find('\n') {
            Some(end) if tail.cut => text[end + 1..].to_owned(),
            _ => text.into_owned(),
        }
    }
}

/// Reads a stream to its end in a thread; says so when it is reached.
fn follow(
    mut stream: impl Read + Send + 'static,
    mut log: Option<File>,
    steps: Option<Arc<LiveSteps>>,
    done: Sender<()>,
) -> Arc<Mutex<Tail>> {
    let tail = Arc::new(Mutex::new(Tail::default()));
    let kept = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        let mut lines = steps.as_deref().map(Lines::new);
        loop {
            let count = match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            // A full disk must not stop the command; the end of the output is kept anyway.
            if log.as_mut().is_some_and(|log| log.write_all(&buffer[..count]).is_err()) {
                log = None;
            }
            if let Ok(mut kept) = kept.lock() {
                kept.push(&buffer[..count]);
            }
            if let Some(lines) = &mut lines {
                lines.push(&buffer[..count]);
            }
        }
        if let Some(lines) = &mut lines {
            lines.end();
        }
        let _nobody_waits = done.send(());
    });
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn sh(script: &str) -> Invocation {
        Invocation {
            arguments: ["sh", "-c", script].map(str::to_owned).to_vec(),
            environment: vec![("WIMBLE_PARAM_X".into(), "a b".into())],
            folder: ".".into(),
            logs: None,
        }
    }

    fn limits(timeout: u64, urgency: &(dyn Fn() -> Urgency + Sync)) -> Limits<'_> {
        let timeout = Some(Duration::from_millis(timeout));
        Limits { timeout, grace: Duration::from_millis(200), urgency }
    }

    #[test]
    fn output_and_status_come_back() {
        let ended = run(
            &sh("echo \"$WIMBLE_PARAM_X\"; echo oh >&2; exit 3"),
            &limits(5_000, &|| Urgency::None),
            None,
        )
        .unwrap();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("a b\n", "oh\n"));
        assert_eq!(ended.status.code(), Some(3));
        assert!(!ended.timed_out && !ended.stopped);
    }

    #[test]
    fn more_output_than_any_pipe_holds_costs_only_its_tail() {
        let script = "i=0; while [ $i -lt 40000 ]; do echo \"line $i of the output\"; i=$((i+1)); done; echo 0.5";
        let ended = run(&sh(script), &limits(60_000, &|| Urgency::None), None).unwrap();
        assert!(ended.stdout.ends_with("line 39999 of the output\n0.5\n"));
        assert!(ended.stdout.len() <= KEPT && ended.stdout.starts_with("line "));
    }

    #[test]
    fn a_child_that_ignores_the_request_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("alive");
        let script = format!(
            "trap '' TERM; (trap '' TERM; sleep 1; echo x > '{}') & sleep 30; sleep 30",
            file.display()
        );
        let before = Instant::now();
        let ended = run(&sh(&script), &limits(200, &|| Urgency::None), None).unwrap();
        assert!(ended.timed_out && !ended.stopped);
        assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
        std::thread::sleep(Duration::from_millis(1_200));
        assert!(!file.exists(), "a grandchild survived");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_went_into_a_session_of_its_own_ends_with_a_child_that_must_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("alive");
        // A daemon: its parent is gone, and it ignores requests.
        let script = format!(
            "(setsid sh -c \"trap '' TERM; sleep 2; echo x > '{}'\" &); sleep 30",
            file.display()
        );
        let ended = run(&sh(&script), &limits(300, &|| Urgency::None), None).unwrap();
        assert!(ended.timed_out);
        std::thread::sleep(Duration::from_millis(2_500));
        assert!(!file.exists(), "it survived");
    }

    #[test]
    fn what_a_child_leaves_behind_does_not_hold_up_its_end() {
        let before = Instant::now();
        let ended =
            run(&sh("sleep 30 & echo 1"), &limits(20_000, &|| Urgency::None), None).unwrap();
        assert!(ended.status.success() && ended.stdout == "1\n");
        assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    }

    #[test]
    fn a_request_from_outside_is_passed_on() {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            flag.store(true, Ordering::SeqCst);
        });
        let urgency = || if stop.load(Ordering::SeqCst) { Urgency::Ask } else { Urgency::None };
        let ended = run(&sh("sleep 30"), &limits(60_000, &urgency), None).unwrap();
        assert!(ended.stopped && !ended.timed_out);
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let nothing = Invocation { arguments: vec!["no-such-program-here".into()], ..sh("") };
        let error = run(&nothing, &limits(1_000, &|| Urgency::None), None).unwrap_err().to_string();
        assert!(error.contains("`no-such-program-here` cannot be started"), "{error}");
        let nowhere = Invocation { folder: "no/such/folder".into(), ..sh("true") };
        let error = run(&nowhere, &limits(1_000, &|| Urgency::None), None).unwrap_err().to_string();
        assert!(error.contains("no folder no/such/folder"), "{error}");
    }
}
