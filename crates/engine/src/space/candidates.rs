//! A finite set of configurations as a domain of its own.
//!
//! The configurations are kept as the user wrote them and handed back unchanged, whatever the grid of a
//! real dimension would make of them. Cost: O(1) for a point that is a candidate's, otherwise O(n · d).

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::configuration::Configuration;
use super::dimension::Dimension;
use super::fingerprint::{Fingerprint, Pass};
use super::layout::Layout;
use super::unit;
use crate::error::{Error, Result};
use crate::points::{Points, squared_distance};

/// The candidates, as written and as points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidates {
    pub(super) configurations: Vec<Configuration>,
    points: Points,
    indices: HashMap<Fingerprint, usize, BuildHasherDefault<Pass>>,
}

impl Candidates {
    /// Refuses an empty set, a configuration that is not one of the space's, and the same one twice.
    pub(super) fn new(
        layout: &Layout,
        dimensions: &[Dimension],
        configurations: Vec<Configuration>,
    ) -> Result<Self> {
        if configurations.is_empty() {
            return Err(Error::invalid("candidates", "[]", "at least one configuration"));
        }
        let mut points = Points::with_capacity(layout.dim(), configurations.len());
        let mut indices =
            HashMap::with_capacity_and_hasher(configurations.len(), BuildHasherDefault::default());
        for (i, configuration) in configurations.iter().enumerate() {
            let x = layout.encode(dimensions, configuration).map_err(|error| locate(i, error))?;
            if let Some(first) = indices.insert(Fingerprint::of(&x), i) {
                let allowed = format!(
                    "different from candidates[{first}] by more than the resolution of the real dimensions"
                );
                return Err(Error::invalid(format!("candidates[{i}]"), configuration, allowed));
            }
            points.push(&x);
        }
        Ok(Self { configurations, points, indices })
    }

    pub(super) fn len(&self) -> usize {
        self.configurations.len()
    }

    pub(super) fn points(&self) -> &Points {
        &self.points
    }

    /// The candidate whose point this is.
    pub(super) fn find(&self, x: &[f64]) -> Option<usize> {
        self.indices.get(&Fingerprint::of(x)).copied()
    }

    /// The candidate at `x`, or the nearest; the first on ties.
    pub(super) fn nearest(&self, x: &[f64]) -> usize {
        if let Some(index) = self.find(x) {
            return index;
        }
        let x: Vec<f64> = x.iter().map(|&u| unit(u)).collect();
        let mut best = (0, f64::INFINITY);
        for (i, row) in self.points.rows().enumerate() {
            let distance = squared_distance(&x, row);
            if distance < best.1 {
                best = (i, distance);
            }
        }
        best.0
    }

    /// The `few` candidates nearest to candidate `index`, without itself, nearest first.
    pub(super) fn nearest_others(&self, index: usize, few: usize) -> Vec<usize> {
        let x = self.points.row(index);
        let mut nearest: Vec<(f64, usize)> = Vec::with_capacity(few + 1);
        for (i, row) in self.points.rows().enumerate() {
            let distance = squared_distance(x, row);
            let enters =
                nearest.len() < few || nearest.last().is_some_and(|last| distance < last.0);
            if i != index && enters {
                nearest.insert(nearest.partition_point(|near| near.0 <= distance), (distance, i));
                nearest.truncate(few);
            }
        }
        nearest.into_iter().map(|(_, i)| i).collect()
    }
}

/// Says which candidate an error is about.
fn locate(i: usize, error: Error) -> Error {
    match error {
        Error::Invalid { field, value, allowed } => {
            Error::Invalid { field: format!("candidates[{i}].{field}"), value, allowed }
        }
        Error::MissingValue { dimension, allowed } => {
            Error::MissingValue { dimension: format!("candidates[{i}].{dimension}"), allowed }
        }
        Error::UnexpectedValue { dimension, reason } => {
            Error::UnexpectedValue { dimension: format!("candidates[{i}].{dimension}"), reason }
        }
        other => other,
    }
}
