//! A batch for several objectives: greedy picks by the exact gain in hypervolume.
//!
//! ```text
//! maximise   hv(front + earlier picks + {μ(x) - b σ(x)}) - hv(front + earlier picks)
//! ```
//! The width b is mostly 0: with several objectives the front itself makes a batch explore, and wide bounds cost more than they
//! bring (docs/decisions/0013). Picks with a width choose from the candidates whose deviations are known (pool.rs). Earlier picks and pending
//! points count with their means. The gain is exact, a sum over [`Boxes`]; it is multiplied by the probability that the trial has a value and
//! meets the constraints.
//!
//! What lies beyond the reference point gains nothing, so that a search which has missed an end of a disconnected front would never look
//! for it. Picks with a width therefore look at the ends first: at one objective, by turns, and its expected improvement below the least
//! value of the front, where that is worth a pick.
//!
//! Where nothing gains, the expected gain decides, which is never 0. Gains are not computed anew for every candidate and pick:
//! they only fall, so that a queue by the last known gain finds the highest with few computations.
//!
//! Beyond three objectives boxes are too many. There gains are counted by a sample of directions (`pareto::rays`); where nothing gains, a
//! pick maximises a random scalarisation (`pareto::scalarisation`).

use std::collections::BinaryHeap;

use super::nursery::Nursery;
use super::pool::{Claim, Pool};
use crate::acquisition::{expected_gain, improvement};
use crate::domain::Occupied;
use crate::error::Result;
use crate::pareto::Boxes;
use crate::pareto::rays::Rays;
use crate::pareto::scalarisation::Scalarisation;
use crate::points::Points;
use crate::seed::Rng;

/// Deviations below the mean, pick after pick.
const WIDTHS: [f64; 10] = [0.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.5];
/// Picks from one with a width to the next.
const WIDE_EVERY: usize = 5;
/// The least expected improvement at an end of the front that is worth a pick, in units of the objective's range.
const END: f64 = 3e-3;
/// The most objectives for which gains are exact.
pub(super) const EXACT: usize = 3;
/// Rounds of the search about a pick: the range of the deviations of its points.
const POLISH: [(f64, f64); 2] = [(1e-3, 0.1), (1e-3, 0.02)];
/// Points of a round for the first picks of a batch, and for those that follow: a large batch covers the front by its number.
const POINTS: (usize, usize) = (60, 15);
/// The first picks of a batch.
const FIRST: usize = 20;
/// A pick this near to a known point, in the largest difference of a coordinate, moves away.
const APART: f64 = 1e-6;
/// How far it moves.
const AWAY: f64 = 0.02;
/// Directions by which gains are counted beyond [`EXACT`] objectives.
const RAYS: usize = 512;
/// Random scalarisations that are tried before a pick takes the best of the last.
const TRIES: usize = 8;

/// All that picks are made from.
pub(super) struct Picks<'p, 'm, 'o, 't> {
    pub(super) nursery: Nursery<'p>,
    pub(super) pool: Pool<'m>,
    /// The front, with the means of pending points.
    pub(super) front: Points,
    /// Up to where hypervolume counts.
    pub(super) reference: Vec<f64>,
    /// The range of each objective on the predicted front.
    pub(super) ranges: Vec<f64>,
    /// Points with values or pending, that no pick may come too near.
    pub(super) known: Points,
    pub(super) occupied: &'o mut Occupied<'t>,
}

/// What a row of values is worth.
enum Worth {
    Gain(Boxes),
    /// The gain of values over these ranges, by a sample of directions.
    Sampled(Rays, Vec<f64>),
    Expected(Boxes),
    /// Expected improvement of this objective below a value.
    End(usize, f64),
    /// A scalarisation of values over these ranges, and the best of the front under it.
    Scalarised(Scalarisation, Vec<f64>, f64),
}

impl Worth {
    /// Whether it looks at deviations under a width.
    fn needs_deviations(&self, width: f64) -> bool {
        width > 0.0 || matches!(self, Self::Expected(_) | Self::End(..))
    }

    /// Of means, and deviations where it looks at them.
    fn of(&self, means: &[f64], deviations: &[f64], width: f64) -> f64 {
        let lowered = || -> Vec<f64> {
            means.iter().zip(deviations).map(|(mean, s)| mean - width * s).collect()
        };
        match self {
            Self::Gain(boxes) if width == 0.0 => boxes.gain(means),
            Self::Gain(boxes) => boxes.gain(&lowered()),
            Self::Sampled(rays, ranges) if width == 0.0 => rays.gain(&scaled(means, ranges)),
            Self::Sampled(rays, ranges) => rays.gain(&scaled(&lowered(), ranges)),
            Self::Expected(boxes) => expected_gain(boxes, means, deviations),
            &Self::End(objective, least) => {
                improvement(least, means[objective], deviations[objective])
            }
            Self::Scalarised(scalarisation, ranges, best) => {
                let row =
                    if width == 0.0 { scaled(means, ranges) } else { scaled(&lowered(), ranges) };
                best - scalarisation.column(&row)
            }
        }
    }
}

/// The best candidate, and what it is best by.
struct Winner {
    worth: Worth,
    value: f64,
    candidate: usize,
}

impl Picks<'_, '_, '_, '_> {
    /// `count` picks, of which the first is the `first`-th trial of the search.
    pub(super) fn choose(mut self, first: usize, count: usize, rng: &mut Rng) -> Result<Points> {
        let mut chosen = Points::with_capacity(self.known.dim(), count);
        let mut queue = BinaryHeap::new();
        let mut rays = None;
        for pick in 0..count {
            let width = WIDTHS[(first + pick) % WIDTHS.len()];
            let winner = match self.end(first + pick, width)? {
                Some(end) => Some(end),
                None if self.front.dim() <= EXACT => self.exact(pick, width, &mut queue)?,
                None => self.sampled(pick, width, &mut queue, &mut rays, rng)?,
            };
            let x = match winner {
                Some(winner) => {
                    let points = if pick < FIRST { POINTS.0 } else { POINTS.1 };
                    self.polished(&winner, width, points, rng)?
                }
                // Every candidate is taken: the caller finds a free place nearby.
                None => {
                    self.nursery.spread(1, first + pick, crate::seed::Seed(0), rng).row(0).to_vec()
                }
            };
            self.occupied.insert(&x);
            self.pool.take_in(&x);
            let means = self.pool.means_at(&Points::from_rows(x.len(), [&x]));
            if let Some(rays) = &mut rays {
                rays.add(&scaled(means.row(0), &self.ranges));
            }
            self.front.extend(&means);
            self.known.push(&x);
            chosen.push(&x);
        }
        Ok(chosen)
    }

    /// For a pick with a width, the free candidate most likely to move an end of the front, if that is worth it. Objectives take turns.
    fn end(&mut self, place: usize, width: f64) -> Result<Option<Winner>> {
        if width == 0.0 {
            return Ok(None);
        }
        let objective = place / WIDE_EVERY % self.front.dim();
        let least = self.front.rows().map(|row| row[objective]).fold(f64::INFINITY, f64::min);
        let found = self.highest(Worth::End(objective, least), width)?;
        Ok(found.filter(|winner| winner.value > END * self.ranges[objective]))
    }

    /// The free candidate with the highest gain; where none gains, the one with the highest expected gain.
    fn exact(
        &mut self,
        pick: usize,
        width: f64,
        queue: &mut BinaryHeap<Claim>,
    ) -> Result<Option<Winner>> {
        let boxes = Boxes::new(&self.front, &self.reference)?;
        if width > 0.0 {
            let found = self.highest(Worth::Gain(boxes.clone()), width)?;
            if found.as_ref().is_some_and(|winner| winner.value > 0.0) {
                return Ok(found);
            }
        } else if let Some((value, candidate)) = self.first(|row| boxes.gain(row), pick, queue) {
            return Ok(Some(Winner { worth: Worth::Gain(boxes), value, candidate }));
        }
        self.highest(Worth::Expected(boxes), width)
    }

    /// The free candidate whose means gain most, if any does.
    fn first(
        &mut self,
        gain_of: impl Fn(&[f64]) -> f64,
        pick: usize,
        queue: &mut BinaryHeap<Claim>,
    ) -> Option<(f64, usize)> {
        if queue.is_empty() {
            let claim = |(candidate, means): (usize, &[f64])| {
                let gain = gain_of(means);
                Claim { gain, candidate, at: pick, is_weighed: false }
            };
            *queue = self.pool.means().rows().enumerate().map(claim).collect();
        }
        while let Some(claim) = queue.pop() {
            let i = claim.candidate;
            if !self.occupied.is_free(self.pool.point(i)) {
                continue;
            }
            let is_new = claim.at == pick;
            if is_new && claim.is_weighed {
                queue.push(claim);
                return (claim.gain > 0.0).then_some((claim.gain, i));
            }
            let gain = if is_new { claim.gain } else { gain_of(self.pool.means().row(i)) };
            let chance = match self.pool.known_chance(i) {
                // What gains nothing needs no chance; of what does, only the first is looked at more closely.
                None if gain > 0.0 && is_new => Some(self.pool.chance(i)),
                None if gain > 0.0 => None,
                known => Some(known.unwrap_or(1.0)),
            };
            let (gain, is_weighed) = (gain * chance.unwrap_or(1.0), chance.is_some());
            queue.push(Claim { gain, candidate: i, at: pick, is_weighed });
        }
        None
    }

    /// The free candidate with the highest gain by a sample of directions; where none gains, the best by a random scalarisation.
    fn sampled(
        &mut self,
        pick: usize,
        width: f64,
        queue: &mut BinaryHeap<Claim>,
        rays: &mut Option<Rays>,
        rng: &mut Rng,
    ) -> Result<Option<Winner>> {
        if rays.is_none() {
            let mut drawn = Rays::draw(&scaled(&self.reference, &self.ranges), RAYS, rng)?;
            self.front.rows().for_each(|row| drawn.add(&scaled(row, &self.ranges)));
            *rays = Some(drawn);
        }
        let Some(rays) = rays else { return Ok(None) };
        let ranges = self.ranges.clone();
        if width > 0.0 {
            let found = self.highest(Worth::Sampled(rays.clone(), ranges), width)?;
            if found.as_ref().is_some_and(|winner| winner.value > 0.0) {
                return Ok(found);
            }
        } else {
            let gain_of = |row: &[f64]| rays.gain(&scaled(row, &ranges));
            if let Some((value, candidate)) = self.first(gain_of, pick, queue) {
                let worth = Worth::Sampled(rays.clone(), ranges);
                return Ok(Some(Winner { worth, value, candidate }));
            }
        }
        self.scalarised(width, rng)
    }

    /// The free candidate with the best value of a random scalarisation: of the first under which one is better than the front, or of the last
    /// that is tried.
    fn scalarised(&mut self, width: f64, rng: &mut Rng) -> Result<Option<Winner>> {
        let reference = scaled(&self.reference, &self.ranges);
        let mut tried = 0;
        loop {
            tried += 1;
            let scalarisation = Scalarisation::draw(&reference, rng)?;
            let column = |row: &[f64]| scalarisation.column(&scaled(row, &self.ranges));
            let best = self.front.rows().map(column).fold(f64::INFINITY, f64::min).min(0.0);
            let worth = Worth::Scalarised(scalarisation, self.ranges.clone(), best);
            let winner = self.highest(worth, width)?;
            if tried == TRIES || winner.as_ref().is_some_and(|winner| winner.value > 0.0) {
                return Ok(winner);
            }
        }
    }

    /// The free candidate with the highest worth times its chance: of all, or of those whose deviations are known where they count.
    fn highest(&mut self, worth: Worth, width: f64) -> Result<Option<Winner>> {
        let means = |i: usize| self.pool.means().row(i);
        let mut values: Vec<(f64, usize)> = if worth.needs_deviations(width) {
            let sampled = self.pool.sampled()?;
            let means = |i: usize| self.pool.means().row(i);
            sampled
                .iter()
                .map(|(i, deviations)| (worth.of(means(*i), deviations, width), *i))
                .collect()
        } else {
            (0..self.pool.len()).map(|i| (worth.of(means(i), &[], width), i)).collect()
        };
        values.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut winner: Option<(f64, usize)> = None;
        for (value, i) in values {
            // No chance makes a value higher, and those that follow are lower.
            if winner.is_some_and(|winner| winner.0 >= value) {
                break;
            }
            if !self.occupied.is_free(self.pool.point(i)) {
                continue;
            }
            let value = weighed(value, self.pool.chance(i));
            if winner.is_none_or(|winner| value > winner.0) {
                winner = Some((value, i));
            }
        }
        if winner.is_none() && worth.needs_deviations(width) {
            // In a finite space all of the sample may be taken.
            let free = (0..self.pool.len()).find(|&i| self.occupied.is_free(self.pool.point(i)));
            winner = free.map(|i| (0.0, i));
        }
        Ok(winner.map(|(value, candidate)| Winner { worth, value, candidate }))
    }

    /// The best point found about a candidate by `count` points a round, away from all known points.
    fn polished(
        &mut self,
        winner: &Winner,
        width: f64,
        count: usize,
        rng: &mut Rng,
    ) -> Result<Vec<f64>> {
        let &Winner { ref worth, value: mut highest, candidate } = winner;
        let mut x = self.pool.point(candidate).to_vec();
        if !self.nursery.breeds() {
            return Ok(x);
        }
        for range in POLISH {
            let near = self.nursery.children(&Points::from_rows(x.len(), [&x]), count, range, rng);
            let means = self.pool.means_at(&near);
            let deviations = match worth.needs_deviations(width) {
                true => self.pool.deviations_at(&near)?,
                false => Points::zeros(1, near.len()),
            };
            for (i, point) in near.rows().enumerate() {
                let value = worth.of(means.row(i), deviations.row(i), width);
                if value <= highest || !self.occupied.is_free(point) {
                    continue;
                }
                let value = weighed(value, self.pool.chance_at(point));
                if value > highest {
                    (highest, x) = (value, point.to_vec());
                }
            }
        }
        let gap = |a: &[f64]| a.iter().zip(&x).fold(0.0_f64, |gap, (a, b)| gap.max((a - b).abs()));
        if self.known.rows().any(|known| gap(known) < APART) {
            let parent = Points::from_rows(x.len(), [&x]);
            x = self.nursery.children(&parent, 1, (AWAY, AWAY), rng).row(0).to_vec();
        }
        Ok(x)
    }
}

/// A worth times a probability; a negative worth becomes worse, not better, where success is unlikely.
fn weighed(worth: f64, chance: f64) -> f64 {
    if worth > 0.0 { worth * chance } else { worth / chance }
}

fn scaled(row: &[f64], ranges: &[f64]) -> Vec<f64> {
    row.iter().zip(ranges).map(|(y, range)| y / range).collect()
}
