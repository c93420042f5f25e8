//! Where the points of a batch may be placed: legal, and not taken.
//!
//! A batch rule moves freely in the unit cube; [`Domain::settle`] then turns each of its points into the
//! nearest legal one, by known constraints too, that is neither in history nor pending nor in the batch already. Unless the space
//! allows repeats, no configuration is suggested twice while another is left.

use crate::error::{Error, Result};
use crate::points::Points;
use crate::seed::{Rng, below};
use crate::space::{Fingerprint, SearchSpace, Taken};

/// The search space without the configurations that are taken, and points that a search may start from.
#[derive(Debug, Clone, Copy)]
pub struct Domain<'a> {
    /// The search space.
    pub space: &'a SearchSpace,
    /// The configurations told.
    pub taken: &'a Taken,
    /// Points asked for and not yet told: a batch keeps clear of them.
    pub pending: &'a Points,
    /// The best points known, best first: a local search may start there.
    pub incumbents: &'a Points,
}

/// Draws near a taken point, at ever larger radii, before the search for a free one goes global.
const NEAR_DRAWS: usize = 24;
/// Draws from a space that cannot be counted. It has a real dimension, so that a single draw is all but
/// certain to be free; the rest are for spaces whose real dimensions are rarely active.
const GLOBAL_DRAWS: usize = 100_000;

impl<'a> Domain<'a> {
    /// Refuses a batch for which too few configurations are left.
    pub fn check_room(&self, batch_size: usize) -> Result<()> {
        if self.space.repeats() {
            return Ok(());
        }
        let Some(total) = self.space.cardinality() else { return Ok(()) };
        let occupied = self.occupied();
        let room = |tried: u128| total >= tried.saturating_add(batch_size as u128);
        if room(occupied.count()) {
            return Ok(());
        }
        // What was told need not be legal: it may have been tried elsewhere, or before a value was given.
        let tried = match self.space.known_constraints() {
            [] => occupied.count(),
            _ => {
                let legal = (0..total).filter_map(|index| self.space.nth(index));
                legal.filter(|x| occupied.is_taken(x)).count() as u128
            }
        };
        match room(tried) {
            true => Ok(()),
            false => Err(Error::Exhausted { tried, total, requested: batch_size }),
        }
    }

    /// The configurations that may not be suggested again.
    pub(crate) fn occupied(&self) -> Occupied<'a> {
        let mut occupied =
            Occupied { space: self.space, told: self.taken, others: Taken::default() };
        for x in self.pending.rows() {
            occupied.insert(x);
        }
        occupied
    }

    /// Legal points near `points`, in the same order, none of them taken and no two the same.
    pub fn settle(&self, points: &Points, rng: &mut Rng) -> Result<Points> {
        let mut legal = points.clone();
        (0..legal.len()).for_each(|i| self.space.settle(legal.row_mut(i)));
        self.part(&legal, rng)
    }

    /// Legal points near legal ones, in the same order, none of them taken and no two the same.
    fn part(&self, points: &Points, rng: &mut Rng) -> Result<Points> {
        self.check_room(points.len())?;
        let mut occupied = self.occupied();
        let mut settled = Points::with_capacity(self.space.dim(), points.len());
        for x in points.rows() {
            if occupied.is_taken(x) {
                let near = self.free_near(x, &occupied, points.len(), rng)?;
                occupied.insert(&near);
                settled.push(&near);
            } else {
                occupied.insert(x);
                settled.push(x);
            }
        }
        Ok(settled)
    }

    /// `count` legal points drawn at random, none of them taken and no two the same.
    pub fn sample(&self, count: usize, rng: &mut Rng) -> Result<Points> {
        let mut points = Points::with_capacity(self.space.dim(), count);
        for _ in 0..count {
            points.push(&self.space.sample(rng));
        }
        self.part(&points, rng)
    }

    /// A free point near a taken one if a few draws find it; otherwise any free point.
    fn free_near(
        &self,
        x: &[f64],
        occupied: &Occupied<'_>,
        requested: usize,
        rng: &mut Rng,
    ) -> Result<Vec<f64>> {
        for draw in 0..NEAR_DRAWS {
            // From a thousandth of the cube's side to all of it.
            let radius = 1e-3 * 1e3_f64.powf(draw as f64 / (NEAR_DRAWS - 1) as f64);
            let near = self.space.neighbour(x, rng, radius);
            if occupied.is_free(&near) {
                return Ok(near);
            }
        }
        let exhausted = |total| Error::Exhausted { tried: occupied.count(), total, requested };
        match self.space.cardinality() {
            Some(total) => {
                // Every configuration is met once, so a free one is met after at most `occupied` others.
                let start = match usize::try_from(total) {
                    Ok(total) => below(rng, total) as u128,
                    Err(_) => below(rng, usize::MAX) as u128,
                };
                (0..total)
                    .filter_map(|offset| self.space.nth((start + offset) % total))
                    .find(|candidate| occupied.is_free(candidate))
                    .ok_or_else(|| exhausted(total))
            }
            None => (0..GLOBAL_DRAWS)
                .map(|_| self.space.sample(rng))
                .find(|candidate| occupied.is_free(candidate))
                .ok_or_else(|| match self.space.known_constraints() {
                    [] => exhausted(u128::MAX),
                    _ => Error::NothingFree { tried: occupied.count(), draws: GLOBAL_DRAWS },
                }),
        }
    }
}

/// The configurations that are told, pending, or chosen for this batch already.
#[derive(Debug, Clone)]
pub(crate) struct Occupied<'a> {
    space: &'a SearchSpace,
    told: &'a Taken,
    others: Taken,
}

impl Occupied<'_> {
    /// Whether a point of the dimensions may be suggested: it meets the known constraints and is not taken.
    pub fn is_free(&self, x: &[f64]) -> bool {
        !self.is_taken(x) && self.space.meets_known(x)
    }

    /// Whether a point may not be suggested again.
    fn is_taken(&self, x: &[f64]) -> bool {
        let fingerprint = Fingerprint::of(x);
        !self.space.repeats()
            && (self.told.contains(&fingerprint) || self.others.contains(&fingerprint))
    }

    /// Takes a legal point.
    pub fn insert(&mut self, x: &[f64]) {
        let fingerprint = Fingerprint::of(x);
        if !self.told.contains(&fingerprint) {
            self.others.insert(fingerprint);
        }
    }

    /// How many configurations are taken.
    pub fn count(&self) -> u128 {
        (self.told.len() + self.others.len()) as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::space::Dimension;

    fn grid() -> SearchSpace {
        SearchSpace::new([
            Dimension::integer("a", 0, 4),
            Dimension::boolean("b"),
            Dimension::categorical("c", ["x", "y", "z"]).when("b", [true]),
        ])
        .unwrap()
    }

    #[test]
    fn a_finite_space_is_used_up_without_a_repeat_and_then_says_so() {
        let space = grid();
        let total = 5 * (1 + 3);
        let (mut taken, none) = (Taken::default(), Points::new(space.dim()));
        let mut rng = Seed(1).stream("test", 0);
        // Every point of every batch aims at the same corner.
        for batch in 0..total / 2 {
            let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
            let settled = domain.settle(&Points::zeros(space.dim(), 2), &mut rng).unwrap();
            for x in settled.rows() {
                assert!(taken.insert(Fingerprint::of(x)), "batch {batch} repeats a configuration");
            }
        }
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let error = domain.settle(&Points::zeros(space.dim(), 1), &mut rng).unwrap_err();
        assert_eq!(error, Error::Exhausted { tried: 20, total: 20, requested: 1 });
    }

    #[test]
    fn what_was_told_outside_the_known_constraints_takes_no_room() {
        let space = SearchSpace::new([Dimension::integer("a", 0, 9)]).unwrap();
        let narrow = space.clone().known(["a >= 7"]).unwrap();
        let mut taken = Taken::default();
        for index in 0..8 {
            taken.insert(Fingerprint::of(&space.nth(index).unwrap()));
        }
        let (none, mut rng) = (Points::new(1), Seed(1).stream("test", 0));
        let domain = Domain { space: &narrow, taken: &taken, pending: &none, incumbents: &none };
        let settled = domain.sample(2, &mut rng).unwrap();
        let found: std::collections::BTreeSet<i64> =
            settled.rows().map(|x| space.decode(x).integer("a").unwrap()).collect();
        assert_eq!(found, [8, 9].into());
        let error = domain.sample(3, &mut rng).unwrap_err();
        assert_eq!(error, Error::Exhausted { tried: 1, total: 3, requested: 3 });
    }

    #[test]
    fn pending_points_are_taken_and_repeats_are_allowed_on_request() {
        let space = SearchSpace::new([Dimension::boolean("a")]).unwrap();
        let (taken, pending) = (Taken::default(), Points::from_rows(1, [[0.0]]));
        let mut rng = Seed(1).stream("test", 0);
        let domain =
            Domain { space: &space, taken: &taken, pending: &pending, incumbents: &pending };
        assert_eq!(domain.settle(&Points::zeros(1, 1), &mut rng).unwrap().as_slice(), [1.0]);
        assert!(domain.settle(&Points::zeros(1, 2), &mut rng).is_err());
        let space = space.clone().allow_repeats(true);
        let domain = Domain { space: &space, ..domain };
        assert_eq!(domain.settle(&Points::zeros(1, 3), &mut rng).unwrap().as_slice(), [0.0; 3]);
    }

    #[test]
    fn a_taken_real_point_is_replaced_by_a_near_one() {
        let space =
            SearchSpace::new([Dimension::real("a", -1.0, 1.0), Dimension::real("b", 0.0, 9.0)])
                .unwrap();
        let (taken, none) = (Taken::default(), Points::new(2));
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let mut rng = Seed(1).stream("test", 0);
        let settled = domain.settle(&Points::from_rows(2, [[0.5, 0.5]; 2]), &mut rng).unwrap();
        let gap = crate::points::squared_distance(settled.row(0), settled.row(1)).sqrt();
        assert!(gap > 0.0 && gap < 0.02, "{gap}");
    }
}
