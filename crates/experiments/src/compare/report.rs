//! Merges the records of all tools under a folder into one page with figures.

use std::fs;
use std::path::{Path, PathBuf};

use super::board::Board;
use super::figure;
use super::latency::Latency;
use super::page::Report;
use super::settings::{Settings, Suite};
use crate::error::{Error, Result};

/// Writes `compare.md` and its figures into `dir`, from the records there; the paths written.
pub fn report(dir: &Path) -> Result<Vec<PathBuf>> {
    let settings = Settings::published()?;
    let mut boards = Vec::new();
    for batch_size in batch_sizes(dir, settings.batch_size) {
        let board = Board::read(dir, batch_size)?;
        if !board.is_empty() {
            boards.push((batch_size, board));
        }
    }
    if boards.is_empty() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no records of a run that has ended",
            remedy: "run ours with `wimble-lab compare run --out` and others with benches/peers/run into this folder first",
        });
    }
    let mut written = Vec::new();
    let mut figures = Vec::new();
    for (batch_size, board) in &boards {
        for suite in Suite::ALL {
            if let Some(chart) = figure::chart(&settings, suite, *batch_size, board) {
                let name = figure::name(suite, *batch_size);
                written.push(chart.write(&dir.join(format!("{name}.svg")))?);
                figures.push(name);
            }
        }
    }
    let latencies = Latency::read_all(dir)?;
    let failures = failures(dir);
    let page = Report {
        settings: &settings,
        boards: &boards,
        latencies: &latencies,
        failures: &failures,
        figures: &figures,
        machine: machine(),
    };
    let path = dir.join("compare.md");
    fs::write(&path, page.page()).map_err(Error::file(&path))?;
    written.insert(0, path);
    Ok(written)
}

/// The batch sizes that have records, the published one first.
fn batch_sizes(dir: &Path, published: usize) -> Vec<usize> {
    let folders = fs::read_dir(dir.join("records")).into_iter().flatten().flatten();
    let mut sizes: Vec<usize> = folders
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("compare-")?.parse().ok())
        .collect();
    sizes.sort_by_key(|&size| (size != published, size));
    sizes
}

/// What did not install, and the last line of every error that ended a run, counted.
fn failures(dir: &Path) -> Vec<String> {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let mut lines: Vec<String> =
        read(&dir.join("not-installed.txt")).lines().map(str::to_owned).collect();
    let folders = fs::read_dir(dir.join("failures")).into_iter().flatten().flatten();
    for folder in folders {
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = read(&file.path());
            let reason = text.trim_end().lines().last().unwrap_or_default();
            lines.push(format!("{}: {reason}", name.replace("__", " ")));
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

/// The processor and the number of its cores, as far as the system says.
fn machine() -> String {
    let model = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    format!("{}, {cores} cores, {system}", model.unwrap_or_else(|| "unknown processor".to_owned()))
}
