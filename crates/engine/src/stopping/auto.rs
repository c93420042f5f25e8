//! `auto`: stops what does worse than good trials did, calibrated on trials that are never stopped.
//!
//! *Control trials* are carried out in full: the first ⌈1/α⌉ by their number, then at least every tenth (schedule.rs); α is `wrong-stop`. The
//! schedule gives each of the others a level α_t. A trial is compared with the n control trials that were complete before its first step.
//!
//! ```text
//! u(r) = (control trials that are better at rung r) / n            r = low, 2 low, 4 low, … below high
//! w    = max over r of u(r) / s(r),   s(r) = 1 - (1 - g/n) ln(r/low) / ln(high/low)
//! ```
//! The g control trials that ended best, g = max(⌈1/α_t⌉ - 1, ⌈n/4⌉), have such a w each (an upper bound of it: the trial itself
//! counts as better everywhere). The trial is stopped at the first rung where u(r)/s(r) exceeds the ⌈(1-α_t)(g+1)⌉-th smallest of
//! these. s(r) is fixed beforehand: it asks for more as the end comes nearer, where a good trial has u ≤ g/n.
//!
//! # What holds
//! If trials are exchangeable, a trial that would have ended among the best g + 1 of the n + 1 is stopped with probability
//! at most α_t, whatever curves look like. If, besides, trials that end better do not have larger w (in distribution), the
//! best trial of the search is stopped with probability at most the mean of all levels, which is at most α. Proof: docs/guide/theory.md.
//!
//! Cost: O(n log n) for each rung; a [`Bar`] is kept for each running trial, and then it is O(log n).

use super::schedule::{Schedule, least};
use super::{Matter, order, rungs};
use crate::curves::Curve;
use crate::error::Result;
use crate::goal::Fidelity;
use crate::history::End;

/// The ratio of neighbouring rungs.
const FACTOR: f64 = 2.0;
/// 1/γ: the share of control trials that are good, once there are many.
const SHARE: usize = 4;

/// The first step of a curve at a rung.
fn at(curve: &Curve, rung: f64, range: &Fidelity) -> Option<usize> {
    curve.first_in(rung..(rung * FACTOR).min(range.high))
}

/// The control trials that were complete before the first step of a trial.
fn controls<'h>(matter: &Matter<'h>, schedule: &Schedule) -> Vec<&'h Curve> {
    let &Matter { history, range, curve, .. } = matter;
    let start = curve.arrival(0);
    let mut all = rungs(range.low, FACTOR, range.high);
    let Some(first) = all.find(|rung| at(curve, *rung, range).is_some()) else {
        return Vec::new();
    };
    let complete = |other: &Curve| {
        let failed = other.place().is_some_and(|place| history.ends()[place] != End::Measured);
        // One of which only the end is known says nothing about the way to it.
        let done = failed || other.reached() >= range.high && at(other, first, range).is_some();
        // Its end came after its last step on the way: who reads both later finds the same.
        let way = other.fidelities().partition_point(|fidelity| *fidelity < range.high);
        done && way.checked_sub(1).is_none_or(|last| other.arrival(last) < start)
    };
    let controls = history.curves().iter().filter(|(other, _)| schedule.is_control(*other));
    controls.map(|(_, curve)| curve).filter(|curve| complete(curve)).collect()
}

/// n s(r): how many control trials a good trial may have before it at a rung.
fn limit(rung: f64, range: &Fidelity, good: usize, n: usize) -> f64 {
    let way = (rung / range.low).ln() / (range.high / range.low).ln();
    n as f64 * (1.0 - (1.0 - good as f64 / n as f64) * way)
}

/// The ⌈(1 - level)(g+1)⌉-th smallest of g numbers, if there is one.
fn bound(mut of_good: Vec<f64>, level: f64) -> Option<f64> {
    of_good.sort_by(f64::total_cmp);
    let rank = ((1.0 - level) * (of_good.len() + 1) as f64 - 1e-9).ceil() as usize;
    of_good.get(rank.checked_sub(1)?).copied()
}

pub(super) fn stops(matter: &Matter<'_>, wrong_stop: f64) -> Result<bool> {
    let &Matter { history, range, trial, curve } = matter;
    let last = history.curves().iter().map(|(other, _)| other).max();
    let schedule = Schedule::to(wrong_stop, last.unwrap_or(trial));
    let Some(level) = schedule.level(trial) else { return Ok(false) };
    let controls = controls(matter, &schedule);
    let least = least(level);
    let n = controls.len();
    let good = least.max(n.div_ceil(SHARE));
    if n < good {
        return Ok(false);
    }
    let limit = |rung: f64| limit(rung, range, good, n);
    let at = |curve: &Curve, rung: f64| at(curve, rung, range);
    // w of each control trial and, up to where it is, of the trial.
    let (mut worst, mut own) = (vec![0.0_f64; n], 0.0_f64);
    for rung in rungs(range.low, FACTOR, range.high) {
        let own_row = at(curve, rung).map(|step| curve.row(step));
        let there: Vec<(usize, &[f64])> =
            (0..n).filter_map(|i| Some((i, controls[i].row(at(controls[i], rung)?)))).collect();
        let rows = there.iter().map(|(_, row)| *row).chain(own_row);
        let order = order(history.goal(), rows)?;
        let mut sorted: Vec<f64> = order[..there.len()].to_vec();
        sorted.sort_by(f64::total_cmp);
        let better = |value: f64| sorted.partition_point(|other| *other < value) as f64;
        for ((i, _), value) in there.iter().zip(&order) {
            worst[*i] = worst[*i].max((better(*value) + 1.0) / limit(rung));
        }
        if own_row.is_some() {
            own = own.max(better(order[there.len()]) / limit(rung));
        }
    }
    // The good ones: of those that reached the end, the best by their last step.
    let finals: Vec<usize> = (0..n).filter(|&i| controls[i].reached() >= range.high).collect();
    let last = |i: usize| controls[i].row(controls[i].len() - 1);
    let values = order(history.goal(), finals.iter().map(|&i| last(i)))?;
    let mut ended: Vec<(f64, usize)> = values.into_iter().zip(finals).collect();
    ended.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let of_good: Vec<f64> = ended.iter().take(good).map(|(_, i)| worst[*i]).collect();
    if of_good.len() < least {
        return Ok(false);
    }
    Ok(bound(of_good, level).is_some_and(|bound| own > bound))
}

/// What a trial is held to under a goal with one objective: at each rung the values of the control trials, and the bound on w.
#[derive(Debug)]
pub(super) struct Bar {
    /// Rungs with n s(r) and the values there, ascending.
    rungs: Vec<(f64, f64, Vec<f64>)>,
    bound: f64,
}

impl Bar {
    /// Of a trial that has a step and is judged at this level.
    pub(super) fn of(matter: &Matter<'_>, schedule: &Schedule, level: f64) -> Self {
        let range = matter.range;
        let controls = controls(matter, schedule);
        let (least, n) = (least(level), controls.len());
        let good = least.max(n.div_ceil(SHARE));
        let nothing = Self { rungs: Vec::new(), bound: f64::INFINITY };
        if n < good {
            return nothing;
        }
        let (mut worst, mut all) = (vec![0.0_f64; n], Vec::new());
        for rung in rungs(range.low, FACTOR, range.high) {
            let value = |curve: &Curve| at(curve, rung, range).map(|step| curve.row(step)[0]);
            let mut there: Vec<f64> = controls.iter().filter_map(|curve| value(curve)).collect();
            there.sort_by(f64::total_cmp);
            let limit = limit(rung, range, good, n);
            for (worst, curve) in worst.iter_mut().zip(&controls) {
                if let Some(value) = value(curve) {
                    let better = there.partition_point(|other| *other < value);
                    *worst = worst.max((better as f64 + 1.0) / limit);
                }
            }
            all.push((rung, limit, there));
        }
        let whole = (0..n).filter(|&i| controls[i].reached() >= range.high);
        let mut ended: Vec<(f64, usize)> =
            whole.map(|i| (controls[i].row(controls[i].len() - 1)[0], i)).collect();
        ended.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let of_good: Vec<f64> = ended.iter().take(good).map(|(_, i)| worst[*i]).collect();
        match bound(of_good, level).filter(|_| ended.len().min(good) >= least) {
            Some(bound) => Self { rungs: all, bound },
            None => nothing,
        }
    }

    /// Whether the trial is below it.
    pub(super) fn stops(&self, matter: &Matter<'_>) -> bool {
        let own = |(rung, limit, there): &(f64, f64, Vec<f64>)| {
            let value = matter.curve.row(at(matter.curve, *rung, matter.range)?)[0];
            Some(there.partition_point(|other| *other < value) as f64 / limit)
        };
        self.rungs.iter().filter_map(own).any(|own| own > self.bound)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::carried_out_first;
    use super::super::{Rule, Stopping, Verdict};
    use crate::goal::{Direction, Goal};
    use crate::history::History;
    use crate::outcome::Measurement;
    use crate::seed::Seed;
    use crate::seed::draw::uniform;

    const RUNGS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    const HIGH: f64 = 51.0;

    fn history() -> History {
        let goal = Goal::from(Direction::Minimise).fidelity("epochs", 1.0, HIGH).unwrap();
        History::of(1, goal)
    }

    /// Carries a trial out until it is stopped; how many of its rungs it passed.
    fn carry_out(history: &mut History, trial: u64, curve: &[f64], stopping: &Stopping) -> usize {
        let step = |at: f64, value: f64| Measurement { fidelity: Some(at), ..value.into() };
        for (passed, (&at, &value)) in RUNGS.iter().zip(curve).enumerate() {
            history.report(trial, &[0.5], &step(at, value)).unwrap();
            if stopping.verdict(history, trial, Seed(1)).unwrap() == Verdict::Stop {
                history.push_trial(trial, &[0.5], step(at, value)).unwrap();
                return passed;
            }
        }
        history.push_trial(trial, &[0.5], step(HIGH, curve[RUNGS.len()])).unwrap();
        RUNGS.len()
    }

    /// What became of searches of `trials` trials whose curves `draw` makes, the last value the final one.
    struct Seen {
        /// Share of the searches whose best trial was stopped.
        best_stopped: f64,
        /// Share of all trials but the first control trials that were stopped.
        stopped: f64,
    }

    fn searches(
        count: u64,
        trials: u64,
        wrong_stop: f64,
        mut draw: impl FnMut(&mut crate::seed::Rng) -> Vec<f64>,
    ) -> Seen {
        let stopping = Stopping { rule: Rule::Auto, wrong_stop };
        let (mut best_stopped, mut stopped) = (0.0, 0.0);
        for search in 0..count {
            let mut rng = Seed(7).stream("curves of a test", search);
            let mut history = history();
            let mut best = (f64::INFINITY, false);
            for trial in 0..trials {
                let curve = draw(&mut rng);
                let is_stopped = carry_out(&mut history, trial, &curve, &stopping) < RUNGS.len();
                stopped += f64::from(u8::from(is_stopped));
                if curve[RUNGS.len()] < best.0 {
                    best = (curve[RUNGS.len()], is_stopped);
                }
            }
            best_stopped += f64::from(u8::from(best.1));
        }
        let later = (trials - carried_out_first(wrong_stop)) as f64;
        Seen { best_stopped: best_stopped / count as f64, stopped: stopped / count as f64 / later }
    }

    #[test]
    fn the_best_trial_is_stopped_no_more_often_than_promised() {
        let wrong_stop = 0.1;
        // A curve is its end, and an error that shrinks as the end comes nearer.
        let noisy = |rng: &mut crate::seed::Rng| {
            let end = uniform(rng);
            let error = |step: usize| 0.8 * (1.0 - step as f64 / 6.0);
            let mut curve: Vec<f64> =
                (0..6).map(|step| end + error(step) * (uniform(rng) - 0.5)).collect();
            curve.push(end);
            curve
        };
        let seen = searches(400, 100, wrong_stop, noisy);
        // Three standard deviations of a share of 400.
        let slack = 3.0 * (wrong_stop * (1.0 - wrong_stop) / 400.0_f64).sqrt();
        assert!(seen.best_stopped <= wrong_stop + slack, "{}", seen.best_stopped);
        assert!(seen.stopped > 0.3, "only {} of the trials were stopped", seen.stopped);
        // Late starters: half of the trials fall only in the end, the best among them.
        let late = |rng: &mut crate::seed::Rng| {
            let (end, slow) = (uniform(rng), uniform(rng) < 0.5);
            let mut curve: Vec<f64> = (0..6)
                .map(|step| end + if slow && step < 4 { 0.5 } else { 0.0 } + 0.01 * uniform(rng))
                .collect();
            curve.push(end);
            curve
        };
        let seen = searches(400, 100, wrong_stop, late);
        assert!(seen.best_stopped <= wrong_stop + slack, "{}", seen.best_stopped);
    }

    #[test]
    fn curves_that_say_nothing_stop_nearly_nobody() {
        let wrong_stop = 0.1;
        let seen = searches(100, 100, wrong_stop, |rng| (0..7).map(|_| uniform(rng)).collect());
        assert!(seen.stopped <= wrong_stop, "{}", seen.stopped);
    }

    #[test]
    fn control_trials_are_carried_out_and_the_others_are_held_to_good_ones() {
        // Even the worst of them is carried out; trial 20 is one.
        let mut history = history();
        let stopping = Stopping { rule: Rule::Auto, wrong_stop: 0.1 };
        for trial in 0..18 {
            let passed = carry_out(&mut history, trial, &[trial as f64; 7], &stopping);
            assert!(passed == RUNGS.len() || trial > 10, "{trial}");
        }
        assert_eq!(carry_out(&mut history, 20, &[99.0; 7], &stopping), RUNGS.len());
        assert_eq!(carry_out(&mut history, 21, &[99.0; 7], &stopping), 0);
        assert_eq!(carry_out(&mut history, 22, &[3.0; 7], &stopping), RUNGS.len());
    }

    #[test]
    fn short_searches_keep_the_promise_too() {
        // The level of most trials is above the promise; the control trials before them make up for it.
        let wrong_stop = 0.1;
        let noisy = |rng: &mut crate::seed::Rng| {
            let end = uniform(rng);
            let mut curve: Vec<f64> = (0..6).map(|_| end + 0.9 * (uniform(rng) - 0.5)).collect();
            curve.push(end);
            curve
        };
        for trials in [14, 20, 30] {
            let seen = searches(1000, trials, wrong_stop, noisy);
            let slack = 3.0 * (wrong_stop * (1.0 - wrong_stop) / 1000.0_f64).sqrt();
            assert!(seen.best_stopped <= wrong_stop + slack, "{trials}: {}", seen.best_stopped);
            assert!(seen.stopped > 0.05, "{trials}: {}", seen.stopped);
        }
    }

    #[test]
    fn control_trials_that_end_after_a_trial_began_do_not_judge_it() {
        let mut history = history();
        let stopping = Stopping { rule: Rule::Auto, wrong_stop: 0.1 };
        let bad = Measurement { fidelity: Some(1.0), ..99.0.into() };
        history.report(21, &[0.5], &bad).unwrap();
        for trial in 0..18 {
            carry_out(&mut history, trial, &[trial as f64; 7], &stopping);
        }
        assert_eq!(stopping.verdict(&history, 21, Seed(1)).unwrap(), Verdict::GoOn);
        history.report(23, &[0.5], &bad).unwrap();
        assert_eq!(stopping.verdict(&history, 23, Seed(1)).unwrap(), Verdict::Stop);
    }
}
