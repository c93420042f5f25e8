//! The comparison from end to end, in small.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wimble_experiments::compare::settings::Suite;
use wimble_experiments::compare::{Board, Changes, Group, Settings, report};
use wimble_experiments::data::Folder;
use wimble_experiments::{Done, Error, Experiment as _, Place};

fn words(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn with(changes: &Changes) -> Settings {
    Settings::published().unwrap().with(changes).unwrap()
}

fn small(methods: &[&str], evaluations: usize) -> Settings {
    with(&Changes {
        methods: words(methods),
        problems: words(&["branin", "hartmann6+noise-10"]),
        seeds: Some(2),
        evaluations: Some(evaluations),
        batch_size: None,
    })
}

/// Runs on so many threads, without any data.
fn attempt(dir: &Path, settings: &Settings, jobs: usize) -> Result<Done, Error> {
    let place = Place { dir, jobs, data: &Folder::new("no-such-folder") };
    wimble_experiments::run(settings, &place, &|_| ())
}

fn run(dir: &Path, settings: &Settings) -> Done {
    attempt(dir, settings, 1).unwrap()
}

/// Gives the runs of one tool to another, with regrets so many times as large.
fn copy(dir: &Path, from: &str, to: &str, times: f64) {
    let folder = dir.join("records/compare-10");
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.contains(&format!("__{from}__")) {
            continue;
        }
        let mut text = String::new();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(start) = line.get_mut("start") {
                start["key"]["method"] = to.into();
            }
            if let Some(round) = line.get_mut("round") {
                for (_, value) in round["metrics"].as_object_mut().unwrap() {
                    *value = (value.as_f64().unwrap() * times).into();
                }
            }
            text += &format!("{line}\n");
        }
        fs::write(folder.join(name.replace(&format!("__{from}__"), &format!("__{to}__"))), text)
            .unwrap();
    }
}

fn page(dir: &Path) -> String {
    report(dir).unwrap();
    fs::read_to_string(dir.join("compare.md")).unwrap()
}

fn assert_has(page: &str, lines: &[&str]) {
    for line in lines {
        assert!(page.contains(line), "{line} is missing in\n{page}");
    }
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

    let done = run(dir, &small(&["random", "cma-es"], 60));
    assert_eq!(done, Done { computed: 8, ..Done::default() });
    let first = records(dir);
    let other = tempfile::tempdir().unwrap();
    attempt(other.path(), &small(&["random", "cma-es"], 60), 2).unwrap();
    assert_eq!(records(other.path()), first);

    // What has ended is found, also by a shorter plan; a longer one computes it again from the same points.
    let found = run(dir, &small(&["random", "cma-es"], 30));
    assert_eq!(found, Done { found: 8, ..Done::default() });
    let done = run(dir, &small(&["random"], 70));
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
    let published = Settings::published().unwrap();
    let functions = Group::suite(&published, Suite::Functions);
    assert_eq!((board.open_runs, board.ended("cma-es", &functions.subjects)), (1, (3, 0)));

    let written = report(dir).unwrap();
    assert!(written.iter().all(|path| fs::metadata(path).unwrap().len() > 0), "{written:?}");
    let page = fs::read_to_string(dir.join("compare.md")).unwrap();
    assert_has(
        &page,
        &[
            "**All 24 functions**, 2 tools with 3 runs on 2 problems in common:",
            "**Not for conclusions:** 3 of the 120 runs that each of these tools is meant to have; none on camel+shifted",
            "### Median simple regret after 60 evaluations",
            "| hartmann6+noise-10 | tuning |",
            "1 runs have begun and not ended",
            "| random search | 4 of 120 | 0 of 10 | 0 of 10 | 0 | 2010 | wimble",
            "Without records, and in no table: ",
            "pycma",
            "## Racing lines, batches of 10",
            "There are no records. Their data are not part of this repository",
            "pycma (its variables are real numbers)",
        ],
    );
    assert!(!page.contains("that slow tools run on too**"), "{page}");
}

#[test]
fn slow_tools_are_ranked_on_the_sample_only() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let changes = |problems: &[&str]| Changes {
        methods: words(&["random"]),
        problems: words(problems),
        seeds: Some(1),
        evaluations: Some(60),
        batch_size: None,
    };
    run(dir, &with(&changes(&["camel+shifted"])));
    copy(dir, "random", "hebo", 0.5);
    run(dir, &with(&changes(&["branin"])));
    copy(dir, "random", "pycma", 2.0);
    let page = page(dir);
    let (all, rest) =
        page.split_once("**All 24 functions**").unwrap().1.split_once("\n\n**").unwrap();
    assert_has(
        all,
        &[", 2 tools with 2 runs on 2 problems", "| random search | 1.00 |", "| pycma | 2.00 |"],
    );
    assert!(!all.contains("HEBO"), "{all}");
    let sample = rest.split_once("###").unwrap().0;
    assert_has(
        sample,
        &[
            "The 8 functions that slow tools run on too**, 3 tools with 1 runs on 1 problems",
            "| HEBO | 1.00 |",
            "| random search | 2.00 |",
            "| pycma | 3.00 |",
            "1 of the 40 runs",
        ],
    );
    assert_has(&page, &["| HEBO | 1 of 40 |", "| pycma | 2 of 120 |"]);
}

#[test]
fn the_page_says_where_ours_is_far_behind_with_all_figures() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    run(dir, &small(&["random"], 210));
    copy(dir, "random", "auto", 1.0);
    assert_has(&page(dir), &["after 210 evaluations\n\nNowhere."]);
    copy(dir, "random", "pycma", 0.5);
    copy(dir, "random", "nevergrad", 0.01);
    let page = page(dir);
    let far = page.split_once("## Where auto is more than 10 times worse").unwrap().1;
    let line = far.lines().find(|line| line.starts_with("| branin ")).unwrap();
    let cells: Vec<&str> = line.split(" | ").collect();
    assert_eq!(cells.len(), 10, "{line}");
    assert_eq!((cells[4], cells[5], cells[8]), ("0 of 2", "nevergrad NGOpt", "100"), "{line}");
}

#[test]
fn other_batch_sizes_are_shown_in_brief() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for (batch_size, evaluations) in [(1, 60), (10, 60), (100, 210)] {
        let changes = Changes {
            methods: words(&["random", "cma-es"]),
            problems: words(&["branin"]),
            seeds: Some(1),
            evaluations: Some(evaluations),
            batch_size: Some(batch_size),
        };
        let done = run(dir, &with(&changes));
        assert_eq!(done.computed, 2);
    }
    let page = page(dir);
    assert_has(
        &page,
        &[
            "## Functions, batches of 10",
            "## Batches of 1, in brief",
            "| tool | 60 (1 runs) |\n",
            "## Batches of 100, in brief",
            "| tool | 210 (1 runs) |\n",
        ],
    );
    let hundred = page.split_once("## Batches of 100").unwrap().1;
    assert_has(hundred, &["### Median simple regret after 210 evaluations", "| branin | tuning |"]);
}

#[test]
fn real_problems_are_run_where_their_data_are() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let changes = Changes {
        methods: words(&["random", "bore++"]),
        problems: words(&["racing-uc-berkeley", "fcnet-slice"]),
        seeds: Some(1),
        evaluations: Some(60),
        batch_size: None,
    };
    let settings = with(&changes);
    // Not on the suites of bore++.
    assert_eq!(settings.trials().unwrap().len(), 2);
    assert!(matches!(attempt(dir, &settings, 1).unwrap_err(), Error::MissingData { .. }));
    let Some(data) = std::env::var_os("WIMBLE_DATA").map(Folder::new) else {
        eprintln!("skipped: WIMBLE_DATA does not name the folder of the real data");
        return;
    };
    wimble_experiments::run(&settings, &Place { dir, jobs: 1, data: &data }, &|_| ()).unwrap();
    copy(dir, "random", "tpe", 0.5);
    let page = page(dir);
    assert_has(
        &page,
        &[
            "**Racing lines**, 2 tools with 1 runs on 1 problems in common:",
            "| wimble tpe | 1.00 |",
            "**Tables of trained networks**, 2 tools with 1 runs on 1 problems in common:",
            "**Not for conclusions:** 1 of the 10 runs that each of these tools is meant to have; none on fcnet-parkinsons.",
            "| racing-uc-berkeley | held out |",
            "| fcnet-slice | tuning |",
            "median regret of the point that a user would keep",
            "| random search | 0 of 120 | 1 of 10 | 1 of 10 |",
        ],
    );
}

#[test]
fn a_run_that_was_stopped_keeps_its_last_value() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    run(dir, &small(&["random"], 60));
    let path = dir.join("records/compare-10/branin__random__0.jsonl");
    let text = fs::read_to_string(&path).unwrap().replace("\"finished\"", "\"aborted\"");
    fs::write(&path, text).unwrap();
    let board = Board::read(dir, 10).unwrap();
    let regret = |evaluations| board.regret("random", "branin", 0, evaluations, "simple_regret");
    assert!(regret(60).is_some());
    assert_eq!(regret(210), regret(60));
    // Half of the runs is needed for a table, and none of these four reached 210.
    let settings = Settings::published().unwrap();
    assert!(board.tools(&Group::suite(&settings, Suite::Functions), 210).is_empty());
}
