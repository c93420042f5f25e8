//! The parts of `auto`, so that the benchmarks can measure what each of them brings.
//!
//! All parts are in use, always: no setting, no text and no study file takes one out. `Auto::without` does, for
//! `examples/auto_regret.rs` and for tests. It is not part of the public interface.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A part of the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All thresholds at once; without it, labels for the best quarter.
    Thresholds,
    /// The trust region; without it, the box is always at its widest.
    Region,
    /// The second region.
    Explorer,
    /// The part of the kernel that is a sum over coordinates.
    Sum,
    /// Coordinates that turn along valleys.
    Turning,
    /// The climb of each pick; without it, the best of the candidates.
    Polish,
    /// The ladder of widths; without it, every pick has the top of it.
    Ladder,
    /// The centre by the model where there is noise; without it, the lowest value.
    Smoothing,
    /// The second classifier.
    Feasibility,
    /// The jump to the minimum of a quadratic.
    Jump,
    /// The jump to the minimum of a polynomial of degree four where that describes the trials better.
    Quartic,
    /// Coordinates from the curvature of the quadratic.
    Hessian,
    /// The larger share of main while it gains.
    Share,
    /// The centre as first trial, and steps along coordinates for single asks; without it, random trials.
    Opening,
    /// The local step of single asks.
    LocalStep,
    /// A model for each branch of a conditional space; without it, one for all.
    Branches,
    /// Coordinates on a face count neither for the length nor for the metric.
    Faces,
    /// Draws about the mean of the best trials where main is stuck.
    Consensus,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 18] = [
        Self::Thresholds,
        Self::Region,
        Self::Explorer,
        Self::Sum,
        Self::Turning,
        Self::Polish,
        Self::Ladder,
        Self::Smoothing,
        Self::Feasibility,
        Self::Jump,
        Self::Quartic,
        Self::Hessian,
        Self::Share,
        Self::Opening,
        Self::LocalStep,
        Self::Branches,
        Self::Faces,
        Self::Consensus,
    ];

    /// Its name, as the benchmarks write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thresholds => "thresholds",
            Self::Region => "region",
            Self::Explorer => "explorer",
            Self::Sum => "sum",
            Self::Turning => "turning",
            Self::Polish => "polish",
            Self::Ladder => "ladder",
            Self::Smoothing => "smoothing",
            Self::Feasibility => "feasibility",
            Self::Jump => "jump",
            Self::Quartic => "quartic",
            Self::Hessian => "hessian",
            Self::Share => "share",
            Self::Opening => "opening",
            Self::LocalStep => "local-step",
            Self::Branches => "branches",
            Self::Faces => "faces",
            Self::Consensus => "consensus",
        }
    }
}

impl FromStr for Part {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|part| part.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|part| part.name()).collect();
            Error::invalid("part of auto", name, names.join(", "))
        })
    }
}

/// The parts in use: all of them by default.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts {
    /// One bit for each part that is left out.
    left_out: u32,
}

impl Parts {
    /// Whether a part is in use.
    pub(super) fn has(self, part: Part) -> bool {
        self.left_out & (1 << part as u32) == 0
    }

    /// The same with one part less.
    pub(super) fn without(self, part: Part) -> Self {
        Self { left_out: self.left_out | (1 << part as u32) }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(Part::ALL.into_iter().filter(|part| self.has(*part))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_left_out_one_by_one() {
        let all = Parts::default();
        for part in Part::ALL {
            assert!(all.has(part));
            assert_eq!(part.name().parse(), Ok(part));
            let without = all.without(part);
            for other in Part::ALL {
                assert_eq!(without.has(other), other != part);
            }
            assert_eq!(without.without(part), without);
        }
        let error = "turns".parse::<Part>().unwrap_err().to_string();
        assert!(
            error.starts_with("part of auto is turns, but must be thresholds, region"),
            "{error}"
        );
    }
}
