//! Training runs: networks over the space, and the table of their errors.
//!
//! Run i trains the i-th point of a scrambled Sobol sequence with weights, order and dropout of its own seed, so that a
//! table can be made longer without a change to its beginning. The budget is part of the table: a comment in its first
//! line says what was trained on what, and a table of another budget or seed is refused.
//!
//! Rows are appended as networks end and put in order at the end; a table that was cut short is taken up where it ends.
//! Cost: some tenths of a second to some seconds a network, one thread each.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Mutex;

use wimble::goal::Direction;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::strategy::Sobol;

use super::images::Images;
use super::network::{Split, validation_error};
use super::space::{HyperParameters, space};
use crate::error::{Error, Result};
use crate::parallel;

/// The table's columns.
pub const HEADER: &str =
    "run,learning_rate,batch_size,dropout,final_fraction,layers,units,validation_error";

/// What each network is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Which images.
    pub split: Split,
    /// How often they are visited.
    pub epochs: usize,
    /// The seed of the points and of the networks.
    pub seed: u64,
}

impl Budget {
    /// The one of the table in this repository: the first 10,000 images for training, the last 5,000 of the same file for
    /// validation, five epochs.
    pub fn small(seed: u64) -> Self {
        Self { split: Split { training: 0..10_000, validation: 55_000..60_000 }, epochs: 5, seed }
    }

    /// The first line of a table.
    fn comment(&self) -> String {
        let Self { split: Split { training, validation }, epochs, seed } = self;
        format!(
            "# made by wimble: networks trained on images {}..{} of MNIST's training file for {epochs} epochs of Adam, \
             error on images {}..{}; seed {seed}",
            training.start, training.end, validation.start, validation.end
        )
    }
}

/// A row: what was trained, and its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The hyper-parameters.
    pub chosen: HyperParameters,
    /// The share of validation images that it gets wrong.
    pub error: f64,
}

/// What making a table did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Made {
    /// Networks trained now.
    pub trained: usize,
    /// Rows that were there already.
    pub found: usize,
}

/// The table of this repository.
pub fn published() -> Result<Vec<Run>> {
    const PATH: &str = "data/mnist-runs.csv";
    let table = parse(include_str!("../../data/mnist-runs.csv"));
    let table = table.map_err(|reason| Error::Unreadable { path: PATH.to_owned(), reason })?;
    Ok(table.rows.into_values().collect())
}

/// Trains the first `count` networks that `path` does not have yet; `progress` is told how many it has.
pub fn make(
    images: &Images,
    budget: &Budget,
    path: &Path,
    count: usize,
    jobs: usize,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Made> {
    for (field, value) in [("jobs", jobs), ("count", count)] {
        if value == 0 {
            return Err(Error::Invalid { field, value: "0".to_owned(), allowed: "at least 1" });
        }
    }
    let unreadable =
        |reason: String| Error::Unreadable { path: path.display().to_string(), reason };
    let table = match fs::read_to_string(path) {
        Ok(text) => parse(&text).map_err(unreadable)?,
        Err(error) if error.kind() == ErrorKind::NotFound => Table::default(),
        Err(error) => return Err(Error::file(path)(error)),
    };
    if table.comment.as_ref().is_some_and(|comment| *comment != budget.comment()) {
        let remedy = "remove it, or give another file with --out";
        let there = table.comment.unwrap_or_default();
        return Err(unreadable(format!("it is of another budget or seed ({there}); {remedy}")));
    }
    // Written anew, so that a row cut short is not continued in the middle.
    fs::write(path, table.text(budget)).map_err(Error::file(path))?;
    let file = OpenOptions::new().append(true).open(path).map_err(Error::file(path))?;
    let file = Mutex::new((file, table.rows.clone()));

    let points = points(budget.seed, count)?;
    let open: Vec<usize> = (0..count).filter(|run| !table.rows.contains_key(run)).collect();
    let found = count - open.len();
    let train = |run: usize| -> Result<()> {
        let chosen = points[run];
        let seed = Seed(budget.seed ^ ((run as u64 + 1) << 32));
        let error = validation_error(&chosen, images, &budget.split, budget.epochs, seed)?;
        let row = Run { chosen, error };
        if let Ok(mut file) = file.lock() {
            file.0.write_all(line(run, &row).as_bytes()).map_err(Error::file(path))?;
            file.1.insert(run, row);
        }
        Ok(())
    };
    parallel::each(&open, jobs, found, progress, |&run| train(run))?;
    if let Ok((_, rows)) = file.into_inner() {
        let table = Table { comment: None, rows };
        fs::write(path, table.text(budget)).map_err(Error::file(path))?;
    }
    Ok(Made { trained: open.len(), found })
}

/// The first `count` points of the sequence.
fn points(seed: u64, count: usize) -> Result<Vec<HyperParameters>> {
    let mut session = Session::new(space()?, Sobol {}, Direction::Minimise, Seed(seed))?;
    let trials = session.ask(count)?;
    trials.iter().map(|trial| HyperParameters::from_configuration(&trial.configuration)).collect()
}

#[derive(Default)]
struct Table {
    comment: Option<String>,
    rows: BTreeMap<usize, Run>,
}

impl Table {
    fn text(&self, budget: &Budget) -> String {
        let rows = self.rows.iter().map(|(&run, row)| line(run, row));
        format!("{}\n{HEADER}\n{}", budget.comment(), rows.collect::<String>())
    }
}

fn line(run: usize, row: &Run) -> String {
    let HyperParameters { learning_rate, batch_size, dropout, final_fraction, layers, units } =
        row.chosen;
    let error = row.error;
    format!(
        "{run},{learning_rate},{batch_size},{dropout},{final_fraction},{layers},{units},{error}\n"
    )
}

/// The rows of a table, or what is wrong with it. A last row without its end is left out.
fn parse(text: &str) -> Result<Table, String> {
    let (mut comment, mut rows) = (None, BTreeMap::new());
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, text) in whole.lines().enumerate() {
        if text.starts_with('#') {
            comment = Some(text.to_owned());
            continue;
        }
        if text == HEADER {
            continue;
        }
        let cells: Vec<f64> = text.split(',').filter_map(|cell| cell.parse().ok()).collect();
        let [run, learning_rate, batch_size, dropout, final_fraction, layers, units, error] =
            cells[..]
        else {
            return Err(format!("line {}: eight numbers expected, not `{text}`", number + 1));
        };
        let chosen = HyperParameters {
            learning_rate,
            batch_size: batch_size as usize,
            dropout,
            final_fraction,
            layers: layers as usize,
            units: units as usize,
        };
        if !(0.0..=1.0).contains(&error) {
            return Err(format!("line {}: the error {error} is no share", number + 1));
        }
        rows.insert(run as usize, Run { chosen, error });
    }
    Ok(Table { comment, rows })
}

#[cfg(test)]
mod tests {
    use wimble::internals::{below, uniform};

    use super::super::images::{CLASSES, PIXELS};
    use super::*;

    fn noise(count: usize) -> Images {
        let mut rng = Seed(3).stream("noise", 0);
        let labels = (0..count).map(|_| below(&mut rng, CLASSES) as u8).collect();
        let pixels = (0..count * PIXELS).map(|_| uniform(&mut rng) as f32).collect();
        Images::new(pixels, labels)
    }

    fn budget(epochs: usize) -> Budget {
        Budget { split: Split { training: 0..16, validation: 16..26 }, epochs, seed: 5 }
    }

    #[test]
    fn a_table_goes_on_where_it_was_cut_and_is_the_same_on_any_number_of_threads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.csv");
        let images = noise(26);
        let make = |count, jobs| make(&images, &budget(1), &path, count, jobs, &|_| ());
        assert_eq!(make(4, 1).unwrap(), Made { trained: 4, found: 0 });
        let short = fs::read_to_string(&path).unwrap();
        assert_eq!(make(6, 2).unwrap(), Made { trained: 2, found: 4 });
        let long = fs::read_to_string(&path).unwrap();
        assert!(long.starts_with(&short) && parse(&long).unwrap().rows.len() == 6);
        // Cut in the middle of a row.
        fs::write(&path, &long[..long.len() - 9]).unwrap();
        assert_eq!(make(6, 1).unwrap(), Made { trained: 1, found: 5 });
        assert_eq!(fs::read_to_string(&path).unwrap(), long);
        assert!(make(0, 1).unwrap_err().to_string().contains("count is 0"));
    }

    #[test]
    fn a_table_of_another_budget_or_with_wrong_rows_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.csv");
        let images = noise(26);
        make(&images, &budget(1), &path, 1, 1, &|_| ()).unwrap();
        let error = make(&images, &budget(2), &path, 1, 1, &|_| ()).unwrap_err().to_string();
        assert!(error.contains("another budget") && error.contains("1 epochs"), "{error}");
        fs::write(&path, "0,1,2,x\n").unwrap();
        let error = make(&images, &budget(1), &path, 1, 1, &|_| ()).unwrap_err().to_string();
        assert!(error.contains("line 1: eight numbers expected"), "{error}");
    }
}
