//! Levels of non-domination: level 0 is the front, level 1 the front of what remains, and so on.
//!
//! The rows are visited in lexicographic order, in which a row comes after all that dominate it. If level l has no row
//! that dominates a new one, no later level has: a row of level l + 1 is dominated by one of level l. So the level is
//! found by bisection, and in two objectives the least second value of a level says whether it dominates.
//!
//! X. Zhang, Y. Tian, R. Cheng and Y. Jin, "An efficient approach to nondominated sorting for evolutionary
//! multiobjective optimization", *IEEE Transactions on Evolutionary Computation* 19, 2015 (ENS-BS).

use super::{check_values, covers, in_order};
use crate::error::Result;
use crate::points::Points;

/// The level of every row, from 0.
///
/// # Errors
/// If a value is not finite.
pub fn levels(values: &Points) -> Result<Vec<usize>> {
    check_values(values.rows())?;
    let mut level = vec![0; values.len()];
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut last: Option<usize> = None;
    for i in in_order(values) {
        let row = values.row(i);
        // Equal rows are neighbours, and of one level.
        if let Some(last) = last.filter(|&last| values.row(last) == row) {
            level[i] = level[last];
            continue;
        }
        last = Some(i);
        let dominated_by = |members: &Vec<usize>| match (row, members.last()) {
            // Of a level in order of the first value, the last has the least second.
            ([_, second], Some(&lowest)) => values.row(lowest)[1] <= *second,
            _ => members.iter().rev().any(|&j| covers(values.row(j), row)),
        };
        level[i] = members.partition_point(dominated_by);
        if level[i] == members.len() {
            members.push(Vec::new());
        }
        members[level[i]].push(i);
    }
    Ok(level)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;

    #[test]
    fn levels_by_hand() {
        let rows = [[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [3.0, 3.0], [2.0, 2.0], [0.0, 9.0]];
        assert_eq!(levels(&Points::from_rows(2, rows)).unwrap(), [0, 0, 1, 2, 0, 0]);
        assert!(levels(&Points::new(2)).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn levels_are_fronts_peeled_off(rows in naive::rows(1..6_usize, 40)) {
            prop_assert_eq!(levels(&rows).unwrap(), naive::levels(&rows));
        }
    }
}
