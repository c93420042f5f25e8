//! What every strategy does first and last, written once. First it checks that there is room, takes the random stream
//! of this ask, and draws the initial trials. Last it moves its points to legal places that are free.
//!
//! ```text
//! room? ──▶ initial trials at random ──▶ choose, in sight of pending and initial points ──▶ settle
//! ```

use super::Evidence;
use crate::domain::{Domain, Occupied};
use crate::error::Result;
use crate::points::Points;
use crate::seed::Rng;

/// Which trials are drawn at random before a strategy chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    /// All of them.
    All,
    /// The first so many of a search.
    First(usize),
    /// The first so many of a search, and all others while no trial has a value.
    FirstAndUnvalued(usize),
    /// The same, but the very first trial is the centre of the cube.
    CentreFirst(usize),
}

impl Initial {
    /// How many of the next `batch_size` trials are random.
    fn random(self, evidence: Evidence<'_>, batch_size: usize) -> usize {
        let first = |initial: usize| initial.saturating_sub(evidence.issued()).min(batch_size);
        match self {
            Self::All => batch_size,
            Self::First(initial) => first(initial),
            Self::FirstAndUnvalued(_) | Self::CentreFirst(_)
                if evidence.column().ranking().is_empty() =>
            {
                batch_size
            }
            Self::FirstAndUnvalued(initial) | Self::CentreFirst(initial) => first(initial),
        }
    }
}

/// What is left to choose after the initial trials.
pub struct Opening<'a> {
    /// The evidence; the initial trials of this batch are pending too.
    pub evidence: Evidence<'a>,
    /// How many points are to be chosen.
    pub count: usize,
    /// How many trials of the search come before the first of them.
    pub first: usize,
    /// The random stream of this ask.
    pub rng: Rng,
}

impl<'a> Opening<'a> {
    /// Where points may be placed, and what a local search may start from.
    pub fn domain<'d>(&self, incumbents: &'d Points) -> Domain<'d>
    where
        'a: 'd,
    {
        let Evidence { space, history, pending, .. } = self.evidence;
        Domain { space, taken: history.taken(), pending, incumbents }
    }

    /// The configurations that may not be suggested again.
    pub(crate) fn occupied(&self) -> Occupied<'a> {
        let Evidence { space, history, pending, .. } = self.evidence;
        Domain { space, taken: history.taken(), pending, incumbents: pending }.occupied()
    }
}

/// A batch: initial trials at random, then the points that `choose` returns, moved to free and legal places. `stream`
/// names the random stream, which differs from one ask to the next.
pub fn place(
    evidence: Evidence<'_>,
    batch_size: usize,
    stream: &'static str,
    initial: Initial,
    choose: impl FnOnce(&mut Opening<'_>) -> Result<Points>,
) -> Result<Points> {
    let Evidence { space, history, pending, seed } = evidence;
    let incumbents = Points::new(space.dim());
    let domain = Domain { space, taken: history.taken(), pending, incumbents: &incumbents };
    domain.check_room(batch_size)?;
    let issued = evidence.issued();
    let mut rng = seed.stream(stream, issued as u64);
    let random = initial.random(evidence, batch_size);
    let mut batch = domain.sample(random, &mut rng)?;
    if space.has_prior() && !matches!(initial, Initial::All) {
        expect(&domain, &mut batch, issued, &mut rng);
    } else if matches!(initial, Initial::CentreFirst(_)) && issued == 0 {
        replace(&mut batch, 0, &space.expected());
    }
    if random == batch_size {
        return Ok(batch);
    }
    let mut ahead = pending.clone();
    ahead.extend(&batch);
    let mut opening = Opening {
        evidence: Evidence { pending: &ahead, ..evidence },
        count: batch_size - random,
        first: issued + random,
        rng,
    };
    let chosen = choose(&mut opening)?;
    batch.extend(&Domain { pending: &ahead, ..domain }.settle(&chosen, &mut opening.rng)?);
    Ok(batch)
}

/// Puts a point into a batch, unless it is there already.
fn replace(batch: &mut Points, place: usize, x: &[f64]) {
    if batch.rows().all(|other| other != x) {
        batch.row_mut(place).copy_from_slice(x);
    }
}

/// The first trial of a search where the best is expected, and every second one of the other initial trials drawn from there: a
/// prior that is wrong leaves the rest.
fn expect(domain: &Domain<'_>, batch: &mut Points, issued: usize, rng: &mut Rng) {
    let space = domain.space;
    for place in 0..batch.len() {
        let x = match issued + place {
            0 => space.expected(),
            number if number.is_multiple_of(2) => space.sample_expected(rng),
            _ => continue,
        };
        if domain.occupied().is_free(&x) {
            replace(batch, place, &x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::outcome::Outcome;
    use crate::seed::Seed;
    use crate::space::{Dimension, SearchSpace};

    /// `told` trials with a value and `waiting` pending ones on a grid of 40 configurations.
    fn evidence(told: usize, waiting: usize) -> (SearchSpace, History, Points) {
        let space = SearchSpace::new([Dimension::integer("n", 0, 39)]).unwrap();
        let mut history = History::new(1);
        for i in 0..told {
            let x = space.nth(i as u128).unwrap();
            history.push(&x, Outcome::from(i as f64)).unwrap();
        }
        let rows = (told..told + waiting).filter_map(|i| space.nth(i as u128));
        let pending = Points::from_rows(1, rows);
        (space, history, pending)
    }

    #[test]
    fn pending_trials_count_among_the_first() {
        for (told, waiting, asked, random) in
            [(0, 0, 5, 5), (1, 9, 5, 0), (1, 6, 5, 3), (1, 0, 5, 5), (10, 0, 5, 0), (0, 20, 5, 5)]
        {
            let (space, history, pending) = evidence(told, waiting);
            let evidence =
                Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
            let mut left = 0;
            let batch = place(evidence, asked, "test", Initial::FirstAndUnvalued(10), |opening| {
                left = opening.count;
                assert_eq!(opening.first, told + waiting + random);
                Ok(Points::zeros(1, opening.count))
            });
            assert_eq!((batch.unwrap().len(), left), (asked, asked - random), "{told} {waiting}");
        }
    }

    #[test]
    fn an_ask_while_others_are_pending_draws_anew() {
        let (space, history, none) = evidence(0, 0);
        let evidence = Evidence { space: &space, history: &history, pending: &none, seed: Seed(1) };
        let draw =
            |evidence| place(evidence, 4, "test", Initial::All, |_| Ok(Points::new(1))).unwrap();
        let first = draw(evidence);
        assert_eq!(first, draw(evidence));
        let second = draw(Evidence { pending: &first, ..evidence });
        assert!(first.rows().zip(second.rows()).any(|(a, b)| a != b));
    }

    #[test]
    fn what_is_chosen_keeps_clear_of_the_random_part_of_its_batch() {
        let (space, history, pending) = evidence(1, 6);
        let evidence =
            Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
        let batch = place(evidence, 6, "test", Initial::FirstAndUnvalued(10), |opening| {
            // A rule sees both the pending points and the three random ones...
            let seen = opening.evidence.pending;
            assert_eq!((seen.len(), opening.count), (9, 3));
            assert!(pending.rows().all(|x| seen.rows().any(|y| x == y)));
            let incumbents = Points::new(1);
            assert_eq!(opening.domain(&incumbents).pending, seen);
            assert!(seen.rows().all(|x| !opening.occupied().is_free(x)));
            // ... and if it returns them all the same, they are moved.
            Ok(Points::from_rows(1, seen.rows().skip(6)))
        });
        let batch = batch.unwrap();
        let mut all: Vec<u64> =
            pending.rows().chain(batch.rows()).map(|x| x[0].to_bits()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12, "{batch:?}");
    }
}
