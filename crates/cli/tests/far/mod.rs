//! A study whose workers reach it through a server, and the command `wimble` in a folder of its own.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::Path;
use std::process::{Command, Stdio};

/// The file of a study of 60 short trials, with the words of a shell that come before the value.
pub fn study(before: &str) -> String {
    format!(
        r#"
name = "far"
command = ["sh", "-c", "sleep 0.05; {before}echo {{x}}"]
trials = 60
workers = 4
method = "random"
lease = "20s"

[space]
x = {{ type = "real", low = 0, high = 1 }}
"#
    )
}

/// `wimble` with nothing of the environment that it would heed.
pub fn wimble(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wimble"));
    command.args(arguments);
    quiet(command, folder)
}

/// The same for a command that runs it.
pub fn quiet(mut command: Command, folder: &Path) -> Command {
    command
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder)
        .env_remove("WIMBLE_STORAGE")
        .env_remove("WIMBLE_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}
