//! Which trials `auto` never stops, and how often it may stop each of the others by mistake.
//!
//! ```text
//! n_t = control trials with a number below t,    g_t = ⌈n_t / 2⌉
//! α_t = max(α, 1 / (g_t + 1))                    the level of trial t; 0 for a control trial
//! t is a control trial:  t < ⌈1/α⌉,  or t is a multiple of ten,  or Σ_{i<t} α_i + α_t > α (t + 1)
//! ```
//! Every trial brings α, and one that may be stopped takes its level: the sum of the first N levels is at most α N for every N. That is all
//! that the promise needs (docs/guide/theory.md, Theorem 6, Claim 3). The first control trials bring what the next trials take, so that
//! trials are stopped long before 1/α - 1 good control trials are there.
//!
//! Once there are 2(⌈1/α⌉ - 1) control trials, every level is α, and every tenth trial is a control trial.
//!
//! Cost: O(20/α) once.

/// After the first control trials, at least one in so many is one.
const EVERY: u64 = 10;
/// A level is 1/(g + 1) up to rounding.
const ROUNDING: f64 = 1e-9;

/// The fewest good control trials that allow a verdict at a level: g ≥ 1/level - 1.
pub(super) fn least(level: f64) -> usize {
    ((1.0 / level - ROUNDING).ceil() - 1.0).max(1.0) as usize
}

/// How many trials are carried out in full before the first can be stopped: ⌈1/α⌉, for α = `wrong-stop`.
pub(super) fn carried_out_first(wrong_stop: f64) -> u64 {
    (1.0 / wrong_stop - ROUNDING).ceil() as u64
}

/// The levels of trials by their number.
#[derive(Debug)]
pub(super) struct Schedule {
    wrong_stop: f64,
    /// Of the first trials; 0 for control trials.
    levels: Vec<f64>,
    /// Control trials among these, and the levels in sum.
    controls: usize,
    spent: f64,
}

impl Schedule {
    /// Of trials up to this one, and beyond.
    pub(super) fn to(wrong_stop: f64, trial: u64) -> Self {
        let mut schedule = Self { wrong_stop, levels: Vec::new(), controls: 0, spent: 0.0 };
        schedule.extend(trial);
        schedule
    }

    /// Makes it know this trial.
    pub(super) fn extend(&mut self, trial: u64) {
        let enough = 2 * least(self.wrong_stop);
        let first = carried_out_first(self.wrong_stop);
        while self.controls < enough && self.levels.len() as u64 <= trial {
            let number = self.levels.len() as u64;
            let good = self.controls.div_ceil(2);
            let level = self.wrong_stop.max(1.0 / (good + 1) as f64);
            let most = self.wrong_stop * (number + 1) as f64 + ROUNDING;
            if number < first || number.is_multiple_of(EVERY) || self.spent + level > most {
                self.controls += 1;
                self.levels.push(0.0);
            } else {
                self.spent += level;
                self.levels.push(level);
            }
        }
    }

    /// How often a trial may be stopped although it is good; `None` for a control trial.
    pub(super) fn level(&self, trial: u64) -> Option<f64> {
        let early = usize::try_from(trial).ok().and_then(|trial| self.levels.get(trial));
        let later = if trial.is_multiple_of(EVERY) { 0.0 } else { self.wrong_stop };
        Some(early.copied().unwrap_or(later)).filter(|level| *level > 0.0)
    }

    /// Whether a trial is carried out in full, whatever its curve.
    pub(super) fn is_control(&self, trial: u64) -> bool {
        self.level(trial).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_never_take_more_than_trials_brought() {
        assert_eq!([0.05, 0.1, 0.2, 0.3, 0.5, 0.9].map(carried_out_first), [20, 10, 5, 4, 2, 2]);
        for wrong_stop in [0.003, 0.05, 0.07, 0.1, 0.2, 0.5, 0.9] {
            let schedule = Schedule::to(wrong_stop, 3000);
            let (mut sum, mut controls) = (0.0, 0_usize);
            for trial in 0..3000 {
                match schedule.level(trial) {
                    Some(level) => {
                        // Half of the control trials before it are enough good ones.
                        assert!(level >= wrong_stop && least(level) <= controls.div_ceil(2));
                        sum += level;
                    }
                    None => controls += 1,
                }
                let brought = wrong_stop * (trial + 1) as f64;
                assert!(sum <= brought + 1e-6, "{wrong_stop}: {sum} of {brought} at {trial}");
            }
        }
    }

    #[test]
    fn with_a_promise_of_one_in_twenty_a_third_of_a_hundred_trials_are_controls() {
        let schedule = Schedule::to(0.05, 400);
        let controls = |trials: u64| (0..trials).filter(|t| schedule.is_control(*t)).count();
        assert_eq!([20, 40, 60, 100, 200, 400].map(controls), [20, 22, 24, 32, 42, 62]);
        // Known piece by piece, it is the same; beyond what was asked for, it goes on.
        let mut other = Schedule::to(0.05, 3);
        (4..400).for_each(|trial| other.extend(trial));
        assert!((0..1000).all(|trial| other.level(trial) == schedule.level(trial)));
        assert_eq!((schedule.level(1001), schedule.level(1010)), (Some(0.05), None));
    }
}
