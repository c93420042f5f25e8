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
