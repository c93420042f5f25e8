//! Points: n rows of d coordinates, one after another in memory.

pub(crate) mod arithmetic;

use serde::{Deserialize, Serialize};

pub(crate) use arithmetic::{dot, dots, squared_distance, squared_norms};

/// Rows of `dim` coordinates each. Where nothing else is said they lie in the unit cube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Points {
    dim: usize,
    coordinates: Vec<f64>,
}

impl Points {
    /// No points yet, of `dim` coordinates each. `dim` must be positive.
    pub fn new(dim: usize) -> Self {
        Self::with_capacity(dim, 0)
    }

    /// No points yet, with room for `capacity` of them.
    pub fn with_capacity(dim: usize, capacity: usize) -> Self {
        assert!(dim > 0, "points need at least one coordinate");
        Self { dim, coordinates: Vec::with_capacity(dim * capacity) }
    }

    /// `len` points at the origin.
    pub fn zeros(dim: usize, len: usize) -> Self {
        assert!(dim > 0, "points need at least one coordinate");
        Self { dim, coordinates: vec![0.0; dim * len] }
    }

    /// Points from their rows, each of `dim` coordinates.
    pub fn from_rows<R: AsRef<[f64]>>(dim: usize, rows: impl IntoIterator<Item = R>) -> Self {
        let mut points = Self::new(dim);
        for row in rows {
            points.push(row.as_ref());
        }
        points
    }

    /// Coordinates of a point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.dim
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// The `i`-th point.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.coordinates[i * self.dim..(i + 1) * self.dim]
    }

    /// The `i`-th point, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.coordinates[i * self.dim..(i + 1) * self.dim]
    }

    /// The points, in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.coordinates.chunks_exact(self.dim)
    }

    /// The points, in order, to be changed.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, f64> {
        self.coordinates.chunks_exact_mut(self.dim)
    }

    /// Appends a point.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.dim, "a row must have as many coordinates as the others");
        self.coordinates.extend_from_slice(row);
    }

    /// Appends all of `other`'s points.
    pub fn extend(&mut self, other: &Self) {
        assert_eq!(other.dim, self.dim, "points must have the same number of coordinates");
        self.coordinates.extend_from_slice(&other.coordinates);
    }

    /// Keeps the first `len` points.
    pub fn truncate(&mut self, len: usize) {
        self.coordinates.truncate(len * self.dim);
    }

    /// All coordinates, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.coordinates
    }

    /// All coordinates, row after row, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.coordinates
    }
}
