//! Grid search: every configuration of a finite space once, in order, the last parameter changing fastest.
//!
//! What is left out (enqueued, imported, pending) is not tried again. Where the space allows repeats, the order begins anew
//! after its end.
//!
//! Cost: a look at each configuration that was taken since the last ask, and at all of them on the first ask of a process.

use serde::{Deserialize, Serialize};

use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::error::{Error, Result};
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;
use crate::space::{Dimension, Kind, SearchSpace};

/// Grid search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grid {}

impl Named for Grid {
    const NAME: &'static str = "grid";
    const DESCRIPTION: &'static str = "every configuration of a finite space, in order";
}

/// The place of the first configuration that may be free: all before it are taken, and stay so.
struct Cursor(u128);

impl Strategy for Grid {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        total(space).map(|_| ())
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        let total = total(evidence.space)?;
        place(evidence, size, "grid", Initial::First(0), |opening| {
            let space = opening.evidence.space;
            if space.repeats() {
                let first = opening.first as u128;
                let places = (0..opening.count as u128).map(|k| (first + k) % total);
                return Ok(Points::from_rows(space.dim(), places.filter_map(|k| space.nth(k))));
            }
            let occupied = opening.occupied();
            let Cursor(start) = memory.take().unwrap_or(Cursor(0));
            let free = (start..total)
                .filter_map(|k| Some((k, space.nth(k)?)))
                .filter(|(_, x)| occupied.is_free(x));
            let chosen: Vec<(u128, Vec<f64>)> = free.take(opening.count).collect();
            // Not behind what is chosen: whoever asked may drop it.
            memory.keep(Cursor(chosen.first().map_or(total, |(k, _)| *k)));
            Ok(Points::from_rows(space.dim(), chosen.into_iter().map(|(_, x)| x)))
        })
    }
}

/// How many configurations there are to go through.
fn total(space: &SearchSpace) -> Result<u128> {
    space.cardinality().ok_or_else(|| {
        let real = |dimension: &&Dimension| {
            matches!(dimension.kind, Kind::Real { .. } | Kind::Shares { .. })
        };
        let allowed = "finite for method `grid`: an integer, choices, or a real number with a step";
        match space.dimensions().iter().find(real) {
            Some(Dimension { name, kind: Kind::Shares { .. }, .. }) => {
                Error::invalid(name, "shares", allowed)
            }
            Some(Dimension { name, .. }) => Error::invalid(name, "a real number", allowed),
            None => Error::invalid(
                "the number of configurations",
                "too large to count",
                "small for method `grid`",
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::outcome::Outcome;
    use crate::seed::Seed;
    use crate::space::Configuration;

    fn space() -> SearchSpace {
        SearchSpace::new([
            Dimension::integer("n", 1, 3),
            Dimension::categorical("c", ["a", "b"]),
            Dimension::boolean("on").when("c", ["b"]),
        ])
        .unwrap()
    }

    fn ask(
        space: &SearchSpace,
        history: &History,
        pending: &Points,
        size: usize,
        memory: &mut Memory,
    ) -> Result<Points> {
        let evidence = Evidence { space, history, pending, seed: Seed(1) };
        Grid {}.propose(evidence, size, memory)
    }

    fn texts(space: &SearchSpace, points: &Points) -> Vec<String> {
        points.rows().map(|x| space.decode(x).to_string()).collect()
    }

    #[test]
    fn every_configuration_comes_once_in_order_and_taken_ones_are_left_out() {
        let space = space();
        let (mut history, none) = (History::new(space.dim()), Points::new(space.dim()));
        // The third was imported; the batch that was proposed first is dropped, and proposed again.
        let third = space.nth(2).unwrap();
        history.push(&third, Outcome::from(1.0)).unwrap();
        let mut memory = Memory::default();
        let first = ask(&space, &history, &none, 4, &mut memory).unwrap();
        assert_eq!(ask(&space, &history, &none, 4, &mut memory).unwrap(), first);
        let mut found = texts(&space, &first);
        let rest = ask(&space, &history, &first, 4, &mut memory).unwrap();
        assert_eq!(rest, ask(&space, &history, &first, 4, &mut Memory::default()).unwrap());
        found.extend(texts(&space, &rest));
        found.insert(2, space.decode(&third).to_string());
        let all: Vec<Configuration> =
            (0..9).map(|k| space.decode(&space.nth(k).unwrap())).collect();
        assert_eq!(found, all.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut pending = first.clone();
        pending.extend(&rest);
        let error = ask(&space, &history, &pending, 1, &mut memory).unwrap_err();
        assert!(matches!(error, Error::Exhausted { tried: 9, total: 9, .. }), "{error}");
    }

    #[test]
    fn with_repeats_the_order_begins_anew() {
        let space = space().allow_repeats(true);
        let (history, none) = (History::new(space.dim()), Points::new(space.dim()));
        let found =
            texts(&space, &ask(&space, &history, &none, 12, &mut Memory::default()).unwrap());
        assert_eq!(found[..3], found[9..]);
    }

    #[test]
    fn what_is_not_finite_is_refused_by_name() {
        let real =
            SearchSpace::new([Dimension::boolean("b"), Dimension::real("x", 0.0, 1.0)]).unwrap();
        let error = Grid {}.check(&real, &Goal::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("x is a real number, but must be finite for method `grid`"),
            "{error}"
        );
        let many = (0..3).map(|i| Dimension::integer(format!("n{i}"), 0, (1 << 47) - 1));
        let error = Grid {}.check(&SearchSpace::new(many).unwrap(), &Goal::default()).unwrap_err();
        assert!(error.to_string().contains("too large to count"), "{error}");
    }
}
