//! TaskSet: the learning curves of 1,000 settings of Adam on each of eight text classifiers (Metz and others 2020).
//!
//! A file is a gzip CSV with a header and one row a configuration: eight hyper-parameters, the validation loss at checkpoints 0 to 50,
//! and the test loss at the last. An empty cell is a training that diverged. A configuration is one of the rows, so that the space is
//! finite; the fidelity is the number of checkpoints, from 1 to 51.
//!
//! ```text
//! score = (lowest validation loss seen - lowest of the table) / (median over rows of each row's lowest - lowest of the table)
//! ```

use wimble::space::{Configuration, Dimension, SearchSpace, Value};

use super::{Folder, Source};
use crate::error::{Error, Result};

/// Checkpoints of a whole training.
pub const CHECKPOINTS: usize = 51;

/// The hyper-parameters, in the order of the columns. Of the second and third, one minus the value is on a log scale.
const NAMES: [&str; 8] =
    ["learning_rate", "beta1", "beta2", "epsilon", "l1", "l2", "linear_decay", "exponential_decay"];

/// The tasks with the sums of their tables. The first four were looked at when methods were designed.
pub const TASKS: [(&str, &str); 8] = [
    ("gru128", "b0c1ae7770eb2fbb99c0d4cc809eb8715ebec879885de150734c8a5ba1c935dc"),
    ("gru64_avg", "6a6e2aa858acda26df2101915b3031879d4a3eaa174d335d12ed586b14f41d37"),
    ("irnn64_avg", "07b24a51727f3f833d9bcdfe392a04cac88c999f662cb2f6d781c3709c0d5be6"),
    ("lstm128", "5360d9942a53941e6712bb6b7875003fdc4a3771f6fe5eba290e5b6da40c296c"),
    ("lstm128_avg", "c4dfa05cd420010cfc4327e779692ac195338f6984703042ea036f77aa310492"),
    ("lstm128_short", "603278c9c52d5a9aa7178fdea76180ed509316d8019c03502925b4244dcdef64"),
    ("vrnn128_tanh", "ef0ea33b8c26cb2e6b04ae4f73c0c0d4b52e6dd74939a3889febb4da2644be49"),
    ("vrnn64_relu_avg", "ee3e4638ef71d4e1763ca854a4f31372dd91cd0232af7fa017fa951ae3a05800"),
];

/// How many of the tasks, from the first, are for tuning; the others are for the report only.
pub const TUNING: usize = 4;

/// The file of a task's table.
fn source(task: usize) -> Source {
    const PATHS: [&str; 8] = [
        "taskset/gru128.csv.gz",
        "taskset/gru64_avg.csv.gz",
        "taskset/irnn64_avg.csv.gz",
        "taskset/lstm128.csv.gz",
        "taskset/lstm128_avg.csv.gz",
        "taskset/lstm128_short.csv.gz",
        "taskset/vrnn128_tanh.csv.gz",
        "taskset/vrnn64_relu_avg.csv.gz",
    ];
    Source {
        path: PATHS[task],
        what: "TaskSet's learning curves of 1,000 settings of Adam on a text classifier",
        origin: "github.com/releaunifreiburg/DyHPO, data/taskset, written as CSV in the form that the module `data::taskset` \
                 describes",
        licence: "Apache-2.0 (TaskSet, Metz and others 2020)",
        sha256: TASKS[task].1,
    }
}

/// The curves of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    rows: Vec<Configuration>,
    /// By row: the losses up to the last checkpoint, or to where it diverged.
    curves: Vec<Vec<f64>>,
    lowest: f64,
    median: f64,
}

impl Table {
    /// Reads the table of a task.
    pub fn read(folder: &Folder, task: usize) -> Result<Self> {
        let source = source(task);
        let text = folder.read_text(&source)?;
        Self::parse(&text).map_err(|reason| folder.wrong(&source, reason))
    }

    /// Reads the table of the task of this name.
    pub fn named(folder: &Folder, name: &str) -> Result<Self> {
        let legal: Vec<&str> = TASKS.iter().map(|task| task.0).collect();
        match legal.iter().position(|task| *task == name) {
            Some(task) => Self::read(folder, task),
            None => Err(Error::unknown("task", name, &legal)),
        }
    }

    /// All of it for other programs: rows in the unit cube (each hyper-parameter on its log scale), their curves, and the two losses
    /// that scores are made of.
    pub fn json(&self) -> Result<serde_json::Value> {
        let space = self.space()?;
        let rows: Option<Vec<&[f64]>> = space.candidates().map(|all| all.rows().collect());
        Ok(serde_json::json!({
            "names": NAMES, "rows": rows, "curves": self.curves, "lowest": self.lowest, "median": self.median,
            "checkpoints": CHECKPOINTS,
        }))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let losses: Vec<String> = (0..CHECKPOINTS).map(|i| format!("valid_loss_{i}")).collect();
        let header = format!("{},{},test_loss_last", NAMES.join(","), losses.join(","));
        let mut lines = text.lines();
        if lines.next() != Some(header.as_str()) {
            return Err(format!("line 1 is not the header {header}"));
        }
        let (mut rows, mut curves) = (Vec::new(), Vec::new());
        for (index, line) in lines.enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != NAMES.len() + CHECKPOINTS + 1 {
                return Err(format!("line {}: {} cells instead of 60", index + 2, cells.len()));
            }
            let number = |cell: &str| {
                let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
                value.ok_or_else(|| format!("line {}: `{cell}` is no finite number", index + 2))
            };
            let mut values = Vec::with_capacity(NAMES.len());
            for (name, cell) in NAMES.iter().zip(&cells) {
                let value = number(cell)?;
                let value = if name.starts_with("beta") { 1.0 - value } else { value };
                values.push((*name, Value::Real(value)));
            }
            rows.push(values.into_iter().collect());
            let seen = cells[NAMES.len()..NAMES.len() + CHECKPOINTS].iter();
            let seen = seen.take_while(|cell| !cell.is_empty()).map(|cell| number(cell));
            curves.push(seen.collect::<Result<Vec<f64>, String>>()?);
        }
        let mut lows: Vec<f64> = curves
            .iter()
            .map(|curve: &Vec<f64>| curve.iter().copied().fold(f64::INFINITY, f64::min))
            .collect();
        lows.sort_by(f64::total_cmp);
        if lows.len() < 2 {
            return Err(format!("{} configurations", lows.len()));
        }
        let middle = lows.len() / 2;
        let median = match lows.len() % 2 {
            1 => lows[middle],
            _ => 0.5 * (lows[middle - 1] + lows[middle]),
        };
        if !(median > lows[0] && median.is_finite()) {
            return Err("more than half of the trainings are equal, or diverged at once".to_owned());
        }
        Ok(Self { rows, curves, lowest: lows[0], median })
    }

    /// The rows as a finite space, each hyper-parameter on its log scale between the extremes of the table.
    pub fn space(&self) -> Result<SearchSpace> {
        let dimension = |name: &&str| {
            let values = || self.rows.iter().filter_map(|row| row.real(name).ok());
            let low = values().fold(f64::INFINITY, f64::min);
            Dimension::log_real(*name, low, values().fold(low, f64::max))
        };
        Ok(SearchSpace::finite(NAMES.iter().map(dimension), self.rows.clone())?)
    }

    /// The losses of a row, up to where it diverged.
    pub fn curve(&self, row: usize) -> &[f64] {
        &self.curves[row]
    }

    /// The score of a lowest loss.
    pub fn score(&self, lowest: f64) -> f64 {
        (lowest - self.lowest) / (self.median - self.lowest)
    }

    /// How many configurations there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table of `rows` configurations whose curves fall to a loss that the first hyper-parameter decides; every seventh diverges.
    pub(crate) fn small(rows: usize) -> Table {
        let losses: Vec<String> = (0..CHECKPOINTS).map(|i| format!("valid_loss_{i}")).collect();
        let mut text = format!("{},{},test_loss_last\n", NAMES.join(","), losses.join(","));
        for row in 0..rows {
            let rate = 10_f64.powf(-1.0 - 4.0 * (row as f64 + 0.5) / rows as f64);
            let end = (rate.log10() + 3.3).abs();
            let other = 1e-3 * (1.0 + ((row * 7) % 11) as f64);
            text += &format!(
                "{rate},{},{},{other},{other},{other},{other},{other}",
                1.0 - other,
                1.0 - other
            );
            for i in 0..CHECKPOINTS {
                let loss = end + 2.0 / (1.0 + i as f64);
                match row % 7 == 6 && i > 4 {
                    true => text += ",",
                    false => text += &format!(",{loss}"),
                }
            }
            text += ",1\n";
        }
        Table::parse(&text).unwrap()
    }

    #[test]
    fn a_table_has_a_space_of_its_rows_and_scores_from_0_to_1() {
        let table = small(40);
        assert_eq!((table.len(), table.curve(6).len(), table.curve(0).len()), (40, 5, CHECKPOINTS));
        assert_eq!(table.space().unwrap().candidates().unwrap().len(), 40);
        let lows: Vec<f64> = (0..40)
            .map(|row| table.curve(row).iter().copied().fold(f64::INFINITY, f64::min))
            .collect();
        let scores: Vec<f64> = lows.iter().map(|low| table.score(*low)).collect();
        assert_eq!(scores.iter().copied().fold(f64::INFINITY, f64::min), 0.0);
        // Half of the rows on either side of the median; two may lie on it.
        let below = |bound: f64| scores.iter().filter(|score| **score < bound).count();
        assert!(below(1.0 - 1e-9) <= 20 && below(1.0 + 1e-9) >= 20, "{scores:?}");
        let json = table.json().unwrap();
        assert_eq!(json["rows"].as_array().unwrap().len(), 40);
        assert_eq!(json["curves"][6].as_array().unwrap().len(), 5);
        let error = Table::parse("a,b\n").unwrap_err();
        assert!(error.starts_with("line 1 is not the header learning_rate,"), "{error}");
    }

    #[test]
    fn the_published_tables_are_read() {
        let Some(folder) = crate::data::tests::real_data() else { return };
        for task in 0..TASKS.len() {
            let table = Table::read(&folder, task).unwrap();
            assert_eq!(table.len(), 1000);
            assert!(table.space().is_ok());
        }
    }
}
