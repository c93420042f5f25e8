//! Values in order: the k-th smallest of an append-only list, without sorting it again.
//!
//! # Design
//! The threshold τ is an order statistic that moves with every observation. Selecting it from scratch costs
//! O(n) an ask, which would make asking slower as history grows. Here the sorted values lie in blocks of at
//! most `2 * BLOCK`; an insertion moves at most one block, and a look-up walks over n / `BLOCK` blocks.
//!
//! Cost: O(`BLOCK` + n / `BLOCK`) for an insertion or a look-up; 8 bytes a value.

/// Block length around which the cost of moving values inside a block and of walking over blocks balance
/// for some 10^5 values.
const BLOCK: usize = 512;

/// Finite values in ascending order.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    blocks: Vec<Block>,
    len: usize,
}

/// A run of values in ascending order, never empty.
#[derive(Debug, Clone)]
struct Block {
    values: Vec<f64>,
    sum: f64,
}

impl Block {
    fn new(values: Vec<f64>) -> Self {
        let sum = values.iter().sum();
        Self { values, sum }
    }

    fn highest(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    fn count_at_most(&self, bound: f64) -> usize {
        self.values.partition_point(|&value| value <= bound)
    }
}

impl Ranking {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a finite value.
    pub fn insert(&mut self, value: f64) {
        debug_assert!(value.is_finite());
        self.len += 1;
        let at = self.blocks.partition_point(|block| block.highest() < value);
        let at = at.min(self.blocks.len().saturating_sub(1));
        let Some(block) = self.blocks.get_mut(at) else {
            self.blocks.push(Block::new(vec![value]));
            return;
        };
        let mut values = std::mem::take(&mut block.values);
        values.insert(values.partition_point(|&other| other < value), value);
        let upper = if values.len() >= 2 * BLOCK { values.split_off(BLOCK) } else { Vec::new() };
        *block = Block::new(values);
        if !upper.is_empty() {
            self.blocks.insert(at + 1, Block::new(upper));
        }
    }

    /// The value with `rank` values before it in ascending order; `None` if there are not that many.
    pub fn nth(&self, mut rank: usize) -> Option<f64> {
        for block in &self.blocks {
            match block.values.get(rank) {
                Some(&value) => return Some(value),
                None => rank -= block.values.len(),
            }
        }
        None
    }

    /// How many values are at most `bound`.
    pub fn count_at_most(&self, bound: f64) -> usize {
        let whole = self.blocks.partition_point(|block| block.highest() <= bound);
        let count: usize = self.blocks[..whole].iter().map(|block| block.values.len()).sum();
        count + self.blocks.get(whole).map_or(0, |block| block.count_at_most(bound))
    }

    /// The sum of the values that are at most `bound`.
    pub fn sum_at_most(&self, bound: f64) -> f64 {
        let whole = self.blocks.partition_point(|block| block.highest() <= bound);
        let sum: f64 = self.blocks[..whole].iter().map(|block| block.sum).sum();
        let part = |block: &Block| block.values[..block.count_at_most(bound)].iter().sum::<f64>();
        sum + self.blocks.get(whole).map_or(0.0, part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn agrees_with_sorting(values in prop::collection::vec(-50.0..50.0_f64, 1..3000), round in any::<bool>()) {
            let values: Vec<f64> =
                values.into_iter().map(|value| if round { f64::round(value) } else { value }).collect();
            let mut ranking = Ranking::default();
            values.iter().for_each(|&value| ranking.insert(value));
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(ranking.len(), sorted.len());
            for rank in [0, sorted.len() / 4, sorted.len() / 2, sorted.len() - 1] {
                // Zeros of either sign are one value.
                prop_assert_eq!(ranking.nth(rank), Some(sorted[rank]));
                let bound = sorted[rank];
                let count = sorted.iter().filter(|&&value| value <= bound).count();
                prop_assert_eq!(ranking.count_at_most(bound), count);
                let sum: f64 = sorted.iter().filter(|&&value| value <= bound).sum();
                prop_assert!((ranking.sum_at_most(bound) - sum).abs() < 1e-9);
            }
            prop_assert_eq!(ranking.nth(sorted.len()), None);
            prop_assert_eq!(ranking.count_at_most(-51.0), 0);
        }
    }
}
