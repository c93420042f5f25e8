//! <What the rule does, in one sentence, with the equation it comes from.>
//!
//! Here: the best of some random points.
//!
//! Cost: <…>. Fails with <…>.

// Inside the engine, `crate::` stands for `wimble::`.
use serde::{Deserialize, Serialize};
use wimble::acquisition::Acquisition; // or SmoothAcquisition, if the rule needs gradients
use wimble::batch::BatchRule;
use wimble::domain::Domain;
use wimble::error::{Error, Result};
use wimble::named::Named;
use wimble::points::Points;
use wimble::seed::Rng;

/// Settings of <the rule>.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Noun {
    /// <What it is; its unit or range; what a larger value does; where its default comes from.>
    pub samples: usize,
}

impl Named for Noun {
    const NAME: &'static str = "noun";
    const DESCRIPTION: &'static str = "the best of random points; needs no gradients";
}

impl Default for Noun {
    fn default() -> Self {
        Self { samples: 100 }
    }
}

impl<A: Acquisition + ?Sized> BatchRule<A> for Noun {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        // Points anywhere in the cube: Domain::settle makes them legal and distinct.
        let dim = density.dim();
        let drawn = (0..self.samples.max(size)).map(|_| domain.space.sample(rng));
        let points = Points::from_rows(dim, drawn);
        let mut values = vec![0.0; points.len()];
        density.values(&points, &mut values);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        Ok(Points::from_rows(dim, order.into_iter().take(size).map(|i| points.row(i))))
    }

    fn check(&self) -> Result<()> {
        if self.samples == 0 {
            return Err(Error::invalid("noun samples", self.samples, "at least 1"));
        }
        Ok(())
    }
}
