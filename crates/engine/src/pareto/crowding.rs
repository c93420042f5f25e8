//! How crowded a level is around each of its members (Deb, Pratap, Agarwal and Meyarivan 2002).
//!
//! Where volumes cost too much, this tells the members of a level apart in O(k n log n).

use crate::points::Points;

/// The crowding distance of some rows: the distance between its two neighbours in every objective, over its range, added up; ∞ for the ends.
pub(crate) fn crowding(rows: &Points, members: &[usize]) -> Vec<f64> {
    let mut distances = vec![0.0; members.len()];
    for objective in 0..rows.dim() {
        let value = |place: usize| rows.row(members[place])[objective];
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { continue };
        let range = value(last) - value(first);
        (distances[first], distances[last]) = (f64::INFINITY, f64::INFINITY);
        if range > 0.0 {
            for triple in order.windows(3) {
                distances[triple[1]] += (value(triple[2]) - value(triple[0])) / range;
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_level_come_first_and_the_most_crowded_last() {
        let rows = Points::from_rows(2, [[0.0, 4.0], [1.0, 2.0], [1.1, 1.9], [4.0, 0.0]]);
        let distances = crowding(&rows, &[0, 1, 2, 3]);
        assert_eq!((distances[0], distances[3]), (f64::INFINITY, f64::INFINITY));
        let near = [1.1 / 4.0 + 2.1 / 4.0, 3.0 / 4.0 + 2.0 / 4.0];
        assert!((distances[1] - near[0]).abs() < 1e-12 && (distances[2] - near[1]).abs() < 1e-12);
    }
}
