//! Long commands and long files cost a bounded amount of memory: what is read is not held.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A few trials and many.
const SIZES: [usize; 2] = [2_000, 20_000];
/// Held in memory, the difference would take more than this: half a kilobyte a trial, in bytes.
const FLAT: u64 = 9_000_000;

/// Runs the command in a folder; gives the peak of its memory in bytes.
fn peak(folder: &Path, arguments: &[&str]) -> u64 {
    let output = File::create(folder.join("output")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_wimble"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .env_remove("WIMBLE_STORAGE")
        .stdin(Stdio::null())
        .stdout(output)
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        // The last look before its end is milliseconds before it.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let found = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let found = found.and_then(|found| found.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(found.unwrap_or(0) * 1_024);
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(ended.success(), "{arguments:?}");
    peak
}

#[test]
fn long_commands_hold_no_more_of_many_trials_than_of_few() {
    let peaks = SIZES.map(|size| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let study = "name = \"s\"\nmethod = \"random\"\ncommand = [\"true\"]\n[space]\n\
                     x = { type = \"real\", low = 0, high = 1 }\n\
                     kind = { type = \"categorical\", choices = [\"a\", \"b\"] }\n";
        std::fs::write(folder.join("study.toml"), study).unwrap();
        let mut lines = String::new();
        for i in 0..size {
            let (x, kind) = (i as f64 / size as f64, ["a", "b"][i % 2]);
            writeln!(
                lines,
                r#"{{"state":"complete","value":{x},"params":{{"x":{x},"kind":"{kind}"}},"attributes":{{"note":"some words {i}"}}}}"#
            )
            .unwrap();
        }
        std::fs::write(folder.join("trials.jsonl"), lines).unwrap();
        let commands: &[&[&str]] = &[
            &["import", "trials.jsonl", "--study", "study.toml", "--storage", "a.db"],
            &["trials", "s", "--storage", "a.db"],
            &["trials", "s", "--json", "--storage", "a.db"],
            &["trials", "s", "--where", "x > 0.01 and kind = a", "--storage", "a.db"],
            &["trials", "s", "--sort", "value", "--limit", "200", "--storage", "a.db"],
            &["export", "s", "--format", "csv", "--storage", "a.db"],
            &["export", "s", "--format", "jsonl", "--storage", "a.db"],
            &["export", "s", "--format", "optuna", "--out", "optuna.db", "--storage", "a.db"],
            &["import", "optuna.db", "--format", "optuna", "--storage", "b.db"],
        ];
        let peaks: Vec<u64> = commands.iter().map(|command| peak(folder, command)).collect();
        let names = commands.iter().map(|command| command.join(" "));
        names.zip(peaks).collect::<Vec<(String, u64)>>()
    });
    let [few, many] = peaks;
    for ((command, few), (_, many)) in few.iter().zip(&many) {
        let mb = |bytes: &u64| *bytes as f64 / 1e6;
        println!("{:.1} MB, {:.1} MB: wimble {command}", mb(few), mb(many));
    }
    for ((command, few), (_, many)) in few.iter().zip(&many) {
        assert!(*few > 1_000_000, "nothing was measured: {command}");
        assert!(*many < few + FLAT, "{command}: {few} bytes, then {many}");
    }
}

#[test]
fn the_end_of_a_huge_log_is_shown_without_reading_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let study = "name = \"s\"\nmethod = \"random\"\ntrials = 1\nfolders = \"runs\"\n\
                 command = [\"sh\", \"-c\", \"echo 1\"]\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n";
    std::fs::write(folder.join("study.toml"), study).unwrap();
    peak(folder, &["run", "study.toml", "--storage", "a.db"]);
    let log = find(folder, "stdout.log").expect("a trial that is kept has a log");
    // A gigabyte, of which the disk holds nothing.
    File::options().write(true).open(&log).unwrap().set_len(1 << 30).unwrap();
    let since = Instant::now();
    let peak = peak(folder, &["show", "study.toml", "0", "--storage", "a.db"]);
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    assert!(peak < 100_000_000, "{peak} bytes");
}

/// A file of this name, at any depth.
fn find(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = find(&path, name) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|other| other == name) {
            return Some(path);
        }
    }
    None
}
