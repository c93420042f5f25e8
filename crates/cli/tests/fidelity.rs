//! Studies with a fidelity from the command line: steps, stopped trials, reports, and a run that is killed.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

/// The first five trials are good and whole; the others are bad, and take a minute unless they are stopped.
const STUDY: &str = r#"
name = "train"
command = ["sh", "train.sh"]
method = "random"
trials = 8
stopping = "median"
grace = "2s"

[fidelity]
epochs = { low = 1, high = 9 }

[space]
rate = { type = "real", low = 0, high = 1 }
"#;

const SCRIPT: &str = r#"
say() { echo "{\"step\": $1, \"value\": $2}"; }
say 1 $WIMBLE_TRIAL; say 2 $WIMBLE_TRIAL.5
if [ $WIMBLE_TRIAL -lt 5 ]; then say 9 0.$WIMBLE_TRIAL; else sleep 60; fi
"#;

/// The same through `wimble report`, which says when to stop.
const REPORTING: &str = r#"
i=1
while [ $i -le 9 ]; do
    "$WIMBLE" report $i $WIMBLE_TRIAL || { code=$?; echo "code $code at $i" >> codes; exit $code; }
    if [ $WIMBLE_TRIAL -ge 5 ]; then trap '' TERM; sleep 0.3; fi
    i=$((i + 1))
done
"#;

fn folder(study: &str, script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    std::fs::write(folder.path().join("train.sh"), script).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wimble"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder)
        .env("WIMBLE", env!("CARGO_BIN_EXE_wimble"))
        .env_remove("WIMBLE_STORAGE")
        .env_remove("WIMBLE_REPORT");
    command
}

fn wimble(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = wimble(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(folder: &Path, arguments: &[&str]) -> Json {
    serde_json::from_str(&printed(folder, arguments)).unwrap()
}

#[test]
fn a_study_says_what_it_stopped_and_what_that_saved() {
    let folder = folder(STUDY, SCRIPT);
    let folder = folder.path();
    let said = printed(folder, &["check"]);
    assert!(
        said.contains(r#"steps      {"step": …, "value": …}, at epochs from 1 to 9"#),
        "{said}"
    );
    assert!(said.contains("trials are stopped early by the rule median"), "{said}");
    let said = printed(folder, &["run"]);
    assert!(said.contains("3 trials stopped early: 51 of 72 epochs, 1.4 times fewer."), "{said}");
    assert!(said.contains("Best: 0 (trial 0)"), "{said}");
    assert!(said.contains("5 trials reached 9 epochs."), "{said}");
    let said = printed(folder, &["trials", "train"]);
    assert_eq!(said.matches("stopped at 2/9").count(), 3, "{said}");
    let said = printed(folder, &["trials", "train", "--state", "stopped", "--json"]);
    let rows: Vec<Json> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 3, "{said}");
    assert_eq!((&rows[0]["state"], &rows[0]["fidelity"]), (&"stopped".into(), &2.0.into()));
    assert_eq!(
        printed(folder, &["trials", "train", "--state", "complete", "--json"]).lines().count(),
        5
    );
    // The furthest come first.
    let said = printed(folder, &["trials", "train", "--sort", "value", "--json"]);
    let first: Json = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(first["trial"], 0, "{said}");
    let said = printed(folder, &["show", "6", "train"]);
    assert!(said.starts_with("Trial 6: stopped at 2/9, value 6.5"), "{said}");
    assert!(said.contains("epochs") && said.matches('o').count() > 2, "{said}");
    let steps = &json(folder, &["show", "6", "train", "--json"])["steps"];
    assert_eq!(
        steps,
        &serde_json::json!([{"step": 1.0, "value": 6.0}, {"step": 2.0, "value": 6.5}])
    );
    let best = json(folder, &["best", "train", "--json"]);
    assert_eq!((&best["trial"], &best["fidelity"]), (&0.into(), &Json::Null));
    // What is written is read again, with its curves.
    printed(folder, &["export", "train", "--out", "all.jsonl"]);
    let study = STUDY.replace("\"train\"", "\"again\"");
    std::fs::write(folder.join("again.toml"), study).unwrap();
    printed(folder, &["import", "all.jsonl", "--study", "again.toml"]);
    assert_eq!(&json(folder, &["show", "6", "again", "--json"])["steps"], steps);
    printed(folder, &["doctor"]);
}

#[test]
fn before_a_trial_is_whole_the_furthest_is_the_best_and_is_said_to_be() {
    let script = "echo '{\"step\": 1, \"value\": 3}'\n[ $WIMBLE_TRIAL = 1 ] && echo '{\"step\": 4, \"value\": 5}'; exit 0";
    let folder = folder(STUDY, script);
    let said = printed(folder.path(), &["run", "--trials", "3"]);
    assert!(said.contains("Best: 5 at 4/9 (trial 1)"), "{said}");
    assert!(said.contains("No trial has reached 9 epochs yet; the furthest came to 4."), "{said}");
    let best = json(folder.path(), &["best", "train", "--json"]);
    assert_eq!((&best["trial"], &best["fidelity"]), (&1.into(), &4.0.into()));
    assert_eq!(best["fidelity_reached"], 4.0);
}

#[test]
fn a_report_says_by_its_exit_code_whether_to_go_on() {
    let folder = folder(STUDY, REPORTING);
    let folder = folder.path();
    let report = json(folder, &["run", "--json"]);
    assert_eq!(
        (&report["counts"]["valued"], &report["stopped"]),
        (&8.into(), &3.into()),
        "{report}"
    );
    let codes = std::fs::read_to_string(folder.join("codes")).unwrap();
    assert!(
        codes.lines().count() == 3 && codes.lines().all(|line| line.starts_with("code 5 at")),
        "{codes}"
    );
    // By hand there is nobody to report to.
    let output = wimble(folder, &["report", "3", "0.5"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("WIMBLE_REPORT is not set"));
    let gone = command(folder, &["report", "3", "0.5"])
        .env("WIMBLE_REPORT", folder.join("none"))
        .env("WIMBLE_TRIAL", "0")
        .output()
        .unwrap();
    assert_eq!(gone.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&gone.stderr).contains("the runner does not answer"));
    for wrong in [&["report", "3", "nan"][..], &["report", "--json", "{}"], &["report", "3"]] {
        assert_eq!(wimble(folder, wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn a_run_that_is_killed_is_continued_with_all_steps() {
    let script = "i=1; while [ $i -le 9 ]; do echo \"{\\\"step\\\": $i, \\\"value\\\": $i}\"; sleep 0.15; i=$((i + 1)); done";
    let study = STUDY.replace("trials = 8", "trials = 4\nworkers = 2").replace("median", "none");
    let folder = folder(&study, script);
    let folder = folder.path();
    let mut run =
        command(folder, &["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let steps = |trial: &str| -> usize {
        let output = wimble(folder, &["show", trial, "train", "--json"]);
        let row: Json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        row["steps"].as_array().map_or(0, Vec::len)
    };
    while steps("0") < 3 {
        assert!(began.elapsed() < Duration::from_secs(60), "no steps are stored");
        std::thread::sleep(Duration::from_millis(50));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let before = steps("0");
    assert!((3..9).contains(&before), "{before}");
    printed(folder, &["run", "--quiet"]);
    for trial in ["0", "1", "2", "3"] {
        assert_eq!(steps(trial), 9, "trial {trial}");
    }
    assert_eq!(json(folder, &["status", "train", "--json"])["counts"]["valued"], 4);
}
