//! Steps among legal points: slice sampling with shrinkage, which needs no step size.
//!
//! A step draws from a whole line through the present point; a draw that is not legal cuts the line there, on its side of the
//! present point, and the step draws again. This leaves the uniform distribution on the legal points as it is
//! (Neal, *Slice sampling*, 2003). Lines run along one axis, or in any direction through the continuous ones.

use rand_distr::{Distribution as _, StandardNormal};

use super::system::{Probe, System};
use crate::seed::{Rng, below, uniform};
use crate::space::layout::Layout;

/// Draws from one line.
const DRAWS: usize = 60;

/// The legal point after so many steps from a legal place.
pub(super) fn walk(
    layout: &Layout,
    system: &System,
    start: &[f64],
    steps: usize,
    rng: &mut Rng,
) -> Vec<f64> {
    let numbers = system.relevant.iter().copied();
    let numbers: Vec<usize> = numbers.filter(|&axis| system.axes[axis].is_continuous()).collect();
    let mut walker = Walker { system, place: start.to_vec(), probe: Probe::of(system) };
    for step in 0..steps {
        if numbers.len() > 1 && step.is_multiple_of(2) {
            walker.any_direction(&numbers, rng);
        } else {
            walker.one_axis(system.relevant[below(rng, system.relevant.len())], rng);
        }
    }
    // What no constraint depends on is free.
    for (axis, at) in
        system.axes.iter().zip(&mut walker.place).enumerate().filter_map(|(index, pair)| {
            system.relevant.binary_search(&index).is_err().then_some(pair)
        })
    {
        *at = axis.at(axis.whole(), uniform(rng));
    }
    system.point(layout, &walker.place)
}

struct Walker<'w> {
    system: &'w System,
    place: Vec<f64>,
    probe: Probe,
}

impl Walker<'_> {
    fn one_axis(&mut self, index: usize, rng: &mut Rng) {
        let axis = &self.system.axes[index];
        let from = self.place[index];
        let (mut low, mut high) = axis.whole();
        let step = if axis.is_continuous() { 0.0 } else { 1.0 };
        let mut place = self.place.clone();
        for _ in 0..DRAWS {
            let to = axis.at((low, high), uniform(rng));
            place[index] = to;
            if to == from {
                return;
            }
            if self.system.is_met_at(&place, &mut self.probe) {
                self.place = place;
                return;
            }
            if to < from {
                low = (to + step).min(from);
            } else {
                high = (to - step).max(from);
            }
        }
    }

    fn any_direction(&mut self, axes: &[usize], rng: &mut Rng) {
        let direction: Vec<f64> = axes.iter().map(|_| StandardNormal.sample(rng)).collect();
        // As far as the cube goes.
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for (&axis, &slope) in axes.iter().zip(&direction) {
            let (to_zero, to_one) = (-self.place[axis] / slope, (1.0 - self.place[axis]) / slope);
            low = low.max(to_zero.min(to_one));
            high = high.min(to_zero.max(to_one));
        }
        if !(low <= 0.0 && high >= 0.0 && low.is_finite() && high.is_finite()) {
            return;
        }
        let mut place = self.place.clone();
        for _ in 0..DRAWS {
            let t = low + (high - low) * uniform(rng);
            for (&axis, &slope) in axes.iter().zip(&direction) {
                place[axis] = (self.place[axis] + t * slope).clamp(0.0, 1.0);
            }
            if self.system.is_met_at(&place, &mut self.probe) {
                self.place = place;
                return;
            }
            if t < 0.0 {
                low = t;
            } else {
                high = t;
            }
        }
    }
}
