//! The front of two objectives as steps: from left to right, the first value rises and the second falls.
//!
//! The structure behind everything that is sorted in two objectives, or swept in three: it finds what covers a point and
//! what a point removes by the first value, and keeps the area between the steps and a corner up to date.
//!
//! Cost: O(log n) to look; O(log n) to insert, amortised, since a step is removed at most once.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A finite value as a key; -0 is stored as 0.
#[derive(Debug, Clone, Copy)]
struct Key(f64);

impl Key {
    fn new(value: f64) -> Self {
        Self(value + 0.0)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// A step: its second value, and what is kept with it.
#[derive(Debug, Clone)]
struct Step<T> {
    height: f64,
    kept: T,
}

/// What became of a point that was inserted.
pub(super) enum Landing<'s, T> {
    /// A step dominates it.
    Dominated,
    /// A step is equal to it; here is what is kept with that step.
    Equal(&'s mut T),
    /// It is a step now; here is what was kept with the steps that it removed.
    Step(Vec<T>),
}

/// Points of two values, none of which covers another.
#[derive(Debug, Clone)]
pub(super) struct Staircase<T> {
    steps: BTreeMap<Key, Step<T>>,
    /// The corner up to which area is counted, if it is.
    corner: Option<[f64; 2]>,
    area: f64,
}

impl<T> Staircase<T> {
    /// No steps; area is counted up to `corner`.
    pub fn new(corner: Option<[f64; 2]>) -> Self {
        Self { steps: BTreeMap::new(), corner, area: 0.0 }
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The area between the steps and the corner.
    pub fn area(&self) -> Option<f64> {
        self.corner.map(|_| self.area)
    }

    /// The steps from left to right, with what is kept with them.
    pub fn iter(&self) -> impl Iterator<Item = ([f64; 2], &T)> {
        self.steps.iter().map(|(key, step)| ([key.0, step.height], &step.kept))
    }

    /// Whether a step is nowhere higher than the point.
    pub fn covers(&self, point: [f64; 2]) -> bool {
        // Of the steps at or left of the point, the last is the lowest.
        let last = self.steps.range(..=Key::new(point[0])).next_back();
        last.is_some_and(|(_, step)| step.height <= point[1])
    }

    /// Inserts a point and what to keep with it.
    pub fn insert(&mut self, point: [f64; 2], kept: T) -> Landing<'_, T> {
        let (key, height) = (Key::new(point[0]), point[1]);
        if self.covers(point) {
            let equal = |step: &&mut Step<T>| step.height == height;
            return match self.steps.get_mut(&key).filter(equal) {
                Some(step) => Landing::Equal(&mut step.kept),
                None => Landing::Dominated,
            };
        }
        let left = self.steps.range(..key).next_back().map(|(_, step)| step.height);
        let mut gain = Gain::new(self.corner, point, left);
        let mut removed = Vec::new();
        while let Some((&next, step)) = self.steps.range(key..).next() {
            gain.reach(next.0, step.height);
            if step.height < height {
                break;
            }
            removed.extend(self.steps.remove(&next).map(|step| step.kept));
        }
        self.area += gain.finish();
        self.steps.insert(key, Step { height, kept });
        Landing::Step(removed)
    }

    /// Counts area up to another corner. Cost: O(n).
    pub fn set_corner(&mut self, corner: Option<[f64; 2]>) {
        self.corner = corner;
        let Some([right, top]) = corner else { return };
        self.area = 0.0;
        let mut above = top;
        for (key, step) in &self.steps {
            let height = step.height.min(top);
            self.area += (right - key.0).max(0.0) * (above - height);
            above = height;
        }
    }
}

/// The area that a point adds, in strips from left to right: each from the point up to the steps that were there.
struct Gain {
    corner: Option<[f64; 2]>,
    height: f64,
    /// Where the current strip begins.
    from: f64,
    /// Its upper end.
    above: f64,
    area: f64,
    finished: bool,
}

impl Gain {
    /// `left` is the height of the step before the point.
    fn new(corner: Option<[f64; 2]>, point: [f64; 2], left: Option<f64>) -> Self {
        let [right, top] = corner.unwrap_or_default();
        let above = left.map_or(top, |left| left.min(top));
        let (from, height) = (point[0].min(right), point[1].min(top));
        Self { corner, height, from, above, area: 0.0, finished: false }
    }

    /// The next step begins at `x`. One that is below the point ends what the point adds.
    fn reach(&mut self, x: f64, height: f64) {
        let [right, top] = self.corner.unwrap_or_default();
        let x = x.min(right);
        if !self.finished {
            self.area += (x - self.from) * (self.above - self.height);
        }
        self.from = x;
        self.above = height.min(top);
        self.finished |= self.above < self.height;
    }

    fn finish(mut self) -> f64 {
        let [right, _] = self.corner.unwrap_or_default();
        if !self.finished {
            self.area += (right - self.from) * (self.above - self.height);
        }
        if self.corner.is_some() { self.area } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;

    #[test]
    fn a_point_removes_what_it_dominates_and_only_that() {
        let mut stairs = Staircase::new(Some([10.0, 10.0]));
        for (i, point) in [[1.0, 8.0], [3.0, 5.0], [4.0, 4.0], [7.0, 1.0]].into_iter().enumerate() {
            assert!(
                matches!(stairs.insert(point, i), Landing::Step(removed) if removed.is_empty())
            );
        }
        // 9·2 + 7·3 + 6·1 + 3·3.
        assert_eq!(stairs.area(), Some(54.0));
        assert!(
            matches!(stairs.insert([2.0, 3.0], 4), Landing::Step(removed) if removed == [1, 2])
        );
        // 9·2 + 8·5 + 3·2.
        assert_eq!(stairs.area(), Some(64.0));
        assert!(matches!(stairs.insert([2.0, 3.0], 5), Landing::Equal(4)));
        assert!(matches!(stairs.insert([2.0, 4.0], 6), Landing::Dominated));
        assert!(matches!(stairs.insert([3.0, 3.0], 7), Landing::Dominated));
        assert_eq!(stairs.len(), 3);
    }

    proptest! {
        #[test]
        fn the_area_is_the_hypervolume_and_does_not_depend_on_when_the_corner_came(
            rows in naive::rows(Just(2), 12), corner in [0..10_i32, 0..10_i32],
        ) {
            let corner = corner.map(f64::from);
            let mut early = Staircase::new(Some(corner));
            let mut late = Staircase::new(None);
            for row in rows.rows() {
                early.insert([row[0], row[1]], ());
                late.insert([row[0], row[1]], ());
            }
            late.set_corner(Some(corner));
            // Whole numbers: every step is exact.
            let expected = naive::hypervolume(&rows, &corner);
            prop_assert_eq!(early.area(), Some(expected));
            prop_assert_eq!(late.area(), Some(expected));
        }
    }
}
