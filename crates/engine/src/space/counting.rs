//! How many configurations a space has, and which is the i-th.
//!
//! The conditions make the dimensions a forest. With c(a) the number of ways to fill dimension a and all
//! that depends on it,
//!
//! ```text
//! c(a) = Σ over levels v of a, Π over children b active at v, c(b),     total = Π over roots a, c(a).
//! ```
//!
//! An integer may have 2⁴⁸ levels, but only those that a condition names have children: the rest are
//! counted by runs. The i-th configuration is found by the same sums backwards, in lexicographic order of
//! levels. Cost: O(dimensions + named levels) to build, O(dimensions · log of the named levels) a point.

use super::encoding::Encoding;
use super::kind::Kind;
use super::layout::Layout;

/// The counts of a space without real dimensions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counting {
    total: u128,
    roots: Vec<usize>,
    /// c(a), by dimension.
    counts: Vec<u128>,
    /// The levels of each dimension, ascending, in runs.
    runs: Vec<Vec<Run>>,
}

/// Levels from `first` to the next run, each filled in as many ways.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    first: u64,
    /// Ways to fill the dimension with a lower level.
    before: u128,
    /// Dimensions that become active; with any, the run is a single level.
    children: Vec<usize>,
}

impl Counting {
    /// `None` if a dimension is real, or if the total does not fit.
    pub(super) fn new<'k>(layout: &Layout, kinds: impl Iterator<Item = &'k Kind>) -> Option<Self> {
        let levels: Vec<u64> = kinds.map(Kind::count).collect::<Option<_>>()?;
        let entries = layout.entries();
        // (level, child) for every level that a condition names, by parent.
        let mut named: Vec<Vec<(u64, usize)>> = vec![Vec::new(); entries.len()];
        let mut roots = Vec::new();
        for (i, entry) in entries.iter().enumerate() {
            match &entry.gate {
                None => roots.push(i),
                Some(gate) => {
                    named[gate.parent].extend(gate.levels.iter().map(|&level| (level, i)));
                }
            }
        }
        let mut counts = vec![0; entries.len()];
        let mut runs = vec![Vec::new(); entries.len()];
        // Children come after their parents, so backwards they are counted first.
        for i in (0..entries.len()).rev() {
            named[i].sort_unstable();
            (runs[i], counts[i]) = count(levels[i], &named[i], &counts)?;
        }
        let total = product(&roots, &counts)?;
        Some(Self { total, roots, counts, runs })
    }

    pub(super) fn total(&self) -> u128 {
        self.total
    }

    /// The `index`-th legal point, if there are as many.
    pub(super) fn nth(&self, layout: &Layout, index: u128) -> Option<Vec<f64>> {
        if index >= self.total {
            return None;
        }
        let mut ranks = vec![None; self.counts.len()];
        self.spread(index, &self.roots, &mut ranks);
        let mut x = vec![0.0; layout.dim()];
        for (i, entry) in layout.entries().iter().enumerate() {
            let block = &mut x[entry.range.clone()];
            let Some(rank) = ranks[i] else {
                entry.encoding.write_inactive(block);
                continue;
            };
            let runs = &self.runs[i];
            let run = &runs[runs.partition_point(|run| run.before <= rank) - 1];
            let within = rank - run.before;
            let level = if run.children.is_empty() {
                run.first + within as u64
            } else {
                self.spread(within, &run.children, &mut ranks);
                run.first
            };
            debug_assert!(!matches!(entry.encoding, Encoding::Grid(_)));
            entry.encoding.write(level, block);
        }
        Some(x)
    }

    /// Splits an index into one rank for each of `dimensions`, the last of them changing fastest.
    fn spread(&self, mut index: u128, dimensions: &[usize], ranks: &mut [Option<u128>]) {
        for &i in dimensions.iter().rev() {
            ranks[i] = Some(index % self.counts[i]);
            index /= self.counts[i];
        }
    }
}

/// The runs and the count of a dimension with `levels` levels, of which those `named` have children.
fn count(levels: u64, named: &[(u64, usize)], counts: &[u128]) -> Option<(Vec<Run>, u128)> {
    let mut runs = Vec::new();
    let mut total = 0_u128;
    let mut next = 0;
    for group in named.chunk_by(|a, b| a.0 == b.0) {
        let level = group[0].0;
        if level > next {
            runs.push(Run { first: next, before: total, children: Vec::new() });
            total = total.checked_add(u128::from(level - next))?;
        }
        let children: Vec<usize> = group.iter().map(|&(_, child)| child).collect();
        let ways = product(&children, counts)?;
        runs.push(Run { first: level, before: total, children });
        total = total.checked_add(ways)?;
        next = level + 1;
    }
    if levels > next {
        runs.push(Run { first: next, before: total, children: Vec::new() });
        total = total.checked_add(u128::from(levels - next))?;
    }
    Some((runs, total))
}

fn product(dimensions: &[usize], counts: &[u128]) -> Option<u128> {
    dimensions.iter().try_fold(1_u128, |product, &i| product.checked_mul(counts[i]))
}
