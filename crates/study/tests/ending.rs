//! Runs that wait because their study is paused, and runs that end because more trials would gain too little.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use running::{file, memory, open, run, runner};
use wimble_study::runner::{End, Event};
use wimble_study::study_file::{Format, StudyFile};

const SPACE: &str = "\n[space]\nx = { type = \"real\", low = -1, high = 1 }\n";

#[test]
fn a_run_waits_while_its_study_is_paused_and_loses_nothing() {
    let file = file("sobol", "sleep 0.3; echo 1", &format!("trials = 12\nworkers = 2{SPACE}"));
    let study = open(&memory(), &file);
    let events = Mutex::new(Vec::new());
    let seen = |wanted: &dyn Fn(&Event) -> bool| {
        events.lock().unwrap().iter().filter(|event| wanted(event)).count()
    };
    let told = || seen(&|event| matches!(event, Event::Told { .. }));
    let wait = |done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", events.lock().unwrap());
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let summary = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            runner(&file, "w").run(&study, &|event| events.lock().unwrap().push(event)).unwrap()
        });
        wait(&|| told() >= 2);
        study.set_paused(true).unwrap();
        wait(&|| seen(&|event| *event == Event::StudyPaused) == 1);
        // What ran when it was paused was told; nothing began since.
        let before = told();
        assert_eq!(study.progress().unwrap().running, 0);
        std::thread::sleep(Duration::from_millis(1_200));
        assert_eq!((told(), study.progress().unwrap().running), (before, 0));
        assert!(before < 12 && !running.is_finished());
        study.set_paused(false).unwrap();
        running.join().unwrap()
    });
    assert_eq!((summary.end, summary.told), (End::BudgetSpent, 12));
    assert_eq!(seen(&|event| *event == Event::StudyResumed), 1);
}

#[test]
fn a_study_that_stands_still_ends_by_its_gain_and_one_that_improves_does_not() {
    // The same value for all: after 33 of them, the fewest to judge by, nothing more is expected.
    let still =
        file("sobol", "echo 1", &format!("workers = 1\nstop-when = \"gain < 0.01\"{SPACE}"));
    assert_eq!(still.settings(None).budget, i64::MAX as u64);
    let (study, summary, _) = run(&still);
    let End::GainedEnough(gain) = summary.end else { panic!("{:?}", summary.end) };
    assert_eq!((summary.told, gain.expected, study.counts().unwrap().valued), (33, 0.0, 33));
    // Starting it again begins nothing.
    let again = runner(&still, "w").run(&study, &|_| {}).unwrap();
    assert!(matches!(again.end, End::GainedEnough(_)) && again.told == 0, "{again:?}");
    // Each trial is better than all before: it goes on to its last trial.
    let script = "echo \"-$WIMBLE_TRIAL\"";
    let moving = file("sobol", script, &format!("trials = 45\nstop-when = \"gain < 0.01\"{SPACE}"));
    let (_, summary, _) = run(&moving);
    assert_eq!((summary.end, summary.told), (End::BudgetSpent, 45));
}

#[test]
fn a_rule_that_cannot_be_read_is_refused_where_it_stands() {
    let parse = |more: &str| {
        let text = format!("name = \"s\"\ncommand = [\"true\"]\n{more}{SPACE}");
        StudyFile::parse("s.toml", &text, Format::Toml)
    };
    for (more, words) in [
        (
            "stop-when = \"gain > 1\"",
            "stop-when is \"gain > 1\", but must be such as \"gain < 0.01\"",
        ),
        ("stop-when = 3", "stop-when"),
        (
            "stop-when = \"gain < 1\"\nobjectives = { a = \"minimise\", b = \"minimise\" }",
            "several objectives",
        ),
    ] {
        let refused = parse(more).unwrap_err().to_string();
        assert!(refused.contains(words) && refused.contains("s.toml:3"), "{refused}");
    }
    let rule = parse("stop-when = \"gain < 2 %\"").unwrap().stop_when.unwrap();
    assert_eq!(rule.to_string(), "gain < 2 %");
}
