//! A few configurations of which one is likely to be good on a new task: what earlier tasks teach before the first trial.
//!
//! Each earlier task judges each candidate by a cost, 0 for the best it knows. The portfolio P of k candidates is chosen greedily for
//!
//! ```text
//! minimise Σ_tasks min_{i ∈ P} cost(task, i),
//! ```
//!
//! so that every earlier task has a good member, as a task like it will. The sum is a supermodular function of P: greedy choices come within
//! a factor 1 - 1/e of the largest decrease (Nemhauser, Wolsey and Fisher 1978). Once no candidate lowers it, the cheapest in sum is next.
//!
//! Cost: O(k · tasks · candidates).

use std::cmp::Ordering;

/// The costs by which a task judges candidates: 0 at the best value that it knows, 1 at the median of its values; `values` are what is
/// expected of each candidate, lower is better, and `told` the values of the task's trials. A candidate of which nothing is
/// expected, or that is worse than the median, costs 1.
pub fn costs(values: impl IntoIterator<Item = Option<f64>>, told: &[f64]) -> Vec<f64> {
    let mut told: Vec<f64> = told.iter().copied().filter(|value| value.is_finite()).collect();
    told.sort_by(f64::total_cmp);
    let (best, median) = match told.as_slice() {
        [] => (0.0, 0.0),
        some => (some[0], some[some.len() / 2]),
    };
    let cost = |value: Option<f64>| match value {
        Some(value) if median > best => ((value - best) / (median - best)).clamp(0.0, 1.0),
        _ => 1.0,
    };
    values.into_iter().map(cost).collect()
}

/// `count` candidates, the most useful first. `costs` has a row for each task, with a cost for each candidate.
///
/// # Panics
/// If the rows differ in length.
pub fn portfolio(costs: &[Vec<f64>], count: usize) -> Vec<usize> {
    let candidates = costs.first().map_or(0, Vec::len);
    assert!(costs.iter().all(|row| row.len() == candidates), "a cost for each candidate");
    let mut least = vec![f64::INFINITY; costs.len()];
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < count.min(candidates) {
        let judged = |i: usize| {
            let rows = || costs.iter().zip(&least);
            let sum: f64 = rows().map(|(row, least)| row[i].min(*least)).sum();
            (sum, rows().map(|(row, _)| row[i]).sum::<f64>())
        };
        let by = |a: &(f64, f64), b: &(f64, f64)| -> Ordering {
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        };
        let left = (0..candidates).filter(|i| !chosen.contains(i));
        let Some(next) = left.min_by(|&a, &b| by(&judged(a), &judged(b))) else { break };
        for (least, row) in least.iter_mut().zip(costs) {
            *least = least.min(row[next]);
        }
        chosen.push(next);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_task_gets_its_member_before_a_second_best_is_taken() {
        // Candidate 1 is good for both; 0 and 2 are the best of one each; 3 is nobody's.
        let costs = [vec![0.0, 0.2, 1.0, 1.0], vec![1.0, 0.2, 0.0, 0.9]];
        assert_eq!(portfolio(&costs, 4), [1, 0, 2, 3]);
        assert_eq!(portfolio(&costs, 1), [1]);
        assert_eq!(portfolio(&costs, 9).len(), 4);
        assert!(portfolio(&[], 3).is_empty());
        // One task: from the cheapest on.
        assert_eq!(portfolio(&[vec![0.5, 0.0, 0.1]], 3), [1, 2, 0]);
    }

    #[test]
    fn costs_are_between_the_best_value_and_the_median() {
        let told = [5.0, 1.0, 3.0, f64::INFINITY, 9.0, 2.0];
        let values = [Some(1.0), Some(2.0), Some(3.0), Some(7.0), Some(0.0), None];
        assert_eq!(costs(values, &told), [0.0, 0.5, 1.0, 1.0, 0.0, 1.0]);
        // All equal: nothing is known.
        assert_eq!(costs([Some(2.0)], &[2.0, 2.0]), [1.0]);
        assert_eq!(costs([Some(2.0)], &[]), [1.0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn greedy_is_near_the_best_of_all_pairs(
            costs in (1..4_usize).prop_flat_map(|tasks| {
                prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 7), tasks)
            })
        ) {
            let sum = |chosen: &[usize]| -> f64 {
                let least = |row: &Vec<f64>| chosen.iter().map(|&i| row[i]).fold(1.0, f64::min);
                costs.iter().map(least).sum()
            };
            let greedy = portfolio(&costs, 2);
            let pairs = (0..7).flat_map(|a| (0..7).map(move |b| [a, b]));
            let best = pairs.map(|pair| sum(&pair)).fold(f64::INFINITY, f64::min);
            let all = costs.len() as f64;
            let share = 1.0 - (-1.0_f64).exp();
            prop_assert!(all - sum(&greedy) >= share * (all - best) - 1e-12);
        }
    }
}
