//! Softmax sampling: a batch drawn from candidates in proportion to a power of the target.
//!
//! ```text
//! P(next point = x) ∝ exp(κ · value(x)) over the free candidates not yet drawn
//! ```
//!
//! The value is log p̂, so that κ = 1 draws from p̂ ∝ π itself: the counterpart of SVGD for spaces without gradients,
//! and Thompson sampling in the sense of probability matching. The draw without replacement is one draw of Gumbel
//! noise: the highest κ · value(x) - ln(-ln u), u ~ U(0, 1), in order (Gumbel 1954; Kool, van Hoof and Welling 2019).
//!
//! Candidates are all free configurations of a countable domain of at most `exact_up_to`, where the batch is an exact
//! sample. Otherwise they are legal points drawn at random, and neighbours of the incumbents; the batch is then a sample
//! of p̂^κ relative to where the candidates lie. Pending points do not repel, but are not chosen again.
//!
//! Cost: one evaluation a candidate. Fails with [`Error::Diverged`] if a value is not a number.

use serde::{Deserialize, Serialize};

use super::{BatchRule, shortlist};
use crate::acquisition::Acquisition;
use crate::classifier::Target;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, uniform};
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Settings of softmax sampling.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Softmax {
    /// κ. 0 draws uniformly, ∞ would take the maximum.
    pub inverse_temperature: f64,
    /// Candidates drawn at random.
    pub samples: usize,
    /// Candidates near each incumbent.
    pub changes: usize,
    /// Up to how many configurations a countable domain is sampled exactly.
    pub exact_up_to: usize,
}

impl Named for Softmax {
    const NAME: &'static str = "softmax";
    const DESCRIPTION: &'static str =
        "a random sample of candidates by their probability; needs no gradients";
}

impl Default for Softmax {
    /// κ = 8: on tables of tuning results a draw from π was hardly better than a random one, since a region where π
    /// is small but that is most of the space still gets most draws; a draw from π⁸ beat TPE. κ = 1 is the paper's p̂.
    fn default() -> Self {
        Self { inverse_temperature: 8.0, samples: 2000, changes: 40, exact_up_to: 16_384 }
    }
}

/// How far candidates lie from their incumbent, a part of the cube's side.
const RADIUS: f64 = 0.1;

impl<A: Acquisition + ?Sized> BatchRule<A> for Softmax {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        domain.check_room(size)?;
        let candidates = match shortlist::all_free(domain, self.exact_up_to) {
            Some(all) => all,
            None => self.candidates(domain, size, rng),
        };
        let mut scores = shortlist::values(density, &candidates)?;
        for score in &mut scores {
            *score = self.inverse_temperature * *score - (-uniform(rng).ln()).ln();
        }
        let order = shortlist::highest(&scores, candidates.len());
        Ok(shortlist::first_free(&candidates, &order, domain, size))
    }

    fn check(&self) -> Result<()> {
        let temperature = self.inverse_temperature;
        if !(temperature >= 0.0 && temperature.is_finite()) {
            let allowed = "finite and not negative";
            return Err(Error::invalid("softmax inverse temperature", temperature, allowed));
        }
        if self.samples == 0 {
            return Err(Error::invalid("softmax samples", self.samples, "at least 1"));
        }
        Ok(())
    }

    /// Without replacement, and of a power of the target.
    fn choice(&self, _space: &SearchSpace, target: Target, _plan: Plan) -> Choice {
        let of_bound = target == Target::LogProbability && self.inverse_temperature == 1.0;
        Choice::Draws { independent: false, of_bound }
    }
}

impl Softmax {
    /// Legal points, none of them taken and no two the same: one drawn twice would count twice.
    fn candidates(&self, domain: &Domain<'_>, batch_size: usize, rng: &mut Rng) -> Points {
        let space = domain.space;
        let mut occupied = domain.occupied();
        let mut candidates = Points::with_capacity(space.dim(), self.samples);
        let mut offer = |x: Vec<f64>| {
            if occupied.is_free(&x) {
                occupied.insert(&x);
                candidates.push(&x);
            }
        };
        for _ in 0..self.samples.max(4 * batch_size) {
            offer(space.sample(rng));
        }
        for incumbent in domain.incumbents.rows() {
            for _ in 0..self.changes {
                offer(space.neighbour(incumbent, rng, RADIUS));
            }
        }
        if candidates.is_empty() {
            candidates.push(&space.sample(rng));
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::space::{Dimension, Fingerprint, SearchSpace, Taken};

    /// A logarithm of a probability that rises linearly from cell to cell.
    struct Slope {
        dim: usize,
    }

    impl Acquisition for Slope {
        fn dim(&self) -> usize {
            self.dim
        }

        fn value(&self, x: &[f64]) -> f64 {
            2.0 * x[0]
        }
    }

    fn choose(
        rule: Softmax,
        space: &SearchSpace,
        taken: &Taken,
        pending: &Points,
        size: usize,
        index: u64,
    ) -> Points {
        let incumbents = Points::from_rows(space.dim(), [vec![0.5; space.dim()]]);
        let domain = Domain { space, taken, pending, incumbents: &incumbents };
        let slope = Slope { dim: space.dim() };
        rule.choose(&slope, &domain, size, &mut Seed(4).stream("test", index)).unwrap()
    }

    #[test]
    fn frequencies_are_those_of_the_softmax_without_replacement() {
        let space = SearchSpace::new([Dimension::integer("a", 0, 4)]).unwrap();
        let (taken, none) = (Taken::default(), Points::new(1));
        let draws = 20_000;
        for kappa in [0.0, 1.0, 3.0] {
            let rule = Softmax { inverse_temperature: kappa, ..Softmax::default() };
            // Ordered pairs of cells.
            let mut counts = [[0.0; 5]; 5];
            for index in 0..draws {
                let batch = choose(rule, &space, &taken, &none, 2, index);
                let cell = |i: usize| (batch.row(i)[0] * 5.0) as usize;
                counts[cell(0)][cell(1)] += 1.0;
            }
            let mass: Vec<f64> =
                (0..5).map(|a| (kappa * 2.0 * space.nth(a).unwrap()[0]).exp()).collect();
            let total: f64 = mass.iter().sum();
            let mut chi_square = 0.0;
            for a in 0..5 {
                assert_eq!(counts[a][a], 0.0);
                for b in (0..5).filter(|&b| b != a) {
                    let chance = mass[a] / total * mass[b] / (total - mass[a]);
                    let expected = chance * draws as f64;
                    chi_square += (counts[a][b] - expected).powi(2) / expected;
                }
            }
            // 19 degrees of freedom: beyond 50 once in 7000 seeds.
            assert!(chi_square < 50.0, "inverse temperature {kappa}: {chi_square}");
        }
    }

    #[test]
    fn taken_and_pending_configurations_are_not_drawn_and_none_twice() {
        let space =
            SearchSpace::new([Dimension::integer("a", 0, 9), Dimension::boolean("b")]).unwrap();
        let mut taken = Taken::default();
        let pending = Points::from_rows(2, (0..4).map(|i| space.nth(i).unwrap()));
        (4..8).for_each(|i| _ = taken.insert(Fingerprint::of(&space.nth(i).unwrap())));
        // Once with all configurations at hand, once with candidates.
        for exact_up_to in [100, 0] {
            let rule = Softmax { exact_up_to, ..Softmax::default() };
            for index in 0..20 {
                let batch = choose(rule, &space, &taken, &pending, 12, index);
                let mut seen = taken.clone();
                pending.rows().for_each(|x| _ = seen.insert(Fingerprint::of(x)));
                assert!(batch.rows().all(|x| seen.insert(Fingerprint::of(x))));
            }
        }
    }

    #[test]
    fn real_spaces_are_sampled_where_the_target_is_high() {
        let space =
            SearchSpace::new([Dimension::real("a", 0.0, 1.0), Dimension::real("b", 0.0, 1.0)])
                .unwrap();
        let (taken, none) = (Taken::default(), Points::new(2));
        let mean = |kappa: f64| {
            let rule = Softmax { inverse_temperature: kappa, changes: 0, ..Softmax::default() };
            let batches = (0..50).map(|index| choose(rule, &space, &taken, &none, 20, index));
            let sum: f64 = batches.flat_map(|b| b.rows().map(|x| x[0]).collect::<Vec<_>>()).sum();
            sum / 1000.0
        };
        // The mean of a density ∝ exp(2κx) on [0, 1] is 1/(1 - exp(-2κ)) - 1/2κ; its deviation is below 0.3.
        for kappa in [0.5_f64, 1.0, 4.0] {
            let expected = 1.0 / (1.0 - (-2.0 * kappa).exp()) - 0.5 / kappa;
            assert!((mean(kappa) - expected).abs() < 5.0 * 0.3 / 1000.0_f64.sqrt());
        }
    }

    #[test]
    fn bad_settings_are_refused_by_name() {
        let refused = |rule: Softmax| BatchRule::<Slope>::check(&rule).unwrap_err().to_string();
        for inverse_temperature in [-1.0, f64::NAN, f64::INFINITY] {
            let rule = Softmax { inverse_temperature, ..Softmax::default() };
            assert!(refused(rule).contains("softmax inverse temperature is"));
        }
        let rule = Softmax { samples: 0, ..Softmax::default() };
        assert!(refused(rule).contains("softmax samples is 0"));
        assert!(BatchRule::<Slope>::check(&Softmax::default()).is_ok());
    }

    #[test]
    fn settings_are_read_back_as_they_were_written() {
        let rule = Softmax { inverse_temperature: 1.0, ..Softmax::default() };
        let text = serde_json::to_string(&rule).unwrap();
        assert_eq!(serde_json::from_str::<Softmax>(&text).unwrap(), rule, "{text}");
    }
}
