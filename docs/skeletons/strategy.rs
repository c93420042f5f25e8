//! <What the strategy is, in one sentence, with its reference.>
//!
//! Here: the corner nearest to zero first, then random points.

// Inside the engine, `crate::` stands for `wimble::`.
use serde::{Deserialize, Serialize};
use wimble::domain::Domain;
use wimble::error::Result;
use wimble::named::Named;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::space::SearchSpace;
use wimble::strategy::{Evidence, Memory, Strategy};

/// Settings of <the strategy>.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Noun {
    /// <What it is; its unit or range; what a larger value does; where its default comes from.>
    pub initial: usize,
}

impl Named for Noun {
    const NAME: &'static str = "noun";
    const DESCRIPTION: &'static str = "a corner, then random search";
}

impl Strategy for Noun {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, _space: &SearchSpace) -> Result<()> {
        Ok(())
    }

    fn propose(
        &self,
        evidence: Evidence<'_>,
        batch_size: usize,
        seed: Seed,
        _memory: &mut Memory,
    ) -> Result<Points> {
        let Evidence { space, history, pending } = evidence;
        let incumbents = Points::new(space.dim());
        let domain = Domain { space, taken: history.taken(), pending, incumbents: &incumbents };
        domain.check_room(batch_size)?;
        let issued = history.len() + pending.len();
        let mut rng = seed.stream(Self::NAME, issued as u64);
        let corner = usize::from(issued == 0).min(batch_size);
        let mut points = Points::zeros(space.dim(), corner);
        for _ in corner..batch_size {
            points.push(&space.sample(&mut rng));
        }
        // What is proposed is legal, and distinct from history, pending points and the rest of the batch.
        domain.settle(&points, &mut rng)
    }
}
