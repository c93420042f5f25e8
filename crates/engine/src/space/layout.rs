//! The layout of a space: where in the cube each dimension lies, and which are active at a point.
//!
//! Dimensions follow each other in the order of their declaration, so that a parent's level is known
//! before its children are met: every operation is one pass, O(coordinates), whatever the nesting.

use std::collections::HashMap;
use std::ops::Range;

use super::configuration::Configuration;
use super::dimension::Dimension;
use super::encoding::Encoding;
use super::kind::Kind;
use super::value::{Value, list};
use crate::error::{Error, Result};

/// All dimensions of a space, compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    entries: Vec<Entry>,
    names: HashMap<String, usize>,
    dim: usize,
    /// How many dimensions have children.
    parents: usize,
}

/// One dimension, compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) encoding: Encoding,
    /// Its coordinates.
    pub(super) range: Range<usize>,
    /// Its place among the dimensions that have children.
    pub(super) slot: Option<usize>,
    pub(super) gate: Option<Gate>,
}

/// A condition, compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gate {
    /// The index of the parent among the dimensions.
    pub(super) parent: usize,
    /// The parent's place among the dimensions that have children.
    slot: usize,
    /// The parent's levels that open the gate, ascending.
    pub(super) levels: Vec<u64>,
}

impl Layout {
    /// Checks the dimensions, one by one and against each other.
    pub(super) fn new(dimensions: &[Dimension]) -> Result<Self> {
        if dimensions.is_empty() {
            return Err(Error::invalid("dimensions", "[]", "at least one dimension"));
        }
        let mut layout = Self { entries: Vec::new(), names: HashMap::new(), dim: 0, parents: 0 };
        for (i, dimension) in dimensions.iter().enumerate() {
            let field = || format!("dimensions[{i}].name");
            if dimension.name.trim().is_empty() {
                return Err(Error::invalid(field(), format!("{:?}", dimension.name), "not empty"));
            }
            if let Some(first) = layout.names.get(&dimension.name) {
                let allowed = format!("different from that of dimensions[{first}]");
                return Err(Error::invalid(field(), format!("{:?}", dimension.name), allowed));
            }
            let encoding = Encoding::new(dimension)?;
            let gate = layout.gate(dimensions, dimension)?;
            let range = layout.dim..layout.dim + encoding.width();
            layout.dim = range.end;
            layout.entries.push(Entry { encoding, range, slot: None, gate });
            // Only now, so that no dimension is its own parent.
            layout.names.insert(dimension.name.clone(), i);
            layout.name_shares(dimension, i)?;
        }
        Ok(layout)
    }

    /// Notes the names of shares, which are parameters like any other.
    fn name_shares(&mut self, dimension: &Dimension, index: usize) -> Result<()> {
        let Kind::Shares { of } = &dimension.kind else { return Ok(()) };
        for (place, name) in of.iter().enumerate() {
            if let Some(first) = self.names.insert(name.clone(), index) {
                let field = format!("{}.of[{place}]", dimension.name);
                let allowed = format!("different from the names of dimensions[{first}]");
                return Err(Error::invalid(field, format!("{name:?}"), allowed));
            }
        }
        Ok(())
    }

    /// The compiled condition of a dimension, all those before which are laid out.
    fn gate(&mut self, dimensions: &[Dimension], dimension: &Dimension) -> Result<Option<Gate>> {
        let Some(condition) = &dimension.condition else { return Ok(None) };
        let field = |part: &str| format!("{}.when.{part}", dimension.name);
        let Some(&parent) = self.names.get(&condition.parent) else {
            let known = names(&dimensions[..self.entries.len()]);
            let allowed = format!("the name of a dimension declared before; these are {known}");
            let value = format!("{:?}", condition.parent);
            return Err(Error::invalid(field("parent"), value, allowed));
        };
        let kind = &dimensions[parent].kind;
        if kind.count().is_none() {
            let value = format!("{:?}", condition.parent);
            let allowed = "the name of a discrete dimension; this one is real";
            return Err(Error::invalid(field("parent"), value, allowed));
        }
        if condition.values.is_empty() {
            let allowed = format!("at least one value of `{}`", condition.parent);
            return Err(Error::invalid(field("values"), list(&condition.values), allowed));
        }
        let levels: Result<Vec<u64>> = condition
            .values
            .iter()
            .map(|value| {
                kind.level(value)
                    .ok_or_else(|| Error::invalid(field("values"), value.quoted(), kind.allowed()))
            })
            .collect();
        let mut levels = levels?;
        levels.sort_unstable();
        levels.dedup();
        let parents = &mut self.parents;
        let slot = *self.entries[parent].slot.get_or_insert_with(|| {
            *parents += 1;
            *parents - 1
        });
        Ok(Some(Gate { parent, slot, levels }))
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Nothing seen yet of a point.
    pub(super) fn unseen(&self) -> Seen {
        let spilled = if self.parents > INLINE { vec![0; self.parents] } else { Vec::new() };
        Seen { inline: [0; INLINE], spilled }
    }

    /// Moves a point to the nearest legal one.
    pub(super) fn snap(&self, x: &mut [f64]) {
        let mut seen = self.unseen();
        for entry in &self.entries {
            let block = &mut x[entry.range.clone()];
            if seen.is_active(entry) {
                let level = entry.encoding.snap(block);
                seen.record(entry, level);
            } else {
                entry.encoding.write_inactive(block);
            }
        }
    }

    /// Which dimensions are active at a legal point.
    pub(super) fn active(&self, x: &[f64]) -> Vec<bool> {
        let mut seen = self.unseen();
        let active = |entry: &Entry| {
            let active = seen.is_active(entry);
            if active {
                seen.record(entry, entry.encoding.level(&x[entry.range.clone()]));
            }
            active
        };
        self.entries.iter().map(active).collect()
    }

    /// The configuration of the legal point nearest to `x`.
    pub(super) fn decode(&self, dimensions: &[Dimension], x: &[f64]) -> Configuration {
        let mut configuration = Configuration::new();
        let mut seen = self.unseen();
        for (entry, dimension) in self.entries.iter().zip(dimensions) {
            if seen.is_active(entry) {
                let block = &x[entry.range.clone()];
                let level = entry.encoding.level(block);
                seen.record(entry, level);
                entry.encoding.decode(dimension, block, level, &mut configuration);
            }
        }
        configuration
    }

    /// The legal point of a configuration.
    pub(super) fn encode(
        &self,
        dimensions: &[Dimension],
        configuration: &Configuration,
    ) -> Result<Vec<f64>> {
        // Before anything is found missing: a misspelt name is both, and this names the mistake.
        if let Some((name, _)) =
            configuration.iter().find(|(name, _)| !self.names.contains_key(*name))
        {
            let reason = format!("the space has no such dimension; it has {}", names(dimensions));
            return Err(Error::UnexpectedValue { dimension: name.clone(), reason });
        }
        let mut x = vec![0.0; self.dim];
        let mut seen = self.unseen();
        for (entry, dimension) in self.entries.iter().zip(dimensions) {
            let block = &mut x[entry.range.clone()];
            if let Kind::Shares { of } = &dimension.kind
                && configuration.get(&dimension.name).is_some()
            {
                let reason = format!("it is a whole; its shares are {}", of.join(", "));
                return Err(Error::UnexpectedValue { dimension: dimension.name.clone(), reason });
            }
            if seen.is_active(entry) {
                let level = entry.encoding.encode(dimension, configuration, block)?;
                seen.record(entry, level);
                continue;
            }
            if let Some(name) =
                dimension.parameters().find(|name| configuration.get(name).is_some())
            {
                return Err(unexpected(name, dimension, configuration));
            }
            entry.encoding.write_inactive(block);
        }
        Ok(x)
    }
}

/// The error for a value of an inactive dimension.
fn unexpected(name: &str, dimension: &Dimension, configuration: &Configuration) -> Error {
    let reason = dimension.condition.as_ref().map_or_else(String::new, |condition| {
        let parent = configuration
            .get(&condition.parent)
            .map_or_else(|| "not active".to_owned(), Value::quoted);
        format!("it is active only where {condition}, and `{}` is {parent} here", condition.parent)
    });
    Error::UnexpectedValue { dimension: name.to_owned(), reason }
}

/// The names of the parameters of dimensions, as an error message lists them.
fn names(dimensions: &[Dimension]) -> String {
    if dimensions.is_empty() {
        return "none".to_owned();
    }
    let parameters = dimensions.iter().flat_map(Dimension::parameters);
    parameters.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

const INLINE: usize = 16;

/// The levels of the parents seen so far on the way through a point; 0 for an inactive one, otherwise the
/// level plus one. A few parents need no memory of the heap.
pub(super) struct Seen {
    inline: [u64; INLINE],
    spilled: Vec<u64>,
}

impl Seen {
    /// Whether a dimension is active, all those before it being recorded.
    #[inline]
    pub(super) fn is_active(&self, entry: &Entry) -> bool {
        let Some(gate) = &entry.gate else { return true };
        let levels = if self.spilled.is_empty() { &self.inline[..] } else { &self.spilled };
        let level = levels[gate.slot];
        level > 0 && gate.levels.binary_search(&(level - 1)).is_ok()
    }

    /// Notes the level of an active dimension.
    #[inline]
    pub(super) fn record(&mut self, entry: &Entry, level: u64) {
        if let Some(slot) = entry.slot {
            let levels =
                if self.spilled.is_empty() { &mut self.inline[..] } else { &mut self.spilled };
            levels[slot] = level + 1;
        }
    }
}
