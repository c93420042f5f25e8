//! The page of ARCHITECTURE.md that follows an ask and a tell names files that exist, each once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;

/// The files in the first column of a table.
fn files(table: &str) -> Vec<&str> {
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap()).collect()
}

#[test]
fn an_ask_and_a_tell_enter_no_file_twice() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let page = text.split("## One ask and one tell, file by file").nth(1).unwrap();
    let page = page.split("\n## ").next().unwrap();
    let (ask, tell) = page.split_once("`wimble tell ").unwrap();
    for path in [files(ask), files(tell)] {
        assert!(path.len() > 10, "{path:?}");
        for file in &path {
            assert!(root.join("crates").join(file).exists(), "there is no crates/{file}");
        }
        let distinct: BTreeSet<&&str> = path.iter().collect();
        assert_eq!(distinct.len(), path.len(), "a file is entered twice: {path:?}");
    }
}

/// Without blanks and breaks, so that a signature is the same on one line and on several.
fn dense(text: &str) -> String {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    dense.replace(",)", ")").replace("<'_>", "")
}

/// The source files below a folder, in one text.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}

#[test]
fn the_traits_are_those_of_the_engine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let traits = text.split("## The traits").nth(1).unwrap().split("```").nth(1).unwrap();
    let engine = dense(&sources(&root.join("crates/engine/src")));
    let mut count = 0;
    for line in traits.lines().skip(1) {
        let code = line.split("//").next().unwrap().trim().trim_end_matches([';', '}', '{']);
        assert!(engine.contains(&dense(code)), "the engine has no `{code}`");
        count += usize::from(!code.is_empty());
    }
    assert!(count > 30, "{count} lines");
}
