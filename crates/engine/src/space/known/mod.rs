//! Constraints over the parameters that are known before a trial runs: `batch * layers <= 4096`.
//!
//! # Design
//! They are a property of the space: a point that breaks one is not legal. Methods move freely in the cube;
//! [`Domain::settle`](crate::domain::Domain::settle), through which every suggestion passes, and the random points and
//! neighbours of the space, which methods start from, are legal. A constraint is compiled once
//! (lexer.rs, parser.rs, expression.rs), evaluated at points, and studied over boxes (interval.rs, propagation.rs);
//! all together (system.rs) leave a region of the space (region.rs), or contradict each other (contradiction.rs).
//!
//! A comparison that mentions an inactive parameter says nothing, and a constraint is broken only by what is false without
//! it. A comparison of a value that is undefined, such as a quotient by zero, is not met.

mod builder;
mod contradiction;
mod expression;
mod interval;
mod lexer;
mod mistake;
mod parser;
mod propagation;
mod region;
mod repair;
mod system;
#[cfg(test)]
mod tests;
mod variable;
mod walk;

use std::collections::HashSet;

use super::configuration::Configuration;
use super::counting::Counting;
use super::dimension::Dimension;
use super::fingerprint::Fingerprint;
use super::kind::Kind;
use super::layout::Layout;
use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::{Rng, Seed};
use builder::Vocabulary;
use region::{Absence, DESCENTS, FIRST_DRAWS, Region};
use system::{Probe, System};
use variable::Variable;

/// The most constraints of a space.
const MOST: usize = 256;
/// The most legal configurations that are listed, so that they can be counted.
const MOST_LISTED: usize = 1 << 16;
/// Draws for the share of the space that is legal: its standard error is half a percent at most.
const SHARE_DRAWS: usize = 10_000;

/// The known constraints of a space.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Known {
    texts: Vec<String>,
    system: System,
    region: Option<Region>,
    /// All legal points, where there are few.
    listed: Option<Points>,
}

impl Known {
    /// Compiles constraints over dimensions, or over listed configurations of them; refuses mistakes and contradictions.
    pub fn new(
        texts: Vec<String>,
        dimensions: &[Dimension],
        layout: &Layout,
        counting: Option<&Counting>,
        only_candidates: bool,
    ) -> Result<Self> {
        if texts.len() > MOST {
            return Err(Error::invalid(
                "known",
                texts.len(),
                format!("at most {MOST} constraints"),
            ));
        }
        let variables = Variable::all(layout, dimensions);
        let wholes: Vec<(String, Vec<String>)> = dimensions
            .iter()
            .filter_map(|dimension| match &dimension.kind {
                Kind::Shares { of } => Some((dimension.name.clone(), of.clone())),
                _ => None,
            })
            .collect();
        let vocabulary =
            Vocabulary { variables: &variables, wholes: &wholes, listed: only_candidates };
        let mut expressions = Vec::with_capacity(texts.len());
        for text in &texts {
            let parsed = parser::parse(text, vocabulary);
            expressions.push(parsed.map_err(|mistake| mistake.of(text))?);
        }
        let system = System::new(layout, variables, expressions);
        let whole = system.whole();
        for (expression, text) in system.expressions.iter().zip(&texts) {
            if let Some(node) = expression.never_defined(&system.variables, &whole) {
                let span = expression.spans[node].clone();
                let message = format!(
                    "`{}` has no value anywhere in the space: it divides by zero, takes the root or logarithm of a \
                     negative number, or overflows",
                    &text[span.clone()]
                );
                return Err(mistake::Mistake::at(span, message).of(text));
            }
        }
        let mut known = Self { texts, system, region: None, listed: None };
        if only_candidates {
            return Ok(known);
        }
        match Region::new(layout, &known.system) {
            Ok(region) => known.region = Some(region),
            Err(Absence::Contradiction) => {
                let set = contradiction::smallest(layout, &known.system.variables, &known.system);
                let constraints = set.iter().map(|&i| known.texts[i].clone()).collect();
                return Err(Error::Contradiction { constraints });
            }
            Err(Absence::NotFound) => {
                return Err(Error::NothingLegal {
                    constraints: known.texts,
                    tries: FIRST_DRAWS + DESCENTS,
                });
            }
        }
        known.listed = known.list(layout, counting);
        Ok(known)
    }

    /// The constraints as written.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// All legal points, where there are few.
    pub fn listed(&self) -> Option<&Points> {
        self.listed.as_ref()
    }

    /// Whether a point of the dimensions meets every constraint.
    pub fn is_met(&self, layout: &Layout, x: &[f64]) -> bool {
        self.system.is_met(layout, x, &mut Probe::of(&self.system))
    }

    /// Refuses a configuration that breaks a constraint, as it is written.
    pub fn check(&self, configuration: &Configuration) -> Result<()> {
        let Some(index) = self.system.broken_by(configuration) else { return Ok(()) };
        let variables = self.system.expressions[index].variables.iter();
        let names = variables.map(|&variable| &self.system.variables[variable].name);
        let values: Vec<String> = names
            .filter_map(|name| Some(format!("`{name}` is {}", configuration.get(name)?.quoted())))
            .collect();
        Err(Error::Violates { constraint: self.texts[index].clone(), values: values.join(", ") })
    }

    /// Whether a listed configuration meets every constraint.
    pub fn admits(&self, configuration: &Configuration) -> bool {
        self.system.broken_by(configuration).is_none()
    }

    /// A legal point, uniform among all.
    pub fn sample(&self, layout: &Layout, rng: &mut Rng) -> Vec<f64> {
        match &self.region {
            Some(region) => region.sample(layout, &self.system, rng),
            None => vec![0.5; layout.dim()],
        }
    }

    /// A legal point near one that is not.
    pub fn repair(&self, layout: &Layout, x: &[f64]) -> Vec<f64> {
        match &self.region {
            Some(region) => repair::repair(layout, &self.system, region.starts(), x),
            None => x.to_vec(),
        }
    }

    /// The share of the space that is legal: exact where the boxes are, otherwise from draws with a seed of their own.
    pub fn share(&self) -> f64 {
        let Some(region) = &self.region else { return 1.0 };
        let mut rng = Seed(0).stream("legal share", 0);
        let mut probe = Probe::of(&self.system);
        let mut place = Vec::new();
        let mut legal = 0;
        for _ in 0..SHARE_DRAWS {
            region.draw(&self.system, &mut place, &mut rng);
            legal += usize::from(self.system.is_met_at(&place, &mut probe));
        }
        region.outer_share() * legal as f64 / SHARE_DRAWS as f64
    }

    /// All legal points, if it takes few steps to list them.
    fn list(&self, layout: &Layout, counting: Option<&Counting>) -> Option<Points> {
        let counting = counting?;
        let mut points = Points::new(layout.dim());
        let mut probe = Probe::of(&self.system);
        if counting.total() <= MOST_LISTED as u128 {
            for x in (0..counting.total()).filter_map(|index| counting.nth(layout, index)) {
                if self.system.is_met(layout, &x, &mut probe) {
                    points.push(&x);
                }
            }
            return Some(points);
        }
        let boxes = self.region.as_ref()?.boxes();
        let levels = |parts: &Vec<(f64, f64)>| -> f64 {
            parts.iter().map(|(low, high)| high - low + 1.0).product()
        };
        if boxes.iter().map(levels).sum::<f64>() > MOST_LISTED as f64 {
            return None;
        }
        let mut x = vec![0.0; layout.dim()];
        // Places that differ in what is inactive are the same point.
        let mut seen = HashSet::new();
        for parts in boxes {
            let mut place: Vec<f64> = parts.iter().map(|part| part.0).collect();
            loop {
                self.system.write(layout, &place, &mut x);
                if self.system.is_met(layout, &x, &mut probe) && seen.insert(Fingerprint::of(&x)) {
                    points.push(&x);
                }
                let Some(axis) = (0..place.len()).rev().find(|&axis| place[axis] < parts[axis].1)
                else {
                    break;
                };
                place[axis] += 1.0;
                for later in axis + 1..place.len() {
                    place[later] = parts[later].0;
                }
            }
        }
        Some(points)
    }
}
