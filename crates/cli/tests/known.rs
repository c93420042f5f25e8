//! Known constraints and shares as a user meets them: in the study file, in suggestions, and in files of trials.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use serde_json::Value as Json;

const STUDY: &str = r#"name = "k"
method = "random"
trials = 20
known = ["n * x <= 2", 'if c == "a" then p >= 0.5']

[space]
x = { type = "real", low = 0, high = 1 }
n = { type = "integer", low = 1, high = 9 }
c = { type = "categorical", choices = ["a", "b"] }
mix = { type = "shares", of = ["p", "q", "r"] }
"#;

/// A folder with a study file in it.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        desk.write("study.toml", STUDY);
        desk
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn wimble(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wimble"));
        let command = command.args(arguments).current_dir(self.0.path());
        command.env("XDG_STATE_HOME", self.0.path()).env_remove("WIMBLE_STORAGE").output().unwrap()
    }

    fn printed(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.wimble(arguments);
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    fn lines(&self, arguments: &[&str]) -> Vec<Json> {
        self.printed(arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let Output { status, stderr, .. } = self.wimble(arguments);
        assert!(!status.success());
        String::from_utf8(stderr).unwrap()
    }

    /// What `check` says of the study file with another first constraint.
    fn check_with(&self, constraints: &str) -> String {
        self.write("study.toml", &STUDY.replace("\"n * x <= 2\"", constraints));
        self.refused(&["check"])
    }
}

fn meets(params: &Json) -> bool {
    let number = |name: &str| params[name].as_f64().unwrap();
    let sum = number("p") + number("q") + number("r");
    number("n") * number("x") <= 2.0
        && (params["c"] != "a" || number("p") >= 0.5)
        && (sum - 1.0).abs() < 1e-9
}

#[test]
fn known_constraints_are_shown_kept_and_obeyed() {
    let desk = Desk::new();
    let shown = desk.printed(&["check"]);
    let lines = "known      n * x <= 2\n           if c == \"a\" then p >= 0.5\n           ";
    assert!(shown.contains(lines) && shown.contains(" % of the space meets them\n"), "{shown}");
    let asked = desk.lines(&["ask", "study.toml", "-n", "10"]);
    assert_eq!(asked.len(), 10);
    for trial in &asked {
        assert!(meets(&trial["params"]), "{trial}");
        desk.printed(&["tell", "--token", trial["token"].as_str().unwrap(), "--value", "1"]);
    }
    assert!(desk.lines(&["ask", "k", "-n", "5"]).iter().all(|trial| meets(&trial["params"])));
    assert!(desk.refused(&["ask", "study.toml", "-n", "0"]).contains('0'));
    // The study is not the same without them.
    desk.write("study.toml", &STUDY.replace("n * x <= 2", "n * x <= 3"));
    assert!(desk.refused(&["ask", "study.toml"]).contains("n * x <= 3"));
}

#[test]
fn shares_go_through_every_format_and_what_breaks_a_constraint_is_refused() {
    let desk = Desk::new();
    for trial in desk.lines(&["ask", "study.toml", "-n", "6"]) {
        desk.printed(&["tell", "--token", trial["token"].as_str().unwrap(), "--value", "1"]);
    }
    let params = |storage: &str| -> Vec<String> {
        let rows = desk.lines(&["trials", "k", "--json", "--storage", storage]);
        rows.iter().map(|row| row["params"].to_string()).collect()
    };
    let before = params("wimble.db");
    for file in ["t.csv", "t.jsonl", "t.db"] {
        desk.printed(&["export", "k", "--out", file]);
        let storage = format!("{file}.copy.db");
        let import = ["import", file, "--study", "study.toml", "--storage", &storage];
        assert!(desk.printed(&import).contains("Added 6 trials"));
        assert_eq!(params(&storage), before, "{file}");
    }
    let header = "value,param.x,param.n,param.c,param.p,param.q,param.r\n";
    for (row, words) in [
        (
            "1,0.5,9,b,0.5,0.25,0.25",
            "breaks the known constraint `n * x <= 2`: `x` is 0.5, `n` is 9",
        ),
        ("1,0.1,1,a,0.25,0.5,0.25", "`if c == \"a\" then p >= 0.5`: `c` is \"a\", `p` is 0.25"),
        ("1,0.1,1,b,0.5,0.5,0.5", "p + q + r is 1.5, but must be 1, to within 1e-9"),
    ] {
        desk.write("bad.csv", &format!("{header}{row}\n"));
        let refused = desk.refused(&["import", "bad.csv", "--study", "k"]);
        assert!(refused.contains(words) && refused.contains("nothing was added"), "{refused}");
    }
}

#[test]
fn mistakes_in_known_constraints_are_shown_at_their_place() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.check_with("\"n * xx <= 2\""), @r#"
    error: study.toml:4:15: there is no parameter `xx`; the nearest is `x`
      4 | known = ["n * xx <= 2", 'if c == "a" then p >= 0.5']
        |               ^^
    "#);
    insta::assert_snapshot!(desk.check_with(r#""c == \"d\" or x < 1""#), @r#"
    error: study.toml:4:16: "d" is none of the choices of `c`: ["a", "b"]
      4 | known = ["c == \"d\" or x < 1", 'if c == "a" then p >= 0.5']
        |                ^^^
    "#);
    insta::assert_snapshot!(desk.check_with(r#""n > 4", "p < 0.2", "n <= 4", "x > 0""#), @r#"
    error: study.toml:4:30: no configuration can meet the known constraints `n > 4` and `n <= 4` together
      4 | known = ["n > 4", "p < 0.2", "n <= 4", "x > 0", 'if c == "a" then p >= 0.5']
        |                              ^^^^^^^^
    "#);
    insta::assert_snapshot!(desk.check_with("\"x <= 2\", 7"), @r#"
    error: study.toml:4:20: a known constraint is text in quotes
      4 | known = ["x <= 2", 7, 'if c == "a" then p >= 0.5']
        |                    ^
    "#);
    insta::assert_snapshot!(desk.check_with("\"x / (1 - 1) <= 2\""), @r#"
    error: study.toml:4:11: `x / (1 - 1)` has no value anywhere in the space: it divides by zero, takes the root or logarithm of a negative number, or overflows
      4 | known = ["x / (1 - 1) <= 2", 'if c == "a" then p >= 0.5']
        |           ^^^^^^^^^^^
    "#);
    insta::assert_snapshot!(desk.check_with("\"x + p == 1\""), @r#"
    error: study.toml:4:11: `x` is real, and an equality of real numbers leaves next to no configuration; for parts of a whole use a dimension of the type `shares`, otherwise compute one parameter from the others in the command, or allow a margin: abs(… - …) <= 0.01
      4 | known = ["x + p == 1", 'if c == "a" then p >= 0.5']
        |           ^^^^^^^^^^
    "#);
}
