//! The search space: dimensions, conditions, and the one place that encodes to the unit cube and back.
//!
//! # Design
//! The engine works on points of the unit cube; users think in configurations. A point is *legal* when it
//! is the encoding of a configuration, and each configuration has exactly one legal point: reals lie on a
//! grid, discrete values at fixed coordinates, inactive dimensions at a neutral one. Hence two
//! configurations are the same when their points are, bit for bit, which is all that a `Fingerprint`
//! needs, and [`SearchSpace::decode`] followed by [`SearchSpace::encode`] gives the point that
//! [`SearchSpace::snap`] finds without building anything.

mod candidates;
mod condition;
mod configuration;
mod counting;
mod dimension;
mod document;
mod encoding;
mod fingerprint;
mod grid;
mod kind;
mod layout;
mod neighbourhood;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod refusals;
mod value;

pub use condition::Condition;
pub use configuration::Configuration;
pub use dimension::Dimension;
pub(crate) use fingerprint::{Fingerprint, Taken};
pub use kind::{Kind, Scale};
pub use value::Value;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::{Rng, below, uniform};
use candidates::Candidates;
use counting::Counting;
use document::SpaceDocument;
use layout::Layout;

/// What may be chosen: dimensions, or a finite set of candidates described by them.
///
/// ```
/// use wimble::space::{Configuration, Dimension, SearchSpace};
/// let space = SearchSpace::new([
///     Dimension::log_real("rate", 1e-5, 1.0),
///     Dimension::categorical("optimiser", ["adam", "sgd"]),
///     Dimension::real("momentum", 0.0, 1.0).when("optimiser", ["sgd"]),
/// ])?;
/// let mut configuration = Configuration::new();
/// configuration.insert("rate", 1.0);
/// configuration.insert("optimiser", "adam");
/// let x = space.encode(&configuration)?;
/// assert_eq!(x, [1.0, 1.0, 0.0, 0.5]);
/// assert_eq!(space.decode(&x), configuration);
/// # Ok::<(), wimble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SpaceDocument", into = "SpaceDocument")]
pub struct SearchSpace {
    dimensions: Vec<Dimension>,
    layout: Layout,
    counting: Option<Counting>,
    candidates: Option<Candidates>,
    repeats: bool,
}

impl SearchSpace {
    /// All configurations of `dimensions`. Parents are declared before their children.
    pub fn new(dimensions: impl IntoIterator<Item = Dimension>) -> Result<Self> {
        let dimensions: Vec<Dimension> = dimensions.into_iter().collect();
        let layout = Layout::new(&dimensions)?;
        let counting = Counting::new(&layout, dimensions.iter().map(|dimension| &dimension.kind));
        Ok(Self { dimensions, layout, counting, candidates: None, repeats: false })
    }

    /// Only `candidates`, each a configuration of `dimensions` and no two the same.
    pub fn finite(
        dimensions: impl IntoIterator<Item = Dimension>,
        candidates: impl IntoIterator<Item = Configuration>,
    ) -> Result<Self> {
        let mut space = Self::new(dimensions)?;
        let candidates = candidates.into_iter().collect();
        space.candidates = Some(Candidates::new(&space.layout, &space.dimensions, candidates)?);
        Ok(space)
    }

    /// Whether a configuration may be asked again: for noisy objectives. No, unless said here.
    #[must_use]
    pub fn allow_repeats(mut self, repeats: bool) -> Self {
        self.repeats = repeats;
        self
    }

    /// Whether a configuration may be asked again.
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// The dimensions, in the order of their declaration.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// Coordinates of an encoded point.
    pub fn dim(&self) -> usize {
        self.layout.dim()
    }

    /// The coordinates of a dimension, given by its index among [`dimensions`](Self::dimensions): as many
    /// as it has choices where it is categorical, one otherwise.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn coordinates(&self, dimension: usize) -> Range<usize> {
        self.layout.entries()[dimension].range.clone()
    }

    /// Which dimensions are active at a legal point, in the order of their declaration.
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn active(&self, x: &[f64]) -> Vec<bool> {
        self.assert_dim(x);
        self.layout.active(x)
    }

    /// Whether no dimension is real, or only candidates may be chosen.
    pub fn is_discrete(&self) -> bool {
        let real = |dimension: &Dimension| matches!(dimension.kind, Kind::Real { .. });
        self.candidates.is_some() || !self.dimensions.iter().any(real)
    }

    /// The legal points of a space of candidates, in their order.
    pub fn candidates(&self) -> Option<&Points> {
        self.candidates.as_ref().map(Candidates::points)
    }

    /// The legal point of a configuration. A real dimension accepts an integer and an integer dimension a
    /// whole real number; an arbitrary real value moves to the grid, by at most 2⁻⁴¹ of its range where f64
    /// can hold it.
    pub fn encode(&self, configuration: &Configuration) -> Result<Vec<f64>> {
        let x = self.layout.encode(&self.dimensions, configuration)?;
        if let Some(candidates) = &self.candidates
            && candidates.find(&x).is_none()
        {
            let allowed = format!("one of the {} candidates", candidates.len());
            return Err(Error::invalid("the configuration", configuration, allowed));
        }
        Ok(x)
    }

    /// The configuration of the legal point nearest to `x`, which may lie anywhere: a coordinate outside
    /// the cube counts as that of the nearest face, NaN as 0.
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn decode(&self, x: &[f64]) -> Configuration {
        self.assert_dim(x);
        match &self.candidates {
            Some(candidates) => candidates.configurations[candidates.nearest(x)].clone(),
            None => self.layout.decode(&self.dimensions, x),
        }
    }

    /// Moves `x` to the nearest legal point: `encode(decode(x))`, bit for bit.
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn snap(&self, x: &mut [f64]) {
        self.assert_dim(x);
        match &self.candidates {
            Some(candidates) => x.copy_from_slice(candidates.points().row(candidates.nearest(x))),
            None => self.layout.snap(x),
        }
    }

    /// How many configurations there are; `None` if there is a real dimension, or if 128 bits cannot say.
    pub fn cardinality(&self) -> Option<u128> {
        match &self.candidates {
            Some(candidates) => Some(candidates.len() as u128),
            None => self.counting.as_ref().map(Counting::total),
        }
    }

    /// The `index`-th legal point, counted from 0: each configuration has one index below
    /// [`cardinality`](Self::cardinality). `None` beyond it, or where that is `None`.
    pub fn nth(&self, index: u128) -> Option<Vec<f64>> {
        match &self.candidates {
            Some(candidates) => {
                let index =
                    usize::try_from(index).ok().filter(|&index| index < candidates.len())?;
                Some(candidates.points().row(index).to_vec())
            }
            None => self.counting.as_ref()?.nth(&self.layout, index),
        }
    }

    /// A random legal point: each active dimension uniform on its encoded scale and independent of the
    /// others, or a uniform candidate.
    pub fn sample(&self, rng: &mut Rng) -> Vec<f64> {
        if let Some(candidates) = &self.candidates {
            return candidates.points().row(below(rng, candidates.len())).to_vec();
        }
        // The largest of k uniform numbers is equally likely to be any of them: one-hot blocks need no
        // special case.
        let mut x: Vec<f64> = (0..self.dim()).map(|_| uniform(rng)).collect();
        self.layout.snap(&mut x);
        x
    }

    /// A random legal point near `x`, for local search. A few active dimensions change, at least one:
    /// numbers and levels by a Gaussian step with a deviation of `radius` of their range, and of a level
    /// at least; booleans and categoricals to another value. Among candidates, one of the few nearest.
    /// Never the legal point nearest to `x`, unless the space has no other.
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn neighbour(&self, x: &[f64], rng: &mut Rng, radius: f64) -> Vec<f64> {
        self.assert_dim(x);
        match &self.candidates {
            Some(candidates) => {
                let index = neighbourhood::near_candidate(candidates, x, rng);
                candidates.points().row(index).to_vec()
            }
            None => neighbourhood::neighbour(&self.layout, x, rng, radius),
        }
    }

    fn assert_dim(&self, x: &[f64]) {
        assert_eq!(x.len(), self.dim(), "a point must have as many coordinates as the space");
    }
}

/// The coordinate of the unit interval nearest to `u`; 0 for NaN.
#[inline]
fn unit(u: f64) -> f64 {
    if u.is_nan() { 0.0 } else { u.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_activity_follow_the_declarations() {
        let space = SearchSpace::new([
            Dimension::categorical("c", ["x", "y", "z"]),
            Dimension::boolean("b").when("c", ["y"]),
            Dimension::real("r", 0.0, 1.0).when("b", [true]),
            Dimension::integer("n", 1, 9),
        ])
        .unwrap();
        let coordinates: Vec<Range<usize>> = (0..4).map(|i| space.coordinates(i)).collect();
        assert_eq!(coordinates, [0..3, 3..4, 4..5, 5..6]);
        for (point, active) in [
            ([1.0, 0.0, 0.0, 0.5, 0.5, 0.5], [true, false, false, true]),
            ([0.0, 1.0, 0.0, 0.0, 0.5, 0.5], [true, true, false, true]),
            ([0.0, 1.0, 0.0, 1.0, 0.5, 0.5], [true, true, true, true]),
        ] {
            let mut snapped = point;
            space.snap(&mut snapped);
            assert_eq!(snapped, point);
            assert_eq!(space.active(&point), active);
        }
    }
}
