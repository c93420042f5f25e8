//! Exact volume of a union of boxes that share the corner r: a sweep in two and three objectives, slices beyond.
//!
//! Rows are taken by their last value, worst first. What row i adds to the rows after it lies between its last value z
//! and r_k, and is the same in every slice there: the box of row i without what the later rows cover of it, which in
//! the slice are the rows max(y_j, y_i).
//!
//! ```text
//! volume_k(Y) = Σ_i (r_k - z_i) [ Π_{l<k} (r_l - y_il) - volume_{k-1}({ max(y_j, y_i) : j after i }) ]
//! ```
//!
//! L. While, L. Bradstreet and L. Barone, "A fast way of calculating exact hypervolumes", *IEEE Transactions on
//! Evolutionary Computation* 16, 2012 (WFG), with the slice of one objective fewer at each level; in three objectives,
//! N. Beume, C. M. Fonseca, M. López-Ibáñez, L. Paquete and J. Vahrenhold, "On the complexity of computing the
//! hypervolume indicator", *IEEE Transactions on Evolutionary Computation* 13, 2009.
//!
//! Cost: O(n log n) for k <= 3; at worst n^(k-2) log n beyond, in practice far less, since most of the rows of a slice
//! are dominated there. [`Slicing`] counts the rows and gives up after [`STEPS`], whatever the machine.

use super::front::front_in_order;
use super::staircase::Staircase;
use crate::points::Points;

/// Rows that an exact volume of more than three objectives may visit before an estimate takes its place: one or two
/// seconds. Random fronts of 3,000 rows in four objectives, 800 in five, 400 in six and 100 in eight stay below it; 200
/// in eight and 100 in ten do not.
pub const STEPS: u64 = 20_000_000;

/// The exact volume under a budget of rows to visit.
pub(super) struct Slicing {
    steps: u64,
}

impl Slicing {
    /// A budget of [`STEPS`].
    pub fn new() -> Self {
        Self { steps: STEPS }
    }

    /// The volume between `rows`, all at most `reference` in every objective, and `reference`; `None` if the budget is
    /// used up before it is known.
    pub fn volume(&mut self, rows: &Points, reference: &[f64]) -> Option<f64> {
        if let [corner] = *reference {
            return Some(rows.rows().map(|row| corner - row[0]).fold(0.0, f64::max));
        }
        if reference.len() > 3 {
            self.steps = self.steps.checked_sub(rows.len() as u64)?;
        }
        match *reference {
            [right, top] => Some(area(rows, [right, top])),
            [right, top, end] => Some(sweep(rows, [right, top, end])),
            _ => self.slices(rows, reference),
        }
    }

    fn slices(&mut self, rows: &Points, reference: &[f64]) -> Option<f64> {
        let last = reference.len() - 1;
        let (end, reference) = (reference[last], &reference[..last]);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&i, &j| rows.row(j)[last].total_cmp(&rows.row(i)[last]));
        let mut volume = 0.0;
        for (place, &i) in order.iter().enumerate() {
            let row = rows.row(i);
            let later = order[place + 1..].iter().map(|&j| rows.row(j));
            let covered = limited(later, &row[..last]);
            self.steps = self.steps.checked_sub(covered.len() as u64 + 1)?;
            // A sweep leaves dominated rows out by itself; a slice is worth what it costs to find them.
            let covered = if last > 3 { without_dominated(&covered) } else { covered };
            let covered = self.volume(&covered, reference)?;
            volume += (end - row[last]) * (box_volume(row, reference) - covered);
        }
        Some(volume)
    }
}

/// The rows, each raised to `floor` where it is below; as many objectives as `floor` has.
pub(super) fn limited<'r>(rows: impl Iterator<Item = &'r [f64]>, floor: &[f64]) -> Points {
    let mut raised = Points::new(floor.len());
    let mut row = vec![0.0; floor.len()];
    for other in rows {
        let raise =
            |((raised, value), floor): ((&mut f64, &f64), &f64)| *raised = value.max(*floor);
        row.iter_mut().zip(other).zip(floor).for_each(raise);
        raised.push(&row);
    }
    raised
}

/// The volume of the box from `row` to `reference`, over as many objectives as `reference` has.
pub(super) fn box_volume(row: &[f64], reference: &[f64]) -> f64 {
    row.iter().zip(reference).map(|(value, corner)| corner - value).product()
}

/// The rows on the front, one of those that are equal.
fn without_dominated(rows: &Points) -> Points {
    let mut kept = Points::new(rows.dim());
    let mut last: Option<&[f64]> = None;
    for row in front_in_order(rows).into_iter().map(|i| rows.row(i)) {
        if last != Some(row) {
            kept.push(row);
        }
        last = Some(row);
    }
    kept
}

/// The area between `rows`, all at most `corner`, and `corner`.
pub(super) fn area(rows: &Points, corner: [f64; 2]) -> f64 {
    let mut rows: Vec<[f64; 2]> = rows.rows().map(|row| [row[0], row[1]]).collect();
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (mut area, mut above) = (0.0, corner[1]);
    for [x, height] in rows {
        if height < above {
            area += (corner[0] - x) * (above - height);
            above = height;
        }
    }
    area
}

/// By the third value: between two neighbouring ones the cross-section is the area of a staircase.
fn sweep(rows: &Points, [right, top, end]: [f64; 3]) -> f64 {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&i, &j| rows.row(i)[2].total_cmp(&rows.row(j)[2]));
    let mut stairs = Staircase::new(Some([right, top]));
    let (mut volume, mut area, mut from) = (0.0, 0.0, end);
    for i in order {
        let row = rows.row(i);
        volume += area * (row[2] - from);
        from = row[2];
        stairs.insert([row[0], row[1]], ());
        area = stairs.area().unwrap_or_default();
    }
    volume + area * (end - from)
}
