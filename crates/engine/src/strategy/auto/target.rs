//! Targets: what least squares is fitted to in place of labels. Both are turned, so that more is better, and
//! standardised.
//!
//! Expected improvement below a threshold τ is the integral of the class probabilities of all lower thresholds,
//!
//! ```text
//! E max(0, τ - y) = ∫ P(y ≤ s | x) ds   over s < τ
//! ```
//!
//! and kernel least squares is linear in its labels: the integral of the estimates for all labels 1[y ≤ s] over
//! a range of thresholds is the estimate for the integral of the labels, ∫ 1[y ≤ s] ds = τ - min(y, τ). One solve with
//! the winsorised value does the work of a classifier for every threshold (guide, `auto`). Any other measure μ of the
//! thresholds does as well: ∫ 1[y ≤ s] dμ(s) = μ([y, ∞)).
//!
//! - [`winsorised`]: all thresholds up to τ count alike. For a region that holds one valley.
//! - [`compressed`]: thresholds above the median count the less, the higher they are. For a wide region, where values
//!   of several orders of magnitude would leave nothing to be seen of the good ones.
//! - [`half_rank`]: above the median it is the number of trials that counts. For tables.
//! - [`labels`]: a single threshold, as in BORE.

use crate::theory::normal;

/// How far above the median the threshold τ lies, in units of the upper quartile's distance from it.
const REACH: f64 = 5.0;

/// τ - min(y, τ) with τ five times as far above the median as the upper quartile.
pub(super) fn winsorised(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |part: f64| sorted[(part * (sorted.len() - 1) as f64).round() as usize];
    let (median, quartile) = (quantile(0.5), quantile(0.75));
    let threshold = median + REACH * (quartile - median);
    // Without spread above the median everything above it would look alike.
    let threshold = if threshold > median { threshold } else { f64::INFINITY };
    standardised(values.iter().map(|&y| -y.min(threshold)).collect())
}

/// y up to the median, and m + u ln(1 + (y - m)/u) above it, where u is the distance from the least value to the median m:
/// dμ/ds = 1 below the median and u/(u + s - m) above it.
pub(super) fn compressed(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, median) = (sorted[0], sorted[sorted.len() / 2]);
    let unit = median - least;
    if unit <= 0.0 {
        return winsorised(values);
    }
    let compress = |y: f64| median + unit * ((y - median) / unit).ln_1p();
    standardised(values.iter().map(|&y| if y <= median { -y } else { -compress(y) }).collect())
}

/// The labels of one threshold, as in BORE: 1 for the best quarter.
pub(super) fn labels(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let threshold = sorted[(sorted.len() - 1) / 4];
    standardised(values.iter().map(|&y| f64::from(u8::from(y <= threshold))).collect())
}

/// The value itself below the median, and the rank alone above it:
///
/// ```text
/// y ≤ median: (median - y) / rms of the lower half        y > median: -Φ⁻¹(rank), at most 0
/// ```
///
/// How bad a bad configuration is says little about good ones, and tables of tuning results have long upper tails.
pub(super) fn half_rank(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let median = values[order[(n - 1) / 2]];
    let lower = order.iter().map(|&i| median - values[i]).take_while(|gap| *gap >= 0.0);
    let (sum, count) = lower.fold((0.0, 0), |(sum, count), gap| (sum + gap * gap, count + 1));
    let scale = (sum / f64::from(count)).sqrt();
    let mut targets = vec![0.0; n];
    for (rank, &i) in order.iter().enumerate() {
        targets[i] = if values[i] <= median {
            if scale > 0.0 { (median - values[i]) / scale } else { 0.0 }
        } else {
            (-normal::quantile((rank as f64 + 0.5) / n as f64)).min(0.0)
        };
    }
    standardised(targets)
}

/// Mean 0 and mean square 1; all 0 if there is no spread.
fn standardised(mut targets: Vec<f64>) -> Vec<f64> {
    // In units of the largest, so that squares of extreme values stay finite.
    let largest = targets.iter().fold(0.0_f64, |most, t| most.max(t.abs()));
    if largest == 0.0 {
        return targets;
    }
    let n = targets.len() as f64;
    targets.iter_mut().for_each(|t| *t /= largest);
    let mean = targets.iter().sum::<f64>() / n;
    targets.iter_mut().for_each(|t| *t -= mean);
    let deviation = (targets.iter().map(|t| t * t).sum::<f64>() / n).sqrt();
    let scale = if deviation > 1e-14 { 1.0 / deviation } else { 0.0 };
    targets.iter_mut().for_each(|t| *t *= scale);
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn targets_fall_as_values_rise_and_are_standardised(
            values in prop::collection::vec(prop_oneof![-5.0..5.0_f64, -1e300..1e300_f64], 1..60),
        ) {
            for target in [winsorised, compressed, half_rank, labels] {
                let targets = target(&values);
                let n = values.len() as f64;
                prop_assert!(targets.iter().all(|t| t.is_finite()));
                let mean = targets.iter().sum::<f64>() / n;
                let square = targets.iter().map(|t| t * t).sum::<f64>() / n;
                prop_assert!(mean.abs() < 1e-9);
                prop_assert!(square == 0.0 || (square - 1.0).abs() < 1e-9);
                for (a, s) in values.iter().zip(&targets) {
                    for (b, t) in values.iter().zip(&targets) {
                        prop_assert!(a > b || s >= &(t - 1e-9), "{} {} {} {}", a, b, s, t);
                    }
                }
            }
        }
    }

    #[test]
    fn the_target_is_the_sum_of_the_labels_of_all_thresholds() {
        let values = [0.3, -1.2, 0.9, 7.0, 0.1, 0.35, 0.5, 2.0];
        let targets = winsorised(&values);
        // Σ 1[y ≤ s] over a fine grid of thresholds s up to τ = median + 5 (quartile - median).
        let (low, high) = (-2.0, 0.5 + 5.0 * (0.9 - 0.5));
        let cells = 350_000;
        let step = (high - low) / f64::from(cells);
        let sums: Vec<f64> = values
            .iter()
            .map(|y| {
                let above = (0..cells).filter(|&i| *y <= low + (f64::from(i) + 0.5) * step).count();
                above as f64 * step
            })
            .collect();
        for (sum, target) in standardised(sums).iter().zip(&targets) {
            assert!((sum - target).abs() < 1e-4, "{sum} {target}");
        }
    }

    #[test]
    fn a_measure_that_fades_above_the_median_gives_the_compressed_target() {
        let values = [0.3, -1.2, 0.9, 70.0, 0.1, 0.35, 0.5, 2000.0];
        let (least, median) = (-1.2, 0.5);
        // ∫ 1[y ≤ s] dμ(s), in steps that grow with s.
        let density = |s: f64| if s <= median { 1.0 } else { 1.7 / (1.7 + s - median) };
        let integral = |y: f64| -> f64 {
            let cells = 200_000;
            let at = |i: i32| least + (1e4_f64.ln_1p() * f64::from(i) / f64::from(cells)).exp_m1();
            (0..cells)
                .map(|i| (at(i), at(i + 1)))
                .filter(|(a, b)| y <= 0.5 * (a + b))
                .map(|(a, b)| (b - a) * density(0.5 * (a + b)))
                .sum()
        };
        let sums = standardised(values.iter().map(|&y| integral(y)).collect());
        for (sum, target) in sums.iter().zip(&compressed(&values)) {
            assert!((sum - target).abs() < 1e-3, "{sum} {target}");
        }
    }

    #[test]
    fn equal_values_say_nothing() {
        assert_eq!(winsorised(&[2.0; 5]), [0.0; 5]);
        assert_eq!(compressed(&[2.0; 5]), [0.0; 5]);
        assert_eq!(half_rank(&[2.0; 5]), [0.0; 5]);
    }
}
