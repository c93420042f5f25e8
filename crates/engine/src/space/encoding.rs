//! The encoding of one dimension: its values as coordinates in the unit cube, and back.
//!
//! | kind | coordinates | a value's | a coordinate's value |
//! |---|---|---|---|
//! | real | 1 | a point of the grid (see grid.rs) | that of the nearest point |
//! | integer, ordinal | 1 | the centre (i + ½)/n of the i-th of n equal bins | that of its bin: ⌊un⌋ |
//! | log integer | 1 | ln v, scaled so that ln(low - ½) is 0 and ln(high + ½) is 1 | the nearest integer |
//! | boolean | 1 | 0 or 1 | true from ½ |
//! | categorical | k | one-hot: 1 at the choice, 0 elsewhere | the largest coordinate, the first on ties |
//! | shares of k | k - 1 | how each group is split into halves (see shares.rs) | the products of the splits |
//!
//! Bins give every integer the same share of the interval, ends included; rounding u(n - 1) would give the
//! ends half a share. A boolean is a categorical with two choices, of which one coordinate is enough: 0
//! and 1 put them as far apart as the cube allows, and ½ between them leaves equal shares. The coordinates
//! of an inactive dimension are ½, or all 0 where it is one-hot.
//!
//! A coordinate outside the cube counts as that of the nearest face, NaN as 0. Cost: O(coordinates).

use super::configuration::Configuration;
use super::dimension::Dimension;
use super::grid::Grid;
use super::kind::{Kind, Scale};
use super::shares::{Shares, TOLERANCE};
use super::unit;
use super::value::Value;
use crate::error::{Error, Result};

/// What the coordinates of a dimension mean, with everything computed that does not depend on the point.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Encoding {
    Grid(Grid),
    Bins { count: u64 },
    LogBins(LogBins),
    Boolean,
    OneHot { choices: usize },
    Shares(Shares),
}

impl Encoding {
    /// The encoding of a checked dimension.
    pub(super) fn new(dimension: &Dimension) -> Result<Self> {
        dimension.check()?;
        Ok(match &dimension.kind {
            Kind::Real { low, high, scale } => {
                Self::Grid(Grid::new(&dimension.name, *low, *high, *scale)?)
            }
            Kind::Integer { low, high, scale: Scale::Log, .. } => {
                Self::LogBins(LogBins::new(*low, *high))
            }
            Kind::Integer { .. } | Kind::Ordinal { .. } => {
                Self::Bins { count: dimension.kind.count().unwrap_or(1) }
            }
            Kind::Boolean => Self::Boolean,
            Kind::Categorical { choices } => Self::OneHot { choices: choices.len() },
            Kind::Shares { of } => Self::Shares(Shares::new(of.len())),
        })
    }

    /// How many coordinates there are.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::OneHot { choices } => *choices,
            Self::Shares(shares) => shares.width(),
            _ => 1,
        }
    }

    /// The level meant by the coordinates; 0 for a real number.
    #[inline]
    pub(super) fn level(&self, x: &[f64]) -> u64 {
        match self {
            Self::Grid(_) | Self::Shares(_) => 0,
            Self::Bins { count } => ((unit(x[0]) * *count as f64) as u64).min(count - 1),
            Self::LogBins(bins) => bins.level(x[0]),
            Self::Boolean => u64::from(x[0] >= 0.5),
            Self::OneHot { .. } => {
                let mut largest = (0, f64::NEG_INFINITY);
                for (choice, &u) in x.iter().enumerate() {
                    let u = if u.is_nan() { 0.0 } else { u };
                    if u > largest.1 {
                        largest = (choice, u);
                    }
                }
                largest.0 as u64
            }
        }
    }

    /// Writes the coordinates of a level. Real numbers have none.
    #[inline]
    pub(super) fn write(&self, level: u64, x: &mut [f64]) {
        match self {
            Self::Grid(_) | Self::Shares(_) => {}
            Self::Bins { count } => x[0] = (level as f64 + 0.5) / *count as f64,
            Self::LogBins(bins) => x[0] = bins.coordinate(level),
            Self::Boolean => x[0] = level as f64,
            Self::OneHot { .. } => {
                x.fill(0.0);
                x[level as usize] = 1.0;
            }
        }
    }

    /// Moves the coordinates to the nearest legal ones; returns their level.
    #[inline]
    pub(super) fn snap(&self, x: &mut [f64]) -> u64 {
        match self {
            Self::Grid(grid) => {
                x[0] = grid.round(x[0]);
                return 0;
            }
            Self::Shares(shares) => {
                shares.snap(x);
                return 0;
            }
            _ => {}
        }
        let level = self.level(x);
        self.write(level, x);
        level
    }

    /// Writes the coordinates of an inactive dimension.
    #[inline]
    pub(super) fn write_inactive(&self, x: &mut [f64]) {
        x.fill(if matches!(self, Self::OneHot { .. }) { 0.0 } else { 0.5 });
    }

    /// Gives a configuration the value meant by the coordinates, which are at `level`.
    pub(super) fn decode(
        &self,
        dimension: &Dimension,
        x: &[f64],
        level: u64,
        configuration: &mut Configuration,
    ) {
        let value = match (self, &dimension.kind) {
            (Self::Grid(grid), _) => Value::Real(grid.value(grid.round(x[0]))),
            (Self::Shares(shares), Kind::Shares { of }) => {
                let mut x = x.to_vec();
                shares.snap(&mut x);
                for (name, share) in of.iter().zip(shares.decode(&x)) {
                    configuration.insert(name.clone(), share);
                }
                return;
            }
            _ => dimension.kind.value(level),
        };
        configuration.insert(dimension.name.clone(), value);
    }

    /// Writes the coordinates of a dimension's value in a configuration; returns its level.
    pub(super) fn encode(
        &self,
        dimension: &Dimension,
        configuration: &Configuration,
        x: &mut [f64],
    ) -> Result<u64> {
        if let (Self::Shares(shares), Kind::Shares { of }) = (self, &dimension.kind) {
            shares.encode(&written_shares(of, configuration)?, x);
            return Ok(0);
        }
        let value = configuration.get(&dimension.name).ok_or_else(|| Error::MissingValue {
            dimension: dimension.name.clone(),
            allowed: dimension.kind.allowed(),
        })?;
        let level = if let Self::Grid(grid) = self {
            value.as_real().and_then(|value| grid.coordinate(value)).map(|u| {
                x[0] = u;
                0
            })
        } else {
            dimension.kind.level(value).inspect(|&level| self.write(level, x))
        };
        level.ok_or_else(|| {
            Error::invalid(&*dimension.name, value.quoted(), dimension.kind.allowed())
        })
    }
}

/// The shares that a configuration has; refuses what does not sum to one.
fn written_shares(names: &[String], configuration: &Configuration) -> Result<Vec<f64>> {
    const ALLOWED: &str = "a share from 0 to 1";
    let share = |name: &String| {
        let value = configuration.get(name).ok_or_else(|| Error::MissingValue {
            dimension: name.clone(),
            allowed: ALLOWED.to_owned(),
        })?;
        let share = value.as_real().filter(|share| (0.0..=1.0).contains(share));
        share.ok_or_else(|| Error::invalid(name, value.quoted(), ALLOWED))
    };
    let shares = names.iter().map(share).collect::<Result<Vec<f64>>>()?;
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > TOLERANCE {
        return Err(Error::invalid(names.join(" + "), sum, format!("1, to within {TOLERANCE:e}")));
    }
    Ok(shares)
}

/// The integers of a log scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LogBins {
    low: i64,
    high: i64,
    /// ln(low - ½).
    base: f64,
    /// ln(high + ½) - ln(low - ½).
    range: f64,
}

impl LogBins {
    fn new(low: i64, high: i64) -> Self {
        let base = (low as f64 - 0.5).ln();
        Self { low, high, base, range: (high as f64 + 0.5).ln() - base }
    }

    pub(super) fn count(&self) -> u64 {
        self.high.abs_diff(self.low) + 1
    }

    #[inline]
    pub(super) fn level(&self, u: f64) -> u64 {
        let value = (self.base + self.range * unit(u)).exp();
        // Adding a half and cutting off rounds to the nearest: values are positive, below 2⁴⁰ + 1.
        ((value + 0.5) as i64).clamp(self.low, self.high).abs_diff(self.low)
    }

    /// Where the share of a level begins, which is where that of the one before ends.
    pub(super) fn edge(&self, level: u64) -> f64 {
        let value = (self.low + level as i64) as f64 - 0.5;
        ((value.ln() - self.base) / self.range).clamp(0.0, 1.0)
    }

    #[inline]
    pub(super) fn coordinate(&self, level: u64) -> f64 {
        (((self.low + level as i64) as f64).ln() - self.base) / self.range
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_have_equal_shares_and_hold_their_centres() {
        let encoding = Encoding::new(&Dimension::integer("n", 1, 10).step(4)).unwrap();
        let level = |u: f64| encoding.level(&[u]);
        assert_eq!([0.0, 0.333, 0.334, 0.666, 0.667, 1.0].map(level), [0, 0, 1, 1, 2, 2]);
        assert_eq!([-7.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY].map(level), [0, 0, 0, 2]);
        let mut x = [0.9];
        assert_eq!(encoding.snap(&mut x), 2);
        assert_eq!(x, [2.5 / 3.0]);
    }

    #[test]
    fn one_hot_takes_the_largest_and_the_first_on_ties() {
        let encoding = Encoding::new(&Dimension::categorical("c", ["a", "b", "c"])).unwrap();
        assert_eq!(encoding.level(&[0.2, 0.9, 0.9]), 1);
        assert_eq!(encoding.level(&[0.0; 3]), 0);
        assert_eq!(encoding.level(&[2.0, 3.0, f64::NAN]), 1);
        assert_eq!(encoding.level(&[f64::NEG_INFINITY; 3]), 0);
        assert_eq!(encoding.level(&[-1.0, f64::NAN, -2.0]), 1);
        let mut x = [0.3; 3];
        encoding.write_inactive(&mut x);
        assert_eq!(x, [0.0; 3]);
    }

    #[test]
    fn a_log_scale_gives_ratios_equal_shares() {
        let encoding = Encoding::new(&Dimension::log_integer("n", 1, 1_000_000)).unwrap();
        let middle = encoding.level(&[0.5]) + 1;
        // The geometric mean of 0.5 and 1 000 000.5.
        assert_eq!(middle, 707);
        assert_eq!((encoding.level(&[0.0]), encoding.level(&[1.0])), (0, 999_999));
    }

    fn returns(encoding: &Encoding, level: u64) -> bool {
        let mut x = [f64::NAN];
        encoding.write(level, &mut x);
        (0.0..=1.0).contains(&x[0]) && encoding.level(&x) == level
    }

    #[test]
    fn every_integer_of_a_range_round_trips_and_so_do_the_ends_of_the_largest() {
        let top = 1 << 40;
        for (low, high) in [(1, 2), (1, 100_000), (4_000_000, 4_050_000), (top - 1, top)] {
            let encoding = Encoding::new(&Dimension::log_integer("n", low, high)).unwrap();
            assert!((0..=(high - low) as u64).all(|level| returns(&encoding, level)));
        }
        for low in [1, 1 << 20, (1 << 40) - 100_000] {
            let encoding = Encoding::new(&Dimension::log_integer("n", low, 1 << 40)).unwrap();
            let last = ((1_i64 << 40) - low) as u64;
            assert!((0..50_000).all(|i| returns(&encoding, i) && returns(&encoding, last - i)));
        }
        let encoding = Encoding::new(&Dimension::integer("n", -(1 << 47), (1 << 47) - 1)).unwrap();
        let last = (1 << 48) - 1;
        assert!((0..50_000).all(|i| returns(&encoding, i) && returns(&encoding, last - i)));
    }

    proptest! {
        #[test]
        fn large_ranges_round_trip(
            low in 1..1_i64 << 39, more in 1..1_i64 << 39, share in 0.0..=1.0_f64,
        ) {
            let level = (share * more as f64) as u64;
            let log = Encoding::new(&Dimension::log_integer("n", low, low + more)).unwrap();
            prop_assert!(returns(&log, level.min(more as u64)));
            let linear = Encoding::new(&Dimension::integer("n", low, low + more)).unwrap();
            prop_assert!(returns(&linear, level.min(more as u64)));
        }
    }
}
