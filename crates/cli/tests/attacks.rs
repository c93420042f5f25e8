//! Studies under attack, with real runs: shared names, frozen runners, folders that meet, files that are no results.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

/// A folder with a study file.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(more: &str, script: &str) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.study("study.toml", "s", more, script);
        desk
    }

    fn study(&self, file: &str, name: &str, more: &str, script: &str) {
        let script = serde_json::to_string(script).unwrap();
        let text = format!(
            "name = \"{name}\"\nmethod = \"sobol\"\n{more}\ncommand = [\"sh\", \"-c\", {script}, \"sh\", \"{{x}}\"]\n\
             [space]\nx = {{ type = \"real\", low = 0, high = 1 }}\n"
        );
        std::fs::write(self.path(file), text).unwrap();
    }

    fn wimble(&self, state: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wimble"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.path(state))
            .env_remove("WIMBLE_STORAGE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, state: &str, arguments: &[&str]) -> Child {
        self.wimble(state, arguments).spawn().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn trials(&self, storage: &str, study: &str) -> Vec<Json> {
        let output =
            self.wimble("state", &["trials", study, "--json", "--storage", storage]).output();
        let text = String::from_utf8(succeed(output.unwrap()).stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn succeed(output: Output) -> Output {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    output
}

fn finish(child: Child) -> Output {
    succeed(child.wait_with_output().unwrap())
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let since = Instant::now();
    while !happened() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_homes_on_one_host_run_no_trial_twice() {
    let script = "echo \"$WIMBLE_TRIAL\" >> began; sleep 0.1; echo \"$1\"";
    for name in [&[][..], &["--worker", "gpu"]] {
        let desk = Desk::new("trials = 40\nworkers = 2", script);
        let run = |home: &str| {
            let arguments: Vec<&str> = ["run"].iter().chain(name).copied().collect();
            desk.start(home, &arguments)
        };
        let runs = [run("home-1"), run("home-2")];
        runs.into_iter().for_each(|run| drop(finish(run)));
        let mut began = desk.lines("began");
        assert_eq!(began.len(), 40, "40 trials, {} executions", began.len());
        began.sort();
        began.dedup();
        assert_eq!(began.len(), 40);
    }
}

#[test]
fn a_runner_that_is_killed_and_started_again_continues_its_own_trials_at_once() {
    let script = "echo \"$WIMBLE_TRIAL\" >> began; while [ -e hold ]; do sleep 0.05; done; echo 1";
    let desk = Desk::new("trials = 2\nworkers = 2\nlease = \"1h\"", script);
    std::fs::write(desk.path("hold"), "").unwrap();
    let mut first = desk.start("state", &["run"]);
    wait_until("trials begin", || desk.lines("began").len() == 2);
    first.kill().unwrap();
    first.wait().unwrap();
    std::fs::remove_file(desk.path("hold")).unwrap();
    let since = Instant::now();
    finish(desk.start("state", &["run"]));
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert_eq!(desk.lines("began").len(), 4);
    assert_eq!(desk.trials("wimble.db", "s").len(), 2);
}

#[test]
fn a_runner_that_was_stopped_for_longer_than_its_lease_loses_nothing() {
    // With WIMBLE_TEST_LONG as it was found: the lease of a study by default, and a minute and a half.
    let (lease, command, stopped) = match std::env::var_os("WIMBLE_TEST_LONG") {
        Some(_) => ("60s", 120, 90_000),
        None => ("1s", 4, 2_500),
    };
    let script = format!("echo \"$WIMBLE_TRIAL\" >> began; sleep {command}; echo 1");
    let desk = Desk::new(&format!("trials = 2\nworkers = 2\nlease = \"{lease}\""), &script);
    let run = desk.start("state", &["run"]);
    wait_until("trials begin", || desk.lines("began").len() == 2);
    signal(&run, Signal::STOP);
    sleep(Duration::from_millis(stopped));
    signal(&run, Signal::CONT);
    finish(run);
    assert_eq!(desk.lines("began").len(), 2, "a healthy command was killed");
}

#[test]
fn a_value_that_is_told_by_hand_long_after_the_lease_counts() {
    let desk = Desk::new("trials = 2\nlease = \"100ms\"", "echo 1");
    let asked = succeed(desk.wimble("state", &["ask", "study.toml"]).output().unwrap());
    let claim: Json = serde_json::from_slice(&asked.stdout).unwrap();
    sleep(Duration::from_millis(400));
    let token = claim["token"].as_str().unwrap();
    succeed(desk.wimble("state", &["tell", "--token", token, "--value", "0.5"]).output().unwrap());
    assert_eq!(desk.trials("wimble.db", "s")[0]["value"], 0.5);
}

#[test]
fn folders_of_two_storages_and_of_two_names_never_meet() {
    // Each writes its own parameter, a moment after the other may have written.
    let script = "echo \"$1\" > \"$WIMBLE_RESULT_FILE\"; sleep 0.05";
    let more = "trials = 15\nworkers = 3\nfolders = \"runs\"";
    let desk = Desk::new(more, script);
    desk.study("slash.toml", "a/b", &format!("{more}\nseed = 1"), script);
    desk.study("line.toml", "a_b", &format!("{more}\nseed = 2"), script);
    let run = |file: &str, storage: &str| {
        desk.start(&format!("home-{file}-{storage}"), &["run", file, "--storage", storage])
    };
    let runs = [
        run("study.toml", "one.db"),
        run("study.toml", "two.db"),
        run("slash.toml", "three.db"),
        run("line.toml", "three.db"),
    ];
    runs.into_iter().for_each(|run| drop(finish(run)));
    for (storage, study) in
        [("one.db", "s"), ("two.db", "s"), ("three.db", "a/b"), ("three.db", "a_b")]
    {
        let trials = desk.trials(storage, study);
        assert_eq!(trials.len(), 15);
        for trial in trials {
            assert_eq!(trial["value"], trial["params"]["x"], "{storage} {study}");
        }
    }
    assert_eq!(std::fs::read_dir(desk.path("runs")).unwrap().count(), 4);
}

#[test]
fn a_result_file_that_is_a_pipe_or_a_device_fails_its_trial_and_holds_up_nobody() {
    let script = "case $WIMBLE_TRIAL in 0) mkfifo \"$WIMBLE_RESULT_FILE\";; \
                  1) ln -s /dev/zero \"$WIMBLE_RESULT_FILE\";; *) echo \"$1\" > \"$WIMBLE_RESULT_FILE\";; esac";
    let desk = Desk::new("trials = 3", script);
    let since = Instant::now();
    finish(desk.start("state", &["run"]));
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    let trials = desk.trials("wimble.db", "s");
    let states: Vec<&Json> = trials.iter().map(|trial| &trial["state"]).collect();
    assert_eq!(states, ["failed", "failed", "complete"]);
}

#[test]
fn commands_do_not_learn_the_address_of_the_storage() {
    let desk = Desk::new("trials = 1", "echo \"[$WIMBLE_STORAGE]\" > seen; echo 1");
    let run = desk.wimble("state", &["run"]).env("WIMBLE_STORAGE", desk.path("secret.db")).output();
    succeed(run.unwrap());
    assert_eq!(desk.lines("seen"), ["[]"]);
    assert!(desk.path("secret.db").exists());
}

#[test]
fn an_export_never_writes_over_its_storage() {
    let desk = Desk::new("trials = 3", "echo 1");
    finish(desk.start("state", &["run"]));
    let link = |name: &str| -> PathBuf { desk.path(name) };
    std::os::unix::fs::symlink("wimble.db", link("soft.db")).unwrap();
    std::fs::hard_link(desk.path("wimble.db"), link("hard.csv")).unwrap();
    for out in ["wimble.db", "./wimble.db", "soft.db", "hard.csv"] {
        for format in ["csv", "jsonl", "optuna"] {
            let output =
                desk.wimble("state", &["export", "--out", out, "--format", format]).output();
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{out} {format}: {said}");
            assert!(said.contains("is the storage itself"), "{said}");
        }
    }
    assert_eq!(desk.trials("wimble.db", "s").len(), 3);
    assert!(Path::new(&desk.path("wimble.db")).exists());
}

#[test]
fn an_attribute_that_is_too_large_is_left_out_of_an_import_and_named() {
    let desk = Desk::new("trials = 3", "echo 1");
    let row = |x: f64, note: &str| {
        format!(
            "{{\"state\":\"complete\",\"value\":1,\"params\":{{\"x\":{x}}},\"attributes\":{{\"small\":1,\"note\":\"{note}\"}}}}\n"
        )
    };
    let text = row(0.25, "fine") + &row(0.5, &"x".repeat(20_000));
    std::fs::write(desk.path("rows.jsonl"), text).unwrap();
    let arguments = ["import", "rows.jsonl", "--study", "study.toml"];
    let output = succeed(desk.wimble("state", &arguments).output().unwrap());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("the attribute `note` was left out, with 20006 bytes"), "{said}");
    assert!(said.contains("Added 2 trials"), "{said}");
    let trials = desk.trials("wimble.db", "s");
    assert_eq!(trials[1]["attributes"], serde_json::json!({ "small": 1 }));
}

#[test]
fn a_damaged_storage_is_restored_from_json_lines() {
    let desk = Desk::new("trials = 12", "echo $(( $WIMBLE_TRIAL * 7 % 12 ))");
    finish(desk.start("state", &["run", "study.toml", "--storage", "studies.db"]));
    let before = desk.trials("studies.db", "s");
    let export = ["export", "s", "--storage", "studies.db", "--out", "backup.jsonl"];
    finish(desk.start("state", &export));
    // A disk that lost its pages.
    let mut file = std::fs::read(desk.path("studies.db")).unwrap();
    let half = file.len() / 2;
    file[4_096..half].fill(0);
    std::fs::write(desk.path("studies.db"), file).unwrap();
    let doctor = desk.wimble("state", &["doctor", "--storage", "studies.db"]).output().unwrap();
    assert!(!doctor.status.success(), "the doctor found nothing");
    let import = ["import", "backup.jsonl", "--study", "study.toml", "--storage", "new.db"];
    finish(desk.start("state", &import));
    let after = desk.trials("new.db", "s");
    let known = |trial: &Json| {
        let cells = ["trial", "state", "value", "params", "attributes", "started", "finished"];
        cells.map(|cell| trial[cell].clone())
    };
    assert_eq!(before.len(), 12);
    assert!(before.iter().map(known).eq(after.iter().map(known)), "{before:?}\n{after:?}");
    // The study goes on from there: what was imported does not count for its budget.
    let run = ["run", "study.toml", "--storage", "new.db"];
    finish(desk.start("state", &run));
    assert_eq!(desk.trials("new.db", "s").len(), 24);
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_command_put_into_a_session_of_its_own_ends_with_a_runner_that_is_killed() {
    let daemon = "(setsid sh -c \"echo up >> begun; sleep 4; echo x >> alive\" &); sleep 600";
    let desk = Desk::new("trials = 1", daemon);
    let mut runner = desk.start("state", &["run", "study.toml", "--storage", "studies.db"]);
    wait_until("the daemon is up", || !desk.lines("begun").is_empty());
    runner.kill().unwrap();
    runner.wait().unwrap();
    sleep(Duration::from_secs(5));
    assert_eq!(desk.lines("alive"), Vec::<String>::new(), "it outlived its runner");
}
