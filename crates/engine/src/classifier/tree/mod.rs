//! Binary regression trees: what the forest and boosting are made of.
//!
//! Columns are put into bins once a fit ([`Bins`]); every tree is then grown from sums over bins ([`Growth`]), and
//! the same inner loop serves both: each point carries a gradient gᵢ and a weight hᵢ, and a leaf with sums G and H
//! takes the value that minimises Σᵢ (gᵢ v + ½ hᵢ v²) + ½ λ v²,
//!
//!     v = -G / (H + λ),   which lowers the loss by   ½ G² / (H + λ).
//!
//! A grown tree is a flat array of nodes. Reading it costs one comparison a level.

mod bins;
mod growth;
mod reading;
mod workers;

pub(super) use bins::{Bins, MAX_BINS};
pub(super) use growth::{Growth, Sums};
pub(super) use reading::Reading;
pub(super) use workers::{in_parallel, workers_for};

use crate::points::Points;
use crate::seed::{Rng, below};

/// Points that walk down a tree side by side, so that the loads of one hide behind those of the others.
const LANES: usize = 8;

/// A node: points with x[feature] ≤ threshold go to `left`, the others to `left` + 1.
///
/// A leaf leads to itself whatever the point, so that a walk needs no test for it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    threshold: f64,
    feature: u32,
    left: u32,
}

/// A grown tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The value of each leaf, in its node's place.
    values: Vec<f64>,
}

impl Tree {
    /// A tree that is one leaf.
    fn leaf() -> Self {
        let mut tree = Self { nodes: Vec::new(), values: Vec::new() };
        tree.push_leaf();
        tree
    }

    fn push_leaf(&mut self) {
        let itself = self.nodes.len() as u32;
        self.nodes.push(Node { threshold: f64::INFINITY, feature: 0, left: itself });
        self.values.push(0.0);
    }

    /// Turns a leaf into a node with two leaves, and returns the index of the left one.
    fn split(&mut self, node: usize, feature: usize, threshold: f64) -> usize {
        let left = self.nodes.len();
        self.nodes[node] = Node { threshold, feature: feature as u32, left: left as u32 };
        self.push_leaf();
        self.push_leaf();
        left
    }

    /// The same tree with other values in its leaves.
    pub(super) fn map(mut self, value: impl Fn(f64) -> f64) -> Self {
        self.values.iter_mut().for_each(|v| *v = value(*v));
        self
    }

    /// The value of the leaf that x falls into.
    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            let next = self.step(at, x);
            if next == at {
                return self.values[at as usize];
            }
            at = next;
        }
    }

    /// The value at each point in `range`: `each` is told the offset in the range, and the value.
    pub(super) fn values(
        &self,
        points: &Points,
        range: std::ops::Range<usize>,
        mut each: impl FnMut(usize, f64),
    ) {
        let mut first = range.start;
        while first + LANES <= range.end {
            let rows: [&[f64]; LANES] = std::array::from_fn(|lane| points.row(first + lane));
            let mut at = [0_u32; LANES];
            loop {
                let next: [u32; LANES] =
                    std::array::from_fn(|lane| self.step(at[lane], rows[lane]));
                if next == at {
                    break;
                }
                at = next;
            }
            for (lane, &leaf) in at.iter().enumerate() {
                each(first + lane - range.start, self.values[leaf as usize]);
            }
            first += LANES;
        }
        for i in first..range.end {
            each(i - range.start, self.value(points.row(i)));
        }
    }

    fn step(&self, at: u32, x: &[f64]) -> u32 {
        let node = &self.nodes[at as usize];
        node.left + u32::from(x[node.feature as usize] > node.threshold)
    }
}

/// Each weight times how often its point is drawn when as many are drawn, with replacement, as there are.
pub(super) fn resample(weights: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut drawn = vec![0.0; weights.len()];
    for _ in 0..weights.len() {
        drawn[below(rng, weights.len())] += 1.0;
    }
    drawn.iter_mut().zip(weights).for_each(|(drawn, weight)| *drawn *= weight);
    drawn
}

/// The share of the good in the weight of all points, drawn towards a half as if one good and one bad point
/// had been seen besides: strictly between 0 and 1 whatever the labels.
pub(super) fn smoothed_rate(targets: &[f64], weights: &[f64]) -> f64 {
    let good: f64 = targets.iter().zip(weights).map(|(target, weight)| target * weight).sum();
    (good + 1.0) / (weights.iter().sum::<f64>() + 2.0)
}
