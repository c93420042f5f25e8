//! Rows that are spread over a front.
//!
//! The lowest row of each objective first, then again and again the row that is farthest from those chosen (Gonzalez 1985), with
//! every objective scaled to its range.
//!
//! Cost: O(n k) for each row chosen.

use crate::points::{Points, squared_distance};

/// The numbers of at most `count` rows, the lowest of each objective first. All, in order, if there are no more.
pub(super) fn spread(rows: &Points, count: usize) -> Vec<usize> {
    if rows.len() <= count {
        return (0..rows.len()).collect();
    }
    let objectives = rows.dim();
    let mut scaled = rows.clone();
    let mut chosen: Vec<usize> = Vec::with_capacity(count);
    for i in 0..objectives {
        let column = || rows.rows().map(|row| row[i]);
        let (low, high) =
            (column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max));
        let width = if high > low { high - low } else { 1.0 };
        scaled.rows_mut().for_each(|row| row[i] = (row[i] - low) / width);
        let lowest =
            column().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |least| least.0);
        if chosen.len() < count && !chosen.contains(&lowest) {
            chosen.push(lowest);
        }
    }
    let mut gaps = vec![f64::INFINITY; rows.len()];
    let mut measured = 0;
    while chosen.len() < count {
        while measured < chosen.len() {
            let last = scaled.row(chosen[measured]);
            for (gap, row) in gaps.iter_mut().zip(scaled.rows()) {
                *gap = gap.min(squared_distance(row, last));
            }
            gaps[chosen[measured]] = f64::NEG_INFINITY;
            measured += 1;
        }
        let farthest =
            gaps.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        let Some((farthest, _)) = farthest else { break };
        chosen.push(farthest);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_come_first_and_then_what_is_farthest() {
        let rows = Points::from_rows(2, (0..101).map(|i| [f64::from(i), 1e6 * f64::from(100 - i)]));
        assert_eq!(spread(&rows, 3), [0, 100, 50]);
        let five = spread(&rows, 5);
        assert_eq!((five[3], five[4]), (25, 75));
        assert_eq!(spread(&rows, 500).len(), 101);
        // Equal rows are chosen once each, whatever their distance.
        let same = Points::from_rows(2, [[1.0, 1.0]; 7]);
        let mut all = spread(&same, 6);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 6);
    }
}
