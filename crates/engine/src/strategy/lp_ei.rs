//! LP-EI: expected improvement under local penalties (González, Dai, Hennig and Lawrence 2016), a baseline of the
//! paper's batch experiments.
//!
//! The points of a batch are chosen one after another. Around each point xⱼ that is pending or chosen already,
//! improvement is multiplied by the probability that x lies outside the ball in which no minimum can be, for a
//! function with slopes of at most L and the least value y*:
//!
//! ```text
//! φⱼ(x) = P(‖x - xⱼ‖ > (f(xⱼ) - y*) / L) = ½ erfc(-z),   z = (L‖x - xⱼ‖ + y* - μ(xⱼ)) / (√2 σ(xⱼ))
//! ```
//!
//! L is the largest slope of the posterior mean in the unit cube. All is done on the log scale, with
//! ½ erfc(-z) = Φ(√2 z); the surrogate stays that of the values told.

use serde::{Deserialize, Serialize};

use super::placement::{Choice, Placement};
use super::{Evidence, Memory, Strategy};
use crate::acquisition::PenalisedImprovement;
use crate::batch::{Ascent, BatchRule};
use crate::domain::Domain;
use crate::error::Result;
use crate::forecast::Forecasts;
use crate::gaussian_process::Regression;
use crate::goal::Goal;
use crate::named::Named;
use crate::points::Points;
use crate::space::SearchSpace;

/// Settings of LP-EI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LpEi {
    /// The Gaussian-process regression of the values: `Fitted`, the default, finds the hyper-parameters of largest marginal
    /// likelihood; `Fixed` takes a given kernel and variance of the noise, as the theory has it.
    pub regression: Regression,
    /// How the maximum of penalised improvement is searched for.
    pub ascent: Ascent,
    /// How many trials are drawn at random first; 10 in the paper.
    pub initial: usize,
}

impl Named for LpEi {
    const NAME: &'static str = "lp-ei";
    const DESCRIPTION: &'static str = "Gaussian process, expected improvement with local penalties";
}

impl Default for LpEi {
    fn default() -> Self {
        Self { regression: Regression::default(), ascent: Ascent::default(), initial: 10 }
    }
}

impl Strategy for LpEi {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        self.regression.check(space.dim())?;
        BatchRule::<PenalisedImprovement>::check(&self.ascent)
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        Placement::of(&self.regression, self.initial).place(evidence, size, memory, |choice| {
            let Choice { surrogate, domain, count, rng } = choice;
            let mut penalised = PenalisedImprovement::new(surrogate.clone(), domain.pending, rng)?;
            let mut ahead = domain.pending.clone();
            let mut chosen = Points::with_capacity(ahead.dim(), count);
            for _ in 0..count {
                let domain = Domain { pending: &ahead, ..*domain };
                let best = self.ascent.choose(&penalised, &domain, 1, rng)?;
                let settled = domain.settle(&best, rng)?;
                settled.rows().for_each(|x| penalised.penalise(x));
                chosen.extend(&settled);
                ahead.extend(&settled);
            }
            Ok(chosen)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        Placement::of(&self.regression, self.initial).predict(evidence, at, memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::outcome::Outcome;
    use crate::points::squared_distance;
    use crate::seed::{Seed, uniform};
    use crate::space::Dimension;

    #[test]
    fn the_points_of_a_batch_are_penalised_as_they_are_chosen() {
        let space =
            SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)])
                .unwrap();
        let mut rng = Seed(2).stream("bowl", 0);
        let mut history = History::new(2);
        for _ in 0..14 {
            let x = [(); 2].map(|()| uniform(&mut rng));
            let value = x.iter().map(|x| (x - 0.4).powi(2)).sum::<f64>();
            history.push(&x, Outcome::from(value)).unwrap();
        }
        let none = Points::new(2);
        let evidence = Evidence { space: &space, history: &history, pending: &none, seed: Seed(1) };
        let batch = LpEi::default().propose(evidence, 4, &mut Memory::default()).unwrap();
        for (i, x) in batch.rows().enumerate() {
            for y in batch.rows().take(i) {
                let gap = squared_distance(x, y).sqrt();
                assert!(gap > 1e-3, "{x:?} {y:?}: {gap}");
            }
        }
        // A pending point is penalised like one that was chosen.
        let first = Points::from_rows(2, [batch.row(0)]);
        let pending = Evidence { pending: &first, ..evidence };
        let next = LpEi::default().propose(pending, 1, &mut Memory::default()).unwrap();
        let gap = squared_distance(next.row(0), first.row(0)).sqrt();
        assert!(gap > 1e-3, "{gap}");
    }
}
