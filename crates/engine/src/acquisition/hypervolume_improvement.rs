//! Expected gain in hypervolume under independent normal predictions, exact.
//!
//! ```text
//! E gain(y) = Σ_b Π_i (ψ_i(U_bi) - ψ_i(L_bi)),     ψ_i(a) = E max(0, a - y_i) = (a - μ_i) Φ(z) + σ_i φ(z),   z = (a - μ_i) / σ_i
//! ```
//! over the boxes b of what the front leaves undominated ([`Boxes`]): within a box, the sides U_bi - max(L_bi, y_i) of the gain are
//! independent. ψ(-∞) = 0.
//!
//! K. Yang, M. Emmerich, A. Deutz and T. Bäck, "Efficient computation of expected hypervolume improvement using box
//! decomposition algorithms", *Journal of Global Optimization* 75, 2019.
//!
//! Cost: O(boxes · objectives) normal integrals.

use crate::pareto::Boxes;
use crate::theory::normal::{cumulative, density};

/// The expectation of what a row adds to the hypervolume, each of its values normal with this mean and positive deviation.
pub fn expected_gain(boxes: &Boxes, means: &[f64], deviations: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (low, high) in boxes.iter() {
        let mut product = 1.0;
        for i in 0..means.len() {
            let (mean, deviation) = (means[i], deviations[i]);
            product *= improvement(high[i], mean, deviation) - improvement(low[i], mean, deviation);
            if product <= 0.0 {
                break;
            }
        }
        sum += product.max(0.0);
    }
    sum
}

/// E max(0, a - y) for y ~ N(μ, σ²).
pub fn improvement(a: f64, mean: f64, deviation: f64) -> f64 {
    if a == f64::NEG_INFINITY {
        return 0.0;
    }
    let z = (a - mean) / deviation;
    // Beyond, the tails are 0 to rounding.
    if z < -38.0 {
        return 0.0;
    }
    ((a - mean) * cumulative(z) + deviation * density(z)).max(0.0)
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::points::Points;
    use crate::seed::Seed;

    #[test]
    fn the_expectation_is_the_mean_of_gains_drawn_at_random() {
        let mut rng = Seed(6).stream("expected gain", 0);
        let fronts = [
            Points::from_rows(2, [[0.1, 0.9], [0.4, 0.5], [0.8, 0.2]]).clone(),
            Points::from_rows(
                3,
                [[0.1, 0.9, 0.4], [0.4, 0.5, 0.6], [0.8, 0.2, 0.3], [0.7, 0.6, 0.1]],
            ),
        ];
        for front in fronts {
            let k = front.dim();
            let boxes = Boxes::new(&front, &vec![1.1; k]).unwrap();
            for (mean, deviation) in [(0.5, 0.2), (0.9, 0.1), (0.3, 0.02)] {
                let means: Vec<f64> = (0..k).map(|i| mean - 0.1 * i as f64).collect();
                let deviations: Vec<f64> = (0..k).map(|i| deviation * (1.0 + i as f64)).collect();
                let exact = expected_gain(&boxes, &means, &deviations);
                let draws = 200_000;
                let (mut sum, mut squares) = (0.0, 0.0);
                for _ in 0..draws {
                    let row: Vec<f64> = means
                        .iter()
                        .zip(&deviations)
                        .map(|(mean, s)| {
                            let normal: f64 = StandardNormal.sample(&mut rng);
                            mean + s * normal
                        })
                        .collect();
                    let gain = boxes.gain(&row);
                    sum += gain;
                    squares += gain * gain;
                }
                let n = f64::from(draws);
                let estimate = sum / n;
                let error = ((squares / n - estimate * estimate) / n).sqrt();
                assert!(
                    (exact - estimate).abs() < 4.0 * error + 1e-9,
                    "{exact} {estimate} {error}"
                );
            }
        }
    }

    #[test]
    fn without_uncertainty_it_is_the_gain_and_it_never_vanishes_under_a_front() {
        let boxes = Boxes::new(&Points::from_rows(2, [[0.5, 0.5]]), &[1.0, 1.0]).unwrap();
        let exact = expected_gain(&boxes, &[0.25, 0.75], &[1e-9, 1e-9]);
        assert!((exact - boxes.gain(&[0.25, 0.75])).abs() < 1e-7);
        assert!(expected_gain(&boxes, &[0.8, 0.8], &[0.1, 0.1]) > 0.0);
    }
}
