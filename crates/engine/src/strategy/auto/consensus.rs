//! Draws about the mean of the best trials, for a main region that is stuck.
//!
//! On a rugged function the best trials lie in several small basins. Their spread keeps main's box wide, no explorer opens, and a model that takes
//! ruggedness for noise learns nothing more. What the best trials have in common still says where the function is low on the whole:
//! the mean over their basins is a better guess than any of them. So evolution strategies search, and so does main, in [`FEWEST`]
//! dimensions and more, once its best value has not fallen for [`STUCK`] trials:
//!
//! ```text
//! x = m + ⅖ s ∘ N(0, I),     m, s: weighted mean and deviations of the d + 6 best trials,     wᵢ = ln(d + 6½) - ln i
//! ```
//!
//! Cost: O(d²) an ask; the best trials are kept as they come (replay.rs).

use rand_distr::{Distribution as _, StandardNormal};

use crate::history::History;
use crate::seed::Rng;

/// The fewest dimensions. In fewer, boxes of main's size are soon covered, and where values are noisy rather than rugged
/// a batch about one point learns less than one that is spread.
pub(super) const FEWEST: usize = 8;
/// Trials without a gain after which main is stuck.
pub(super) const STUCK: usize = 40;
/// The share of main's picks that are drawn.
pub(super) const SHARE: f64 = 0.8;
/// The deviations of a draw, in those of the best trials.
const WIDTH: f64 = 0.4;

/// How many of the best trials count.
pub(super) fn wanted(dim: usize) -> usize {
    dim + 6
}

/// What the best trials have in common.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Consensus {
    mean: Vec<f64>,
    deviations: Vec<f64>,
}

impl Consensus {
    /// That of some trials, given with their values, best first.
    pub(super) fn of(trials: &[(f64, usize)], history: &History) -> Self {
        let (dim, most) = (history.points().dim(), wanted(history.points().dim()) as f64);
        let weights = (1..).map(|rank| (most + 0.5).ln() - f64::from(rank).ln());
        let weighted =
            || trials.iter().map(|trial| history.points().row(trial.1)).zip(weights.clone());
        let sum: f64 = weighted().map(|(_, weight)| weight).sum();
        let mean_of = |f: &dyn Fn(&[f64]) -> f64| {
            weighted().map(|(x, weight)| weight * f(x)).sum::<f64>() / sum
        };
        let mean: Vec<f64> = (0..dim).map(|k| mean_of(&|x| x[k])).collect();
        let deviations = (0..dim).map(|k| mean_of(&|x| (x[k] - mean[k]).powi(2)).sqrt()).collect();
        Self { mean, deviations }
    }

    /// A point of the cube.
    pub(super) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let mut coordinate = |(mean, deviation): (&f64, &f64)| {
            let normal: f64 = StandardNormal.sample(rng);
            (mean + WIDTH * deviation * normal).clamp(0.0, 1.0)
        };
        self.mean.iter().zip(&self.deviations).map(&mut coordinate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::seed::Seed;

    #[test]
    fn draws_lie_about_the_weighted_mean_of_the_best() {
        let mut history = History::new(1);
        for x in [0.2, 0.4, 0.9] {
            history.push(&[x], Outcome::from(x)).unwrap();
        }
        let consensus = Consensus::of(&[(0.2, 0), (0.4, 1), (0.9, 2)], &history);
        let weights = [1.0_f64, 2.0, 3.0].map(|rank| 7.5_f64.ln() - rank.ln());
        let sum: f64 = weights.iter().sum();
        let mean = (0.2 * weights[0] + 0.4 * weights[1] + 0.9 * weights[2]) / sum;
        assert!((consensus.mean[0] - mean).abs() < 1e-12);
        let mut rng = Seed(1).stream("draws", 0);
        let draws: Vec<f64> = (0..4000).map(|_| consensus.draw(&mut rng)[0]).collect();
        let average = draws.iter().sum::<f64>() / 4000.0;
        assert!((average - mean).abs() < 0.01, "{average} {mean}");
        let square = draws.iter().map(|x| (x - average).powi(2)).sum::<f64>() / 4000.0;
        let ratio = square.sqrt() / consensus.deviations[0];
        assert!((0.37..0.43).contains(&ratio), "{ratio}");
    }
}
