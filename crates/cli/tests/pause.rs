//! `wimble pause`, `resume`, `note`, and `stop-when` in study files, as commands.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;

use std::time::{Duration, Instant};

use desk::Desk;
use serde_json::Value as Json;

const STUDY: &str = r#"
name = "slow"
command = ["sh", "-c", "sleep 0.2; echo {x}"]
trials = 14
workers = 2
method = "random"

[space]
x = { type = "real", low = 0, high = 1 }
"#;

#[test]
fn a_run_waits_for_a_paused_study_and_goes_on() {
    let desk = Desk::new(STUDY);
    let run = desk.command(&["run", "study.toml"]).spawn().unwrap();
    let valued = || desk.json(&["status", "slow", "--json"])["counts"]["valued"].as_u64().unwrap();
    let start = Instant::now();
    // Before the run has made the study there is nothing to count.
    let counted = || {
        let printed = desk.wimble(&["status", "slow", "--json"]).stdout;
        let report: Option<Json> = serde_json::from_slice(&printed).ok();
        report.and_then(|report| report["counts"]["valued"].as_u64()).unwrap_or(0)
    };
    while counted() < 3 {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(50));
    }
    let paused = desk.printed(&["pause", "slow"]);
    assert!(
        paused.contains("`slow` is paused") && paused.contains("wimble resume slow"),
        "{paused}"
    );
    while desk.json(&["status", "slow", "--json"])["counts"]["running"] != 0 {
        assert!(start.elapsed() < Duration::from_secs(90));
        std::thread::sleep(Duration::from_millis(50));
    }
    let before = valued();
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(valued(), before, "a trial began although the study is paused");
    assert!(before < 14);
    let status = desk.printed(&["status", "slow"]);
    assert!(status.contains("paused: no trial begins until `wimble resume slow`"), "{status}");
    assert_eq!(desk.json(&["status", "slow", "--json"])["paused"], true);
    // A script that asks is told so.
    let refused = desk.refused(&["ask", "slow"]);
    assert!(refused.contains("study `slow` is paused"), "{refused}");
    let resumed = desk.printed(&["resume", "slow"]);
    assert!(resumed.contains("`slow` goes on"), "{resumed}");
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("the study is paused"), "{said}");
    assert!(said.contains("the study goes on"), "{said}");
    assert_eq!(valued(), 14);
    assert!(desk.printed(&["resume", "slow"]).contains("was not paused"));

    // Notes.
    assert!(desk.printed(&["note", "slow"]).contains("no notes"));
    desk.printed(&["note", "slow", "3", "crust too dark"]);
    assert!(desk.printed(&["show", "slow", "3"]).contains("crust too dark"));
    assert_eq!(desk.json(&["show", "slow", "3", "--json"])["note"], "crust too dark");
    assert_eq!(desk.printed(&["note", "slow"]), "trial 3: crust too dark\n");
    desk.printed(&["note", "3", ""]);
    assert!(desk.printed(&["note", "slow"]).contains("no notes"));
    assert!(desk.refused(&["note", "slow", "99", "x"]).contains("no trial 99"));
    assert!(desk.refused(&["note", "slow", "first", "x"]).contains("no number of a trial"));
}

#[test]
fn a_study_that_gains_nothing_ends_by_its_rule() {
    let file = STUDY
        .replace("sleep 0.2; echo {x}", "echo 1")
        .replace("trials = 14", "trials = 200\nstop-when = \"gain < 1 %\"");
    let desk = Desk::new(&file);
    let check = desk.printed(&["check", "study.toml"]);
    assert!(
        check.contains("200 trials; 2 at a time") && check.contains("ends once gain < 1 %"),
        "{check}"
    );
    assert_eq!(desk.json(&["check", "study.toml", "--json"])["stop_when"], "gain < 1 %");
    let run = desk.printed(&["run", "study.toml"]);
    assert!(
        run.contains("Done after") && run.contains("by `stop-when` that is too little to go on"),
        "{run}"
    );
    let report = desk.json(&["run", "study.toml", "--json"]);
    assert_eq!((report["end"].as_str(), report["told"].as_u64()), (Some("gained-enough"), Some(0)));
    let valued = report["counts"]["valued"].as_u64().unwrap();
    assert!((33..=36).contains(&valued), "{report}");
    let advice = desk.printed(&["advise", "study.toml"]);
    assert!(advice.contains("`stop-when = \"gain < 1 %\"` holds"), "{advice}");
    desk.write("bad.toml", &file.replace("gain < 1 %", "gain < 0"));
    let refused = desk.refused(&["check", "bad.toml"]);
    assert!(refused.contains("stop-when is \"gain < 0\""), "{refused}");
}
