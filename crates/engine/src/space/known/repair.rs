//! A legal point near one that is not.
//!
//! First, one parameter is moved: interval propagation, with every other one where it is, says which part of its axis can
//! be legal, and its nearest end is approached from inside. Of all parameters, the one that moves least is taken.
//! If no single one helps, all move along the way to a legal point nearby, as little as they must, and those that can
//! move back do.

use super::propagation::{Parts, Scratch, Verdict};
use super::system::{Probe, System};
use super::variable::Axis;
use crate::space::layout::Layout;

/// Halvings of a segment: to a millionth of it.
const BISECTIONS: usize = 20;

/// A legal point near `x`, which is one of the dimensions but breaks a constraint; `starts` are legal places, of which
/// there is one at least.
pub(super) fn repair(layout: &Layout, system: &System, starts: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let place = system.place(layout, x);
    let mut probe = Probe::of(system);
    if let Some(moved) = one_axis(system, &place, &mut probe) {
        return system.point(layout, &moved);
    }
    let far = |start: &&Vec<f64>| distance(system, start, &place);
    let anchor = starts.iter().min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(&place);
    let mut is_legal = |place: &[f64]| system.is_met_at(place, &mut probe);
    let mut near = anchor.clone();
    let mut between = Vec::with_capacity(place.len());
    let (mut inside, mut outside) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let t = 0.5 * (inside + outside);
        towards(system, anchor, &place, t, &mut between);
        if is_legal(&between) {
            inside = t;
            std::mem::swap(&mut near, &mut between);
        } else {
            outside = t;
        }
    }
    for axis in 0..place.len() {
        let moved = std::mem::replace(&mut near[axis], place[axis]);
        if near[axis] != moved && !is_legal(&near) {
            near[axis] = moved;
        }
    }
    system.point(layout, &near)
}

/// How far two coordinates or levels of an axis are apart; different choices, a side of the cube.
fn gap(axis: &Axis, a: f64, b: f64) -> f64 {
    match axis.is_choice {
        true => f64::from(u8::from(a != b)),
        false => (axis.position(a) - axis.position(b)).abs(),
    }
}

/// The squared distance of two places.
fn distance(system: &System, a: &[f64], b: &[f64]) -> f64 {
    system.axes.iter().zip(a).zip(b).map(|((axis, &a), &b)| gap(axis, a, b).powi(2)).sum()
}

/// Writes the place at a part `t` of the way between two, with the choices of the first.
fn towards(system: &System, from: &[f64], to: &[f64], t: f64, between: &mut Vec<f64>) {
    let part = |((axis, &from), &to): ((&Axis, &f64), &f64)| match axis.is_continuous() {
        _ if axis.is_choice => from,
        true => from + (to - from) * t,
        false => (from + (to - from) * t).round(),
    };
    between.clear();
    between.extend(system.axes.iter().zip(from).zip(to).map(part));
}

/// The nearest legal place found that differs from an illegal one in one axis.
fn one_axis(system: &System, place: &[f64], probe: &mut Probe) -> Option<Vec<f64>> {
    let mut scratch = Scratch::default();
    let mut parts = Parts::with_capacity(place.len());
    let mut nearest: Option<(f64, usize, f64)> = None;
    let mut moved = place.to_vec();
    for &index in &system.relevant {
        let axis = &system.axes[index];
        parts.clear();
        parts.extend(place.iter().map(|&at| (at, at)));
        parts[index] = axis.whole();
        if system.narrow(&mut parts, &mut scratch) == Verdict::Broken {
            continue;
        }
        inwards(axis, place[index], parts[index], |to| {
            let gap = gap(axis, to, place[index]);
            if nearest.is_some_and(|(least, ..)| gap >= least) {
                return true;
            }
            moved[index] = to;
            let is_legal = system.is_met_at(&moved, probe);
            if is_legal {
                nearest = Some((gap, index, to));
            }
            is_legal
        });
        moved[index] = place[index];
    }
    let (_, index, to) = nearest?;
    moved[index] = to;
    Some(moved)
}

/// Tries coordinates or levels in a part of an axis until one ends the search, nearest to `from` first: its nearest end, then ever
/// larger steps inwards. Levels and choices are tried one by one.
fn inwards(axis: &Axis, from: f64, (low, high): (f64, f64), mut ends: impl FnMut(f64) -> bool) {
    /// The most choices, or steps, to try.
    const MOST: usize = 48;
    if axis.is_choice {
        let levels = (low as u64..=high as u64).map(|level| level as f64);
        levels.filter(|&level| level != from).take(MOST).any(ends);
        return;
    }
    let end = from.clamp(low, high);
    if ends(end) {
        return;
    }
    let mut step = axis.resolution();
    let mut tried = 1;
    while tried < MOST && step < high - low {
        // From inside the part, both ways are open.
        for to in [end + step, end - step] {
            if (low..=high).contains(&to) && to != from {
                tried += 1;
                if ends(to) {
                    return;
                }
            }
        }
        step = if axis.is_continuous() { 2.0 * step } else { step + 1.0 };
    }
}
