//! The comparison from end to end, in small.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wimble_experiments::compare::{Board, Changes, Plan, Settings, report};
use wimble_experiments::{Done, Error};

fn plan(methods: &[&str], evaluations: usize, jobs: usize) -> Plan {
    let words = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let changes = Changes {
        methods: words(methods),
        problems: words(&["branin", "hartmann6+noise-10"]),
        seeds: Some(2),
        evaluations: Some(evaluations),
        batch_size: None,
    };
    Plan { settings: Settings::published().unwrap().with(&changes).unwrap(), jobs }
}

fn records(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(dir.join("records/compare-10")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

#[test]
fn runs_resume_and_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    assert!(matches!(report(dir).unwrap_err(), Error::Nothing { .. }));

    let all = plan(&["random", "cma-es"], 60, 1);
    let done = all.run(dir, &|_| ()).unwrap();
    assert_eq!(done, Done { computed: 8, ..Done::default() });
    let first = records(dir);
    let other = tempfile::tempdir().unwrap();
    plan(&["random", "cma-es"], 60, 2).run(other.path(), &|_| ()).unwrap();
    assert_eq!(records(other.path()), first);

    // What has ended is found, also by a shorter plan; a longer one computes it again from the same points.
    let found = plan(&["random", "cma-es"], 30, 1).run(dir, &|_| ()).unwrap();
    assert_eq!(found, Done { found: 8, ..Done::default() });
    let done = plan(&["random"], 70, 1).run(dir, &|_| ()).unwrap();
    assert_eq!(done, Done { computed: 4, ..Done::default() });
    let (short, long) = (Board::read(other.path(), 10).unwrap(), Board::read(dir, 10).unwrap());
    for evaluations in [20, 40, 60] {
        let regret = |board: &Board| {
            board.regret("random", "hartmann6+noise-10", 1, evaluations, "simple_regret").unwrap()
        };
        assert_eq!(regret(&short), regret(&long));
    }
    // A finished run of 60 evaluations says nothing about 70.
    assert_eq!(long.regret("cma-es", "branin", 0, 70, "simple_regret"), None);

    // A run without its last line does not count.
    let cut = dir.join("records/compare-10/branin__cma-es__1.jsonl");
    let text = fs::read_to_string(&cut).unwrap();
    fs::write(&cut, text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>())
        .unwrap();
    let board = Board::read(dir, 10).unwrap();
    assert_eq!((board.open_runs, board.ended("cma-es")), (1, (3, 0)));

    let written = report(dir).unwrap();
    assert!(written.iter().all(|path| fs::metadata(path).unwrap().len() > 0), "{written:?}");
    let page = fs::read_to_string(dir.join("compare.md")).unwrap();
    for line in [
        "### Median simple regret after 60 evaluations",
        "| hartmann6+noise-10 | tuning |",
        "1 runs have begun and not ended",
        "| random search | 4 of 120 | 0 | wimble",
        "| pycma | 0 of 120 | 0 | no records |",
    ] {
        assert!(page.contains(line), "{line} is missing in\n{page}");
    }
}

#[test]
fn a_run_that_was_stopped_keeps_its_last_value() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    plan(&["random"], 60, 1).run(dir, &|_| ()).unwrap();
    let path = dir.join("records/compare-10/branin__random__0.jsonl");
    let text = fs::read_to_string(&path).unwrap().replace("\"finished\"", "\"aborted\"");
    fs::write(&path, text).unwrap();
    let board = Board::read(dir, 10).unwrap();
    let regret = |evaluations| board.regret("random", "branin", 0, evaluations, "simple_regret");
    assert!(regret(60).is_some());
    assert_eq!(regret(210), regret(60));
    // Half of the runs is needed for a table, and none of these four reached 210.
    assert!(board.tools(&Settings::published().unwrap(), 210).is_empty());
}
