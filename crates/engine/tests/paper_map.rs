//! docs/paper-map.md names every numbered part of the paper, and only files and tests that exist.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A row of the table: part of the paper, what it is, file, test.
fn rows() -> Vec<[String; 4]> {
    let text = fs::read_to_string(root().join("docs/paper-map.md")).unwrap();
    let table = text.lines().filter(|line| line.starts_with('|')).skip(2);
    table
        .map(|line| {
            let cells: Vec<String> =
                line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            cells.try_into().unwrap_or_else(|cells| panic!("four cells expected in {cells:?}"))
        })
        .collect()
}

/// The path that a cell stands for.
fn path(cell: &str) -> PathBuf {
    let expanded = match cell.split_once('/') {
        Some(("engine", rest)) => format!("crates/engine/src/{rest}"),
        Some(("tests", rest)) => format!("crates/engine/tests/{rest}"),
        _ => cell.to_owned(),
    };
    root().join(expanded)
}

#[test]
fn every_numbered_part_of_the_paper_is_mapped_once() {
    let numbered = |prefix: &str, count: usize| {
        (1..=count).map(|n| format!("({prefix}{n})")).collect::<Vec<_>>()
    };
    let named = |kind: &str, numbers: &[&str]| {
        numbers.iter().map(|n| format!("{kind} {n}")).collect::<Vec<_>>()
    };
    let expected: Vec<String> = [
        numbered("", 28),
        numbered("A.", 25),
        numbered("D.", 6),
        named("Algorithm", &["1"]),
        named("Lemma", &["1", "A.1", "A.2", "A.3"]),
        named("Theorem", &["1", "2", "3", "4"]),
        named("Table", &["D.1", "D.2", "D.3", "D.4"]),
        named("Figure", &["1", "2", "3", "E.1"]),
    ]
    .concat();
    let rows = rows();
    let mapped: BTreeSet<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(mapped.len(), rows.len(), "a part is mapped twice");
    assert_eq!(mapped, expected.iter().map(String::as_str).collect());
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_file_and_test_of_the_map_exists() {
    for [part, what, file, test] in rows() {
        for cell in [&part, &what, &file, &test] {
            assert!(!cell.is_empty() && cell != "-", "{part}: a cell is empty");
        }
        // A page of the guide may be followed by the paragraph that is meant.
        let (page, paragraph) = file.split_once('#').unwrap_or((&file, ""));
        assert!(path(page).is_file(), "{part}: no file {page}");
        if !paragraph.is_empty() {
            let text = fs::read_to_string(path(page)).unwrap();
            let headings = text.lines().filter(|line| line.starts_with('#'));
            assert!(headings.map(anchor).any(|found| found == paragraph), "{part}: no {file}");
        }
        let (file, function) =
            test.split_once("::").unwrap_or_else(|| panic!("{part}: no `file::test` in {test}"));
        let text = fs::read_to_string(path(file))
            .unwrap_or_else(|error| panic!("{part}: {file}: {error}"));
        let definition = format!("fn {function}(");
        let place =
            text.find(&definition).unwrap_or_else(|| panic!("{part}: no {function} in {file}"));
        // An attribute stands directly above; a line of documentation or of configuration may lie between.
        let above: Vec<&str> = text[..place].lines().rev().take(4).collect();
        let marked = above.iter().any(|line| line.trim_start().starts_with("#[test]"));
        assert!(marked, "{part}: {function} in {file} is no test");
    }
}
