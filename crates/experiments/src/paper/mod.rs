//! The paper's figures: what is run for each, and the page that sets the results beside the paper's claims.
//!
//! ```text
//! Plan (an Experiment) ── run ──▶ DIR/records/<figure>/<problem>__<method>__<trial>.jsonl
//! summarise ──▶ DIR/summary.csv, DIR/<figure>.md        draw ──▶ DIR/<figure>.svg
//! ```

pub mod claim;
mod contrast;
mod drawing;
mod figure;
pub mod page;
mod peer;
pub mod settings;
pub mod theory;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use wimble::seed::Seed;

pub use figure::Figure;
pub use peer::PeerTrial;
pub use settings::{Changes, Settings};
use settings::{Method, Subject};
use theory::TheoryTrial;

use crate::data::Folder;
use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::record::{Key, Records, Start};
use crate::run::{Experiment, Planned, Work};
use crate::summary;

/// The number of the first observation's noise in the figures; see [`crate::oracle::Oracle::new`].
const FIRST_NOISE: u64 = 1;

/// How a figure is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The figure.
    pub figure: Figure,
    /// Its settings.
    pub settings: Settings,
    /// The seed; trial i of every method has the same instance, initial points and noise.
    pub seed: u64,
}

impl Experiment for Plan {
    fn trials(&self) -> Result<Vec<Planned>> {
        let Settings { methods, problems, .. } = &self.settings;
        let most = problems.iter().filter_map(|subject| subject.trials).max();
        let mut trials = Vec::new();
        for number in 0..self.settings.trials.max(most.unwrap_or(0)) {
            for subject in problems {
                for method in methods {
                    if number < self.settings.trials_of(method, subject) {
                        trials.push(self.trial(method, subject, number)?);
                    }
                }
            }
        }
        Ok(trials)
    }

    fn objective(&self, problem: &str, data: &Folder) -> Result<Arc<dyn Objective>> {
        self.settings.problem(problem)?.objective(self.settings.noise_variance, data)
    }
}

impl Plan {
    fn trial(&self, method: &Method, subject: &Subject, number: usize) -> Result<Planned> {
        let Settings { batch_size, initial, noise_variance, theory, .. } = self.settings;
        let work = match (method.spec(subject)?, method.theory, theory) {
            (Some(spec), ..) => Work::Search {
                spec: Box::new(spec),
                without: Vec::new(),
                initial,
                first_noise: FIRST_NOISE,
                checkpoints: Vec::new(),
            },
            (None, Some(method), Some(theory)) => {
                Work::Theory(TheoryTrial { method, theory, initial, noise_variance })
            }
            _ => {
                let reason = format!("{} has neither a spec nor a theory", method.name);
                return Err(Error::Unreadable { path: "settings".to_owned(), reason });
            }
        };
        Ok(Planned {
            start: self.start(method, subject, number)?,
            seed: self.seed_of(number),
            batch_size: match work {
                Work::Theory(_) => 1,
                _ => method.batch_size.unwrap_or(batch_size),
            },
            time_limit: method.time_limit,
            work,
        })
    }

    /// The first line of a trial's record.
    fn start(&self, method: &Method, subject: &Subject, number: usize) -> Result<Start> {
        Ok(Start {
            key: Key {
                figure: self.figure.name().to_owned(),
                problem: subject.name.clone(),
                method: method.name.clone(),
                trial: number,
            },
            seed: self.seed,
            rounds: self.settings.rounds_on(subject),
            settings: self.identity(method, subject)?,
        })
    }

    /// The seed of a trial: its number in the upper half, so that neighbouring seeds share no trial.
    fn seed_of(&self, number: usize) -> Seed {
        Seed(self.seed ^ ((number as u64) << 32))
    }

    /// All that decides a trial's records besides seed and rounds, in words.
    fn identity(&self, method: &Method, subject: &Subject) -> Result<String> {
        let Settings { batch_size, initial, noise_variance, theory, .. } = &self.settings;
        let batch_size = method.batch_size.unwrap_or(*batch_size);
        let mut words = format!(
            "{}; batches of {batch_size}, {initial} initial, noise variance {noise_variance}",
            method.identity(subject)?
        );
        if let Some(theory) = theory {
            words += &format!("; {theory:?}");
        }
        if let Some(limit) = method.time_limit {
            words += &format!("; at most {limit} s");
        }
        Ok(words)
    }
}

/// What summarising found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summarised {
    /// Figures with records.
    pub figures: Vec<Figure>,
    /// Lines of records that could not be read.
    pub corrupt_lines: usize,
    /// Trials begun and not ended.
    pub open_trials: usize,
}

/// Writes `summary.csv` and one page a figure from the records under `dir`.
pub fn summarise(dir: &Path) -> Result<Summarised> {
    let mut summarised = Summarised::default();
    let mut table = Vec::new();
    for figure in Figure::ALL {
        let records = Records::read(dir, figure.name())?;
        summarised.corrupt_lines += records.corrupt_lines;
        summarised.open_trials += records.trials.len() - records.ended();
        if records.trials.is_empty() {
            continue;
        }
        summarised.figures.push(figure);
        let rows = summary::rows(figure.name(), &records);
        let page = page::page(dir, figure, &figure.settings()?, &records, &rows);
        let path = dir.join(format!("{figure}.md"));
        fs::write(&path, page).map_err(Error::file(&path))?;
        table.extend(rows);
    }
    if summarised.figures.is_empty() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no records",
            remedy: "run a figure into it first, such as `wimble-lab paper fig1 --quick --out` with this folder",
        });
    }
    summary::write(&dir.join("summary.csv"), &table)?;
    Ok(summarised)
}

/// Draws every figure of `summary.csv` in `dir`; the paths written.
pub fn draw(dir: &Path) -> Result<Vec<PathBuf>> {
    let path = dir.join("summary.csv");
    if !path.is_file() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no summary.csv",
            remedy: "make it first with `wimble-lab paper summarise` and this folder",
        });
    }
    let rows = summary::read(&path)?;
    let mut written = Vec::new();
    for figure in Figure::ALL {
        if rows.iter().any(|row| row.figure == figure.name()) {
            let chart = drawing::chart(figure, &figure.settings()?, &rows);
            written.push(chart.write(&dir.join(format!("{figure}.svg")))?);
        }
    }
    Ok(written)
}
