//! Growing a tree: from the root down, each node is parted where the loss falls most.
//!
//! With sums G, H over the points of a node and λ the ridge, the split into L and R with the largest
//! ```text
//! gain = G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)
//! ```
//! is taken while it is positive. For gᵢ = -wᵢ (zᵢ - p), hᵢ = wᵢ and λ = 0 this is the decrease of the Gini
//! impurity (and of the variance) of labels zᵢ, up to a factor; for the gradient and curvature of another loss
//! it is boosting's second-order gain.
//!
//! The threshold is drawn uniformly between the two points of the node that it separates: trees then differ in the
//! gaps between points, as the data leave open what is there.
//!
//! A node of m points costs O(m) a column looked at: sums go into bins, and only bins that were touched are
//! looked at again. A tree over n points costs O(n · depth · columns).

use super::{Bins, MAX_BINS, Tree};
use crate::seed::{Rng, below, uniform};

/// How a tree may grow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// Columns looked at in a node, among those with two values there.
    pub features: usize,
    /// The least number of points in a leaf.
    pub min_leaf: usize,
    /// The most levels below the root.
    pub max_depth: usize,
    /// λ, positive.
    pub ridge: f64,
    /// What a leaf's value is multiplied by.
    pub shrinkage: f64,
}

/// A point's gradient and weight, or their sums over several points.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sums {
    pub gradient: f64,
    pub weight: f64,
    pub count: u32,
}

impl Sums {
    /// One point.
    pub(crate) fn one(gradient: f64, weight: f64) -> Self {
        Self { gradient, weight, count: 1 }
    }

    fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.weight += other.weight;
        self.count += other.count;
    }

    /// What is left of a node without `part` of it. Rounding must not leave a negative weight.
    fn without(self, part: Self) -> Self {
        Self {
            gradient: self.gradient - part.gradient,
            weight: (self.weight - part.weight).max(0.0),
            count: self.count - part.count,
        }
    }

    fn score(self, ridge: f64) -> f64 {
        self.gradient * self.gradient / (self.weight + ridge)
    }
}

/// The best split of a node that was found so far.
#[derive(Debug, Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    /// The last bin on the left and the first on the right with a point of the node.
    left_bin: u8,
    right_bin: u8,
    left: Sums,
}

/// A node still to be parted: its place in the tree and its points.
#[derive(Debug, Clone, Copy)]
struct Open {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
    sums: Sums,
}

impl Growth {
    /// A tree over the points `rows`, whose gradients and weights are `sums[row]`.
    ///
    /// `rows` is put in the order of the leaves, and `leaf` is told the points and the value of each.
    pub(crate) fn grow(
        &self,
        bins: &Bins,
        sums: &[Sums],
        rows: &mut [u32],
        rng: &mut Rng,
        mut leaf: impl FnMut(&[u32], f64),
    ) -> Tree {
        let mut search = Search::new(bins);
        let mut total = Sums::default();
        rows.iter().for_each(|&row| total.add(sums[row as usize]));
        let mut tree = Tree::leaf();
        let mut open = vec![Open { node: 0, start: 0, end: rows.len(), depth: 0, sums: total }];
        let mut right_rows = Vec::with_capacity(rows.len());
        while let Some(Open { node, start, end, depth, sums: total }) = open.pop() {
            let within = &mut rows[start..end];
            let may_split = depth < self.max_depth
                && within.len() > 1
                && within.len() / 2 >= self.min_leaf
                && !agree(sums, within);
            let split = may_split.then(|| search.best_split(self, bins, sums, within, total, rng));
            let Some(split) = split.flatten() else {
                let value = -self.shrinkage * total.gradient / (total.weight + self.ridge);
                tree.values[node] = value;
                leaf(within, value);
                continue;
            };
            let Split { feature, left_bin, right_bin, left, .. } = split;
            let threshold = bins.between(feature, left_bin, right_bin, uniform(rng));
            let middle = start + part_rows(within, bins.codes(feature), left_bin, &mut right_rows);
            let node = tree.split(node, feature, threshold);
            let (depth, right) = (depth + 1, total.without(left));
            open.push(Open { node: node + 1, start: middle, end, depth, sums: right });
            open.push(Open { node, start, end: middle, depth, sums: left });
        }
        tree
    }
}

/// Whether all points want the same value, so that to part them gains nothing.
fn agree(sums: &[Sums], rows: &[u32]) -> bool {
    let first = sums[rows[0] as usize];
    rows.iter().all(|&row| {
        let other = sums[row as usize];
        first.gradient * other.weight == other.gradient * first.weight
    })
}

/// Moves the rows in bins up to `last` to the front, both sides in their order; returns how many there are.
fn part_rows(rows: &mut [u32], codes: &[u8], last: u8, right: &mut Vec<u32>) -> usize {
    right.clear();
    let mut kept = 0;
    for i in 0..rows.len() {
        let row = rows[i];
        if codes[row as usize] <= last {
            rows[kept] = row;
            kept += 1;
        } else {
            right.push(row);
        }
    }
    rows[kept..].copy_from_slice(right);
    kept
}

/// The room in which splits are looked for.
struct Search {
    /// Sums over the points of the node in each bin of a column; zero between uses.
    histogram: Box<[Sums; MAX_BINS]>,
    /// The columns with two values or more, in an order that is shuffled as they are drawn.
    features: Vec<usize>,
}

impl Search {
    fn new(bins: &Bins) -> Self {
        let features = (0..bins.dim()).filter(|&feature| bins.count(feature) > 1).collect();
        Self { histogram: Box::new([Sums::default(); MAX_BINS]), features }
    }

    /// The split of largest gain among columns drawn at random, until enough of them had two values here.
    fn best_split(
        &mut self,
        growth: &Growth,
        bins: &Bins,
        sums: &[Sums],
        rows: &[u32],
        total: Sums,
        rng: &mut Rng,
    ) -> Option<Split> {
        let all = self.features.len();
        let mut best = None;
        let mut varied = 0;
        for drawn in 0..all {
            if varied == growth.features {
                break;
            }
            if growth.features < all {
                let other = drawn + below(rng, all - drawn);
                self.features.swap(drawn, other);
            }
            let feature = self.features[drawn];
            let touched = self.fill(bins, feature, sums, rows);
            varied += usize::from(self.scan(growth, feature, touched, total, &mut best));
        }
        best
    }

    /// Adds up the points of a node by their bin. Returns the bins that may have been touched.
    fn fill(&mut self, bins: &Bins, feature: usize, sums: &[Sums], rows: &[u32]) -> BinSet {
        let codes = bins.codes(feature);
        let histogram = &mut *self.histogram;
        // To note each bin as it is touched costs more than to look at all bins, unless the points are few.
        let count = bins.count(feature);
        if rows.len() < count {
            let mut touched = BinSet::default();
            for &row in rows {
                let code = codes[row as usize];
                touched.insert(code);
                histogram[code as usize].add(sums[row as usize]);
            }
            touched
        } else {
            for &row in rows {
                histogram[codes[row as usize] as usize].add(sums[row as usize]);
            }
            BinSet::first(count)
        }
    }

    /// Looks at the split after each bin with a point, and clears the histogram for the next use. Returns whether
    /// there is such a split.
    fn scan(
        &mut self,
        growth: &Growth,
        feature: usize,
        touched: BinSet,
        total: Sums,
        best: &mut Option<Split>,
    ) -> bool {
        // A gain that rounding could have made is none.
        let floor = total.score(growth.ridge) * (1.0 + 1e-12);
        let min_leaf = growth.min_leaf as u32;
        let mut left = Sums::default();
        let mut left_bin = 0;
        let mut varied = false;
        for bin in touched {
            let here = std::mem::take(&mut self.histogram[bin as usize]);
            if here.count == 0 {
                continue;
            }
            varied = left.count > 0;
            if left.count >= min_leaf && total.count - left.count >= min_leaf {
                let gain =
                    left.score(growth.ridge) + total.without(left).score(growth.ridge) - floor;
                if gain > best.map_or(0.0, |best: Split| best.gain) {
                    *best = Some(Split { gain, feature, left_bin, right_bin: bin, left });
                }
            }
            left.add(here);
            left_bin = bin;
        }
        varied
    }
}

/// A set of bins, which gives them in their order.
#[derive(Debug, Clone, Copy, Default)]
struct BinSet {
    words: [u64; MAX_BINS / 64],
    word: usize,
}

impl BinSet {
    /// The bins 0..`count`.
    fn first(count: usize) -> Self {
        let word = |word: usize| match count.saturating_sub(64 * word) {
            rest @ 0..64 => (1 << rest) - 1,
            _ => u64::MAX,
        };
        Self { words: std::array::from_fn(word), word: 0 }
    }

    fn insert(&mut self, bin: u8) {
        self.words[bin as usize / 64] |= 1 << (bin % 64);
    }
}

impl Iterator for BinSet {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        while self.words[self.word] == 0 {
            if self.word + 1 == self.words.len() {
                return None;
            }
            self.word += 1;
        }
        let bit = self.words[self.word].trailing_zeros();
        self.words[self.word] &= self.words[self.word] - 1;
        Some((self.word as u32 * 64 + bit) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points;
    use crate::seed::Seed;
    use proptest::prelude::*;

    const DIM: usize = 3;

    fn growth() -> Growth {
        Growth { features: DIM, min_leaf: 1, max_depth: 20, ridge: 0.5, shrinkage: 1.0 }
    }

    /// Points on a coarse grid, so that there are ties, with a gradient and a weight each.
    fn samples() -> impl Strategy<Value = (Points, Vec<Sums>)> {
        let coordinate = (0..9_u8).prop_map(|v| f64::from(v) / 8.0);
        let sample = (prop::array::uniform3(coordinate), -1.0..1.0_f64, 0.1..2.0_f64);
        prop::collection::vec(sample, 1..60).prop_map(|samples| {
            let points = Points::from_rows(DIM, samples.iter().map(|(x, _, _)| *x));
            (points, samples.iter().map(|(_, g, h)| Sums::one(*g, *h)).collect())
        })
    }

    fn grow(growth: Growth, points: &Points, sums: &[Sums]) -> (Tree, Vec<f64>, Vec<usize>) {
        let bins = Bins::new(points, MAX_BINS);
        let mut rows: Vec<u32> = (0..points.len() as u32).collect();
        let (mut told, mut sizes) = (vec![f64::NAN; points.len()], Vec::new());
        let rng = &mut Seed(3).stream("grow", 0);
        let tree = growth.grow(&bins, sums, &mut rows, rng, |rows, value| {
            rows.iter().for_each(|&row| told[row as usize] = value);
            sizes.push(rows.len());
        });
        (tree, told, sizes)
    }

    /// Σᵢ (gᵢ v + ½ hᵢ v²) over points at their leaf's value, and ½ λ v² for each leaf: v = -G/(H + λ) gives -½ G²/(H + λ).
    fn loss(parts: &[Vec<usize>], sums: &[Sums], ridge: f64) -> f64 {
        let score = |part: &Vec<usize>| {
            let gradient: f64 = part.iter().map(|&i| sums[i].gradient).sum();
            let weight: f64 = part.iter().map(|&i| sums[i].weight).sum();
            -0.5 * gradient * gradient / (weight + ridge)
        };
        parts.iter().map(score).sum()
    }

    proptest! {
        #[test]
        fn the_first_split_is_the_best_of_all((points, sums) in samples(), min_leaf in 1..5_usize) {
            let growth = Growth { max_depth: 1, min_leaf, ..growth() };
            let (tree, _, _) = grow(growth, &points, &sums);
            let part = |goes_left: &dyn Fn(&[f64]) -> bool| -> Vec<Vec<usize>> {
                let (left, right) =
                    (0..points.len()).partition::<Vec<usize>, _>(|&i| goes_left(points.row(i)));
                vec![left, right]
            };
            let whole = loss(&part(&|_| true)[..1], &sums, growth.ridge);
            let mut best = whole;
            for feature in 0..DIM {
                for x in points.rows() {
                    let parts = part(&|other| other[feature] <= x[feature]);
                    if parts.iter().all(|part| part.len() >= min_leaf) {
                        best = best.min(loss(&parts, &sums, growth.ridge));
                    }
                }
            }
            let root = tree.nodes[0];
            let reached = match tree.nodes.len() {
                1 => whole,
                _ => loss(
                    &part(&|x| x[root.feature as usize] <= root.threshold),
                    &sums,
                    growth.ridge,
                ),
            };
            prop_assert!((reached - best).abs() < 1e-9, "{} against {}", reached, best);
        }

        #[test]
        fn points_fall_into_the_leaf_they_were_grown_in(
            (points, sums) in samples(),
            features in 1..=DIM,
            min_leaf in 1..5_usize,
        ) {
            let growth = Growth { features, min_leaf, ..growth() };
            let (tree, told, sizes) = grow(growth, &points, &sums);
            prop_assert!(sizes.len() == 1 || sizes.iter().all(|&size| size >= min_leaf));
            prop_assert_eq!(sizes.iter().sum::<usize>(), points.len());
            let mut together = vec![f64::NAN; points.len()];
            tree.values(&points, 0..points.len(), |i, value| together[i] = value);
            for (i, x) in points.rows().enumerate() {
                prop_assert_eq!(tree.value(x), told[i]);
                prop_assert_eq!(together[i], told[i]);
            }
        }
    }

    #[test]
    fn points_that_agree_are_not_parted() {
        let points = Points::from_rows(1, (0..30).map(|i| [f64::from(i)]));
        let sums: Vec<Sums> =
            (1..31).map(|i| Sums::one(-0.5 * f64::from(i), f64::from(i))).collect();
        let (tree, told, _) = grow(growth(), &points, &sums);
        assert_eq!(tree.nodes.len(), 1);
        let weight: f64 = (1..31).map(f64::from).sum();
        assert_eq!(told[0], 0.5 * weight / (weight + 0.5));
    }

    #[test]
    fn no_points_make_a_leaf_of_value_zero() {
        let points = Points::from_rows(1, [[0.5]]);
        let bins = Bins::new(&points, MAX_BINS);
        let rng = &mut Seed(3).stream("grow", 0);
        let tree = growth().grow(&bins, &[Sums::one(1.0, 1.0)], &mut [], rng, |_, _| ());
        assert_eq!(tree.value(&[0.5]), 0.0);
    }

    #[test]
    fn a_set_of_bins_gives_them_in_order() {
        for count in [0, 1, 63, 64, 65, 200, 256] {
            let expected: Vec<usize> = (0..count).collect();
            let bins: Vec<usize> = BinSet::first(count).map(usize::from).collect();
            assert_eq!(bins, expected);
        }
        let mut set = BinSet::default();
        [255, 3, 64, 3, 0].into_iter().for_each(|bin| set.insert(bin));
        assert_eq!(set.collect::<Vec<u8>>(), [0, 3, 64, 255]);
    }
}
