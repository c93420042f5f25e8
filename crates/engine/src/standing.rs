//! Which trials stand out: those that no other dominates among those that meet all constraints.
//!
//! Trials come one at a time, by their numbers and with their values as told. A trial that misses a constraint is
//! *violating*: it is on no front and no best, however good its objectives are.
//!
//! # Total violation
//! As long as every trial is violating, the one with the smallest total violation comes nearest. The total is that by which methods order
//! such trials (`violation.rs`): each constraint in units of its own, and one that is given twice counts once.
//!
//! # Hypervolume
//! Its reference point is given with the objectives; a coordinate that is not given is inferred from the front, a tenth
//! of the front's extent beyond its worst value ([`pareto::reference_point`]). An inferred point moves with the front, so
//! that only hypervolumes up to a given point can be compared over time.
//!
//! Cost: that of [`pareto::Front::insert`] a trial; nothing is computed again. Memory: the front, ten leaders, and the
//! violations of all trials until the first trial meets all constraints.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::goal::{Goal, Objective};
use crate::outcome::Measurement;
use crate::pareto::{self, Front, Hypervolume, Placement};
use crate::points::Points;
use crate::seed::Seed;
use crate::violation::{FIRST, Violation};

/// How many of the best trials are kept at hand.
const LEADERS: usize = 10;
/// Rows that left the front are forgotten when so many more than half of the kept rows may be such.
const SLACK: usize = 64;

/// The trials that stand out so far.
#[derive(Debug, Clone)]
pub struct Standing {
    goal: Goal,
    /// Of the objectives, turned so that low is good, of the trials that meet all constraints.
    front: Front,
    /// The trials behind the rows of the front, by the rows' numbers; also some that have left it.
    rows: BTreeMap<usize, Row>,
    /// How many rows there are at least when those that left the front are forgotten.
    crowded: usize,
    /// The best by the first objective: of those that meet all constraints, the earlier of equal ones first.
    leaders: Vec<(f64, u64)>,
    violating: u64,
    /// By how much each trial exceeds each limit, until one meets them all.
    violations: Vec<(u64, Box<[f64]>)>,
    /// By how much the first measurements exceed each limit, constraint by constraint: what totals are measured by.
    first: Vec<Vec<f64>>,
    /// The fidelity of the trials that are compared: the highest reached; infinite for whole evaluations.
    reached: f64,
}

#[derive(Debug, Clone)]
struct Row {
    trial: u64,
    values: Box<[f64]>,
}

/// The trial that comes nearest to meeting all constraints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Its number.
    pub trial: u64,
    /// Its total violation: how much it misses each constraint, in units of the constraint's median distance from its limit over the first 20
    /// measurements, summed.
    pub violation: f64,
}

impl Standing {
    /// No trials yet.
    pub fn new(goal: Goal) -> Self {
        let mut front = Front::new(goal.objectives().len()).expect("a goal has an objective");
        if let Some(reference) = given(&goal).into_iter().collect::<Option<Vec<f64>>>() {
            front.set_reference(&reference).expect("a goal has finite references");
        }
        Self {
            first: vec![Vec::new(); goal.constraints().len()],
            goal,
            front,
            rows: BTreeMap::new(),
            crowded: SLACK,
            leaders: Vec::new(),
            violating: 0,
            violations: Vec::new(),
            reached: 0.0,
        }
    }

    /// Adds a trial with its measurement as told. Only trials of the highest fidelity reached are compared: one of a
    /// lower fidelity is no candidate, and the first of a higher one puts all before it aside.
    ///
    /// # Errors
    /// If the measurement does not fit the goal; nothing changes then.
    pub fn push(&mut self, trial: u64, measurement: &Measurement) -> Result<()> {
        self.goal.check(trial, measurement)?;
        let gaps: Box<[f64]> = self.goal.gaps(measurement).collect();
        for (first, gap) in
            self.first.iter_mut().zip(&gaps).filter(|(first, _)| first.len() < FIRST)
        {
            first.push(*gap);
        }
        let fidelity = self.goal.part(measurement).unwrap_or(f64::INFINITY);
        if fidelity < self.reached {
            return Ok(());
        }
        if fidelity > self.reached {
            let first = std::mem::take(&mut self.first);
            *self = Self { reached: fidelity, first, ..Self::new(self.goal.clone()) };
        }
        if self.goal.is_violated_by(measurement) {
            self.violating += 1;
            if self.front.is_empty() {
                self.violations.push((trial, gaps));
            }
            return Ok(());
        }
        let turned = self.goal.turn(measurement);
        let values: Box<[f64]> = turned.objectives.iter().map(|measured| measured.value).collect();
        self.lead(trial, values[0]);
        self.violations = Vec::new();
        let number = self.front.seen();
        if self.front.insert(&values)? != Placement::Dominated {
            self.rows.insert(number, Row { trial, values });
        }
        if self.rows.len() > self.crowded {
            let kept = self.front.numbers();
            self.rows.retain(|number, _| kept.binary_search(number).is_ok());
            self.crowded = 2 * self.rows.len() + SLACK;
        }
        Ok(())
    }

    fn lead(&mut self, trial: u64, value: f64) {
        let rank = self.leaders.partition_point(|&(other, _)| other <= value);
        self.leaders.insert(rank, (value, trial));
        self.leaders.truncate(LEADERS);
    }

    /// What the trials are for.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The fidelity of the trials that stand out, if none of the highest fidelity is known yet.
    pub fn reached(&self) -> Option<f64> {
        Some(self.reached).filter(|reached| *reached > 0.0 && reached.is_finite())
    }

    /// How many trials meet all constraints.
    pub fn meeting(&self) -> u64 {
        self.front.seen() as u64
    }

    /// How many trials miss a constraint.
    pub fn violating(&self) -> u64 {
        self.violating
    }

    /// The trials on the front, best first by the first objective.
    pub fn front(&self) -> Vec<u64> {
        self.on_front().iter().map(|row| row.trial).collect()
    }

    /// How many trials are on the front; those with equal values count each.
    pub fn len(&self) -> usize {
        self.front.numbers().len()
    }

    /// Whether no trial meets all constraints yet.
    pub fn is_empty(&self) -> bool {
        self.front.is_empty()
    }

    fn on_front(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> =
            self.front.numbers().iter().filter_map(|number| self.rows.get(number)).collect();
        rows.sort_by(|a, b| {
            let differing = a.values.iter().zip(&b.values).map(|(a, b)| a.total_cmp(b));
            differing.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        });
        rows
    }

    /// The best trials by the first objective, best first, ten at most; only trials that meet all constraints.
    pub fn leaders(&self) -> impl Iterator<Item = u64> + '_ {
        self.leaders.iter().map(|&(_, trial)| trial)
    }

    /// The trial with the smallest total violation, as long as no trial meets all constraints.
    pub fn nearest(&self) -> Option<Nearest> {
        let violation = Violation::from_gaps(&self.first);
        let all = self.violations.iter();
        all.map(|(trial, gaps)| Nearest { trial: *trial, violation: violation.total_of(gaps) })
            .min_by(|a, b| a.violation.total_cmp(&b.violation).then(a.trial.cmp(&b.trial)))
    }

    /// The reference point of the hypervolume, as the user gives values; `None` without a front.
    pub fn reference(&self) -> Option<Vec<f64>> {
        let objectives = self.goal.objectives().iter().zip(self.turned_reference()?);
        Some(objectives.map(|(objective, value)| objective.direction.turn(value)).collect())
    }

    fn turned_reference(&self) -> Option<Vec<f64>> {
        let inferred = pareto::reference_point(&self.front.values()).ok()?;
        let given = given(&self.goal).into_iter().zip(inferred);
        Some(given.map(|(given, inferred)| given.unwrap_or(inferred)).collect())
    }

    /// The hypervolume of the front; 0 without one. Exact for up to three objectives, and else as long as that is
    /// affordable; otherwise an estimate with its error.
    ///
    /// # Errors
    /// If the extent of the values is not finite.
    pub fn hypervolume(&self) -> Result<Hypervolume> {
        if let Some(value) = self.front.area() {
            return Ok(Hypervolume { value, deviation: 0.0 });
        }
        let Some(reference) = self.turned_reference() else {
            return Ok(Hypervolume { value: 0.0, deviation: 0.0 });
        };
        let rng = &mut Seed(0).stream("hypervolume of a front", 0);
        pareto::hypervolume(&self.front.values(), &reference, rng)
    }

    /// The trials of the front that are not better than the reference point in every objective, and so add nothing to the
    /// hypervolume: the point lies inside the front. An inferred point never does.
    pub fn beyond_reference(&self) -> Vec<u64> {
        let Some(reference) = self.turned_reference() else { return Vec::new() };
        let beyond =
            |row: &&Row| row.values.iter().zip(&reference).any(|(value, corner)| value >= corner);
        self.on_front().into_iter().filter(beyond).map(|row| row.trial).collect()
    }

    /// The values of the trials on the front, turned so that low is good, in the order of [`front`](Self::front).
    pub fn values(&self) -> Points {
        Points::from_rows(
            self.goal.objectives().len(),
            self.on_front().iter().map(|row| &*row.values),
        )
    }
}

/// The given coordinates of the reference point, turned so that low is good.
fn given(goal: &Goal) -> Vec<Option<f64>> {
    let turned = |Objective { direction, reference, .. }: &Objective| {
        reference.map(|reference| direction.turn(reference))
    };
    goal.objectives().iter().map(turned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Direction};
    use crate::history::History;
    use proptest::prelude::*;

    /// Error and accuracy, memory at most 8 and speed at least 2.
    fn goal(references: [Option<f64>; 2]) -> Goal {
        let [error, accuracy] = references;
        let error = Objective { reference: error, ..Objective::minimise("error") };
        let accuracy = Objective { reference: accuracy, ..Objective::maximise("accuracy") };
        let goal = Goal::new([error, accuracy]).unwrap();
        goal.limit("memory", Bound::AtMost(8.0))
            .and_then(|goal| goal.limit("speed", Bound::AtLeast(2.0)))
            .unwrap()
    }

    fn told(objectives: [f64; 2], constraints: [f64; 2]) -> Measurement {
        Measurement {
            objectives: objectives.map(Into::into).to_vec(),
            constraints: constraints.map(Into::into).to_vec(),
            fidelity: None,
        }
    }

    #[test]
    fn the_front_is_of_those_that_meet_and_before_that_the_nearest_is_known() {
        let mut standing = Standing::new(goal([None, None]));
        assert_eq!(
            (standing.front(), standing.nearest(), standing.reference()),
            (vec![], None, None)
        );
        assert_eq!(standing.hypervolume().unwrap().value, 0.0);
        // Distances from the limits: of memory 10, 1, 4, 4 with the median 4; of speed 7, 1, .5, .5 with the median 1. They do not rise together, so
        // that both count in full: totals 10/4 + 0, 1/4 + 1, 4/4 + .5, the same again.
        let rows = [(18.0, 9.0), (9.0, 1.0), (12.0, 1.5), (12.0, 1.5)];
        let mut history = History::of(1, standing.goal().clone());
        for (trial, (memory, speed)) in rows.into_iter().enumerate() {
            let measurement = told([0.0, 1.0], [memory, speed]);
            standing.push(trial as u64, &measurement).unwrap();
            history.push(&[0.1 * trial as f64], standing.goal().turn(&measurement)).unwrap();
        }
        let nearest = standing.nearest().unwrap();
        assert_eq!((nearest.trial, nearest.violation), (1, 1.25));
        // It is what methods order trials by.
        let totals = Violation::of(&history);
        assert_eq!(totals.total(&history, 1), Some(nearest.violation));
        assert!((0..4).all(|i| totals.total(&history, i) >= Some(nearest.violation)));
        assert_eq!((standing.meeting(), standing.violating(), standing.is_empty()), (0, 4, true));
        standing.push(7, &told([0.5, 0.75], [8.0, 2.0])).unwrap();
        standing.push(5, &told([0.25, 0.5], [1.0, 3.0])).unwrap();
        standing.push(6, &told([0.5, 0.5], [1.0, 3.0])).unwrap();
        standing.push(8, &told([0.0, 1.0], [9.0, 3.0])).unwrap();
        assert_eq!((standing.front(), standing.nearest()), (vec![5, 7], None));
        assert_eq!((standing.meeting(), standing.violating(), standing.len()), (3, 5, 2));
        assert_eq!(standing.leaders().collect::<Vec<_>>(), [5, 7, 6]);
        // A tenth of the extent beyond the worst: error .5 + .025, accuracy .5 - .025.
        assert_eq!(standing.reference(), Some(vec![0.525, 0.475]));
        let by_hand = 0.025 * 0.275 + 0.25 * 0.025;
        assert!((standing.hypervolume().unwrap().value - by_hand).abs() < 1e-15);
        assert!(standing.beyond_reference().is_empty());
        assert!(standing.push(9, &1.0.into()).is_err());
        assert_eq!(standing.meeting(), 3, "a refused measurement changes nothing");
    }

    #[test]
    fn the_highest_fidelity_reached_stands_and_a_whole_trial_puts_all_others_aside() {
        let goal = goal([None, None]).fidelity("epochs", 1.0, 9.0).unwrap();
        let mut standing = Standing::new(goal);
        let at = |fidelity, error| Measurement { fidelity, ..told([error, 0.5], [1.0, 3.0]) };
        standing.push(0, &at(Some(3.0), 0.5)).unwrap();
        standing.push(1, &at(Some(1.0), 0.1)).unwrap();
        assert_eq!((standing.front(), standing.reached()), (vec![0], Some(3.0)));
        standing.push(2, &at(Some(3.0), 0.4)).unwrap();
        assert_eq!((standing.front(), standing.meeting()), (vec![2], 2));
        // The highest fidelity may be given as a number, or left out.
        standing.push(3, &at(Some(9.0), 0.9)).unwrap();
        standing.push(4, &at(None, 0.8)).unwrap();
        standing.push(5, &at(Some(8.0), 0.1)).unwrap();
        assert_eq!((standing.front(), standing.reached()), (vec![4], None));
        assert_eq!(standing.leaders().collect::<Vec<_>>(), [4, 3]);
    }

    #[test]
    fn a_given_reference_stays_and_what_is_beyond_it_is_named() {
        let mut standing = Standing::new(goal([Some(0.5), Some(0.0)]));
        standing.push(1, &told([0.5, 0.75], [1.0, 3.0])).unwrap();
        standing.push(2, &told([0.25, 0.5], [1.0, 3.0])).unwrap();
        assert_eq!(standing.reference(), Some(vec![0.5, 0.0]));
        assert_eq!(standing.hypervolume().unwrap().value, 0.25 * 0.5);
        assert_eq!(standing.beyond_reference(), [1]);
        // One coordinate given, the other inferred.
        let mut standing = Standing::new(goal([Some(2.0), None]));
        standing.push(1, &told([0.5, 0.75], [1.0, 3.0])).unwrap();
        standing.push(2, &told([0.25, 0.5], [1.0, 3.0])).unwrap();
        assert_eq!(standing.reference(), Some(vec![2.0, 0.475]));
        let by_hand = 1.75 * 0.025 + 1.5 * 0.25;
        assert!((standing.hypervolume().unwrap().value - by_hand).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn one_at_a_time_is_as_all_at_once(
            rows in proptest::collection::vec((0..7_i32, 0..7_i32, 0..7_i32, 0..4_i32), 0..300),
        ) {
            let goal = Goal::new([
                Objective::minimise("a").reference(9.0),
                Objective::maximise("b").reference(-1.0),
                Objective::minimise("c").reference(9.0),
            ])
            .and_then(|goal| goal.limit("d", Bound::AtMost(2.0)))
            .unwrap();
            let mut standing = Standing::new(goal.clone());
            let mut meeting = Vec::new();
            for (trial, &(a, b, c, d)) in rows.iter().enumerate() {
                let objectives = [a, b, c].map(|value| f64::from(value).into()).to_vec();
                let constraints = vec![f64::from(d).into()];
                let told = Measurement { objectives, constraints, fidelity: None };
                standing.push(trial as u64, &told).unwrap();
                if d <= 2 {
                    let b = Direction::Maximise.turn(f64::from(b));
                    meeting.push((trial as u64, [f64::from(a), b, f64::from(c)]));
                }
            }
            let all = Points::from_rows(3, meeting.iter().map(|(_, row)| row));
            let mut expected: Vec<u64> =
                pareto::front(&all).unwrap().into_iter().map(|i| meeting[i].0).collect();
            let mut found = standing.front();
            prop_assert!(standing.values().rows().is_sorted_by(|a, b| a[0] <= b[0]));
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
            let rng = &mut Seed(0).stream("test", 0);
            let volume = pareto::hypervolume(&all, &[9.0, 1.0, 9.0], rng).unwrap().value;
            prop_assert!((standing.hypervolume().unwrap().value - volume).abs() <= 1e-9 * volume);
            let mut leaders = meeting.clone();
            leaders.sort_by(|a, b| a.1[0].total_cmp(&b.1[0]).then(a.0.cmp(&b.0)));
            let leaders: Vec<u64> = leaders.iter().take(LEADERS).map(|(trial, _)| *trial).collect();
            prop_assert_eq!(standing.leaders().collect::<Vec<_>>(), leaders);
        }
    }
}
