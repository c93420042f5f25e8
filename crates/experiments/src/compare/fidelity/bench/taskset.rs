//! Tabulated curves: a configuration is a row.

use std::collections::HashMap;

use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};

use super::{Bench, Seen, Training};
use crate::data::taskset::{CHECKPOINTS, Table};
use crate::error::Result;

/// A table with its space.
pub(in super::super) struct Tabulated {
    table: Table,
    space: SearchSpace,
    /// The row of each encoded configuration.
    rows: HashMap<Vec<u64>, usize>,
}

impl Tabulated {
    pub(in super::super) fn new(table: Table) -> Result<Self> {
        let space = table.space()?;
        let all = space.candidates().map(|all| all.rows().map(bits).collect::<Vec<_>>());
        let rows =
            all.unwrap_or_default().into_iter().enumerate().map(|(row, x)| (x, row)).collect();
        Ok(Self { table, space, rows })
    }

    fn row(&self, configuration: &Configuration) -> Result<usize> {
        let x = self.space.encode(configuration)?;
        let row = self.rows.get(&bits(&x)).copied();
        Ok(row.unwrap_or_else(|| self.nearest(&x)))
    }

    /// The row whose encoding is nearest: a configuration may come back with other last bits.
    fn nearest(&self, x: &[f64]) -> usize {
        let Some(all) = self.space.candidates() else { return 0 };
        let distance =
            |row: &[f64]| -> f64 { row.iter().zip(x).map(|(a, b)| (a - b).powi(2)).sum() };
        let rows = all.rows().enumerate();
        rows.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or(0, |(row, _)| row)
    }
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|value| value.to_bits()).collect()
}

impl Bench for Tabulated {
    fn space(&self) -> &SearchSpace {
        &self.space
    }

    fn high(&self) -> usize {
        CHECKPOINTS
    }

    fn begin<'b>(
        &'b self,
        configuration: &Configuration,
        _: Seed,
    ) -> Result<Box<dyn Training + 'b>> {
        Ok(Box::new(Row { curve: self.table.curve(self.row(configuration)?), done: 0 }))
    }

    fn score(&self, seen: &Seen) -> Result<f64> {
        Ok(self.table.score(seen.lowest))
    }

    fn end(&self, configuration: &Configuration) -> Result<Option<f64>> {
        let curve = self.table.curve(self.row(configuration)?);
        Ok(Some(curve.get(CHECKPOINTS - 1).copied().unwrap_or(f64::INFINITY)))
    }
}

struct Row<'t> {
    curve: &'t [f64],
    done: usize,
}

impl Training for Row<'_> {
    fn next(&mut self) -> Result<Option<Vec<f64>>> {
        self.done += 1;
        Ok(self.curve.get(self.done - 1).map(|loss| vec![*loss]))
    }
}
