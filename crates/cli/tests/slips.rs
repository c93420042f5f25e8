//! Slips of the keyboard, and readers that go away: every answer names what was given and what to do, and nothing hangs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use desk::Desk;

const STUDY: &str = r#"name = "s"
command = ["sh", "-c", "echo {rate}"]
trials = 6
workers = 2
method = "random"
[space]
rate = { type = "real", low = 0, high = 1 }
layers = { type = "integer", low = 1, high = 8 }
optimiser = { type = "categorical", choices = ["adam", "sgd"] }
"#;

/// Asserts what a wrong command line is answered with.
fn answers(desk: &Desk, cases: &[(&[&str], &str)]) {
    for (arguments, words) in cases {
        let said = desk.refused(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// A pipe whose reader is gone, as that of `wimble run 2>&1 | head -1` soon is.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_run_whose_reader_is_gone_goes_on_to_its_end() {
    let desk = Desk::new(STUDY);
    let mut run = desk.command(&["run"]).stdout(closed()).stderr(closed()).spawn().unwrap();
    let began = Instant::now();
    let status = loop {
        match run.try_wait().unwrap() {
            Some(status) => break status,
            None if began.elapsed() > Duration::from_secs(60) => {
                run.kill().unwrap();
                panic!("it hangs");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(status.code(), Some(0));
    assert_eq!(desk.lines(&["trials", "--json"]).len(), 6);
    // An error that nobody reads is still an exit code.
    let refused = desk.command(&["show", "99"]).stderr(closed()).status().unwrap();
    assert_eq!(refused.code(), Some(1));
}

#[test]
fn numbers_and_names_on_the_command_line_are_answered_with_what_is_meant() {
    let desk = Desk::new(STUDY);
    desk.printed(&["run", "-q"]);
    answers(
        &desk,
        &[
            (&["rnu"], "there is no command `rnu`; the nearest is `run`"),
            (&["colour"], "there is no command `colour`; `wimble --help` lists them"),
            (&["run", "--workers", "x"], "it must be a whole number from 1 to 4096"),
            (
                &["run", "--trials", "-5"],
                "'-5' for '--trials <TRIALS>': it must be a whole number, 1 at least",
            ),
            (&["best", "-n", "0"], "it must be a whole number from 1 to"),
            (&["report", "x", "1"], "it must be a number, such as 0.31"),
            (&["trials", "--sort", "vlaue"], "the nearest is `value`"),
            (
                &["trials", "--where", "optimiser = sdg"],
                "`optimiser` is never `sdg`; the nearest is `sgd`",
            ),
            (&["trials", "--where", "state = done"], "`state` is never `done`; there are "),
            (&["minimize", "foo"], "no problem is called `foo`. The problems are"),
            (
                &["minimize", "branin", "--set", "initail=3"],
                "there is no `initail`; the nearest is `initial`",
            ),
        ],
    );
    assert!(
        desk.printed(&["trials", "--where", "optimiser = sgd or optimiser = adam"])
            .contains("complete")
    );
    let said = desk.printed(&["trials", "--where", "worker = nobody"]);
    assert!(said.contains("No trial"), "{said}");
}

#[test]
fn lines_of_json_are_refused_in_words_that_users_know() {
    let desk = Desk::new(STUDY);
    desk.printed(&["ask", "study.toml"]);
    let fed = |arguments: &[&str], text: &str| {
        let mut child = desk.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (arguments, text, words) in [
        (&["tell"][..], "garbage", "line 1 of standard input: this is not JSON: expected value"),
        (&["tell"], "[1]", "a list stands where an object"),
        (
            &["tell"],
            r#"{"token": "0.1", "vlaue": 3}"#,
            "there is no field `vlaue`; the nearest is `value`",
        ),
        (
            &["enqueue"],
            r#"{"rate": 1"#,
            "nothing was enqueued: this is not JSON: EOF while parsing an object",
        ),
    ] {
        let said = fed(arguments, text);
        assert!(said.contains(words), "{text}: {said}");
    }
    desk.write("rows.jsonl", "{\"state\": \"complete\", \"colour\": 3}\n");
    answers(
        &desk,
        &[
            (
                &["import", "rows.jsonl"],
                "line 1: there is no `colour`; there are trial, state, value",
            ),
            (
                &["import", "wimble.db"],
                "this is no storage of Optuna: it has no table `version_info`. `wimble copy`",
            ),
        ],
    );
}

#[test]
fn an_extension_that_is_refused_leaves_no_study_behind() {
    let desk = Desk::new(STUDY);
    desk.printed(&["run", "-q"]);
    let wide = format!("{STUDY}decay = {{ type = \"real\", low = 0, high = 1 }}\n");
    desk.write("wide.toml", &wide.replace("\"s\"", "\"wide\""));
    answers(
        &desk,
        &[
            (
                &["extend", "s", "wide.toml"],
                "must be set to the value that it had in `s`: --set decay=VALUE",
            ),
            (
                &["extend", "s", "wide.toml", "--set", "decay=3"],
                "decay is 3.0, but must be a real number from 0.0 to 1.0",
            ),
        ],
    );
    assert_eq!(desk.lines(&["studies", "--json"]).len(), 1);
    let said = desk.printed(&["extend", "s", "wide.toml", "--set", "decay=0.3"]);
    assert!(said.contains("`wide` has 6 trials of `s`"), "{said}");
}

#[test]
fn what_is_already_so_is_told_as_such() {
    let desk = Desk::new(STUDY);
    desk.printed(&["run", "-q", "--trials", "20"]);
    let said = desk.printed(&["stop"]);
    assert!(said.contains("already starts no new trial"), "{said}");
    assert!(said.contains("--trials NUMBER, where NUMBER is above 20"), "{said}");
    let spent = desk.wimble(&["ask"]);
    let said = String::from_utf8(spent.stderr).unwrap();
    assert!(said.contains("all 20 of the study") && said.contains("--trials NUMBER"), "{said}");
    let copied = desk.printed(&["copy", "--all", "--to", "copy.db"]);
    assert_eq!(copied.lines().last(), Some("Next: wimble studies --storage copy.db"));
}

#[test]
fn a_study_whose_trials_all_fail_and_a_listener_that_is_missing_are_noticed() {
    let broken = STUDY.replace("echo {rate}", "exit 3");
    let desk = Desk::new(&format!("{broken}[on]\nresult = [\"no-such-program\"]\n"));
    let said = desk.printed(&["check"]);
    assert!(said.contains("on result: the program `no-such-program` was not found"), "{said}");
    assert!(said.contains("Next: wimble run"), "{said}");
    assert_eq!(desk.wimble(&["run", "-q"]).status.code(), Some(3));
    let said = desk.printed(&["advise"]);
    assert!(said.contains("finished trials failed: the command does not work yet"), "{said}");
}
