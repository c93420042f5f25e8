//! One dimension as a model of its values sees it: a number on the unit interval, or a choice. Shares are several
//! numbers.
//!
//! A number that is discrete is a cell of the interval, and has the mass of its cell under a kernel rather
//! than the density at its centre: otherwise narrow kernels would count for more on coarse scales.

use std::ops::Range;

use crate::space::{Dimension, Kind, Scale, SearchSpace};

/// What the coordinates of a dimension mean.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scope {
    /// Any point of the interval.
    Real,
    /// Cells of equal width.
    Cells { count: f64 },
    /// Integers on a log scale: ln(v ± ½), less `base`, over `range`.
    LogCells { base: f64, range: f64 },
    /// One of so many choices without order.
    Choices(usize),
}

/// A dimension and where it lies in a point.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub(super) scope: Scope,
    pub(super) coordinates: Range<usize>,
    /// The index of the dimension.
    pub(super) dimension: usize,
}

impl Axis {
    /// The dimensions of a space, in order.
    pub(super) fn all(space: &SearchSpace) -> Vec<Self> {
        let mut axes = Vec::with_capacity(space.dim());
        for (index, Dimension { kind, .. }) in space.dimensions().iter().enumerate() {
            let coordinates = space.coordinates(index);
            let mut push = |coordinates| {
                axes.push(Self { scope: Scope::of(kind), coordinates, dimension: index });
            };
            match kind {
                Kind::Shares { .. } => coordinates.for_each(|i| push(i..i + 1)),
                _ => push(coordinates),
            }
        }
        axes
    }

    /// The number, or the choice, at a legal point.
    pub(super) fn read(&self, x: &[f64]) -> f64 {
        let block = &x[self.coordinates.clone()];
        match self.scope {
            Scope::Choices(_) if block.len() > 1 => {
                block.iter().position(|&u| u == 1.0).unwrap_or(0) as f64
            }
            _ => block[0],
        }
    }

    /// Writes a number or a choice.
    pub(super) fn write(&self, value: f64, x: &mut [f64]) {
        let block = &mut x[self.coordinates.clone()];
        match self.scope {
            Scope::Choices(_) if block.len() > 1 => {
                block.fill(0.0);
                block[value as usize] = 1.0;
            }
            _ => block[0] = value,
        }
    }
}

impl Scope {
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Real { .. } | Kind::Shares { .. } => Self::Real,
            Kind::Integer { low, high, scale: Scale::Log, .. } => {
                let base = (*low as f64 - 0.5).ln();
                Self::LogCells { base, range: (*high as f64 + 0.5).ln() - base }
            }
            Kind::Integer { low, high, step, .. } => {
                Self::Cells { count: (high.abs_diff(*low) / step.unsigned_abs() + 1) as f64 }
            }
            Kind::Ordinal { levels } => Self::Cells { count: levels.len() as f64 },
            Kind::Boolean => Self::Choices(2),
            Kind::Categorical { choices } => Self::Choices(choices.len()),
        }
    }

    /// The cell around a legal coordinate of a discrete number; `None` for what is no such number.
    pub(super) fn cell(&self, u: f64) -> Option<(f64, f64)> {
        match self {
            Self::Real | Self::Choices(_) => None,
            Self::Cells { count } => {
                let level = (u * count).floor().min(count - 1.0);
                Some((level / count, (level + 1.0) / count))
            }
            Self::LogCells { base, range } => {
                let value = (base + range * u).exp().round();
                let edge = |v: f64| ((v.ln() - base) / range).clamp(0.0, 1.0);
                Some((edge(value - 0.5), edge(value + 0.5)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_a_number_tile_the_interval() {
        let space = SearchSpace::new([
            Dimension::integer("n", 1, 10).step(4),
            Dimension::log_integer("m", 1, 20),
            Dimension::ordinal("o", ["s", "m", "l", "xl"]),
        ])
        .unwrap();
        for (axis, count) in Axis::all(&space).iter().zip([3, 20, 4]) {
            let mut end = 0.0;
            let mut cells = 0;
            while end < 1.0 - 1e-9 {
                let mut x = vec![0.5; space.dim()];
                axis.write(end + 1e-9, &mut x);
                space.snap(&mut x);
                let (low, high) = axis.scope.cell(axis.read(&x)).unwrap();
                assert!((low - end).abs() < 1e-12, "{axis:?}: {low} after {end}");
                end = high;
                cells += 1;
            }
            assert_eq!(cells, count);
        }
    }

    #[test]
    fn choices_are_read_as_written() {
        let space = SearchSpace::new([
            Dimension::categorical("c", ["x", "y", "z"]),
            Dimension::boolean("b"),
        ])
        .unwrap();
        let axes = Axis::all(&space);
        for (choice, flag) in [(0.0, 1.0), (2.0, 0.0)] {
            let mut x = vec![0.5; 4];
            axes[0].write(choice, &mut x);
            axes[1].write(flag, &mut x);
            let mut snapped = x.clone();
            space.snap(&mut snapped);
            assert_eq!(snapped, x);
            assert_eq!((axes[0].read(&x), axes[1].read(&x)), (choice, flag));
        }
    }
}
