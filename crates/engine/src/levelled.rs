//! A history in which every trial looks as if it had been carried out to the same fidelity, for methods that know nothing
//! of fidelities.
//!
//! A trial that was stopped at fidelity t keeps its rank at t: among the trials that went on beyond t, by their values at t. It
//! gets the value that has this rank among the final values of the same trials, in each column by itself:
//!
//! ```text
//! a_1 ≤ … ≤ a_m   the values of those trials at t         b_1 ≤ … ≤ b_m   their final values
//! a in [a_k, a_k+1]  ↦  the same share of the way from b_k to b_k+1
//! ```
//! Better than all of them, it gets b_1: a stopped trial is never said to end better than any that went on. Worse than all, it gets
//! b_m and more, as far as the ranges of a and b suggest, at most one range. Fidelities are levelled from the highest down, so that the
//! final value of a trial is its own or was estimated before. Where nobody who went on was measured up to t, trials are ranked among
//! those that were stopped at t.
//!
//! Cost: O(n log n) for each column and each of at most [`LEVELS`] fidelities; more different ones are compared in groups, at the
//! lowest fidelity of their group.

use crate::curves::Curve;
use crate::error::Result;
use crate::history::{End, History};
use crate::outcome::{Measured, Measurement};

/// Fidelities that are told apart.
pub const LEVELS: usize = 64;

/// The history without a fidelity, under the same goal otherwise. Trials at the highest fidelity reached keep their values.
///
/// # Errors
/// If a value is not finite, which a history never holds.
pub fn levelled(history: &History) -> Result<History> {
    let len = history.len();
    let mut curves: Vec<Option<&Curve>> = vec![None; len];
    for (_, curve) in history.curves().iter() {
        if let Some(place) = curve.place() {
            curves[place] = Some(curve);
        }
    }
    let measured = |i: &usize| history.ends()[*i] == End::Measured;
    let mut below: Vec<(f64, usize)> = (0..len)
        .filter(|i| measured(i) && !history.leads(*i))
        .filter_map(|i| Some((history.fidelity(i)?, i)))
        .collect();
    below.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let columns = history.objectives().iter().chain(history.constraints());
    let mut all: Vec<Vec<f64>> = columns
        .map(|column| column.values().map(|value| value.unwrap_or(f64::NAN)).collect())
        .collect();
    let mut beyond: Vec<usize> = (0..len).filter(|i| history.leads(*i)).collect();
    for group in groups(&below) {
        let at = group[group.len() - 1].0;
        let row = |i: usize| curves[i].and_then(|curve| Some(curve.row(curve.at(at)?)));
        // Where groups are wide, a trial may have made its first step above the lowest fidelity of its group.
        let own_row = |i: usize| {
            row(i).or_else(|| {
                curves[i].and_then(|curve| Some(curve.row(curve.len().checked_sub(1)?)))
            })
        };
        let there: Vec<usize> = beyond.iter().copied().filter(|&i| row(i).is_some()).collect();
        for (c, column) in all.iter_mut().enumerate() {
            let value = |i: usize| row(i).map(|row| row[c]);
            let own = |(_, i): &(f64, usize)| own_row(*i).map(|row| (*i, row[c]));
            let own: Vec<(usize, f64)> = group.iter().filter_map(own).collect();
            let (mut from, mut to): (Vec<f64>, Vec<f64>) = match there.is_empty() {
                false => (
                    there.iter().filter_map(|&i| value(i)).collect(),
                    there.iter().map(|&i| column[i]).collect(),
                ),
                true => (
                    own.iter().map(|(_, value)| *value).collect(),
                    beyond.iter().map(|&i| column[i]).collect(),
                ),
            };
            from.sort_by(f64::total_cmp);
            to.sort_by(f64::total_cmp);
            for (i, value) in own {
                column[i] = matched(value, &from, &to);
            }
        }
        beyond.extend(group.iter().map(|(_, i)| *i));
    }
    let mut level = History::of(history.points().dim(), history.goal().whole());
    let objectives = history.objectives().len();
    for i in 0..len {
        let x = history.points().row(i);
        if history.ends()[i] != End::Measured {
            level.push(x, history.outcome(i))?;
            continue;
        }
        let kept = history.leads(i);
        let columns = history.objectives().iter().chain(history.constraints()).zip(&all);
        let mut row = columns.map(|(column, all)| Measured {
            value: all[i],
            deviation: column.deviation(i).filter(|_| kept),
        });
        let first = row.by_ref().take(objectives).collect();
        level.push(
            x,
            Measurement { objectives: first, constraints: row.collect(), fidelity: None },
        )?;
    }
    if !below.is_empty() {
        level.mark_estimated();
    }
    Ok(level)
}

/// Runs of equal fidelity; with more than [`LEVELS`] different ones, runs of about equal length.
fn groups(below: &[(f64, usize)]) -> Vec<&[(f64, usize)]> {
    let runs: Vec<&[(f64, usize)]> = below.chunk_by(|a, b| a.0 == b.0).collect();
    match runs.len() <= LEVELS {
        true => runs,
        false => below.chunks(below.len().div_ceil(LEVELS)).collect(),
    }
}

/// The number with the rank in `to` that `value` has in `from`; both ascending.
fn matched(value: f64, from: &[f64], to: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (to.first(), to.last()) else { return value };
    let end = from.len() - 1;
    // The place in `to` of a place in `from`, if they differ in length.
    let scale = (to.len() - 1) as f64 / end.max(1) as f64;
    let look = |place: f64| {
        let (low, share) = (place.floor(), place - place.floor());
        let high = to[(low as usize + 1).min(to.len() - 1)];
        let low = to[low as usize];
        // In this form rounding keeps the order.
        (low + (high - low) * share).min(high)
    };
    let better = from.partition_point(|other| *other < value);
    let place = match better {
        0 => return *first,
        k if k > end => {
            let ranges = (from[end] - from[0], last - first);
            let beyond =
                if ranges.0 > 0.0 { ((value - from[end]) / ranges.0).min(1.0) } else { 1.0 };
            let estimate = last + beyond * ranges.1;
            return if estimate.is_finite() { estimate } else { *last };
        }
        k => {
            let gap = from[k] - from[k - 1];
            let share =
                if gap > 0.0 && gap.is_finite() { (value - from[k - 1]) / gap } else { 1.0 };
            (k - 1) as f64 + share
        }
    };
    look((place * scale).min((to.len() - 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Direction, Goal};
    use crate::outcome::Outcome;
    use proptest::prelude::*;

    fn epochs() -> History {
        let goal = Goal::from(Direction::Minimise).fidelity("epochs", 1.0, 9.0).unwrap();
        History::of(1, goal)
    }

    /// A trial with these values at 1, 3 and 9 epochs, or as far as they go.
    fn run(history: &mut History, trial: u64, values: &[f64]) {
        let step = |i: usize| Measurement {
            fidelity: Some([1.0, 3.0, 9.0][i]),
            ..Measurement::from(values[i])
        };
        (0..values.len()).for_each(|i| history.report(trial, &[0.1], &step(i)).unwrap());
        history.push_trial(trial, &[trial as f64 / 50.0], step(values.len() - 1)).unwrap();
    }

    fn values(history: &History) -> Vec<f64> {
        levelled(history).unwrap().objective().values().flatten().collect()
    }

    #[test]
    fn a_stopped_trial_gets_the_final_value_of_its_rank() {
        let mut history = epochs();
        run(&mut history, 0, &[10.0, 6.0, 1.0]);
        run(&mut history, 1, &[20.0, 4.0, 3.0]);
        run(&mut history, 2, &[30.0, 8.0, 2.0]);
        // At 3 epochs, between 4 and 6: half way from the first to the second final value.
        run(&mut history, 3, &[12.0, 5.0]);
        // At 1 epoch, among 10, 12, 20, 30, whose final values are 1, 1.5, 2, 3.
        run(&mut history, 4, &[25.0]);
        run(&mut history, 5, &[5.0]);
        run(&mut history, 6, &[1000.0]);
        assert_eq!(values(&history), [1.0, 3.0, 2.0, 1.5, 2.5, 1.0, 5.0]);
        let level = levelled(&history).unwrap();
        assert!(level.goal().is_single() && !level.is_settled() && level.len() == 7);
    }

    #[test]
    fn many_different_fidelities_give_every_stopped_trial_its_own_estimate() {
        let goal = Goal::from(Direction::Minimise).fidelity("share", 1.0, 1_000.0).unwrap();
        let mut history = History::of(1, goal);
        for trial in 0..10 {
            for (at, value) in [(1.0, 100.0), (150.0, 50.0), (1_000.0, 1.0)] {
                let value = value + trial as f64;
                let step = Measurement { fidelity: Some(at), ..Measurement::from(value) };
                history.report(trial, &[0.1], &step).unwrap();
            }
            history.push_trial(trial, &[0.1], 1.0 + trial as f64).unwrap();
        }
        // One step each, all at another fidelity: raw values are a hundred times the final ones.
        for trial in 10..150 {
            let (at, value) = (trial as f64, 100.0 + (trial % 7) as f64);
            let step = Measurement { fidelity: Some(at), ..Measurement::from(value) };
            history.push_trial(trial, &[0.2], step).unwrap();
        }
        let found = values(&history);
        assert!(found.iter().all(|value| (1.0..=20.0).contains(value)), "{found:?}");
    }

    #[test]
    fn without_a_stopped_trial_all_is_as_it_was() {
        let mut history = epochs();
        history.push(&[0.5], 2.0).unwrap();
        history.push(&[0.25], Outcome::failed()).unwrap();
        history.push(&[0.75], Measured { value: 1.0, deviation: Some(0.5) }).unwrap();
        let level = levelled(&history).unwrap();
        assert!(level.is_settled());
        for i in 0..3 {
            assert_eq!(level.outcome(i), history.outcome(i));
        }
        // Before there is a whole trial, those of the highest fidelity reached keep their values.
        let mut history = epochs();
        run(&mut history, 0, &[3.0, 7.0]);
        run(&mut history, 1, &[2.0]);
        assert_eq!(values(&history), [7.0, 7.0]);
    }

    #[test]
    fn constraints_are_levelled_by_themselves() {
        let goal = Goal::from(Direction::Minimise)
            .limit("size", Bound::AtMost(5.0))
            .and_then(|goal| goal.fidelity("epochs", 1.0, 9.0))
            .unwrap();
        let mut history = History::of(1, goal);
        let mut tell = |trial: u64, steps: &[(f64, f64, f64)]| {
            for (at, value, size) in steps {
                let constraints = vec![(*size).into()];
                let step =
                    Measurement { constraints, fidelity: Some(*at), ..Measurement::from(*value) };
                history.report(trial, &[0.5], &step).unwrap();
                if steps.last() == Some(&(*at, *value, *size)) {
                    history.push_trial(trial, &[0.5], step).unwrap();
                }
            }
        };
        tell(0, &[(1.0, 1.0, 1.0), (9.0, 0.5, 4.0)]);
        tell(1, &[(1.0, 2.0, 2.0), (9.0, 0.7, 8.0)]);
        tell(2, &[(1.0, 0.0, 1.5)]);
        let level = levelled(&history).unwrap();
        assert_eq!(
            (level.objective().value(2), level.constraints()[0].value(2)),
            (Some(0.5), Some(6.0))
        );
        assert!(level.meets(0) && !level.meets(2));
    }

    proptest! {
        #[test]
        fn order_at_equal_fidelity_is_kept_and_nothing_leaves_the_range(
            runs in prop::collection::vec((prop::collection::vec(0..20_i32, 3), 1..4_usize), 1..40),
        ) {
            let mut history = epochs();
            for (trial, (all, len)) in runs.iter().enumerate() {
                let all: Vec<f64> = all[..*len].iter().map(|value| f64::from(*value)).collect();
                run(&mut history, trial as u64, &all);
            }
            let found = values(&history);
            let top = runs.iter().map(|run| run.1).max().unwrap();
            let whole = |j: &usize| runs[*j].1 == top;
            let lowest = (0..runs.len()).filter(whole).map(|j| found[j]).fold(f64::INFINITY, f64::min);
            for i in 0..runs.len() {
                prop_assert!(found[i].is_finite() && found[i] >= lowest);
                for j in (0..runs.len()).filter(|j| runs[*j].1 == runs[i].1) {
                    let at = runs[i].1 - 1;
                    if runs[i].0[at] <= runs[j].0[at] {
                        prop_assert!(found[i] <= found[j], "{} {}", i, j);
                    }
                }
            }
        }
    }
}
