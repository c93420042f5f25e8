//! The trials that a region may learn from: a bounded list of those near its centre.
//!
//! Every trial with a value enters; when the list is full, the half nearest to the centre stays. What is kept depends on
//! history alone. A region that begins far from the others starts from their lists and a thinned list of all trials.
//!
//! Cost: O(d) a trial on average, O(`CAPACITY` d) to choose neighbours, however long history is.

use std::collections::VecDeque;

use crate::history::History;
use crate::points::squared_distance;

/// Trials that stay when the list is full.
const CAPACITY: usize = 768;

/// Indices into history, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cloud(Vec<usize>);

impl Cloud {
    /// All trials of several lists.
    pub(super) fn join<'c>(lists: impl IntoIterator<Item = &'c Self>) -> Self {
        let mut all: Vec<usize> =
            lists.into_iter().flat_map(|list| list.0.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// At most `count` trials at even distances in the list.
    pub(super) fn evenly(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied().step_by(self.0.len().div_ceil(count.max(1)).max(1))
    }

    /// Adds a trial.
    pub(super) fn push(&mut self, trial: usize, history: &History, centre: &[f64]) {
        self.0.push(trial);
        if self.0.len() >= 2 * CAPACITY {
            self.0 = self.nearest(CAPACITY, |x| squared_distance(x, centre), history);
        }
    }

    /// The `count` trials at the least distances, in the order of history.
    pub(super) fn nearest(
        &self,
        count: usize,
        mut distance: impl FnMut(&[f64]) -> f64,
        history: &History,
    ) -> Vec<usize> {
        if self.0.len() <= count {
            return self.0.clone();
        }
        let mut near: Vec<(f64, usize)> =
            self.0.iter().map(|&i| (distance(history.points().row(i)), i)).collect();
        near.select_nth_unstable_by(count, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut near: Vec<usize> = near[..count].iter().map(|&(_, i)| i).collect();
        near.sort_unstable();
        near
    }
}

/// The latest trials, up to a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Latest {
    trials: VecDeque<usize>,
    most: usize,
}

impl Latest {
    pub(super) fn new(most: usize) -> Self {
        Self { trials: VecDeque::with_capacity(most), most }
    }

    pub(super) fn push(&mut self, trial: usize) {
        if self.trials.len() == self.most {
            self.trials.pop_front();
        }
        self.trials.push_back(trial);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.trials.iter().copied()
    }
}

/// Every k-th trial, with the least power of two k for which the list stays short.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thinned {
    cloud: Cloud,
    stride: usize,
    seen: usize,
}

impl Default for Thinned {
    fn default() -> Self {
        Self { cloud: Cloud::default(), stride: 1, seen: 0 }
    }
}

impl Thinned {
    pub(super) fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    pub(super) fn push(&mut self, trial: usize) {
        if self.seen.is_multiple_of(self.stride) {
            self.cloud.0.push(trial);
        }
        self.seen += 1;
        if self.cloud.0.len() >= 2 * CAPACITY {
            let mut keep = [true, false].into_iter().cycle();
            self.cloud.0.retain(|_| keep.next().unwrap_or(true));
            self.stride *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    fn line(len: usize) -> History {
        let mut history = History::new(1);
        for i in 0..len {
            // A fixed order that is not that of the distances.
            let x = ((i * 7919) % len) as f64 / len as f64;
            history.push(&[x], Outcome::from(x)).unwrap();
        }
        history
    }

    #[test]
    fn the_nearest_trials_are_never_lost() {
        let history = line(10_000);
        let mut cloud = Cloud::default();
        (0..history.len()).for_each(|i| cloud.push(i, &history, &[0.3]));
        assert!(cloud.0.len() < 2 * CAPACITY);
        let all = Cloud((0..history.len()).collect());
        let distance = |x: &[f64]| (x[0] - 0.3).abs();
        assert_eq!(cloud.nearest(160, distance, &history), all.nearest(160, distance, &history));
    }

    #[test]
    fn a_thinned_list_is_even() {
        let mut thinned = Thinned::default();
        (0..100_000).for_each(|i| thinned.push(i));
        let kept = &thinned.cloud().0;
        assert!((CAPACITY..2 * CAPACITY).contains(&kept.len()));
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] == thinned.stride));
    }

    #[test]
    fn the_latest_are_kept() {
        let mut latest = Latest::new(3);
        (0..7).for_each(|i| latest.push(i));
        assert_eq!(latest.iter().collect::<Vec<_>>(), [4, 5, 6]);
    }
}
