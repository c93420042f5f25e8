//! How long one ask takes after N evaluations.
//!
//! The history is N uniform points with their values; then a few batches are asked for and told. What counts is
//! the CPU time of the whole process, so that other work on the machine does not, and threads bring no advantage.
//! `DIR/latency/<tool>.json` holds it; peers write the same.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use wimble::goal::Direction;
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;

use super::objective;
use super::settings::{Settings, Tool};
use crate::error::{Error, Result};
use crate::oracle::Oracle;

/// Batches asked for at each size.
const ASKS: usize = 5;

/// What a tool's file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The tool's name.
    pub tool: String,
    /// Its version and settings.
    pub settings: String,
    /// The problem.
    pub problem: String,
    /// Points of each ask.
    pub batch_size: usize,
    /// By size.
    pub sizes: Vec<Size>,
}

/// The asks after N evaluations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Number of evaluations before the asks.
    pub evaluations: usize,
    /// CPU seconds of each ask.
    pub seconds: Vec<f64>,
}

impl Latency {
    /// Times a method of ours at each of `sizes`, and leaves out those beyond one that took more than `patience` seconds
    /// an ask.
    pub fn measure(
        settings: &Settings,
        tool: &Tool,
        sizes: &[usize],
        patience: f64,
    ) -> Result<Self> {
        let method = tool.method()?;
        let objective = objective::known(&settings.latency_problem)?;
        let mut latency = Self {
            tool: tool.name.clone(),
            settings: format!("wimble {} {method}", env!("CARGO_PKG_VERSION")),
            problem: settings.latency_problem.clone(),
            batch_size: settings.batch_size,
            sizes: Vec::new(),
        };
        for &evaluations in sizes {
            let mut oracle = Oracle::new(Arc::clone(&objective), Seed(0), 0)?;
            let strategy = method.build(settings.batch_size)?;
            let mut session =
                Session::new(oracle.space().clone(), strategy, Direction::Minimise, Seed(0))?;
            for point in oracle.initial().take(evaluations) {
                let value = oracle.observe(&point)?.told;
                session.observe(&point, Outcome::from(value))?;
            }
            let mut seconds = Vec::new();
            for _ in 0..ASKS {
                let before = ProcessTime::now();
                let trials = session.ask(settings.batch_size)?;
                seconds.push(before.elapsed().as_secs_f64());
                for trial in trials {
                    let value = oracle.observe(&trial.configuration)?.told;
                    session.tell(trial.id, Outcome::from(value))?;
                }
                if seconds.iter().sum::<f64>() > patience {
                    break;
                }
            }
            let size = Size { evaluations, seconds };
            let too_long = size.median() > patience;
            latency.sizes.push(size);
            if too_long {
                break;
            }
        }
        Ok(latency)
    }

    /// Writes the tool's file.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let folder = dir.join("latency");
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let path = folder.join(format!("{}.json", self.tool));
        let unreadable = |error: serde_json::Error| Error::Unreadable {
            path: path.display().to_string(),
            reason: error.to_string(),
        };
        let text = serde_json::to_string(self).map_err(unreadable)?;
        fs::write(&path, text + "\n").map_err(Error::file(&path))
    }

    /// All files of a folder, by name; empty if there are none.
    pub fn read_all(dir: &Path) -> Result<Vec<Self>> {
        let Ok(entries) = fs::read_dir(dir.join("latency")) else { return Ok(Vec::new()) };
        let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        let read = |path: &std::path::PathBuf| {
            let text = fs::read_to_string(path).map_err(Error::file(path))?;
            serde_json::from_str(&text).map_err(|error| Error::Unreadable {
                path: path.display().to_string(),
                reason: error.to_string(),
            })
        };
        paths.iter().map(read).collect()
    }

    /// The median CPU seconds of an ask after `evaluations`.
    pub fn at(&self, evaluations: usize) -> Option<f64> {
        let size = self.sizes.iter().find(|size| size.evaluations == evaluations)?;
        (!size.seconds.is_empty()).then(|| size.median())
    }
}

impl Size {
    fn median(&self) -> f64 {
        let mut seconds = self.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        crate::summary::quantile(&seconds, 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_timed_and_the_file_is_read_back() {
        let settings = Settings::published().unwrap();
        let tool = settings.tools.iter().find(|tool| tool.name == "random").unwrap();
        let latency = Latency::measure(&settings, tool, &[20, 40], 10.0).unwrap();
        assert!(latency.at(20).unwrap() >= 0.0 && latency.at(40).is_some());
        assert_eq!(latency.at(30), None);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Latency::read_all(dir.path()).unwrap(), []);
        latency.write(dir.path()).unwrap();
        assert_eq!(Latency::read_all(dir.path()).unwrap(), [latency]);
    }
}
