//! Designs of engineers with several objectives: problems RE21 to RE37 of R. Tanabe and H. Ishibuchi, "An easy-to-use
//! real-world multi-objective optimization problem suite", *Applied Soft Computing* 89, 2020; the first digit is the number
//! of objectives. Where a design had constraints, its last objective is the sum of what they are missed by.
//!
//! The fronts have no closed form. Ideal, nadir and scaled hypervolume (see [`KnownFront`](crate::KnownFront)) are those of
//! the reference fronts published with the article, to the digits given here; the nadir is the largest value in the
//! published set. RE33's set has outliers that make it easy.

mod disc_brake;
mod four_bar_truss;
mod hatch_cover;
mod rocket_injector;
mod two_bar_truss;
mod vehicle_crash;

pub(crate) use disc_brake::RE33;
pub(crate) use four_bar_truss::RE21;
pub(crate) use hatch_cover::RE24;
pub(crate) use rocket_injector::RE37;
pub(crate) use two_bar_truss::RE31;
pub(crate) use vehicle_crash::RE34;

use crate::Measured;

/// Objectives without constraints.
fn objectives<const COUNT: usize>(values: [f64; COUNT]) -> Measured {
    Measured { objectives: values.to_vec(), constraints: Vec::new() }
}

/// By how much quantities that should be at least 0 are below it, in sum.
fn total_violation<const COUNT: usize>(margins: [f64; COUNT]) -> f64 {
    margins.into_iter().map(|margin| (-margin).max(0.0)).sum()
}
