//! From records to a table: `summary.csv`, one row a figure, problem, method, round and metric.
//!
//! The 95 % interval is a percentile bootstrap of the mean over the trials: 1,000 resamples from a fixed stream, so that
//! the same records give the same table. It stays positive for positive values, as a log axis needs. With few trials it is
//! narrower than it should be. A round counts those trials that reached it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wimble::internals::below;
use wimble::seed::Seed;

use crate::error::{Error, Result};
use crate::record::{Records, Trial};

/// The first line of the table.
pub const HEADER: &str =
    "figure,problem,method,trials,round,evaluations,metric,mean,median,lower95,upper95";

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Row {
    pub figure: String,
    pub problem: String,
    pub method: String,
    pub trials: usize,
    pub round: usize,
    pub evaluations: usize,
    pub metric: String,
    pub mean: f64,
    pub median: f64,
    pub lower95: f64,
    pub upper95: f64,
}

const RESAMPLES: usize = 1000;

/// The rows of a figure.
pub fn rows(figure: &str, records: &Records) -> Vec<Row> {
    let mut groups: BTreeMap<(&str, &str), Vec<&Trial>> = BTreeMap::new();
    for (key, trial) in &records.trials {
        groups.entry((&key.problem, &key.method)).or_default().push(trial);
    }
    let mut rows = Vec::new();
    for ((problem, method), trials) in groups {
        // By metric and round: evaluations, and one value a trial.
        let mut cells: BTreeMap<(&str, usize), (usize, Vec<f64>)> = BTreeMap::new();
        for round in trials.iter().flat_map(|trial| &trial.rounds) {
            for (metric, &value) in &round.metrics {
                let cell = cells.entry((metric, round.round)).or_default();
                cell.0 = round.evaluations;
                cell.1.push(value);
            }
        }
        for ((metric, round), (evaluations, mut values)) in cells {
            let (lower95, upper95) = interval(&values);
            values.sort_by(f64::total_cmp);
            rows.push(Row {
                figure: figure.to_owned(),
                problem: problem.to_owned(),
                method: method.to_owned(),
                trials: values.len(),
                round,
                evaluations,
                metric: metric.to_owned(),
                mean: mean(&values),
                median: quantile(&values, 0.5),
                lower95,
                upper95,
            });
        }
    }
    rows
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of sorted values, interpolated.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (place - place.floor()) * (above - below)
}

/// The 95 % percentile bootstrap interval of the mean.
pub(crate) fn interval(values: &[f64]) -> (f64, f64) {
    let mut rng = Seed(0).stream("bootstrap", values.len() as u64);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draws = (0..values.len()).map(|_| values[below(&mut rng, values.len())]);
            draws.sum::<f64>() / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    (quantile(&means, 0.025), quantile(&means, 0.975))
}

/// Three digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || (1e-2..1e4).contains(&value.abs()) {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// Writes the table.
pub fn write(path: &Path, rows: &[Row]) -> Result<()> {
    let mut text = String::from(HEADER);
    text.push('\n');
    for row in rows {
        let Row { figure, problem, method, trials, round, evaluations, metric, .. } = row;
        text += &format!(
            "{figure},{problem},{method},{trials},{round},{evaluations},{metric},{},{},{},{}\n",
            row.mean, row.median, row.lower95, row.upper95
        );
    }
    fs::write(path, text).map_err(Error::file(path))
}

/// Reads the table.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let text = fs::read_to_string(path).map_err(Error::file(path))?;
    let wrong = |line: usize, reason: &str| Error::Unreadable {
        path: path.display().to_string(),
        reason: format!("line {}: {reason}", line + 1),
    };
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, header)| header != HEADER) {
        return Err(wrong(0, &format!("the header must be {HEADER}")));
    }
    lines
        .map(|(number, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let [
                figure,
                problem,
                method,
                trials,
                round,
                evaluations,
                metric,
                mean,
                median,
                low,
                high,
            ] = cells[..]
            else {
                return Err(wrong(number, &format!("11 cells expected, not {}", cells.len())));
            };
            let count = |cell: &str| {
                cell.parse().map_err(|_| wrong(number, &format!("`{cell}` is no whole number")))
            };
            let real = |cell: &str| {
                cell.parse().map_err(|_| wrong(number, &format!("`{cell}` is no number")))
            };
            Ok(Row {
                figure: figure.to_owned(),
                problem: problem.to_owned(),
                method: method.to_owned(),
                trials: count(trials)?,
                round: count(round)?,
                evaluations: count(evaluations)?,
                metric: metric.to_owned(),
                mean: real(mean)?,
                median: real(median)?,
                lower95: real(low)?,
                upper95: real(high)?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_mean_and_narrows_to_a_constant() {
        assert_eq!(interval(&[2.0; 5]), (2.0, 2.0));
        let values = [1.0, 2.0, 3.0, 4.0, 10.0];
        let (lower, upper) = interval(&values);
        assert!(1.0 < lower && lower < mean(&values) && mean(&values) < upper && upper < 10.0);
        assert_eq!(quantile(&values, 0.5), 3.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
    }
}
