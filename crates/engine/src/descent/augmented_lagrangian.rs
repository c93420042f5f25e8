//! Minimisation of a smooth function in a box under constraints c_k(x) <= 0, by an augmented Lagrangian (Powell 1969, Rockafellar
//! 1973; Nocedal and Wright 2006, section 17.4).
//!
//! ```text
//! minimise over x in the box   f(x) + Σ_k w_k [max(0, λ_k + ρ c_k(x))² - λ_k²] / (2ρ)
//! then                         λ_k ← max(0, λ_k + ρ c_k(x)),   ρ ← min(5ρ, 10⁵)
//! ```
//! until no constraint is missed by more than a tolerance. Each round is a bounded L-BFGS (lbfgs.rs) from where the last
//! ended. The weights w_k do not change the solution: a constraint that is given twice with half the weight each leads along the same path
//! as one.
//!
//! Cost: at most `rounds` times `evaluations` evaluations. Fails when the function is not finite at the start.

use super::lbfgs::{self, minimise_in_box};
use crate::error::Result;

/// The first ρ, its growth, and the greatest.
const PENALTY: (f64, f64, f64) = (10.0, 5.0, 1e5);

/// How long and how exactly to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Rounds with their own multipliers, at least one.
    pub rounds: usize,
    /// Evaluations in a round.
    pub evaluations: usize,
    /// The most by which a constraint may be missed.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rounds: 8, evaluations: 25, tolerance: 1e-7 }
    }
}

/// The function and the constraints at a point, with their gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// f.
    pub value: f64,
    /// ∇f.
    pub gradient: Vec<f64>,
    /// c_k.
    pub constraints: Vec<f64>,
    /// ∇c_k, one row a constraint.
    pub slopes: Vec<Vec<f64>>,
}

impl Terms {
    /// Room for so many coordinates and constraints.
    pub fn new(dim: usize, constraints: usize) -> Self {
        Self {
            value: 0.0,
            gradient: vec![0.0; dim],
            constraints: vec![0.0; constraints],
            slopes: vec![vec![0.0; dim]; constraints],
        }
    }

    /// The most by which a constraint is missed.
    fn missed(&self) -> f64 {
        self.constraints.iter().fold(0.0, |most, c| most.max(*c))
    }
}

/// Minimises in the box `low[k] ..= high[k]` from `start`; `evaluate` writes the terms at a point, and `weights` has one
/// positive number for each constraint. What is returned may still miss a constraint, where none of the box meets it or the rounds did not
/// suffice.
pub fn minimise(
    mut evaluate: impl FnMut(&[f64], &mut Terms),
    weights: &[f64],
    start: &[f64],
    (low, high): (&[f64], &[f64]),
    settings: Settings,
) -> Result<Vec<f64>> {
    let mut terms = Terms::new(start.len(), weights.len());
    let mut multipliers = vec![0.0; weights.len()];
    let mut penalty = PENALTY.0;
    let mut x = start.to_vec();
    let inner = lbfgs::Settings {
        max_evaluations: settings.evaluations,
        gradient_tolerance: 1e-7,
        value_tolerance: 1e-12,
        ..Default::default()
    };
    for round in 0..settings.rounds.max(1) {
        let lagrangian = |x: &[f64], gradient: &mut [f64]| {
            evaluate(x, &mut terms);
            augmented(&terms, weights, &multipliers, penalty, gradient)
        };
        x = minimise_in_box(lagrangian, &x, low, high, inner)?.point;
        evaluate(&x, &mut terms);
        for (multiplier, c) in multipliers.iter_mut().zip(&terms.constraints) {
            *multiplier = (*multiplier + penalty * c).max(0.0);
        }
        if round > 0 && terms.missed() < settings.tolerance {
            break;
        }
        penalty = (PENALTY.1 * penalty).min(PENALTY.2);
    }
    Ok(x)
}

/// The augmented Lagrangian; its gradient goes to `gradient`.
fn augmented(
    terms: &Terms,
    weights: &[f64],
    multipliers: &[f64],
    penalty: f64,
    gradient: &mut [f64],
) -> f64 {
    let mut value = terms.value;
    gradient.copy_from_slice(&terms.gradient);
    for (k, slopes) in terms.slopes.iter().enumerate() {
        let (weight, multiplier) = (weights[k], multipliers[k]);
        let force = (multiplier + penalty * terms.constraints[k]).max(0.0);
        value += weight * (force * force - multiplier * multiplier) / (2.0 * penalty);
        gradient.iter_mut().zip(slopes).for_each(|(g, slope)| *g += weight * force * slope);
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// x + 2y on the disc of radius 0.4 about (0.5, 0.5), where x + y >= 0.6, as often as there is room for.
    fn terms(x: &[f64], terms: &mut Terms) {
        terms.value = x[0] + 2.0 * x[1];
        terms.gradient.copy_from_slice(&[1.0, 2.0]);
        let (a, b) = (x[0] - 0.5, x[1] - 0.5);
        terms.constraints[0] = a * a + b * b - 0.16;
        terms.slopes[0].copy_from_slice(&[2.0 * a, 2.0 * b]);
        for k in 1..terms.constraints.len() {
            terms.constraints[k] = 0.6 - x[0] - x[1];
            terms.slopes[k].copy_from_slice(&[-1.0, -1.0]);
        }
    }

    #[test]
    fn the_minimum_lies_where_both_constraints_are_tight() {
        for weights in [vec![1.0; 2], vec![1.0, 0.5, 0.5]] {
            for start in [[0.9, 0.9], [0.1, 0.2], [0.5, 0.5]] {
                let box_ = (&[0.0; 2][..], &[1.0; 2][..]);
                let found = minimise(terms, &weights, &start, box_, Settings::default()).unwrap();
                // Circle and line meet at (0.5, 0.1) and (0.1, 0.5).
                assert!((found[0] - 0.5).abs() < 1e-5, "{found:?}");
                assert!((found[1] - 0.1).abs() < 1e-5, "{found:?}");
            }
        }
    }

    #[test]
    fn a_constraint_that_nothing_meets_is_missed_as_little_as_possible() {
        let never = |x: &[f64], terms: &mut Terms| {
            terms.value = 0.0;
            terms.gradient.fill(0.0);
            terms.constraints[0] = 1.0 + (x[0] - 0.3).powi(2);
            terms.slopes[0][0] = 2.0 * (x[0] - 0.3);
        };
        let settings = Settings::default();
        let found = minimise(never, &[1.0], &[0.9], (&[0.0], &[1.0]), settings).unwrap();
        assert!((found[0] - 0.3).abs() < 1e-3, "{found:?}");
    }

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(
            x in prop::collection::vec(0.0..1.0_f64, 2),
            multipliers in prop::collection::vec(0.0..5.0_f64, 2),
            penalty in 1.0..100.0_f64,
        ) {
            let weights = [0.7, 1.3];
            let mut at = Terms::new(2, 2);
            let mut gradient = [0.0; 2];
            terms(&x, &mut at);
            augmented(&at, &weights, &multipliers, penalty, &mut gradient);
            for k in 0..2 {
                let mut moved = |step: f64| {
                    let mut x = x.clone();
                    x[k] += step;
                    terms(&x, &mut at);
                    augmented(&at, &weights, &multipliers, penalty, &mut [0.0; 2])
                };
                let numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                prop_assert!((gradient[k] - numeric).abs() < 1e-4 * (1.0 + numeric.abs()));
            }
        }
    }
}
