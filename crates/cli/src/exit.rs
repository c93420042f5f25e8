//! Exit codes, and the errors that have one of their own.

use std::fmt;

/// The exit codes, for the help text.
pub const HELP: &str = "\
Exit codes:
  0    success
  1    an error; the message says which. Also a storage that refuses, or cannot be reached at the start
  2    the command line or the study file is wrong
  3    run: the study's command does not work: the first trials all failed, or no trial has a value
  4    run: the storage was unreachable for longer than --patience
  5    report: stop; the trial is not worth more
  130  interrupted by Ctrl-C or SIGTERM; run: unfinished trials went back to the queue

How `wimble run` reads the exit code of the study's command:
  0    complete, if its last result is a finite value; infeasible, if it is {\"infeasible\": true}
  77   infeasible: remembered, not run again (infeasible-exit in the study file)
  130  interrupted, as is death by SIGINT: the trial goes back to the queue
  any other code, a signal, a timeout, output without a result, NaN: failed
A trial that the study's stopping rule stopped has its last step as outcome, whatever the exit code.";

/// A mistake of the user: exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

/// A mistake in the command line, as an error.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// The command of a study does not work: exit code 3.
#[derive(Debug)]
pub struct CommandBroken(pub String);

/// The storage was unreachable for too long: exit code 4.
#[derive(Debug)]
pub struct StorageGone(pub String);

/// Stopped by the user: exit code 130. The user was told already, so that no message is printed.
#[derive(Debug)]
pub struct Interrupted;

/// The trial that reports is to be stopped: exit code 5. Not an error, so that no message is printed.
#[derive(Debug)]
pub struct Stop;

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for CommandBroken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for StorageGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stop")
    }
}

impl std::error::Error for Usage {}
impl std::error::Error for CommandBroken {}
impl std::error::Error for StorageGone {}
impl std::error::Error for Interrupted {}
impl std::error::Error for Stop {}

/// An error with its causes, each once: the message of some errors contains their cause.
pub fn message(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |message, cause| match cause.to_string() {
        cause if message.is_empty() => cause,
        cause if message.contains(&cause) => message,
        cause => format!("{message}: {cause}"),
    })
}

/// The exit code of an error.
pub fn code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() {
        2
    } else if error.is::<CommandBroken>() {
        3
    } else if error.is::<StorageGone>() {
        4
    } else if error.is::<Stop>() {
        5
    } else if error.is::<Interrupted>() {
        130
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let source = "connection refused".into();
        let error =
            wimble_study::Error::Backend { place: "db".into(), doing: "connecting", source };
        let said = message(&anyhow::Error::new(error).context("--join needs a study"));
        assert_eq!(said.matches("connection refused").count(), 1, "{said}");
        assert!(said.starts_with("--join needs a study: db: connecting failed"), "{said}");
    }
}
