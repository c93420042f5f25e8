//! DTLZ2 and DTLZ7: any number M of objectives from two, in d >= M variables; a part of a sphere, and 2^(M-1) pieces.
//!
//! ```text
//! DTLZ2: f_m = (1 + g) Π_{i<=M-m} cos(π x_i / 2) · sin(π x_{M-m+1} / 2)  (no sine for m = 1),   g = Σ_{i>=M} (x_i - ½)²
//! DTLZ7: f_m = x_m for m < M,   f_M = (1 + g) (M - Σ_{m<M} f_m / (1 + g) · (1 + sin(3π f_m))),
//!        g = 1 + 9 Σ_{i>=M} x_i / (d - M + 1)
//! ```
//!
//! Domain: [0, 1]^d. Front of DTLZ2: the last variables ½, Σ f_m² = 1. Front of DTLZ7: the last variables 0, so that
//! f_M = 2M - Σ h(f_m) with h(t) = t (1 + sin(3πt)), each f_m where h is higher than at every smaller t.
//!
//! Scaled hypervolume (see [`KnownFront`]): DTLZ2 1.1^M less the part of the unit ball where all coordinates are
//! positive, π^(M/2) / (2^M Γ(M/2 + 1)). DTLZ7: with H(t) the greatest h up to t, the lowest f_M over f₁, ..., f_{M-1} is
//! 2M - Σ H, a sum, so that one integral of H, in 40 digits, gives all M.
//!
//! Source: K. Deb, L. Thiele, M. Laumanns and E. Zitzler, "Scalable test problems for evolutionary multiobjective
//! optimization", in *Evolutionary Multiobjective Optimization*, Springer, 2005.

use std::borrow::Cow;
use std::f64::consts::{FRAC_PI_2, PI};

use crate::assert_length;
use crate::task::{Answer, KnownFront, Measured, Task, Variable, numbered};

/// Where the last piece of DTLZ7's front ends, in each objective but the last.
const END: f64 = 0.859_400_856_644_723_9;
/// h there: its greatest value.
const CREST: f64 = 1.692_995_634_498_422_4;
/// The integral of H from 0 to [`END`].
const INTEGRAL: f64 = 0.490_800_856_614_718_6;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// DTLZ2.
    Sphere,
    /// DTLZ7.
    Pieces,
}

/// DTLZ2 or DTLZ7.
#[derive(Debug, Clone, Copy)]
pub struct Dtlz {
    shape: Shape,
    dim: usize,
    objectives: usize,
}

impl Dtlz {
    /// The problem of `dim` variables and `objectives` objectives.
    ///
    /// # Panics
    /// If there are fewer than 2 objectives, or fewer variables than objectives.
    pub fn new(shape: Shape, dim: usize, objectives: usize) -> Self {
        assert!(objectives >= 2, "DTLZ problems need at least 2 objectives, not {objectives}");
        assert!(dim >= objectives, "{objectives} objectives need as many variables, not {dim}");
        Self { shape, dim, objectives }
    }

    fn number(self) -> u8 {
        match self.shape {
            Shape::Sphere => 2,
            Shape::Pieces => 7,
        }
    }
}

impl Task for Dtlz {
    fn name(&self) -> String {
        format!("dtlz{}-{}-{}", self.number(), self.dim, self.objectives)
    }

    fn title(&self) -> String {
        format!("DTLZ{} {}D, {} objectives", self.number(), self.dim, self.objectives)
    }

    fn variables(&self) -> Vec<Variable> {
        Variable::unit_cube(self.dim)
    }

    fn objectives(&self) -> Vec<Cow<'static, str>> {
        numbered("f", self.objectives).collect()
    }

    fn measure(&self, x: &[f64]) -> Measured {
        assert_length(&self.name(), self.dim, x);
        let (position, distance) = x.split_at(self.objectives - 1);
        let objectives = match self.shape {
            Shape::Sphere => sphere(position, distance),
            Shape::Pieces => pieces(position, distance),
        };
        Measured { objectives, constraints: Vec::new() }
    }

    fn answer(&self) -> Answer {
        let objectives = self.objectives;
        let front = match self.shape {
            Shape::Sphere => KnownFront {
                ideal: vec![0.0; objectives],
                nadir: vec![1.0; objectives],
                hypervolume: KnownFront::REFERENCE.powi(objectives as i32) - ball_part(objectives),
            },
            Shape::Pieces => pieces_front(objectives),
        };
        Answer::Front(front)
    }
}

fn sphere(position: &[f64], distance: &[f64]) -> Vec<f64> {
    let radius = 1.0 + distance.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>();
    // From the last objective to the first, each has one more cosine.
    let mut cosines = radius;
    let mut objectives: Vec<f64> = position
        .iter()
        .map(|x| {
            let value = cosines * (FRAC_PI_2 * x).sin();
            cosines *= (FRAC_PI_2 * x).cos();
            value
        })
        .collect();
    objectives.push(cosines);
    objectives.reverse();
    objectives
}

fn pieces(position: &[f64], distance: &[f64]) -> Vec<f64> {
    let objectives = position.len() + 1;
    let scale = 2.0 + 9.0 * distance.iter().sum::<f64>() / distance.len() as f64;
    let sum: f64 = position.iter().map(|f| f / scale * (1.0 + (3.0 * PI * f).sin())).sum();
    let last = scale * (objectives as f64 - sum);
    position.iter().copied().chain([last]).collect()
}

/// The volume of the part of the unit ball where all coordinates are positive: by V_n = 2π V_{n-2} / n of whole balls.
fn ball_part(dim: usize) -> f64 {
    match dim {
        0 | 1 => 1.0,
        _ => FRAC_PI_2 / dim as f64 * ball_part(dim - 2),
    }
}

fn pieces_front(objectives: usize) -> KnownFront {
    let (greatest, others) = (2.0 * objectives as f64, (objectives - 1) as f64);
    let range = others * CREST;
    // Up to r_i = 1.1 END, H is at its crest beyond END.
    let side = KnownFront::REFERENCE * END;
    let integral = INTEGRAL + CREST * (side - END);
    let beyond = (KnownFront::REFERENCE - 1.0) * range;
    let volume = beyond * side.powi(objectives as i32 - 1)
        + others * side.powi(objectives as i32 - 2) * integral;
    let mut front = KnownFront {
        ideal: vec![0.0; objectives],
        nadir: vec![END; objectives],
        hypervolume: volume / (END.powi(objectives as i32 - 1) * range),
    };
    front.ideal[objectives - 1] = greatest - range;
    front.nadir[objectives - 1] = greatest;
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_balls_by_hand() {
        for (dim, part) in [(1, 1.0), (2, PI / 4.0), (3, PI / 6.0), (4, PI * PI / 32.0)] {
            assert!((ball_part(dim) - part).abs() < 1e-15, "{dim}");
        }
    }
}
