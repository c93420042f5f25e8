//! Commands that a study file runs at each result and at the end of a run: `[on]`.
//!
//! A command is a list of arguments, started without a shell in the folder of the study file. What happened comes by
//! environment variables and, as JSON, by standard input, never as a part of the command line. What it prints is left alone. A
//! command that fails or takes too long is reported, and nothing else follows from it: the result is stored already.

use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value as Json;

/// How long such a command may take before it is killed.
pub const LONGEST: Duration = Duration::from_secs(60);
/// Interval between looks whether it has ended.
const LOOK: Duration = Duration::from_millis(5);
/// What is kept of its errors, in bytes.
const ERRORS: usize = 4 << 10;

/// The commands of a study file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct On {
    /// After each result that this run stored.
    pub result: Option<Vec<String>>,
    /// After the run.
    pub end: Option<Vec<String>>,
}

/// Runs a command in the folder `home`, with these variables, and JSON on its standard input. The error says how it failed.
pub fn run(
    command: &[String],
    home: &Path,
    variables: &[(&str, String)],
    input: &Json,
) -> Result<(), String> {
    run_within(LONGEST, command, home, variables, input)
}

fn run_within(
    longest: Duration,
    command: &[String],
    home: &Path,
    variables: &[(&str, String)],
    input: &Json,
) -> Result<(), String> {
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(home)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env_remove("WIMBLE_STORAGE")
        .env_remove("WIMBLE_TOKEN")
        .env_remove("WIMBLE_REPORT")
        .env_remove("WIMBLE_STOP_FILE")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // A group of its own, so that all of it ends when it must.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let (stdin, mut stderr) = (child.stdin.take(), child.stderr.take());
    let text = format!("{input}\n");
    // In threads of their own: a command need not read, and need not end its errors.
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
    let (sender, errors) = mpsc::channel();
    std::thread::spawn(move || {
        // All of it is read, or the command would be ended by what it says; the end of it is kept.
        let (mut text, mut part) = (Vec::new(), [0; ERRORS]);
        while let Some(Ok(count @ 1..)) = stderr.as_mut().map(|stderr| stderr.read(&mut part)) {
            text.extend_from_slice(&part[..count]);
            text.drain(..text.len().saturating_sub(ERRORS));
        }
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    let since = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if since.elapsed() < longest => std::thread::sleep(LOOK),
            Ok(None) => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                let _ = child.wait();
                return Err(format!("it took longer than {longest:?}, and was killed"));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    if status.success() {
        return Ok(());
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    };
    let errors = errors.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
    match errors.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => Err(format!("{how}: {}", line.trim())),
        None => Err(how),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_happened_comes_by_environment_and_standard_input() {
        let folder = tempfile::tempdir().unwrap();
        let script = "printf '%s ' \"$WIMBLE_VALUE\" > seen; cat >> seen";
        let value = "$(touch never); 'x\"".to_owned();
        let input = serde_json::json!({ "trial": 3 });
        run(&shell(script), folder.path(), &[("WIMBLE_VALUE", value.clone())], &input).unwrap();
        let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
        assert_eq!(seen, format!("{value} {input}\n"));
        assert!(!folder.path().join("never").exists());
    }

    #[test]
    fn a_failure_says_how() {
        let here = Path::new(".");
        let said = |command: &[String]| run(command, here, &[], &Json::Null).unwrap_err();
        assert_eq!(
            said(&shell("echo first >&2; echo 'no route' >&2; exit 3")),
            "exit code 3: no route"
        );
        assert_eq!(said(&shell("exit 4")), "exit code 4");
        let much = "i=0; while [ $i -lt 3000 ]; do echo some warning of a library >&2; i=$((i + 1)); done; echo end >&2; exit 5";
        assert_eq!(said(&shell(much)), "exit code 5: end");
        assert_eq!(said(&shell("kill -9 $$")), "signal 9");
        let missing = said(&["./no-such-program".to_owned()]);
        assert!(missing.starts_with("`./no-such-program` cannot be started"), "{missing}");
        // One that does not read, and gets more than a pipe holds.
        let large = Json::String("x".repeat(1 << 20));
        run(&shell("exit 0"), here, &[], &large).unwrap();
    }

    #[test]
    fn a_command_that_hangs_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let since = Instant::now();
        let script = "(sleep 2; touch late) & sleep 60";
        let longest = Duration::from_millis(300);
        let said =
            run_within(longest, &shell(script), folder.path(), &[], &Json::Null).unwrap_err();
        assert_eq!(said, "it took longer than 300ms, and was killed");
        assert!(since.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(2_500));
        assert!(!folder.path().join("late").exists());
    }
}
