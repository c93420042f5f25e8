//! A leap: the trial of main that goes by a quadratic instead of the kernel model.
//!
//! - A *jump* (jump.rs) if its quadratic is trusted. In a batch it takes the place of main's first pick; single asks leap by turns.
//! - Otherwise, in single asks during the first [`EARLY`] d trials, a *local step* (local_step.rs).
//!
//! There is no leap where noise is evident, to a point that is taken or will probably fail, or to one so near a pending point that
//! the two would tell the same.

use super::picks::{GOLDEN, SMALL};
use super::region::{EVIDENT, Patch};
use super::replay::Replay;
use super::{Auto, Part};
use crate::domain::Occupied;
use crate::points::squared_distance;
use crate::strategy::Evidence;

/// Trials for each dimension during which single asks leap more often, and take local steps.
const EARLY: usize = 10;
/// The share of single asks that leap, early and later.
const SHARES: (f64, f64) = (0.75, 0.5);
/// The probability of a value that a leap must have.
pub(super) const LIKELY: f64 = 0.5;
/// How near a pending point may lie, in the length of the leap.
const NEAR: f64 = 0.1;

/// A point in place of a pick.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leap {
    /// Which pick of main's.
    pub(super) pick: usize,
    pub(super) point: Vec<f64>,
}

impl Leap {
    /// The leap of an ask in which main has `share` picks, the first of them the `first`-th trial of the search.
    pub(super) fn find(
        evidence: Evidence<'_>,
        replay: &Replay,
        patch: &Patch,
        (first, share): (usize, usize),
        occupied: &Occupied<'_>,
        settings: &Auto,
    ) -> Option<Self> {
        let Evidence { space, history, pending, .. } = evidence;
        let main = replay.main.as_ref()?;
        if !settings.uses(Part::Jump) || patch.model.noise_share() > EVIDENT {
            return None;
        }
        let early = first < EARLY * space.dim();
        let pick = turn(first, share, early)?;
        let jump = main.jump(history, settings).filter(super::jump::Jump::is_trusted);
        let mut point = match jump {
            Some(jump) => jump.target()?,
            None if early && share < SMALL && settings.uses(Part::LocalStep) => {
                main.local_step(replay.radius, history)?
            }
            None => return None,
        };
        space.settle(&mut point);
        let reach = NEAR * NEAR * squared_distance(&point, main.centre());
        let repeats = pending.rows().any(|x| squared_distance(x, &point) <= reach);
        let likely = patch.feasibility.probability(&patch.frame.enter(&point)) >= LIKELY;
        (!repeats && likely && occupied.is_free(&point)).then_some(Self { pick, point })
    }
}

/// Which of main's picks leaps: the first of a batch; of single asks, by turns.
fn turn(first: usize, share: usize, early: bool) -> Option<usize> {
    if share >= SMALL {
        return Some(0);
    }
    let part = if early { SHARES.0 } else { SHARES.1 };
    (0..share).find(|j| ((first + j) as f64 * GOLDEN).fract() < part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_leap_with_their_first_pick_and_single_asks_by_turns() {
        assert_eq!(turn(17, 10, false), Some(0));
        let leaps = |early| (0..1000).filter(|&first| turn(first, 1, early).is_some()).count();
        assert!((745..755).contains(&leaps(true)), "{}", leaps(true));
        assert!((495..505).contains(&leaps(false)), "{}", leaps(false));
    }
}
