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
    if matches!(initial, Initial::CentreFirst(_)) && issued == 0 {
        let mut centre = vec![0.5; space.dim()];
        space.settle(&mut centre);
        if batch.rows().all(|x| x != centre) {
            batch.row_mut(0).copy_from_slice(&centre);
        }
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
