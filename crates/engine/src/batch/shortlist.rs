//! The best of many points: what the rules that compare points, rather than move them, have in common.

use crate::acquisition::Acquisition;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::points::Points;

/// Every free configuration of a countable domain of at most `limit`, in the order of their index.
pub(super) fn all_free(domain: &Domain<'_>, limit: usize) -> Option<Points> {
    let total = domain.space.cardinality().filter(|&total| total <= limit as u128)?;
    let occupied = domain.occupied();
    let mut points = Points::new(domain.space.dim());
    for x in (0..total).filter_map(|index| domain.space.nth(index)) {
        if occupied.is_free(&x) {
            points.push(&x);
        }
    }
    Some(points)
}

/// The acquisition at each of `points`; an error if it is not a number somewhere.
pub(super) fn values<A: Acquisition + ?Sized>(
    acquisition: &A,
    points: &Points,
) -> Result<Vec<f64>> {
    let mut values = vec![0.0; points.len()];
    acquisition.values(points, &mut values);
    if values.iter().any(|value| value.is_nan()) {
        return Err(Error::Diverged { model: "the acquisition", doing: "comparing points" });
    }
    Ok(values)
}

/// The indices of the `count` highest values, highest first; equal values in the order of their index.
pub(super) fn highest(values: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let descending = |&a: &usize, &b: &usize| values[b].total_cmp(&values[a]).then(a.cmp(&b));
    if count < order.len() {
        order.select_nth_unstable_by(count, descending);
        order.truncate(count);
    }
    order.sort_unstable_by(descending);
    order
}

/// The first `count` free and distinct of `points` in the given order, as far as there are so many; then the
/// first ones again, which [`Domain::settle`] will move to the nearest free places.
pub(super) fn first_free(
    points: &Points,
    order: &[usize],
    domain: &Domain<'_>,
    count: usize,
) -> Points {
    let mut occupied = domain.occupied();
    let mut chosen = Points::with_capacity(points.dim(), count);
    for &i in order {
        if chosen.len() < count && occupied.is_free(points.row(i)) {
            occupied.insert(points.row(i));
            chosen.push(points.row(i));
        }
    }
    for &i in order.iter().cycle() {
        if chosen.len() >= count {
            break;
        }
        chosen.push(points.row(i));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_come_first_and_ties_by_index() {
        let values = [1.0, 3.0, 2.0, 3.0, -1.0];
        assert_eq!(highest(&values, 3), [1, 3, 2]);
        assert_eq!(highest(&values, 1), [1]);
        assert_eq!(highest(&values, 9), [1, 3, 2, 0, 4]);
    }
}
