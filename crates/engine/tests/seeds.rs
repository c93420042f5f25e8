//! Randomised tests draw the same cases in every run: `.cargo/config.toml` fixes the seed of proptest, and
//! `./test long` sets others.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

#[test]
fn proptest_has_a_fixed_seed_unless_the_environment_gives_another() {
    let seed = ProptestConfig::default().rng_seed;
    assert!(
        matches!(seed, RngSeed::Fixed(_)),
        "PROPTEST_RNG_SEED is not set: run cargo inside the repository, whose .cargo/config.toml sets it"
    );
    let same = |seed| matches!((seed, ProptestConfig::with_cases(7).rng_seed), (RngSeed::Fixed(a), RngSeed::Fixed(b)) if a == b);
    assert!(same(seed));
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// A generator that the operating system seeds would make a test, or a search, another in every run.
#[test]
fn no_generator_is_seeded_by_the_system() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    assert!(files.len() > 200, "{}", files.len());
    // In two halves, so that this file passes its own check.
    let sources = [
        ("thread", "_rng"),
        ("from_", "os_rng"),
        ("rand::", "rng()"),
        ("Os", "Rng"),
        ("RngSeed::", "Random"),
    ];
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (first, second) in sources {
            let source = format!("{first}{second}");
            assert!(!text.contains(&source), "{} uses {source}", file.display());
        }
    }
}
