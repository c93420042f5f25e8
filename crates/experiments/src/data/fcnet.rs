//! FCNet: the validation error of every configuration of a two-layer network, tabulated (Klein and Hutter 2019).
//!
//! Nine hyper-parameters make 62,208 configurations; each was trained four times for 100 epochs. As in the experiments of
//! the original BORE, an observation is the error of one of the four trainings, at random, and the regret is its distance
//! from y*, the mean error of the configuration that does best on test data, which is not the least mean:
//!
//! ```text
//! regret = |y - y*|      true regret = mean of the four - least mean of the table      rank = configurations that are better
//! ```
//!
//! A file is a gzip CSV with a header and one row a configuration, in the order of the product of the value lists below,
//! the last one fastest: nine values, the number of weights, the mean error, the four errors (as f32), the time of training.
//!
//! Memory: 3.5 MB a table. A row out of its order, or a cell that is no number, is an error that names the line.

use serde::Deserialize;
use wimble::internals::below;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};

use super::sources::{FCNET_PARKINSONS, FCNET_SLICE};
use super::{Folder, Source};
use crate::error::{Error, Result};
use crate::objective::{Noise, Objective, Observation};

/// Trainings of a configuration.
const SEEDS: usize = 4;

/// A data set that the networks were trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dataset {
    /// Parkinson's telemonitoring (Tsanas and others 2009).
    Parkinsons,
    /// Localisation of CT slices (Graf and others 2011).
    Slice,
}

impl Dataset {
    /// The file of its table.
    pub fn source(self) -> Source {
        match self {
            Self::Parkinsons => FCNET_PARKINSONS,
            Self::Slice => FCNET_SLICE,
        }
    }
}

/// A hyper-parameter: its column and its values in the order of the rows.
struct Column {
    name: &'static str,
    values: Vec<Value>,
}

/// The hyper-parameters. Activations and schedules have no order; the other values are levels, whose ratios are equal or
/// nearly so.
fn columns() -> Vec<Column> {
    let texts = |name, values: &[&str]| Column {
        name,
        values: values.iter().map(|&value| Value::from(value)).collect(),
    };
    let reals = |name, values: &[f64]| Column {
        name,
        values: values.iter().map(|&value| Value::from(value)).collect(),
    };
    let integers = |name, values: &[i64]| Column {
        name,
        values: values.iter().map(|&value| Value::from(value)).collect(),
    };
    let units = [16, 32, 64, 128, 256, 512];
    vec![
        texts("activation_fn_1", &["relu", "tanh"]),
        texts("activation_fn_2", &["relu", "tanh"]),
        integers("batch_size", &[8, 16, 32, 64]),
        reals("dropout_1", &[0.0, 0.3, 0.6]),
        reals("dropout_2", &[0.0, 0.3, 0.6]),
        reals("init_lr", &[5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1]),
        texts("lr_schedule", &["cosine", "const"]),
        integers("n_units_1", &units),
        integers("n_units_2", &units),
    ]
}

/// The space of the nine hyper-parameters.
pub fn space() -> Result<SearchSpace> {
    let dimension = |column: Column| match column.values[0] {
        Value::Text(_) => Dimension::categorical(column.name, column.values),
        _ => Dimension::ordinal(column.name, column.values),
    };
    Ok(SearchSpace::new(columns().into_iter().map(dimension))?)
}

/// A table as an objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// By configuration: the errors of its trainings.
    errors: Vec<[f32; SEEDS]>,
    /// By configuration: their mean.
    means: Vec<f64>,
    /// By configuration: the number of weights, and the seconds of a training.
    costs: Vec<[f64; 2]>,
    /// The means from the least to the greatest.
    sorted: Vec<f64>,
    /// y*, the optimum that regret is measured from.
    optimum: f64,
}

impl Table {
    /// Reads the table of a data set; `optimum` is y*.
    pub fn read(folder: &Folder, dataset: Dataset, optimum: f64) -> Result<Self> {
        let source = dataset.source();
        let text = folder.read_text(&source)?;
        Self::parse(&text, optimum).map_err(|reason| folder.wrong(&source, reason))
    }

    fn parse(text: &str, optimum: f64) -> Result<Self, String> {
        let columns = columns();
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let errors: Vec<String> = (0..SEEDS).map(|seed| format!("valid_mse_{seed}")).collect();
        let header = format!(
            "{},n_params,valid_mse_mean,{},runtime_mean_s",
            names.join(","),
            errors.join(",")
        );
        let mut lines = text.lines();
        if lines.next() != Some(header.as_str()) {
            return Err(format!("line 1 is not the header {header}"));
        }
        let total: usize = columns.iter().map(|column| column.values.len()).product();
        let mut table = Self {
            errors: Vec::new(),
            means: Vec::new(),
            costs: Vec::new(),
            sorted: Vec::new(),
            optimum,
        };
        for (index, line) in lines.enumerate() {
            let wrong = |reason: &str| format!("line {}: {reason}", index + 2);
            if index >= total {
                return Err(wrong(&format!("more than {total} configurations")));
            }
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != columns.len() + 3 + SEEDS {
                return Err(wrong(&format!("{} cells instead of 16", cells.len())));
            }
            let mut rest = index;
            for (column, cell) in columns.iter().zip(&cells).rev() {
                let expected = &column.values[rest % column.values.len()];
                rest /= column.values.len();
                if !says(cell, expected) {
                    let reason = format!("{} is {cell} instead of {expected}", column.name);
                    return Err(wrong(&reason));
                }
            }
            let number = |cell: &str| {
                let value = cell.parse::<f32>().ok().filter(|value| value.is_finite());
                value.ok_or_else(|| wrong(&format!("{cell} is no finite number")))
            };
            let mut errors = [0.0; SEEDS];
            for (error, cell) in errors.iter_mut().zip(&cells[columns.len() + 2..]) {
                *error = number(cell)?;
            }
            table.means.push(errors.iter().copied().map(f64::from).sum::<f64>() / SEEDS as f64);
            table.errors.push(errors);
            let (weights, seconds) = (cells[columns.len()], cells[columns.len() + 2 + SEEDS]);
            table.costs.push([f64::from(number(weights)?), f64::from(number(seconds)?)]);
        }
        if table.errors.len() != total {
            return Err(format!("{} configurations instead of {total}", table.errors.len()));
        }
        table.sorted.clone_from(&table.means);
        table.sorted.sort_by(f64::total_cmp);
        Ok(table)
    }

    /// The least mean error.
    pub fn least(&self) -> f64 {
        self.sorted[0]
    }

    /// The mean error of a configuration, its number of weights and the seconds of a training: three objectives.
    pub fn costs(&self, configuration: &Configuration) -> Result<[f64; 3]> {
        Ok(self.cost(Self::index(configuration)?))
    }

    /// [`Self::costs`] of every configuration.
    pub fn all_costs(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        (0..self.means.len()).map(|index| self.cost(index))
    }

    fn cost(&self, index: usize) -> [f64; 3] {
        let [weights, seconds] = self.costs[index];
        [self.means[index], weights, seconds]
    }

    /// The row of a configuration.
    fn index(configuration: &Configuration) -> Result<usize> {
        columns().iter().try_fold(0, |index, column| {
            let value = configuration.get(column.name);
            let level = column.values.iter().position(|level| Some(level) == value);
            let level = level.ok_or_else(|| {
                Error::Engine(wimble::Error::MissingValue {
                    dimension: column.name.to_owned(),
                    allowed: "one of the levels of the table".to_owned(),
                })
            })?;
            Ok(index * column.values.len() + level)
        })
    }
}

impl Objective for Table {
    fn space(&self) -> Result<SearchSpace> {
        space()
    }

    fn observe(&self, configuration: &Configuration, noise: Noise) -> Result<Observation> {
        let index = Self::index(configuration)?;
        let told = f64::from(self.errors[index][below(&mut noise.stream(), SEEDS)]);
        let mean = self.means[index];
        let better = self.sorted.partition_point(|&other| other < mean);
        let others = vec![
            ("best_value", told),
            ("true_regret", mean - self.least()),
            ("rank", better as f64),
        ];
        Ok(Observation { told, regret: (told - self.optimum).abs(), others })
    }
}

fn says(cell: &str, value: &Value) -> bool {
    match value {
        Value::Text(text) => cell == text,
        value => cell.parse().ok() == value.as_real(),
    }
}

#[cfg(test)]
mod tests {
    use wimble::seed::Seed;

    use super::*;
    use crate::data::tests::real_data;

    /// A table whose errors follow from the row's number.
    fn made() -> String {
        let columns = columns();
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let mut text = format!(
            "{},n_params,valid_mse_mean,valid_mse_0,valid_mse_1,valid_mse_2,valid_mse_3,runtime_mean_s\n",
            names.join(",")
        );
        for index in 0..62_208 {
            let (mut rest, mut cells) = (index, Vec::new());
            for column in columns.iter().rev() {
                cells.push(column.values[rest % column.values.len()].to_string());
                rest /= column.values.len();
            }
            cells.reverse();
            let base = 1 + (index * 7919) % 62_208;
            text += &format!("{},9,0,{base},{base},{base},{},1\n", cells.join(","), base + 4);
        }
        text
    }

    #[test]
    fn a_made_table_is_read_and_observed_and_a_wrong_one_refused() {
        let text = made();
        let table = Table::parse(&text, 5.0).unwrap();
        assert_eq!(table.least(), 2.0);
        let space = table.space().unwrap();
        assert_eq!(space.cardinality(), Some(62_208));
        let mut rng = Seed(1).stream("test", 0);
        for number in 0..50 {
            let configuration = space.decode(&space.sample(&mut rng));
            let index = Table::index(&configuration).unwrap();
            let base = (1 + (index * 7919) % 62_208) as f64;
            let seen = table.observe(&configuration, Noise { seed: Seed(1), number }).unwrap();
            assert!(seen.told == base || seen.told == base + 4.0);
            assert_eq!(seen.regret, (seen.told - 5.0).abs());
            assert_eq!(seen.others[1], ("true_regret", base - 1.0));
            assert_eq!(seen.others[2], ("rank", base - 1.0));
            assert_eq!(table.costs(&configuration).unwrap(), [base + 1.0, 9.0, 1.0]);
        }
        let refused = |text: &str| Table::parse(text, 0.0).unwrap_err();
        assert!(refused("a,b\n").contains("line 1 is not the header"));
        assert!(refused(&text[..text.len() - 20]).contains("line 62209"));
        let short: String = text.lines().take(10).map(|line| format!("{line}\n")).collect();
        assert!(refused(&short).contains("9 configurations instead of 62208"));
        let swapped = text.replacen("relu,relu,8,0.0,0.0,0.0005", "relu,tanh,8,0.0,0.0,0.0005", 1);
        assert!(refused(&swapped).contains("line 2: activation_fn_2 is tanh instead of relu"));
        let broken = text.replacen(",9,0,1,", ",9,0,none,", 1);
        assert!(refused(&broken).contains("none is no finite number"), "{}", refused(&broken));
    }

    #[test]
    fn the_real_tables_have_their_published_minima() {
        let Some(folder) = real_data() else { return };
        for (dataset, least) in [
            (Dataset::Parkinsons, 0.006_705_928_011_797_368_5),
            (Dataset::Slice, 0.000_191_599_163_372_302_43),
        ] {
            let table = Table::read(&folder, dataset, 0.0).unwrap();
            assert!((table.least() - least).abs() < 1e-12, "{}", table.least());
        }
    }
}
