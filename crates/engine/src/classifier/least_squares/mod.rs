//! Kernel least-squares classifier (paper, section 3.1).
//!
//! Fits labels z in {0, 1} by ridge regression in the kernel's function space:
//!
//! ```text
//! π̂_t = argmin_π Σᵢ (zᵢ - π(xᵢ))² + λ‖π‖ₖ²                      (12, eq:pls-problem)
//! π̂_t(x) = k_t(x)ᵀ (K_t + λI)⁻¹ z                                (13, eq:pls-estimator)
//! |π(x) - π̂_t(x)| ≤ β_t(δ) σ_t(x) with probability 1 - δ          (14, Theorem 1)
//! σ_t²(x) = k(x, x) - k_t(x)ᵀ (K_t + λI)⁻¹ k_t(x)
//! π_{t,δ}(x) = min(1, max(0, π̂_t(x) + β_t(δ) σ_t(x)))            (20, eq:pls-ucb-classifier)
//! ```
//!
//! The estimate and its bound may leave [0, 1]; they are clipped only when read as a probability. As an
//! acquisition they are not: see [`Bound`].
//!
//! Cost for t points of d coordinates: O(t³/3) to fit with a fixed kernel, O(t²) to refit after a few more
//! points, O(td) a mean, O(t²) a deviation. With hyper-parameters of largest marginal likelihood every fit
//! costs O(t³/3) and a hundred or so evaluations of the likelihood, each O(t³) up to `max_points`.
//! Fails with `Error::NotPositiveDefinite` once the jitter policy is exhausted.

mod bound;
mod draw;

use serde::{Deserialize, Serialize};

pub use bound::Bound;

use super::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::error::{Error, Result};
use crate::gaussian_process::{MarginalLikelihood, Posterior, Prediction};
use crate::kernel::Kernel;
use crate::labels::Labels;
use crate::named::Named;
use crate::points::Points;
use crate::seed::Rng;

/// Settings of the kernel least-squares classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeastSquares {
    /// λ, the ridge, positive: the variance of the noise in the labels. With more of it the estimate is smoother, and
    /// further from 0 and 1.
    pub ridge: f64,
    /// Where the kernel comes from: `MarginalLikelihood`, the default, finds the one that makes the labels likeliest;
    /// `Fixed` takes a given one, as the theory has it.
    // Version 0.1 wrote the names with `_`, here and in what this contains.
    #[serde(alias = "hyper_parameters")]
    pub hyper_parameters: HyperParameters,
}

impl Named for LeastSquares {
    const NAME: &'static str = "least-squares";
    const DESCRIPTION: &'static str = "kernel least squares, the model of the theorems";
}

impl Default for LeastSquares {
    /// λ = 0.025 and the hyper-parameters of largest marginal likelihood, as in the paper's experiments on
    /// real data.
    fn default() -> Self {
        Self { ridge: 0.025, hyper_parameters: HyperParameters::default() }
    }
}

/// Where the kernel of a fit comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HyperParameters {
    /// A given kernel, as the theory has it.
    Fixed {
        /// The kernel, with one length scale a coordinate.
        kernel: Kernel,
    },
    /// The kernel that makes the labels likeliest, anew in every fit, with noise variance λ.
    MarginalLikelihood(MarginalLikelihood),
}

impl Default for HyperParameters {
    fn default() -> Self {
        Self::MarginalLikelihood(MarginalLikelihood::default())
    }
}

impl Learner for LeastSquares {
    type Classifier = LeastSquaresClassifier;

    /// Continues the factor of `previous` where the kernel is the same and the points begin with its points:
    /// this saves time and changes no bit.
    fn fit(
        &self,
        labels: &Labels<'_>,
        previous: Option<&LeastSquaresClassifier>,
        _rng: &mut Rng,
    ) -> Result<LeastSquaresClassifier> {
        self.check(labels.dim())?;
        let targets = labels.to_vec();
        let kernel = match &self.hyper_parameters {
            HyperParameters::Fixed { kernel } => kernel.clone(),
            HyperParameters::MarginalLikelihood(settings) => {
                let points = Points::from_rows(labels.dim(), labels.points());
                settings.maximise(&points, &targets, self.ridge, None)?.kernel
            }
        };
        let posterior = match previous.map(|previous| &previous.posterior) {
            Some(previous) if continues(labels, previous, &kernel, self.ridge) => {
                previous.extend(labels.points().skip(previous.len()))?
            }
            _ => Posterior::fit(kernel, self.ridge, labels.points())?,
        };
        let weights = posterior.weights(&targets);
        if weights.iter().any(|weight| !weight.is_finite()) {
            return Err(Error::Diverged {
                model: "least squares",
                doing: "solving for its weights",
            });
        }
        Ok(LeastSquaresClassifier { posterior, weights })
    }

    fn has_posterior(&self) -> bool {
        true
    }

    fn check(&self, dim: usize) -> Result<()> {
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(Error::invalid("ridge", self.ridge, "positive and finite"));
        }
        match &self.hyper_parameters {
            HyperParameters::Fixed { kernel } => {
                let scales = kernel.length_scales().to_vec();
                let kernel = Kernel::new(kernel.profile(), scales, kernel.output_scale())?;
                if kernel.dim() != dim {
                    let allowed = format!("{dim}, one for each coordinate");
                    return Err(Error::invalid("number of length scales", kernel.dim(), allowed));
                }
                Ok(())
            }
            HyperParameters::MarginalLikelihood(settings) if settings.noise.is_some() => {
                let allowed = "none: the noise variance of least squares is its ridge";
                Err(Error::invalid("noise range", "given", allowed))
            }
            HyperParameters::MarginalLikelihood(settings) => settings.check(),
        }
    }
}

/// Whether `labels` begin with the points of `previous`, factored for the same kernel and ridge.
fn continues(labels: &Labels<'_>, previous: &Posterior, kernel: &Kernel, ridge: f64) -> bool {
    previous.kernel() == kernel
        && previous.ridge() == ridge
        && previous.len() <= labels.len()
        && previous.points().rows().eq(labels.points().take(previous.len()))
}

/// The fitted estimate π̂_t with its deviation σ_t.
#[derive(Debug, Clone)]
pub struct LeastSquaresClassifier {
    posterior: Posterior,
    /// (K_t + λI)⁻¹ z.
    weights: Vec<f64>,
}

impl LeastSquaresClassifier {
    /// π̂_t(x) of (13), not clipped.
    pub fn mean(&self, x: &[f64]) -> f64 {
        self.posterior.mean(&self.weights, x)
    }

    /// σ_t(x) of Theorem 1.
    pub fn deviation(&self, x: &[f64]) -> f64 {
        self.posterior.deviation(x)
    }

    /// π̂_t(x) and σ_t(x).
    pub fn predict(&self, x: &[f64]) -> Prediction {
        self.posterior.predict(&self.weights, x)
    }

    /// π̂_t and σ_t at each of `points`.
    pub fn predict_all(&self, points: &Points) -> Vec<Prediction> {
        self.posterior.predict_all(&self.weights, points)
    }

    /// π̂_t(x) + β_t σ_t(x), not clipped.
    pub fn upper(&self, confidence: Confidence, x: &[f64]) -> Result<f64> {
        let width = self.confidence_width(confidence)?;
        let Prediction { mean, deviation } = self.predict(x);
        Ok(mean + width * deviation)
    }

    /// π̂_t(x) - β_t σ_t(x), not clipped.
    pub fn lower(&self, confidence: Confidence, x: &[f64]) -> Result<f64> {
        let width = self.confidence_width(confidence)?;
        let Prediction { mean, deviation } = self.predict(x);
        Ok(mean - width * deviation)
    }

    /// β_t: the width given, or that of Theorem 1.
    pub fn confidence_width(&self, confidence: Confidence) -> Result<f64> {
        confidence.width(1.0, self.ridge(), self.information_gain())
    }

    /// ½ log det(I + K_t/λ).
    pub fn information_gain(&self) -> f64 {
        self.posterior.information_gain()
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        self.posterior.kernel()
    }

    /// λ, the ridge of the fit.
    pub fn ridge(&self) -> f64 {
        self.posterior.ridge()
    }
}

impl Classifier for LeastSquaresClassifier {
    type Acquisition<'c> = Bound<'c>;

    fn dim(&self) -> usize {
        self.posterior.dim()
    }

    fn probability(&self, x: &[f64]) -> f64 {
        self.mean(x).clamp(0.0, 1.0)
    }

    fn acquisition(&self, target: Target) -> Bound<'_> {
        Bound::new(self, 0.0, target)
    }
}

impl Uncertain for LeastSquaresClassifier {
    type UpperBound<'c> = Bound<'c>;

    fn upper_bound(&self, confidence: Confidence, target: Target) -> Result<Bound<'_>> {
        Ok(Bound::new(self, self.confidence_width(confidence)?, target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::SmoothAcquisition;
    use crate::history::History;
    use crate::kernel::Profile;
    use crate::kernel::fixtures::profiles;
    use crate::labels::{Threshold, Weights};
    use crate::outcome::Outcome;
    use crate::points::dot;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    pub(super) const DIM: usize = 2;
    pub(super) const TARGETS: [Target; 2] = [Target::Logit, Target::LogProbability];

    pub(super) fn fixed(profile: Profile) -> LeastSquares {
        let kernel = Kernel::new(profile, vec![0.2, 0.6], 1.0).unwrap();
        LeastSquares { hyper_parameters: HyperParameters::Fixed { kernel }, ..Default::default() }
    }

    /// Values of a bowl at random points.
    pub(super) fn history(len: usize, seed: u64) -> History {
        let mut rng = Seed(seed).stream("history", 0);
        let mut history = History::new(DIM);
        for _ in 0..len {
            let x = [(); DIM].map(|()| uniform(&mut rng));
            let value: f64 = x.iter().map(|x| (x - 0.3) * (x - 0.3)).sum();
            history.push(&x, Outcome::from(value)).unwrap();
        }
        history
    }

    pub(super) fn fit(learner: &LeastSquares, history: &History) -> LeastSquaresClassifier {
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        learner.fit(&labels, None, &mut Seed(0).stream("fit", 0)).unwrap()
    }

    /// (K + λI)⁻¹ b by conjugate gradients, which share nothing with the factor.
    fn naive_solve(kernel: &Kernel, ridge: f64, points: &Points, b: &[f64]) -> Vec<f64> {
        let multiply = |v: &[f64]| -> Vec<f64> {
            let row = |(i, a)| {
                let sum: f64 = points.rows().zip(v).map(|(b, v)| kernel.value(a, b) * v).sum();
                sum + ridge * v[i]
            };
            points.rows().enumerate().map(row).collect()
        };
        let (mut x, mut r, mut p) = (vec![0.0; b.len()], b.to_vec(), b.to_vec());
        for _ in 0..20 * b.len() {
            let squared = dot(&r, &r);
            if squared < 1e-28 {
                break;
            }
            let ap = multiply(&p);
            let step = squared / dot(&p, &ap);
            for i in 0..b.len() {
                x[i] += step * p[i];
                r[i] -= step * ap[i];
            }
            let ratio = dot(&r, &r) / squared;
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + ratio * *p);
        }
        x
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn estimate_and_deviation_are_those_of_the_paper(
            profile in profiles(),
            len in 1..30_usize,
            seed in 0..1000_u64,
            x in prop::array::uniform2(0.0..1.0_f64),
        ) {
            let (learner, history) = (fixed(profile), history(len, seed));
            let classifier = fit(&learner, &history);
            let z = Threshold::default().label(history.points(), history.objective()).unwrap().to_vec();
            let kernel = classifier.kernel();
            let row: Vec<f64> = history.points().rows().map(|p| kernel.value(&x, p)).collect();
            let against = |b: &[f64]| -> f64 {
                let solved = naive_solve(kernel, learner.ridge, history.points(), b);
                row.iter().zip(&solved).map(|(k, s)| k * s).sum()
            };
            let (mean, variance) = (against(&z), 1.0 - against(&row));
            prop_assert!((classifier.mean(&x) - mean).abs() < 1e-8);
            prop_assert!((classifier.deviation(&x) - variance.sqrt()).abs() < 1e-8);
            prop_assert_eq!(classifier.probability(&x), classifier.mean(&x).clamp(0.0, 1.0));
            let width = Confidence::Width(2.0);
            let upper = classifier.upper(width, &x).unwrap();
            let lower = classifier.lower(width, &x).unwrap();
            prop_assert!((upper - mean - 2.0 * variance.sqrt()).abs() < 1e-7);
            prop_assert!((lower - mean + 2.0 * variance.sqrt()).abs() < 1e-7);
        }

        #[test]
        fn refitting_gives_the_bits_of_fitting_anew(
            first in 1..40_usize,
            more in 0..40_usize,
            seed in 0..1000_u64,
        ) {
            let (learner, history) = (fixed(Profile::Matern52), history(first + more, seed));
            let mut ranking = crate::ranking::Ranking::default();
            let values = history.objective().values().take(first).flatten();
            values.for_each(|value| ranking.insert(value));
            let earlier = Threshold::default()
                .label_first(Weights::Uniform, history.points(), history.objective(), first, &ranking)
                .unwrap();
            let rng = &mut Seed(0).stream("fit", 0);
            let previous = learner.fit(&earlier, None, rng).unwrap();
            let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
            let refitted = learner.fit(&labels, Some(&previous), rng).unwrap();
            let fresh = learner.fit(&labels, None, rng).unwrap();
            prop_assert_eq!(&refitted.weights, &fresh.weights);
            let x = [0.4, 0.6];
            prop_assert_eq!(refitted.predict(&x), fresh.predict(&x));
            prop_assert_eq!(refitted.information_gain(), fresh.information_gain());
            // A fit to other points, or to more, is not continued.
            let other = fit(&learner, &self::history(first, seed + 1));
            let refitted = learner.fit(&labels, Some(&other), rng).unwrap();
            prop_assert_eq!(&refitted.weights, &fresh.weights);
            let shorter = learner.fit(&earlier, Some(&fresh), rng).unwrap();
            prop_assert_eq!(shorter.weights, previous.weights);
        }

    }

    #[test]
    fn the_width_of_a_level_is_that_of_theorem_one() {
        let classifier = fit(&fixed(Profile::SquaredExponential), &history(1, 0));
        // For one point |I + K/λ| = 1 + 1/λ = 41.
        let level = Confidence::Level { failure_probability: 0.1, norm_bound: 2.0 };
        let expected = 2.0 + (80.0 * (41.0_f64.sqrt() / 0.1).ln()).sqrt();
        assert!((classifier.confidence_width(level).unwrap() - expected).abs() < 1e-12);
        assert_eq!(classifier.confidence_width(Confidence::Width(3.0)).unwrap(), 3.0);
        let level = Confidence::Level { failure_probability: 1.0, norm_bound: 2.0 };
        assert!(classifier.upper_bound(level, Target::Logit).is_err());
        assert!(classifier.confidence_width(Confidence::Width(-1.0)).is_err());
    }

    #[test]
    fn few_equal_and_repeated_observations_are_fitted() {
        for learner in [fixed(Profile::Matern52), LeastSquares::default()] {
            let mut all_good = History::new(DIM);
            let mut all_bad = History::new(DIM);
            let mut repeated = History::new(DIM);
            for i in 0..20 {
                let x = [f64::from(i) / 20.0, 0.5];
                all_good.push(&x, Outcome::from(1.0)).unwrap();
                all_bad.push(&x, Outcome::failed()).unwrap();
                repeated.push(&[0.5, 0.5], Outcome::from(f64::from(i))).unwrap();
            }
            let rng = &mut Seed(0).stream("fit", 0);
            let bad_labels = Threshold::Fixed { value: 0.0 }
                .label(all_bad.points(), all_bad.objective())
                .unwrap();
            let bad = learner.fit(&bad_labels, None, rng).unwrap();
            assert_eq!(bad.mean(&[0.5, 0.5]), 0.0);
            let good = fit(&learner, &all_good);
            assert!(good.mean(&[0.5, 0.5]) > 0.8, "{}", good.mean(&[0.5, 0.5]));
            // A quarter of the labels at the one point are 1.
            let repeated = fit(&learner, &repeated);
            assert!((repeated.mean(&[0.5, 0.5]) - 0.25).abs() < 0.02);
            let alone = fit(&learner, &history(1, 0));
            for classifier in [bad, good, repeated, alone] {
                for target in TARGETS {
                    let bound = classifier.upper_bound(Confidence::default(), target).unwrap();
                    for acquisition in [bound, classifier.acquisition(target)] {
                        let mut gradient = [0.0; DIM];
                        let value = acquisition.value_and_gradient(&[0.5, 0.5], &mut gradient);
                        assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()));
                    }
                }
            }
        }
    }

    #[test]
    fn the_likeliest_kernel_finds_the_good_region() {
        let history = history(60, 7);
        let classifier = fit(&LeastSquares::default(), &history);
        assert!(classifier.probability(&[0.3, 0.3]) > 0.8);
        assert!(classifier.probability(&[0.9, 0.9]) < 0.2);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let rng = &mut Seed(1).stream("fit", 1);
        let again = LeastSquares::default().fit(&labels, Some(&classifier), rng).unwrap();
        assert_eq!(again.weights, classifier.weights);
    }

    #[test]
    fn settings_that_no_fit_could_use_are_refused_by_name() {
        for ridge in [0.0, -1.0, f64::NAN] {
            let learner = LeastSquares { ridge, ..LeastSquares::default() };
            assert!(learner.check(DIM).unwrap_err().to_string().contains("ridge"));
        }
        let error = fixed(Profile::Matern32).check(3).unwrap_err().to_string();
        assert!(error.contains("length scales") && error.contains('3'), "{error}");
        let noise = Some(crate::gaussian_process::marginal_likelihood::Range::new(1e-6, 1.0));
        let settings = MarginalLikelihood { noise, ..Default::default() };
        let hyper_parameters = HyperParameters::MarginalLikelihood(settings);
        let learner = LeastSquares { hyper_parameters, ..Default::default() };
        assert!(learner.check(DIM).unwrap_err().to_string().contains("noise"));
    }

    #[test]
    fn settings_are_read_back_as_they_were_written() {
        for learner in [LeastSquares::default(), fixed(Profile::RationalQuadratic { alpha: 2.0 })] {
            let text = serde_json::to_string(&learner).unwrap();
            assert_eq!(serde_json::from_str::<LeastSquares>(&text).unwrap(), learner, "{text}");
        }
    }
}
