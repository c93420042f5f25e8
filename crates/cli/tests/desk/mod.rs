//! A desk to work at: a folder with a study file, and the command in it.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

/// A folder with a study file in it, and nothing of the user's around it.
pub struct Desk(pub tempfile::TempDir);

impl Desk {
    pub fn new(study: &str) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        desk.write("study.toml", study);
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wimble"));
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("XDG_STATE_HOME", self.0.path())
            .env_remove("WIMBLE_STORAGE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn wimble(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn printed(&self, arguments: &[&str]) -> String {
        let output = self.wimble(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Json {
        serde_json::from_str(&self.printed(arguments)).unwrap()
    }

    pub fn lines(&self, arguments: &[&str]) -> Vec<Json> {
        self.printed(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What a failing call says, and its exit code.
    pub fn refused(&self, arguments: &[&str]) -> String {
        let output = self.wimble(arguments);
        assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
        format!(
            "exit {}\n{}",
            output.status.code().unwrap(),
            String::from_utf8(output.stderr).unwrap()
        )
    }
}
