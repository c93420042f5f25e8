//! The variables of constraints, and the axes that their values are read from.
//!
//! A point of the cube has several coordinates for one choice, and none of its own for what is inactive. Constraints
//! are studied over *axes* instead: one for each number and each choice, and one for each coordinate of shares. A
//! place gives every axis a coordinate from 0 to 1 (real numbers and shares) or a level (everything else), whether
//! it is active or not. [`SearchSpace::sample`](crate::space::SearchSpace::sample) draws each axis independently, so
//! that the share of a box in the space is the product of its shares of the axes.

use super::interval::Interval;
use crate::space::Value;
use crate::space::dimension::Dimension;
use crate::space::encoding::{Encoding, LogBins};
use crate::space::grid::Grid;
use crate::space::kind::Kind;
use crate::space::layout::Layout;
use crate::space::shares::Shares;

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    /// The dimension that it belongs to.
    pub dimension: usize,
    /// Its first coordinate in a point.
    pub coordinate: usize,
    pub levels: Levels,
    /// Whether its levels have no order.
    pub is_choice: bool,
}

/// What an axis counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Levels {
    /// Coordinates from 0 to 1, in steps of the resolution.
    Continuous { resolution: f64 },
    /// So many levels, equally likely.
    Even(u64),
    /// Integers on a log scale, likelier the smaller they are.
    Log(LogBins),
}

impl Axis {
    /// The axes of a space, in the order of its dimensions.
    pub fn all(layout: &Layout) -> Vec<Self> {
        let mut axes = Vec::new();
        for (dimension, entry) in layout.entries().iter().enumerate() {
            let is_choice = matches!(entry.encoding, Encoding::Boolean | Encoding::OneHot { .. });
            let mut push = |coordinate, levels| {
                axes.push(Self { dimension, coordinate, levels, is_choice });
            };
            let first = entry.range.start;
            match &entry.encoding {
                Encoding::Grid(grid) => {
                    push(first, Levels::Continuous { resolution: grid.resolution() });
                }
                Encoding::Shares(shares) => {
                    for coordinate in entry.range.clone() {
                        push(coordinate, Levels::Continuous { resolution: shares.resolution() });
                    }
                }
                Encoding::Bins { count } => push(first, Levels::Even(*count)),
                Encoding::LogBins(bins) => push(first, Levels::Log(bins.clone())),
                Encoding::Boolean => push(first, Levels::Even(2)),
                Encoding::OneHot { choices } => push(first, Levels::Even(*choices as u64)),
            }
        }
        axes
    }

    pub fn is_continuous(&self) -> bool {
        matches!(self.levels, Levels::Continuous { .. })
    }

    /// From one coordinate or level to the next.
    pub fn resolution(&self) -> f64 {
        match self.levels {
            Levels::Continuous { resolution } => resolution,
            _ => 1.0,
        }
    }

    /// All of it.
    pub fn whole(&self) -> (f64, f64) {
        match &self.levels {
            Levels::Continuous { .. } => (0.0, 1.0),
            Levels::Even(count) => (0.0, (count - 1) as f64),
            Levels::Log(bins) => (0.0, (bins.count() - 1) as f64),
        }
    }

    /// The share of the axis that a part of it has.
    pub fn share(&self, (low, high): (f64, f64)) -> f64 {
        match &self.levels {
            Levels::Continuous { resolution } => (high - low).max(*resolution),
            Levels::Even(count) => (high - low + 1.0) / *count as f64,
            Levels::Log(bins) => bins.edge(high as u64 + 1) - bins.edge(low as u64),
        }
    }

    /// Where to cut a part in two; `None` if it is not to be cut further.
    pub fn cut(&self, (low, high): (f64, f64)) -> Option<[(f64, f64); 2]> {
        let level = |below: f64| Some([(low, below), (below + 1.0, high)]);
        match &self.levels {
            Levels::Continuous { resolution } => {
                let middle = 0.5 * (low + high);
                (high - low > 4.0 * resolution).then_some([(low, middle), (middle, high)])
            }
            _ if low >= high => None,
            Levels::Even(_) => level((0.5 * (low + high)).floor()),
            Levels::Log(bins) => {
                let middle = 0.5 * (bins.edge(low as u64) + bins.edge(high as u64 + 1));
                level((bins.level(middle) as f64).clamp(low, high - 1.0))
            }
        }
    }

    /// The coordinate or level at a part `t` of the way, from 0 to 1, through a part of the axis.
    pub fn at(&self, (low, high): (f64, f64), t: f64) -> f64 {
        match &self.levels {
            Levels::Continuous { .. } => low + (high - low) * t,
            Levels::Even(_) => (low + ((high - low + 1.0) * t).floor()).min(high),
            Levels::Log(bins) => {
                let (from, to) = (bins.edge(low as u64), bins.edge(high as u64 + 1));
                (bins.level(from + (to - from) * t) as f64).clamp(low, high)
            }
        }
    }

    /// Where a coordinate or level lies on the unit interval, for distances.
    pub fn position(&self, place: f64) -> f64 {
        match &self.levels {
            Levels::Continuous { .. } => place,
            Levels::Even(count) => (place + 0.5) / *count as f64,
            Levels::Log(bins) => bins.coordinate(place as u64),
        }
    }
}

/// A parameter that an expression may mention.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub name: String,
    pub dimension: usize,
    /// Its first axis.
    pub axis: usize,
    /// Whether it may be inactive.
    pub conditional: bool,
    pub meaning: Meaning,
    reading: Reading,
}

/// What a variable is in an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    Number,
    /// True or false: level 1 or 0.
    Flag,
    /// One of some choices, by level.
    Choice {
        choices: Vec<Value>,
        ordered: bool,
    },
}

/// How the value of a variable follows from its axes.
#[derive(Debug, Clone, PartialEq)]
enum Reading {
    Grid(Grid),
    Share {
        shares: Shares,
        member: usize,
    },
    /// low + step · level.
    Integer {
        low: f64,
        step: f64,
    },
    /// The number at each level.
    Numbers(Vec<f64>),
    Level,
}

impl Variable {
    /// The variables of a space.
    pub fn all(layout: &Layout, dimensions: &[Dimension]) -> Vec<Self> {
        let mut variables = Vec::new();
        let mut axis = 0;
        for (index, (entry, dimension)) in layout.entries().iter().zip(dimensions).enumerate() {
            let mut push = |name: &str, meaning, reading| {
                variables.push(Self {
                    name: name.to_owned(),
                    dimension: index,
                    axis,
                    conditional: entry.gate.is_some(),
                    meaning,
                    reading,
                });
            };
            let mut width = 1;
            let name = &dimension.name;
            match (&dimension.kind, &entry.encoding) {
                (Kind::Shares { of }, Encoding::Shares(shares)) => {
                    width = of.len() - 1;
                    for (member, name) in of.iter().enumerate() {
                        let reading = Reading::Share { shares: shares.clone(), member };
                        push(name, Meaning::Number, reading);
                    }
                }
                (_, Encoding::Grid(grid)) => {
                    push(name, Meaning::Number, Reading::Grid(grid.clone()));
                }
                (Kind::Integer { low, step, .. }, _) => {
                    let reading = Reading::Integer { low: *low as f64, step: *step as f64 };
                    push(name, Meaning::Number, reading);
                }
                (Kind::Categorical { choices }, _) => {
                    let (meaning, reading) = listed(choices, false);
                    push(name, meaning, reading);
                }
                (Kind::Ordinal { levels }, _) => {
                    let (meaning, reading) = listed(levels, true);
                    push(name, meaning, reading);
                }
                _ => push(name, Meaning::Flag, Reading::Level),
            }
            axis += width;
        }
        variables
    }

    pub fn is_real(&self) -> bool {
        matches!(self.reading, Reading::Grid(_) | Reading::Share { .. })
    }

    pub fn choices(&self) -> &[Value] {
        match &self.meaning {
            Meaning::Choice { choices, .. } => choices,
            _ => &[],
        }
    }

    pub fn is_ordered(&self) -> bool {
        matches!(self.meaning, Meaning::Choice { ordered: true, .. })
    }

    /// How many axes it is read from.
    pub fn width(&self) -> usize {
        match &self.reading {
            Reading::Share { shares, .. } => shares.width(),
            _ => 1,
        }
    }

    /// Its value at a place.
    pub fn value(&self, place: &[f64]) -> f64 {
        let at = place[self.axis];
        match &self.reading {
            Reading::Grid(grid) => grid.value(grid.round(at)),
            Reading::Share { shares, member } => {
                shares.share(&place[self.axis..self.axis + shares.width()], *member)
            }
            Reading::Integer { low, step } => low + step * at,
            Reading::Numbers(numbers) => numbers[at as usize],
            Reading::Level => at,
        }
    }

    /// Its value as written in a configuration; `None` if it has none that means anything here.
    pub fn read(&self, value: &Value) -> Option<f64> {
        match &self.meaning {
            Meaning::Number => value.as_real(),
            Meaning::Flag => value.as_boolean().map(f64::from),
            Meaning::Choice { choices, .. } => {
                let key = value.key();
                choices.iter().position(|choice| choice.key() == key).map(|level| level as f64)
            }
        }
    }

    /// Its values over a box.
    pub fn over(&self, parts: &[(f64, f64)]) -> Interval {
        let (low, high) = parts[self.axis];
        match &self.reading {
            Reading::Grid(grid) => {
                let half = 0.5 * grid.resolution();
                let bounds = grid.bounds();
                let (low, high) = ((low - half).max(0.0), (high + half).min(1.0));
                Interval::new(grid.value(low), grid.value(high))
                    .loosened()
                    .intersect(&Interval::new(bounds.0, bounds.1))
            }
            Reading::Share { shares, member } => {
                let parts = &parts[self.axis..self.axis + shares.width()];
                let (low, high) = shares.share_over(parts, *member);
                Interval::new(low, high).loosened().intersect(&Interval::new(0.0, 1.0))
            }
            Reading::Integer { low: first, step } => {
                Interval::new(first + step * low, first + step * high)
            }
            Reading::Numbers(numbers) => {
                let numbers = &numbers[low as usize..=high as usize];
                let fold = |first: f64, choose: fn(f64, f64) -> f64| {
                    numbers.iter().copied().fold(first, choose)
                };
                Interval::new(fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max))
            }
            Reading::Level => Interval::new(low, high),
        }
    }

    /// Cuts off what cannot give a value of `wanted`; false if nothing is left.
    pub fn narrow(&self, wanted: &Interval, parts: &mut [(f64, f64)]) -> bool {
        if wanted.is_empty() {
            return false;
        }
        let part = &mut parts[self.axis];
        match &self.reading {
            // What a member of several is cut to says little about one coordinate.
            Reading::Share { .. } => {}
            Reading::Grid(grid) => {
                let wanted = wanted.loosened();
                let bounds = grid.bounds();
                if wanted.low > bounds.1 || wanted.high < bounds.0 {
                    return false;
                }
                let step = 2.0 * grid.resolution();
                if wanted.low > bounds.0
                    && let Some(u) = grid.coordinate(wanted.low)
                {
                    part.0 = part.0.max(u - step);
                }
                if wanted.high < bounds.1
                    && let Some(u) = grid.coordinate(wanted.high)
                {
                    part.1 = part.1.min(u + step);
                }
            }
            Reading::Integer { low, step } => {
                let wanted = wanted.loosened();
                part.0 = part.0.max(((wanted.low - low) / step - 1e-9).ceil());
                part.1 = part.1.min(((wanted.high - low) / step + 1e-9).floor());
            }
            Reading::Numbers(numbers) => {
                let holds = |level: f64| wanted.contains(numbers[level as usize]);
                while part.0 <= part.1 && !holds(part.0) {
                    part.0 += 1.0;
                }
                while part.1 >= part.0 && !holds(part.1) {
                    part.1 -= 1.0;
                }
            }
            Reading::Level => {
                part.0 = part.0.max(wanted.low.ceil());
                part.1 = part.1.min(wanted.high.floor());
            }
        }
        part.0 <= part.1
    }
}

/// What a list of choices means: numbers, if all of them are.
fn listed(choices: &[Value], ordered: bool) -> (Meaning, Reading) {
    match choices.iter().map(Value::as_real).collect::<Option<Vec<f64>>>() {
        Some(numbers) => (Meaning::Number, Reading::Numbers(numbers)),
        None => (Meaning::Choice { choices: choices.to_vec(), ordered }, Reading::Level),
    }
}
