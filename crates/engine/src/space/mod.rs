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
mod fixed;
mod grid;
mod kind;
mod known;
mod layout;
mod neighbourhood;
mod prior;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod refusals;
mod shares;
mod steps;
mod value;

pub use configuration::Configuration;
pub use dimension::Dimension;
pub(crate) use fingerprint::{Fingerprint, Taken};
pub use fixed::Fixed;
pub use prior::Prior;
pub use value::Value;

// Parts of dimensions, which programs make by calls such as `Dimension::real`; hidden as lib.rs has it.
#[doc(hidden)]
pub use condition::Condition;
#[doc(hidden)]
pub use kind::{Kind, Scale};

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::{Rng, below, uniform};
use candidates::Candidates;
use counting::Counting;
use document::SpaceDocument;
use known::Known;
use layout::Layout;
use prior::Priors;

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
    /// Shared, since it may list many points.
    known: Option<Arc<Known>>,
    priors: Option<Priors>,
    repeats: bool,
}

impl SearchSpace {
    /// All configurations of `dimensions`. Parents are declared before their children.
    pub fn new(dimensions: impl IntoIterator<Item = Dimension>) -> Result<Self> {
        let dimensions: Vec<Dimension> = dimensions.into_iter().collect();
        let layout = Layout::new(&dimensions)?;
        let counting = Counting::new(&layout, dimensions.iter().map(|dimension| &dimension.kind));
        let priors = Priors::new(&dimensions, &layout)?;
        let (candidates, known, repeats) = (None, None, false);
        Ok(Self { dimensions, layout, counting, candidates, known, priors, repeats })
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

    /// The same space with constraints that are known before a trial runs: every suggestion meets them.
    ///
    /// ```
    /// use wimble::space::{Dimension, SearchSpace};
    /// let space = SearchSpace::new([
    ///     Dimension::log_integer("batch", 16, 1024),
    ///     Dimension::integer("layers", 1, 16),
    ///     Dimension::categorical("optimiser", ["adam", "sgd"]),
    ///     Dimension::real("momentum", 0.0, 1.0).when("optimiser", ["sgd"]),
    /// ])?
    /// .known(["batch * layers <= 4096", "if optimiser == \"sgd\" then momentum >= 0.5"])?;
    /// assert!(space.legal_share() < 0.7);
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// The guide describes the language. Refused are mistakes, with their line and column; constraints that interval
    /// propagation proves contradictory, with a smallest set of them; and constraints for which no point is found.
    /// Candidates that break a constraint are taken out of a finite space. Called again, it adds constraints.
    pub fn known<T: Into<String>>(
        mut self,
        constraints: impl IntoIterator<Item = T>,
    ) -> Result<Self> {
        let mut texts = self.known_constraints().to_vec();
        texts.extend(constraints.into_iter().map(Into::into));
        if texts.is_empty() {
            return Ok(self);
        }
        let Self { dimensions, layout, counting, candidates, .. } = &self;
        let only = candidates.is_some();
        let known = Known::new(texts, dimensions, layout, counting.as_ref(), only)?;
        if let Some(candidates) = &self.candidates {
            let legal = candidates.configurations.iter().filter(|it| known.admits(it));
            let legal: Vec<Configuration> = legal.cloned().collect();
            if legal.is_empty() {
                let (constraints, tries) = (known.texts().to_vec(), candidates.len());
                return Err(Error::NothingLegal { constraints, tries });
            }
            self.candidates = Some(Candidates::new(&self.layout, &self.dimensions, legal)?);
        }
        self.known = Some(Arc::new(known));
        Ok(self)
    }

    /// The known constraints, as written.
    pub fn known_constraints(&self) -> &[String] {
        self.known.as_ref().map_or(&[], |known| known.texts())
    }

    /// The share of the space that meets the known constraints: each dimension uniform on its encoded scale. An
    /// estimate with a standard error of half a percent of what interval propagation leaves, the same on every call. 1 for
    /// candidates, of which only legal ones are kept.
    pub fn legal_share(&self) -> f64 {
        self.known.as_ref().map_or(1.0, |known| known.share())
    }

    /// Refuses a configuration that breaks a known constraint, and names the constraint. The values count as they are
    /// written; [`encode`](Self::encode) accepts such a configuration, for it may have been tried elsewhere.
    pub fn check_known(&self, configuration: &Configuration) -> Result<()> {
        self.known.as_ref().map_or(Ok(()), |known| known.check(configuration))
    }

    /// Whether a point of the dimensions, to which [`snap`](Self::snap) moves, meets the known constraints.
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn meets_known(&self, x: &[f64]) -> bool {
        self.assert_dim(x);
        match &self.known {
            Some(known) if self.candidates.is_none() => known.is_met(&self.layout, x),
            _ => true,
        }
    }

    /// Moves `x` to a legal point near it that meets the known constraints. Without any this is
    /// [`snap`](Self::snap).
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn settle(&self, x: &mut [f64]) {
        self.snap(x);
        if let Some(known) = &self.known
            && !self.meets_known(x)
        {
            x.copy_from_slice(&known.repair(&self.layout, x));
        }
    }

    /// Whether a configuration may be suggested again, for noisy objectives. Default: no.
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

    /// The parameters: a name and a value in configurations each, in the order of declaration. A dimension has
    /// one of its own name; a dimension of shares has one for each share.
    #[doc(hidden)]
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> + Clone {
        self.dimensions.iter().flat_map(|dimension| {
            dimension.parameters().map(|name| Parameter {
                name,
                kind: match &dimension.kind {
                    Kind::Shares { .. } => &SHARE,
                    kind => kind,
                },
                condition: dimension.condition.as_ref(),
            })
        })
    }

    /// Coordinates of an encoded point.
    pub fn dim(&self) -> usize {
        self.layout.dim()
    }

    /// The coordinates of a dimension, given by its index among [`dimensions`](Self::dimensions): as many
    /// as it has choices where it is categorical, one less than it has members where it is shares, one otherwise.
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
        let real = |dimension: &Dimension| dimension.kind.count().is_none();
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

    /// How many configurations there are; `None` if there is a real dimension, if 128 bits cannot say, or if there
    /// are too many to see which of them meet the known constraints.
    pub fn cardinality(&self) -> Option<u128> {
        match (&self.candidates, &self.known) {
            (Some(candidates), _) => Some(candidates.len() as u128),
            (None, Some(known)) => known.listed().map(|points| points.len() as u128),
            (None, None) => self.counting.as_ref().map(Counting::total),
        }
    }

    /// The `index`-th legal point, counted from 0: each configuration has one index below
    /// [`cardinality`](Self::cardinality). `None` beyond it, or where that is `None`.
    pub fn nth(&self, index: u128) -> Option<Vec<f64>> {
        let row = |points: &Points| {
            let index = usize::try_from(index).ok().filter(|&index| index < points.len())?;
            Some(points.row(index).to_vec())
        };
        match (&self.candidates, &self.known) {
            (Some(candidates), _) => row(candidates.points()),
            (None, Some(known)) => row(known.listed()?),
            (None, None) => self.counting.as_ref()?.nth(&self.layout, index),
        }
    }

    /// A random legal point: each active dimension uniform on its encoded scale and independent of the
    /// others, or a uniform candidate. Known constraints leave the part of this distribution that meets them.
    pub fn sample(&self, rng: &mut Rng) -> Vec<f64> {
        if let Some(candidates) = &self.candidates {
            return candidates.points().row(below(rng, candidates.len())).to_vec();
        }
        if let Some(known) = &self.known {
            return known.sample(&self.layout, rng);
        }
        // The largest of k uniform numbers is equally likely to be any of them: one-hot blocks need no
        // special case.
        let mut x: Vec<f64> = (0..self.dim()).map(|_| uniform(rng)).collect();
        self.layout.snap(&mut x);
        x
    }

    /// Whether a dimension says where its best value is expected.
    pub fn has_prior(&self) -> bool {
        self.priors.is_some()
    }

    /// ln π(x), the density of the prior at a legal point relative to the expected place ([`Prior`]); 0 without one.
    ///
    /// # Panics
    /// If `x` has not [`dim`](Self::dim) coordinates.
    pub fn log_prior(&self, x: &[f64]) -> f64 {
        self.assert_dim(x);
        self.priors.as_ref().map_or(0.0, |priors| priors.log_density(x, &self.layout.active(x)))
    }

    /// The legal point where the best is expected; the middle of dimensions without a prior.
    pub fn expected(&self) -> Vec<f64> {
        let mut x = vec![0.5; self.dim()];
        if let Some(priors) = &self.priors {
            priors.write(&mut x);
        }
        self.settle(&mut x);
        x
    }

    /// A random legal point drawn from the prior; dimensions without one are as in [`sample`](Self::sample).
    pub fn sample_expected(&self, rng: &mut Rng) -> Vec<f64> {
        let mut x = self.sample(rng);
        if let Some(priors) = &self.priors {
            // Dimensions that become active need a value of their own.
            if self.candidates.is_none() && self.known.is_none() {
                x.fill_with(|| uniform(rng));
            }
            priors.draw(&mut x, rng);
            self.settle(&mut x);
        }
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
            None => self.legal_neighbour(x, rng, radius),
        }
    }

    /// A neighbour that meets the known constraints: one of a few draws, or what the last of them is moved to.
    fn legal_neighbour(&self, x: &[f64], rng: &mut Rng, radius: f64) -> Vec<f64> {
        const DRAWS: usize = 8;
        let mut near = neighbourhood::neighbour(&self.layout, x, rng, radius);
        let Some(known) = &self.known else { return near };
        for _ in 1..DRAWS {
            if known.is_met(&self.layout, &near) {
                return near;
            }
            near = neighbourhood::neighbour(&self.layout, x, rng, radius);
        }
        self.settle(&mut near);
        // Moved back to where it came from, it is no neighbour.
        if near == x { self.sample(rng) } else { near }
    }

    fn assert_dim(&self, x: &[f64]) {
        assert_eq!(x.len(), self.dim(), "a point must have as many coordinates as the space");
    }
}

/// A name and a value in configurations.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter<'s> {
    /// The name.
    pub name: &'s str,
    /// The values; a share is a real number from 0 to 1.
    pub kind: &'s Kind,
    /// When it is active; always, if there is none.
    pub condition: Option<&'s Condition>,
}

/// What one share is on its own.
static SHARE: Kind = Kind::Real { low: 0.0, high: 1.0, scale: Scale::Linear };

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
