//! Average ranks with bootstrap intervals.
//!
//! On each problem and seed the tools are ranked by their regret, 1 the lowest; equals share the mean of their ranks.
//! Regrets below [`SOLVED`] are equal: a further digit of a solved problem is no merit. A tool's average rank is the mean
//! over the problems of its mean over the seeds. The 95 % interval is a percentile bootstrap over both: problems are
//! drawn with replacement, then seeds within each. Tools meet the same problems and seeds, so that the distance of two of them is
//! surer than either rank: it has an interval of its own, from the same resamples.

use wimble::internals::below;
use wimble::seed::{Rng, Seed};

use crate::summary::quantile;

/// Regrets below this are equal.
pub const SOLVED: f64 = 1e-10;
const RESAMPLES: usize = 2000;

/// A tool's average rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AverageRank {
    /// The mean.
    pub mean: f64,
    /// 2.5 % quantile of the bootstrap.
    pub lower95: f64,
    /// 97.5 % quantile of the bootstrap.
    pub upper95: f64,
    /// The same quantiles of how far it is behind the tool with the least average; 0 for that one.
    pub behind95: (f64, f64),
}

/// The average rank of each tool. `problems` has a row a seed for each problem, with one regret a tool.
pub fn average_ranks(problems: &[Vec<Vec<f64>>]) -> Vec<AverageRank> {
    let Some(tools) = problems.first().and_then(|rows| rows.first()).map(Vec::len) else {
        return Vec::new();
    };
    let ranked: Vec<Vec<Vec<f64>>> =
        problems.iter().map(|rows| rows.iter().map(|row| ranks(row)).collect()).collect();
    let all: Vec<(usize, Vec<usize>)> =
        ranked.iter().enumerate().map(|(i, rows)| (i, (0..rows.len()).collect())).collect();
    let means = mean(&ranked, &all, tools);
    let mut rng = Seed(0).stream("bootstrap of ranks", problems.len() as u64);
    let resamples: Vec<Vec<f64>> =
        (0..RESAMPLES).map(|_| mean(&ranked, &resample(&ranked, &mut rng), tools)).collect();
    let first =
        (0..tools).fold(0, |first, tool| if means[tool] < means[first] { tool } else { first });
    let interval = |statistic: &dyn Fn(&[f64]) -> f64| {
        let mut values: Vec<f64> = resamples.iter().map(|means| statistic(means)).collect();
        values.sort_by(f64::total_cmp);
        (quantile(&values, 0.025), quantile(&values, 0.975))
    };
    let rank = |(tool, &mean): (usize, &f64)| {
        let (lower95, upper95) = interval(&|means| means[tool]);
        let behind95 = interval(&|means| means[tool] - means[first]);
        AverageRank { mean, lower95, upper95, behind95 }
    };
    means.iter().enumerate().map(rank).collect()
}

/// Problems with replacement, and seeds with replacement in each.
fn resample(ranked: &[Vec<Vec<f64>>], rng: &mut Rng) -> Vec<(usize, Vec<usize>)> {
    (0..ranked.len())
        .map(|_| {
            let problem = below(rng, ranked.len());
            let seeds = ranked[problem].len();
            (problem, (0..seeds).map(|_| below(rng, seeds)).collect())
        })
        .collect()
}

fn mean(ranked: &[Vec<Vec<f64>>], chosen: &[(usize, Vec<usize>)], tools: usize) -> Vec<f64> {
    let mut sums = vec![0.0; tools];
    for (problem, seeds) in chosen {
        let weight = 1.0 / (chosen.len() * seeds.len()) as f64;
        for &seed in seeds {
            let row = &ranked[*problem][seed];
            sums.iter_mut().zip(row).for_each(|(sum, rank)| *sum += weight * rank);
        }
    }
    sums
}

/// 1 for the lowest; equals share the mean of their ranks.
fn ranks(regrets: &[f64]) -> Vec<f64> {
    let floor = |regret: f64| regret.max(SOLVED);
    let rank = |&regret: &f64| {
        let below = regrets.iter().filter(|&&other| floor(other) < floor(regret)).count();
        let equal = regrets.iter().filter(|&&other| floor(other) == floor(regret)).count();
        below as f64 + (equal + 1) as f64 / 2.0
    };
    regrets.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_by_hand() {
        assert_eq!(ranks(&[0.3, 0.1, 0.2]), [3.0, 1.0, 2.0]);
        assert_eq!(ranks(&[0.1, 0.5, 0.1]), [1.5, 3.0, 1.5]);
        // Both solved.
        assert_eq!(ranks(&[1e-12, 1e-15, 1.0]), [1.5, 1.5, 3.0]);
    }

    #[test]
    fn the_average_is_over_problems_of_averages_over_seeds() {
        // The first tool wins the only seed of one problem, and one of two seeds of the other.
        let problems = [vec![vec![1.0, 2.0]], vec![vec![1.0, 2.0], vec![2.0, 1.0]]];
        let found = average_ranks(&problems);
        assert!((found[0].mean - 1.25).abs() < 1e-12 && (found[1].mean - 1.75).abs() < 1e-12);
        assert!(found[0].lower95 <= 1.25 && 1.25 <= found[0].upper95);
        assert!((1.0..=2.0).contains(&found[0].lower95) && found[0].upper95 <= 2.0);
        // With two tools the ranks add up to 3, and their distance says the same twice over.
        let (lower, upper) = found[1].behind95;
        assert_eq!(found[0].behind95, (0.0, 0.0));
        assert!((lower - (3.0 - 2.0 * found[0].upper95)).abs() < 1e-9);
        assert!((upper - (3.0 - 2.0 * found[0].lower95)).abs() < 1e-9);
        assert_eq!(average_ranks(&[]), []);
    }

    #[test]
    fn a_tool_that_always_wins_has_an_interval_of_one_point() {
        let problems = vec![vec![vec![0.1, 0.2, 0.3]; 5]; 8];
        let found = average_ranks(&problems);
        assert!((found[0].lower95 - 1.0).abs() < 1e-12 && (found[0].upper95 - 1.0).abs() < 1e-12);
    }
}
