//! The fidelities at which a trial pauses and is decided upon anew.

use crate::goal::Fidelity;

/// How much farther the next stop is.
const RATIO: f64 = 1.5;
/// Where a new trial first stops, as a share of the way from low to high on the log scale: 3 of 51 epochs, 3 of 81.
const FIRST: f64 = 0.27;
/// A stop beyond this share of the whole is the end.
const NEAR: f64 = 0.92;

/// The stops of a range of fidelity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stops {
    low: f64,
    high: f64,
    /// Whether fidelities are counted: epochs, not shares of the data.
    counted: bool,
}

impl Stops {
    pub(super) fn of(range: &Fidelity) -> Self {
        let &Fidelity { low, high, .. } = range;
        Self { low, high, counted: low.fract() == 0.0 && high.fract() == 0.0 }
    }

    /// Up to where a new trial goes.
    pub(super) fn first(&self) -> f64 {
        let first = self.low * (self.high / self.low).powf(FIRST);
        self.end_if_near(if self.counted { first.round() } else { first })
    }

    /// The stop after a fidelity.
    pub(super) fn next(&self, at: f64) -> f64 {
        if at <= 0.0 {
            return self.first();
        }
        let next = RATIO * at;
        self.end_if_near(if self.counted { next.ceil() } else { next })
    }

    fn end_if_near(&self, at: f64) -> f64 {
        if at > NEAR * self.high { self.high } else { at }
    }

    /// Whether a model learns from a step, whose predecessor is at `before`: if it is the first at or above a stop, or above the
    /// fidelity from which the first stop would be the next.
    pub(super) fn between(&self, before: f64, at: f64) -> bool {
        let first = self.first();
        let early = if self.counted { (first / RATIO).round() } else { first / RATIO };
        let mut stop = early.max(self.low);
        while stop < at && stop <= before {
            stop = if stop < first { first } else { self.next(stop) };
        }
        before < stop && stop <= at
    }

    /// The way from low to high on the log scale, from 0 to 1.
    pub(super) fn way(&self, at: f64) -> f64 {
        ((at / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(low: f64, high: f64) -> Stops {
        Stops::of(&Fidelity { name: "epochs".into(), low, high })
    }

    #[test]
    fn stops_grow_by_half_up_to_the_end() {
        let stops = stops(1.0, 51.0);
        let mut all = vec![stops.next(0.0)];
        while all[all.len() - 1] < 51.0 {
            all.push(stops.next(all[all.len() - 1]));
        }
        assert_eq!(all, [3.0, 5.0, 8.0, 12.0, 18.0, 27.0, 41.0, 51.0]);
        let learnt: Vec<u32> =
            (1..=51).filter(|&at| stops.between(f64::from(at) - 1.0, f64::from(at))).collect();
        assert_eq!(learnt, [2, 3, 5, 8, 12, 18, 27, 41, 51]);
        // A report every ten epochs is learnt from wherever it passes a stop.
        let coarse: Vec<u32> = [10, 20, 30, 40, 51]
            .into_iter()
            .filter(|&at| stops.between(f64::from(at.max(10) - 10), f64::from(at)))
            .collect();
        assert_eq!(coarse, [10, 20, 30, 51]);
        assert_eq!((stops.way(1.0), stops.way(51.0)), (0.0, 1.0));
    }

    #[test]
    fn a_narrow_range_and_shares_have_stops_too() {
        let narrow = stops(9.0, 10.0);
        assert!(narrow.first() >= 9.0 && narrow.first() <= 10.0);
        assert_eq!(narrow.next(9.0), 10.0);
        let share = stops(0.01, 1.0);
        assert!(share.first() > 0.01 && share.first() < 0.1);
        assert!((share.next(0.1) - 0.15).abs() < 1e-12);
        assert_eq!(share.next(0.8), 1.0);
    }
}
