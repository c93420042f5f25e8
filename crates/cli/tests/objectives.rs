//! Several objectives and constraints as a user meets them: study files, runs, fronts, tells and exchange.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use desk::Desk;
use serde_json::{Value as Json, json};

/// Two objectives on a line, with a limit that leaves a part of it: error = x, speed = 1 - x² is maximised, memory = 10 x.
const SCRIPT: &str = r#"awk -v x="$1" 'BEGIN { printf "{\"objectives\": {\"error\": %.6f, \"speed\": %.6f}, \"constraints\": {\"memory\": %.6f}}\n", x, x * (2 - x), 10 * x }'"#;

const TABLES: &str = "[objectives]\nerror = \"minimise\"\nspeed = { direction = \"maximise\", reference = 0 }\n\
                      [constraints]\nmemory = \"<= 8\"\n";

fn study(script: &str, tables: &str, trials: u32) -> String {
    let script = script.replace('{', "{{").replace('}', "}}");
    let script = serde_json::to_string(&script).unwrap();
    format!(
        "name = \"s\"\nmethod = \"sobol\"\ntrials = {trials}\nworkers = 2\n\
         command = [\"sh\", \"-c\", {script}, \"sh\", \"{{x}}\"]\n{tables}\
         [space]\nx = {{ type = \"real\", low = 0, high = 1 }}\n"
    )
}

fn told(row: &Json, name: &str) -> f64 {
    row["objectives"][name].as_f64().unwrap()
}

/// Rows as a user checks them: sorted by the first objective, and none dominates another.
fn assert_front(front: &[Json], all: &[Json]) {
    assert!(!front.is_empty());
    assert!(front.is_sorted_by(|a, b| told(a, "error") <= told(b, "error")));
    let dominates = |a: &Json, b: &Json| {
        let (error, speed) =
            (told(a, "error") - told(b, "error"), told(b, "speed") - told(a, "speed"));
        error <= 0.0 && speed <= 0.0 && (error < 0.0 || speed < 0.0)
    };
    let meeting = || all.iter().filter(|row| row["state"] == "complete");
    for row in front {
        assert_eq!(row["state"], "complete");
        assert!(!meeting().any(|other| dominates(other, row)), "{row}");
    }
    let by_hand = meeting().filter(|row| !meeting().any(|other| dominates(other, row)));
    assert_eq!(by_hand.count(), front.len());
}

#[test]
fn a_study_of_two_objectives_runs_to_its_front() {
    // Long enough for the progress to be brought up to date.
    let desk = Desk::new(&study(&format!("sleep 0.05; {SCRIPT}"), TABLES, 24));
    let output = desk.wimble(&["run"]);
    let (report, said) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{said}");
    assert!(said.contains("front ") && said.contains("hypervolume "), "{said}");
    assert!(said.contains("(violating)") && said.contains(": error 0."), "{said}");
    assert!(report.contains("Front: ") && report.contains("Hypervolume "), "{report}");
    assert!(report.ends_with("\nNext: wimble best s\n"), "{report}");

    let all = desk.lines(&["trials", "--json"]);
    let violating = all.iter().filter(|row| row["state"] == "violating").count();
    assert!(violating > 0 && all.iter().all(|row| row.get("value").is_none()));
    for row in &all {
        let memory = row["constraints"]["memory"].as_f64().unwrap();
        assert_eq!(row["state"] == "violating", memory > 8.0, "{row}");
    }
    let best = desk.json(&["best", "--json"]);
    let front = best["front"].as_array().unwrap();
    assert_front(front, &all);
    assert_eq!(best["front_trials"], front.len());
    assert_eq!(best["feasible_trials"], 24 - violating);
    assert_eq!(best["violating_trials"], violating);
    assert_eq!(best["reference"]["speed"], 0.0);
    assert!(best["hypervolume"].as_f64().unwrap() > 0.0 && best["beyond_reference"] == json!([]));
    assert!(best.get("recommended").is_none() && best.get("value").is_none());

    let again = desk.json(&["run", "--json", "--trials", "25"]);
    assert_eq!(again["told"], 1);
    assert!(again.get("best").is_none() && again["front"].is_array(), "{again}");

    // Sobol has no model: what it recommends is the front.
    let kept = desk.json(&["best", "--recommended", "--json"]);
    let numbers = |rows: &Json| -> Vec<Json> {
        rows.as_array().unwrap().iter().map(|row| row["trial"].clone()).collect()
    };
    assert_eq!(kept["recommended"], json!(numbers(&kept["front"])));
    let said = desk.printed(&["best", "--recommended"]);
    assert!(said.ends_with("\nIt is the front of the values as they were told.\n"), "{said}");
    let said = desk.printed(&["best", "--recommended", "-n", "3"]);
    let size = kept["recommended"].as_array().unwrap().len();
    let heading = format!(
        "Recommended by sobol: a front of {size} trials\nHere are 3, spread over it; -n {size} shows all.\n\n"
    );
    assert!(said.starts_with(&heading), "{said}");

    let three = desk.json(&["best", "-n", "3", "--json"])["front"].clone();
    assert_eq!(three.as_array().unwrap().len(), 3);
    let text = desk.printed(&["best", "-n", "5"]);
    assert!(text.contains("Here are 5, spread over it; -n "), "{text}");
    for text in [text, desk.printed(&["trials"]), desk.printed(&["studies"])] {
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(desk.printed(&["studies"]).contains("front of "));
    assert!(desk.lines(&["studies", "--json"])[0]["front_trials"].as_u64().unwrap() > 3);
}

#[test]
fn trials_are_sorted_and_filtered_by_name() {
    let desk = Desk::new(&study(SCRIPT, TABLES, 16));
    desk.printed(&["run", "--quiet"]);
    let sorted = |by: &str| desk.lines(&["trials", "--sort", by, "--json"]);
    let by_speed = sorted("speed");
    let (meeting, violating): (Vec<_>, Vec<_>) =
        by_speed.iter().partition(|row| row["state"] == "complete");
    assert_eq!(
        by_speed[..meeting.len()].iter().collect::<Vec<_>>(),
        meeting,
        "violating ones last"
    );
    for rows in [&meeting, &violating] {
        assert!(rows.is_sorted_by(|a, b| told(a, "speed") >= told(b, "speed")));
    }
    let memory = |row: &Json| row["constraints"]["memory"].as_f64().unwrap();
    assert!(sorted("memory").is_sorted_by(|a, b| memory(a) <= memory(b)));
    let complete = desk.lines(&["trials", "--state", "complete", "--limit", "2", "--json"]);
    assert!(complete.len() == 2 && complete.iter().all(|row| row["state"] == "complete"));
    let state = |name: &str| desk.lines(&["trials", "--state", name, "--json"]).len();
    assert_eq!((state("complete"), state("violating")), (meeting.len(), violating.len()));
    insta::assert_snapshot!(desk.refused(&["trials", "--sort", "sped"]));
    let shown = desk.printed(&["show", &violating[0]["trial"].to_string()]);
    assert!(shown.contains(": violating\n") && shown.contains(", violating <= 8\n"), "{shown}");
    assert!(shown.contains("parameters\n  x  "), "{shown}");
}

fn tell<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["tell"], more].concat()
}

/// The trials of a fixed study, told by hand: its output is a transcript.
fn told_by_hand(tables: &str, results: &[Json]) -> Desk {
    let desk = Desk::new(&study("true", tables, 16));
    let rows: Vec<String> = results
        .iter()
        .enumerate()
        .map(|(k, result)| {
            let mut row = json!({ "state": "complete", "params": { "x": k as f64 / 8.0 } });
            row.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
            row.to_string()
        })
        .collect();
    desk.write("trials.jsonl", &rows.join("\n"));
    desk.printed(&["import", "trials.jsonl", "--study", "study.toml"]);
    desk
}

fn both(error: f64, speed: f64, memory: f64) -> Json {
    json!({ "objectives": { "error": error, "speed": speed }, "constraints": { "memory": memory } })
}

#[test]
fn the_front_is_drawn_and_a_reference_inside_it_is_named() {
    let results = [
        both(0.1, 0.2, 3.0),
        both(0.3, 0.75, 3.0),
        both(0.2, 0.5, 8.0),
        both(0.5, 0.9, 8.5),
        both(0.6, 0.4, 1.0),
        both(0.9, 1.0, 2.0),
    ];
    let desk = told_by_hand(TABLES, &results);
    insta::assert_snapshot!(desk.printed(&["best"]));
    insta::assert_snapshot!(desk.printed(&["trials", "--sort", "error"]));
    insta::assert_snapshot!(
        desk.printed(&["show", "3"]).lines().take(6).collect::<Vec<_>>().join("\n")
    );
    let inside = TABLES.replace("reference = 0", "reference = 0.5");
    let desk = told_by_hand(&inside, &results);
    let text = desk.printed(&["best"]);
    let note = "note: trials 0, 2 are beyond the reference point and add nothing to it\n";
    assert!(text.ends_with(note), "{text}");
    assert_eq!(desk.json(&["best", "--json"])["beyond_reference"], json!([0, 2]));
    let desk = told_by_hand(&TABLES.replace("reference = 0", "reference = 2"), &results);
    let text = desk.printed(&["best"]);
    insta::assert_snapshot!(text.lines().last().unwrap());
}

#[test]
fn until_a_trial_meets_all_constraints_the_nearest_is_shown() {
    let desk = told_by_hand(TABLES, &[both(0.1, 0.2, 12.0), both(0.3, 0.75, 9.0)]);
    insta::assert_snapshot!(desk.printed(&["best"]));
    let best = desk.json(&["best", "--json"]);
    assert_eq!((&best["front"], &best["nearest"]["trial"]), (&json!([]), &json!(1)));
    assert_eq!(best["nearest"]["violation"], 0.25);
}

#[test]
fn with_one_objective_the_best_meets_the_constraints() {
    let tables = "[constraints]\nmemory = \"<= 8\"\n";
    let result =
        |value: f64, memory: f64| json!({ "value": value, "constraints": { "memory": memory } });
    let desk = told_by_hand(tables, &[result(0.5, 9.0), result(0.9, 30.0)]);
    insta::assert_snapshot!(desk.printed(&["best"]));
    let best = desk.json(&["best", "--json"]);
    assert_eq!((&best["trial"], &best["state"]), (&json!(0), &json!("violating")));
    let desk = told_by_hand(tables, &[result(0.5, 9.0), result(0.9, 3.0), result(0.7, 8.0)]);
    insta::assert_snapshot!(desk.printed(&["best"]));
    let best = desk.json(&["best", "--json"]);
    assert_eq!(
        (&best["trial"], &best["value"], &best["recommended"]),
        (&json!(2), &json!(0.7), &json!(2))
    );
    assert_eq!((&best["feasible_trials"], &best["violating_trials"]), (&json!(2), &json!(1)));
    let numbers: Vec<Json> = desk
        .json(&["best", "-n", "9", "--json"])
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["trial"].clone())
        .collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(desk.lines(&["studies", "--json"])[0]["best"], 0.7);
}

#[test]
fn a_script_tells_several_values_by_name() {
    let desk = Desk::new(&study("true", TABLES, 8));
    let asked = desk.lines(&["ask", "study.toml", "-n", "6"]);
    let token = |k: usize| asked[k]["token"].as_str().unwrap();
    let values =
        ["--objective", "error=0.31", "--objective", "speed=12", "--constraint", "memory=3.1"];
    desk.printed(
        &[&tell(&["--token", token(0), "--deviation", "error=0.02"]), &values[..]].concat(),
    );
    // A trial by its number: that of whoever runs it.
    desk.printed(&[&tell(&["s", "1"]), &values[..]].concat());
    let line = format!(
        "{{\"token\": {:?}, \"objectives\": {{\"error\": 0.5, \"speed\": {{\"value\": 2, \"deviation\": 0.5}}}}, \
         \"constraints\": {{\"memory\": 9}}, \"attributes\": {{\"epochs\": 3}}}}\n",
        token(2)
    );
    let mut child = desk.command(&["tell"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let rows = desk.lines(&["trials", "--json"]);
    assert_eq!(rows[0]["objectives"]["error"], json!({ "value": 0.31, "deviation": 0.02 }));
    assert_eq!((&rows[1]["state"], &rows[2]["state"]), (&json!("complete"), &json!("violating")));
    assert_eq!(rows[2]["attributes"]["epochs"], 3);

    let refused = |more: &[&str]| desk.refused(&[&tell(&["--token", token(3)]), more].concat());
    insta::assert_snapshot!(refused(&["--value", "1"]));
    insta::assert_snapshot!(refused(&["--objective", "error=1", "--constraint", "memory=1"]));
    insta::assert_snapshot!(refused(&[&values[..], &["--objective", "sped=1"]].concat()));
    insta::assert_snapshot!(refused(&[&values[..], &["--constraint", "disk=1"]].concat()));
    insta::assert_snapshot!(refused(&[&values[..], &["--deviation", "0.1"]].concat()));
    insta::assert_snapshot!(refused(&[&values[..], &["--deviation", "sped=0.1"]].concat()));
    insta::assert_snapshot!(refused(&["--objective", "error=inf"]));
    insta::assert_snapshot!(refused(&["--objective", "error"]));
    insta::assert_snapshot!(desk.refused(&[&tell(&["s", "1"]), &values[..]].concat()));
    assert_eq!(
        desk.lines(&["trials", "--state", "running", "--json"]).len(),
        3,
        "nothing was lost"
    );
}

#[test]
fn several_values_go_out_and_come_back_in_every_format() {
    let desk = Desk::new(&study(SCRIPT, TABLES, 12));
    desk.printed(&["run", "--quiet"]);
    let flat = |rows: Vec<Json>| -> Vec<String> {
        let mut rows: Vec<String> = rows
            .iter()
            .map(|row| {
                ["state", "objectives", "constraints", "params"]
                    .map(|field| row[field].to_string())
                    .join(" ")
            })
            .collect();
        rows.sort();
        rows
    };
    let before = flat(desk.lines(&["trials", "--json"]));
    let hypervolume = desk.json(&["best", "--json"])["hypervolume"].clone();
    for file in ["t.csv", "t.jsonl", "t.db"] {
        desk.printed(&["export", "--out", file]);
        let storage = format!("{file}.copy.db");
        desk.printed(&["import", file, "--study", "study.toml", "--storage", &storage]);
        assert_eq!(
            flat(desk.lines(&["trials", "--json", "--storage", &storage])),
            before,
            "{file}"
        );
        assert_eq!(
            desk.json(&["best", "--json", "--storage", &storage])["hypervolume"],
            hypervolume
        );
    }
}

#[test]
fn mistakes_in_goals_are_shown_at_their_place() {
    let refused = |tables: &str| Desk::new(&study("true", tables, 8)).refused(&["check"]);
    insta::assert_snapshot!(refused(
        "[objectives]\nerror = \"smaller\"\nspeed = { reference = 3 }\nsize = { direction = \"minimise\", refrence = 3 }\n\
         [constraints]\nmemory = \"< 8\"\ndisk = 3\n"
    ));
    insta::assert_snapshot!(refused(
        "[objectives]\nerror = \"minimise\"\nlatency = { direction = \"minimise\", reference = 10 }\n\
         [constraints]\nlatency = \">= 20\"\n"
    ));
    insta::assert_snapshot!(refused("[constraints]\nmemory = [\"<= 8\", \">= 9\"]\n"));
    let desk = Desk::new(&study("true", TABLES, 8).replace("sobol", "cma-es"));
    let error = desk.refused(&["check"]);
    assert!(
        error.contains("study.toml:2:10: the method does not fit: `cma-es` cannot work towards"),
        "{error}"
    );
    assert!(error.contains("methods that can: ") && error.contains("random, sobol"), "{error}");
    assert!(!desk.path("wimble.db").exists());
}

#[test]
fn check_explains_the_goal_and_notes_a_name_that_looks_like_an_objective() {
    let tables = "[objectives]\nerror = \"minimise\"\nlatency = { direction = \"minimise\", reference = 100 }\n\
                  [constraints]\nmemory = \"<= 8\"\nlatncy = \"<= 20\"\n";
    let desk = Desk::new(&study("true", tables, 8));
    insta::assert_snapshot!(desk.printed(&["check"]));
    desk.write("study.toml", &study("echo 0.5", TABLES, 3));
    let output = desk.wimble(&["run"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("the goal has 2 objectives and 1 constraint: give them by name"),
        "{said}"
    );
}

#[test]
fn a_goal_that_changed_is_another_study() {
    let desk = Desk::new(&study(SCRIPT, TABLES, 4));
    desk.printed(&["run", "--quiet"]);
    desk.write(
        "study.toml",
        &study(SCRIPT, &TABLES.replace("reference = 0", "reference = 0.1"), 4),
    );
    let error = desk.refused(&["run"]);
    assert!(
        error.contains(
            "its goal is to minimise error, to maximise speed (reference 0), memory <= 8, not"
        ),
        "{error}"
    );
}

#[test]
fn built_in_problems_report_what_applies_to_them() {
    let report = |problem: &str| -> Json {
        let desk = Desk::new("");
        desk.json(&["minimize", problem, "--method", "sobol", "--rounds", "4", "--json"])
    };
    let several = report("zdt1-6");
    let front = several["front"].as_array().unwrap();
    assert!(!front.is_empty() && front.len() <= 40);
    let task = wimble_problems::task("zdt1-6").unwrap();
    for point in front {
        let x: Vec<f64> = serde_json::from_value(point["point"].clone()).unwrap();
        let values: Vec<f64> = serde_json::from_value(point["objectives"].clone()).unwrap();
        assert_eq!(task.measure(&x).objectives, values);
    }
    let shares: Vec<f64> =
        serde_json::from_value(several["hypervolume_share_by_round"].clone()).unwrap();
    assert!(shares.len() == 4 && shares.is_sorted() && shares[3] < 1.0, "{shares:?}");
    assert_eq!((&several["feasible_trials"], &several["evaluations"]), (&json!(40), &json!(40)));
    for single in ["best_value", "best_point", "simple_regret", "regret_by_round"] {
        assert!(several.get(single).is_none(), "{single}");
    }
    let constrained = report("pressure-vessel");
    let task = wimble_problems::task("pressure-vessel").unwrap();
    let x: Vec<f64> = serde_json::from_value(constrained["best_point"].clone()).unwrap();
    assert_eq!((x[0] * 16.0).fract(), 0.0, "thickness in steps of 1/16");
    assert!(task.measure(&x).is_feasible(&task.constraints()));
    assert_eq!(task.measure(&x).objectives[0], constrained["best_feasible"].as_f64().unwrap());
    assert!(constrained["feasible_trials"].as_u64().unwrap() < 40);
    assert!(constrained.get("front").is_none() && constrained.get("best_value").is_none());
    for family in wimble_problems::tasks() {
        let problem = &*family.example(Some(6));
        let task = wimble_problems::task(problem).unwrap();
        let report = report(problem);
        assert_eq!(report.get("front").is_some(), task.objectives().len() > 1, "{problem}");
        assert_eq!(
            report.get("best_feasible").is_some(),
            !task.constraints().is_empty(),
            "{problem}"
        );
    }
    let desk = Desk::new("");
    let text = desk.printed(&["minimize", "re21", "--method", "sobol", "--rounds", "2"]);
    assert!(
        text.contains("% of the hypervolume of the known front after 20 evaluations"),
        "{text}"
    );
    let text = desk.printed(&["minimize", "g06", "--method", "random", "--rounds", "2"]);
    assert!(text.contains("no trial meets all constraints"), "{text}");
}

#[test]
fn the_example_runs_to_its_front() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let desk = Desk::new("");
    for name in ["oven.toml", "oven.sh"] {
        desk.write(name, &std::fs::read_to_string(examples.join(name)).unwrap());
    }
    let report = desk.json(&["run", "oven.toml", "--trials", "20", "--json"]);
    assert_eq!((&report["end"], &report["counts"]["valued"]), (&json!("budget-spent"), &json!(20)));
    assert!(report["violating_trials"].is_u64());
    assert!(!report["front"].as_array().unwrap().is_empty());
}
