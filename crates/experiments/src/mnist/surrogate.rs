//! The MNIST tuning problem: a regression forest fitted to the table of runs.
//!
//! ```text
//! ln error(x) = 1/T Σ_j (mean of ln error over the leaf of tree j that x falls into)
//! ```
//!
//! The logarithm, because errors lie between 2 % and 90 % and the interesting ones below 5 %. Trees are grown on
//! resamples by the split of least squared error among all columns and places, after Breiman (2001); a threshold lies in
//! the middle of the two values that it parts. The regret is the predicted error less the least one known.
//!
//! Cost for n runs and d columns: O(T d n log² n) to fit, O(T log n) a value.

use wimble::internals::below;
use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};

use super::runs::Run;
use super::space::space;
use crate::error::Result;
use crate::objective::{Noise, Objective, Observation};

/// Trees.
const TREES: usize = 100;
/// The least number of runs in a leaf, a resample's repeats counted.
const MIN_LEAF: usize = 3;
/// Parts of the table in cross-validation.
const FOLDS: usize = 10;

/// A forest over the space of the hyper-parameters.
#[derive(Debug, Clone)]
pub struct Surrogate {
    space: SearchSpace,
    trees: Vec<Tree>,
    optimum: f64,
}

/// How well forests predict runs that they have not seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Runs.
    pub runs: usize,
    /// The root of the mean squared difference, in shares of images.
    pub rmse: f64,
    /// The part of the variance of the error that is predicted.
    pub r_squared: f64,
    /// The same of the error's logarithm.
    pub log_r_squared: f64,
    /// Spearman's correlation of the ranks.
    pub rank_correlation: f64,
}

impl Surrogate {
    /// Fits the forest; `optimum` is the least prediction known.
    pub fn fit(runs: &[Run], optimum: f64) -> Result<Self> {
        let space = space()?;
        let (points, targets) = encode(&space, runs)?;
        let trees = forest(&points, &targets, Seed(0));
        Ok(Self { space, trees, optimum })
    }

    /// The predicted error at a configuration.
    pub fn error(&self, configuration: &Configuration) -> Result<f64> {
        let x = self.space.encode(configuration)?;
        Ok(predict(&self.trees, &x).exp())
    }
}

impl Objective for Surrogate {
    fn space(&self) -> Result<SearchSpace> {
        Ok(self.space.clone())
    }

    fn observe(&self, configuration: &Configuration, _: Noise) -> Result<Observation> {
        let told = self.error(configuration)?;
        let regret = (told - self.optimum).max(0.0);
        Ok(Observation { told, regret, others: vec![("best_value", told)] })
    }
}

/// Ten-fold cross-validation: each run is predicted by a forest that has not seen it.
pub fn cross_validate(runs: &[Run]) -> Result<Accuracy> {
    let (points, targets) = encode(&space()?, runs)?;
    let mut predicted = vec![0.0; runs.len()];
    for fold in 0..FOLDS {
        let outside: Vec<usize> = (0..runs.len()).filter(|i| i % FOLDS != fold).collect();
        let kept: Vec<Vec<f64>> = outside.iter().map(|&i| points[i].clone()).collect();
        let values: Vec<f64> = outside.iter().map(|&i| targets[i]).collect();
        let trees = forest(&kept, &values, Seed(1 + fold as u64));
        for i in (fold..runs.len()).step_by(FOLDS) {
            predicted[i] = predict(&trees, &points[i]);
        }
    }
    let errors: Vec<f64> = runs.iter().map(|run| run.error).collect();
    let shares: Vec<f64> = predicted.iter().map(|p| p.exp()).collect();
    Ok(Accuracy {
        runs: runs.len(),
        rmse: (squares(&errors, &shares) / runs.len() as f64).sqrt(),
        r_squared: explained(&errors, &shares),
        log_r_squared: explained(&targets, &predicted),
        rank_correlation: correlation(&ranks(&errors), &ranks(&shares)),
    })
}

/// Points of the unit cube and logarithms of errors.
fn encode(space: &SearchSpace, runs: &[Run]) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    let points = runs.iter().map(|run| Ok(space.encode(&run.chosen.configuration())?));
    let points: Vec<Vec<f64>> = points.collect::<Result<_>>()?;
    // An error of zero would have no logarithm; half an image of 10,000 is as good.
    Ok((points, runs.iter().map(|run| run.error.max(5e-5).ln()).collect()))
}

fn squares(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn explained(actual: &[f64], predicted: &[f64]) -> f64 {
    let mean = actual.iter().sum::<f64>() / actual.len() as f64;
    1.0 - squares(actual, predicted) / squares(actual, &vec![mean; actual.len()])
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product: f64 = a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum();
    let spread = |v: &[f64], m: f64| v.iter().map(|x| (x - m).powi(2)).sum::<f64>();
    product / (spread(a, ma) * spread(b, mb)).sqrt()
}

/// Ranks from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let less = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        less as f64 + (equal - 1) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}

#[derive(Debug, Clone)]
enum Tree {
    Leaf(f64),
    Split { column: usize, threshold: f64, below: Box<Tree>, above: Box<Tree> },
}

impl Tree {
    fn value(&self, x: &[f64]) -> f64 {
        match self {
            Self::Leaf(value) => *value,
            Self::Split { column, threshold, below, above } => {
                if x[*column] <= *threshold {
                    below.value(x)
                } else {
                    above.value(x)
                }
            }
        }
    }

    fn grow(points: &[Vec<f64>], targets: &[f64], rows: &mut [usize]) -> Self {
        let sum: f64 = rows.iter().map(|&row| targets[row]).sum();
        let Some((column, threshold)) = best_split(points, targets, rows, sum) else {
            return Self::Leaf(sum / rows.len() as f64);
        };
        rows.sort_by(|&a, &b| points[a][column].total_cmp(&points[b][column]));
        let count = rows.partition_point(|&row| points[row][column] <= threshold);
        let (below, above) = rows.split_at_mut(count);
        Self::Split {
            column,
            threshold,
            below: Box::new(Self::grow(points, targets, below)),
            above: Box::new(Self::grow(points, targets, above)),
        }
    }
}

/// The split of least squared error; `None` where none leaves enough on both sides or gains anything.
fn best_split(
    points: &[Vec<f64>],
    targets: &[f64],
    rows: &[usize],
    sum: f64,
) -> Option<(usize, f64)> {
    let count = rows.len();
    // Least squares is most Σ (sum of a side)²/(its size).
    let mut best = (sum * sum / count as f64 + 1e-12 * (1.0 + sum.abs()), None);
    let mut order = rows.to_vec();
    let dim = points.first().map_or(0, Vec::len);
    let at = |row: usize, column: usize| points[row][column];
    for column in 0..dim {
        order.sort_by(|&a, &b| at(a, column).total_cmp(&at(b, column)));
        let mut left = 0.0;
        for (i, pair) in order.windows(2).enumerate() {
            left += targets[pair[0]];
            let (here, next) = (at(pair[0], column), at(pair[1], column));
            let size = i + 1;
            if here == next || size < MIN_LEAF || count - size < MIN_LEAF {
                continue;
            }
            let right = sum - left;
            let score = left * left / size as f64 + right * right / (count - size) as f64;
            if score > best.0 {
                best = (score, Some((column, 0.5 * (here + next))));
            }
        }
    }
    best.1
}

fn forest(points: &[Vec<f64>], targets: &[f64], seed: Seed) -> Vec<Tree> {
    let tree = |index: usize| {
        let mut rng = seed.stream("tree", index as u64);
        let mut rows: Vec<usize> =
            (0..points.len()).map(|_| below(&mut rng, points.len())).collect();
        Tree::grow(points, targets, &mut rows)
    };
    (0..TREES).map(tree).collect()
}

fn predict(trees: &[Tree], x: &[f64]) -> f64 {
    trees.iter().map(|tree| tree.value(x)).sum::<f64>() / trees.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::runs::published;
    use super::super::space::HyperParameters;
    use super::*;

    /// Runs whose error follows the learning rate alone.
    fn made(count: usize) -> Vec<Run> {
        let space = space().unwrap();
        let mut rng = Seed(1).stream("made", 0);
        let run = |_| {
            let configuration = space.decode(&space.sample(&mut rng));
            let chosen = HyperParameters::from_configuration(&configuration).unwrap();
            let far = (chosen.learning_rate.log10() + 3.0).abs();
            Run { chosen, error: 0.02 + 0.2 * far }
        };
        (0..count).map(run).collect()
    }

    #[test]
    fn the_best_split_is_that_of_trying_all() {
        let mut rng = Seed(2).stream("points", 0);
        let points: Vec<Vec<f64>> =
            (0..30).map(|_| (0..3).map(|_| below(&mut rng, 9) as f64).collect()).collect();
        let targets: Vec<f64> = (0..30).map(|_| below(&mut rng, 100) as f64).collect();
        let rows: Vec<usize> = (0..30).collect();
        let cost = |column: usize, threshold: f64| {
            let side = |low: bool| -> Vec<f64> {
                rows.iter()
                    .filter(|&&row| (points[row][column] <= threshold) == low)
                    .map(|&row| targets[row])
                    .collect()
            };
            let sides = [side(true), side(false)];
            if sides.iter().any(|side| side.len() < MIN_LEAF) {
                return f64::INFINITY;
            }
            let own =
                |v: &Vec<f64>| squares(v, &vec![v.iter().sum::<f64>() / v.len() as f64; v.len()]);
            sides.iter().map(own).sum()
        };
        let all = (0..3).flat_map(|column| (0..8).map(move |v| (column, f64::from(v) + 0.5)));
        let least = all.map(|(c, t)| cost(c, t)).fold(f64::INFINITY, f64::min);
        let (column, threshold) =
            best_split(&points, &targets, &rows, targets.iter().sum()).unwrap();
        assert!((cost(column, threshold) - least).abs() < 1e-9);
    }

    #[test]
    fn a_forest_predicts_what_can_be_predicted_and_cross_validation_says_so() {
        let runs = made(300);
        let accuracy = cross_validate(&runs).unwrap();
        assert!(accuracy.r_squared > 0.95 && accuracy.rank_correlation > 0.95, "{accuracy:?}");
        let surrogate = Surrogate::fit(&runs, 0.0).unwrap();
        let seen = surrogate.error(&runs[0].chosen.configuration()).unwrap();
        assert!((seen - runs[0].error).abs() < 0.1, "{seen} {}", runs[0].error);
        // Shuffled errors cannot be predicted.
        let mut noise = runs.clone();
        for i in 0..noise.len() {
            noise[i].error = runs[(i * 97 + 13) % runs.len()].error;
        }
        assert!(cross_validate(&noise).unwrap().r_squared < 0.3);
    }

    #[test]
    fn ranks_share_ties() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_published_runs_are_many_and_their_forest_is_accurate() {
        let runs = published().unwrap();
        assert!(runs.len() >= 1000, "{}", runs.len());
        let accuracy = cross_validate(&runs).unwrap();
        assert!(accuracy.rank_correlation > 0.9, "{accuracy:?}");
    }
}
