//! A batch for several objectives: greedy picks by the exact gain in hypervolume.
//!
//! ```text
//! maximise   hv(front + earlier picks + {μ(x) - b σ(x)}) - hv(front + earlier picks)
//! ```
//! The width b is mostly 0: with several objectives the front itself makes a batch explore, and wide bounds cost more than they
//! bring (docs/decisions/0013). Earlier picks and pending points count with their means. The gain is exact, a sum over
//! [`Boxes`]; it is multiplied by the probability that the trial has a value and meets the constraints.
//!
//! Where nothing gains, the expected gain decides, which is never 0. Gains are not computed anew for every candidate and pick:
//! they only fall, so that a queue by the last known gain finds the highest with few computations.
//!
//! Beyond three objectives boxes are too many. There each pick maximises a random scalarisation, whose mean over
//! the weights is the hypervolume (`pareto::scalarisation`).

use std::collections::BinaryHeap;

use super::nursery::Nursery;
use super::pool::{Claim, Pool};
use crate::acquisition::expected_gain;
use crate::domain::Occupied;
use crate::error::Result;
use crate::pareto::Boxes;
use crate::pareto::scalarisation::Scalarisation;
use crate::points::Points;
use crate::seed::Rng;

/// Deviations below the mean, pick after pick.
const WIDTHS: [f64; 10] = [0.0, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.5];
/// The most objectives for which gains are exact.
pub(super) const EXACT: usize = 3;
/// Rounds of the search about a pick: how many points, and the range of their deviations.
const POLISH: [(usize, (f64, f64)); 2] = [(60, (1e-3, 0.1)), (60, (1e-3, 0.02))];
/// A pick this near to a known point, in the largest difference of a coordinate, moves away.
const APART: f64 = 1e-6;
/// How far it moves.
const AWAY: f64 = 0.02;
/// Candidates that the expected gain is computed for.
const EXPECTED: usize = 128;
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
    Expected(Boxes),
    /// A scalarisation of values over these ranges, and the best of the front under it.
    Scalarised(Scalarisation, Vec<f64>, f64),
}

impl Worth {
    fn of(&self, means: &[f64], deviations: impl FnOnce() -> Vec<f64>, width: f64) -> f64 {
        let lowered = |deviations: Vec<f64>| -> Vec<f64> {
            means.iter().zip(&deviations).map(|(mean, s)| mean - width * s).collect()
        };
        match self {
            Self::Gain(boxes) if width == 0.0 => boxes.gain(means),
            Self::Gain(boxes) => boxes.gain(&lowered(deviations())),
            Self::Expected(boxes) => expected_gain(boxes, means, &deviations()),
            Self::Scalarised(scalarisation, ranges, best) => {
                best - scalarisation.column(&scaled(&lowered(deviations()), ranges))
            }
        }
    }
}

impl Picks<'_, '_, '_, '_> {
    /// `count` picks, of which the first is the `first`-th trial of the search.
    pub(super) fn choose(
        mut self,
        first: usize,
        count: usize,
        chance: &dyn Fn(&[f64]) -> f64,
        rng: &mut Rng,
    ) -> Result<Points> {
        let mut chosen = Points::with_capacity(self.known.dim(), count);
        let mut queues: Vec<(f64, BinaryHeap<Claim>)> = Vec::new();
        for pick in 0..count {
            let width = WIDTHS[(first + pick) % WIDTHS.len()];
            let (worth, start) = match self.front.dim() <= EXACT {
                true => self.exact(pick, width, &mut queues)?,
                false => self.scalarised(width, rng)?,
            };
            let x = match start {
                Some((value, candidate)) => {
                    self.polished(&worth, width, value, candidate, chance, rng)
                }
                // Every candidate is taken: the caller finds a free place nearby.
                None => {
                    self.nursery.spread(1, first + pick, crate::seed::Seed(0), rng).row(0).to_vec()
                }
            };
            self.occupied.insert(&x);
            self.pool.take_in(&x)?;
            let (means, _) = self.pool.predict(&Points::from_rows(x.len(), [&x]));
            self.front.push(means.row(0));
            self.known.push(&x);
            chosen.push(&x);
        }
        Ok(chosen)
    }

    /// The free candidate with the highest gain; where none gains, the one with the highest expected gain.
    fn exact(
        &self,
        pick: usize,
        width: f64,
        queues: &mut Vec<(f64, BinaryHeap<Claim>)>,
    ) -> Result<(Worth, Option<(f64, usize)>)> {
        let worth = Worth::Gain(Boxes::new(&self.front, &self.reference)?);
        let place = match queues.iter().position(|queue| queue.0 == width) {
            Some(place) => place,
            None => {
                let claim = |candidate| Claim { gain: f64::INFINITY, candidate, at: usize::MAX };
                queues.push((width, (0..self.pool.len()).map(claim).collect()));
                queues.len() - 1
            }
        };
        let queue = &mut queues[place].1;
        while let Some(claim) = queue.pop() {
            let i = claim.candidate;
            if !self.occupied.is_free(self.pool.point(i)) {
                continue;
            }
            if claim.at == pick {
                queue.push(claim);
                if claim.gain > 0.0 {
                    return Ok((worth, Some((claim.gain, i))));
                }
                break;
            }
            queue.push(Claim { gain: self.value(&worth, width, i), candidate: i, at: pick });
        }
        let worth = Worth::Expected(Boxes::new(&self.front, &self.reference)?);
        let (mut optimistic, _) = self.pool.front(1.0, 0.0)?;
        optimistic.truncate(EXPECTED);
        // In a finite space all of the optimistic front may be taken.
        Ok(match self.highest(worth, width, optimistic.into_iter()) {
            (worth, None) => self.highest(worth, width, 0..self.pool.len()),
            found => found,
        })
    }

    /// The free candidate with the best value of a random scalarisation: of the first under which one is better than the front, or of the last
    /// that is tried.
    fn scalarised(&self, width: f64, rng: &mut Rng) -> Result<(Worth, Option<(f64, usize)>)> {
        let reference = scaled(&self.reference, &self.ranges);
        let mut tried = 0;
        loop {
            tried += 1;
            let scalarisation = Scalarisation::draw(&reference, rng)?;
            let column = |row: &[f64]| scalarisation.column(&scaled(row, &self.ranges));
            let best = self.front.rows().map(column).fold(f64::INFINITY, f64::min).min(0.0);
            let worth = Worth::Scalarised(scalarisation, self.ranges.clone(), best);
            let winner = self.highest(worth, width, 0..self.pool.len());
            if tried == TRIES || winner.1.is_some_and(|(value, _)| value > 0.0) {
                return Ok(winner);
            }
        }
    }

    fn highest(
        &self,
        worth: Worth,
        width: f64,
        among: impl Iterator<Item = usize>,
    ) -> (Worth, Option<(f64, usize)>) {
        let mut winner: Option<(f64, usize)> = None;
        for i in among {
            let value = self.value(&worth, width, i);
            if winner.is_none_or(|winner| value > winner.0)
                && self.occupied.is_free(self.pool.point(i))
            {
                winner = Some((value, i));
            }
        }
        (worth, winner)
    }

    fn value(&self, worth: &Worth, width: f64, i: usize) -> f64 {
        let value = worth.of(self.pool.means().row(i), || self.pool.deviations(i), width);
        weighed(value, self.pool.chance(i))
    }

    /// The best point found about a candidate, away from all known points.
    fn polished(
        &self,
        worth: &Worth,
        width: f64,
        value: f64,
        candidate: usize,
        chance: &dyn Fn(&[f64]) -> f64,
        rng: &mut Rng,
    ) -> Vec<f64> {
        let (mut highest, mut x) = (value, self.pool.point(candidate).to_vec());
        if !self.nursery.breeds() {
            return x;
        }
        for (count, range) in POLISH {
            let near = self.nursery.children(&Points::from_rows(x.len(), [&x]), count, range, rng);
            let (means, deviations) = self.pool.predict(&near);
            for (i, point) in near.rows().enumerate() {
                let value = worth.of(means.row(i), || deviations.row(i).to_vec(), width);
                let value = weighed(value, chance(point));
                if value > highest && self.occupied.is_free(point) {
                    (highest, x) = (value, point.to_vec());
                }
            }
        }
        let gap = |a: &[f64]| a.iter().zip(&x).fold(0.0_f64, |gap, (a, b)| gap.max((a - b).abs()));
        if self.known.rows().any(|known| gap(known) < APART) {
            let parent = Points::from_rows(x.len(), [&x]);
            x = self.nursery.children(&parent, 1, (AWAY, AWAY), rng).row(0).to_vec();
        }
        x
    }
}

/// A worth times a probability; a negative worth becomes worse, not better, where success is unlikely.
fn weighed(worth: f64, chance: f64) -> f64 {
    if worth > 0.0 { worth * chance } else { worth / chance }
}

fn scaled(row: &[f64], ranges: &[f64]) -> Vec<f64> {
    row.iter().zip(ranges).map(|(y, range)| y / range).collect()
}
