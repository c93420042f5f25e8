//! Random forest: the mean of many trees, each grown on a resample of the labels.
//! ```text
//! π̂_t(x) = 1/T Σⱼ p_j(x),   p_j(x) = (Σ wᵢ zᵢ + a p₀) / (Σ wᵢ + a)   over the leaf of tree j that x falls into
//! ```
//! wᵢ is the label's weight times how often tree j drew it, p₀ the share of the good among all labels, itself
//! smoothed, and a the smoothing. Smoothing keeps every p_j strictly between 0 and 1, so that its logarithm is
//! finite, and makes leaves of few points say less. Splits minimise the same smoothed squared error (which for
//! a → 0 is the Gini impurity), so that a pure node is never split.
//!
//! After Breiman (2001). As in Hutter, Xu, Hoos and Leyton-Brown (2014) a threshold is drawn at random between the
//! two points that it separates: trees then differ in the gaps between points, which makes π̂ smoother there,
//! equal values rarer, and the spread over trees wider where nothing was tried.
//!
//! π̂ is constant on cells and has no gradient: use it under `Candidates`. Among points of equal value that rule
//! takes the one it drew first, which is a random one.
//!
//! Cost for n points, T trees and m columns a split: O(T m n log n) to fit, on all cores, and O(T log n) a value.
//! Nothing fails once the settings are checked.

use rand_xoshiro::rand_core::Rng as _;
use serde::{Deserialize, Serialize};

use super::parallel::{in_parallel, workers_for};
use super::tree::{Bins, Growth, MAX_BINS, Summary, Sums, Tree};
use super::tree::{resample, smoothed_rate};
use super::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::acquisition::Acquisition;
use crate::error::{Error, Result};
use crate::labels::Labels;
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, Seed};

/// Settings of the random forest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Forest {
    /// T, at least 1.
    pub trees: usize,
    /// Columns looked at for a split, among those with two values in the node; by default √d rounded up, and at
    /// least 3 where there are as many. Log-loss on one data set of 2,000 points, d = 6, with leaves of 2 points: 0.298
    /// with 1, 0.260 with 2, 0.251 with 3, 0.247 with 4 and 0.246 with 6; the cost grows with the number.
    pub features: Option<usize>,
    /// The least number of distinct trials in a leaf, at least 1.
    pub min_leaf: usize,
    /// The most levels below the root, at least 1; the default is a guard that ordinary trees do not meet.
    pub max_depth: usize,
    /// a, in labels of weight 1; positive.
    pub smoothing: f64,
    /// Values told apart in a column, 2 to 256; beyond, quantiles. 64 are a little faster and no less accurate on points
    /// spread evenly, but cannot part points that crowd around a minimum.
    pub bins: usize,
}

impl Named for Forest {
    const NAME: &'static str = "forest";
    const DESCRIPTION: &'static str = "a random forest";
}

impl Default for Forest {
    fn default() -> Self {
        Self { trees: 100, features: None, min_leaf: 1, max_depth: 48, smoothing: 1.0, bins: 256 }
    }
}

impl Forest {
    fn growth(&self, dim: usize) -> Growth {
        let root = (dim as f64).sqrt().ceil() as usize;
        Growth {
            features: self.features.unwrap_or_else(|| root.max(3)).min(dim),
            min_leaf: self.min_leaf,
            max_depth: self.max_depth,
            ridge: self.smoothing,
            shrinkage: 1.0,
        }
    }

    /// The fit by this many threads, on which it does not depend.
    fn fit_by(&self, workers: usize, labels: &Labels<'_>, rng: &mut Rng) -> ForestClassifier {
        let points = Points::from_rows(labels.dim(), labels.points());
        let bins = Bins::new(&points, self.bins);
        let targets = labels.targets();
        let weights: Vec<f64> = (0..labels.len()).map(|i| labels.weight(i)).collect();
        let rate = smoothed_rate(&targets, &weights);
        let growth = self.growth(labels.dim());
        let seed = Seed(rng.next_u64());
        let trees = in_parallel(self.trees, workers, |index| {
            let rng = &mut seed.stream("tree", index as u64);
            let drawn = resample(&weights, rng);
            let sums: Vec<Sums> = drawn
                .iter()
                .zip(&targets)
                .map(|(&weight, target)| Sums::one(weight * (rate - target), weight))
                .collect();
            let mut rows: Vec<u32> =
                (0..drawn.len() as u32).filter(|&row| drawn[row as usize] > 0.0).collect();
            // Rounding must not undo what smoothing is for.
            let probability = |v: f64| (rate + v).clamp(f64::EPSILON, 1.0 - f64::EPSILON);
            growth.grow(&bins, &sums, &mut rows, rng, |_, _| ()).map(probability)
        });
        ForestClassifier { dim: labels.dim(), trees }
    }
}

impl Learner for Forest {
    type Classifier = ForestClassifier;

    fn fit(
        &self,
        labels: &Labels<'_>,
        _previous: Option<&ForestClassifier>,
        rng: &mut Rng,
    ) -> Result<ForestClassifier> {
        self.check(labels.dim())?;
        let growth = self.growth(labels.dim());
        let levels = labels.len().max(1).ilog2() as usize + 1;
        let steps = self.trees.saturating_mul(growth.features * labels.len() * levels);
        Ok(self.fit_by(workers_for(steps), labels, rng))
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn check(&self, dim: usize) -> Result<()> {
        for (field, value) in [
            ("forest trees", self.trees),
            ("forest min-leaf", self.min_leaf),
            ("forest max-depth", self.max_depth),
        ] {
            if value == 0 {
                return Err(Error::invalid(field, value, "at least 1"));
            }
        }
        if let Some(features) = self.features.filter(|features| !(1..=dim).contains(features)) {
            let allowed = format!("1 to {dim}, the number of columns");
            return Err(Error::invalid("forest features", features, allowed));
        }
        if !(self.smoothing > 0.0 && self.smoothing.is_finite()) {
            return Err(Error::invalid("forest smoothing", self.smoothing, "positive and finite"));
        }
        if !(2..=MAX_BINS).contains(&self.bins) {
            return Err(Error::invalid("forest bins", self.bins, format!("2 to {MAX_BINS}")));
        }
        Ok(())
    }
}

/// A fitted forest.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestClassifier {
    dim: usize,
    trees: Vec<Tree>,
}

impl ForestClassifier {
    /// The probability that each tree gives.
    pub fn probabilities(&self, x: &[f64]) -> Vec<f64> {
        self.trees.iter().map(|tree| tree.value(x)).collect()
    }
}

impl Classifier for ForestClassifier {
    type Acquisition<'c> = ForestBound<'c>;

    fn dim(&self) -> usize {
        self.dim
    }

    fn probability(&self, x: &[f64]) -> f64 {
        Summary::Mean.of(&mut self.probabilities(x))
    }

    fn acquisition(&self, target: Target) -> ForestBound<'_> {
        ForestBound { classifier: self, reading: Summary::Mean, target }
    }
}

impl Uncertain for ForestClassifier {
    type UpperBound<'c> = ForestBound<'c>;

    /// The width is in standard deviations over trees; at a level the bound is the (1 - δ)-quantile over trees, and
    /// the norm bound, which says nothing about trees, is not used. A forest of one tree has no bound.
    ///
    /// Trees with small leaves say nearly 0 or 1, so that their deviation comes near √(π̂(1 - π̂)). The bound of width β
    /// is then largest where π̂ = ½ + ½/√(1 + β²): 0.85 for β = 1, and for the default of 3 only 0.66, at the edge of
    /// the good region. A width of 1 or less explores around the good points; 3 explores their edge.
    fn upper_bound(&self, confidence: Confidence, target: Target) -> Result<ForestBound<'_>> {
        let reading = Summary::bound(confidence, self.trees.len(), "forest trees")?;
        Ok(ForestBound { classifier: self, reading, target })
    }
}

/// The mean over trees, or a bound above it, as an acquisition.
///
/// # Design
/// Mean and deviation may add up to more than 1, where the logit has no value. It is continued by its tangent from
/// 0.975 on, as for kernel least squares: finite, and strictly increasing in the bound, so that points which a
/// clip would make equal keep their order.
#[derive(Debug, Clone, Copy)]
pub struct ForestBound<'c> {
    classifier: &'c ForestClassifier,
    reading: Summary,
    target: Target,
}

/// Points whose trees are read together: few enough that their values stay in the nearer cache.
const BLOCK: usize = 128;

impl Acquisition for ForestBound<'_> {
    fn dim(&self) -> usize {
        self.classifier.dim
    }

    fn value(&self, x: &[f64]) -> f64 {
        on_scale(self.target, self.reading.of(&mut self.classifier.probabilities(x)))
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let trees = &self.classifier.trees;
        let mut block = vec![0.0; trees.len() * BLOCK];
        for (index, values) in values.chunks_mut(BLOCK).enumerate() {
            let range = index * BLOCK..index * BLOCK + values.len();
            for (t, tree) in trees.iter().enumerate() {
                let each = |i: usize, value| block[i * trees.len() + t] = value;
                tree.values(points, range.clone(), each);
            }
            for (value, members) in values.iter_mut().zip(block.chunks_exact_mut(trees.len())) {
                *value = on_scale(self.target, self.reading.of(members));
            }
        }
    }

    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        self.target.log_densities(self, points, densities)
    }
}

/// From where on the logit is continued by its tangent.
const TANGENT_FROM: f64 = 0.975;

/// The target's function of a bound u > 0, continued above; see [`ForestBound`].
fn on_scale(target: Target, u: f64) -> f64 {
    match target {
        Target::LogProbability => u.ln(),
        Target::Logit => {
            let from = u.min(TANGENT_FROM);
            (from / (1.0 - from)).ln() + (u - from) / (from * (1.0 - from))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixtures::{check_threads, fit, history};
    use super::*;
    use crate::batch::{BatchRule as _, Candidates};
    use crate::domain::Domain;
    use crate::history::History;
    use crate::outcome::Outcome;
    use crate::space::{Dimension, SearchSpace, Taken};

    #[test]
    fn the_fit_does_not_depend_on_the_number_of_threads() {
        let forest = Forest::default();
        check_threads(&forest, |threads, labels, rng| forest.fit_by(threads, labels, rng));
    }

    #[test]
    fn a_leaf_holds_the_smoothed_share_of_the_good() {
        let mut history = History::new(1);
        for i in 0..7 {
            history.push(&[f64::from(i)], Outcome::from(1.0)).unwrap();
        }
        for smoothing in [0.1, 1.0, 30.0] {
            let forest = fit(&Forest { smoothing, ..Forest::default() }, &history);
            // A resample of seven points weighs seven, whichever are drawn.
            let expected = (7.0 + smoothing * 8.0 / 9.0) / (7.0 + smoothing);
            assert!((forest.probability(&[3.0]) - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn trees_differ_more_in_a_gap_than_at_the_points() {
        let mut history = History::new(1);
        for i in 0..10 {
            history.push(&[f64::from(i) / 45.0], Outcome::from(0.0)).unwrap();
            history.push(&[1.0 - f64::from(i) / 45.0], Outcome::from(1.0)).unwrap();
        }
        let forest = fit(&Forest::default(), &history);
        let spread = |x: f64| {
            let bound = Summary::Width(1.0).of(&mut forest.probabilities(&[x]));
            bound - forest.probability(&[x])
        };
        assert!(spread(0.5) > 3.0 * spread(0.0), "{} {}", spread(0.5), spread(0.0));
        // The estimate falls over the gap by many small steps.
        let mut steps: Vec<f64> =
            (0..50).map(|i| forest.probability(&[0.2 + 0.6 * f64::from(i) / 49.0])).collect();
        assert!(steps.is_sorted_by(|a, b| a >= b));
        steps.dedup();
        assert!(steps.len() > 25, "{}", steps.len());
    }

    #[test]
    fn both_scales_are_finite_and_strictly_increasing() {
        for target in [Target::Logit, Target::LogProbability] {
            let values: Vec<f64> =
                (1..4000).map(|i| on_scale(target, f64::from(i) * 1e-3)).collect();
            assert!(values.is_sorted_by(|a, b| a < b));
            assert!(on_scale(target, f64::EPSILON).is_finite());
        }
        assert_eq!(on_scale(Target::Logit, 0.5), 0.0);
        let joint = TANGENT_FROM;
        let slope =
            |a: f64, b: f64| (on_scale(Target::Logit, b) - on_scale(Target::Logit, a)) / (b - a);
        let (before, after) = (slope(joint - 1e-7, joint), slope(joint, joint + 1e-7));
        assert!((before / after - 1.0).abs() < 1e-4, "{before} {after}");
    }

    #[test]
    fn local_search_beats_as_many_random_candidates_on_a_fitted_forest() {
        const DIM: usize = 6;
        let forest = fit(&Forest::default(), &history(DIM, 300));
        let reals = (0..DIM).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0));
        let space = SearchSpace::new(reals).unwrap();
        let (taken, none) = (Taken::default(), Points::new(DIM));
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let climbing = Candidates::default();
        let looked_at = climbing.samples + climbing.rounds * climbing.climbers * climbing.changes;
        let random = Candidates { samples: looked_at, rounds: 0, ..climbing };
        let bound = forest.upper_bound(Confidence::default(), Target::Logit).unwrap();
        for acquisition in [forest.acquisition(Target::Logit), bound] {
            let reached = |rule: Candidates| -> Vec<f64> {
                (0..10)
                    .map(|i| {
                        let rng = &mut Seed(3).stream("choose", i);
                        let chosen = rule.choose(&acquisition, &domain, 1, rng).unwrap();
                        acquisition.value(chosen.row(0))
                    })
                    .collect()
            };
            let (climbed, drawn) = (reached(climbing), reached(random));
            let gains: Vec<f64> = climbed.iter().zip(&drawn).map(|(c, d)| c - d).collect();
            let mean = gains.iter().sum::<f64>() / 10.0;
            let deviation = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 9.0;
            // Three standard errors of the mean gain over ten seeds.
            assert!(mean > 3.0 * (deviation / 10.0).sqrt(), "{climbed:?} against {drawn:?}");
        }
    }

    #[test]
    fn settings_that_no_fit_could_use_are_refused_by_name() {
        let forest = Forest::default();
        for (wrong, field) in [
            (Forest { trees: 0, ..forest }, "trees is 0"),
            (Forest { min_leaf: 0, ..forest }, "min-leaf is 0"),
            (Forest { max_depth: 0, ..forest }, "max-depth is 0"),
            (Forest { features: Some(0), ..forest }, "features is 0"),
            (Forest { features: Some(4), ..forest }, "features is 4"),
            (Forest { smoothing: 0.0, ..forest }, "smoothing is 0"),
            (Forest { smoothing: f64::NAN, ..forest }, "smoothing is NaN"),
            (Forest { bins: 1, ..forest }, "bins is 1"),
            (Forest { bins: 257, ..forest }, "bins is 257"),
        ] {
            let error = wrong.check(3).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
        assert!(Forest { features: Some(3), bins: 2, ..forest }.check(3).is_ok());
        let alone = fit(&Forest { trees: 1, ..forest }, &history(1, 9));
        assert!(alone.upper_bound(Confidence::default(), Target::Logit).is_err());
    }

    #[test]
    fn settings_are_read_back_as_they_were_written() {
        let forest = Forest { features: Some(2), min_leaf: 3, ..Forest::default() };
        let text = serde_json::to_string(&forest).unwrap();
        assert_eq!(serde_json::from_str::<Forest>(&text).unwrap(), forest, "{text}");
        assert_eq!(serde_json::from_str::<Forest>("{}").unwrap(), Forest::default());
        let short = serde_json::from_str::<Forest>(r#"{"min-leaf": 3}"#).unwrap();
        assert_eq!(short, Forest { min_leaf: 3, ..Forest::default() });
        assert!(serde_json::from_str::<Forest>(r#"{"leaf": 3}"#).is_err());
    }
}
