//! What running an experiment takes on the command line, and how far it is.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::de::DeserializeOwned;
use wimble_experiments::data::Folder;
use wimble_experiments::{Experiment, Place};

/// Where data are.
#[derive(Args)]
pub struct Data {
    /// The folder with other people's data (racing lines, FCNet tables, LCBench, MNIST), which are not part of wimble.
    /// A file that is missing is named with its source
    #[arg(long = "data", value_name = "DIR", env = "WIMBLE_DATA", default_value = "data")]
    path: PathBuf,
}

impl Data {
    /// The folder.
    pub fn folder(&self) -> Folder {
        Folder::new(&self.path)
    }
}

/// How many threads.
#[derive(Args)]
pub struct Jobs {
    /// Trials (or networks) to run at the same time [default: one a core]
    #[arg(long)]
    jobs: Option<usize>,
}

impl Jobs {
    /// As given, or one a core.
    pub fn count(&self) -> usize {
        self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Where the records of a comparison are written, and by how many threads.
#[derive(Args)]
pub struct Records {
    /// Where to write records; a run that was stopped resumes from there
    #[arg(long, value_name = "DIR", default_value = "compare-results")]
    pub out: PathBuf,
    #[command(flatten)]
    pub jobs: Jobs,
}

impl Records {
    /// As experiments take it.
    pub fn place<'a>(&'a self, data: &'a Folder) -> Place<'a> {
        Place { dir: &self.out, jobs: self.jobs.count(), data }
    }
}

/// A folder of results.
#[derive(Args)]
pub struct Results {
    /// The folder of the records: what was given to --out
    pub dir: PathBuf,
}

/// Runs an experiment with a progress bar, and says what was done.
pub fn run(experiment: &dyn Experiment, name: &str, place: &Place<'_>) -> Result<()> {
    let bar = bar(experiment.trials()?.len(), name, "trial")?;
    let done = wimble_experiments::run(experiment, place, &|ended| bar.set_position(ended as u64));
    bar.finish_and_clear();
    let done = done?;
    let mut out = std::io::stdout().lock();
    let (computed, found, dir) = (done.computed, done.found, place.dir.display());
    writeln!(out, "{name}: {computed} trials run, {found} found in {dir}")?;
    if done.corrupt_lines > 0 {
        let lines = done.corrupt_lines;
        writeln!(out, "{lines} lines of records could not be read; their trials were run again")?;
    }
    Ok(())
}

/// A progress bar on standard error.
pub fn bar(length: usize, name: &str, unit: &str) -> Result<ProgressBar> {
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(&format!(
        "{{msg}} {{bar:30}} {unit} {{pos}}/{{len}}  {{elapsed}}  {{eta}} left"
    ))?);
    bar.set_message(name.to_owned());
    Ok(bar)
}

/// Prints the paths of the files written.
pub fn list(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for path in paths {
        writeln!(out, "{}", path.as_ref().display())?;
    }
    Ok(())
}

/// Answers each line of standard input, a point that must be `wanted`, with a line of its own.
pub fn answer<P: DeserializeOwned>(
    wanted: &str,
    mut answer: impl FnMut(P) -> Result<String>,
) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let number = number + 1;
        let point = serde_json::from_str(&line?)
            .with_context(|| format!("line {number} must be {wanted}"))?;
        writeln!(out, "{}", answer(point).with_context(|| format!("line {number}"))?)?;
        // The other side waits for this line before it writes the next.
        out.flush()?;
    }
    Ok(())
}
