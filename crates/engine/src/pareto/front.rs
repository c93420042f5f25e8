//! The non-dominated front: of rows that are all there, and of rows that come one at a time.
//!
//! [`Front`] never looks at a row again that it has once found dominated: dominance is transitive, so whatever that row
//! would dominate, the front dominates too. A million trials therefore cost a million insertions and no recomputation.

use super::staircase::{Landing, Staircase};
use super::{check_reference, check_values, covers, in_order};
use crate::error::{Error, Result};
use crate::points::Points;

/// The numbers of the rows on the front, ascending; rows that are equal to one on the front are on it.
///
/// # Errors
/// If a value is not finite.
pub fn front(values: &Points) -> Result<Vec<usize>> {
    check_values(values.rows())?;
    let mut front = front_in_order(values);
    front.sort_unstable();
    Ok(front)
}

/// The numbers of the rows on the front of finite values, in lexicographic order of the rows.
pub(super) fn front_in_order(values: &Points) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    // The last two objectives of the rows met so far, for three objectives.
    let mut stairs = Staircase::new(None);
    // The least second value met so far, for two.
    let mut least = f64::INFINITY;
    let mut last: Option<usize> = None;
    for i in in_order(values) {
        let row = values.row(i);
        if last.is_some_and(|last| values.row(last) == row) {
            // Equal rows are neighbours: what holds for the first of them holds for all.
            if kept.last() == last.as_ref() {
                kept.push(i);
                last = Some(i);
            }
            continue;
        }
        last = Some(i);
        let dominated = match *row {
            // The order is that of the only value: all but the first are dominated.
            [_] => !kept.is_empty(),
            [_, b] => {
                let dominated = least <= b;
                least = least.min(b);
                dominated
            }
            [_, b, c] => {
                matches!(stairs.insert([b, c], ()), Landing::Dominated | Landing::Equal(_))
            }
            _ => kept.iter().any(|&j| covers(values.row(j), row)),
        };
        if !dominated {
            kept.push(i);
        }
    }
    kept
}

/// What became of a row that was inserted into a [`Front`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// A row of the front dominates it.
    Dominated,
    /// A row of the front is equal to it; it joins that row.
    Equal,
    /// It is on the front now.
    Joined {
        /// How many rows, equal ones counted each, it removed from the front.
        removed: usize,
    },
}

/// A front to which rows are added one at a time. Rows are numbered from 0 in the order in which they come.
#[derive(Debug, Clone)]
pub struct Front {
    objectives: usize,
    reference: Option<Vec<f64>>,
    seen: usize,
    rows: Rows,
}

/// The numbers of the trials with the same values.
type Numbers = Vec<usize>;

#[derive(Debug, Clone)]
enum Rows {
    /// Two objectives: in order of the first.
    Two(Staircase<Numbers>),
    /// Any other number of them: in the order of insertion.
    Any(Vec<(Box<[f64]>, Numbers)>),
}

impl Front {
    /// An empty front of `objectives` objectives.
    ///
    /// # Errors
    /// If there is no objective.
    pub fn new(objectives: usize) -> Result<Self> {
        let rows = match objectives {
            0 => return Err(Error::invalid("the number of objectives", 0, "at least 1")),
            2 => Rows::Two(Staircase::new(None)),
            _ => Rows::Any(Vec::new()),
        };
        Ok(Self { objectives, reference: None, seen: 0, rows })
    }

    /// Sets the reference point up to which the hypervolume is counted. Cost: O(f) for two objectives.
    ///
    /// # Errors
    /// If it has the wrong length or is not finite.
    pub fn set_reference(&mut self, reference: &[f64]) -> Result<()> {
        check_reference(reference, self.objectives)?;
        if let Rows::Two(stairs) = &mut self.rows {
            stairs.set_corner(Some([reference[0], reference[1]]));
        }
        self.reference = Some(reference.to_vec());
        Ok(())
    }

    /// Adds a row and says where it stands.
    ///
    /// # Errors
    /// If it has the wrong length, or a value is not finite; the front is then as it was.
    pub fn insert(&mut self, row: &[f64]) -> Result<Placement> {
        if row.len() != self.objectives {
            let allowed = format!("of length {}, the number of objectives", self.objectives);
            return Err(Error::invalid("the row", format!("{row:?}"), allowed));
        }
        check_values([row])?;
        let number = self.seen;
        self.seen += 1;
        Ok(match &mut self.rows {
            Rows::Two(stairs) => match stairs.insert([row[0], row[1]], vec![number]) {
                Landing::Dominated => Placement::Dominated,
                Landing::Equal(numbers) => {
                    numbers.push(number);
                    Placement::Equal
                }
                Landing::Step(removed) => {
                    Placement::Joined { removed: removed.iter().map(Vec::len).sum() }
                }
            },
            Rows::Any(rows) => insert_any(rows, row, number),
        })
    }

    /// How many rows were inserted, the dominated ones included.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// How many different rows are on the front.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Two(stairs) => stairs.len(),
            Rows::Any(rows) => rows.len(),
        }
    }

    /// Whether no row was inserted yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of the rows on the front, ascending.
    pub fn numbers(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = match &self.rows {
            Rows::Two(stairs) => stairs.iter().flat_map(|(_, numbers)| numbers).copied().collect(),
            Rows::Any(rows) => rows.iter().flat_map(|(_, numbers)| numbers).copied().collect(),
        };
        numbers.sort_unstable();
        numbers
    }

    /// The different rows on the front, in lexicographic order.
    pub fn values(&self) -> Points {
        match &self.rows {
            Rows::Two(stairs) => Points::from_rows(2, stairs.iter().map(|(row, _)| row)),
            Rows::Any(rows) => {
                let values = Points::from_rows(self.objectives, rows.iter().map(|(row, _)| row));
                Points::from_rows(self.objectives, in_order(&values).iter().map(|&i| values.row(i)))
            }
        }
    }

    /// Whether a row of the front is nowhere higher than `row`: inserting it would leave the front's values as they are.
    /// `row` must have a value for each objective.
    pub fn covers(&self, row: &[f64]) -> bool {
        match &self.rows {
            Rows::Two(stairs) => stairs.covers([row[0], row[1]]),
            Rows::Any(rows) => rows.iter().any(|(other, _)| covers(other, row)),
        }
    }

    /// The reference point, if one was set.
    pub fn reference(&self) -> Option<&[f64]> {
        self.reference.as_deref()
    }

    /// The area that the front dominates, kept up to date by every insertion: of two objectives with a reference point.
    /// For other fronts it is [`hypervolume`](super::hypervolume) of [`values`](Self::values).
    ///
    /// Each insertion adds what it gains, so that after n of them the relative error is at most some n ε.
    pub fn area(&self) -> Option<f64> {
        match &self.rows {
            Rows::Two(stairs) => stairs.area(),
            Rows::Any(_) => None,
        }
    }
}

fn insert_any(rows: &mut Vec<(Box<[f64]>, Numbers)>, row: &[f64], number: usize) -> Placement {
    if let Some((other, numbers)) = rows.iter_mut().find(|(other, _)| covers(other, row)) {
        if **other != *row {
            return Placement::Dominated;
        }
        numbers.push(number);
        return Placement::Equal;
    }
    let mut removed = 0;
    rows.retain(|(other, numbers)| {
        let dominated = covers(row, other);
        removed += if dominated { numbers.len() } else { 0 };
        !dominated
    });
    rows.push((row.into(), vec![number]));
    Placement::Joined { removed }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;

    #[test]
    fn equal_rows_share_their_place() {
        for objectives in [1, 2, 3, 4] {
            let row = |value: f64| vec![value; objectives];
            let rows = Points::from_rows(objectives, [row(1.0), row(0.0), row(-0.0), row(2.0)]);
            assert_eq!(front(&rows).unwrap(), [1, 2]);
            let mut front = Front::new(objectives).unwrap();
            assert_eq!(front.insert(&row(1.0)), Ok(Placement::Joined { removed: 0 }));
            assert_eq!(front.insert(&row(1.0)), Ok(Placement::Equal));
            assert_eq!(front.insert(&row(0.0)), Ok(Placement::Joined { removed: 2 }));
            assert_eq!(front.insert(&row(-0.0)), Ok(Placement::Equal));
            assert_eq!(front.insert(&row(2.0)), Ok(Placement::Dominated));
            assert_eq!((front.numbers(), front.len(), front.seen()), (vec![2, 3], 1, 5));
        }
    }

    #[test]
    fn a_refused_row_leaves_the_front_as_it_was() {
        let mut front = Front::new(2).unwrap();
        front.insert(&[1.0, 2.0]).unwrap();
        assert!(front.insert(&[0.0, f64::NAN]).is_err());
        assert!(front.insert(&[0.0]).is_err());
        assert_eq!((front.numbers(), front.seen()), (vec![0], 1));
        assert!(Front::new(0).is_err());
    }

    proptest! {
        #[test]
        fn both_fronts_are_the_rows_that_no_other_dominates(rows in naive::rows(1..6_usize, 40)) {
            let expected = naive::front(&rows);
            prop_assert_eq!(&front(&rows).unwrap(), &expected);
            let mut front = Front::new(rows.dim()).unwrap();
            for (i, row) in rows.rows().enumerate() {
                let covered = front.covers(row);
                let placement = front.insert(row).unwrap();
                prop_assert_eq!(covered, !matches!(placement, Placement::Joined { .. }));
                let so_far = Points::from_rows(rows.dim(), rows.rows().take(i + 1));
                prop_assert_eq!(front.numbers(), naive::front(&so_far));
            }
            let mut values: Vec<&[f64]> = expected.iter().map(|&i| rows.row(i)).collect();
            values.sort_by(|a, b| a.partial_cmp(b).unwrap());
            values.dedup();
            let kept = front.values();
            prop_assert_eq!(kept.rows().collect::<Vec<_>>(), values);
        }

        #[test]
        fn the_area_follows_every_insertion(rows in naive::rows(Just(2), 12), late in any::<bool>()) {
            let reference = [6.0, 5.0];
            let mut front = Front::new(2).unwrap();
            prop_assert_eq!(front.area(), None);
            if !late {
                front.set_reference(&reference).unwrap();
            }
            rows.rows().for_each(|row| drop(front.insert(row)));
            if late {
                front.set_reference(&reference).unwrap();
            }
            prop_assert_eq!(front.area(), Some(naive::hypervolume(&rows, &reference)));
            prop_assert_eq!(front.reference(), Some(&reference[..]));
        }
    }
}
