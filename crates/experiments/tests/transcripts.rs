//! The command `wimble-lab` as a user and as other tools meet it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn lab(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wimble-lab"))
        .args(arguments)
        .env_remove("WIMBLE_DATA")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails before it reads has closed the pipe: its message is what counts.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    child.wait_with_output().unwrap()
}

fn printed(arguments: &[&str], input: &str) -> String {
    let output = lab(arguments, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str], input: &str) -> String {
    let output = lab(arguments, input);
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn another_tool_gets_domain_points_and_values() {
    insta::assert_snapshot!(printed(&["compare", "initial", "branin", "--count", "2"], ""));
    insta::assert_snapshot!(printed(
        &["compare", "evaluate", "branin+noise-10"],
        "[0, 0]\n[0.0, 0.0]\n[10.0, 15.0]\n"
    ));
    insta::assert_snapshot!(refused(&["compare", "evaluate", "branin"], "[0, 15.5]\n"));
    insta::assert_snapshot!(refused(&["compare", "evaluate", "branin"], "0 15\n"));
}

/// The MNIST problem is the one of Figure 3 whose data are part of the repository.
#[test]
fn another_tool_plays_a_trial_of_a_figure_on_the_points_of_our_methods() {
    let command = ["paper", "evaluate", "fig3", "mnist", "hyperopt-tpe", "3"];
    let introduction: serde_json::Value = serde_json::from_str(&printed(&command, "")).unwrap();
    let start = &introduction["start"];
    assert_eq!((&start["key"]["trial"], &start["rounds"]), (&3.into(), &190.into()));
    assert_eq!(introduction["trials"], 10);
    assert_eq!(introduction["space"]["dimensions"][0]["scale"], "log");
    let points = introduction["points"].as_array().unwrap();
    assert_eq!(points.len(), 10);

    let input: String = points.iter().map(|point| format!("{point}\n")).collect();
    let answers = printed(&command, &input);
    let answers: Vec<serde_json::Value> =
        answers.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 10);
    let mut least = f64::INFINITY;
    for answer in &answers {
        least = least.min(answer["value"].as_f64().unwrap());
        assert_eq!(answer["metrics"]["best_value"].as_f64(), Some(least));
    }

    // Our own methods have met the same ten points when their first round begins.
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    printed(
        &[
            "paper",
            "fig3",
            "--problems",
            "mnist",
            "--methods",
            "random",
            "--rounds",
            "1",
            "--trials",
            "4",
            "--out",
            out,
        ],
        "",
    );
    let ours = std::fs::read_to_string(dir.path().join("records/fig3/mnist__random__3.jsonl"));
    let ours = ours.unwrap();
    let round: serde_json::Value = serde_json::from_str(ours.lines().nth(1).unwrap()).unwrap();
    let asked = round["round"]["metrics"]["best_value"].as_f64().unwrap();
    assert!(asked <= least, "{asked} {least}");

    let error = refused(&["paper", "evaluate", "fig3", "mnist", "tpe", "0"], "");
    assert!(error.contains("method of another tool is called `tpe`"), "{error}");
    let error = refused(&command, "[0.1]\n");
    assert!(error.contains("line 1 must be a JSON object"), "{error}");
    let error = refused(&["paper", "fig3", "--methods", "hyperopt-tpe", "--out", out], "");
    assert!(error.contains("no method is called `hyperopt-tpe`"), "{error}");
}

#[test]
fn settings_say_where_each_tool_runs() {
    let settings: serde_json::Value =
        serde_json::from_str(&printed(&["compare", "settings"], "")).unwrap();
    let find = |list: &str, name: &str| {
        let all = settings[list].as_array().unwrap();
        all.iter().find(|entry| entry["name"] == name).unwrap().clone()
    };
    assert_eq!(find("tools", "hebo")["slow"], true);
    assert_eq!(find("tools", "optuna-tpe")["evaluations"], 510);
    assert_eq!(find("tools", "pycma")["not_on"]["fcnet"], "its variables are real numbers");
    assert_eq!(find("problems", "hartmann6")["sample"], true);
    assert_eq!(find("problems", "branin")["sample"], false);
    assert_eq!(find("problems", "fcnet-slice")["suite"], "fcnet");
    assert_eq!(find("problems", "fcnet-slice")["evaluations"], 510);
}

#[test]
fn problems_without_their_data_are_left_out_unless_they_are_named() {
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    let run = ["compare", "run", "--out", out, "--methods", "random", "--seeds", "1"];
    let run = [&run[..], &["--evaluations", "20", "--data", "no-such-folder"]].concat();
    let text = printed(&run, "");
    for name in ["racing-uc-berkeley", "racing-eth-mobil", "fcnet-parkinsons", "fcnet-slice"] {
        assert!(text.contains(&format!("{name} is left out: no-such-folder")), "{text}");
    }
    assert!(text.contains("batches of 10: 24 trials run, 0 found"), "{text}");
    let error = refused(&[&run[..], &["--problems", "fcnet-slice"]].concat(), "");
    assert!(error.contains("slice_localization.csv.gz is not there"), "{error}");
    let error =
        refused(&["compare", "initial", "racing-eth-mobil", "--data", "no-such-folder"], "");
    assert!(error.contains("ethzMobil_center.txt is not there"), "{error}");
}

#[test]
fn the_paper_s_commands_say_what_is_missing_and_what_is_meant() {
    let figure = refused(&["paper", "fig4"], "");
    assert!(figure.contains("fig4"), "{figure}");
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    let data = ["--data", "no-such-folder"];
    let fig3 = refused(
        &[&["paper", "fig3", "--problems", "parkinsons", "--out", out][..], &data[..]].concat(),
        "",
    );
    for part in
        ["parkinsons_telemonitoring.csv.gz is not there", "nas_benchmarks", "BSD-3", "--data"]
    {
        assert!(fig3.contains(part), "{fig3}");
    }
    let images = refused(&[&["paper", "mnist-runs"][..], &data[..]].concat(), "");
    assert!(images.contains("train-images-idx3-ubyte.gz is not there"), "{images}");
    let task = refused(&["paper", "fig3", "--problems", "mnst"], "");
    assert!(task.contains("the nearest is `mnist`"), "{task}");
    let method = refused(&["paper", "fig1", "--methods", "boer"], "");
    assert!(method.contains("the nearest is `bore`"), "{method}");
    let problem = refused(&["paper", "fig2", "--problems", "brannin"], "");
    assert!(problem.contains("the nearest is `branin`"), "{problem}");
}

/// The commands of `wimble-lab` in the documents, in blocks and within lines. A packaged crate has no documents.
fn documented() -> Vec<(String, Vec<String>)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("docs")];
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.extension() {
                None => folders.push(path),
                Some(ending) if ending == "md" => pages.push(path),
                Some(_) => {}
            }
        }
    }
    let mut found = Vec::new();
    for page in pages.into_iter().filter(|page| page.exists()) {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut is_code = false;
        for line in text.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            }
            let codes: Vec<&str> = match is_code {
                true => vec![line.split(" #").next().unwrap()],
                false => line.split('`').skip(1).step_by(2).collect(),
            };
            for code in codes {
                let code =
                    code.replace("cargo run --release -p wimble-experiments --", "wimble-lab");
                let words: Vec<String> = code.split_whitespace().map(str::to_owned).collect();
                let Some(at) = words.iter().position(|word| word == "wimble-lab") else { continue };
                found.push((format!("{}: {line}", page.display()), words[at + 1..].to_vec()));
            }
        }
    }
    found
}

#[test]
fn every_command_of_the_documents_is_understood() {
    let documented = documented();
    if documented.is_empty() {
        return;
    }
    for (place, words) in &documented {
        // `--help` behind them keeps the command from being run.
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let output = lab(&words, "");
        assert!(output.status.success(), "{place}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(documented.len() > 15, "{} commands", documented.len());
}
