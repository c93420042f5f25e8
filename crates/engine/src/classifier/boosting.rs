//! Gradient boosting: trees added one after another, each mending what the sum so far gets wrong.
//! ```text
//! F_0 = log p₀ / (1 - p₀),   F_r(x) = F_{r-1}(x) + η v_r(x),   π̂_t(x) = 1 / (1 + exp(-F_R(x)))
//! ```
//! v_r is a tree fitted to the gradient wᵢ (π̂(xᵢ) - zᵢ) and curvature wᵢ π̂(xᵢ) (1 - π̂(xᵢ)) of the logistic loss at
//! F_{r-1} (Friedman 2001; the second-order gain is that of Chen and Guestrin 2016), η the learning rate, and p₀ the
//! smoothed share of the good. The ridge of the trees keeps F finite when all labels are the same.
//!
//! One such sum has no notion of its own doubt. So several are fitted, each to a resample of the labels; F is the
//! mean over these members, and the bound of BORE++ comes from their spread, on the logit scale:
//! mean + β · deviation, or the (1 - δ)-quantile, which for few members is their maximum.
//!
//! π̂ is constant on cells and has no gradient: use it under `Candidates`. Among points of equal value that rule
//! takes the one it drew first, which is a random one.
//!
//! Cost for n points, M members, R rounds and trees of depth D: O(M R D d n) to fit, members on all cores, and
//! O(M R D) a value. Fails with `Error::Diverged` if the ridge is so small that a leaf overflows.

use rand_xoshiro::rand_core::Rng as _;
use serde::{Deserialize, Serialize};

use super::logistic::{sigmoid, value_and_slope};
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

/// Settings of gradient boosting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Boosting {
    /// R, the number of trees a member adds up, at least 1. More of them fit the labels more closely.
    pub rounds: usize,
    /// η, the share of each tree that is added, in (0, 1]. A smaller one needs more rounds and overfits less.
    pub learning_rate: f64,
    /// The most levels below the root of a tree, at least 1.
    pub max_depth: usize,
    /// The least number of distinct trials in a leaf, at least 1.
    pub min_leaf: usize,
    /// λ of the trees, positive: pulls the value of a leaf with few trials towards 0.
    pub ridge: f64,
    /// Values told apart in a column, 2 to 256; beyond, quantiles.
    pub bins: usize,
    /// M, at least 1. A single member is fitted to the labels themselves and costs a fifth of the default, but has no
    /// upper bound.
    pub members: usize,
}

impl Named for Boosting {
    const NAME: &'static str = "boosting";
    const DESCRIPTION: &'static str = "gradient-boosted trees";
}

impl Default for Boosting {
    fn default() -> Self {
        Self {
            rounds: 100,
            learning_rate: 0.1,
            max_depth: 3,
            min_leaf: 2,
            ridge: 2.0,
            bins: 256,
            members: 5,
        }
    }
}

impl Boosting {
    /// The fit by this many threads, on which it does not depend.
    fn fit_by(
        &self,
        workers: usize,
        labels: &Labels<'_>,
        rng: &mut Rng,
    ) -> Result<BoostingClassifier> {
        let points = Points::from_rows(labels.dim(), labels.points());
        let bins = Bins::new(&points, self.bins);
        let targets = labels.targets();
        let weights: Vec<f64> = (0..labels.len()).map(|i| labels.weight(i)).collect();
        let seed = Seed(rng.next_u64());
        let members = in_parallel(self.members, workers, |index| {
            let rng = &mut seed.stream("member", index as u64);
            if self.members == 1 {
                self.member(&bins, &targets, &weights, rng)
            } else {
                self.member(&bins, &targets, &resample(&weights, rng), rng)
            }
        });
        let members = members.into_iter().collect::<Result<_>>()?;
        Ok(BoostingClassifier { dim: labels.dim(), members })
    }

    fn member(
        &self,
        bins: &Bins,
        targets: &[f64],
        weights: &[f64],
        rng: &mut Rng,
    ) -> Result<Member> {
        let growth = Growth {
            features: bins.dim(),
            min_leaf: self.min_leaf,
            max_depth: self.max_depth,
            ridge: self.ridge,
            shrinkage: self.learning_rate,
        };
        let rate = smoothed_rate(targets, weights);
        let start = (rate / (1.0 - rate)).ln();
        let mut logits = vec![start; targets.len()];
        let mut sums = vec![Sums::default(); targets.len()];
        let drawn: Vec<u32> =
            (0..weights.len() as u32).filter(|&row| weights[row as usize] > 0.0).collect();
        let mut rows = drawn.clone();
        let trees = (0..self.rounds)
            .map(|_| {
                for &row in &drawn {
                    let row = row as usize;
                    let (probability, weight) = (sigmoid(logits[row]), weights[row]);
                    sums[row] = Sums::one(
                        weight * (probability - targets[row]),
                        weight * probability * (1.0 - probability),
                    );
                }
                // Growing leaves the rows in the order of its leaves; in their own they are read faster.
                rows.copy_from_slice(&drawn);
                growth.grow(bins, &sums, &mut rows, rng, |rows, value| {
                    rows.iter().for_each(|&row| logits[row as usize] += value);
                })
            })
            .collect();
        if logits.iter().any(|logit| !logit.is_finite()) {
            return Err(Error::Diverged { model: "boosting", doing: "adding trees" });
        }
        Ok(Member { start, trees })
    }
}

impl Learner for Boosting {
    type Classifier = BoostingClassifier;

    fn fit(
        &self,
        labels: &Labels<'_>,
        _previous: Option<&BoostingClassifier>,
        rng: &mut Rng,
    ) -> Result<BoostingClassifier> {
        self.check(labels.dim())?;
        let levels = self.max_depth.min(labels.len());
        let steps = [self.rounds, levels, labels.dim(), labels.len()]
            .into_iter()
            .fold(self.members, usize::saturating_mul);
        self.fit_by(workers_for(steps), labels, rng)
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn check(&self, _dim: usize) -> Result<()> {
        for (field, value) in [
            ("boosting rounds", self.rounds),
            ("boosting max-depth", self.max_depth),
            ("boosting min-leaf", self.min_leaf),
            ("boosting members", self.members),
        ] {
            if value == 0 {
                return Err(Error::invalid(field, value, "at least 1"));
            }
        }
        if !(self.learning_rate > 0.0 && self.learning_rate <= 1.0) {
            let allowed = "positive and at most 1";
            return Err(Error::invalid("boosting learning-rate", self.learning_rate, allowed));
        }
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(Error::invalid("boosting ridge", self.ridge, "positive and finite"));
        }
        if !(2..=MAX_BINS).contains(&self.bins) {
            return Err(Error::invalid("boosting bins", self.bins, format!("2 to {MAX_BINS}")));
        }
        Ok(())
    }
}

/// A fitted ensemble of boosted sums of trees.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostingClassifier {
    dim: usize,
    members: Vec<Member>,
}

/// One boosted sum of trees.
#[derive(Debug, Clone, PartialEq)]
struct Member {
    start: f64,
    trees: Vec<Tree>,
}

impl BoostingClassifier {
    /// F of each member.
    pub fn logits(&self, x: &[f64]) -> Vec<f64> {
        let logit = |member: &Member| {
            member.trees.iter().fold(member.start, |logit, tree| logit + tree.value(x))
        };
        self.members.iter().map(logit).collect()
    }
}

impl Classifier for BoostingClassifier {
    type Acquisition<'c> = BoostingBound<'c>;

    fn dim(&self) -> usize {
        self.dim
    }

    fn probability(&self, x: &[f64]) -> f64 {
        sigmoid(Summary::Mean.of(&mut self.logits(x)))
    }

    fn acquisition(&self, target: Target) -> BoostingBound<'_> {
        BoostingBound { classifier: self, reading: Summary::Mean, target }
    }
}

impl Uncertain for BoostingClassifier {
    type UpperBound<'c> = BoostingBound<'c>;

    /// The width is in standard deviations of the members' logits; at a level the bound is the (1 - δ)-quantile over
    /// members, and the norm bound, which says nothing about trees, is not used. A single member has no bound.
    fn upper_bound(&self, confidence: Confidence, target: Target) -> Result<BoostingBound<'_>> {
        let reading = Summary::bound(confidence, self.members.len(), "boosting members")?;
        Ok(BoostingBound { classifier: self, reading, target })
    }
}

/// The mean over members, or a bound above it, as an acquisition. It is taken on the logit scale, where it has no
/// end to be clipped at.
#[derive(Debug, Clone, Copy)]
pub struct BoostingBound<'c> {
    classifier: &'c BoostingClassifier,
    reading: Summary,
    target: Target,
}

impl BoostingBound<'_> {
    fn read(&self, logits: &mut [f64]) -> f64 {
        value_and_slope(self.target, self.reading.of(logits)).0
    }
}

impl Acquisition for BoostingBound<'_> {
    fn dim(&self) -> usize {
        self.classifier.dim
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.read(&mut self.classifier.logits(x))
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let members = &self.classifier.members;
        let mut logits = vec![0.0; members.len() * values.len()];
        for (m, member) in members.iter().enumerate() {
            logits.iter_mut().skip(m).step_by(members.len()).for_each(|f| *f = member.start);
            for tree in &member.trees {
                let add = |i: usize, value| logits[i * members.len() + m] += value;
                tree.values(points, 0..points.len(), add);
            }
        }
        for (value, logits) in values.iter_mut().zip(logits.chunks_exact_mut(members.len())) {
            *value = self.read(logits);
        }
    }

    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        self.target.log_densities(self, points, densities)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::fixtures::{check_threads, fit, history, labels};
    use super::*;
    use crate::history::History;
    use crate::outcome::Outcome;

    #[test]
    fn the_fit_does_not_depend_on_the_number_of_threads() {
        check_threads(&Boosting::default(), |threads, labels, rng| {
            Boosting::default().fit_by(threads, labels, rng).unwrap()
        });
    }

    #[test]
    fn one_round_is_one_newton_step_in_each_leaf() {
        let mut history = History::new(1);
        for (x, value) in [(0.0, 0.0), (0.1, 0.0), (0.7, 1.0), (0.8, 1.0), (0.9, 1.0)] {
            history.push(&[x], Outcome::from(value)).unwrap();
        }
        let boosting = Boosting { rounds: 1, members: 1, max_depth: 1, ..Boosting::default() };
        let classifier = fit(&boosting, &history);
        let rate: f64 = 3.0 / 7.0;
        let start = (rate / (1.0 - rate)).ln();
        let step = |count: f64, target: f64| {
            let curvature = count * rate * (1.0 - rate) + boosting.ridge;
            start - boosting.learning_rate * count * (rate - target) / curvature
        };
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        close(classifier.logits(&[0.05])[0], step(2.0, 1.0));
        close(classifier.logits(&[0.95])[0], step(3.0, 0.0));
    }

    #[test]
    fn more_rounds_fit_the_labels_better() {
        let history = history(2, 100);
        let labels = labels(&history);
        let loss = |rounds| {
            let classifier = fit(&Boosting { rounds, members: 1, ..Boosting::default() }, &history);
            let log_probability = |(i, x): (usize, &[f64])| {
                let p = classifier.probability(x);
                if labels.is_good(i) { p.ln() } else { (1.0 - p).ln() }
            };
            -labels.points().enumerate().map(log_probability).sum::<f64>()
        };
        let losses = [1, 3, 10, 30, 100, 300].map(loss);
        assert!(losses.is_sorted_by(|a, b| a > b), "{losses:?}");
    }

    #[test]
    fn settings_that_no_fit_could_use_are_refused_by_name() {
        let boosting = Boosting::default();
        for (wrong, field) in [
            (Boosting { rounds: 0, ..boosting }, "rounds is 0"),
            (Boosting { max_depth: 0, ..boosting }, "max-depth is 0"),
            (Boosting { min_leaf: 0, ..boosting }, "min-leaf is 0"),
            (Boosting { members: 0, ..boosting }, "members is 0"),
            (Boosting { learning_rate: 0.0, ..boosting }, "learning-rate is 0"),
            (Boosting { learning_rate: 1.5, ..boosting }, "learning-rate is 1.5"),
            (Boosting { learning_rate: f64::NAN, ..boosting }, "learning-rate is NaN"),
            (Boosting { ridge: 0.0, ..boosting }, "ridge is 0"),
            (Boosting { ridge: f64::INFINITY, ..boosting }, "ridge is inf"),
            (Boosting { bins: 1, ..boosting }, "bins is 1"),
            (Boosting { bins: 257, ..boosting }, "bins is 257"),
        ] {
            let error = wrong.check(3).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
        let alone = fit(&Boosting { members: 1, ..boosting }, &history(1, 9));
        assert!(alone.upper_bound(Confidence::Width(0.0), Target::Logit).is_ok());
        let error = alone.upper_bound(Confidence::default(), Target::Logit).unwrap_err();
        assert!(error.to_string().starts_with("boosting members is 1"), "{error}");
    }

    #[test]
    fn settings_are_read_back_as_they_were_written() {
        let boosting = Boosting { learning_rate: 0.3, members: 1, ..Boosting::default() };
        let text = serde_json::to_string(&boosting).unwrap();
        assert_eq!(serde_json::from_str::<Boosting>(&text).unwrap(), boosting, "{text}");
        let short = serde_json::from_str::<Boosting>(r#"{"learning-rate": 0.3, "members": 1}"#);
        assert_eq!(short.unwrap(), boosting);
        assert!(serde_json::from_str::<Boosting>(r#"{"rate": 0.3}"#).is_err());
    }
}
