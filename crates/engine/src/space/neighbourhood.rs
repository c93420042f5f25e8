//! A legal point near another: the step of a local search.
//!
//! One active dimension, drawn uniformly, always moves; each other moves with probability 1/d, d being the
//! number of active ones, so that about two move at a time whatever d is. How one moves depends on its kind:
//! see [`nudge`]. A dimension that becomes active is drawn afresh. Cost: O(coordinates).

use rand_distr::{Distribution as _, StandardNormal};

use super::candidates::Candidates;
use super::encoding::Encoding;
use super::layout::Layout;
use super::shares::Shares;
use crate::seed::{Rng, below, uniform};

/// How many of the nearest candidates count as near.
const FEW: usize = 8;

/// A legal point near `x`, and never the legal point nearest to it.
pub(super) fn neighbour(layout: &Layout, x: &[f64], rng: &mut Rng, radius: f64) -> Vec<f64> {
    let mut point = x.to_vec();
    layout.snap(&mut point);
    let mut before = layout.unseen();
    let mut was_active = Vec::with_capacity(layout.entries().len());
    for entry in layout.entries() {
        let active = before.is_active(entry);
        was_active.push(active);
        if active {
            before.record(entry, entry.encoding.level(&point[entry.range.clone()]));
        }
    }
    // The first dimension has no parent: at least one is active.
    let active = was_active.iter().filter(|&&active| active).count();
    let certain = below(rng, active);
    let chance = 1.0 / active as f64;

    let mut after = layout.unseen();
    let mut rank = 0;
    for (entry, &was_active) in layout.entries().iter().zip(&was_active) {
        let moves = was_active && (rank == certain || uniform(rng) < chance);
        rank += usize::from(was_active);
        let block = &mut point[entry.range.clone()];
        if !after.is_active(entry) {
            entry.encoding.write_inactive(block);
            continue;
        }
        if moves {
            nudge(&entry.encoding, block, rng, radius);
        } else if !was_active {
            block.fill_with(|| uniform(rng));
        }
        let level = entry.encoding.snap(block);
        after.record(entry, level);
    }
    point
}

/// A candidate near `x`, and never the one nearest to it unless there is no other.
pub(super) fn near_candidate(candidates: &Candidates, x: &[f64], rng: &mut Rng) -> usize {
    let index = candidates.nearest(x);
    let others = candidates.nearest_others(index, FEW);
    if others.is_empty() { index } else { others[below(rng, others.len())] }
}

/// Moves one dimension to another legal value.
///
/// Reals and integers on a log scale take a Gaussian step of deviation `radius` in their coordinate, other
/// integers and ordinals one of `radius` times their levels, at least one, in levels; faces reflect. What
/// would stay where it is goes one level on. Booleans flip; categoricals take any other choice.
fn nudge(encoding: &Encoding, block: &mut [f64], rng: &mut Rng, radius: f64) {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    match encoding {
        Encoding::Shares(shares) => nudge_shares(shares, block, rng, radius),
        Encoding::Grid(grid) => {
            let from = block[0];
            let to = grid.round(reflect(from + radius * normal()));
            block[0] = if to == from {
                let step = grid.resolution();
                let up = uniform(rng) < 0.5;
                if (up && from < 1.0) || from == 0.0 { from + step } else { from - step }
            } else {
                to
            };
        }
        Encoding::Bins { count } => {
            let from = encoding.level(block);
            let deviation = (radius * *count as f64).max(1.0);
            // The cast takes what is no number to 0 and what is too large to the ends of i64.
            let step = ((deviation * normal()).round() as i128).rem_euclid(2 * i128::from(*count));
            let unfolded = (from + step as u64) % (2 * count);
            let to = unfolded.min(2 * count - 1 - unfolded);
            encoding.write(another(from, to, *count, rng), block);
        }
        Encoding::LogBins(bins) => {
            let from = bins.level(block[0]);
            let to = bins.level(reflect(block[0] + radius * normal()));
            encoding.write(another(from, to, bins.count(), rng), block);
        }
        Encoding::Boolean => block[0] = 1.0 - block[0],
        Encoding::OneHot { choices } => {
            let from = encoding.level(block);
            let other = below(rng, choices - 1) as u64;
            encoding.write(other + u64::from(other >= from), block);
        }
    }
}

/// Moves one split of shares by a Gaussian step of deviation `radius` in its coordinate. The first split always means
/// something; another does, if its group has a share.
fn nudge_shares(shares: &Shares, block: &mut [f64], rng: &mut Rng, radius: f64) {
    let from = block.to_vec();
    let place = below(rng, block.len());
    let normal: f64 = StandardNormal.sample(rng);
    block[place] = reflect(block[place] + radius * normal);
    shares.snap(block);
    if *block == from[..] {
        let step = shares.resolution();
        block[0] = if from[0] < 0.5 { from[0] + step } else { from[0] - step };
        shares.snap(block);
    }
}

/// `to`, or a level beside `from` if they are the same.
fn another(from: u64, to: u64, count: u64, rng: &mut Rng) -> u64 {
    if to != from {
        to
    } else if from == 0 || (from + 1 < count && uniform(rng) < 0.5) {
        from + 1
    } else {
        from - 1
    }
}

/// A coordinate thrown back into the unit interval by its faces.
fn reflect(u: f64) -> f64 {
    let unfolded = u.rem_euclid(2.0);
    unfolded.min(2.0 - unfolded)
}
