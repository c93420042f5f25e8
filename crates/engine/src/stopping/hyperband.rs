//! Hyperband (Li et al. 2018) with asynchronous brackets.
//!
//! Bracket s, from 0 to s_max = ⌊log₃(high/low)⌋, is successive halving whose first rung lies at high/3^s; in bracket 0 every
//! trial goes to the end. As in the published table, bracket s has n_s = ⌈(s_max + 1)/(s + 1) · 3^s⌉ trials in a round. Here a
//! trial belongs to bracket s with probability n_s / Σ n, drawn from the seed and its number, so that any number of workers
//! needs no schedule.

use super::halving::{FACTOR, stops_at};
use super::{Matter, rungs};
use crate::error::Result;
use crate::goal::Fidelity;
use crate::seed::Seed;
use crate::seed::draw::below;

pub(super) fn stops(matter: &Matter<'_>, seed: Seed) -> Result<bool> {
    let brackets = Brackets::of(matter.range, seed);
    let own = brackets.of_trial(matter.trial);
    let same = |other: u64| brackets.of_trial(other) == own;
    stops_at(matter, rungs(brackets.first(own), FACTOR as f64, matter.range.high), same)
}

/// The brackets of a search.
pub(super) struct Brackets {
    sizes: Vec<usize>,
    high: f64,
    seed: Seed,
}

impl Brackets {
    pub(super) fn of(range: &Fidelity, seed: Seed) -> Self {
        Self { sizes: sizes(range), high: range.high, seed }
    }

    /// The bracket of a trial.
    pub(super) fn of_trial(&self, trial: u64) -> usize {
        bracket(&self.sizes, trial, self.seed)
    }

    /// The first rung of a bracket.
    pub(super) fn first(&self, bracket: usize) -> f64 {
        self.high / (FACTOR as f64).powi(bracket as i32)
    }
}

/// n_s for each bracket.
fn sizes(range: &Fidelity) -> Vec<usize> {
    let factor = FACTOR as f64;
    // A range of exactly 3^s has bracket s in spite of rounding.
    let largest = ((range.high / range.low).ln() / factor.ln() + 1e-9).floor() as i32;
    let brackets = f64::from(largest + 1);
    let size = |s: i32| (brackets / f64::from(s + 1) * factor.powi(s)).ceil() as usize;
    (0..=largest).map(size).collect()
}

/// The bracket of a trial.
fn bracket(sizes: &[usize], trial: u64, seed: Seed) -> usize {
    let mut rng = seed.stream("hyperband", trial);
    let mut drawn = below(&mut rng, sizes.iter().sum());
    for (bracket, size) in sizes.iter().enumerate() {
        if drawn < *size {
            return bracket;
        }
        drawn -= size;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::tests::{epochs, step, verdict};
    use super::super::{Rule, Verdict};
    use super::*;

    fn range(low: f64, high: f64) -> Fidelity {
        Fidelity { name: "epochs".to_owned(), low, high }
    }

    #[test]
    fn brackets_have_the_sizes_of_the_published_table() {
        // Li et al. (2018), table 1: R = 81, η = 3, for s = 4 to 0; s = 2 and 1 are 15 and 8 by the formula.
        assert_eq!(sizes(&range(1.0, 81.0)), [5, 8, 15, 34, 81]);
        assert_eq!(sizes(&range(1.0, 2.0)), [1]);
    }

    #[test]
    fn trials_fall_into_brackets_by_their_share_and_compete_within() {
        let sizes = sizes(&range(1.0, 81.0));
        let seed = Seed(1);
        let mut counts = [0; 5];
        (0..14_300).for_each(|trial| counts[bracket(&sizes, trial, seed)] += 1);
        for (count, size) in counts.into_iter().zip(&sizes) {
            // A hundred rounds: within five standard deviations.
            let expected = 100.0 * *size as f64;
            assert!((f64::from(count) - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
        }
        let of = |wanted: usize| {
            (0..10_000).filter(move |trial| {
                bracket(&super::sizes(&range(1.0, 81.0)), *trial, seed) == wanted
            })
        };
        let mut history = epochs();
        // Bracket 4 begins at 1, bracket 3 at 3, bracket 0 has no rung.
        let (fours, threes): (Vec<u64>, Vec<u64>) =
            (of(4).take(3).collect(), of(3).take(2).collect());
        for (value, trial) in (1..).zip(fours.iter().chain(&threes)) {
            step(&mut history, *trial, 1.0, f64::from(value));
        }
        assert_eq!(verdict(&history, fours[0], Rule::Hyperband), Verdict::GoOn);
        assert_eq!(verdict(&history, fours[1], Rule::Hyperband), Verdict::Stop);
        assert_eq!(verdict(&history, threes[1], Rule::Hyperband), Verdict::GoOn, "no rung yet");
        step(&mut history, threes[0], 3.0, 8.0);
        assert_eq!(
            verdict(&history, threes[0], Rule::Hyperband),
            Verdict::GoOn,
            "first of its bracket"
        );
        step(&mut history, threes[1], 3.0, 9.0);
        assert_eq!(verdict(&history, threes[1], Rule::Hyperband), Verdict::Stop);
        let whole = of(0).next().unwrap();
        step(&mut history, whole, 80.0, 1e9);
        assert_eq!(verdict(&history, whole, Rule::Hyperband), Verdict::GoOn);
    }
}
