//! Studies as a user meets them: real commands, real signals, real files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use desk::Desk;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

impl Desk {
    /// Waits until the log of the commands has so many lines.
    fn wait_for_lines(&self, name: &str, count: usize) {
        let before = Instant::now();
        while lines(&self.path(name)).len() < count {
            assert!(before.elapsed() < Duration::from_secs(60), "{name} stays short");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

/// A study of a shell script. The script sees x as `$1`.
fn study(script: &str, more: &str) -> String {
    let script = serde_json::to_string(script).unwrap();
    format!(
        "name = \"s\"\nmethod = \"sobol\"\ncommand = [\"sh\", \"-c\", {script}, \"sh\", \"{{x}}\"]\n{more}\n\
         [space]\nx = {{ type = \"real\", low = 0, high = 1 }}\nc = {{ type = \"categorical\", choices = [\"a\", \"b\"] }}\n"
    )
}

#[test]
fn a_run_whose_lines_nobody_reads_any_more_goes_on() {
    let script = "case $WIMBLE_TRIAL in 0|2) exit 3;; esac; echo \"$1\"";
    let desk = Desk::new(&study(script, "trials = 4\nworkers = 1"));
    let mut child = desk.command(&["run"]).spawn().unwrap();
    drop(child.stderr.take());
    let before = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if before.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("the run does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let states: Vec<Json> =
        desk.lines(&["trials", "--json"]).iter().map(|trial| trial["state"].clone()).collect();
    assert_eq!(states, ["failed", "complete", "failed", "complete"]);
}

#[test]
fn a_study_runs_to_its_best_configuration_and_can_be_looked_at() {
    let desk = Desk::new(&study("echo \"$1\"", "trials = 12\nworkers = 4"));
    let report = desk.printed(&["run"]);
    assert!(
        report.starts_with("Done after ") && report.contains(": 12 of 12 trials with a value."),
        "{report}"
    );
    assert!(
        report.contains("\nBest: ") && report.ends_with("\nNext: wimble trials s --sort value\n"),
        "{report}"
    );

    let mut best = desk.json(&["best", "--json"]);
    assert_eq!(best["value"], best["params"]["x"]);
    assert_eq!(best["recommended"], best["trial"], "sobol knows nothing of noise");
    best.as_object_mut().unwrap().remove("recommended");
    let trials = desk.lines(&["trials", "--sort", "value", "--json"]);
    assert_eq!(trials.len(), 12);
    assert_eq!(trials[0], best);
    assert!(trials.is_sorted_by(|a, b| a["value"].as_f64() <= b["value"].as_f64()));
    assert_eq!(desk.lines(&["trials", "--sort", "value", "--limit", "3", "--json"]), trials[..3]);
    let mut reversed = desk.lines(&["trials", "--sort", "value", "--reverse", "--json"]);
    reversed.reverse();
    assert_eq!(reversed, trials);
    assert!(desk.lines(&["trials", "--state", "failed", "--json"]).is_empty());

    let shown = desk.json(&["show", "3", "--json"]);
    assert_eq!(shown["trial"], 3);
    assert_eq!(shown["nearest"].as_array().unwrap().len(), 3);
    assert!(desk.printed(&["show", "3", "--model"]).contains("Model: sobol has none"));
    assert!(desk.refused(&["show", "99"]).contains("has no trial 99"));
    let studies = desk.lines(&["studies", "--json"]);
    assert_eq!(
        (studies[0]["study"].as_str(), &studies[0]["counts"]["valued"]),
        (Some("s"), &12.into())
    );
    assert!(desk.printed(&["doctor"]).contains("study `s`: 12 complete"));
    for arguments in [&["trials"][..], &["studies"], &["best", "-n", "5"]] {
        let text = desk.printed(arguments);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    assert!(desk.refused(&["delete", "s"]).contains("add --yes"));
    assert!(desk.printed(&["delete", "s", "--yes"]).contains("its 12 trials"));
    assert!(desk.refused(&["best"]).contains("there is no study in the storage wimble.db yet"));
}

#[test]
fn under_noise_another_trial_than_the_luckiest_is_recommended() {
    // A bowl at 0.3 under noise, and far away a trial that was lucky.
    let noise = |k: u32| 0.06 * (f64::from(k * k) * 12.9898).sin();
    let mut rows: Vec<Json> = (0..60)
        .map(|k| {
            let x = f64::from(k) / 59.0;
            serde_json::json!({ "state": "complete", "value": (x - 0.3).powi(2) + noise(k), "params": { "x": x } })
        })
        .collect();
    rows[45]["value"] = (-0.15).into();
    for (direction, sign) in [("minimise", 1.0), ("maximise", -1.0)] {
        let file = format!(
            "name = \"noisy\"\ndirection = \"{direction}\"\n[space]\nx = {{ type = \"real\", low = 0, high = 1 }}\n"
        );
        let desk = Desk::new(&file);
        let turned: Vec<String> = rows
            .iter()
            .map(|row| {
                let mut row = row.clone();
                row["value"] = (sign * row["value"].as_f64().unwrap()).into();
                row.to_string()
            })
            .collect();
        desk.write("trials.jsonl", &turned.join("\n"));
        desk.printed(&["import", "trials.jsonl", "--study", "study.toml"]);

        let kept = desk.json(&["best", "--recommended", "--json"]);
        let x = kept["params"]["x"].as_f64().unwrap();
        assert!((x - 0.3).abs() < 0.15, "{kept}");
        let number = kept["trial"].as_u64().unwrap();
        assert_eq!(kept["recommended"], number);

        let best = desk.json(&["best", "--json"]);
        assert_eq!((&best["trial"], &best["recommended"]), (&45.into(), &number.into()));
        let three = desk.json(&["best", "-n", "3", "--json"]);
        assert!(three.as_array().unwrap().iter().all(|row| row["recommended"] == number));

        if direction == "minimise" {
            insta::assert_snapshot!(desk.printed(&["best"]));
            insta::assert_snapshot!(desk.printed(&["best", "-n", "3"]));
            insta::assert_snapshot!(desk.printed(&["best", "--recommended"]));
        }
        assert!(desk.refused(&["best", "--recommended", "-n", "3"]).starts_with("exit 2"));
    }
}

#[test]
fn the_parameter_that_matters_is_named_and_an_unknown_quantity_is_not() {
    let desk = Desk::new(&study("echo $1", "trials = 40"));
    desk.printed(&["run", "study.toml", "--quiet"]);
    let found = desk.json(&["importance", "--json"]);
    assert_eq!((&found["quantity"], &found["trials"]), (&"value".into(), &40.into()));
    let total = |k: usize| found["shares"][k]["total"]["mean"].as_f64().unwrap();
    assert!(total(0) > 0.9 && total(1) < 0.1, "{found}");
    let text = desk.printed(&["importance"]);
    let places = ["\n x ", "\n c "].map(|name| text.find(name).unwrap());
    assert!(places[0] < places[1] && text.contains("R²"), "{text}");
    let refused = desk.refused(&["importance", "--of", "speed"]);
    assert!(refused.contains("the quantity is `speed`, but must be one of value"), "{refused}");
}

#[test]
fn a_users_own_configuration_is_tried_first_and_a_wrong_one_is_named() {
    let desk = Desk::new(&study("echo $1", "trials = 3\nworkers = 1"));
    let said = desk.printed(&["enqueue", "study.toml", "x=0.75", "c=b"]);
    assert_eq!(said, "Trial 0 waits in the queue; the next free worker gets it.\n");
    for (words, answer) in [
        (["x=0.5", "c=z"], "`c` is \"z\", but must be one of a, b"),
        (["x=hot", "c=b"], "`x` is \"hot\", but must be a number"),
        (["y=0.5", "c=b"], "there is no parameter `y`; there are x, c"),
        (["speed=0.5", "c=b"], "there is no parameter `speed`; there are x, c"),
        (["x=7", "c=b"], "x is 7.0, but must be a real number from 0.0 to 1.0"),
        (["x=0.5", "x=0.5"], "`x` is given twice"),
    ] {
        let refused = desk.refused(&[&["enqueue"], &words[..]].concat());
        assert!(refused.contains(answer), "{refused}");
    }
    // The same key, the same trial.
    let again = ["enqueue", "s", "x=0.25", "c=a", "--key", "mine", "--json"];
    assert_eq!(desk.json(&again), desk.json(&again));
    desk.printed(&["run", "study.toml", "--quiet"]);
    let trials = desk.lines(&["trials", "--json"]);
    assert_eq!(trials.len(), 3, "{trials:?}");
    assert_eq!((&trials[0]["params"]["x"], &trials[0]["value"]), (&0.75.into(), &0.75.into()));
    assert_eq!(trials[1]["params"]["x"], 0.25);
}

#[test]
fn a_study_begins_with_what_served_earlier_ones() {
    let earlier = study("echo $1", "trials = 12\nworkers = 1");
    let desk = Desk::new(&earlier);
    desk.printed(&["run", "study.toml", "--quiet"]);
    let later = earlier.replace("name = \"s\"", "name = \"later\"");
    desk.write("later.toml", &later);
    let said = desk.printed(&["enqueue", "later.toml", "--from", "s", "--count", "2"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    let waiting = desk.lines(&["trials", "later", "--json"]);
    let best = desk.json(&["best", "s", "--json"]);
    assert_eq!(waiting[0]["params"], best["params"], "{waiting:?} {best}");
    for (words, answer) in [
        (["--from", "later"], "`later` cannot learn from itself"),
        (["--from", "none"], "there is no study `none`"),
    ] {
        let refused = desk.refused(&[&["enqueue", "later.toml"], &words[..]].concat());
        assert!(refused.contains(answer), "{refused}");
    }
    let both = desk.refused(&["enqueue", "later.toml", "x=0.5", "--from", "s"]);
    assert!(both.contains("either --from or values"), "{both}");
}

#[test]
fn the_status_of_a_study_is_shown_until_it_is_over_and_stop_ends_it_early() {
    let desk = Desk::new(&study("echo $1", "trials = 50"));
    desk.printed(&["run", "study.toml", "--quiet", "--trials", "4"]);
    // The study file asks for more.
    let asked = desk.json(&["ask", "study.toml", "--worker", "me"]);
    let status = desk.json(&["status", "--json"]);
    assert_eq!((&status["budget"], &status["over"]), (&50.into(), &false.into()));
    assert_eq!(
        (&status["running"][0]["trial"], &status["running"][0]["worker"]),
        (&4.into(), &"me".into())
    );
    let text = desk.printed(&["status"]);
    assert!(text.starts_with("s: 4 of 50 trials finished, 1 running\nbest "), "{text}");
    let stopped = desk.printed(&["stop"]);
    assert!(
        stopped.starts_with(
            "`s` starts no new trial: 1 running and 0 queued trials are still evaluated."
        ),
        "{stopped}"
    );
    assert!(stopped.contains("wimble run STUDY_FILE --trials 50"), "{stopped}");
    assert!(desk.printed(&["ask", "s", "--worker", "other"]).is_empty(), "nothing new is started");
    let token = asked["token"].as_str().unwrap();
    desk.printed(&["tell", "--token", token, "--value", "0.5"]);
    let over = desk.json(&["status", "--watch", "1s", "--json"]);
    assert_eq!((&over["budget"], &over["over"]), (&5.into(), &true.into()));
}

#[test]
fn a_wider_study_begins_with_the_evidence_of_another() {
    let desk = Desk::new(&study("echo $1", "trials = 10"));
    desk.printed(&["run", "study.toml", "--quiet"]);
    let wider = study("echo $1", "trials = 4").replace("name = \"s\"", "name = \"wider\"");
    desk.write(
        "wider.toml",
        &format!(
            "{}n = {{ type = \"integer\", low = 1, high = 8 }}\n",
            wider.replace("high = 1 ", "high = 2 ")
        ),
    );
    let refused = desk.refused(&["extend", "s", "wider.toml"]);
    assert!(
        refused.contains("a new parameter is `n`, but must be set to the value that it had in `s`"),
        "{refused}"
    );
    let said = desk.printed(&["extend", "s", "wider.toml", "--set", "n=3"]);
    assert_eq!(said, "`wider` has 10 trials of `s`.\nNext: wimble run wider.toml\n");
    desk.printed(&["run", "wider.toml", "--quiet"]);
    let trials = desk.lines(&["trials", "wider", "--json"]);
    assert_eq!(trials.len(), 14);
    assert!(trials[..10].iter().all(|trial| trial["params"]["n"] == 3), "{trials:?}");
    let same = desk.refused(&["extend", "s", "study.toml"]);
    assert!(same.contains("the new study needs a name of its own"), "{same}");
}

#[test]
fn a_run_without_a_single_value_is_no_success() {
    let desk = Desk::new(&study("exit 77", "trials = 5"));
    let output = desk.wimble(&["run", "study.toml"]);
    let (said, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{said}{error}");
    assert!(said.contains("Next: wimble trials s --state infeasible"), "{said}");
    assert!(
        error.contains("no trial has a value: all configurations that were tried are infeasible"),
        "{error}"
    );
    let studies = desk.printed(&["studies"]);
    let row: Vec<&str> = studies.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..6], ["s", "0", "0", "5", "0", "0"], "{studies}");
}

#[test]
fn what_cannot_be_started_is_noted_and_what_has_no_command_is_asked_for() {
    let desk = Desk::new(
        "name = \"s\"\ncommand = [\"./tool\", \"{x}\"]\ntimeout = \"90s\"\nretries = 2\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n",
    );
    desk.write("tool", "#!/bin/sh\necho 1\n");
    let said = desk.printed(&["check"]);
    assert!(said.contains("the program `./tool` is not executable: chmod +x ./tool"), "{said}");
    let report = desk.json(&["check", "--json"]);
    assert_eq!((&report["timeout_seconds"], &report["retries"]), (&90.0.into(), &2.into()));
    assert_eq!(report["settings"]["lost-retries"], 3);
    assert!(report["settings"].get("retries").is_none());
    desk.write("study.toml", "name = \"s\"\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n");
    let said = desk.printed(&["check"]);
    assert!(said.ends_with("Next: wimble ask study.toml\n"), "{said}");
}

#[test]
fn a_spent_budget_is_raised_and_another_space_is_refused() {
    let desk = Desk::new(&study("echo 1", "trials = 3"));
    desk.printed(&["run", "--quiet"]);
    assert_eq!(desk.json(&["run", "--json"])["told"], 0);
    assert_eq!(desk.json(&["run", "--trials", "5", "--workers", "2", "--json"])["told"], 2);
    desk.write("study.toml", &study("echo 2", "trials = 8"));
    assert_eq!(desk.json(&["run", "--json"])["told"], 3, "the command may change");
    desk.write("study.toml", &study("echo 1", "trials = 9").replace("high = 1", "high = 2"));
    let refused = desk.refused(&["run"]);
    assert!(
        refused.contains("x.high is 1.0, not 2.0") && refused.contains("give the file a new name"),
        "{refused}"
    );
    desk.write("study.toml", &study("echo 1", "trials = 9").replace("\"s\"", "\"t\""));
    assert!(desk.refused(&["run", "--join"]).contains("--join works on a study that exists"));
}

#[test]
fn an_interrupted_run_ends_its_commands_returns_their_trials_and_goes_on_later() {
    let script = "echo $$ >> pids; [ -e go ] || sleep 60; echo 1";
    let desk = Desk::new(&study(script, "trials = 6\nworkers = 3\nlease = \"1h\""));
    for request in [Signal::INT, Signal::TERM] {
        let before = lines(&desk.path("pids")).len();
        let child = desk.command(&["run"]).spawn().unwrap();
        desk.wait_for_lines("pids", before + 3);
        signal(&child, request);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(
            report.starts_with("Stopped after") && report.contains("3 in the queue"),
            "{report}"
        );
        assert!(report.ends_with("To continue: wimble run study.toml\n"), "{report}");
        assert!(all_dead(&lines(&desk.path("pids"))));
    }
    desk.write("go", "");
    assert_eq!(desk.json(&["run", "--json"])["told"], 6);
}

#[test]
fn a_second_interruption_stops_at_once() {
    let desk = Desk::new(&study(
        "trap '' TERM; echo $$ >> pids; while :; do sleep 1; done",
        "workers = 2\ngrace = \"1h\"",
    ));
    let child = desk.command(&["run"]).spawn().unwrap();
    desk.wait_for_lines("pids", 2);
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    let before = Instant::now();
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    assert!(all_dead(&lines(&desk.path("pids"))));
}

/// Whether no process of these numbers is left. Commands sleep for a minute: what is gone before was ended.
fn all_dead(pids: &[String]) -> bool {
    let before = Instant::now();
    while before.elapsed() < Duration::from_secs(30) {
        let alive = |pid: &String| {
            rustix::process::test_kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap()).is_ok()
        };
        if !pids.iter().any(alive) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_run_that_is_killed_loses_nothing_and_repeats_no_finished_trial() {
    let script = "echo $$ >> pids; sleep 0.05; echo \"$WIMBLE_TRIAL\" >> ended; echo \"$1\"";
    let desk = Desk::new(&study(script, "trials = 40\nworkers = 4\nlease = \"1h\""));
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    for round in 0..6 {
        let mut child = desk.command(&["run"]).spawn().unwrap();
        desk.wait_for_lines("ended", lines(&desk.path("ended")).len() + 2 + round);
        signal(&child, Signal::KILL);
        child.wait().unwrap();
        let kept: BTreeSet<String> = desk
            .lines(&["trials", "--state", "complete", "--json"])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(kept.is_superset(&acknowledged), "a result was lost or changed");
        acknowledged = kept;
        assert!(all_dead(&lines(&desk.path("pids"))), "a command outlived its runner");
    }
    let report = desk.json(&["run", "--json"]);
    assert_eq!((&report["end"], &report["counts"]["valued"]), (&"budget-spent".into(), &40.into()));
    let all = desk.lines(&["trials", "--json"]);
    for trial in &all {
        assert_eq!((&trial["state"], &trial["value"]), (&"complete".into(), &trial["params"]["x"]));
    }
    let kept: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    assert!(kept.is_superset(&acknowledged));
    // At most the trials in hand at each kill were run twice.
    assert!(lines(&desk.path("ended")).len() <= 40 + 6 * 4);
}

#[test]
fn commands_die_with_a_run_that_is_killed() {
    let desk = Desk::new(&study("echo $$ >> pids; sleep 60", "trials = 2\nworkers = 2"));
    let mut child = desk.command(&["run"]).spawn().unwrap();
    desk.wait_for_lines("pids", 2);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    assert!(all_dead(&lines(&desk.path("pids"))));
}

#[test]
fn two_runs_share_a_study() {
    let script = "echo \"$WIMBLE_TRIAL\" >> ended; sleep 0.02; echo 1";
    let desk = Desk::new(&study(script, "trials = 40\nworkers = 3"));
    desk.printed(&["ask", "study.toml", "--worker", "me"]);
    let runs: Vec<Child> =
        (0..3).map(|_| desk.command(&["run", "--join", "--json"]).spawn().unwrap()).collect();
    let token = desk.lines(&["ask", "--worker", "me"])[0]["token"].as_str().unwrap().to_owned();
    desk.printed(&["tell", "--token", &token, "--value", "-3"]);
    let told: u64 = runs
        .into_iter()
        .map(|run| {
            let output = run.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice::<Json>(&output.stdout).unwrap()["told"].as_u64().unwrap()
        })
        .sum();
    assert_eq!(told, 39);
    let ended = lines(&desk.path("ended"));
    assert_eq!((ended.len(), ended.iter().collect::<BTreeSet<_>>().len()), (39, 39));
    assert_eq!(desk.json(&["best", "--json"])["value"], -3.0);
}

#[test]
fn a_command_that_does_not_work_is_exit_code_3() {
    let desk = Desk::new(&study("echo it is broken >&2; exit 9", ""));
    let output = desk.wimble(&["run"]);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(complaint.contains("exit status: 9\nit is broken"), "{complaint}");
    let failed = desk.lines(&["trials", "--state", "failed", "--json"]);
    assert_eq!(failed[0]["reason"], "exit status: 9");
    assert!(desk.printed(&["show", "0"]).contains("it is broken"));
}

#[test]
fn a_script_asks_and_tells() {
    let desk = Desk::new(&study("true", "trials = 5"));
    let asked = desk.lines(&["ask", "study.toml", "-n", "3", "--key", "k", "--worker", "w"]);
    assert_eq!(desk.lines(&["ask", "study.toml", "-n", "3", "--key", "k", "--worker", "w"]), asked);
    let token = |k: usize| asked[k]["token"].as_str().unwrap();
    desk.printed(&["tell", "--token", token(0), "--alive"]);
    desk.printed(&["tell", "--token", token(0), "--value", "-0.5"]);
    desk.printed(&["tell", "--token", token(0), "--value", "-0.5"]);
    assert!(
        desk.refused(&["tell", "--token", token(0), "--value", "7"])
            .contains("finished trials never change")
    );
    desk.printed(&["tell", "--token", token(1), "--failed", "no luck"]);
    desk.printed(&["tell", "--token", token(2), "--infeasible"]);
    let states: Vec<Json> =
        desk.lines(&["trials", "--json"]).iter().map(|trial| trial["state"].clone()).collect();
    assert_eq!(states, ["complete", "failed", "infeasible"]);
    assert!(
        desk.refused(&["tell", "--token", "x", "--value", "1"])
            .contains("must be one that `wimble ask` printed")
    );
}

#[test]
fn trials_go_out_and_come_back_the_same_in_every_format() {
    let script = r#"
        case $WIMBLE_TRIAL in 2) exit 77;; 3) exit 1;; 4) echo "$1"; exit;; esac
        printf '{{"value": %s, "note": "%s", "curve": [1, 0.5], "who": "me, you"}}' "$1" "$WIMBLE_TRIAL""#;
    let desk = Desk::new(&study(script, "trials = 8"));
    desk.printed(&["run", "--quiet"]);
    let shown = desk.json(&["show", "1", "--json"])["attributes"].clone();
    assert_eq!(shown, serde_json::json!({ "note": "1", "curve": [1, 0.5], "who": "me, you" }));
    assert!(desk.printed(&["show", "1"]).contains("attributes\n  curve  [1,0.5]\n"));
    let flat = |rows: Vec<Json>| -> BTreeSet<String> {
        rows.iter()
            .map(|row| {
                ["state", "value", "reason", "params", "attributes"]
                    .map(|field| row[field].to_string())
                    .join(" ")
            })
            .collect()
    };
    let before = flat(desk.lines(&["trials", "--json"]));
    for file in ["t.csv", "t.jsonl", "t.db"] {
        let report = desk.json(&["export", "--out", file, "--json"]);
        assert_eq!((&report["written"], &report["trials"]), (&file.into(), &8.into()));
        let storage = format!("{file}.copy.db");
        let arguments = ["import", file, "--study", "study.toml", "--storage", &storage];
        assert!(desk.printed(&arguments).contains("Added 8 trials to `s`."));
        assert!(desk.printed(&arguments).contains("Added 0 trials to `s`; 8 were there already."));
        let after = flat(desk.lines(&["trials", "--json", "--storage", &storage]));
        assert_eq!(after, before);
    }
    // Without a study file, the space is that of the distributions.
    assert!(desk.printed(&["import", "t.db", "--storage", "new.db"]).contains("Added 8 trials"));
    assert_eq!(
        desk.json(&["best", "--json", "--storage", "new.db"])["value"],
        desk.json(&["best", "--json"])["value"]
    );
}

#[test]
fn a_study_file_is_written_and_checked_and_nothing_is_run() {
    let desk = Desk::new("");
    assert_eq!(desk.json(&["init", "new.toml", "--json"])["written"], "new.toml");
    assert!(desk.refused(&["init", "new.toml"]).contains("exists and was left as it is"));
    insta::assert_snapshot!(
        desk.printed(&["check", "new.toml"])
            .replace("note       the program `python3` was not found on this machine\n", "")
    );
    desk.write("danger.toml", &study("touch harm; echo 1", ""));
    assert!(desk.printed(&["check", "danger.toml"]).contains("touch harm"));
    assert!(!desk.path("harm").exists() && !desk.path("wimble.db").exists());
}

/// The promise is that of the engine for the space, the rule and the workers of the file; the engine's own tests go
/// through all combinations.
#[test]
fn check_says_what_is_guaranteed_and_under_which_conditions() {
    let file = |rule: &str, workers: usize| {
        format!(
            "name = \"g\"\ncommand = [\"echo\", \"{{x}}\"]\nworkers = {workers}\n[space]\n\
             x = {{ type = \"real\", low = 0, high = 1 }}\n[method]\nname = \"bore++\"\nlevel = 0.1\n\
             threshold = 0.3\ntarget = \"log-probability\"\nrule = \"{rule}\"\n[method.classifier]\n\
             hyper-parameters = {{ fixed = {{ kernel = {{ profile = \"squared-exponential\", \
             length-scales = [0.2], output-scale = 1 }} }} }}\n"
        )
    };
    let desk = Desk::new(&file("independent", 1));
    insta::assert_snapshot!(desk.printed(&["check"]));
    desk.write("study.toml", &file("svgd", 4));
    insta::assert_snapshot!(desk.printed(&["check"]));
    let json = desk.json(&["check", "--json"]);
    assert_eq!(json["guarantee"]["promise"], serde_json::Value::Null);
    assert_eq!(json["guarantee"]["because"].as_array().unwrap().len(), 1);
}

#[test]
fn mistakes_in_a_study_file_are_shown_at_their_place() {
    let desk = Desk::new(
        "name = \"m\"\ncommand = [\"./train\", \"--rate\", \"{rat}\", \"{momentum}\", \"{\"]\ntrails = 60\nworkers = 0\n\
         timeout = \"soon\"\nmethod = \"bohr\"\n\n[space]\nrate = { type = \"real\", low = 1, high = 0.1, scale = \"log\" }\n",
    );
    insta::assert_snapshot!(desk.refused(&["check"]));
    desk.write(
        "study.toml",
        "name = \"m\"\ncommand = \"python3 train.py\"\n[space]\nrate = { type = \"rel\", low = 1 }\nn = { type = \"integer\", lo = 1, high = 3 }\nk = 3\n",
    );
    insta::assert_snapshot!(desk.refused(&["check"]));
    desk.write("study.toml", "name = \"m\"\n[space\nx = 1\n");
    insta::assert_snapshot!(desk.refused(&["run"]));
    desk.write(
        "study.json",
        "{\"name\": \"m\",\n \"trials\": \"many\",\n \"space\": {\"x\": {\"type\": \"boolean\"}}}",
    );
    insta::assert_snapshot!(desk.refused(&["check", "study.json"]));
    desk.write(
        "study.toml",
        "name = \"m\"\ncommand = [\"./t\", \"--momentum\", \"{momentum}\"]\n[space]\n\
         o = { type = \"categorical\", choices = [\"adam\", \"sgd\"] }\n\
         momentum = { type = \"real\", low = 0, high = 1, when = { parent = \"o\", values = [\"sgd\"] } }\n",
    );
    insta::assert_snapshot!(desk.refused(&["check"]));
    assert!(desk.refused(&["check", "none.toml"]).contains("`wimble init` writes a study file"));
}

#[test]
fn completions_and_the_manual_are_there() {
    let desk = Desk::new("");
    assert!(desk.printed(&["completions", "bash"]).contains("_wimble"));
    assert!(desk.printed(&["man"]).contains(".TH wimble"));
    let pages = desk.json(&["man", "--out", "pages", "--json"])["written"].clone();
    let pages: Vec<&str> =
        pages.as_array().unwrap().iter().map(|page| page.as_str().unwrap()).collect();
    assert!(pages.contains(&"pages/wimble-run.1"), "{pages:?}");
    let written = std::fs::read_dir(desk.path("pages")).unwrap().count();
    assert!(
        pages.len() == written && pages.iter().all(|page| desk.path(page).exists()),
        "{pages:?}"
    );
    assert!(desk.printed(&["--help"]).contains("Exit codes:"));
}
