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
    if let Some(moved) = one_axis(layout, system, &place, &mut probe) {
        return moved;
    }
    let far = |start: &&Vec<f64>| distance(system, start, &place);
    let anchor = starts.iter().min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(&place);
    let mut x = vec![0.0; layout.dim()];
    let mut is_legal = |place: &[f64]| {
        system.write(layout, place, &mut x);
        system.is_met(layout, &x, &mut probe)
    };
    let mut near = anchor.clone();
    let (mut inside, mut outside) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let t = 0.5 * (inside + outside);
        let between = towards(system, anchor, &place, t);
        if is_legal(&between) {
            (inside, near) = (t, between);
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
    system.write(layout, &near, &mut x);
    x
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

/// The place at a part `t` of the way between two, with the choices of the first.
fn towards(system: &System, from: &[f64], to: &[f64], t: f64) -> Vec<f64> {
    let between = |((axis, &from), &to): ((&Axis, &f64), &f64)| match axis.is_continuous() {
        _ if axis.is_choice => from,
        true => from + (to - from) * t,
        false => (from + (to - from) * t).round(),
    };
    system.axes.iter().zip(from).zip(to).map(between).collect()
}

/// The nearest legal point found that differs from an illegal place in one axis.
fn one_axis(
    layout: &Layout,
    system: &System,
    place: &[f64],
    probe: &mut Probe,
) -> Option<Vec<f64>> {
    let mut scratch = Scratch::default();
    let mut x = vec![0.0; layout.dim()];
    let mut nearest: Option<(f64, Vec<f64>)> = None;
    let mut moved = place.to_vec();
    for &index in &system.relevant {
        let axis = &system.axes[index];
        let mut parts: Parts = place.iter().map(|&at| (at, at)).collect();
        parts[index] = axis.whole();
        if system.narrow(&mut parts, &mut scratch) == Verdict::Broken {
            continue;
        }
        for to in inwards(axis, place[index], parts[index]) {
            let gap = gap(axis, to, place[index]);
            if nearest.as_ref().is_some_and(|(least, _)| gap >= *least) {
                break;
            }
            moved[index] = to;
            system.write(layout, &moved, &mut x);
            if system.is_met(layout, &x, probe) {
                nearest = Some((gap, x.clone()));
                break;
            }
        }
        moved[index] = place[index];
    }
    nearest.map(|(_, x)| x)
}

/// Coordinates or levels to try in a part of an axis, nearest to `from` first: its nearest end, then ever larger
/// steps inwards. Levels and choices are tried one by one.
fn inwards(axis: &Axis, from: f64, (low, high): (f64, f64)) -> Vec<f64> {
    /// The most choices, or steps, to try.
    const MOST: usize = 48;
    if axis.is_choice {
        let levels = (low as u64..=high as u64).map(|level| level as f64);
        return levels.filter(|&level| level != from).take(MOST).collect();
    }
    let resolution = axis.resolution();
    let end = from.clamp(low, high);
    let mut steps = vec![end];
    let mut step = resolution;
    while steps.len() < MOST && step < high - low {
        // From inside the part, both ways are open.
        let ways = [end + step, end - step];
        steps.extend(ways.into_iter().filter(|to| (low..=high).contains(to) && *to != from));
        step = if axis.is_continuous() { 2.0 * step } else { step + 1.0 };
    }
    steps
}
