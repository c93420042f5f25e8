//! The part of a space that meets its known constraints: uniform draws from it, and near points of it.
//!
//! The space is cut into boxes, largest first; what interval propagation proves illegal is dropped, and what it proves
//! legal is not cut further. Cutting ends when at least half of what is left is proven legal, or after [`CUTS`] cuts.
//! A draw takes a box by its share and a point of it, and tries again until the point is legal: this is uniform
//! exactly, whatever the boxes are. Where legal points are so rare that [`DRAWS`] draws in a row meet none, a walk by
//! slice sampling with shrinkage (Neal 2003) starts at a known legal point: its steps leave the uniform distribution
//! as it is, so that it forgets where it started, though not at once.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::propagation::{Parts, Scratch, Verdict};
use super::system::{Probe, System};
use super::walk::walk;
use crate::seed::{Rng, Seed, below, uniform};
use crate::space::layout::Layout;

/// The most cuts.
const CUTS: usize = 600;
/// Draws from the boxes before a walk is begun.
const DRAWS: usize = 256;
/// Draws from the boxes in search of the first legal points.
pub(super) const FIRST_DRAWS: usize = 50_000;
/// Descents into ever smaller boxes in search of the first legal points, if draws found too few.
pub(super) const DESCENTS: usize = 200;
/// Legal points that are kept to start walks from.
const STARTS: usize = 32;
/// Steps of a walk for each axis that matters.
const STEPS: usize = 3;

/// Boxes that hold every legal point, and some legal points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    boxes: Vec<Parts>,
    /// The shares of the boxes, summed up.
    cumulative: Vec<f64>,
    /// Legal points, as places.
    starts: Vec<Vec<f64>>,
    /// Whether draws found too few of them.
    is_thin: bool,
}

/// Why there is no region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// It is proven that no point is legal.
    Contradiction,
    /// No legal point was found.
    NotFound,
}

/// An open box in the order of its share; of equal ones, the older comes first.
struct Open {
    share: f64,
    number: usize,
    parts: Parts,
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.share.total_cmp(&other.share).then(other.number.cmp(&self.number))
    }
}

/// The boxes that are left after cutting; none, if it is proven that no point is legal.
pub(super) fn boxes(system: &System) -> Vec<Parts> {
    let mut scratch = Scratch::default();
    let (mut met, mut uncut) = (Vec::new(), Vec::new());
    let (mut met_share, mut open_share) = (0.0, 0.0);
    let mut open = BinaryHeap::new();
    let mut number = 0;
    let mut waiting = vec![system.whole()];
    let mut cuts = 0;
    loop {
        for mut parts in waiting.drain(..) {
            let verdict = system.narrow(&mut parts, &mut scratch);
            let share = system.share(&parts);
            match verdict {
                Verdict::Broken => {}
                Verdict::Met => {
                    met_share += share;
                    met.push(parts);
                }
                Verdict::Open => {
                    open_share += share;
                    open.push(Open { share, number, parts });
                    number += 1;
                }
            }
        }
        if met_share >= open_share || cuts == CUTS {
            break;
        }
        let Some(Open { share, parts, .. }) = open.pop() else { break };
        match widest(system, &parts) {
            Some(axis) => {
                open_share -= share;
                waiting.extend(halves(system, &parts, axis));
                cuts += 1;
            }
            None => uncut.push(parts),
        }
    }
    // In the order of cutting, so that equal systems have equal boxes.
    let mut open = open.into_vec();
    open.sort_by_key(|open| open.number);
    met.extend(uncut);
    met.extend(open.into_iter().map(|open| open.parts));
    met
}

/// The widest axis that constraints depend on and that can be cut.
fn widest(system: &System, parts: &Parts) -> Option<usize> {
    let mut widest: Option<(f64, usize)> = None;
    for &axis in &system.relevant {
        let share = system.axes[axis].share(parts[axis]);
        if widest.is_none_or(|(most, _)| share > most)
            && system.axes[axis].cut(parts[axis]).is_some()
        {
            widest = Some((share, axis));
        }
    }
    widest.map(|(_, axis)| axis)
}

fn halves(system: &System, parts: &Parts, axis: usize) -> impl Iterator<Item = Parts> {
    let halves = system.axes[axis].cut(parts[axis]).into_iter().flatten();
    let parts = parts.clone();
    halves.map(move |half| {
        let mut parts = parts.clone();
        parts[axis] = half;
        parts
    })
}

impl Region {
    /// Finds the legal part of a space.
    pub fn new(layout: &Layout, system: &System) -> Result<Self, Absence> {
        let boxes = boxes(system);
        if boxes.is_empty() {
            return Err(Absence::Contradiction);
        }
        let mut sum = 0.0;
        let cumulative = boxes
            .iter()
            .map(|parts| {
                sum += system.share(parts);
                sum
            })
            .collect();
        let mut region = Self { boxes, cumulative, starts: Vec::new(), is_thin: false };
        let mut rng = Seed(0).stream("first legal points", 0);
        let mut probe = Probe::of(system);
        let mut place = Vec::new();
        for _ in 0..FIRST_DRAWS {
            if region.starts.len() == STARTS {
                return Ok(region);
            }
            region.draw(system, &mut place, &mut rng);
            if system.is_met_at(&place, &mut probe) {
                region.starts.push(system.snapped(layout, &place));
            }
        }
        region.is_thin = true;
        for _ in 0..DESCENTS {
            if region.starts.len() == STARTS {
                return Ok(region);
            }
            if let Some(place) = region.descend(layout, system, &mut rng) {
                region.starts.push(place);
            }
        }
        if region.starts.is_empty() { Err(Absence::NotFound) } else { Ok(region) }
    }

    pub fn boxes(&self) -> &[Parts] {
        &self.boxes
    }

    /// The share of the space that the boxes have: an upper bound of that of the legal points.
    pub fn outer_share(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }

    /// A place in the boxes, which need not be legal.
    pub fn draw(&self, system: &System, place: &mut Vec<f64>, rng: &mut Rng) {
        let aim = uniform(rng) * self.outer_share();
        let index = self.cumulative.partition_point(|&sum| sum <= aim).min(self.boxes.len() - 1);
        random_place(system, &self.boxes[index], place, rng);
    }

    /// A legal point, uniform among all.
    pub fn sample(&self, layout: &Layout, system: &System, rng: &mut Rng) -> Vec<f64> {
        let mut probe = Probe::of(system);
        let mut place = Vec::with_capacity(system.axes.len());
        for _ in 0..DRAWS {
            self.draw(system, &mut place, rng);
            if system.is_met_at(&place, &mut probe) {
                return system.point(layout, &place);
            }
        }
        // In a thin region a walk does not come far from its start: it gets one of its own.
        let fresh = if self.is_thin { self.descend(layout, system, rng) } else { None };
        let start = fresh.unwrap_or_else(|| self.starts[below(rng, self.starts.len())].clone());
        walk(layout, system, &start, STEPS * system.relevant.len().max(4), rng)
    }

    /// Legal points to start from, as places.
    pub fn starts(&self) -> &[Vec<f64>] {
        &self.starts
    }

    /// A legal point by cutting a box at random until a point of it is legal. Not uniform.
    fn descend(&self, layout: &Layout, system: &System, rng: &mut Rng) -> Option<Vec<f64>> {
        let mut probe = Probe::of(system);
        let mut scratch = Scratch::default();
        let mut place = Vec::new();
        let mut parts = self.boxes[below(rng, self.boxes.len())].clone();
        loop {
            random_place(system, &parts, &mut place, rng);
            if system.is_met_at(&place, &mut probe) {
                return Some(system.snapped(layout, &place));
            }
            let axis = widest(system, &parts)?;
            let mut halves: Vec<Parts> = halves(system, &parts, axis).collect();
            if uniform(rng) < 0.5 {
                halves.reverse();
            }
            parts = halves.into_iter().find_map(|mut half| {
                (system.narrow(&mut half, &mut scratch) != Verdict::Broken).then_some(half)
            })?;
        }
    }
}

fn random_place(system: &System, parts: &Parts, place: &mut Vec<f64>, rng: &mut Rng) {
    place.clear();
    place.extend(system.axes.iter().zip(parts).map(|(axis, &part)| axis.at(part, uniform(rng))));
}
