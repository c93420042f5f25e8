//! Binary regression trees: what the forest and boosting are made of.
//!
//! Columns are put into bins once a fit ([`Bins`]); every tree is then grown from sums over bins ([`Growth`]), and
//! the same inner loop serves both: each point carries a gradient gᵢ and a weight hᵢ, and a leaf with sums G and H
//! takes the value that minimises Σᵢ (gᵢ v + ½ hᵢ v²) + ½ λ v²,
//! ```text
//! v = -G / (H + λ),   which lowers the loss by   ½ G² / (H + λ).
//! ```
//! A grown tree is a flat array of nodes. Summary it costs one comparison a level.

mod bins;
#[cfg(test)]
pub(crate) mod fixtures;
mod growth;
mod summary;

pub(crate) use bins::{Bins, MAX_BINS};
pub(crate) use growth::{Growth, Sums};
pub(crate) use summary::Summary;

use crate::points::Points;
use crate::seed::{Rng, below};

/// Points that walk down a tree side by side, so that the loads of one hide behind those of the others.
const LANES: usize = 8;

/// A node: points with x[feature] ≤ threshold go to `left`, the others to `left` + 1.
///
/// A leaf leads to itself whatever the point, so that a walk needs no test for it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    threshold: f64,
    feature: u32,
    left: u32,
}

/// A grown tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// The value of each leaf, in its node's place.
    values: Vec<f64>,
}

impl Tree {
    /// A tree that is one leaf.
    fn leaf() -> Self {
        let mut tree = Self { nodes: Vec::new(), values: Vec::new() };
        tree.push_leaf();
        tree
    }

    fn push_leaf(&mut self) {
        let itself = self.nodes.len() as u32;
        self.nodes.push(Node { threshold: f64::INFINITY, feature: 0, left: itself });
        self.values.push(0.0);
    }

    /// Turns a leaf into a node with two leaves, and returns the index of the left one.
    fn split(&mut self, node: usize, feature: usize, threshold: f64) -> usize {
        let left = self.nodes.len();
        self.nodes[node] = Node { threshold, feature: feature as u32, left: left as u32 };
        self.push_leaf();
        self.push_leaf();
        left
    }

    /// The same tree with other values in its leaves.
    pub(crate) fn map(mut self, value: impl Fn(f64) -> f64) -> Self {
        self.values.iter_mut().for_each(|v| *v = value(*v));
        self
    }

    /// The value of the leaf that x falls into.
    pub(crate) fn value(&self, x: &[f64]) -> f64 {
        let mut at = 0;
        loop {
            let next = self.step(at, x);
            if next == at {
                return self.values[at as usize];
            }
            at = next;
        }
    }

    /// The value at each point in `range`: `each` is told the offset in the range, and the value.
    pub(crate) fn values(
        &self,
        points: &Points,
        range: std::ops::Range<usize>,
        mut each: impl FnMut(usize, f64),
    ) {
        let mut first = range.start;
        while first + LANES <= range.end {
            let rows: [&[f64]; LANES] = std::array::from_fn(|lane| points.row(first + lane));
            let mut at = [0_u32; LANES];
            loop {
                let next: [u32; LANES] =
                    std::array::from_fn(|lane| self.step(at[lane], rows[lane]));
                if next == at {
                    break;
                }
                at = next;
            }
            for (lane, &leaf) in at.iter().enumerate() {
                each(first + lane - range.start, self.values[leaf as usize]);
            }
            first += LANES;
        }
        for i in first..range.end {
            each(i - range.start, self.value(points.row(i)));
        }
    }

    fn step(&self, at: u32, x: &[f64]) -> u32 {
        let node = &self.nodes[at as usize];
        node.left + u32::from(x[node.feature as usize] > node.threshold)
    }
}

/// Each weight times how often its point is drawn when as many are drawn, with replacement, as there are.
pub(crate) fn resample(weights: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut drawn = vec![0.0; weights.len()];
    for _ in 0..weights.len() {
        drawn[below(rng, weights.len())] += 1.0;
    }
    drawn.iter_mut().zip(weights).for_each(|(drawn, weight)| *drawn *= weight);
    drawn
}

/// The share of the good in the weight of all points, drawn towards a half as if one good and one bad point
/// had been seen besides: strictly between 0 and 1 whatever the labels.
pub(crate) fn smoothed_rate(targets: &[f64], weights: &[f64]) -> f64 {
    let good: f64 = targets.iter().zip(weights).map(|(target, weight)| target * weight).sum();
    (good + 1.0) / (weights.iter().sum::<f64>() + 2.0)
}

#[cfg(test)]
mod tests {
    use crate::acquisition::Acquisition as _;
    use crate::classifier::boosting::Boosting;
    use crate::classifier::forest::Forest;
    use crate::classifier::{Classifier, Confidence, Learner, Target, Uncertain};
    use crate::history::History;
    use crate::labels::{Labels, Threshold, Weights};
    use crate::outcome::Outcome;
    use crate::points::Points;
    use crate::seed::{Seed, uniform};

    const TARGETS: [Target; 2] = [Target::Logit, Target::LogProbability];

    /// Every classifier made of trees passes the same test.
    fn with_each(test: impl Fn(&dyn Fn(&Labels<'_>, &Points) -> Read)) {
        test(&|labels, points| read(&Forest::default(), labels, points));
        test(&|labels, points| read(&Boosting::default(), labels, points));
    }

    /// What a fitted classifier says about points.
    struct Read {
        probabilities: Vec<f64>,
        /// On the log scale: the estimate, the bounds of width 0, 1 and 3, and the bound at level 0.05.
        values: [Vec<f64>; 5],
    }

    fn read<L: Learner<Classifier: Uncertain>>(
        learner: &L,
        labels: &Labels<'_>,
        points: &Points,
    ) -> Read {
        let fitted = learner.fit(labels, None, &mut Seed(5).stream("fit", 0)).unwrap();
        assert_eq!(fitted.dim(), labels.dim());
        let level = Confidence::Level { failure_probability: 0.05, norm_bound: 1.0 };
        let confidences =
            [Confidence::Width(0.0), Confidence::Width(1.0), Confidence::Width(3.0), level];
        let [_, values] = TARGETS.map(|target| {
            let mut estimate = vec![0.0; points.len()];
            let acquisition = fitted.acquisition(target);
            acquisition.values(points, &mut estimate);
            for (x, value) in points.rows().zip(&estimate) {
                assert_eq!(acquisition.value(x), *value);
            }
            let [zero, one, three, level] = confidences.map(|confidence| {
                let bound = fitted.upper_bound(confidence, target).unwrap();
                let mut values = vec![0.0; points.len()];
                bound.values(points, &mut values);
                for (x, value) in points.rows().zip(&values) {
                    assert!(value.is_finite());
                    assert_eq!(bound.value(x), *value);
                }
                values
            });
            [estimate, zero, one, three, level]
        });
        Read { probabilities: points.rows().map(|x| fitted.probability(x)).collect(), values }
    }

    fn random_points(dim: usize, len: usize, seed: u64) -> Points {
        let mut rng = Seed(seed).stream("points", 0);
        Points::from_rows(
            dim,
            (0..len).map(|_| {
                vec![0.0; dim].into_iter().map(|_| uniform(&mut rng)).collect::<Vec<f64>>()
            }),
        )
    }

    fn history(points: &Points, outcome: impl Fn(usize, &[f64]) -> Outcome) -> History {
        let mut history = History::new(points.dim());
        for (i, x) in points.rows().enumerate() {
            history.push(x, outcome(i, x)).unwrap();
        }
        history
    }

    /// A bowl around 0.3 in the first two coordinates.
    fn bowl(x: &[f64]) -> f64 {
        x.iter().take(2).map(|x| (x - 0.3).powi(2)).sum()
    }

    #[test]
    fn a_known_boundary_is_learned_in_one_to_fifty_dimensions() {
        // Accuracies and log-losses to be reached; 0.75 and 0.56 are those of the share of the good.
        for (dim, len, accuracy, loss) in [
            (1, 200, 0.97, 0.10),
            (2, 500, 0.95, 0.15),
            (6, 500, 0.92, 0.22),
            (50, 500, 0.80, 0.45),
        ] {
            let history = history(&random_points(dim, len, 1), |_, x| Outcome::from(bowl(x)));
            let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
            let test = random_points(dim, 1000, 2);
            with_each(|read| {
                let probabilities = read(&labels, &test).probabilities;
                let (mut right, mut lost) = (0, 0.0);
                for (x, p) in test.rows().zip(&probabilities) {
                    let is_good = bowl(x) <= labels.threshold();
                    right += usize::from((*p > 0.5) == is_good);
                    lost -= if is_good { p.ln() } else { (1.0 - p).ln() };
                }
                let (right, lost) = (right as f64 / 1000.0, lost / 1000.0);
                assert!(right > accuracy && lost < loss, "dim {dim}: {right}, {lost}");
            });
        }
    }

    #[test]
    fn categories_as_columns_of_zeros_and_ones_are_learned() {
        // Three categories, of which the second is good where the last coordinate is low.
        let points = Points::from_rows(
            4,
            (0..300_u32).map(|i| {
                let mut x = [0.0; 4];
                x[(i % 3) as usize] = 1.0;
                x[3] = f64::from(i * 7 % 100) / 100.0;
                x
            }),
        );
        let outcome =
            |_, x: &[f64]| Outcome::from(if x[1] == 1.0 && x[3] < 0.5 { 0.0 } else { 1.0 });
        let history = history(&points, outcome);
        let labels =
            Threshold::Fixed { value: 0.5 }.label(history.points(), history.objective()).unwrap();
        let test = Points::from_rows(
            4,
            [
                [0.0, 1.0, 0.0, 0.2],
                [0.0, 1.0, 0.0, 0.8],
                [1.0, 0.0, 0.0, 0.2],
                [0.0, 0.0, 1.0, 0.2],
            ],
        );
        with_each(|read| {
            let p = read(&labels, &test).probabilities;
            assert!(p[0] > 0.9 && p[1..].iter().all(|p| *p < 0.1), "{p:?}");
        });
    }

    #[test]
    fn few_equal_and_repeated_observations_are_fitted() {
        let spread = random_points(2, 40, 3);
        let test = random_points(2, 50, 4);
        let all_good = history(&spread, |_, _| Outcome::from(1.0));
        let all_bad = history(&spread, |_, _| Outcome::failed());
        let one = history(&random_points(2, 1, 5), |_, _| Outcome::from(1.0));
        let same_place =
            history(&Points::from_rows(2, [[0.5, 0.5]; 40]), |i, _| Outcome::from(i as f64));
        let constant_column =
            history(&Points::from_rows(2, spread.rows().map(|x| [0.25, x[1]])), |_, x| {
                Outcome::from(x[1])
            });
        let all = [
            (&all_good, 0.9..1.0),
            (&all_bad, 0.0..0.1),
            (&one, 0.5..1.0),
            (&same_place, 0.15..0.35),
            (&constant_column, 0.0..1.0),
        ];
        for (history, expected) in all {
            let labels = Threshold::Quantile { fraction: 0.25 }
                .label(history.points(), history.objective())
                .or_else(|| {
                    Threshold::Fixed { value: 0.0 }.label(history.points(), history.objective())
                })
                .unwrap();
            with_each(|read| {
                for p in read(&labels, &test).probabilities {
                    assert!(p > 0.0 && p < 1.0 && expected.contains(&p), "{p} not in {expected:?}");
                }
            });
        }
    }

    #[test]
    fn good_points_without_improvement_are_as_bad_ones() {
        // Good on the left by far, on the right just so: the right has no improvement, the left twice the mean.
        let points = Points::from_rows(1, (0..60).map(|i| [f64::from(i) / 60.0]));
        let outcome = |i, _: &[f64]| {
            Outcome::from(match i {
                0..10 => -1.0,
                50..60 => 0.0,
                _ => 1.0,
            })
        };
        let history = history(&points, outcome);
        let label = |weights| {
            let threshold = Threshold::Fixed { value: 0.0 };
            threshold.label_weighted(weights, history.points(), history.objective()).unwrap()
        };
        let test = Points::from_rows(1, [[0.05], [0.95]]);
        with_each(|read| {
            let equal = read(&label(Weights::Uniform), &test).probabilities;
            let weighted = read(&label(Weights::Improvement), &test).probabilities;
            assert!(equal[0] > 0.8 && equal[1] > 0.8, "{equal:?}");
            // 2/3 by LFBO's formula, but for smoothing.
            assert!((weighted[0] - 0.66).abs() < 0.04 && weighted[1] < 0.1, "{weighted:?}");
        });
    }

    #[test]
    fn bounds_lie_above_the_estimate_and_grow_with_the_width() {
        let history = history(&random_points(2, 60, 6), |_, x| Outcome::from(bowl(x)));
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let test = random_points(2, 300, 7);
        with_each(|read| {
            let Read { probabilities, values: [estimate, zero, one, three, level] } =
                read(&labels, &test);
            assert_eq!(estimate, zero);
            for i in 0..test.len() {
                assert!(estimate[i] <= one[i] && one[i] <= three[i]);
                assert!((estimate[i] - probabilities[i].ln()).abs() < 1e-12);
            }
            assert!((0..test.len()).filter(|&i| one[i] > estimate[i]).count() > 200);
            assert!((0..test.len()).filter(|&i| level[i] > estimate[i]).count() > 200);
        });
    }
}
