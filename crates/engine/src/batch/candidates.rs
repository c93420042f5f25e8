//! Candidates with local search: for acquisitions without gradients and for spaces where rounding a gradient
//! step says little.
//!
//! Legal points are drawn at random and near the incumbents; the best of them climb by random changes that
//! become smaller. A batch is picked one point at a time by
//!
//! ```text
//! argmax over candidates of  log p̂(x) + min over chosen and pending x' of ln(1 - k(x, x'))
//! ```
//!
//! with SVGD's kernel k, the discrete counterpart of repulsion. Its bandwidth is taken over the best of the points
//! drawn at random, which lie as far apart as the target is wide; those that climbed crowd on its peaks.
//! A countable domain of at most `exact_up_to` configurations is searched whole.

use serde::{Deserialize, Serialize};

use super::{BatchRule, SteinKernel, check_count, shortlist};
use crate::acquisition::Acquisition;
use crate::classifier::Target;
use crate::domain::Domain;
use crate::error::Result;
use crate::named::Named;
use crate::points::{Points, squared_distance};
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Settings of the search over candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Candidates {
    /// Points drawn at random.
    pub samples: usize,
    /// How many of the best climb.
    pub climbers: usize,
    /// Rounds of climbing.
    pub rounds: usize,
    /// Changes tried for each climber in a round, and around each incumbent at the start.
    pub changes: usize,
    /// Up to how many configurations a countable domain is searched exactly.
    pub exact_up_to: usize,
}

impl Named for Candidates {
    const NAME: &'static str = "candidates";
    const DESCRIPTION: &'static str = "random candidates with local search; needs no gradients";
}

impl Default for Candidates {
    fn default() -> Self {
        Self { samples: 500, climbers: 10, rounds: 16, changes: 8, exact_up_to: 16_384 }
    }
}

/// The radius of the first changes, a part of the cube's side; it shrinks to a hundredth over the rounds.
const FIRST_RADIUS: f64 = 0.2;
/// How many of the best random points the bandwidth of the repulsion is taken over.
const BANDWIDTH_CANDIDATES: usize = 64;

impl<A: Acquisition + ?Sized> BatchRule<A> for Candidates {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        domain.check_room(size)?;
        let (pool, values, drawn) = match shortlist::all_free(domain, self.exact_up_to) {
            Some(all) => {
                let values = shortlist::values(density, &all)?;
                let drawn = all.len();
                (all, values, drawn)
            }
            None => {
                let drawn = self.samples.max(4 * size);
                let (pool, values) = self.climb(density, domain, drawn, size, rng)?;
                (pool, values, drawn)
            }
        };
        let order = shortlist::highest(&values, pool.len());
        if size == 1 && domain.pending.is_empty() {
            return Ok(shortlist::first_free(&pool, &order, domain, 1));
        }
        let typical = shortlist::highest(&values[..drawn], BANDWIDTH_CANDIDATES);
        let mut kernel = SteinKernel::default();
        kernel.update(&Points::from_rows(pool.dim(), typical.iter().map(|&i| pool.row(i))));
        let order = spread(&pool, &values, &order, domain, kernel.bandwidth(), size);
        Ok(shortlist::first_free(&pool, &order, domain, size))
    }

    fn check(&self) -> Result<()> {
        check_count("candidates samples", self.samples)?;
        check_count("candidates climbers", self.climbers)?;
        // Every change that is tried is kept; without rounds there are still those around incumbents.
        let rounds = self.rounds.max(1);
        let tried = self.climbers.saturating_mul(rounds).saturating_mul(self.changes);
        check_count("candidates climbers x rounds x changes", tried.max(1))
    }

    /// Pending points repel, so that a point is the maximiser only where none is pending.
    fn choice(&self, space: &SearchSpace, _target: Target, plan: Plan) -> Choice {
        match plan.pending {
            false => super::maximum(space, self.exact_up_to, plan),
            true => Choice::ApproximateMaximum,
        }
    }
}

impl Candidates {
    /// All candidates that were looked at, the `drawn` random ones first, with their values.
    pub(super) fn climb<A: Acquisition + ?Sized>(
        &self,
        acquisition: &A,
        domain: &Domain<'_>,
        drawn: usize,
        batch_size: usize,
        rng: &mut Rng,
    ) -> Result<(Points, Vec<f64>)> {
        let space = domain.space;
        let mut pool = Points::with_capacity(space.dim(), drawn);
        for _ in 0..drawn {
            pool.push(&space.sample(rng));
        }
        for incumbent in domain.incumbents.rows() {
            for _ in 0..self.changes {
                pool.push(&space.neighbour(incumbent, rng, FIRST_RADIUS));
            }
        }
        let mut values = shortlist::values(acquisition, &pool)?;
        // The climbers, as indices into the pool.
        let mut climbers = shortlist::highest(&values, self.climbers.max(batch_size));
        for round in 0..self.rounds {
            let radius = FIRST_RADIUS * 0.01_f64.powf(round as f64 / self.rounds as f64);
            let mut changed = Points::with_capacity(space.dim(), climbers.len() * self.changes);
            for &climber in &climbers {
                for _ in 0..self.changes {
                    changed.push(&space.neighbour(pool.row(climber), rng, radius));
                }
            }
            let changed_values = shortlist::values(acquisition, &changed)?;
            let first = pool.len();
            for (c, climber) in climbers.iter_mut().enumerate() {
                for offset in c * self.changes..(c + 1) * self.changes {
                    let current = if *climber < first {
                        values[*climber]
                    } else {
                        changed_values[*climber - first]
                    };
                    if changed_values[offset] > current {
                        *climber = first + offset;
                    }
                }
            }
            pool.extend(&changed);
            values.extend(changed_values);
        }
        Ok((pool, values))
    }
}

/// The order of choice under repulsion: `order` with the first `batch_size` picked one after another.
fn spread(
    pool: &Points,
    values: &[f64],
    order: &[usize],
    domain: &Domain<'_>,
    bandwidth: f64,
    batch_size: usize,
) -> Vec<usize> {
    let occupied = domain.occupied();
    let rate = -1.0 / bandwidth;
    // ln(1 - exp(-g/h)) without loss where g is small: the floor stands for "on top of each other".
    let repulsion = |gap: f64| (-(rate * gap).exp_m1()).max(f64::MIN_POSITIVE).ln();

    let free: Vec<usize> =
        order.iter().copied().filter(|&i| occupied.is_free(pool.row(i))).collect();
    let mut penalties: Vec<f64> = free
        .iter()
        .map(|&i| {
            let gaps = domain.pending.rows().map(|p| squared_distance(pool.row(i), p));
            gaps.map(repulsion).fold(0.0, f64::min)
        })
        .collect();
    let mut picked = Vec::with_capacity(batch_size);
    for _ in 0..batch_size.min(free.len()) {
        let score = |c: usize| values[free[c]] + penalties[c];
        let Some(best) =
            (0..free.len()).reduce(|best, c| if score(c) > score(best) { c } else { best })
        else {
            break;
        };
        picked.push(free[best]);
        for (c, penalty) in penalties.iter_mut().enumerate() {
            let gap = squared_distance(pool.row(free[c]), pool.row(free[best]));
            *penalty = penalty.min(repulsion(gap));
        }
        penalties[best] = f64::NEG_INFINITY;
    }
    picked.extend_from_slice(order);
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::space::{Dimension, SearchSpace, Taken};

    /// A peak at `peak` in every coordinate.
    struct Peak {
        peak: f64,
        dim: usize,
    }

    impl Acquisition for Peak {
        fn dim(&self) -> usize {
            self.dim
        }

        fn value(&self, x: &[f64]) -> f64 {
            -x.iter().map(|x| (x - self.peak).powi(2)).sum::<f64>() / 0.02
        }
    }

    fn reals(dim: usize) -> SearchSpace {
        SearchSpace::new((0..dim).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0))).unwrap()
    }

    fn choose(
        rule: Candidates,
        space: &SearchSpace,
        pending: &Points,
        size: usize,
        index: u64,
    ) -> Points {
        let (taken, none) = (Taken::default(), Points::new(space.dim()));
        let domain = Domain { space, taken: &taken, pending, incumbents: &none };
        let peak = Peak { peak: 0.4, dim: space.dim() };
        rule.choose(&peak, &domain, size, &mut Seed(2).stream("test", index)).unwrap()
    }

    #[test]
    fn local_search_beats_as_many_random_candidates() {
        let (space, none) = (reals(6), Points::new(6));
        let climbing = Candidates::default();
        let looked_at = climbing.samples + climbing.rounds * climbing.climbers * climbing.changes;
        let random = Candidates { samples: looked_at, rounds: 0, ..climbing };
        let peak = Peak { peak: 0.4, dim: 6 };
        let reached = |rule| {
            (0..10).map(|i| peak.value(choose(rule, &space, &none, 1, i).row(0))).sum::<f64>()
                / 10.0
        };
        let (climbed, drawn) = (reached(climbing), reached(random));
        assert!(climbed > 0.25 * drawn, "{climbed} against {drawn}");
    }

    #[test]
    fn the_points_of_a_batch_keep_apart_and_clear_of_pending_ones() {
        let (space, none) = (reals(2), Points::new(2));
        let closest = |a: &Points, b: &Points, same: bool| {
            let pairs = a
                .rows()
                .enumerate()
                .flat_map(|(i, x)| b.rows().enumerate().map(move |(j, y)| (i, x, j, y)));
            pairs
                .filter(|(i, _, j, _)| !(same && i == j))
                .map(|(_, x, _, y)| squared_distance(x, y))
                .fold(f64::INFINITY, f64::min)
        };
        let batch = choose(Candidates::default(), &space, &none, 8, 0);
        assert!(closest(&batch, &batch, true) > 1e-4);
        let pending = Points::from_rows(2, [[0.4, 0.4]]);
        let batch = choose(Candidates::default(), &space, &pending, 4, 0);
        assert!(closest(&batch, &pending, false) > 1e-3);
    }

    #[test]
    fn a_small_countable_space_is_searched_whole() {
        let space =
            SearchSpace::new([Dimension::integer("a", 0, 99), Dimension::boolean("b")]).unwrap();
        let batch = choose(Candidates::default(), &space, &Points::new(2), 1, 0);
        assert_eq!(space.decode(batch.row(0)).to_string(), "a=39 b=false");
    }

    #[test]
    fn searches_of_nothing_and_beyond_memory_are_refused_by_name() {
        let refused =
            |candidates: Candidates| BatchRule::<Peak>::check(&candidates).unwrap_err().to_string();
        let good = Candidates::default;
        assert!(refused(Candidates { samples: 0, ..good() }).contains("candidates samples is 0"));
        assert!(refused(Candidates { climbers: 0, ..good() }).contains("candidates climbers"));
        for rounds in [0, 16] {
            let endless = Candidates { changes: usize::MAX, rounds, ..good() };
            assert!(refused(endless).contains("changes is"));
        }
        assert!(BatchRule::<Peak>::check(&Candidates { rounds: 0, ..good() }).is_ok());
    }
}
