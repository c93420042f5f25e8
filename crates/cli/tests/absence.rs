//! A storage that goes away in the middle of a run: a real server that is stopped or cut off while real commands run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../study/tests/server/mod.rs"]
mod server;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;
use server::Server;

/// A folder with a study of three workers whose commands log their trials and go on once there is no file `hold`, and a
/// server of its own. `None` where there is none.
struct Desk {
    folder: tempfile::TempDir,
    server: Server,
    /// Where commands find the server.
    address: String,
}

impl Desk {
    fn new(skipped: &str, trials: u32) -> Option<Self> {
        server::schema(skipped)?;
        let folder = tempfile::tempdir().unwrap();
        let script =
            "echo \"$WIMBLE_TRIAL\" >> began; while [ -e hold ]; do sleep 0.05; done; echo \"$1\"";
        let study = format!(
            "name = \"s\"\nmethod = \"sobol\"\ntrials = {trials}\nworkers = 3\nlease = \"1s\"\n\
             command = [\"sh\", \"-c\", {}, \"sh\", \"{{x}}\"]\n\
             [space]\nx = {{ type = \"real\", low = 0, high = 1 }}\n",
            serde_json::to_string(script).unwrap()
        );
        std::fs::write(folder.path().join("study.toml"), study).unwrap();
        let server = Server::start();
        let address = server.address.clone();
        Some(Self { folder, server, address })
    }

    fn wimble(&self, arguments: &[&str]) -> Child {
        let said = std::fs::File::create(self.path("said")).unwrap();
        Command::new(env!("CARGO_BIN_EXE_wimble"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            .env("WIMBLE_STORAGE", &self.address)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()
            .unwrap()
    }

    /// Begins a run, and waits until all its workers hold a trial.
    fn run_and_hold(&self, arguments: &[&str]) -> Child {
        std::fs::write(self.path("hold"), "").unwrap();
        let before = self.read("began").lines().count();
        let child = self.wimble(arguments);
        wait_until("trials begin", || self.read("began").lines().count() == before + 3);
        child
    }

    /// Lets commands end.
    fn let_go(&self) {
        std::fs::remove_file(self.path("hold")).unwrap();
    }

    fn end(&self, child: Child) -> (Output, String) {
        (child.wait_with_output().unwrap(), self.read("said"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The results that wait in files; one that is being written has another name.
    fn kept(&self) -> usize {
        let folders = std::fs::read_dir(self.path("wimble/unsent"));
        let whole = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "json");
        let files = |folder: PathBuf| {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.map(|file| file.path()).filter(whole).count()
        };
        folders.map_or(0, |folders| folders.map(|folder| files(folder.unwrap().path())).sum())
    }

    /// All trials are there, each with the value of its own command.
    fn check(&self, trials: usize) {
        let (output, said) = self.end(self.wimble(&["trials", "--json"]));
        assert!(output.status.success(), "{said}");
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<Json> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), trials);
        for row in &rows {
            assert_eq!((&row["state"], &row["value"]), (&"complete".into(), &row["params"]["x"]));
        }
        assert!(!self.path("wimble/unsent").exists() || self.kept() == 0);
    }
}

/// Waits for something that has to happen.
fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let before = Instant::now();
    while !happened() {
        assert!(before.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(20));
    }
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
}

#[test]
fn a_run_goes_on_when_its_server_comes_back_and_repeats_no_trial() {
    let Some(desk) = Desk::new("a server that comes back", 12) else { return };
    let child = desk.run_and_hold(&["run"]);
    desk.server.halt();
    desk.let_go();
    wait_until("the user is told", || desk.read("said").contains("storage unreachable since 20"));
    wait_until("results are kept", || desk.kept() == 3);
    desk.server.resume();
    let (output, said) = desk.end(child);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(report.contains("12 of 12 trials with a value"), "{report}");
    for words in [
        "Commands keep running. Their results are saved in ",
        "wimble keeps trying for 1h (--patience)",
        ", saved until the storage is reachable",
        "storage reachable again after ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(said.matches("storage unreachable since").count(), 1, "{said}");
    assert_eq!(desk.read("began").lines().count(), 12, "a trial was run twice");
    desk.check(12);
}

#[test]
fn a_run_whose_server_stays_away_ends_and_the_next_stores_its_results() {
    let Some(desk) = Desk::new("a server that stays away", 6) else { return };
    let child = desk.run_and_hold(&["run", "--patience", "3s"]);
    desk.server.halt();
    let halted = Instant::now();
    desk.let_go();
    let (output, said) = desk.end(child);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(halted.elapsed() < Duration::from_secs(20), "{:?}", halted.elapsed());
    assert!(said.contains("the storage was unreachable for longer than 3s (--patience)"), "{said}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.starts_with("Given up after "), "{report}");
    assert!(
        report.contains("3 results could not be stored; the next run stores what is in "),
        "{report}"
    );
    assert!(report.ends_with("Once this is fixed: wimble run study.toml\n"), "{report}");
    assert_eq!(desk.kept(), 3);

    desk.server.resume();
    let (output, said) = desk.end(desk.wimble(&["run", "--json"]));
    assert!(output.status.success(), "{said}");
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["told"], &report["end"]), (&6.into(), &"budget-spent".into()));
    assert_eq!(desk.read("began").lines().count(), 6, "a trial was run twice");
    desk.check(6);
}

#[test]
fn an_interrupted_or_killed_run_whose_server_is_away_leaves_its_results_for_the_next() {
    let Some(desk) = Desk::new("interruptions without a server", 9) else { return };
    for end in [Signal::INT, Signal::KILL] {
        let mut child = desk.run_and_hold(&["run"]);
        desk.server.halt();
        desk.let_go();
        wait_until("results are kept", || desk.kept() == 3);
        let since = Instant::now();
        if end == Signal::INT {
            interrupt(&child);
            let (output, said) = desk.end(child);
            assert_eq!(output.status.code(), Some(130), "{said}");
            assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
            let report = String::from_utf8(output.stdout).unwrap();
            assert!(report.contains("3 results could not be stored"), "{report}");
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        desk.server.resume();
    }
    let (output, said) = desk.end(desk.wimble(&["run"]));
    assert!(output.status.success(), "{said}");
    assert_eq!(desk.read("began").lines().count(), 9, "a trial was run twice");
    desk.check(9);
}

#[test]
fn a_run_goes_on_when_a_network_that_swallowed_everything_is_mended() {
    let Some(mut desk) = Desk::new("a network that is mended", 12) else { return };
    let network = desk.server.behind_network();
    desk.address = network.address();
    let child = desk.run_and_hold(&["run"]);
    network.swallow(true);
    desk.let_go();
    wait_until("the user is told", || desk.read("said").contains("storage unreachable since 20"));
    wait_until("results are kept", || desk.kept() == 3);
    network.swallow(false);
    let (output, said) = desk.end(child);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("said nothing for ") && said.contains("reachable again"), "{said}");
    assert_eq!(desk.read("began").lines().count(), 12, "a trial was run twice");
    desk.check(12);
}

#[test]
fn a_network_that_swallows_everything_ends_a_run_by_its_patience_and_other_commands_soon() {
    let Some(mut desk) = Desk::new("a network that stays broken", 6) else { return };
    let network = desk.server.behind_network();
    desk.address = network.address();
    let child = desk.run_and_hold(&["run", "--patience", "3s"]);
    network.swallow(true);
    let since = Instant::now();
    desk.let_go();
    let (output, said) = desk.end(child);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
    assert!(said.contains("the storage was unreachable for longer than 3s (--patience)"), "{said}");

    for command in [&["run"][..], &["best"], &["doctor"]] {
        let since = Instant::now();
        let (output, said) = desk.end(desk.wimble(command));
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
        assert!(said.contains("connecting failed: the server said nothing for 2 s"), "{said}");
    }
}

#[test]
fn a_wrong_password_is_exit_code_1_at_once() {
    let Some(mut desk) = Desk::new("passwords", 3) else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    desk.server.require_password(port, "right");
    let address = |word: &str| format!("postgresql://wimble:{word}@localhost:{port}/postgres");
    desk.address = address("wr0ng");
    for command in [&["run"][..], &["trials"], &["ask", "study.toml"]] {
        let since = Instant::now();
        let (output, said) = desk.end(desk.wimble(command));
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(since.elapsed() < Duration::from_secs(5), "it was tried again: {said}");
        assert!(
            said.contains(&format!("postgresql://wimble:…@localhost:{port}/postgres")),
            "{said}"
        );
        assert!(said.contains("password authentication failed for user \"wimble\""), "{said}");
        assert!(!said.contains("wr0ng") && output.stdout.is_empty(), "{said}");
    }
    desk.address = address("right");
    let (output, said) = desk.end(desk.wimble(&["run", "--quiet"]));
    assert!(output.status.success(), "{said}");
}
