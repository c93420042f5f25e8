//! The length scales of the process: one sweep over the coordinates, each a factor up or down, by the profiled likelihood.
//!
//! ```text
//! -n/2 ln((z - 1)ᵀ K⁻¹ (z - 1) / n) - ½ ln|K| - ½ Σ (ln ℓ - ln ℓ₀)²
//! ```
//! over the last observation of each trial. The amplitude is profiled out in this criterion only: the plain likelihood, with the
//! amplitude of the model, drifts to long scales.
//!
//! Cost: O(d n³) for n ≤ [`LARGEST`] trials.

use super::model::{Observation, Target, between_trials, variance};
use super::stops::Stops;
use crate::error::Result;
use crate::linalg::Cholesky;

/// ℓ₀, where every scale begins.
pub(super) const START: f64 = 0.7;
/// Trials that the likelihood is computed of.
pub(super) const LARGEST: usize = 200;
const FACTOR: f64 = 1.6;
const RANGE: (f64, f64) = (0.1, 6.0);

/// Better scales than these, if there are.
pub(super) fn improved(
    mut scales: Vec<f64>,
    last: &[&Observation],
    target: Target,
    stops: Stops,
) -> Result<Vec<f64>> {
    let mut best = score(&scales, last, target, stops)?;
    for coordinate in 0..scales.len() {
        for factor in [FACTOR, 1.0 / FACTOR] {
            let mut tried = scales.clone();
            tried[coordinate] = (tried[coordinate] * factor).clamp(RANGE.0, RANGE.1);
            let found = score(&tried, last, target, stops)?;
            if found > best {
                (best, scales) = (found, tried);
                break;
            }
        }
    }
    Ok(scales)
}

fn score(scales: &[f64], last: &[&Observation], target: Target, stops: Stops) -> Result<f64> {
    let scale = |one: &&Observation| -> Vec<f64> {
        one.x.iter().zip(scales).map(|(x, scale)| x / scale).collect()
    };
    let points: Vec<Vec<f64>> = last.iter().map(scale).collect();
    let ways: Vec<f64> = last.iter().map(|one| stops.way(one.fidelity)).collect();
    let factor = Cholesky::factor(last.len(), |i, row| {
        for (j, k) in row.iter_mut().enumerate() {
            *k = match i == j {
                true => variance(ways[i]),
                false => between_trials(&points[i], &points[j], ways[i], ways[j]),
            };
        }
    })?;
    let mut residuals: Vec<f64> = last.iter().map(|one| target.of(one.value) - 1.0).collect();
    factor.solve_lower(&mut residuals);
    let n = last.len() as f64;
    let fit: f64 = residuals.iter().map(|r| r * r).sum::<f64>().max(1e-12) / n;
    let prior: f64 = scales.iter().map(|scale| (scale / START).ln().powi(2)).sum();
    Ok(-0.5 * n * fit.ln() - 0.5 * 2.0 * factor.diagonal().map(f64::ln).sum::<f64>() - 0.5 * prior)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Fidelity;
    use crate::seed::Seed;
    use crate::seed::draw::uniform;

    #[test]
    fn a_coordinate_that_matters_gets_a_shorter_scale_than_one_that_does_not() {
        let stops = Stops::of(&Fidelity { name: "epochs".into(), low: 1.0, high: 51.0 });
        let mut rng = Seed(5).stream("test", 0);
        let all: Vec<Observation> = (0..80)
            .map(|trial| {
                let x = vec![uniform(&mut rng), uniform(&mut rng)];
                let value = (9.0 * x[0]).sin();
                Observation { trial, x, fidelity: 51.0, value }
            })
            .collect();
        let last: Vec<&Observation> = all.iter().collect();
        let target = Target { lowest: -1.0, median: 1.0 };
        let mut scales = vec![START; 2];
        for _ in 0..4 {
            scales = improved(scales, &last, target, stops).unwrap();
        }
        assert!(scales[0] < 0.5 && scales[1] > 1.4, "{scales:?}");
    }
}
