//! The test binary as a worker of its own: a process that works on a study, and prints a line for each thing that was
//! acknowledged.

use std::fmt::Debug;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::thread::JoinHandle;

/// The address of the store, in the environment of a worker.
pub const STORE: &str = "WIMBLE_TEST_STORE";
/// The number of a worker's run, likewise.
pub const RUN: &str = "WIMBLE_TEST_RUN";

/// A process that works, and what it said was acknowledged: the trial, and a number.
pub struct Worker<T> {
    pub child: Child,
    pub acks: JoinHandle<Vec<(u64, T)>>,
}

/// This binary.
pub fn this_binary() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

impl<T: FromStr<Err: Debug> + Send + 'static> Worker<T> {
    /// Runs the test `worker` of this binary, by a command that passes its arguments on to it.
    pub fn start(mut command: Command, address: &str, run: usize) -> Self {
        let mut child = command
            .args(["worker", "--exact", "--nocapture", "--test-threads=1"])
            .env(STORE, address)
            .env(RUN, run.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let acks = std::thread::spawn(move || {
            let (mut acks, mut line) = (Vec::new(), String::new());
            // The harness prints before and after; what was cut off by a kill was not acknowledged.
            while lines.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
                if let Some((_, ack)) = line.trim_end().split_once("ack ") {
                    let (trial, number) = ack.split_once(' ').unwrap();
                    acks.push((trial.parse().unwrap(), number.parse().unwrap()));
                }
                line.clear();
            }
            acks
        });
        Self { child, acks }
    }
}
