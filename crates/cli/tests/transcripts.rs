//! The command as a user meets it: what it prints, and what it says when something is wrong.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn wimble(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wimble")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = wimble(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a failing call says, and its exit code.
fn refused(arguments: &[&str]) -> String {
    let output = wimble(arguments);
    assert!(output.stdout.is_empty());
    format!("exit {}\n{}", output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn report(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

#[test]
fn json_has_every_promised_field() {
    let report = report(&[
        "minimize",
        "branin",
        "--batch-size",
        "4",
        "--rounds",
        "3",
        "--seed",
        "5",
        "--json",
    ]);
    assert_eq!(report["problem"], "branin");
    assert_eq!(report["method"], "auto");
    assert_eq!(report["seed"], 5);
    // `auto` opens a search by itself; other methods have initial points of their own beside the rounds.
    assert_eq!(report["evaluations"], 3 * 4);
    let minimum = wimble_problems::problem("branin").unwrap().minimum();
    let (best, regret) =
        (report["best_value"].as_f64().unwrap(), report["simple_regret"].as_f64().unwrap());
    assert!((best - minimum - regret).abs() < 1e-12 && regret >= 0.0);
    let point: Vec<f64> = serde_json::from_value(report["best_point"].clone()).unwrap();
    assert_eq!(wimble_problems::problem("branin").unwrap().evaluate(&point), best);
    let by_round: Vec<f64> = serde_json::from_value(report["regret_by_round"].clone()).unwrap();
    assert_eq!(by_round.len(), 3);
    assert!(by_round.windows(2).all(|pair| pair[1] <= pair[0]));
    assert_eq!(by_round[2], regret);
    assert_eq!(report["ask_seconds_by_round"].as_array().unwrap().len(), 3);
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_does_not() {
    for method in ["auto", "bore", "bore++", "random", "tpe", "bore classifier=forest"] {
        let run = |seed: &str| {
            let arguments = [
                "minimize", "camel", "--method", method, "--rounds", "2", "--seed", seed, "--json",
            ];
            report(&arguments)["best_point"].clone()
        };
        assert_eq!(run("1"), run("1"));
        assert_ne!(run("1"), run("2"));
    }
}

#[test]
fn the_table_fits_a_terminal_of_80_columns() {
    let text = printed(&["minimize", "ackley-20", "--rounds", "2"]);
    assert!(text.contains("simple regret") && text.contains("x5"), "{text}");
    let table = text.lines().take_while(|line| !line.is_empty());
    assert!(table.map(|line| line.trim_end().chars().count()).all(|width| width <= 80), "{text}");
}

#[test]
fn problems_are_listed() {
    insta::assert_snapshot!(printed(&["problems"]));
    let families: serde_json::Value =
        serde_json::from_str(&printed(&["problems", "--json"])).unwrap();
    let count = wimble_problems::names().len() + wimble_problems::tasks().len();
    assert_eq!(families.as_array().unwrap().len(), count);
}

#[test]
fn methods_are_listed() {
    insta::assert_snapshot!(printed(&["methods"]));
    let tables: serde_json::Value = serde_json::from_str(&printed(&["methods", "--json"])).unwrap();
    assert_eq!(tables["classifiers"][0]["name"], "perceptron");
}

#[test]
fn mistakes_are_answered_with_the_value_and_the_fix() {
    insta::assert_snapshot!(refused(&["minimize", "branan"]));
    insta::assert_snapshot!(refused(&["minimize", "rosenbrock"]));
    insta::assert_snapshot!(refused(&[
        "minimize",
        "branin",
        "--method",
        "bore++",
        "--classifier",
        "perceptron"
    ]));
    insta::assert_snapshot!(refused(&[
        "minimize",
        "branin",
        "--classifier",
        "forest",
        "--rule",
        "svgd"
    ]));
    insta::assert_snapshot!(refused(&["minimize", "branin", "--method", "bore fraction=1.5"]));
    insta::assert_snapshot!(refused(&["minimize", "branin", "--method", "bore++ width=-2"]));
    insta::assert_snapshot!(refused(&["minimize", "branin", "--batch-size", "0"]));
    insta::assert_snapshot!(refused(&["minimize", "branin", "--method", "bor+"]));
}
