//! What "better" means under a goal, as one column: the place of each trial in an order, best first.
//!
//! ```text
//! 1. trials that meet all constraints, by their level of non-domination
//! 2.   within a level, by what they contribute to its hypervolume, the larger first
//! 3. trials that miss a constraint, by their total violation
//! ```
//! Places go from 0 for the best to below 1 for the worst; equal trials share theirs. A trial without a measurement has none. All that
//! labels, classifiers and batch rules need is a column, so that with this one they serve every goal.
//!
//! The order is that of hypervolume-based selection (Emmerich, Beume and Naujoks 2005), for which levels alone would leave most trials
//! of many objectives equal.
//!
//! Cost for n trials of k objectives: O(n log n) for k = 2; for more, n² at worst for the levels, and the contributions of at most
//! [`LARGEST`] trials, those of the first levels. In the levels after them, crowding distances stand for contributions.

use crate::column::Column;
use crate::error::Result;
use crate::history::History;
use crate::pareto::crowding::crowding;
use crate::pareto::{contributions, levels, reference_point};
use crate::points::Points;
use crate::seed::Seed;
use crate::violation::Violation;

/// Trials for which contributions to more than two objectives are computed, whole levels from the first on.
pub const LARGEST: usize = 500;

/// The merit of every trial of a history.
///
/// # Errors
/// If a value is not finite, which a history never holds.
pub fn merit(history: &History) -> Result<Column> {
    let violation = Violation::of(history);
    // Group, then order within the group; both lower is better.
    let mut keys: Vec<(usize, f64, usize)> = Vec::with_capacity(history.len());
    let meeting: Vec<usize> = (0..history.len()).filter(|&i| history.meets(i)).collect();
    let objectives = history.objectives().len();
    let rows = Points::from_rows(objectives, meeting.iter().map(|&i| history.row(i)));
    let level = levels(&rows)?;
    let rows = scaled(&rows);
    let last = level.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); last];
    level.iter().enumerate().for_each(|(row, &level)| members[level].push(row));
    let reference = if rows.is_empty() { Vec::new() } else { reference_point(&rows)? };
    for (level, members) in members.iter().enumerate() {
        let exact = objectives == 2 || keys.len() + members.len() <= LARGEST;
        let gains = match (objectives, exact) {
            (1, _) => vec![0.0; members.len()],
            (_, true) => {
                let rows = Points::from_rows(objectives, members.iter().map(|&row| rows.row(row)));
                let mut rng = Seed(0).stream("merit", level as u64);
                let gains = contributions(&rows, &reference, &mut rng)?;
                gains.into_iter().map(|gain| gain.value).collect()
            }
            // Volumes cost too much here: the distances of neighbours still tell trials apart.
            (_, false) => crowding(&rows, members),
        };
        for (&row, gain) in members.iter().zip(gains) {
            keys.push((level, -gain, meeting[row]));
        }
    }
    for i in 0..history.len() {
        if let Some(total) = violation.total(history, i).filter(|_| !history.meets(i)) {
            keys.push((last, total, i));
        }
    }
    keys.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    let count = keys.len().max(1) as f64;
    let mut places: Vec<Option<f64>> = vec![None; history.len()];
    let mut from = 0;
    while from < keys.len() {
        let same =
            keys[from..].iter().take_while(|key| (key.0, key.1) == (keys[from].0, keys[from].1));
        let to = from + same.count().max(1);
        // Equal trials share the place of the last of them: a quantile takes all of them or none.
        let place = (to - 1) as f64 / count;
        keys[from..to].iter().for_each(|key| places[key.2] = Some(place));
        from = to;
    }
    Ok(places.into_iter().collect())
}

/// Each objective over its range, so that volumes of extreme values stay finite.
fn scaled(rows: &Points) -> Points {
    let mut scaled = rows.clone();
    for i in 0..rows.dim() {
        // Halves, since the range of two extreme values has no number.
        let halves = || rows.rows().map(|row| 0.5 * row[i]);
        let low = halves().fold(f64::INFINITY, f64::min);
        let range = halves().fold(f64::NEG_INFINITY, f64::max) - low;
        for row in scaled.rows_mut() {
            row[i] = if range > 0.0 { (0.5 * row[i] - low) / range } else { 0.0 };
        }
    }
    scaled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::goal::{Bound, Goal, Objective};
    use crate::labels::Threshold;
    use crate::outcome::{Measurement, Outcome};
    use crate::pareto::dominates;

    /// A history of rows of objectives, each with a value that must be at most 0, or none where the trial failed.
    fn history(rows: &[(Vec<f64>, Option<f64>)], objectives: usize) -> History {
        let names = (0..objectives).map(|i| Objective::minimise(format!("f{i}")));
        let goal = Goal::new(names).unwrap().limit("c", Bound::AtMost(0.0)).unwrap();
        let mut history = History::of(1, goal);
        for (i, (row, limited)) in rows.iter().enumerate() {
            let x = [i as f64 / rows.len() as f64];
            let Some(limited) = limited else {
                history.push(&x, Outcome::failed()).unwrap();
                continue;
            };
            let measurement = Measurement {
                objectives: row[..objectives].iter().map(|&y| y.into()).collect(),
                constraints: vec![(*limited).into()],
                fidelity: None,
            };
            history.push(&x, measurement).unwrap();
        }
        history
    }

    /// Objectives, and by how much a constraint is missed; `None` for a trial without values.
    type Rows = Vec<(Vec<f64>, Option<f64>)>;

    fn trials() -> impl Strategy<Value = (Rows, usize)> {
        let value = (0..6_i32).prop_map(f64::from);
        let limited =
            prop_oneof![3 => (-3..3_i32).prop_map(|c| Some(f64::from(c))), 1 => Just(None)];
        let row = (prop::collection::vec(value, 4), limited);
        (prop::collection::vec(row, 1..30), 1..5_usize)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_trial_is_good_while_a_better_one_is_bad((rows, objectives) in trials(), fraction in 0.05..0.9_f64) {
            let history = history(&rows, objectives);
            let column = merit(&history).unwrap();
            for (value, row) in column.values().zip(&rows) {
                prop_assert_eq!(value.is_some(), row.1.is_some());
            }
            let Some(labels) = (Threshold::Quantile { fraction }).label(history.points(), &column) else {
                return Ok(());
            };
            prop_assert!(labels.good() > 0);
            for (i, j) in (0..rows.len()).flat_map(|i| (0..rows.len()).map(move |j| (i, j))) {
                let better = match (rows[i].1, rows[j].1) {
                    (Some(_), None) => true,
                    (Some(a), Some(b)) if a <= 0.0 && b <= 0.0 => dominates(&history.row(i), &history.row(j)),
                    (Some(a), Some(b)) => a.max(0.0) < b.max(0.0),
                    (None, _) => false,
                };
                if better {
                    prop_assert!(labels.is_good(i) || !labels.is_good(j), "{} {}", i, j);
                    let (a, b) = (column.value(i), column.value(j));
                    prop_assert!(b.is_none() || a < b, "{:?} {:?}", a, b);
                }
            }
        }
    }

    #[test]
    fn within_a_level_the_larger_contribution_comes_first_and_the_order_is_that_of_values_for_one_objective()
     {
        // All on the front; the second and third lie close together.
        let rows: Vec<_> = [[0.0, 6.0], [4.0, 3.0], [4.5, 2.5], [6.0, 0.0]]
            .map(|row| (row.to_vec(), Some(-1.0)))
            .into();
        let column = merit(&history(&rows, 2)).unwrap();
        let places: Vec<f64> = (0..4).filter_map(|i| column.value(i)).collect();
        assert!(places[1].max(places[2]) > places[0].max(places[3]), "{places:?}");
        let rows: Vec<_> = [3.0, 1.0, 2.0, 1.0].map(|y| (vec![y], Some(-1.0))).into();
        let column = merit(&history(&rows, 1)).unwrap();
        let places: Vec<f64> = (0..4).filter_map(|i| column.value(i)).collect();
        assert_eq!(places, [0.75, 0.25, 0.5, 0.25]);
    }
    #[test]
    fn trials_of_a_large_level_are_told_apart() {
        // A plane of trials that do not dominate each other.
        let rows: Vec<(Vec<f64>, Option<f64>)> = (0..LARGEST + 100)
            .map(|i| {
                let (a, b) = (((i * 37 % 601) as f64).powi(2), ((i * 211 % 601) as f64).powi(3));
                (vec![a, b, -a - b, 0.0], Some(-1.0))
            })
            .collect();
        let column = merit(&history(&rows, 3)).unwrap();
        let places: std::collections::BTreeSet<u64> =
            column.values().flatten().map(f64::to_bits).collect();
        assert!(places.len() > LARGEST, "{} places", places.len());
    }
}
