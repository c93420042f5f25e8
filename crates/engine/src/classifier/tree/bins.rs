//! Columns in bins: each coordinate of each point as a number below 256.
//!
//! A column with no more distinct values than bins keeps them all, so that splits between bins are all the
//! splits there are; one with more has bins of about equally many points, and splits are between quantiles.
//! Equal values share a bin. Cost: O(d n log n) time and d n bytes.

use crate::points::Points;

/// The most bins that a byte can number.
pub(crate) const MAX_BINS: usize = 256;

/// The coordinates of points, column after column, as numbers of bins.
#[derive(Debug, Clone)]
pub(crate) struct Bins {
    len: usize,
    codes: Vec<u8>,
    columns: Vec<Vec<Bin>>,
}

/// The lowest and the highest value in a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bin {
    lowest: f64,
    highest: f64,
}

impl Bins {
    /// The columns of `points` in at most `limit` bins each, 2 to 256.
    pub(crate) fn new(points: &Points, limit: usize) -> Self {
        debug_assert!((2..=MAX_BINS).contains(&limit));
        let len = points.len();
        let mut codes = vec![0; len * points.dim()];
        let mut columns = Vec::with_capacity(points.dim());
        for feature in 0..points.dim() {
            let mut order: Vec<(f64, u32)> = points.rows().map(|x| x[feature]).zip(0..).collect();
            order.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
            let (column, sizes) = column(order.iter().map(|(value, _)| *value), len, limit);
            let codes = &mut codes[feature * len..(feature + 1) * len];
            let mut rest = order.as_slice();
            for (bin, &size) in sizes.iter().enumerate() {
                let (within, after) = rest.split_at(size);
                within.iter().for_each(|&(_, i)| codes[i as usize] = bin as u8);
                rest = after;
            }
            columns.push(column);
        }
        Self { len, codes, columns }
    }

    /// How many columns there are.
    pub(crate) fn dim(&self) -> usize {
        self.columns.len()
    }

    /// The bins of a column, point after point.
    pub(crate) fn codes(&self, feature: usize) -> &[u8] {
        &self.codes[feature * self.len..(feature + 1) * self.len]
    }

    /// How many bins a column has.
    pub(crate) fn count(&self, feature: usize) -> usize {
        self.columns[feature].len()
    }

    /// A number at or above all values in bins up to `left` and below all from `right` on, `part` of the way.
    pub(crate) fn between(&self, feature: usize, left: u8, right: u8, part: f64) -> f64 {
        let below = self.columns[feature][left as usize].highest;
        let above = self.columns[feature][right as usize].lowest;
        let threshold = below + part * (above - below);
        // Between neighbouring numbers the sum may round to the upper one, which belongs to the right.
        if threshold < above { threshold } else { below }
    }
}

/// The bins of one column and how many points each holds, from its sorted values.
fn column(sorted: impl Iterator<Item = f64>, len: usize, limit: usize) -> (Vec<Bin>, Vec<usize>) {
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for value in sorted {
        match runs.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => runs.push((value, 1)),
        }
    }
    let every_value = runs.len() <= limit;
    let (mut bins, mut sizes) = (Vec::<Bin>::new(), Vec::<usize>::new());
    let mut seen = 0;
    for (value, count) in runs {
        // The first j bins together hold at least j parts of the points before another begins.
        let full = every_value || seen * limit >= bins.len() * len;
        match (bins.last_mut(), sizes.last_mut()) {
            (Some(bin), Some(size)) if !full => {
                bin.highest = value;
                *size += count;
            }
            _ => {
                bins.push(Bin { lowest: value, highest: value });
                sizes.push(count);
            }
        }
        seen += count;
    }
    (bins, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bins(values: &[f64], limit: usize) -> Bins {
        Bins::new(&Points::from_rows(1, values.iter().map(|value| [*value])), limit)
    }

    #[test]
    fn few_values_keep_a_bin_each_and_a_constant_column_has_one() {
        let hot = bins(&[1.0, 0.0, 1.0, 0.0, 0.0], 256);
        assert_eq!(hot.codes(0), [1, 0, 1, 0, 0]);
        assert_eq!(hot.count(0), 2);
        assert_eq!(hot.between(0, 0, 1, 0.5), 0.5);
        assert_eq!(bins(&[0.3; 9], 256).count(0), 1);
    }

    #[test]
    fn many_values_are_spread_evenly_over_the_bins() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from((i * 7) % 1000) / 1000.0).collect();
        let bins = bins(&values, 16);
        let mut counts = [0; 16];
        bins.codes(0).iter().for_each(|&code| counts[code as usize] += 1);
        assert!(counts.iter().all(|&count| (62..=63).contains(&count)), "{counts:?}");
    }

    #[test]
    fn a_threshold_between_neighbouring_numbers_belongs_to_the_left() {
        let (below, above) = (1.0, 1.0_f64.next_up());
        let bins = bins(&[below, above], 256);
        for part in [0.0, 0.5, 0.999_999] {
            assert_eq!(bins.between(0, 0, 1, part), below);
        }
    }

    proptest! {
        #[test]
        fn bins_keep_the_order_and_thresholds_part_them(
            values in prop::collection::vec((0..40_u8).prop_map(|v| f64::from(v) / 39.0), 1..80),
            limit in 2..50_usize,
            part in 0.0..1.0_f64,
        ) {
            let bins = bins(&values, limit);
            let codes = bins.codes(0);
            prop_assert!(codes.iter().all(|&code| (code as usize) < limit));
            for (a, x) in codes.iter().zip(&values) {
                for (b, y) in codes.iter().zip(&values) {
                    prop_assert!(x > y || a <= b);
                    prop_assert!(x != y || a == b);
                    if a < b {
                        let threshold = bins.between(0, *a, *b, part);
                        prop_assert!(*x <= threshold && threshold < *y);
                    }
                }
            }
        }
    }
}
