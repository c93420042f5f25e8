//! Trials to Optuna and back, with Optuna itself at the other end: `./test` installs it, and names its python in
//! `WIMBLE_TEST_OPTUNA`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value as Json, json};

/// A study of every kind of parameter. Trial 2 is infeasible, trial 3 fails.
const STUDY: &str = r#"
name = "s"
direction = "maximise"
method = "sobol"
trials = 16
command = ["sh", "-c", "case $WIMBLE_TRIAL in 2) exit 77;; 3) exit 1;; esac; echo $1", "sh", "{rate}"]

[space]
rate = { type = "real", low = 1e-4, high = 1.0, scale = "log" }
layers = { type = "integer", low = 1, high = 10, step = 3 }
bias = { type = "boolean" }
depth = { type = "ordinal", levels = [1, 2, 4, 8] }
optimiser = { type = "categorical", choices = ["adam", "sgd"] }
momentum = { type = "real", low = 0.0, high = 0.9, when = { parent = "optimiser", values = ["sgd"] } }
"#;

/// Reads our export, and goes on with it: asked for the same space, Optuna accepts what it finds.
const GO_ON: &str = r#"
import json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="s", storage="sqlite:///out.db", sampler=optuna.samplers.TPESampler(seed=1))
before = [
    dict(state=t.state.name, value=t.value, params=t.params, attributes=t.user_attrs)
    for t in study.get_trials()
]

def objective(trial):
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    trial.suggest_int("layers", 1, 10, step=3)
    trial.suggest_categorical("bias", [False, True])
    trial.suggest_categorical("depth", [1, 2, 4, 8])
    if trial.suggest_categorical("optimiser", ["adam", "sgd"]) == "sgd":
        trial.suggest_float("momentum", 0.0, 0.9)
    return rate

study.optimize(objective, n_trials=14)
print(json.dumps(dict(direction=study.direction.name, before=before, best=study.best_value, trials=len(study.trials))))
"#;

/// A study of Optuna's own making, with all that it may hold.
const OWN: &str = r#"
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(study_name="own", storage="sqlite:///own.db", sampler=optuna.samplers.TPESampler(seed=1))

def objective(trial):
    x = trial.suggest_float("x", -2.0, 2.0)
    trial.suggest_float("half", 0.0, 3.0, step=0.5)
    trial.suggest_int("n", 1, 64, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    if kind == "b":
        trial.suggest_int("deep", 0, 5)
    if trial.number == 4:
        raise optuna.TrialPruned()
    if trial.number == 5:
        return float("inf")
    if trial.number == 6:
        raise ValueError("broken")
    return x * x

study.optimize(objective, n_trials=30, catch=ValueError)
study.enqueue_trial({"x": 0.0})
print(study.best_value)
"#;

/// Two objectives and two limits, one of them on an objective.
const SEVERAL: &str = r#"
name = "s"
method = "sobol"
trials = 12
command = ["sh", "-c", "awk -v x=$1 'BEGIN {{ printf \"{{\\\"objectives\\\": {{\\\"error\\\": %.6f, \\\"speed\\\": %.6f}}, \\\"constraints\\\": {{\\\"memory\\\": %.6f}}}}\", x, x * (2 - x), 10 * x }}'", "sh", "{x}"]

[objectives]
error = "minimise"
speed = { direction = "maximise", reference = 0 }

[constraints]
memory = "<= 8"
speed = ">= 0.1"

[space]
x = { type = "real", low = 0.0, high = 1.0 }
"#;

/// Reads our export of several objectives, and goes on with it under constraints of the same number.
const GO_ON_WITH_SEVERAL: &str = r#"
import json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
def limits(trial):
    x = trial.params["x"]
    return 10 * x - 8, 0.1 - x * (2 - x)
sampler = optuna.samplers.NSGAIISampler(seed=1, population_size=12, constraints_func=limits)
study = optuna.load_study(study_name="s", storage="sqlite:///out.db", sampler=sampler)
before = [dict(values=t.values, params=t.params, feasible=all(c <= 0 for c in t.constraints.values())) for t in study.get_trials()]
front = sorted(t.values for t in study.best_trials)

def objective(trial):
    x = trial.suggest_float("x", 0.0, 1.0)
    return x, x * (2 - x)

study.optimize(objective, n_trials=6)
print(json.dumps(dict(names=study.metric_names, directions=[d.name for d in study.directions], before=before, front=front)))
"#;

/// A study of Optuna's own making with several objectives, constraints by name, and a trial without them.
const OWN_SEVERAL: &str = r#"
import json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(study_name="own", storage="sqlite:///own.db", directions=["minimize", "maximize"], sampler=optuna.samplers.RandomSampler(seed=1))

def objective(trial):
    x = trial.suggest_float("x", 0.0, 1.0)
    if trial.number != 3:
        trial.set_constraint("disk", x - 0.5)
        trial.set_constraint("area", 0.1 - x)
    return x, x * (2 - x)

study.optimize(objective, n_trials=20)
print(json.dumps([t.values for t in study.best_trials if t.number != 3]))
"#;

/// Trials 0 to 4 are whole and good, the others bad; a rule stops those after their second step.
const CURVES: &str = r#"
name = "s"
method = "random"
trials = 8
stopping = "median"
grace = "2s"
command = ["sh", "-c", "echo '{{\"step\": 1, \"value\": '$WIMBLE_TRIAL'}}'; echo '{{\"step\": 2, \"value\": '$WIMBLE_TRIAL'.5}}'; if [ $WIMBLE_TRIAL -lt 5 ]; then echo '{{\"step\": 9, \"value\": 0.'$WIMBLE_TRIAL'}}'; else sleep 60; fi"]

[fidelity]
epochs = { low = 1, high = 9 }

[space]
x = { type = "real", low = 0.0, high = 1.0 }
"#;

/// Reads the curves of our export.
const READ_CURVES: &str = r#"
import json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="s", storage="sqlite:///out.db")
print(json.dumps([dict(state=t.state.name, steps=sorted(t.intermediate_values.items()), params=t.params) for t in study.get_trials()]))
"#;

/// A study of Optuna's own making that prunes; it counts steps from 0.
const OWN_CURVES: &str = r#"
import json, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(study_name="own", storage="sqlite:///own.db", pruner=optuna.pruners.MedianPruner(n_startup_trials=3), sampler=optuna.samplers.RandomSampler(seed=1))

def objective(trial):
    x = trial.suggest_float("x", 0.0, 1.0)
    for step in range(9):
        trial.report(x + 1 / (step + 1), step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return x + 1 / 9

study.optimize(objective, n_trials=20)
print(json.dumps([dict(state=t.state.name, steps=sorted(t.intermediate_values.items())) for t in study.get_trials()]))
"#;

/// A folder in which Optuna and wimble meet; `None` without Optuna, and a line that says what is skipped.
struct Desk {
    folder: tempfile::TempDir,
    python: String,
}

impl Desk {
    fn new() -> Option<Self> {
        let Ok(python) = std::env::var("WIMBLE_TEST_OPTUNA") else {
            eprintln!(
                "skipped: Optuna, for WIMBLE_TEST_OPTUNA names no python; ./test installs it"
            );
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("study.toml"), STUDY).unwrap();
        Some(Self { folder, python })
    }

    fn printed(&self, command: &mut Command) -> String {
        let output = command
            .current_dir(self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path())
            .env_remove("WIMBLE_STORAGE")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn wimble(&self, arguments: &[&str]) -> String {
        self.printed(Command::new(env!("CARGO_BIN_EXE_wimble")).args(arguments))
    }

    fn trials(&self, arguments: &[&str]) -> Vec<Json> {
        let text = self.wimble(&[&["trials", "--json"], arguments].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn optuna(&self, script: &str) -> String {
        self.printed(Command::new(&self.python).args(["-c", script]))
    }
}

#[test]
fn optuna_reads_our_trials_goes_on_with_them_and_gives_them_back() {
    let Some(desk) = Desk::new() else { return };
    desk.wimble(&["run", "--quiet"]);
    desk.wimble(&["export", "--format", "optuna", "--out", "out.db"]);
    let ours = desk.trials(&[]);
    let told: Json = serde_json::from_str(&desk.optuna(GO_ON)).unwrap();

    assert_eq!(told["direction"], "MAXIMIZE");
    let seen = told["before"].as_array().unwrap();
    assert_eq!(seen.len(), ours.len());
    let by_number: BTreeMap<u64, &Json> =
        seen.iter().map(|t| (t["attributes"]["wimble:trial"].as_u64().unwrap(), t)).collect();
    for trial in &ours {
        let theirs = by_number[&trial["trial"].as_u64().unwrap()];
        let state = if trial["state"] == "complete" { "COMPLETE" } else { "FAIL" };
        assert_eq!(theirs["state"], state);
        assert_eq!(theirs["value"], trial["value"]);
        assert_eq!(theirs["params"], trial["params"], "trial {}", trial["trial"]);
        let infeasible = theirs["attributes"].get("wimble:infeasible").is_some();
        assert_eq!(infeasible, trial["state"] == "infeasible");
    }

    assert_eq!(told["trials"], 30);
    let report =
        desk.wimble(&["import", "out.db", "--format", "optuna", "--storage", "back.db", "--json"]);
    let report: Json = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["study"], &report["added"]), (&json!("s"), &json!(30)), "{report}");
    let back = desk.trials(&["--storage", "back.db"]);
    let best = desk.trials(&["--storage", "back.db", "--sort", "value", "--limit", "1"]);
    assert_eq!(best[0]["value"], told["best"], "the direction came back too");
    for trial in ours.iter().filter(|trial| trial["state"] == "complete") {
        let same =
            |other: &&Json| other["params"] == trial["params"] && other["value"] == trial["value"];
        assert_eq!(back.iter().filter(same).count(), 1, "{trial}");
    }
}

#[test]
fn a_study_of_optuna_is_imported_with_its_space_and_gone_on_with() {
    let Some(desk) = Desk::new() else { return };
    let best: f64 = desk.optuna(OWN).trim().parse().unwrap();
    let report = desk.wimble(&["import", "own.db", "--storage", "new.db", "--json"]);
    let report: Json = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["study"], &report["added"]), (&json!("own"), &json!(30)), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("1 running or waiting"), "{report}");
    let trials = desk.trials(&["--storage", "new.db"]);
    let failed: Vec<&str> = trials
        .iter()
        .filter(|trial| trial["state"] == "failed")
        .map(|trial| trial["reason"].as_str().unwrap())
        .collect();
    assert_eq!(failed, ["pruned by Optuna", "its value is not finite", "failed under Optuna"]);
    let first = desk.trials(&["--storage", "new.db", "--sort", "value", "--limit", "1"]);
    assert_eq!(first[0]["value"].as_f64(), Some(best));
    for trial in &trials {
        let has_deep = trial["params"].get("deep").is_some();
        assert_eq!(has_deep, trial["params"]["kind"] == "b", "{trial}");
    }
    // The method goes on from there.
    let asked = desk.wimble(&["ask", "own", "--storage", "new.db", "-n", "3"]);
    assert_eq!(asked.lines().count(), 3);
}

#[test]
fn several_objectives_and_constraints_go_to_optuna_and_come_back() {
    let Some(desk) = Desk::new() else { return };
    std::fs::write(desk.folder.path().join("study.toml"), SEVERAL).unwrap();
    desk.wimble(&["run", "--quiet"]);
    desk.wimble(&["export", "--out", "out.db"]);
    let ours = desk.trials(&[]);
    let best: Json = serde_json::from_str(&desk.wimble(&["best", "--json"])).unwrap();
    let told: Json = serde_json::from_str(&desk.optuna(GO_ON_WITH_SEVERAL)).unwrap();
    assert_eq!(told["names"], json!(["error", "speed"]));
    assert_eq!(told["directions"], json!(["MINIMIZE", "MAXIMIZE"]));
    let values = |row: &Json| json!([row["objectives"]["error"], row["objectives"]["speed"]]);
    for (ours, theirs) in ours.iter().zip(told["before"].as_array().unwrap()) {
        assert_eq!((&values(ours), &ours["params"]), (&theirs["values"], &theirs["params"]));
        assert_eq!(theirs["feasible"], ours["state"] == "complete", "{ours}");
    }
    assert!(ours.iter().any(|row| row["state"] == "violating"));
    // Both programs know the same front, up to trials that neither counts.
    let front: Vec<Json> = best["front"].as_array().unwrap().iter().map(values).collect();
    assert_eq!(json!(front), told["front"]);

    let arguments = ["import", "out.db", "--study", "study.toml", "--storage", "back.db", "--json"];
    let report: Json = serde_json::from_str(&desk.wimble(&arguments)).unwrap();
    assert_eq!((&report["added"], &report["notes"]), (&json!(18), &json!([])), "{report}");
    let back = desk.trials(&["--storage", "back.db"]);
    for (ours, back) in ours.iter().zip(&back) {
        for field in ["state", "objectives", "constraints", "params"] {
            assert_eq!(back[field], ours[field], "{back}");
        }
    }
    for new in &back[12..] {
        let (x, memory) = (&new["params"]["x"], &new["constraints"]["memory"]);
        let (x, memory) = (x.as_f64().unwrap(), memory.as_f64().unwrap());
        assert!((memory - 10.0 * x).abs() < 1e-9, "the limit is added again: {new}");
    }
}

#[test]
fn a_study_of_optuna_with_several_objectives_is_imported_with_its_goal() {
    let Some(desk) = Desk::new() else { return };
    let front: Json = serde_json::from_str(&desk.optuna(OWN_SEVERAL)).unwrap();
    let file = "name = \"own\"\nmethod = \"random\"\n[objectives]\nobjective-1 = \"minimise\"\nobjective-2 = \"maximise\"\n\
                [constraints]\narea = \"<= 0\"\ndisk = \"<= 0\"\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n";
    std::fs::write(desk.folder.path().join("own.toml"), file).unwrap();
    let arguments = ["import", "own.db", "--study", "own.toml", "--storage", "new.db", "--json"];
    let report: Json = serde_json::from_str(&desk.wimble(&arguments)).unwrap();
    let note = "1 complete trials without values of all constraints were left out";
    assert_eq!((&report["added"], &report["notes"]), (&json!(19), &json!([note])), "{report}");
    let best: Json =
        serde_json::from_str(&desk.wimble(&["best", "--storage", "new.db", "--json"])).unwrap();
    let ours = best["front"].as_array().unwrap().iter();
    let ours: Vec<Json> = ours
        .map(|row| json!([row["objectives"]["objective-1"], row["objectives"]["objective-2"]]))
        .collect();
    let mut theirs = front.as_array().unwrap().clone();
    theirs.sort_by(|a, b| a[0].as_f64().unwrap().total_cmp(&b[0].as_f64().unwrap()));
    assert_eq!(ours, theirs);
}

impl Desk {
    /// The trials of an export to JSON lines, with their steps as pairs.
    fn curves(&self, arguments: &[&str]) -> Vec<(Json, Vec<(f64, f64)>)> {
        let text = self.wimble(&[&["export", "--format", "jsonl"], arguments].concat());
        let number = |json: &Json| json.as_f64().unwrap();
        let steps = |row: &Json| -> Vec<(f64, f64)> {
            let steps = row["steps"].as_array().unwrap().iter();
            steps.map(|step| (number(&step["step"]), number(&step["value"]))).collect()
        };
        let rows = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        rows.map(|row| (row.clone(), steps(&row))).collect()
    }
}

/// Steps as Optuna's intermediate values.
fn pairs(json: &Json) -> Vec<(f64, f64)> {
    let all = json.as_array().unwrap().iter();
    all.map(|pair| (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap())).collect()
}

#[test]
fn steps_and_stopped_trials_go_to_optuna_and_come_back() {
    let Some(desk) = Desk::new() else { return };
    std::fs::write(desk.folder.path().join("study.toml"), CURVES).unwrap();
    desk.wimble(&["run", "--quiet"]);
    desk.wimble(&["export", "--out", "out.db"]);
    let ours = desk.curves(&[]);
    let theirs: Json = serde_json::from_str(&desk.optuna(READ_CURVES)).unwrap();
    assert_eq!((ours.len(), theirs.as_array().unwrap().len()), (8, 8));
    for ((row, steps), theirs) in ours.iter().zip(theirs.as_array().unwrap()) {
        let (state, length) = match row["state"].as_str() {
            Some("complete") => ("COMPLETE", 3),
            Some("stopped") => ("PRUNED", 2),
            other => panic!("{other:?}"),
        };
        assert_eq!((&theirs["state"], steps.len()), (&json!(state), length), "{row}");
        assert_eq!((&pairs(&theirs["steps"]), &theirs["params"]), (steps, &row["params"]));
    }
    assert_eq!(ours.iter().filter(|(row, _)| row["state"] == "stopped").count(), 3);
    desk.wimble(&["import", "out.db", "--study", "study.toml", "--storage", "back.db"]);
    let back = desk.curves(&["--storage", "back.db"]);
    for ((ours, steps), (back, same)) in ours.iter().zip(&back) {
        assert_eq!(steps, same);
        for field in ["state", "value", "fidelity", "params"] {
            assert_eq!(back[field], ours[field], "{back}");
        }
    }
}

#[test]
fn a_study_that_optuna_pruned_is_imported_with_its_curves() {
    let Some(desk) = Desk::new() else { return };
    let theirs: Json = serde_json::from_str(&desk.optuna(OWN_CURVES)).unwrap();
    desk.wimble(&["import", "own.db", "--storage", "new.db"]);
    let ours = desk.curves(&["--storage", "new.db"]);
    let mut pruned = 0;
    for ((row, steps), theirs) in ours.iter().zip(theirs.as_array().unwrap()) {
        // Steps that begin at 0 are one higher here.
        let expected: Vec<(f64, f64)> =
            pairs(&theirs["steps"]).into_iter().map(|(step, value)| (step + 1.0, value)).collect();
        assert_eq!(steps, &expected, "{row}");
        let is_pruned = theirs["state"] == "PRUNED";
        assert_eq!(row["state"], if is_pruned { "stopped" } else { "complete" });
        if is_pruned {
            pruned += 1;
            let last = expected[expected.len() - 1];
            assert_eq!(
                (row["fidelity"].as_f64(), row["value"].as_f64()),
                (Some(last.0), Some(last.1))
            );
        }
    }
    assert!(pruned > 3 && ours.len() == 20, "{pruned} of {}", ours.len());
    // The method goes on from there.
    let asked = desk.wimble(&["ask", "own", "--storage", "new.db", "-n", "2"]);
    assert_eq!(asked.lines().count(), 2);
}
