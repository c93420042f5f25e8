//! Data flows one way: a module imports only modules that come before it in the order of the data.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the engine, in the order of the data.
const ORDER: [&str; 33] = [
    "error",
    "named",
    "seed",
    "points",
    "ranking",
    "column",
    "outcome",
    "goal",
    "forecast",
    "pareto",
    "space",
    "curves",
    "history",
    "levelled",
    "violation",
    "standing",
    "merit",
    "stopping",
    "labels",
    "domain",
    "linalg",
    "descent",
    "kernel",
    "theory",
    "gaussian_process",
    "acquisition",
    "classifier",
    "importance",
    "portfolio",
    "batch",
    "strategy",
    "ledger",
    "session",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The module that a file belongs to: the first part of its path.
fn module_of(file: &Path) -> String {
    let relative = file.strip_prefix(source()).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// The modules named in `crate::module` paths, outside of tests and documentation.
fn imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    lines
        .flat_map(|line| line.split("crate::").skip(1).map(str::to_owned).collect::<Vec<_>>())
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn every_module_has_its_place_in_the_order() {
    for entry in fs::read_dir(source()).unwrap() {
        let module = module_of(&entry.unwrap().path());
        assert!(
            module == "lib" || ORDER.contains(&module.as_str()),
            "{module} is not in the order of the data"
        );
    }
}

#[test]
fn no_module_imports_one_further_down_the_order() {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    let place = |module: &str| ORDER.iter().position(|other| *other == module);
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| module_of(file) != "lib") {
        let module = module_of(file);
        for import in imports(&fs::read_to_string(file).unwrap()) {
            let further_down = match (place(&import), place(&module)) {
                (Some(import), Some(module)) => import > module,
                // `crate::Name` goes through the re-exports of lib.rs and would hide the direction.
                _ => true,
            };
            if further_down {
                wrong.push(format!(
                    "{} imports crate::{import}",
                    file.strip_prefix(source()).unwrap().display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the order of the data:\n{}", wrong.join("\n"));
}

#[test]
fn an_import_against_the_order_is_seen() {
    let text = "use crate::session::Session;\n// crate::batch\n#[cfg(test)]\nmod tests { use crate::strategy; }";
    assert_eq!(imports(text), ["session"]);
}
