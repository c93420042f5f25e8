//! Every study under `examples/` is valid, and those that need nothing but a shell or a C++ compiler are run.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn wimble(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wimble"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder)
        .env_remove("WIMBLE_STORAGE")
        .output()
        .unwrap()
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = wimble(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A copy of some files of the examples.
fn copy(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::copy(examples().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn every_study_file_is_valid() {
    let mut checked = 0;
    for folder in [examples(), examples().join("cluster")] {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                let said =
                    printed(&folder, &["check", path.file_name().unwrap().to_str().unwrap()]);
                assert!(said.contains("is valid"), "{said}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 3, "{checked} study files");
}

#[test]
fn a_shell_script_is_tuned() {
    let folder = copy(&["bake.toml", "bake.sh"]);
    let said = printed(folder.path(), &["run", "bake.toml", "--quiet", "--trials", "16"]);
    assert!(said.contains("16 of 16 trials with a value"), "{said}");
}

#[test]
fn a_training_is_stopped_where_it_falls_behind() {
    let folder = copy(&["train.toml", "train.py"]);
    if !Command::new("python3").arg("--version").status().is_ok_and(|status| status.success()) {
        println!("skipped: there is no Python");
        return;
    }
    let said =
        printed(folder.path(), &["run", "train.toml", "--quiet", "--json", "--trials", "16"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["counts"]["valued"], 16, "{report}");
    assert!(report["stopped"].as_u64().unwrap() >= 4, "{report}");
    assert_eq!(report["fidelity_in_full"], 16.0 * 27.0, "{report}");
    assert!(report["fidelity_spent"].as_f64().unwrap() < 16.0 * 27.0, "{report}");
}

#[test]
fn a_training_is_paused_and_continued_from_its_checkpoint() {
    let folder = copy(&["continued.toml", "train.py"]);
    if !Command::new("python3").arg("--version").status().is_ok_and(|status| status.success()) {
        println!("skipped: there is no Python");
        return;
    }
    let text = std::fs::read_to_string(folder.path().join("continued.toml")).unwrap();
    let shorter = text.replace("epochs = 400", "epochs = 150");
    std::fs::write(folder.path().join("continued.toml"), shorter).unwrap();
    let said = printed(folder.path(), &["run", "continued.toml", "--quiet"]);
    assert!(said.contains(" paused: 1") && said.contains("times fewer"), "{said}");
    let said = printed(folder.path(), &["trials", "continued", "--state", "paused"]);
    assert!(said.contains("paused at 3/27"), "{said}");
    let trials = printed(folder.path(), &["trials", "continued", "--json", "--state", "paused"]);
    let first: serde_json::Value = serde_json::from_str(trials.lines().next().unwrap()).unwrap();
    let number = first["trial"].to_string();
    let said = printed(folder.path(), &["show", "continued", &number]);
    assert!(said.contains(": paused at ") && said.contains("epochs"), "{said}");
    // More to spend: what is paused goes on.
    std::fs::write(folder.path().join("continued.toml"), text.replace("400", "200")).unwrap();
    let said = printed(folder.path(), &["run", "continued.toml", "--quiet", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(report["fidelity_spent"].as_f64().unwrap() >= 200.0, "{report}");
    assert_eq!(report["counts"]["failed"], 0, "{report}");
}

#[test]
fn a_compiled_program_is_tuned() {
    let folder = copy(&["spring.toml", "spring.cpp"]);
    let compiled = Command::new("c++")
        .args(["-O2", "-Wall", "-o", "spring", "spring.cpp"])
        .current_dir(folder.path())
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        println!("skipped: there is no C++ compiler");
        return;
    }
    let said = printed(folder.path(), &["run", "spring.toml", "--quiet", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    let count = |name: &str| report["counts"][name].as_u64().unwrap();
    assert_eq!(count("valued") + count("infeasible"), 60, "{report}");
    assert!(report["best"]["value"].as_f64().unwrap() < 0.05, "{report}");
}

/// A small study for the jobs of a cluster, and the search path with the command in it.
fn cluster() -> (tempfile::TempDir, std::ffi::OsString) {
    let folder = copy(&["bake.toml", "bake.sh"]);
    let study = std::fs::read_to_string(folder.path().join("bake.toml")).unwrap();
    let study = study.replace("trials = 60", "trials = 8");
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    let ours = Path::new(env!("CARGO_BIN_EXE_wimble")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(ours).chain(std::env::split_paths(&path)));
    (folder, path.unwrap())
}

/// Without a cluster: two jobs at a time, as the scheduler would start them, share one storage.
#[test]
fn the_jobs_of_slurm_and_kubernetes_run_a_study() {
    let (folder, path) = cluster();
    let pods = std::fs::read_to_string(examples().join("cluster/kubernetes.yaml")).unwrap();
    let command = pods.lines().find_map(|line| line.trim().strip_prefix("command: ")).unwrap();
    let pod: Vec<String> = serde_json::from_str(command).unwrap();
    let pod: Vec<String> = pod.iter().map(|word| word.replace("/study/", "")).collect();
    let script = examples().join("cluster/slurm.sh");
    let slurm = ["sh".to_owned(), script.to_str().unwrap().to_owned()];
    let start = |words: &[String]| {
        let mut job = Command::new(&words[0]);
        job.args(&words[1..]).current_dir(folder.path()).env("PATH", &path);
        job.env("SLURM_CPUS_PER_TASK", "2").env("WIMBLE_STORAGE", "cluster.db");
        job.env("XDG_STATE_HOME", folder.path()).stdout(std::process::Stdio::null());
        job.stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    for mut job in [start(&slurm), start(&pod)] {
        assert!(job.wait().unwrap().success());
    }
    let trials = printed(folder.path(), &["trials", "--storage", "cluster.db", "--json"]);
    assert_eq!(trials.lines().count(), 8, "{trials}");
}
