//! A reference point where none is given.
//!
//! ```text
//! r_i = nadir_i + 0.1 (nadir_i - ideal_i)
//! ```
//! ideal and nadir are the least and the greatest value of objective i on the front. A tenth beyond the nadir lets the
//! ends of the front count without letting them outweigh its middle. H. Ishibuchi, R. Imada, Y. Setoguchi and Y. Nojima,
//! "How to specify a reference point in hypervolume calculation for fair performance comparison", *Evolutionary
//! Computation* 26, 2018.
//!
//! Where all of the front has one value of an objective, a tenth of its range over all rows is added instead; where all
//! rows have one value v, a tenth of |v|, or 0.1 if v is 0. So every row of the front is below r in every objective.

use super::front;
use crate::error::{Error, Result};
use crate::points::Points;

/// How far beyond the nadir the reference point is, as a share of the range.
const BEYOND: f64 = 0.1;

/// The reference point that the rows suggest.
///
/// # Errors
/// If there is no row, or a value is not finite.
pub fn reference_point(values: &Points) -> Result<Vec<f64>> {
    let front = front(values)?;
    if front.is_empty() {
        let allowed = "at least 1 for a reference point to be inferred from";
        return Err(Error::invalid("the number of rows", 0, allowed));
    }
    let of_objective = |i: usize| {
        let (ideal, nadir) = range(front.iter().map(|&j| values.row(j)[i]));
        let (least, greatest) = range(values.rows().map(|row| row[i]));
        let widths = [nadir - ideal, greatest - least, nadir.abs()];
        let width = widths.into_iter().find(|&width| width > 0.0).unwrap_or(1.0);
        nadir + BEYOND * width
    };
    Ok((0..values.dim()).map(of_objective).collect())
}

/// The least and the greatest of the values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::naive;
    use super::*;

    #[test]
    fn the_rule_by_hand() {
        let infer = |rows: &[[f64; 2]]| reference_point(&Points::from_rows(2, rows)).unwrap();
        // The dominated row (9, 9) does not count.
        assert_eq!(infer(&[[1.0, 6.0], [3.0, 2.0], [9.0, 9.0]]), [3.0 + 0.2, 6.0 + 0.4]);
        // One row on the front: a tenth of the range over all.
        assert_eq!(infer(&[[1.0, 2.0], [5.0, 2.0]]), [1.0 + 0.4, 2.0 + 0.2]);
        assert_eq!(infer(&[[-3.0, 0.0]]), [-3.0 + 0.1 * 3.0, 0.1]);
        assert_eq!(
            reference_point(&Points::new(2)).unwrap_err().to_string(),
            "the number of rows is 0, but must be at least 1 for a reference point to be inferred from"
        );
    }

    proptest! {
        #[test]
        fn every_row_of_the_front_is_below_it(rows in naive::rows(1..5_usize, 20)) {
            prop_assume!(!rows.is_empty());
            let reference = reference_point(&rows).unwrap();
            for i in naive::front(&rows) {
                prop_assert!(rows.row(i).iter().zip(&reference).all(|(value, corner)| value < corner));
            }
        }
    }
}
