//! One objective and constraints that are measured with it: classical problems, three of them small and six of
//! engineering. Optima are known to at least eight digits; the points given attain them within that.

mod g04;
mod g06;
mod gardner;
mod gramacy;
mod pressure_vessel;
mod speed_reducer;
mod spring;
mod townsend;
mod welded_beam;

pub(crate) use g04::G04;
pub(crate) use g06::G06;
pub(crate) use gardner::GARDNER;
pub(crate) use gramacy::GRAMACY;
pub(crate) use pressure_vessel::PRESSURE_VESSEL;
pub(crate) use speed_reducer::SPEED_REDUCER;
pub(crate) use spring::SPRING;
pub(crate) use townsend::TOWNSEND;
pub(crate) use welded_beam::WELDED_BEAM;

use crate::Measured;

/// One objective with its constraints.
fn measured<const COUNT: usize>(objective: f64, constraints: [f64; COUNT]) -> Measured {
    Measured { objectives: vec![objective], constraints: constraints.to_vec() }
}
