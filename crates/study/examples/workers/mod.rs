//! Worker processes that begin together, for measurements.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

/// A worker, and what it prints.
pub type Worker = (Child, BufReader<ChildStdout>);

/// Runs this program again with these arguments.
pub fn spawn<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Worker, Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    Ok((child, BufReader::new(output)))
}

/// Lets all workers go on once each has printed a line; returns when that was.
pub fn begin(workers: &mut [Worker]) -> Result<Instant, Box<dyn Error>> {
    let mut line = String::new();
    for (_, output) in &mut *workers {
        output.read_line(&mut line)?;
    }
    let start = Instant::now();
    for (child, _) in workers {
        child.stdin.as_mut().ok_or("no input")?.write_all(b"go\n")?;
    }
    Ok(start)
}

/// Waits for a worker to end.
pub fn join(child: &mut Child) -> Result<(), Box<dyn Error>> {
    match child.wait()?.success() {
        true => Ok(()),
        false => Err("a worker failed".into()),
    }
}
