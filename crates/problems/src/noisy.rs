//! A problem whose observations carry Gaussian noise: the variants `noise-1` to `noise-100`.
//!
//! The deviation is the given percentage of the problem's range, which is the spread between the 5 % and the 95 %
//! quantile of its values at 1,000 uniform points: a rule that extreme corners do not decide. [`Problem::evaluate`]
//! stays the true value, so that regret is known; [`Problem::observe`] adds the noise.

use crate::Problem;
use crate::stream::Stream;

/// Points that measure the range.
const SAMPLE: usize = 1000;

/// A problem observed with noise.
#[derive(Debug)]
pub struct Noisy {
    inner: Box<dyn Problem>,
    percent: u64,
    deviation: f64,
}

impl Noisy {
    /// The problem with noise of `percent` % of its range.
    pub fn new(inner: Box<dyn Problem>, percent: u64) -> Self {
        let deviation = range(inner.as_ref()) * percent as f64 / 100.0;
        Self { inner, percent, deviation }
    }
}

impl Problem for Noisy {
    fn name(&self) -> String {
        format!("{}+noise-{}", self.inner.name(), self.percent)
    }

    fn title(&self) -> String {
        format!("{}, {} % noise", self.inner.title(), self.percent)
    }

    fn domain(&self) -> &[(f64, f64)] {
        self.inner.domain()
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        self.inner.evaluate(x)
    }

    fn minimum(&self) -> f64 {
        self.inner.minimum()
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        self.inner.minimisers()
    }

    fn is_least_everywhere(&self) -> bool {
        self.inner.is_least_everywhere()
    }

    fn noise(&self) -> f64 {
        self.inner.noise().hypot(self.deviation)
    }
}

/// From the 5 % to the 95 % quantile of the values at uniform points.
fn range(problem: &dyn Problem) -> f64 {
    let mut stream = Stream::new("range", &[]);
    let mut values: Vec<f64> = (0..SAMPLE)
        .map(|_| {
            let place = |(low, high): &(f64, f64)| low + (high - low) * stream.uniform();
            let x: Vec<f64> = problem.domain().iter().map(place).collect();
            problem.evaluate(&x)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values[SAMPLE * 95 / 100] - values[SAMPLE * 5 / 100]
}

#[cfg(test)]
mod tests {
    use crate::problem;

    #[test]
    fn the_noise_has_the_stated_deviation_and_no_bias() {
        // x² on [-5.12, 5.12] with ripples of height 10: the spread of one variable is of the order of 35.
        let noisy = problem("rastrigin-1+noise-10").unwrap();
        assert!((3.0..4.0).contains(&noisy.noise()), "{}", noisy.noise());
        let x = [1.3];
        let n = 20_000;
        let errors: Vec<f64> =
            (0..n).map(|i| noisy.observe(&x, 5, i) - noisy.evaluate(&x)).collect();
        let mean = errors.iter().sum::<f64>() / n as f64;
        let deviation = (errors.iter().map(|e| e * e).sum::<f64>() / n as f64).sqrt();
        assert!(mean.abs() < 5.0 * noisy.noise() / (n as f64).sqrt(), "{mean}");
        // The standard error of a deviation is σ / √(2n).
        assert!((deviation / noisy.noise() - 1.0).abs() < 5.0 / (2.0 * n as f64).sqrt());
    }

    #[test]
    fn seed_and_number_decide_the_noise_and_no_noise_is_none() {
        let noisy = problem("branin+noise-1").unwrap();
        let seen = |seed, evaluation| noisy.observe(&[1.0, 2.0], seed, evaluation);
        assert_eq!(seen(1, 2), seen(1, 2));
        assert_ne!(seen(1, 2), seen(2, 1));
        let plain = problem("branin").unwrap();
        assert_eq!(plain.observe(&[1.0, 2.0], 1, 2), plain.evaluate(&[1.0, 2.0]));
        let ten = problem("branin+noise-10").unwrap();
        assert!((ten.noise() / noisy.noise() - 10.0).abs() < 1e-12);
    }
}
