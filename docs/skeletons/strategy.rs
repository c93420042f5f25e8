//! <What the strategy is, in one sentence, with its reference.>
//!
//! Here: the corner nearest to zero first, then random points.

// Inside the engine, `crate::` stands for `wimble::`.
use serde::{Deserialize, Serialize};
use wimble::error::Result;
use wimble::named::Named;
use wimble::points::Points;
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

    fn propose(&self, evidence: Evidence, size: usize, _memory: &mut Memory) -> Result<Points> {
        // Initial trials, random stream, room and free places are seen to: choose what comes next.
        evidence.place(size, Self::NAME, self.initial, |evidence, count, rng| {
            let space = evidence.space;
            let corner = usize::from(evidence.issued() == self.initial).min(count);
            let mut points = Points::zeros(space.dim(), corner);
            for _ in corner..count {
                points.push(&space.sample(rng));
            }
            Ok(points)
        })
    }
}
